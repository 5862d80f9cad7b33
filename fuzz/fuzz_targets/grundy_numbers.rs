//! Any bytes are read as a database of Grundy numbers or rejected with a location. Random bytes
//! never pass the checksums, so the target computes valid ones.
#![no_main]

use std::path::Path;

use arbitrary::Arbitrary;
use konane::record_file::{Contents, FRAME, MAX_FRAME, Record, RecordFileError, read_from};
use konane::sprouts::grundy_file::GRUNDY_NUMBERS;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Frame<'a> {
    /// Added to the length in the header.
    longer: i8,
    records: Vec<(u16, &'a str)>,
    edits: Vec<(u16, u8)>,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    frames: Vec<Frame<'a>>,
    tail: &'a [u8],
}

/// Returns the numbers and texts that are read, and the result for the whole file.
fn load(bytes: &[u8]) -> (Vec<(u32, String)>, Result<Contents, RecordFileError>) {
    let (mut records, length) = (Vec::new(), bytes.len() as u64);
    let found = read_from(Path::new("input"), GRUNDY_NUMBERS, bytes, |entry: Record<'_>| {
        assert!(entry.place < length);
        records.push((entry.number, entry.text.to_owned()));
        Ok::<(), RecordFileError>(())
    });
    match &found {
        Ok(contents) => {
            assert_eq!(contents.records, records.len() as u64);
            assert_eq!(contents.bytes + contents.torn.map_or(0, |torn| torn.bytes), length);
        }
        Err(RecordFileError::Damaged { place, .. }) => assert!(*place < length),
        Err(RecordFileError::OtherKind { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    (records, found)
}

fuzz_target!(|input: Input| {
    let _ = load(input.tail);
    let (mut bytes, mut expected, mut is_whole) = (GRUNDY_NUMBERS.magic.to_vec(), Vec::new(), true);
    for Frame { longer, records, edits } in &input.frames {
        let mut content = Vec::new();
        for &(grundy, text) in records {
            let text = &text[..text.floor_char_boundary(u16::MAX.into())];
            content.extend_from_slice(&grundy.to_le_bytes());
            content.extend_from_slice(&(text.len() as u16).to_le_bytes());
            content.extend_from_slice(text.as_bytes());
            expected.push((u32::from(grundy), text.to_owned()));
        }
        for &(at, value) in edits {
            let length = content.len().max(1);
            if let Some(byte) = content.get_mut(usize::from(at) % length) {
                *byte = value;
            }
        }
        let length = (content.len() as u32).wrapping_add_signed((*longer).into());
        is_whole &= edits.is_empty() && *longer == 0 && content.len() <= MAX_FRAME;
        let mut header = [FRAME, length.to_le_bytes()].concat();
        header.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        header.extend_from_slice(&xxh3_64(&header).to_le_bytes());
        header.extend_from_slice(&xxh3_64(&content).to_le_bytes());
        bytes.extend_from_slice(&header);
        bytes.extend_from_slice(&content);
    }
    let end = bytes.len() as u64;
    bytes.extend_from_slice(input.tail);
    let (records, found) = load(&bytes);
    if is_whole {
        // Trailing bytes do not affect the complete frames before them.
        assert!(records.starts_with(&expected));
        assert!(!input.tail.is_empty() || found.is_ok_and(|contents| contents.bytes == end));
    }
});
