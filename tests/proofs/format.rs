//! Format of written files, and headers with false claims. `crates/proof-check/tests` has the tests
//! of damaged files.

use std::path::Path;

use konane::file::FileError;
use konane::proof::{ProofHeader, ProofReader, ProofWriter};
use konane::{ErrorKind, Position, notation};
use proof_check::format::{FOOTER_BYTES, HEADER_BYTES};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::plain::{check, is_proof};
use crate::samples::{board, bytes_of, proof};

/// Returns a proof in several chunks.
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

/// Reads a file according to docs/PROOF_FORMAT.md, independently of the library.
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

/// Corrects the checksums of header and footer.
fn reseal(bytes: &mut [u8]) {
    let head = xxh3_64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&head.to_le_bytes());
    let (header, end) = (xxh3_64(&bytes[..HEADER_BYTES]), bytes.len());
    let foot = &mut bytes[end - FOOTER_BYTES..];
    foot[24..32].copy_from_slice(&header.to_le_bytes());
    let sum = xxh3_64(&foot[..32]);
    foot[32..40].copy_from_slice(&sum.to_le_bytes());
}

proptest! {
    /// A changed header with correct checksums is rejected, or the result is that of the definition.
    #[test]
    fn a_changed_header_proves_nothing_false(edits in prop::collection::vec((12usize..72, any::<u8>()), 1..4)) {
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
}

#[test]
fn a_dropped_writer_leaves_existing_files_unchanged() {
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
