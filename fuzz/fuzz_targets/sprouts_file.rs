//! Any bytes are read as a file of Grundy numbers or rejected with a line number. Entries are
//! unchanged after writing and reading them.
#![no_main]

use std::path::Path;

use konane::sprouts::spr_file::{HEADER, LOST, SprReader, SprWriter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("input");
    // Random bytes almost never start with a header.
    let with_header = [HEADER, LOST].map(|header| [header.as_bytes(), b"\n", bytes].concat());
    for input in [bytes, &with_header[0], &with_header[1]] {
        let mut entries = Vec::new();
        for entry in SprReader::new(input, path) {
            match entry {
                // Lost positions may be sums; only lands are written.
                Ok(entry) if entry.position.lands().len() == 1 => entries.push(entry),
                Ok(entry) => assert_eq!(entry.grundy, 0),
                Err(error) => assert!(error.to_string().starts_with("input, line ")),
            }
        }
        let mut writer = SprWriter::new(Vec::new(), path).expect("vectors take any bytes");
        for entry in &entries {
            writer
                .write(&entry.position.to_string(), entry.grundy)
                .expect("vectors take any bytes");
        }
        let written = writer.finish().expect("vectors take any bytes");
        let again: Vec<_> = SprReader::new(written.as_slice(), path)
            .map(|entry| entry.expect("what was written is read"))
            .map(|entry| (entry.position, entry.grundy))
            .collect();
        let first: Vec<_> =
            entries.into_iter().map(|entry| (entry.position, entry.grundy)).collect();
        assert_eq!(again, first);
    }
});
