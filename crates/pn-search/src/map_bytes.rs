//! What hash maps take.

/// Bytes of a hash map, or a set, that has room for so many entries of a type: every place has a byte
/// beside its entry, and an eighth of the places stays free.
pub(super) const fn map_bytes<T>(capacity: usize) -> u64 {
    (capacity * ((size_of::<T>() + 1) * 8 / 7)) as u64
}
