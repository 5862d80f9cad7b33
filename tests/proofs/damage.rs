//! Files that are damaged, cut off, of another kind, version or rules, or lie.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::file::FileError;
use konane::proof::check::format::{
    ChunkEntry, ENTRY_BYTES, FOOTER_BYTES, HEADER_BYTES, ProofFooter, ProofHeader,
};
use konane::proof::{ProofError, ProofReader, ProofWriter, verify};
use konane::{ErrorKind, Position, notation};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::plain::{check, is_proof};
use crate::samples::{board, bytes_of, proof};

/// A proof in several chunks.
fn sample() -> (ProofHeader, Vec<u64>, Vec<u8>) {
    let board = board("5x5");
    let found = proof(&board, &notation::parse_moves(&board, "c3 c2").unwrap());
    let header = ProofHeader { chunk_codes: 4, ..found.header };
    let codes = found.certificate.codes;
    assert!(codes.len() > 20);
    let bytes = bytes_of(&header, &codes);
    (header, codes, bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Reads a file as docs/PROOF_FORMAT.md says, with nothing of the library.
#[test]
fn the_file_is_as_specified() {
    let (header, codes, bytes) = sample();
    assert_eq!(&bytes[..8], b"KONPROOF");
    assert_eq!(bytes[8..12], [1, 0, 0, 0]);
    assert_eq!(bytes[12..16], [5, 5, 0, header.winner as u8]);
    assert_eq!(u64_at(&bytes, 16), header.root);
    assert_eq!(u64_at(&bytes, 24), codes.len() as u64);
    assert_eq!(bytes[32..40], [4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(&bytes[40..72], b"konane-corner-or-centre\0\0\0\0\0\0\0\0\0");
    assert_eq!(u64_at(&bytes, 72), xxh3_64(&bytes[..72]));

    let foot = &bytes[bytes.len() - 48..];
    assert_eq!(&foot[40..], b"KONPREND");
    assert_eq!(u64_at(foot, 32), xxh3_64(&foot[..32]));
    assert_eq!(u64_at(foot, 24), xxh3_64(&bytes[..80]));
    let (offset, length) = (u64_at(foot, 0) as usize, u64_at(foot, 8) as usize);
    assert_eq!(offset + length + 48, bytes.len());
    let index = &bytes[offset..offset + length];
    assert_eq!(u64_at(foot, 16), xxh3_64(index));

    let (mut read, mut at) = (Vec::new(), 80);
    for entry in index.chunks(24) {
        let chunk = &bytes[at..at + u64_at(entry, 8) as usize];
        at += chunk.len();
        assert_eq!(u64_at(entry, 16), xxh3_64(chunk));
        let mut code = u64_at(entry, 0);
        read.push(code);
        let (mut difference, mut shift) = (0, 0);
        for byte in zstd::bulk::decompress(chunk, 1000).unwrap() {
            difference |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                code += difference + 1;
                read.push(code);
                (difference, shift) = (0, 0);
            }
        }
    }
    assert_eq!(at, offset);
    assert_eq!(read, codes);
}

#[test]
fn every_changed_byte_is_noticed() {
    let (_, _, bytes) = sample();
    assert_eq!(check(bytes.clone()).unwrap().flaw, None);
    for at in 0..bytes.len() {
        for change in [1, 0x10, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let error = check(changed).expect_err("a checksum fails");
            let expected = match at {
                0..8 => matches!(error, ProofError::NotAProof { .. }),
                8..12 => matches!(error, ProofError::OtherVersion { .. }),
                _ => matches!(error, ProofError::Damaged { .. }),
            };
            assert!(expected, "byte {at}: {error}");
            assert!(error.to_string().contains("a file"), "{error}");
        }
    }
}

#[test]
fn every_missing_and_every_additional_byte_is_noticed() {
    let (_, _, bytes) = sample();
    for length in 0..bytes.len() {
        let error = check(bytes[..length].to_vec()).expect_err("cut off");
        let no_proof = matches!(error, ProofError::NotAProof { .. });
        let no_version = matches!(error, ProofError::OtherVersion { .. });
        assert!(
            if length < 8 { no_proof } else { length < 12 && no_version || !no_proof },
            "{error}"
        );
    }
    for at in 0..=bytes.len() {
        let mut longer = bytes.clone();
        longer.insert(at, 0x55);
        assert!(check(longer).is_err(), "at {at}");
    }
}

#[test]
fn other_versions_rules_and_kinds_are_named() {
    let (_, _, bytes) = sample();
    let mut other = bytes.clone();
    other[8] = 2;
    let error = check(other).unwrap_err().to_string();
    assert!(error.contains("version 2") && error.contains("reads version 1"), "{error}");
    let mut other = bytes.clone();
    other[40..72].copy_from_slice(b"hawaiian-middle-only\0\0\0\0\0\0\0\0\0\0\0\0");
    reseal(&mut other);
    let error = check(other).unwrap_err();
    assert!(matches!(error, ProofError::OtherRules { .. }), "{error}");
    assert!(error.to_string().contains("hawaiian-middle-only"), "{error}");
    let error = check(b"\x7fELF and so on".repeat(20)).unwrap_err();
    assert!(error.to_string().contains("not a Konane proof"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    let error = ProofReader::open(directory.path()).unwrap_err();
    assert!(matches!(error, ProofError::NotAProof { .. }), "{error}");
    let error = ProofReader::open(&directory.path().join("nothing")).unwrap_err();
    assert!(matches!(error, ProofError::Io { .. }), "{error}");
}

/// Puts the checksums of header and footer right.
fn reseal(bytes: &mut [u8]) {
    let head = xxh3_64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&head.to_le_bytes());
    let (header, end) = (xxh3_64(&bytes[..HEADER_BYTES]), bytes.len());
    let foot = &mut bytes[end - FOOTER_BYTES..];
    foot[24..32].copy_from_slice(&header.to_le_bytes());
    let sum = xxh3_64(&foot[..32]);
    foot[32..40].copy_from_slice(&sum.to_le_bytes());
}

/// A file of chunks that are given, with everything that follows from them.
fn assemble(header: &ProofHeader, chunks: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = header.encode().to_vec();
    let mut index = Vec::new();
    for (first, chunk) in chunks {
        let entry = ChunkEntry { first: *first, bytes: chunk.len() as u64, xxh3: xxh3_64(chunk) };
        index.extend(entry.encode());
        bytes.extend(chunk);
    }
    assert_eq!(index.len(), chunks.len() * ENTRY_BYTES);
    let footer = ProofFooter {
        index_offset: bytes.len() as u64,
        index_bytes: index.len() as u64,
        index_xxh3: xxh3_64(&index),
        header_xxh3: xxh3_64(&header.encode()),
    };
    bytes.extend(index);
    bytes.extend(footer.encode());
    bytes
}

/// Files with true checksums that contradict themselves.
#[test]
fn contradictions_under_true_checksums_are_damage() {
    let (header, _, _) = sample();
    let header = ProofHeader { positions: 4, chunk_codes: 2, ..header };
    let pack = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).unwrap();
    let good = assemble(&header, &[(10, pack(&[3])), (20, pack(&[0x80, 1]))]);
    // It reads, though it proves nothing.
    assert!(check(good).unwrap().flaw.is_some());
    type Chunk = (u64, Vec<u8>);
    let cases: Vec<(&str, [Chunk; 2])> = vec![
        ("two chunks that overlap", [(10, pack(&[9])), (20, pack(&[3]))]),
        ("chunks in the wrong order", [(30, pack(&[3])), (20, pack(&[3]))]),
        ("a difference too few", [(10, pack(&[])), (20, pack(&[3]))]),
        ("a difference too many", [(10, pack(&[3, 3])), (20, pack(&[3]))]),
        ("half a difference", [(10, pack(&[0x83])), (20, pack(&[3]))]),
        ("a difference with zeros in front", [(10, pack(&[0x83, 0])), (20, pack(&[3]))]),
        ("a difference of 70 bits", [(10, pack(&[0xff; 10])), (20, pack(&[3]))]),
        ("a code beyond 64 bits", [(10, pack(&[3])), (u64::MAX, pack(&[3]))]),
        ("no zstd frame", [(10, vec![1, 2, 3, 4, 5]), (20, pack(&[3]))]),
        ("a frame of a mebibyte", [(10, pack(&[1; 1 << 20])), (20, pack(&[3]))]),
    ];
    for (name, chunks) in cases {
        let error = check(assemble(&header, &chunks)).expect_err(name);
        assert!(matches!(error, ProofError::Damaged { .. }), "{name}: {error}");
    }
    // Counts that the index does not bear out.
    for positions in [0, 2, 5, u64::MAX] {
        let header = ProofHeader { positions, ..header };
        let file = assemble(&header, &[(10, pack(&[3])), (20, pack(&[3]))]);
        let error = check(file).expect_err("another number of chunks");
        assert!(matches!(error, ProofError::Damaged { .. }), "{positions}: {error}");
    }
    let many = ProofHeader { positions: 3, ..header };
    let file = assemble(&many, &[(10, pack(&[3])), (20, pack(&[3]))]);
    assert!(matches!(check(file), Err(ProofError::Damaged { .. })));
}

/// A file of any length with a header and a footer, and nothing between them.
#[derive(Debug)]
struct Hole {
    head: Vec<u8>,
    foot: Vec<u8>,
    length: u64,
    at: u64,
}

impl Read for Hole {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let Hole { head, foot, length, at } = self;
        let count = out.len().min((*length - *at) as usize);
        for byte in &mut out[..count] {
            let from_end = (*length - *at) as usize;
            let in_foot = foot.len().checked_sub(from_end).map(|at| foot[at]);
            *byte = head.get(*at as usize).copied().or(in_foot).unwrap_or(0);
            *at += 1;
        }
        Ok(count)
    }
}

impl Seek for Hole {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => self.length.saturating_add_signed(by),
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

/// A sparse file of a few bytes may be of any length. Its index is not believed before it is read.
#[test]
fn a_hole_for_an_index_takes_no_memory() {
    let (header, _, _) = sample();
    let header = ProofHeader { positions: 1 << 50, chunk_codes: 1 << 14, ..header };
    let head = header.encode().to_vec();
    let index_bytes = header.chunks() * ENTRY_BYTES as u64;
    for data in [0, 1, 1 << 40] {
        let index_offset = HEADER_BYTES as u64 + data;
        let header_xxh3 = xxh3_64(&head);
        let footer = ProofFooter { index_offset, index_bytes, index_xxh3: 0, header_xxh3 };
        let foot = footer.encode().to_vec();
        let length = index_offset + index_bytes + FOOTER_BYTES as u64;
        let hole = Hole { head: head.clone(), foot, length, at: 0 };
        let error = ProofReader::new(Path::new("a file"), hole).unwrap_err();
        assert!(matches!(error, ProofError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("the length of chunk 0"), "{error}");
    }
}

/// A kilobyte can hold a hundred thousand codes for each of its bytes.
#[test]
fn the_memory_that_a_proof_may_take_is_limited() {
    let (header, _, _) = sample();
    let chunk_codes = 1 << 20;
    let zeros = zstd::bulk::compress(&vec![0; chunk_codes - 1], 1).unwrap();
    let chunks: Vec<_> = (0..100).map(|n| (n << 20, zeros.clone())).collect();
    let positions = 100 << 20;
    let header = ProofHeader { positions, chunk_codes: chunk_codes as u32, ..header };
    let bytes = assemble(&header, &chunks);
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    for limit in [0, 8 * positions - 1] {
        let mut reader = ProofReader::new(Path::new("a file"), Cursor::new(&bytes)).unwrap();
        reader.limit_memory(limit);
        let check = |error| match error {
            ProofError::TooLarge { need, have, .. } => {
                assert!(need >= 8 * positions && have == limit)
            }
            error => panic!("{error}"),
        };
        check(reader.read_codes(&AtomicBool::new(false)).unwrap_err());
        check(verify(&mut reader, &|_, _| {}, &AtomicBool::new(false)).unwrap_err());
    }
    // As much as it needs is enough.
    let bytes = assemble(&ProofHeader { positions: 1 << 20, ..header }, &[(0, zeros)]);
    let mut reader = ProofReader::new(Path::new("a file"), Cursor::new(bytes)).unwrap();
    reader.limit_memory(8 << 20);
    assert_eq!(reader.read_codes(&AtomicBool::new(false)).unwrap().len(), 1 << 20);
    let stop = AtomicBool::new(false);
    assert!(matches!(verify(&mut reader, &|_, _| {}, &stop), Err(ProofError::TooLarge { .. })));
    reader.limit_memory(16 << 20);
    assert!(verify(&mut reader, &|_, _| {}, &stop).unwrap().flaw.is_some());
}

proptest! {
    /// Bytes of the header, with checksums that are right: refused, or the definition's verdict.
    #[test]
    fn a_header_that_lies_proves_nothing_false(edits in prop::collection::vec((12usize..72, any::<u8>()), 1..4)) {
        let (_, codes, mut bytes) = sample();
        for (at, byte) in edits {
            bytes[at] = byte;
        }
        reseal(&mut bytes);
        if let Ok(report) = check(bytes) {
            let header = report.header;
            let board = board(&format!("{}x{}", header.ranks, header.files));
            prop_assert_eq!(report.flaw.is_none(), is_proof(&board, &header, &codes));
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), head: bool) {
        let (header, _, _) = sample();
        let mut file = if head { header.encode().to_vec() } else { Vec::new() };
        file.extend(bytes);
        prop_assert!(check(file).is_err());
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing_and_does_not_touch_what_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.proof");
    std::fs::write(&path, "an older file").unwrap();
    let writer = ProofWriter::create(&path).unwrap();
    assert_eq!(writer.path(), path);
    drop(writer);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "an older file");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    let error = ProofWriter::create(directory.path()).unwrap_err();
    assert!(matches!(error, FileError::NotReplaceable { .. }) && error.kind() == ErrorKind::Usage);
    let nowhere = Path::new("/no/such/directory/a.proof");
    assert!(matches!(ProofWriter::create(nowhere), Err(FileError::Io { .. })));
    let board = board("3x3");
    let found = proof(&board, &Position::start(&board));
    let writer = ProofWriter::create(&path).unwrap();
    writer.finish(&found.header, &found.certificate.codes).unwrap();
    assert_eq!(*ProofReader::open(&path).unwrap().header(), found.header);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
