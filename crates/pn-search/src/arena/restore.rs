//! Restores trees from untrusted bytes.
//!
//! Every child array that is reachable from the root is checked before it is used. During the
//! check, the stamps of the arrays are overwritten by links to other arrays, so that the arrays
//! form lists. The check therefore needs one bit of memory for each unit (16 bytes) and no stack,
//! however deep the tree is.

use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;

use super::allocator::Allocator;
use super::memory::{ArenaMemory, ArrayId, CAPACITY, NEXT, TreeError, units_of, zeroed};
use crate::numbers::{Combination, MAX};

/// Maximum number of units of a free array. A longer gap becomes several free arrays. An array of
/// 3000 children fits into this many units.
const MAX_FREE_UNITS: usize = 1 << 12;

/// Checks the tree in the first `units` units of the memory and sets the state of `allocator`,
/// which has to be empty. Returns the array of the root's children, or 0 if the root is not
/// expanded.
///
/// A tree is sound if every reachable array is within these units, overlaps no other array, and has
/// at least one child and at most as many as its capacity, and if phi and delta of every leaf are
/// in `1..=MAX`. The numbers of expanded nodes are computed again, children before their parents.
/// Units that belong to no array become free. If several children of an array have the same code,
/// only one of them is kept, because coordinators find children by their codes.
pub(crate) fn restore(
    memory: &mut ArenaMemory,
    allocator: &mut Allocator,
    units: u32,
    combination: Combination,
) -> Result<ArrayId, TreeError> {
    let root_array = memory.root_array();
    if root_array == 0 {
        return Ok(0);
    }
    let mut used = zeroed((units as usize).div_ceil(8))?;
    let used = &mut BitSlice::<u8, Lsb0>::from_slice_mut(&mut used)[..units as usize];
    used.set(0, true);
    let mut codes = Vec::new();
    let mut nodes = 0;
    claim(memory, used, root_array)?;
    memory.set_header(root_array, NEXT, 0);
    let (mut pending, mut checked) = (root_array, 0);
    while pending != 0 {
        let array = pending;
        pending = memory.header(array, NEXT);
        memory.set_header(array, NEXT, checked);
        checked = array;
        drop_repeated(memory, array, &mut codes);
        nodes += memory.count(array) as u64;
        for at in 0..memory.count(array) {
            let child = memory.child(array, at);
            if child != 0 {
                claim(memory, used, child)?;
                memory.set_header(child, NEXT, pending);
                pending = child;
                continue;
            }
            let node = memory.node(array, at);
            if !(1..=MAX).contains(&node.phi) || !(1..=MAX).contains(&node.delta) {
                return Err(unsound(
                    array,
                    "one with numbers of open nodes at its leaves",
                    "one with others",
                ));
            }
        }
    }
    back_up(memory, checked, combination);
    let top = used.last_one().expect("unit 0 is set") + 1;
    allocator.restore(top as u32, nodes);
    let mut from = 0;
    while let Some(gap) = used[from..top].first_zero() {
        let start = from + gap;
        let end = start + used[start..top].first_one().expect("the last unit is used");
        for start in (start..end).step_by(MAX_FREE_UNITS) {
            let units = (end - start).min(MAX_FREE_UNITS);
            allocator.add_free(memory, start as ArrayId, units);
        }
        from = end;
    }
    Ok(root_array)
}

/// Checks the extent of a child array and marks its units as used.
fn claim(memory: &ArenaMemory, used: &mut BitSlice<u8>, array: ArrayId) -> Result<(), TreeError> {
    let beyond_end = || Err(unsound(array, "within the tree", "beyond its end"));
    let start = array as usize;
    if start >= used.len() {
        return beyond_end();
    }
    let (capacity, count) = (memory.header(array, CAPACITY) as usize, memory.count(array));
    // A child takes more than a unit, so a capacity above `free` is too large. This condition comes
    // first, so that `units_of` cannot overflow.
    let free = used.len() - start;
    if capacity > free || units_of(capacity) > free {
        return beyond_end();
    }
    let units = &mut used[start..start + units_of(capacity)];
    if units.any() {
        return Err(unsound(array, "separate from all others", "in the units of another one"));
    }
    if count == 0 || count > capacity {
        return Err(unsound(
            array,
            "one with at least 1 child and at most its capacity",
            "one with none or too many",
        ));
    }
    units.fill(true);
    Ok(())
}

fn unsound(unit: ArrayId, expected: &'static str, got: &'static str) -> TreeError {
    TreeError::Unsound { unit, expected, got }
}

/// Removes all but one of the children with the same code.
fn drop_repeated(memory: &mut ArenaMemory, array: ArrayId, codes: &mut Vec<u64>) {
    codes.clear();
    codes.extend((0..memory.count(array)).map(|at| memory.code(array, at)));
    codes.sort_unstable();
    if codes.is_sorted_by(|one, other| one < other) {
        return;
    }
    codes.dedup();
    let mut is_kept = vec![false; codes.len()];
    for at in (0..memory.count(array)).rev() {
        let index = codes.binary_search(&memory.code(array, at)).expect("a code of the array");
        if std::mem::replace(&mut is_kept[index], true) {
            memory.set_child(array, at, 0);
            memory.remove(array, at);
        }
    }
}

/// Computes the numbers of expanded nodes in all arrays of a list. In the list, the array of a
/// node's children has to come before the array that contains the node. Sets all stamps to 0.
fn back_up(memory: &mut ArenaMemory, first: ArrayId, combination: Combination) {
    let mut next = first;
    while next != 0 {
        let array = next;
        next = memory.header(array, NEXT);
        for at in 0..memory.count(array) {
            let child = memory.child(array, at);
            if child != 0 {
                let (phi, delta) = memory.scan(child).numbers_of_parent(combination);
                memory.set_numbers(array, at, phi, delta);
            }
        }
        memory.set_stamp(array, 0);
    }
}
