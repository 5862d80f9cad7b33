//! Memory by the gigabyte.

use std::io;

use memmap2::MmapMut;

/// Zeroed memory, in huge pages where the system has them, which is taken when it is first touched.
/// With small pages, the first write to every page costs more than computing what is written, and
/// nearly every look at a large table also misses the address cache.
///
/// # Errors
/// If the system does not give so many addresses.
pub(crate) fn zeroed(bytes: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(bytes)?;
    // A system without huge pages just refuses the advice.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(map)
}
