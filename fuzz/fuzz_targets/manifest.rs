//! Any bytes are read as a manifest or rejected. Each manifest has exactly one encoding.
#![no_main]

use std::path::Path;

use arbitrary::Arbitrary;
use konane::tablebase::Manifest;
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    /// If true, the checksum is corrected.
    sealed: bool,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input| {
    let mut bytes = input.bytes.to_vec();
    if input.sealed && bytes.len() >= 20 {
        let digits = bytes.len() - 20..bytes.len() - 4;
        bytes[digits.clone()].fill(b'0');
        let checksum = format!("{:016x}", xxh3_64(&bytes));
        bytes[digits].copy_from_slice(checksum.as_bytes());
    }
    if let Ok(manifest) = Manifest::decode(Path::new("a file"), &bytes) {
        assert_eq!(manifest.encode(), bytes);
    }
});
