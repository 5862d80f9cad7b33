//! Memory of hash maps.

/// Size in bytes of a hash map or set with a capacity of `capacity` entries. Every slot has one
/// additional byte, and an eighth of the slots stays free.
pub(super) const fn map_bytes<T>(capacity: usize) -> u64 {
    (capacity * ((size_of::<T>() + 1) * 8 / 7)) as u64
}
