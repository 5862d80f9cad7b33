//! Checkpoints that are truncated, changed, or inconsistent.

use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use konane::checkpoint::format::{
    BLOCK_HEADER_BYTES, BlockHeader, CheckpointFooter, CheckpointHeader, FOOTER_BYTES, HEADER_BYTES,
};
use konane::checkpoint::{CheckpointError, CheckpointReader, Identity, Totals};
use konane::search::run::Limits;
use konane::search::table::Table;
use konane::{Board, ErrorKind, Position, SolveOptions, Solver};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Checkpoint of a search that has just started.
static CHECKPOINT: LazyLock<Vec<u8>> = LazyLock::new(written);

fn written() -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.ckpt");
    let board = Board::new("6x6".parse().unwrap());
    let start = Position::start(&board);
    let options = SolveOptions { memory_bytes: 1 << 20, ..SolveOptions::default() };
    let limits = Limits { nodes: Some(300), ..Limits::default() };
    let solver = Solver::new(&board, &start).options(options).limits(limits);
    let writer = solver.checkpoints(&path, false, None).unwrap();
    solver.checkpoint_writer(Some(&writer)).run().unwrap();
    std::fs::read(&path).unwrap()
}

/// Loads a checkpoint. Returns the number of stored entries.
fn load(bytes: &[u8]) -> Result<u64, CheckpointError> {
    let reader = CheckpointReader::new(Path::new("a file"), Cursor::new(bytes))?;
    let table = Table::new(1 << 16).unwrap();
    let key = |code: u64| code.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    reader.load(&table, key, &mut |_, _| true)?;
    Ok(table.count().0)
}

#[test]
fn truncated_files_are_rejected() {
    let bytes = &*CHECKPOINT;
    assert!(load(bytes).expect("whole") > 20);
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

#[test]
fn every_changed_byte_is_detected() {
    let mut bytes = CHECKPOINT.clone();
    for at in 0..bytes.len() {
        for change in [1 << (at % 8), 0xFF] {
            bytes[at] ^= change;
            assert!(load(&bytes).is_err(), "byte {at} ^ {change}");
            bytes[at] ^= change;
        }
    }
    assert!(load(&bytes).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_changes_are_detected(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6),
    ) {
        let bytes = &*CHECKPOINT;
        let mut changed = bytes.clone();
        for (at, change) in changes {
            changed[at.index(bytes.len())] ^= change;
        }
        prop_assert!(changed == *bytes || load(&changed).is_err());
    }

    #[test]
    fn any_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(load(&bytes).is_err());
        let start = [&CHECKPOINT[..HEADER_BYTES], &bytes].concat();
        prop_assert!(load(&start).is_err());
    }
}

/// Builds a file from these blocks with valid checksums. `change_footer` may change the footer.
fn file(blocks: &[(u32, &[u8])], change_footer: impl Fn(&mut CheckpointFooter)) -> Vec<u8> {
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
    for &(entries, raw) in blocks {
        let stored = zstd::bulk::compress(raw, 1).unwrap();
        bytes.extend(BlockHeader::new(entries, raw.len() as u32, &stored).encode());
        bytes.extend(&stored);
        footer.entries += u64::from(entries);
    }
    footer.offset = bytes.len() as u64;
    footer.xxh3 = xxh3_64(&bytes);
    change_footer(&mut footer);
    bytes.extend(footer.encode());
    bytes
}

/// The entry of an unsolved position as a block of 16 bytes.
const ENTRY: [u8; 16] = [5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x20, 0, 0, 0, 3];

#[test]
fn inconsistent_files_with_valid_checksums_are_rejected() {
    let good = [(1, &ENTRY[..])];
    assert_eq!(load(&file(&good, |_| {})).unwrap(), 1);
    assert_eq!(load(&file(&[], |_| {})).unwrap(), 0);
    let mut zero = ENTRY;
    zero[8] = 0;
    let says = |bytes: &[u8], part: &str| {
        let error = load(bytes).expect_err(part).to_string();
        assert!(error.contains(part), "no {part:?} in {error}");
    };
    says(&file(&[(2, &ENTRY)], |_| {}), "sorted entries");
    says(&file(&[(1, &zero)], |_| {}), "sorted entries");
    says(&file(&good, |footer| footer.entries = 2), "the number of entries");
    // A huge entry count must not allocate more than the table.
    says(&file(&good, |footer| footer.entries = u64::MAX), "the number of entries");
    says(&file(&good, |footer| footer.blocks = 9), "the number of blocks");
    says(&file(&good, |footer| footer.xxh3 ^= 1), "the checksum of the file");
    says(&file(&good, |footer| footer.offset -= 1), "bytes before the footer");
    // A frame that decompresses to more bytes than its header states.
    let mut bytes = file(&[(1 << 16, &[0; 1 << 20])], |_| {});
    let at = HEADER_BYTES;
    let stored = bytes[at + BLOCK_HEADER_BYTES..bytes.len() - FOOTER_BYTES].to_vec();
    let mut header = BlockHeader::decode(bytes[at..at + BLOCK_HEADER_BYTES].try_into().unwrap());
    let header = header.as_mut().unwrap();
    (header.entries, header.raw_bytes) = (1, 16);
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
        };
        bytes[end..].copy_from_slice(&footer.encode());
        says(&bytes, "block");
    }
}
