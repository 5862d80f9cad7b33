//! Any bytes are the record of a game or are refused, with a place inside of them. What was read is
//! written and read again, and every move can be played.
#![no_main]

use konane::record::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| match Record::from_bytes(bytes) {
    Ok(record) => {
        assert_eq!(record.positions().len(), record.moves.len() + 1);
        assert_eq!(record.to_string().parse(), Ok(record));
    }
    Err(error) => {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
        assert!((1..=lines).contains(&error.line) && error.column > 0, "{error}");
        assert!(error.to_string().len() < 1000, "long texts are cut");
    }
});
