//! Checkpoints that are truncated, changed, or inconsistent.

use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use konane::checkpoint::format::{
    BLOCK_HEADER_BYTES, BlockHeader, CheckpointFooter, CheckpointHeader, FOOTER_BYTES,
    HEADER_BYTES, Section,
};
use konane::checkpoint::{CheckpointError, CheckpointReader, Identity, Totals};
use konane::search::pns::PnsOptions;
use konane::search::run::Limits;
use konane::search::table::Table;
use konane::{Algorithm, Board, ErrorKind, Position, SolveOptions, Solver};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Checkpoints of searches that have just started, without and with a tree.
static CHECKPOINTS: LazyLock<[Vec<u8>; 2]> =
    LazyLock::new(|| [Algorithm::Dfpn, Algorithm::Pns].map(written));

fn checkpoint(algorithm: Algorithm) -> Vec<u8> {
    CHECKPOINTS[usize::from(algorithm == Algorithm::Pns)].clone()
}

fn written(algorithm: Algorithm) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.ckpt");
    let board = Board::new("6x6".parse().unwrap());
    let start = Position::start(&board);
    let options = SolveOptions { algorithm, memory_bytes: 1 << 20, ..SolveOptions::default() };
    let limits = Limits { nodes: Some(300), ..Limits::default() };
    let solver = Solver::new(&board, &start).options(options).limits(limits);
    let writer = solver.checkpoints(&path, false, None).unwrap();
    solver.checkpoint_writer(Some(&writer)).run().unwrap();
    std::fs::read(&path).unwrap()
}

/// Loads a checkpoint. Returns the number of stored entries, and true if there is a tree.
fn load(bytes: &[u8]) -> Result<(u64, bool), CheckpointError> {
    let reader = CheckpointReader::new(Path::new("a file"), Cursor::new(bytes))?;
    let table = Table::new(1 << 16).unwrap();
    let room = Some(PnsOptions::PLAIN.tree_capacity(1 << 18));
    let key = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let tree = reader.load(&table, key, room, &mut |_, _| true)?;
    Ok((table.count().0, tree.is_some()))
}

#[test]
fn truncated_files_are_rejected() {
    for (algorithm, has_tree) in [(Algorithm::Dfpn, false), (Algorithm::Pns, true)] {
        let bytes = checkpoint(algorithm);
        let (entries, tree) = load(&bytes).expect("whole");
        assert!(entries > 20 && tree == has_tree);
        assert!((600..20_000).contains(&bytes.len()), "{}", bytes.len());
        for length in 0..bytes.len() {
            let error = load(&bytes[..length]).expect_err("cut off");
            assert!(error.to_string().contains("a file"), "{error}");
            assert_eq!(error.kind(), ErrorKind::File);
        }
        assert!(load(&[&bytes[..], &[0]].concat()).is_err(), "one extra byte");
        // A part removed from the middle.
        assert!(load(&[&bytes[..500], &bytes[501..]].concat()).is_err());
    }
}

#[test]
fn every_changed_byte_is_detected() {
    for algorithm in [Algorithm::Dfpn, Algorithm::Pns] {
        let mut bytes = checkpoint(algorithm);
        for at in 0..bytes.len() {
            for change in [1 << (at % 8), 0xFF] {
                bytes[at] ^= change;
                assert!(load(&bytes).is_err(), "{algorithm}, byte {at} ^ {change}");
                bytes[at] ^= change;
            }
        }
        assert!(load(&bytes).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_changes_are_detected(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6),
        tree: bool,
    ) {
        let bytes = checkpoint(if tree { Algorithm::Pns } else { Algorithm::Dfpn });
        let mut changed = bytes.clone();
        for (at, change) in changes {
            changed[at.index(bytes.len())] ^= change;
        }
        prop_assert!(changed == bytes || load(&changed).is_err());
    }

    #[test]
    fn any_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(load(&bytes).is_err());
        let whole = checkpoint(Algorithm::Dfpn);
        let start = [&whole[..HEADER_BYTES], &bytes].concat();
        prop_assert!(load(&start).is_err());
    }
}

/// Builds a file from these blocks with valid checksums. `change_footer` may change the footer.
fn file(
    blocks: &[(Section, u32, &[u8])],
    change_footer: impl Fn(&mut CheckpointFooter),
) -> Vec<u8> {
    let identity = Identity {
        rules: "r".to_owned(),
        board: "b".to_owned(),
        algorithm: "a".to_owned(),
        profile: "p".to_owned(),
        position: "q".to_owned(),
        root: 1,
    };
    let mut bytes = CheckpointHeader { identity, totals: Totals::default() }.encode().to_vec();
    let mut footer =
        CheckpointFooter { blocks: blocks.len() as u64, ..CheckpointFooter::default() };
    for &(section, items, raw) in blocks {
        let stored = zstd::bulk::compress(raw, 1).unwrap();
        bytes.extend(BlockHeader::new(section, items, raw.len() as u32, &stored).encode());
        bytes.extend(&stored);
        footer.entries += u64::from(if section == Section::Table { items } else { 0 });
    }
    footer.offset = bytes.len() as u64;
    footer.xxh3 = xxh3_64(&bytes);
    change_footer(&mut footer);
    bytes.extend(footer.encode());
    bytes
}

/// The entry of an unsolved position as a block of 16 bytes.
const ENTRY: [u8; 16] = [5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x20, 0, 0, 0, 3];

/// Encodes a tree with one leaf. The child array of the root is at `unit`.
fn tree_of(unit: u32) -> Vec<u8> {
    let words = [unit, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 9, 0, 0, 0, 0];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}

#[test]
fn inconsistent_files_with_valid_checksums_are_rejected() {
    use Section::{Table, Tree};
    let good = [(Table, 1, &ENTRY[..])];
    assert_eq!(load(&file(&good, |_| {})).unwrap(), (1, false));
    assert_eq!(load(&file(&[], |_| {})).unwrap(), (0, false));
    let mut zero = ENTRY;
    zero[8] = 0;
    let says = |bytes: &[u8], part: &str| {
        let error = load(bytes).expect_err(part).to_string();
        assert!(error.contains(part), "no {part:?} in {error}");
    };
    says(&file(&[(Table, 2, &ENTRY)], |_| {}), "sorted entries");
    says(&file(&[(Table, 1, &zero)], |_| {}), "sorted entries");
    says(&file(&[(Tree, 4, &tree_of(1))], |_| {}), "block 0 should be within the tree");
    says(&file(&good, |footer| footer.entries = 2), "the number of entries");
    // A huge entry count must not allocate more than the table.
    says(&file(&good, |footer| footer.entries = u64::MAX), "the number of entries");
    says(&file(&good, |footer| footer.blocks = 9), "the number of blocks");
    says(&file(&good, |footer| footer.xxh3 ^= 1), "the checksum of the file");
    says(&file(&good, |footer| footer.offset -= 1), "bytes before the footer");
    says(&file(&good, |footer| footer.tree_nodes = 5), "the tree");
    says(&file(&good, |footer| (footer.tree_nodes, footer.tree_bytes) = (5, 1 << 40)), "the tree");
    let tree = |units, bytes: &[u8], tree_nodes, tree_bytes| {
        file(&[(Tree, units, bytes)], |footer| {
            (footer.tree_nodes, footer.tree_bytes) = (tree_nodes, tree_bytes)
        })
    };
    assert_eq!(load(&tree(4, &tree_of(1), 1, 64)).unwrap(), (0, true));
    says(&tree(4, &tree_of(1), 1, 80), "the number of bytes of the tree should be 80, but is 64");
    says(&tree(4, &tree_of(1), 1, 48), "block 0 should be within the tree");
    says(&tree(3, &tree_of(1), 1, 64), "block 0 should be units of a tree");
    says(&tree(4, &tree_of(4), 1, 64), "the child array at unit 4 of the tree should be within");
    says(
        &tree(4, &tree_of(0), 1, 64),
        "the number of nodes of the tree should be 1 to 1, but is 0",
    );
    // A frame that decompresses to more bytes than its header states.
    let mut bytes = file(&[(Table, 1 << 16, &[0; 1 << 20])], |_| {});
    let at = HEADER_BYTES;
    let stored = bytes[at + BLOCK_HEADER_BYTES..bytes.len() - FOOTER_BYTES].to_vec();
    let mut header = BlockHeader::decode(bytes[at..at + BLOCK_HEADER_BYTES].try_into().unwrap());
    let header = header.as_mut().unwrap();
    (header.items, header.raw_bytes) = (1, 16);
    header.xxh3 = header.checksum(&stored);
    bytes[at..at + BLOCK_HEADER_BYTES].copy_from_slice(&header.encode());
    says(&bytes, "block 0 should be 16 bytes");
    // A block that ends after the footer, and one with a huge length.
    let mut bytes = file(&good, |_| {});
    let mut header = BlockHeader::decode(bytes[at..at + BLOCK_HEADER_BYTES].try_into().unwrap());
    let header = header.as_mut().unwrap();
    for stored_bytes in [header.stored_bytes + 1, 1 << 31] {
        header.stored_bytes = stored_bytes;
        bytes[at..at + BLOCK_HEADER_BYTES].copy_from_slice(&header.encode());
        let end = bytes.len() - FOOTER_BYTES;
        let footer = CheckpointFooter {
            entries: 1,
            blocks: 1,
            offset: end as u64,
            xxh3: xxh3_64(&bytes[..end]),
            ..CheckpointFooter::default()
        };
        bytes[end..].copy_from_slice(&footer.encode());
        says(&bytes, "block");
    }
}
