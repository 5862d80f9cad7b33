//! Zeroed words for rows, in huge pages where the system has them.

use std::io;

use memmap2::MmapMut;

use crate::system::zeroed;

/// Words with room for more.
#[derive(Debug)]
pub(super) struct Words {
    map: Option<MmapMut>,
    length: usize,
}

impl Words {
    /// Words that are zero, and room for `capacity` without another reservation. Pages are taken
    /// from the system when they are first touched.
    pub fn zeroed(length: usize, capacity: usize) -> io::Result<Self> {
        let capacity = capacity.max(length);
        if capacity == 0 {
            return Ok(Words { map: None, length });
        }
        Ok(Words { map: Some(zeroed(capacity * size_of::<u64>())?), length })
    }

    /// Changes the number of words, whose contents are then anything. Whether there is room.
    pub fn resize(&mut self, length: usize) -> bool {
        let room = self.map.as_ref().map_or(0, |map| map.len() / size_of::<u64>());
        if length <= room {
            self.length = length;
        }
        length <= room
    }

    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        &self.map.as_deref().map_or(&[][..], bytemuck::cast_slice)[..self.length]
    }

    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        let words = self.map.as_deref_mut().map_or(&mut [][..], bytemuck::cast_slice_mut);
        &mut words[..self.length]
    }
}
