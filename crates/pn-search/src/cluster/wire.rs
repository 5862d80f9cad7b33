//! Messages as bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `KNJ` and the version |
//! | 4..8 | kind of the message ([`Kind`]) |
//! | 8..16 | id of the search |
//! | .. | content |
//! | last 8 | XXH3 of all bytes before |
//!
//! Numbers are little-endian. Sender and receiver must have the same version; messages are not stored. Messages that
//! have been truncated or altered, or belong to another search, are rejected ([`WireError`]).

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::ErrorKind;

const MAGIC: [u8; 4] = *b"KNJ\x04";
const HEAD: usize = 16;
const TAIL: usize = 8;

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A request, from a worker to the coordinator.
    Request = 1,
    /// A reply, from the coordinator to a worker.
    Reply = 2,
    /// Entries below a node, from a worker to another one.
    Entries = 3,
    /// A node, sent to the worker that has entries below it.
    Node = 4,
}

/// Error of a message that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes do not begin with the magic bytes of this version.
    #[error("not a message of this version of konane: use the same version on all machines")]
    Foreign,
    /// The message has been truncated or altered.
    #[error("the message has been truncated or altered on its way: its checksum differs")]
    Damaged,
    /// The message belongs to another search.
    #[error(
        "the message belongs to another search: use the same board, position and options on all machines"
    )]
    OtherSearch,
    /// The message is undamaged, but another kind of message or other content is expected.
    #[error("the message is not {0}")]
    Unexpected(&'static str),
}

impl WireError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Returns a message whose content is written by `write`.
pub fn seal(kind: Kind, search: u64, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend(MAGIC);
    bytes.extend((kind as u32).to_le_bytes());
    bytes.extend(search.to_le_bytes());
    write(&mut bytes);
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// Returns the content of a message.
///
/// # Errors
/// If `bytes` are not a complete message of this kind and search.
pub fn open(kind: Kind, search: u64, bytes: &[u8]) -> Result<&[u8], WireError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(WireError::Foreign);
    }
    let end = bytes.len().checked_sub(TAIL).filter(|&end| end >= HEAD);
    let end = end.ok_or(WireError::Damaged)?;
    if xxh3_64(&bytes[..end]) != u64_at(bytes, end) {
        return Err(WireError::Damaged);
    }
    if bytes[4..8] != (kind as u32).to_le_bytes() {
        return Err(WireError::Unexpected(match kind {
            Kind::Request => "a request of a worker",
            Kind::Reply => "a reply of a coordinator",
            Kind::Entries => "a list of entries of a worker",
            Kind::Node => "a node",
        }));
    }
    if u64_at(bytes, 8) != search {
        return Err(WireError::OtherSearch);
    }
    Ok(&bytes[HEAD..end])
}

/// Returns a message whose content is `value`.
///
/// # Panics
/// Never: all types that are sent can be serialised.
pub fn encode(kind: Kind, search: u64, value: &impl Serialize) -> Vec<u8> {
    seal(kind, search, |bytes| {
        let head = std::mem::take(bytes);
        *bytes = postcard::to_extend(value, head).expect("the value can be serialised");
    })
}

/// Returns the value in a message of [`encode`].
///
/// # Errors
/// The errors of [`open`], and an error if the content is not a `T`.
pub fn decode<T: DeserializeOwned>(kind: Kind, search: u64, bytes: &[u8]) -> Result<T, WireError> {
    let content = open(kind, search, bytes)?;
    match postcard::take_from_bytes(content) {
        Ok((value, [])) => Ok(value),
        _ => Err(WireError::Unexpected("of this kind of game")),
    }
}

/// Returns the little-endian number at offset `at`.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_returns_the_encoded_value(search: u64, value: Vec<(u64, u32, bool)>) {
            let bytes = encode(Kind::Reply, search, &value);
            prop_assert_eq!(decode(Kind::Reply, search, &bytes), Ok(value));
        }

        #[test]
        fn truncated_and_altered_messages_are_rejected(
            value: Vec<u64>,
            at: prop::sample::Index,
            bit in 0u32..8,
            length: prop::sample::Index,
        ) {
            let bytes = encode(Kind::Request, 7, &value);
            let mut altered = bytes.clone();
            altered[at.index(bytes.len())] ^= 1 << bit;
            prop_assert!(decode::<Vec<u64>>(Kind::Request, 7, &altered).is_err());
            let cut = &bytes[..length.index(bytes.len())];
            prop_assert!(decode::<Vec<u64>>(Kind::Request, 7, cut).is_err());
        }

        #[test]
        fn random_bytes_are_rejected(bytes: Vec<u8>) {
            prop_assert!(decode::<Vec<u64>>(Kind::Request, 7, &bytes).is_err());
        }
    }

    #[test]
    fn errors_name_the_mismatch() {
        let bytes = encode(Kind::Request, 7, &(1u64, 2u64));
        let read = |kind, search| decode::<(u64, u64)>(kind, search, &bytes);
        assert_eq!(read(Kind::Request, 8), Err(WireError::OtherSearch));
        assert!(matches!(read(Kind::Entries, 7), Err(WireError::Unexpected(_))));
        let other = decode::<u64>(Kind::Request, 7, &bytes);
        assert!(matches!(other, Err(WireError::Unexpected(_))), "bytes are left over");
        assert_eq!(decode::<u64>(Kind::Request, 7, b"GET / HTTP/1.1"), Err(WireError::Foreign));
    }
}
