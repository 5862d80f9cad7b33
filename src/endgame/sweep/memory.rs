//! Zeroed words for rows, in huge pages where the system has them.

use std::io;

use memmap2::MmapMut;

/// A zeroed array of words.
#[derive(Debug)]
pub(super) struct Words(Option<MmapMut>);

impl Words {
    /// Reserves the memory; pages are taken from the system when they are first written.
    pub fn zeroed(words: usize) -> io::Result<Self> {
        if words == 0 {
            return Ok(Words(None));
        }
        let map = MmapMut::map_anon(words * size_of::<u64>())?;
        // With small pages, the first write to every page costs more than computing what is
        // written. A system without huge pages just refuses the advice.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Words(Some(map)))
    }

    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        self.0.as_deref().map_or(&[], bytemuck::cast_slice)
    }

    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        self.0.as_deref_mut().map_or(&mut [], bytemuck::cast_slice_mut)
    }
}
