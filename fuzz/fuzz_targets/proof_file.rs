//! Any bytes are read as a proof file or rejected. Random bytes never pass the checksums, so the
//! target computes valid ones. The reader may then report contradictions, and the checker may report
//! flaws, but neither may panic or allocate much memory.
#![no_main]

use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use arbitrary::Arbitrary;
use konane_fuzz::Content;
use libfuzzer_sys::fuzz_target;
use proof_check::format::{ChunkEntry, HEADER_BYTES, ProofFooter};
use proof_check::{ProofHeader, ProofReader, Side, verify};
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    ranks: u8,
    files: u8,
    root: u64,
    white_to_move: bool,
    white_wins: bool,
    positions: u16,
    chunk_codes: u16,
    header_edits: [(u8, u8); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    chunks: Vec<(u64, Content<'a>)>,
}

fuzz_target!(|input: Input| {
    let side = |white| if white { Side::White } else { Side::Black };
    let ranks = input.ranks % 8 + 1;
    let header = ProofHeader {
        ranks,
        files: input.files % 8 + 1,
        root: input.root,
        to_move: side(input.white_to_move),
        winner: side(input.white_wins),
        positions: input.positions.into(),
        chunk_codes: u32::from(input.chunk_codes % 64) + 1,
    };
    let mut bytes = header.encode().to_vec();
    for &(at, value) in &input.header_edits[..usize::from(input.edited) % 3] {
        bytes[usize::from(at) % (HEADER_BYTES - 8)] = value;
    }
    let checksum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..].copy_from_slice(&checksum.to_le_bytes());
    let header_xxh3 = xxh3_64(&bytes);
    let mut index = Vec::new();
    for (first, content) in &input.chunks {
        let (_, chunk) = content.store();
        let entry = ChunkEntry { first: *first, bytes: chunk.len() as u64, xxh3: xxh3_64(&chunk) };
        index.extend(entry.encode());
        bytes.extend(chunk);
    }
    let index_offset = bytes.len() as u64;
    let (index_bytes, index_xxh3) = (index.len() as u64, xxh3_64(&index));
    bytes.extend(index);
    bytes.extend(ProofFooter { index_offset, index_bytes, index_xxh3, header_xxh3 }.encode());

    let path = Path::new("a file");
    let Ok(mut reader) = ProofReader::new(path, Cursor::new(&bytes)) else { return };
    let stop = AtomicBool::new(false);
    let Ok(codes) = reader.read_codes(&stop) else { return };
    assert_eq!(codes.len() as u64, reader.header().positions);
    assert!(codes.is_sorted_by(|a, b| a < b));
    let report = verify(&mut reader, &|_, _| {}, &stop).expect("read before");
    assert!(report.flaw.is_none_or(|flaw| !flaw.to_string().is_empty()));
});
