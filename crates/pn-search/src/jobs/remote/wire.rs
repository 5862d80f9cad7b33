//! Messages as bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | `KNJ` and the version |
//! | 4..8 | what it is ([`Kind`]) |
//! | 8..16 | which search it belongs to |
//! | .. | the content |
//! | last 8 | XXH3 of everything before |
//!
//! Numbers are little-endian. Both sides have to be of one version; nothing of this is kept. What
//! has been cut or altered, or belongs to another search, is refused.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::ErrorKind;

const MAGIC: [u8; 4] = *b"KNJ\x03";
const HEAD: usize = 16;
const TAIL: usize = 8;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// From a worker to the leader.
    Message = 1,
    /// From the leader to a worker.
    Answer = 2,
    /// From a worker to another: what it knows below a node.
    Entries = 3,
    /// A node, for whoever is asked for entries.
    Node = 4,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// They do not begin as one of this version does.
    #[error(
        "these are no bytes of a message that this version of konane writes: use the same version everywhere"
    )]
    Foreign,
    /// They have been cut or altered.
    #[error("the message has been cut or altered on its way: its checksum differs")]
    Damaged,
    /// It is about another search.
    #[error(
        "the message belongs to another search: board, position and options have to be the same everywhere"
    )]
    OtherSearch,
    /// It is sound, but not what is expected here.
    #[error("the message is not {0}")]
    Unexpected(&'static str),
}

impl WireError {
    /// Returns [`ErrorKind::Usage`].
    pub const fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// Makes a message of the bytes that `write` appends.
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

/// The bytes that a message was made of.
///
/// # Errors
/// If they are not a whole message of this kind and search.
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
            Kind::Message => "one of a worker to its leader",
            Kind::Answer => "an answer of a leader",
            Kind::Entries => "entries of a worker",
            Kind::Node => "a node",
        }));
    }
    if u64_at(bytes, 8) != search {
        return Err(WireError::OtherSearch);
    }
    Ok(&bytes[HEAD..end])
}

/// [`seal`] of a value.
///
/// # Panics
/// Never: what is sent has no parts that cannot be written.
pub fn encode(kind: Kind, search: u64, value: &impl Serialize) -> Vec<u8> {
    seal(kind, search, |bytes| {
        let all = std::mem::take(bytes);
        *bytes = postcard::to_extend(value, all).expect("memory takes everything");
    })
}

/// The value of [`encode`].
///
/// # Errors
/// As [`open`], and if the content is something else.
pub fn decode<T: DeserializeOwned>(kind: Kind, search: u64, bytes: &[u8]) -> Result<T, WireError> {
    let content = open(kind, search, bytes)?;
    match postcard::take_from_bytes(content) {
        Ok((value, [])) => Ok(value),
        _ => Err(WireError::Unexpected("of this kind of game")),
    }
}

/// Little-endian number at offset `at`.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_sent_comes_out(search: u64, value: Vec<(u64, u32, bool)>) {
            let bytes = encode(Kind::Answer, search, &value);
            prop_assert_eq!(decode(Kind::Answer, search, &bytes), Ok(value));
        }

        #[test]
        fn what_is_cut_or_altered_is_refused(
            value: Vec<u64>,
            at: prop::sample::Index,
            bit in 0u32..8,
            length: prop::sample::Index,
        ) {
            let bytes = encode(Kind::Message, 7, &value);
            let mut altered = bytes.clone();
            altered[at.index(bytes.len())] ^= 1 << bit;
            prop_assert!(decode::<Vec<u64>>(Kind::Message, 7, &altered).is_err());
            let cut = &bytes[..length.index(bytes.len())];
            prop_assert!(decode::<Vec<u64>>(Kind::Message, 7, cut).is_err());
        }

        #[test]
        fn random_bytes_are_refused(bytes: Vec<u8>) {
            prop_assert!(decode::<Vec<u64>>(Kind::Message, 7, &bytes).is_err());
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let bytes = encode(Kind::Message, 7, &(1u64, 2u64));
        let read = |kind, search| decode::<(u64, u64)>(kind, search, &bytes);
        assert_eq!(read(Kind::Message, 8), Err(WireError::OtherSearch));
        assert!(matches!(read(Kind::Entries, 7), Err(WireError::Unexpected(_))));
        let other = decode::<u64>(Kind::Message, 7, &bytes);
        assert!(matches!(other, Err(WireError::Unexpected(_))), "bytes are left");
        assert_eq!(decode::<u64>(Kind::Message, 7, b"GET / HTTP/1.1"), Err(WireError::Foreign));
    }
}
