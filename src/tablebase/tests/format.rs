//! Layer files: rows are read byte for byte as they were written, with any chunk size, piece size and number of
//! threads.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::tablebase::files::{BlockKey, Coverage, LayerHeader, Scope, layer_name};
use crate::tablebase::files::{Inflater, LayerFile};
use crate::tablebase::files::{LayerWriter, count_layer};
use crate::tablebase::index::Index;
use crate::tablebase::{DatabaseError, Metric};
use crate::{Board, Dimensions};
use proptest::prelude::*;

/// Bytes that compress somewhat: runs and noise.
fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let run = 1 + (state >> 40) as usize % 9;
        bytes.extend(std::iter::repeat_n((state >> 20) as u8, run.min(length - bytes.len())));
    }
    bytes
}

/// Clears the unused bits at the end of every row.
fn clear_padding(header: &LayerHeader, key: BlockKey, bytes: &mut [u8]) {
    let used = header.columns(key.white) % 8;
    if used != 0 {
        for row in bytes.chunks_mut(header.row_bytes(key.white) as usize) {
            *row.last_mut().unwrap() &= (1 << used) - 1;
        }
    }
}

fn header(size: &str, scope: Scope, stones: u32) -> LayerHeader {
    let board = Board::new(size.parse().unwrap());
    LayerHeader::new(&Index::new(board, scope.exchanges()), scope, Metric::Outcome, stones)
}

/// All blocks of a layer, with random content. Each has 1 to `most` rows, but not more than there are black
/// patterns.
fn blocks(header: &LayerHeader, seed: u64, most: u64) -> Vec<(BlockKey, Vec<u8>)> {
    let block = |(number, key): (u64, BlockKey)| {
        let rows = (seed % 97 + number) % most + 1;
        let patterns = crate::tablebase::index::binomial(header.squares[0].len() as u32, key.black);
        let length = rows.min(patterns) * header.row_bytes(key.white);
        let mut bytes = content(seed ^ number, length as usize);
        clear_padding(header, key, &mut bytes);
        (key, bytes)
    };
    (0..).zip(header.keys()).map(block).collect()
}

fn write(path: &Path, header: &LayerHeader, blocks: &[(BlockKey, Vec<u8>)], piece: usize) {
    let mut writer = LayerWriter::create(path, header.clone()).unwrap();
    for (key, bytes) in blocks {
        writer.begin_block(*key);
        for piece in bytes.chunks(piece) {
            writer.write(piece).unwrap();
        }
        let ones: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
        assert_eq!(writer.end_block().unwrap(), ones);
    }
    let (finished, bytes) = writer.finish().unwrap();
    assert_eq!((&*finished, bytes), (path, path.metadata().unwrap().len()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn layers_are_read_as_written(
        size in prop::sample::select(vec!["1x1", "3x3", "3x4", "5x5", "6x6"]),
        reachable: bool,
        stones in 0u32..=36,
        seed: u64,
        chunk_bits in 3u32..=14,
        piece in 1usize..=70_000,
    ) {
        let scope = if reachable { Scope::Reachable } else { Scope::Complete };
        let dimensions: Dimensions = size.parse().unwrap();
        let mut header = header(size, scope, stones % (dimensions.squares() + 1));
        header.chunk_bytes = 1 << chunk_bits;
        let blocks = blocks(&header, seed, 20);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(layer_name(header.stones));
        write(&path, &header, &blocks, piece);
        let file = LayerFile::open(&path).unwrap();
        let never = AtomicBool::new(false);
        file.verify(&never).unwrap();
        prop_assert_eq!(file.header(), &header);
        prop_assert_eq!(file.blocks().len(), blocks.len());
        let mut inflater = Inflater::new();
        for (key, bytes) in &blocks {
            prop_assert_eq!(&file.read_block(*key).unwrap(), bytes);
            let block = file.block(*key).unwrap();
            let row_bytes = block.row_bytes() as usize;
            let rows = bytes.len() / row_bytes;
            prop_assert_eq!(block.rows, rows as u64);
            let first = seed as usize % rows / 8 * 8;
            let taken = (seed >> 32) as usize % (rows - first + 1);
            let mut part = vec![0; taken * row_bytes];
            file.read_rows(block, first as u64, &mut inflater, &mut part).unwrap();
            prop_assert_eq!(&part[..], &bytes[first * row_bytes..][..part.len()]);
        }

        // The bytes are the same with another piece size, with one thread, and if blocks are copied from separate
        // files.
        let again = directory.path().join("again.kdb");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| write(&again, &header, &blocks, 4096));
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
        let copy = directory.path().join("copy.kdb");
        let mut writer = LayerWriter::create(&copy, header.clone()).unwrap();
        for (key, bytes) in &blocks {
            let part = directory.path().join("part.kdb");
            write(&part, &header, &[(*key, bytes.clone())], piece);
            let part = LayerFile::open(&part).unwrap();
            let ones = writer.copy_block(&part, *key, &never).unwrap();
            prop_assert_eq!(ones, part.blocks()[0].set_bits);
        }
        writer.finish().unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&copy).unwrap());
    }
}

#[test]
fn passes_over_a_file_can_be_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let header = header("3x3", Scope::Complete, 4);
    let index = Index::new(Board::new(header.dimensions), true);
    let path = directory.path().join("stones-04.kdb");
    write(&path, &header, &blocks(&header, 1, 20), 4096);
    let (file, stop) = (LayerFile::open(&path).unwrap(), AtomicBool::new(true));
    let mut writer = LayerWriter::create(&directory.path().join("copy"), header).unwrap();
    let passes = [
        file.verify(&stop),
        count_layer(&index, &file, &stop).map(drop),
        writer.copy_block(&file, file.blocks()[0].key, &stop).map(drop),
    ];
    for pass in passes {
        assert!(matches!(pass, Err(DatabaseError::Interrupted)), "{pass:?}");
    }
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let header = header("4x4", Scope::Complete, 6);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stones-06.kdb");
    let mut writer = LayerWriter::create(&path, header.clone()).unwrap();
    writer.begin_block(header.keys()[0]);
    writer.write(&content(1, 10)).unwrap();
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    drop(writer);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    let error = LayerFile::open(&path).unwrap_err();
    assert!(error.to_string().contains("stones-06.kdb"), "{error}");
}

/// If the temporary file is a link to a device, it is refused and left as it is. (The tests of whole builds include
/// a full disk.)
#[cfg(target_os = "linux")]
#[test]
fn a_device_behind_a_link_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stones-18.kdb");
    let planted = directory.path().join("stones-18.kdb.tmp");
    std::os::unix::fs::symlink("/dev/full", &planted).unwrap();
    let Err(error) = LayerWriter::create(&path, header("6x6", Scope::Complete, 18)) else {
        panic!("a device was taken for a file");
    };
    let text = error.to_string();
    assert!(text.contains("stones-18.kdb.tmp is a symbolic link"), "{text}");
    assert!(!path.exists() && planted.is_symlink());
}

#[test]
fn names() {
    let coverage = |size: &str, scope, metric, max_stones| {
        Coverage { dimensions: size.parse().unwrap(), scope, metric, max_stones }.name()
    };
    let name = |size, scope, most| coverage(size, scope, Metric::Outcome, most);
    assert_eq!(name("6x6", Scope::Complete, 36), "6x6-complete");
    assert_eq!(name("6x6", Scope::Reachable, 64), "6x6-reachable");
    assert_eq!(name("7x7", Scope::Complete, 10), "7x7-stones10");
    let name = |most| coverage("4x5", Scope::Complete, Metric::Remoteness, most);
    assert_eq!([name(20), name(7)], ["4x5-complete-remoteness", "4x5-stones7-remoteness"]);
    assert_eq!(layer_name(7), "stones-07.kdb");
}
