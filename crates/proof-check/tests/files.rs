//! Valid, damaged and contradictory files, read by the library and by the program.

use std::fs;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use proof_check::format::{
    ChunkEntry, ENTRY_BYTES, FOOTER_BYTES, HEADER_BYTES, ProofFooter, encode_codes,
};
use proof_check::{Flaw, ProofError, ProofHeader, ProofReader, Verification, verify};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// A proof that `konane solve 5x5 --proof` has written.
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/5x5.proof");

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

fn reader<R: Read + Seek>(source: R) -> Result<ProofReader<R>, ProofError> {
    ProofReader::new(Path::new("a file"), source)
}

fn check(bytes: &[u8]) -> Result<Verification, ProofError> {
    verify(&mut reader(Cursor::new(bytes))?, &|_, _| {}, &never())
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 1).unwrap()
}

/// Builds a file from chunks. Each chunk is given by its first code and its compressed bytes.
fn assemble(header: &ProofHeader, chunks: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = header.encode().to_vec();
    let mut index = Vec::new();
    for (first, chunk) in chunks {
        let entry = ChunkEntry { first: *first, bytes: chunk.len() as u64, xxh3: xxh3_64(chunk) };
        index.extend(entry.encode());
        bytes.extend(chunk);
    }
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

/// Builds the file of a set of codes.
fn file_of(header: &ProofHeader, codes: &[u64]) -> Vec<u8> {
    let header = ProofHeader { positions: codes.len() as u64, ..*header };
    let chunks = codes.chunks(header.chunk_codes as usize).map(|codes| {
        let mut bytes = Vec::new();
        encode_codes(codes, &mut bytes);
        (codes[0], compress(&bytes))
    });
    assemble(&header, &chunks.collect::<Vec<_>>())
}

/// Returns the header and the codes of the sample. In the returned header, chunks have 64 codes.
fn sample() -> (ProofHeader, Vec<u64>) {
    let mut reader = ProofReader::open(Path::new(SAMPLE)).unwrap();
    let codes = reader.read_codes(&never()).unwrap();
    (ProofHeader { chunk_codes: 64, ..*reader.header() }, codes)
}

#[test]
fn a_chunk_read_alone_has_the_same_codes_as_in_a_read_of_all_chunks() {
    let (header, codes) = sample();
    let bytes = file_of(&header, &codes);
    let mut reader = reader(Cursor::new(&bytes)).unwrap();
    assert!(reader.chunks().len() > 2);
    assert_eq!(reader.read_codes(&never()).unwrap(), codes);
    let chunks = (0..reader.chunks().len()).map(|number| reader.read_chunk(number).unwrap());
    assert_eq!(chunks.collect::<Vec<_>>().concat(), codes);
    assert_eq!(check(&bytes).unwrap().flaw, None);
}

/// The sample is a minimal proof: without any one of its positions, it is no proof.
#[test]
fn a_set_without_one_of_its_positions_is_no_proof() {
    let (header, codes) = sample();
    for at in 0..codes.len() {
        let mut rest = codes.clone();
        rest.remove(at);
        let flaw = check(&file_of(&header, &rest)).unwrap().flaw;
        assert!(matches!(flaw, Some(Flaw::NoAnswer { .. } | Flaw::NoFirstMove { .. })), "{flaw:?}");
    }
    let header = ProofHeader { winner: header.winner.other(), ..header };
    let flaw = check(&file_of(&header, &codes)).unwrap().flaw;
    assert!(matches!(flaw, Some(Flaw::RootMissing { .. })), "{flaw:?}");
}

#[test]
fn the_check_returns_an_error_if_the_stop_flag_is_set() {
    let mut reader = ProofReader::open(Path::new(SAMPLE)).unwrap();
    let error = verify(&mut reader, &|_, _| {}, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, ProofError::Interrupted));
}

#[test]
fn every_changed_byte_is_an_error() {
    let (header, codes) = sample();
    let bytes = file_of(&header, &codes);
    for at in 0..bytes.len() {
        for change in [1, 0x10, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let error = check(&changed).expect_err("a checksum fails");
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
fn every_missing_and_every_additional_byte_is_an_error() {
    let (header, codes) = sample();
    let bytes = file_of(&header, &codes);
    for length in 0..bytes.len() {
        let error = check(&bytes[..length]).expect_err("truncated");
        let expected = match length {
            0..8 => matches!(error, ProofError::NotAProof { .. }),
            8..12 => matches!(error, ProofError::OtherVersion { .. } | ProofError::Damaged { .. }),
            _ => matches!(error, ProofError::Damaged { .. }),
        };
        assert!(expected, "{length} bytes: {error}");
    }
    for at in 0..=bytes.len() {
        let mut longer = bytes.clone();
        longer.insert(at, 0x55);
        assert!(check(&longer).is_err(), "at {at}");
    }
}

#[test]
fn errors_name_other_rules_other_versions_and_files_that_are_not_proofs() {
    let (header, codes) = sample();
    let mut other = file_of(&header, &codes);
    other[40..72].copy_from_slice(b"hawaiian-middle-only\0\0\0\0\0\0\0\0\0\0\0\0");
    let checksum = xxh3_64(&other[..HEADER_BYTES - 8]);
    other[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
    let error = check(&other).unwrap_err();
    assert!(matches!(error, ProofError::OtherRules { .. }), "{error}");
    assert!(error.to_string().contains("hawaiian-middle-only"), "{error}");
    let mut other = file_of(&header, &codes);
    other[8] = 2;
    let error = check(&other).unwrap_err().to_string();
    assert!(error.contains("version 2") && error.contains("reads version 1"), "{error}");
    let error = check(&b"\x7fELF and other bytes".repeat(20)).unwrap_err();
    assert!(error.to_string().contains("not a Konane proof"), "{error}");
    let error = ProofReader::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err();
    assert!(error.to_string().contains("is a directory, not a file"), "{error}");
    let error = ProofReader::open(Path::new("no such file")).unwrap_err();
    assert!(error.to_string().contains("cannot open no such file"), "{error}");
}

/// The checksums of these files are correct, but their contents contradict each other.
#[test]
fn contradictory_files_with_correct_checksums_are_damaged() {
    let header = ProofHeader { positions: 4, chunk_codes: 2, ..sample().0 };
    let good = assemble(&header, &[(10, compress(&[3])), (20, compress(&[0x80, 1]))]);
    assert!(check(&good).unwrap().flaw.is_some());
    type Chunk = (u64, Vec<u8>);
    let cases: Vec<(&str, [Chunk; 2])> = vec![
        ("two chunks that overlap", [(10, compress(&[9])), (20, compress(&[3]))]),
        ("chunks in the wrong order", [(30, compress(&[3])), (20, compress(&[3]))]),
        ("a missing difference", [(10, compress(&[])), (20, compress(&[3]))]),
        ("an additional difference", [(10, compress(&[3, 3])), (20, compress(&[3]))]),
        ("half a difference", [(10, compress(&[0x83])), (20, compress(&[3]))]),
        ("a difference with leading zeros", [(10, compress(&[0x83, 0])), (20, compress(&[3]))]),
        ("a difference of 70 bits", [(10, compress(&[0xff; 10])), (20, compress(&[3]))]),
        ("a code beyond 64 bits", [(10, compress(&[3])), (u64::MAX, compress(&[3]))]),
        ("no zstd frame", [(10, vec![1, 2, 3, 4, 5]), (20, compress(&[3]))]),
        ("a frame of a mebibyte", [(10, compress(&[1; 1 << 20])), (20, compress(&[3]))]),
    ];
    for (name, chunks) in cases {
        let error = check(&assemble(&header, &chunks)).expect_err(name);
        assert!(matches!(error, ProofError::Damaged { .. }), "{name}: {error}");
    }
    // Numbers of positions that do not agree with the index or the chunks.
    for positions in [0, 2, 3, 5, u64::MAX] {
        let header = ProofHeader { positions, ..header };
        let file = assemble(&header, &[(10, compress(&[3])), (20, compress(&[3]))]);
        let error = check(&file).expect_err("contradiction");
        assert!(matches!(error, ProofError::Damaged { .. }), "{positions}: {error}");
    }
}

/// A file of any length with a header, a footer, and zeros between them.
#[derive(Debug)]
struct Sparse {
    head: Vec<u8>,
    foot: Vec<u8>,
    length: u64,
    at: u64,
}

impl Read for Sparse {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let Sparse { head, foot, length, at } = self;
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

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => self.length.saturating_add_signed(by),
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

/// A sparse file takes a few blocks on the disk but may have an index of any length. This index would
/// take 1.5 TiB.
#[test]
fn the_index_of_a_sparse_file_takes_no_memory() {
    let header = ProofHeader { positions: 1 << 50, chunk_codes: 1 << 14, ..sample().0 };
    let head = header.encode().to_vec();
    let index_bytes = header.chunks() * ENTRY_BYTES as u64;
    for data in [0, 1, 1 << 40] {
        let index_offset = HEADER_BYTES as u64 + data;
        let header_xxh3 = xxh3_64(&head);
        let footer = ProofFooter { index_offset, index_bytes, index_xxh3: 0, header_xxh3 };
        let foot = footer.encode().to_vec();
        let length = index_offset + index_bytes + FOOTER_BYTES as u64;
        let error = reader(Sparse { head: head.clone(), foot, length, at: 0 }).unwrap_err();
        assert!(matches!(error, ProofError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("the length of chunk 0"), "{error}");
    }
}

/// Compressed, 10,000 codes may take one byte, so a small file may need much memory.
#[test]
fn memory_is_limited() {
    let chunk_codes = 1 << 20;
    let zeros = compress(&vec![0; chunk_codes - 1]);
    let chunks: Vec<_> = (0..100).map(|number| (number << 20, zeros.clone())).collect();
    let positions = 100 << 20;
    let header = ProofHeader { positions, chunk_codes: chunk_codes as u32, ..sample().0 };
    let bytes = assemble(&header, &chunks);
    assert!(bytes.len() < 10_000, "{}", bytes.len());
    for limit in [0, 8 * positions - 1] {
        let mut reader = reader(Cursor::new(&bytes)).unwrap();
        reader.limit_memory(limit);
        let expect_too_large = |error| match error {
            ProofError::TooLarge { need, have, .. } => {
                assert!(need >= 8 * positions && have == limit)
            }
            error => panic!("{error}"),
        };
        expect_too_large(reader.read_codes(&never()).unwrap_err());
        expect_too_large(verify(&mut reader, &|_, _| {}, &never()).unwrap_err());
    }
    // Eight bytes for each position are enough to read the codes. The check of the proof needs more.
    let bytes = assemble(&ProofHeader { positions: 1 << 20, ..header }, &[(0, zeros)]);
    let mut reader = reader(Cursor::new(bytes)).unwrap();
    reader.limit_memory(8 << 20);
    assert_eq!(reader.read_codes(&never()).unwrap().len(), 1 << 20);
    let result = verify(&mut reader, &|_, _| {}, &never());
    assert!(matches!(result, Err(ProofError::TooLarge { .. })));
    reader.limit_memory(16 << 20);
    assert!(verify(&mut reader, &|_, _| {}, &never()).unwrap().flaw.is_some());
}

proptest! {
    #[test]
    fn random_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), head: bool) {
        let mut file = if head { sample().0.encode().to_vec() } else { Vec::new() };
        file.extend(bytes);
        prop_assert!(check(&file).is_err());
    }
}

/// Runs the program. Returns the exit code, stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_proof-check")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Writes a file for the program.
fn written(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

#[test]
fn the_program_accepts_a_valid_proof() {
    let (code, stdout, stderr) = run(&[SAMPLE]);
    let start = "valid: Black wins xoxox/oxoxo/xoxox/oxoxo/xoxox b on the 5x5 board\n";
    assert!(stdout.starts_with(start), "{stdout}");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_program_names_the_flaw_of_an_invalid_proof() {
    let (header, codes) = sample();
    let file = written("invalid.proof", &file_of(&header, &codes[1..]));
    let (code, stdout, stderr) = run(&[&file]);
    assert!(stdout.starts_with("not valid: "), "{stdout}");
    assert_eq!((code, stderr.as_str()), (Some(1), ""));
}

#[test]
fn the_program_reports_files_that_cannot_be_checked() {
    let mut bytes = fs::read(SAMPLE).unwrap();
    bytes[100] ^= 1;
    let damaged = written("damaged.proof", &bytes);
    let cases: [(&[&str], i32, &str); 4] = [
        (&[&damaged], 4, "is damaged: chunk 0"),
        (&["no such file"], 4, "cannot open no such file"),
        (&[env!("CARGO_MANIFEST_DIR")], 4, "is a directory"),
        (&["--memory", "8", SAMPLE], 3, "8 may be used"),
    ];
    for (arguments, expected, message) in cases {
        let (code, stdout, stderr) = run(arguments);
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        assert_eq!((code, stdout.as_str()), (Some(expected), ""), "{arguments:?}");
    }
}

#[test]
fn the_program_reports_bad_usage() {
    let cases: [(&[&str], &str); 5] = [
        (&[], "no file"),
        (&["a", "b"], "unexpected argument 'b'"),
        (&["--json", SAMPLE], "unknown option '--json'"),
        (&["--memory"], "expected a number of bytes"),
        (&["--memory", "1GiB", SAMPLE], "expected a number of bytes"),
    ];
    for (arguments, message) in cases {
        let (code, stdout, stderr) = run(arguments);
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}");
    }
    let (code, stdout, _) = run(&["--help"]);
    assert!(code == Some(0) && stdout.contains("usage: proof-check"), "{stdout}");
    let (code, stdout, _) = run(&["--version"]);
    assert!(code == Some(0) && stdout.starts_with("proof-check 0."), "{stdout}");
}
