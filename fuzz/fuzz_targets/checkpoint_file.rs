//! Any bytes are read as a checkpoint or rejected. Random bytes never pass the checksums, so the
//! target computes valid ones. The reader may then report contradictions, but must not panic, loop
//! or allocate much memory.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use arbitrary::Arbitrary;
use konane::checkpoint::format::{
    BlockHeader, CheckpointFooter, CheckpointHeader, HEADER_BYTES, Section,
};
use konane::checkpoint::{CheckpointReader, Identity, Totals};
use konane::search::pns::PnsOptions;
use konane::search::table::Table;
use konane_fuzz::Content;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Block<'a> {
    is_tree: bool,
    items: u16,
    content: Content<'a>,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    header_edits: [(u16, u8); 2],
    /// Number of edits to make, modulo 3.
    edited: u8,
    entries: u16,
    tree_nodes: u16,
    /// Replaces the true size of the tree in the footer.
    tree_bytes: Option<u32>,
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
        let section = if block.is_tree { Section::Tree } else { Section::Table };
        let raw_bytes = length as u32;
        let items = if block.is_tree { raw_bytes / 16 } else { block.items.into() };
        bytes.extend(BlockHeader::new(section, items, raw_bytes, &stored).encode());
        bytes.extend(stored);
    }
    let tree = input.blocks.iter().filter(|block| block.is_tree);
    let tree_bytes: u64 = tree.map(|block| block.content.store().0 as u64).sum();
    let footer = CheckpointFooter {
        entries: input.entries.into(),
        tree_nodes: input.tree_nodes.into(),
        tree_bytes: input.tree_bytes.map_or(tree_bytes, u64::from),
        blocks: input.blocks.len() as u64,
        offset: bytes.len() as u64,
        xxh3: xxh3_64(&bytes),
    };
    bytes.extend(footer.encode());

    let path = Path::new("a file");
    let Ok(reader) = CheckpointReader::new(path, Cursor::new(&bytes)) else { return };
    let footer = *reader.footer();
    let table = Table::new(1 << 12).expect("memory");
    let capacity = PnsOptions::PLAIN.tree_capacity(1 << 16);
    let key = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let Ok(tree) = reader.load(&table, key, Some(capacity), &mut |_, _| true) else { return };
    assert!(table.count().0 <= footer.entries);
    assert_eq!(tree.is_some(), footer.tree_nodes > 0);
});
