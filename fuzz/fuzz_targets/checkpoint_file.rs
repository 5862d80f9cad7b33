//! Any bytes are read as a checkpoint or rejected. Random bytes never pass the checksums, so the
//! target computes valid ones. The reader may then report contradictions, but must not panic, loop
//! or allocate much memory.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use arbitrary::Arbitrary;
use konane::checkpoint::format::{BlockHeader, CheckpointFooter, CheckpointHeader, HEADER_BYTES};
use konane::checkpoint::{CheckpointReader, Identity, Totals};
use konane::search::table::Table;
use konane_fuzz::Content;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Block<'a> {
    entries: u16,
    content: Content<'a>,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    header_edits: [(u16, u8); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    entries: u16,
    blocks: Vec<Block<'a>>,
}

fuzz_target!(|input: Input| {
    let text = |text: &str| text.to_owned();
    let identity = Identity {
        rules: text("rules"),
        board: text("board"),
        algorithm: text("algorithm"),
        profile: text("profile"),
        position: text("position"),
        root: 7,
    };
    let mut bytes = CheckpointHeader { identity, totals: Totals::default() }.encode().to_vec();
    for &(at, value) in &input.header_edits[..usize::from(input.edited) % 3] {
        bytes[usize::from(at) % (HEADER_BYTES - 8)] = value;
    }
    let checksum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
    bytes[HEADER_BYTES - 8..].copy_from_slice(&checksum.to_le_bytes());
    for block in &input.blocks {
        let (length, stored) = block.content.store();
        bytes.extend(BlockHeader::new(block.entries.into(), length as u32, &stored).encode());
        bytes.extend(stored);
    }
    let footer = CheckpointFooter {
        entries: input.entries.into(),
        blocks: input.blocks.len() as u64,
        offset: bytes.len() as u64,
        xxh3: xxh3_64(&bytes),
    };
    bytes.extend(footer.encode());

    let path = Path::new("a file");
    let Ok(reader) = CheckpointReader::new(path, Cursor::new(&bytes)) else { return };
    let footer = *reader.footer();
    let table = Table::new(1 << 12).expect("memory");
    let key = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if reader.load(&table, key, &mut |_, _| true).is_ok() {
        assert!(table.count().0 <= footer.entries);
    }
});
