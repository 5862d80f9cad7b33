//! The checksums of the file formats, as docs/PROOF_FORMAT.md, docs/CHECKPOINT_FORMAT.md, db/FORMAT.md
//! and src/sprouts/grundy_db.rs tell: made right again after a file was changed, as far as it can still
//! be read.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Proof,
    Checkpoint,
    Layer,
    Manifest,
    GrundyNumbers,
    Text,
}

/// A number of up to eight bytes; nothing if the file is too short.
fn number(bytes: &[u8], place: Range<usize>) -> Option<usize> {
    let bytes = bytes.get(place)?;
    let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    usize::try_from(value).ok()
}

/// Writes the hash of a part of the file at a place.
fn seal(bytes: &mut [u8], part: Range<usize>, at: usize) -> Option<()> {
    let hash = xxh3_64(bytes.get(part)?);
    bytes.get_mut(at..at.checked_add(8)?)?.copy_from_slice(&hash.to_le_bytes());
    Some(())
}

fn end(from: usize, length: usize) -> Option<usize> {
    from.checked_add(length)
}

impl Format {
    /// Makes the checksums right, from the inside out. Stops where the file cannot be read on.
    pub fn seal(self, bytes: &mut [u8]) {
        let done = match self {
            Format::Proof => proof(bytes),
            Format::Checkpoint => checkpoint(bytes),
            Format::Layer => layer(bytes),
            Format::Manifest => manifest(bytes),
            Format::GrundyNumbers => grundy_numbers(bytes),
            Format::Text => Some(()),
        };
        // What could not be read stays as it is: that is a try, too.
        let _ = done;
    }

    /// The zstd frames of a file, each with the place of its length and the bytes of that number.
    pub fn frames(self, bytes: &[u8]) -> Vec<(Range<usize>, usize, usize)> {
        self.find_frames(bytes).unwrap_or_default()
    }

    fn find_frames(self, bytes: &[u8]) -> Option<Vec<(Range<usize>, usize, usize)>> {
        let mut frames = Vec::new();
        match self {
            Format::Proof => {
                let index = number(bytes, bytes.len().checked_sub(48)?..bytes.len() - 40)?;
                let mut at = 80;
                for entry in (index..bytes.len() - 48).step_by(24) {
                    let length = number(bytes, entry + 8..entry + 16)?;
                    frames.push((at..end(at, length)?, entry + 8, 8));
                    at = end(at, length)?;
                }
            }
            Format::Checkpoint => {
                let mut at = 384;
                while at < bytes.len().checked_sub(64)? {
                    let length = number(bytes, at + 12..at + 16)?;
                    frames.push((at + 24..end(at + 24, length)?, at + 12, 4));
                    at = end(at + 24, length)?;
                }
            }
            Format::Layer => {
                let (lengths, hashes) = layer_index(bytes)?;
                let mut at = 88;
                for entry in (lengths..hashes).step_by(4) {
                    let length = number(bytes, entry..entry + 4)?;
                    frames.push((at..end(at, length)?, entry, 4));
                    at = end(at, length)?;
                }
            }
            Format::Manifest | Format::GrundyNumbers | Format::Text => {}
        }
        Some(frames)
    }

    /// Replaces the content of a zstd frame and its length; footers stay where they belong, relative
    /// to the end.
    pub fn replace_frame(
        self,
        bytes: &mut Vec<u8>,
        (frame, length, width): (Range<usize>, usize, usize),
        content: &[u8],
    ) {
        let packed = zstd::bulk::compress(content, 1).expect("zstd compresses");
        let grown = packed.len() as i64 - frame.len() as i64;
        bytes[length..length + width].copy_from_slice(&packed.len().to_le_bytes()[..width]);
        bytes.splice(frame, packed);
        // Where the index begins, or how many bytes are before the footer.
        let place = match self {
            Format::Proof => bytes.len() - 48,
            Format::Layer => bytes.len() - 40,
            _ => bytes.len() - 64 + 32,
        };
        let old = number(bytes, place..place + 8).expect("a footer") as i64;
        bytes[place..place + 8].copy_from_slice(&(old + grown).to_le_bytes());
    }
}

fn proof(bytes: &mut [u8]) -> Option<()> {
    seal(bytes, 0..72, 72)?;
    let footer = bytes.len().checked_sub(48)?;
    let index = number(bytes, footer..footer + 8)?;
    for (frame, length, _) in Format::Proof.find_frames(bytes)? {
        seal(bytes, frame, length + 8)?;
    }
    seal(bytes, index..footer, footer + 16)?;
    seal(bytes, 0..80, footer + 24)?;
    seal(bytes, footer..footer + 32, footer + 32)
}

fn checkpoint(bytes: &mut [u8]) -> Option<()> {
    seal(bytes, 0..376, 376)?;
    let footer = bytes.len().checked_sub(64)?;
    for (frame, length, _) in Format::Checkpoint.find_frames(bytes)? {
        let header = length - 12;
        let mut hashed = bytes.get(header..header + 16)?.to_vec();
        hashed.extend_from_slice(bytes.get(frame)?);
        bytes[header + 16..header + 24].copy_from_slice(&xxh3_64(&hashed).to_le_bytes());
    }
    seal(bytes, 0..footer, footer + 40)?;
    seal(bytes, footer..footer + 48, footer + 48)
}

/// Where the index has the lengths of the frames, and where their hashes.
fn layer_index(bytes: &[u8]) -> Option<(usize, usize)> {
    let footer = bytes.len().checked_sub(40)?;
    let index = number(bytes, footer..footer + 8)?;
    let blocks = number(bytes, index..end(index, 4)?)?;
    let lengths = end(index, 4 + blocks.checked_mul(20)?)?;
    let chunks = footer.checked_sub(lengths)? / 12;
    Some((lengths, lengths + 4 * chunks))
}

fn layer(bytes: &mut [u8]) -> Option<()> {
    let footer = bytes.len().checked_sub(40)?;
    let index = number(bytes, footer..footer + 8)?;
    let (_, hashes) = layer_index(bytes)?;
    for (chunk, (frame, ..)) in Format::Layer.find_frames(bytes)?.into_iter().enumerate() {
        seal(bytes, frame, hashes + 8 * chunk)?;
    }
    seal(bytes, index..footer, footer + 16)?;
    seal(bytes, 0..88, footer + 24)
}

fn manifest(bytes: &mut [u8]) -> Option<()> {
    let digits = bytes.len().checked_sub(20)?..bytes.len() - 4;
    bytes[digits.clone()].fill(b'0');
    let text = format!("{:016x}", xxh3_64(bytes));
    bytes[digits].copy_from_slice(text.as_bytes());
    Some(())
}

/// Makes the manifest speak of a layer as it is now.
pub fn manifest_of(manifest: &mut Vec<u8>, name: &str, layer: &[u8]) {
    let mut text = String::from_utf8_lossy(manifest).into_owned();
    let hash = format!("{:016x}", xxh3_64(&layer[layer.len().saturating_sub(40)..]));
    if let Some(at) = text.find(&format!("\"file\": \"{name}\"")) {
        for (member, value) in
            [("\"bytes\": ", layer.len().to_string()), ("\"footer_xxh3\": \"", hash)]
        {
            if let Some(from) = text[at..].find(member).map(|from| at + from + member.len()) {
                let length = text[from..].find([',', '"', '\n']).unwrap_or(0);
                text.replace_range(from..from + length, &value);
            }
        }
    }
    *manifest = text.into_bytes();
    Format::Manifest.seal(manifest);
}

fn grundy_numbers(bytes: &mut [u8]) -> Option<()> {
    // Behind the magic bytes, which end with a newline.
    let mut at = bytes.iter().take(64).position(|&byte| byte == b'\n')? + 1;
    while at < bytes.len() {
        let length = number(bytes, at + 4..at + 8)?;
        seal(bytes, at..at + 16, at + 16)?;
        seal(bytes, at + 32..end(at + 32, length)?, at + 24)?;
        at = end(at + 32, length)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sealing a good file changes nothing.
    #[test]
    fn the_committed_layers_and_manifests_are_sealed_already() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/databases");
        let mut seen = [0; 2];
        let mut todo = vec![std::path::PathBuf::from(root)];
        while let Some(path) = todo.pop() {
            if path.is_dir() {
                todo.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let format = match path.extension().and_then(|end| end.to_str()) {
                Some("kdb") => Format::Layer,
                Some("json") => Format::Manifest,
                _ => continue,
            };
            let good = std::fs::read(&path).unwrap();
            let mut bytes = good.clone();
            format.seal(&mut bytes);
            assert!(bytes == good, "{}", path.display());
            // It does something: a seal that was broken is made again.
            let at = good.len() - if format == Format::Layer { 20 } else { 10 };
            bytes[at] ^= 1;
            format.seal(&mut bytes);
            assert!(bytes == good, "{}", path.display());
            seen[usize::from(format == Format::Layer)] += 1;
        }
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    }
}
