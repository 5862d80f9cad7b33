//! Damaged databases: every look-up returns the right value or an error that names the damaged file.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::file::FileError;
use crate::tablebase::files::format::{
    FOOTER_BYTES, Footer, HEADER_BYTES, LayerHeader, MANIFEST_NAME, Scope, layer_name,
};
use crate::tablebase::files::{LayerFile, count_layer};
use crate::tablebase::index::Index;
use crate::tablebase::{Database, DatabaseError, DatabaseOptions, Histogram, Manifest, Metric};
use crate::{Board, Colour, ErrorKind, Position, Value};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::databases::{open, samples};

/// Errors of both checks of a file. Either both checks or none must fail.
fn check(file: &LayerFile) -> Vec<DatabaseError> {
    let (header, never) = (file.header(), AtomicBool::new(false));
    let index = Index::new(Board::new(header.dimensions), header.scope.exchanges());
    let results = [file.verify(&never), count_layer(&index, file, &never).map(drop)];
    assert_eq!(results[0].is_ok(), results[1].is_ok(), "{results:?}");
    results.into_iter().filter_map(Result::err).collect()
}

/// A copy of a sample, which a test may damage.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join(name);
    fs::create_dir(&to).unwrap();
    let version = if name.ends_with("remoteness") { 2 } else { 1 };
    for entry in fs::read_dir(samples(version, name)).unwrap() {
        let from = entry.unwrap().path();
        fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
    }
    (directory, to)
}

/// Opens a database and all its layers, which are checked when they are first used.
fn attempt(directory: &Path) -> Result<Database, DatabaseError> {
    let database = Database::open(directory, DatabaseOptions::default())?;
    for stones in 0..=database.coverage().max_stones {
        database.layer(stones)?;
    }
    Ok(database)
}

/// Results of the look-ups of all positions with `stones` stones, which must leave at least two squares empty.
#[expect(clippy::type_complexity, reason = "value and remoteness, or an error")]
fn values(database: &Database, stones: u32) -> Vec<Result<(Option<Value>, Option<u32>), String>> {
    let sets = (0..=database.board().all()).filter(|set| set.count_ones() == stones);
    sets.flat_map(|set| [(set, Colour::Black), (set, Colour::White)])
        .map(|(set, side)| {
            let plies = database.remoteness(&Position::new_unchecked(database.board(), set, side));
            let value = database.jumping_value(set, side);
            value.and_then(|value| Ok((value, plies?))).map_err(|error| {
                assert_eq!(error.kind(), ErrorKind::File, "{error}");
                error.to_string()
            })
        })
        .collect()
}

#[test]
fn every_changed_byte_of_a_layer_is_noticed() {
    for name in ["3x3-reachable", "3x4-complete", "3x4-complete-remoteness"] {
        let (_keep, directory) = copy(name);
        let expected = values(&open(&directory), 5);
        assert!(expected.iter().all(Result::is_ok));
        let path = directory.join(layer_name(5));
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            for change in [0x01, 0x80, 0xFF] {
                bytes[at] = whole[at] ^ change;
                let checked = LayerFile::from_bytes(&path, bytes.clone()).map(|file| check(&file));
                let errors = checked.unwrap_or_else(|error| vec![error]);
                assert!(!errors.is_empty(), "byte {at} of {name}");
                for error in errors {
                    assert!(error.to_string().contains("stones-05.kdb"), "{error}");
                }
            }
            bytes[at] = whole[at] ^ [0x01, 0x80, 0xFF][at % 3];
            fs::write(&path, &bytes).unwrap();
            let Ok(database) = attempt(&directory) else { continue };
            let mut errors = 0;
            for (found, expected) in values(&database, 5).iter().zip(&expected) {
                match found {
                    Ok(_) => assert_eq!(found, expected, "byte {at}"),
                    Err(error) => {
                        errors += 1;
                        assert!(error.contains("stones-05.kdb"), "{error}");
                    }
                }
            }
            assert_ne!(errors, 0, "byte {at} of {name}");
        }
    }
}

#[test]
fn every_changed_byte_of_a_manifest_is_noticed() {
    let (_keep, directory) = copy("3x3-complete");
    let path = directory.join(MANIFEST_NAME);
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        for change in [0x01, 0x02, 0x20, 0x80, 0xFF] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            fs::write(&path, &bytes).unwrap();
            let error = attempt(&directory).unwrap_err();
            assert!(error.to_string().contains(MANIFEST_NAME), "{at}: {error}");
            assert_eq!(error.kind(), ErrorKind::File);
        }
    }
    // No additional character is accepted as white space.
    for addition in ["\n", " ", "}", "\0"] {
        fs::write(&path, [&whole[..], addition.as_bytes()].concat()).unwrap();
        assert!(attempt(&directory).is_err(), "{addition:?}");
        fs::write(&path, [addition.as_bytes(), &whole[..]].concat()).unwrap();
        assert!(attempt(&directory).is_err(), "{addition:?}");
    }
}

/// Another program truncates a file that is open, to zero bytes or to a part of its length.
#[test]
fn a_file_that_shrinks_while_it_is_open_gives_errors() {
    let (_keep, directory) = copy("3x3-complete");
    let path = directory.join(layer_name(5));
    let whole = fs::read(&path).unwrap();
    for length in [0, HEADER_BYTES + 1, whole.len() - 1] {
        fs::write(&path, &whole).unwrap();
        // Without a cache, only the index is in memory.
        let database = Database::open(&directory, DatabaseOptions { cache_bytes: 0 }).unwrap();
        let layer = database.layer(5).unwrap();
        let expected = values(&open(&directory), 5);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(length as u64).unwrap();
        let found = values(&database, 5);
        let mut errors = 0;
        for (found, expected) in found.iter().zip(&expected) {
            match found {
                Ok(_) => assert_eq!(found, expected),
                Err(error) => {
                    errors += 1;
                    assert!(error.contains("stones-05.kdb") && error.contains("length"), "{error}");
                }
            }
        }
        let cut = length < whole.len() - 1;
        assert_eq!(errors > 0, cut, "{length}");
        assert_eq!(layer.verify(&AtomicBool::new(false)).is_err(), cut, "{length}");
    }
}

#[test]
fn a_wrong_number_of_set_bits_is_found() {
    let mut found = 0;
    for name in ["3x3-reachable", "3x4-complete", "3x4-complete-remoteness"] {
        let (_keep, directory) = copy(name);
        let path = directory.join(layer_name(5));
        let whole = fs::read(&path).unwrap();
        let end = whole.len() - FOOTER_BYTES;
        let index = Footer::decode(&path, &whole[end..]).unwrap().index_offset as usize;
        let blocks = LayerFile::open(&path).unwrap().blocks().len();
        for block in 0..blocks {
            let mut bytes = whole.clone();
            // The index begins with the number of blocks. A block has 20 bytes: a key of 4 bytes, the number of
            // rows, and the number of set bits.
            bytes[index + 4 + 20 * block + 12] ^= 1;
            seal(&mut bytes);
            // A number that exceeds the number of bits is rejected when the index is read.
            let Ok(file) = LayerFile::from_bytes(&path, bytes) else { continue };
            for error in check(&file) {
                assert!(error.to_string().contains("the number of set bits"), "{error}");
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn every_truncation_is_noticed() {
    let (_keep, directory) = copy("3x3-complete");
    for name in [MANIFEST_NAME.to_owned(), layer_name(4)] {
        let path = directory.join(&name);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let error = attempt(&directory).unwrap_err();
            assert!(error.to_string().contains(&name), "{error}");
        }
        fs::write(&path, [&whole[..], &whole[..1]].concat()).unwrap();
        assert!(attempt(&directory).unwrap_err().to_string().contains(&name));
        // One byte in the middle is missing.
        fs::write(&path, [&whole[..100], &whole[101..]].concat()).unwrap();
        assert!(attempt(&directory).unwrap_err().to_string().contains(&name));
        fs::write(&path, &whole).unwrap();
        open(&directory);
    }
}

fn is_of_another_kind(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::File(FileError::OtherKind { .. }))
}

#[test]
fn missing_and_foreign_files() {
    let (_keep, directory) = copy("3x3-complete");
    let layer = |stones| directory.join(layer_name(stones));
    let whole = fs::read(layer(6)).unwrap();

    fs::remove_file(layer(6)).unwrap();
    let error = attempt(&directory).unwrap_err();
    assert!(matches!(error, DatabaseError::MissingLayer { stones: 6, .. }), "{error}");
    assert!(
        error.to_string().contains("stones-06.kdb") && error.kind() == ErrorKind::File,
        "{error}"
    );

    // Sound files of another layer, or of the same layer of another database.
    for other in [layer(5), samples(1, "3x3-reachable").join(layer_name(6))] {
        fs::copy(other, layer(6)).unwrap();
        let error = attempt(&directory).unwrap_err();
        assert!(error.is_damage(), "{error}");
        assert!(error.to_string().contains("stones-06.kdb"), "{error}");
    }
    fs::remove_file(layer(6)).unwrap();
    fs::create_dir(layer(6)).unwrap();
    let error = attempt(&directory).unwrap_err();
    assert!(is_of_another_kind(&error), "{error}");
    fs::remove_dir(layer(6)).unwrap();
    fs::write(layer(6), whole).unwrap();
    open(&directory);

    fs::remove_file(directory.join(MANIFEST_NAME)).unwrap();
    let error = attempt(&directory).unwrap_err();
    assert!(matches!(error, DatabaseError::NoDatabase { .. }), "{error}");
    fs::write(directory.join(MANIFEST_NAME), "{\"format\": \"something else\"}").unwrap();
    let error = attempt(&directory).unwrap_err();
    assert!(is_of_another_kind(&error), "{error}");
}

/// Corrects the checksums of header and index after a change of either.
fn seal(bytes: &mut [u8]) {
    let at = bytes.len() - FOOTER_BYTES;
    let mut footer = Footer::decode(Path::new("a file"), &bytes[at..]).unwrap();
    let index = footer.index_offset as usize..at;
    footer.index_xxh3 = xxh3_64(&bytes[index]);
    footer.header_xxh3 = xxh3_64(&bytes[..HEADER_BYTES]);
    bytes[at..].copy_from_slice(&footer.encode());
}

/// A sparse file may have any length and take only a few bytes on the disk. Memory for its index is reserved only
/// as the index is read.
#[test]
fn a_hole_for_an_index_takes_no_memory() {
    let index = Index::new(Board::new("6x6".parse().unwrap()), true);
    let header = LayerHeader::new(&index, Scope::Complete, Metric::Outcome, 18);
    // The smallest chunks, so that there are as many as possible.
    let header = LayerHeader { chunk_bytes: 8, ..header };
    let keys = header.keys();
    let (mut listed, mut chunks) = ((keys.len() as u32).to_le_bytes().to_vec(), 0);
    for key in keys {
        let rows = index.rows(key.black);
        listed.extend(key.encode());
        listed.extend(rows.to_le_bytes());
        listed.extend(0u64.to_le_bytes());
        chunks += (rows.div_ceil(8) * header.columns(key.white)).div_ceil(8);
    }
    let footer = Footer {
        index_offset: HEADER_BYTES as u64 + 1000,
        index_bytes: listed.len() as u64 + 12 * chunks,
        index_xxh3: 0,
        header_xxh3: xxh3_64(&header.encode()),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(layer_name(18));
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(&header.encode()).unwrap();
    file.seek(SeekFrom::Start(footer.index_offset)).unwrap();
    file.write_all(&listed).unwrap();
    let length = footer.index_offset + footer.index_bytes;
    assert!(length > 100 << 20, "{length}");
    file.seek(SeekFrom::Start(length)).unwrap();
    file.write_all(&footer.encode()).unwrap();
    let error = LayerFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("the length of chunk 0 of the file should be 1 to"), "{error}");
}

#[test]
fn other_versions_are_named() {
    let (_keep, directory) = copy("3x3-complete");
    let path = directory.join(layer_name(4));
    let whole = fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[8] = 3;
    seal(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    let error = attempt(&directory).unwrap_err();
    let named = |error: &DatabaseError, version| match error {
        DatabaseError::File(FileError::OtherVersion { got, .. }) => *got == version,
        _ => false,
    };
    assert!(named(&error, 3), "{error}");
    let text = error.to_string();
    assert!(text.contains("stones-04.kdb") && text.contains("version 3"), "{text}");
    fs::write(&path, &whole).unwrap();

    let path = directory.join(MANIFEST_NAME);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"version\": 1,", "\"version\": 77, \"new\": [],")).unwrap();
    let error = attempt(&directory).unwrap_err();
    assert!(named(&error, 77) && error.to_string().contains(MANIFEST_NAME), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Random changes, after which the checksums of header and index are corrected. A reader may accept such a
    /// file, but must not panic, loop or run out of memory.
    #[test]
    fn random_changes_with_correct_checksums_are_harmless(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        in_index: bool,
        (version, name) in prop::sample::select(vec![
            (1, "3x3-reachable"), (2, "3x3-reachable"), (2, "3x4-complete-remoteness"),
        ]),
        stones in 0u32..=9,
    ) {
        let path = samples(version, name).join(layer_name(stones));
        let mut bytes = fs::read(&path).unwrap();
        let end = bytes.len() - FOOTER_BYTES;
        let footer = Footer::decode(&path, &bytes[end..]).unwrap();
        for (at, value) in changes {
            let from = if in_index { footer.index_offset as usize } else { 0 };
            let at = from + at.index(end - from);
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(file) = LayerFile::from_bytes(&path, bytes) {
            let _ = file.verify(&AtomicBool::new(false));
            for block in file.blocks() {
                let _ = file.read_block(block.key);
            }
        }
    }

    #[test]
    fn manifests_are_read_as_written(
        layers in prop::collection::vec(
            (any::<u64>(), any::<u64>(), 0..1u64 << 56, 0..1u64 << 56, 0..1u64 << 56), 1..37),
        remoteness: bool,
        newer: bool,
    ) {
        let layers = (0..).zip(layers).map(|(stones, (bytes, footer_xxh3, p, b, w))| {
            let counts = crate::tablebase::PositionCounts {
                positions: if remoteness { 2 * (p + b + w) } else { p },
                black_to_move_wins: b,
                white_to_move_wins: w,
            };
            crate::tablebase::ManifestLayer { stones, bytes, footer_xxh3, counts }
        });
        let mut manifest = Manifest {
            version: if remoteness || newer { 2 } else { 1 },
            dimensions: "6x6".parse().unwrap(),
            scope: crate::tablebase::Scope::Complete,
            layers: layers.collect(),
            histogram: None,
        };
        if remoteness {
            let total = manifest.total().unwrap();
            let side = |wins| vec![total.positions / 2 - wins, wins];
            manifest.histogram = Some(Histogram {
                black: side(total.black_to_move_wins),
                white: side(total.white_to_move_wins),
            });
        }
        let bytes = manifest.encode();
        prop_assert_eq!(Manifest::decode(Path::new("a file"), &bytes).unwrap(), manifest);
    }
}
