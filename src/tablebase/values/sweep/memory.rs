//! Zeroed words for rows, in huge pages where the system has them.

use std::io;

use memmap2::MmapMut;

use crate::system::zeroed;

/// Words that are zero at first.
#[derive(Debug)]
pub struct Words(Option<MmapMut>);

impl Words {
    /// So many words. Pages are taken from the system when they are first touched.
    ///
    /// # Errors
    /// If the system does not give so many addresses.
    pub fn zeroed(length: usize) -> io::Result<Self> {
        let map = (length > 0).then(|| zeroed(length * size_of::<u64>()));
        Ok(Words(map.transpose()?))
    }

    /// The words.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        self.0.as_deref().map_or(&[][..], bytemuck::cast_slice)
    }

    /// The words, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        self.0.as_deref_mut().map_or(&mut [][..], bytemuck::cast_slice_mut)
    }
}
