//! Layout of a proof file, as docs/PROOF_FORMAT.md specifies it: header, chunks, index and footer.
//!
//! All numbers are little-endian.

use std::fmt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::ProofError;

/// First bytes of every proof file.
pub const MAGIC: [u8; 8] = *b"KONPROOF";

/// Last bytes of every proof file.
pub const END_MAGIC: [u8; 8] = *b"KONPREND";

/// Version of the format.
pub const VERSION: u32 = 1;

/// Name of the rules. docs/PROOF_FORMAT.md states the rules with this name.
pub const RULES: &str = "konane-corner-or-centre";

/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 80;

/// Length of a chunk's index entry in bytes.
pub const ENTRY_BYTES: usize = 24;

/// Length of the footer in bytes.
pub const FOOTER_BYTES: usize = 48;

/// Maximum number of codes in a chunk.
pub const MAX_CHUNK_CODES: u32 = 1 << 20;

/// Length in bytes of the zero-padded name of the rules.
const RULES_BYTES: usize = 32;

/// Maximum length in bytes of an encoded difference of two codes.
pub(crate) const MAX_VARINT_BYTES: usize = 10;

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The player with a stone on the top-left square at the start, who makes the first removal.
    Black,
    /// The player who makes the second removal.
    White,
}

impl Side {
    /// Returns the other player.
    pub const fn other(self) -> Side {
        match self {
            Side::Black => Side::White,
            Side::White => Side::Black,
        }
    }

    /// Returns `black` or `white`.
    pub const fn name(self) -> &'static str {
        match self {
            Side::Black => "black",
            Side::White => "white",
        }
    }

    fn from_byte(byte: u8) -> Option<Side> {
        match byte {
            0 => Some(Side::Black),
            1 => Some(Side::White),
            _ => None,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Black => "Black",
            Side::White => "White",
        })
    }
}

/// The claim of a proof, and the size of its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofHeader {
    /// Number of ranks of the board. The number of squares is 1 to 64.
    pub ranks: u8,
    /// Number of files of the board.
    pub files: u8,
    /// Occupied squares of the root, the position that the proof is about: bit `row * files + file`,
    /// row 0 at the top.
    pub root: u64,
    /// Side to move at the root.
    pub to_move: Side,
    /// Winner at the root.
    pub winner: Side,
    /// Number of positions in the set.
    pub positions: u64,
    /// Number of codes in every chunk except the last one, which may have fewer.
    pub chunk_codes: u32,
}

impl ProofHeader {
    /// Returns the number of chunks of the file.
    pub fn chunks(&self) -> u64 {
        self.positions.div_ceil(self.chunk_codes.into())
    }

    /// Encodes the header.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12] = self.ranks;
        bytes[13] = self.files;
        bytes[14] = self.to_move as u8;
        bytes[15] = self.winner as u8;
        bytes[16..24].copy_from_slice(&self.root.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.positions.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.chunk_codes.to_le_bytes());
        bytes[40..40 + RULES.len()].copy_from_slice(RULES.as_bytes());
        let checksum = xxh3_64(&bytes[..HEADER_BYTES - 8]);
        bytes[HEADER_BYTES - 8..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes a header and checks every field. `path` is for error messages.
    ///
    /// # Errors
    /// If the bytes are not a header, or have another version or other rules.
    pub fn decode(path: &Path, bytes: &[u8; HEADER_BYTES]) -> Result<Self, ProofError> {
        if bytes[..8] != MAGIC {
            let what = "it does not begin with the bytes KONPROOF".to_owned();
            return Err(ProofError::NotAProof { path: path.to_owned(), what });
        }
        let damaged = |what: &str, expected: &dyn ToString, got: &dyn ToString| {
            Err(ProofError::damaged(path, what, expected.to_string(), got.to_string()))
        };
        // The version is checked first, because another version may store the checksum elsewhere.
        let version = u32_at(bytes, 8);
        if version != VERSION {
            let path = path.to_owned();
            return Err(ProofError::OtherVersion { path, expected: VERSION, got: version });
        }
        let (expected, got) =
            (xxh3_64(&bytes[..HEADER_BYTES - 8]), u64_at(bytes, HEADER_BYTES - 8));
        if expected != got {
            return damaged("the header's checksum", &hex(expected), &hex(got));
        }
        let mut rules = [0; RULES_BYTES];
        rules[..RULES.len()].copy_from_slice(RULES.as_bytes());
        if bytes[40..72] != rules {
            let got = String::from_utf8_lossy(&bytes[40..72]);
            let (path, got) = (path.to_owned(), got.trim_end_matches('\0').to_owned());
            return Err(ProofError::OtherRules { path, expected: RULES, got });
        }
        let (ranks, files) = (bytes[12], bytes[13]);
        let squares = u32::from(ranks) * u32::from(files);
        if !(1..=64).contains(&squares) {
            return damaged("the board", &"one of 1 to 64 squares", &format!("{ranks}x{files}"));
        }
        let (Some(to_move), Some(winner)) =
            (Side::from_byte(bytes[14]), Side::from_byte(bytes[15]))
        else {
            return damaged("the side to move or the winner", &"0 or 1", &bytes[14].max(bytes[15]));
        };
        let root = u64_at(bytes, 16);
        if root > u64::MAX >> (64 - squares) {
            return damaged("the root", &format!("stones on {squares} squares"), &hex(root));
        }
        let (positions, chunk_codes) = (u64_at(bytes, 24), u32_at(bytes, 32));
        if !(1..=MAX_CHUNK_CODES).contains(&chunk_codes) {
            let expected = format!("1 to {MAX_CHUNK_CODES}");
            return damaged("the number of codes in a chunk", &expected, &chunk_codes);
        }
        if bytes[36..40] != [0; 4] {
            return damaged("bytes 36 to 39", &"zero", &u32_at(bytes, 36));
        }
        Ok(ProofHeader { ranks, files, root, to_move, winner, positions, chunk_codes })
    }
}

/// Index entry of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// First code of the chunk.
    pub first: u64,
    /// Compressed length in bytes.
    pub bytes: u64,
    /// XXH3-64 of the compressed bytes.
    pub xxh3: u64,
}

impl ChunkEntry {
    /// Encodes the entry.
    pub fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[0..8].copy_from_slice(&self.first.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.xxh3.to_le_bytes());
        bytes
    }

    /// Decodes an entry.
    pub fn decode(bytes: &[u8; ENTRY_BYTES]) -> Self {
        ChunkEntry { first: u64_at(bytes, 0), bytes: u64_at(bytes, 8), xxh3: u64_at(bytes, 16) }
    }
}

/// Footer of a file: the location of the index, and checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofFooter {
    /// Offset of the index in the file.
    pub index_offset: u64,
    /// Length of the index in bytes.
    pub index_bytes: u64,
    /// XXH3-64 of the index.
    pub index_xxh3: u64,
    /// XXH3-64 of the whole header.
    pub header_xxh3: u64,
}

impl ProofFooter {
    /// Encodes the footer.
    pub fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        bytes[0..8].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.index_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.index_xxh3.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.header_xxh3.to_le_bytes());
        let checksum = xxh3_64(&bytes[..32]);
        bytes[32..40].copy_from_slice(&checksum.to_le_bytes());
        bytes[40..48].copy_from_slice(&END_MAGIC);
        bytes
    }

    /// Decodes a footer. `path` is for error messages.
    ///
    /// # Errors
    /// If the bytes are not a footer, most often because the file is truncated.
    pub fn decode(path: &Path, bytes: &[u8; FOOTER_BYTES]) -> Result<Self, ProofError> {
        if bytes[40..] != END_MAGIC {
            let got = "different, as in a truncated file";
            return Err(ProofError::damaged(path, "the end of the file", "KONPREND", got));
        }
        let (expected, got) = (xxh3_64(&bytes[..32]), u64_at(bytes, 32));
        if expected != got {
            let what = "the footer's checksum";
            return Err(ProofError::damaged(path, what, hex(expected), hex(got)));
        }
        Ok(ProofFooter {
            index_offset: u64_at(bytes, 0),
            index_bytes: u64_at(bytes, 8),
            index_xxh3: u64_at(bytes, 16),
            header_xxh3: u64_at(bytes, 24),
        })
    }
}

/// Formats a checksum, a code or a set of squares for error messages.
pub(crate) fn hex(number: u64) -> String {
    format!("{number:#018x}")
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Appends the encoded codes of a chunk, without the first one, to `bytes`.
///
/// A code is stored as its difference to the code before it, minus one. The difference is stored in
/// groups of seven bits, one in each byte, the least significant first. The highest bit of a byte is
/// set if another group follows.
pub fn encode_codes(codes: &[u64], bytes: &mut Vec<u8>) {
    for pair in codes.windows(2) {
        let mut rest = pair[1] - pair[0] - 1;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
}

/// Decodes `codes[1..]`; `codes[0]` is given. Returns an error if bytes remain.
pub(crate) fn decode_codes(bytes: &[u8], codes: &mut [u64]) -> Result<(), &'static str> {
    let mut rest = bytes.iter();
    for at in 1..codes.len() {
        let (mut difference, mut shift) = (0u64, 0);
        loop {
            let Some(&byte) = rest.next() else { return Err("too few differences") };
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || bits << shift >> shift != bits {
                return Err("a difference of more than 64 bits");
            }
            difference |= bits << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err("a difference in more bytes than it needs");
                }
                break;
            }
            shift += 7;
        }
        let next = difference.checked_add(1).and_then(|by| codes[at - 1].checked_add(by));
        codes[at] = next.ok_or("a code of more than 64 bits")?;
    }
    if rest.next().is_some() { Err("more differences") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn codes_are_read_back(set in prop::collection::btree_set(any::<u64>(), 1..60), near: bool) {
            let shift = if near { 40 } else { 0 };
            let set: BTreeSet<u64> = set.into_iter().map(|code| code >> shift).collect();
            let codes: Vec<u64> = set.into_iter().collect();
            let mut bytes = Vec::new();
            encode_codes(&codes, &mut bytes);
            prop_assert!(bytes.len() <= codes.len() * MAX_VARINT_BYTES);
            let mut back = vec![0; codes.len()];
            back[0] = codes[0];
            prop_assert_eq!(decode_codes(&bytes, &mut back), Ok(()));
            prop_assert_eq!(&back, &codes);
            bytes.push(0);
            prop_assert!(decode_codes(&bytes, &mut back).is_err());
            bytes.truncate(bytes.len() - 2.min(bytes.len()));
            prop_assert!(codes.len() == 1 || decode_codes(&bytes, &mut back).is_err());
        }

        #[test]
        fn any_bytes_decode_to_their_own_encoding_or_not_at_all(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            first: u64,
            count in 1usize..20,
        ) {
            let mut codes = vec![0; count];
            codes[0] = first;
            if decode_codes(&bytes, &mut codes).is_ok() {
                let mut again = Vec::new();
                encode_codes(&codes, &mut again);
                prop_assert_eq!(again, bytes);
            }
        }
    }
}
