//! Contents of file parts, shared by the targets of file formats.

use arbitrary::Arbitrary;

/// Content of a compressed part of a file.
#[derive(Arbitrary, Debug)]
pub struct Content<'a> {
    /// The content is a zstd frame. Otherwise the bytes are stored as they are.
    pub compresses: bool,
    /// Number of zeros after the bytes: a short frame may decompress to much.
    zeros: u32,
    bytes: &'a [u8],
}

impl Content<'_> {
    /// Returns the length of the content and the stored bytes.
    pub fn store(&self) -> (usize, Vec<u8>) {
        if !self.compresses {
            return (self.bytes.len(), self.bytes.to_vec());
        }
        let mut content = self.bytes.to_vec();
        // Up to 1 MiB, but in most cases none.
        let zeros = if self.zeros % 8 == 0 { self.zeros % (1 << 20) } else { 0 };
        content.resize(content.len() + zeros as usize, 0);
        (content.len(), zstd::bulk::compress(&content, 1).expect("memory"))
    }
}
