//! The check of databases finds wrong values, and accepts sound databases.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::tablebase::files::LayerFile;
use crate::tablebase::files::format::{BlockKey, layer_name};
use crate::tablebase::files::{LayerWriter, count_layer};
use crate::tablebase::index::{Address, Index};
use crate::tablebase::{
    BuildObserver, BuildOptions, DatabaseError, Histogram, Manifest, ManifestLayer, Metric, Plan,
    Stage, plan, verify,
};
use crate::{Board, Position};
use tempfile::tempdir;

use super::{board, build, planned};

fn check(directory: &Path, deep: bool) -> Result<u64, DatabaseError> {
    verify(directory, deep, &(), &AtomicBool::new(false)).map(|report| report.recomputed)
}

/// The position at row 0 and column 0 of a block.
fn first_position(size: &str, key: BlockKey) -> String {
    let index = Index::new(board(size), true);
    let BlockKey { to_move, black, white, .. } = key;
    let occupied = index.occupied(&Address { to_move, black, white, row: 0, column: 0 });
    Position::new_unchecked(index.board(), occupied, to_move).to_string()
}

/// Writes a layer again with some bytes changed. All checksums are correct, and the manifest matches the file.
fn forge(directory: &Path, stones: u32, change: impl Fn(BlockKey, &mut Vec<u8>)) {
    let path = directory.join(layer_name(stones));
    let manifest = Manifest::read(directory).unwrap();
    let index = Index::new(Board::new(manifest.dimensions), manifest.scope.exchanges());
    rewrite(&path, change);
    let (file, stop) = (LayerFile::open(&path).unwrap(), AtomicBool::new(false));
    let mut manifest = manifest;
    manifest.layers[stones as usize] = ManifestLayer::of_file(&index, &file, &stop).unwrap();
    manifest.write(directory).unwrap();
}

fn rewrite(path: &Path, change: impl Fn(BlockKey, &mut Vec<u8>)) {
    let old = LayerFile::open(path).unwrap();
    let mut writer = LayerWriter::create(path, old.header().clone()).unwrap();
    for block in old.blocks() {
        let mut bytes = old.read_block(block.key).unwrap();
        change(block.key, &mut bytes);
        writer.begin_block(block.key);
        writer.write(&bytes).unwrap();
        writer.end_block().unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn sound_databases_pass() {
    for (size, max_stones) in [
        ("1x1", None),
        ("1x2", None),
        ("3x3", None),
        ("1x13", None),
        ("2x7", None),
        ("4x4", None),
        ("3x6", None),
        ("5x4", None),
        ("5x5", Some(11)),
        ("7x7", Some(5)),
        ("8x8", Some(4)),
        ("3x20", Some(4)),
    ] {
        let out = tempdir().unwrap();
        let plan = planned(size, max_stones, out.path());
        let summary = build(&plan);
        let stop = AtomicBool::new(false);
        let report = verify(&plan.directory, true, &(), &stop).unwrap();
        assert_eq!(report.counts.black_to_move_wins, summary.counts.black_to_move_wins, "{size}");
        assert_eq!(report.counts.white_to_move_wins, summary.counts.white_to_move_wins, "{size}");
        assert_eq!(report.counts.positions, summary.counts.positions);
        assert_eq!(report.bytes, summary.bytes);
        assert_eq!(report.coverage, plan.coverage);
        assert_eq!(u128::from(report.recomputed), plan.stored_positions, "{size}");
        assert_eq!(check(&plan.directory, false).unwrap(), 0);
    }
}

/// A database with the remoteness.
fn with_remoteness(size: &str, max_stones: Option<u32>, out: &Path) -> Plan {
    let metric = Metric::Remoteness;
    let options = BuildOptions { metric, max_stones, ..BuildOptions::complete(out.to_owned()) };
    plan(&Board::new(size.parse().unwrap()), &options).unwrap()
}

#[test]
fn sound_remotenesses_pass() {
    for (size, max_stones) in [
        ("1x1", None),
        ("1x2", None),
        ("3x3", None),
        ("1x13", None),
        ("2x7", None),
        ("4x4", None),
        ("5x4", None),
        ("5x5", Some(11)),
        ("7x7", Some(5)),
        ("3x20", Some(4)),
    ] {
        let out = tempdir().unwrap();
        let plan = with_remoteness(size, max_stones, out.path());
        let summary = build(&plan);
        let report = verify(&plan.directory, true, &(), &AtomicBool::new(false)).unwrap();
        assert_eq!(report.coverage.metric, Metric::Remoteness);
        assert_eq!(report.counts.black_to_move_wins, summary.counts.black_to_move_wins, "{size}");
        assert_eq!(u128::from(report.recomputed), plan.stored_positions, "{size}");
    }
}

#[test]
fn one_wrong_remoteness_is_found() {
    for size in ["4x4", "3x5"] {
        for stones in [3, 7, 10] {
            let out = tempdir().unwrap();
            let plan = with_remoteness(size, None, out.path());
            build(&plan);
            let path = plan.directory.join(layer_name(stones));
            let last = LayerFile::open(&path).unwrap().blocks().last().unwrap().key;
            // The highest bit of the first position of the last block.
            forge(&plan.directory, stones, |key, bytes| {
                if key == last {
                    bytes[0] ^= 1;
                }
            });
            let error = check(&plan.directory, false).unwrap_err();
            assert!(error.to_string().contains("the histogram"), "{error}");
            let mut manifest = Manifest::read(&plan.directory).unwrap();
            let index = Index::new(Board::new(manifest.dimensions), true);
            let mut histogram = Histogram::default();
            for stones in 0..=manifest.max_stones() {
                let file = LayerFile::open(&plan.directory.join(layer_name(stones))).unwrap();
                let never = AtomicBool::new(false);
                histogram.add(&count_layer(&index, &file, &never).unwrap().1);
            }
            manifest.histogram = Some(histogram);
            manifest.write(&plan.directory).unwrap();
            assert_eq!(check(&plan.directory, false).unwrap(), 0);
            let error = check(&plan.directory, true).unwrap_err();
            let DatabaseError::WrongValue { path, position, what, .. } = &error else {
                panic!("{error}")
            };
            assert!(path.ends_with(layer_name(stones)));
            assert_eq!((position, *what), (&first_position(size, last), "the remoteness"));
            assert!(error.to_string().contains(" in "), "{error}");
        }
    }
}

#[test]
fn one_wrong_value_is_found() {
    for size in ["4x4", "3x5"] {
        let squares = 16 - u32::from(size == "3x5");
        for stones in 0..=squares {
            let out = tempdir().unwrap();
            let plan = planned(size, None, out.path());
            build(&plan);
            // The first value of the last block of the layer.
            let header = LayerFile::open(&plan.directory.join(layer_name(stones))).unwrap();
            let last = header.blocks().last().unwrap().key;
            drop(header);
            forge(&plan.directory, stones, |key, bytes| {
                if key == last {
                    bytes[0] ^= 1;
                }
            });
            // Without the deep check, no error is found: the checksums and counts are correct.
            assert_eq!(check(&plan.directory, false).unwrap(), 0);
            let error = check(&plan.directory, true).unwrap_err();
            let DatabaseError::WrongValue { path, position, expected, got, .. } = error else {
                panic!("{error}");
            };
            assert!(path.ends_with(layer_name(stones)));
            assert_eq!(position, first_position(size, last));
            assert_ne!(expected, got);
            let stones_in_text = position.matches(['x', 'o']).count();
            assert_eq!(stones_in_text, stones as usize, "{position}");
        }
    }
}

#[test]
fn every_wrong_bit_is_found() {
    // 3x3 stores both sides to move, 2x4 exchanges the colours; both have symmetries.
    for size in ["3x3", "2x4"] {
        let out = tempdir().unwrap();
        let plan = planned(size, None, out.path());
        build(&plan);
        let index = Index::new(board(size), true);
        for stones in 0..=index.board().dimensions().squares() {
            let path = plan.directory.join(layer_name(stones));
            let manifest = Manifest::read(&plan.directory).unwrap();
            let sound = std::fs::read(&path).unwrap();
            let blocks = LayerFile::open(&path).unwrap().blocks().to_vec();
            for block in blocks {
                let BlockKey { to_move, black, white, .. } = block.key;
                for row in 0..block.rows {
                    for column in 0..block.columns {
                        let at = (row * block.row_bytes() + column / 8) as usize;
                        forge(&plan.directory, stones, |key, bytes| {
                            if key == block.key {
                                bytes[at] ^= 1 << (column % 8);
                            }
                        });
                        let error = check(&plan.directory, true).unwrap_err();
                        let DatabaseError::WrongValue { position, .. } = error else {
                            panic!("{error}")
                        };
                        let (row, column) = (row as u32, column as u32);
                        let address = Address { to_move, black, white, row, column };
                        let occupied = index.occupied(&address);
                        let expected = Position::new_unchecked(index.board(), occupied, to_move);
                        assert_eq!(position, expected.to_string(), "{size} {address:?}");
                        std::fs::write(&path, &sound).unwrap();
                    }
                }
            }
            manifest.write(&plan.directory).unwrap();
        }
        assert!(check(&plan.directory, true).unwrap() > 0);
    }
}

#[test]
fn counts_of_the_manifest_are_checked() {
    let out = tempdir().unwrap();
    let plan = planned("3x4", None, out.path());
    build(&plan);
    let mut manifest = Manifest::read(&plan.directory).unwrap();
    manifest.layers[6].counts.black_to_move_wins += 1;
    manifest.write(&plan.directory).unwrap();
    let error = check(&plan.directory, false).unwrap_err();
    assert!(error.is_damage(), "{error}");
    assert!(error.to_string().contains("stones-06.kdb"), "{error}");
}

#[test]
fn a_damaged_byte_is_found_without_the_deep_check() {
    let out = tempdir().unwrap();
    let plan = planned("3x4", None, out.path());
    build(&plan);
    let path = plan.directory.join(layer_name(5));
    let mut bytes = std::fs::read(&path).unwrap();
    // In a chunk, which is not read when a database is opened.
    bytes[100] ^= 4;
    std::fs::write(&path, bytes).unwrap();
    let error = check(&plan.directory, false).unwrap_err();
    assert!(error.is_damage(), "{error}");
}

#[test]
fn a_stopped_check_is_interrupted() {
    let out = tempdir().unwrap();
    let plan = planned("3x4", None, out.path());
    build(&plan);
    for deep in [false, true] {
        let error = verify(&plan.directory, deep, &(), &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(error, DatabaseError::Interrupted), "{error}");
    }
    // The stop flag is set while the last file is read.
    struct InTheLast<'a>(&'a AtomicBool);
    impl BuildObserver for InTheLast<'_> {
        fn stage(&self, stage: Stage) {
            self.0.store(stage == Stage::Checking { stones: 12 }, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    let error = verify(&plan.directory, false, &InTheLast(&stop), &stop).unwrap_err();
    assert!(matches!(error, DatabaseError::Interrupted), "{error}");
}
