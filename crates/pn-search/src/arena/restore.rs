//! Trees from untrusted bytes.
//!
//! Every block that is reachable from the root is checked before it is used. The blocks are linked
//! through their stamps meanwhile, so the check takes one bit for each unit and no stack, however deep
//! the tree is.

use bitvec::order::Lsb0;
use bitvec::slice::BitSlice;

use super::allocator::Allocator;
use super::memory::{ArenaMemory, Block, CAPACITY, NEXT, TreeError, units_of, zeroed};
use crate::numbers::{Combination, MAX};

/// Maximum number of units of a free block; a longer gap becomes several. A block of 3000 children
/// fits.
const MAX_FREE_UNITS: usize = 1 << 12;

/// Takes up the tree in the first `units` units of the memory, whose allocator is empty. Returns the
/// block of the root's children, 0 if the root is not expanded.
///
/// A tree is sound if every reachable block is within these units, overlaps no other one, has at
/// least one child and no more than its capacity, and if the leaves have numbers of open nodes. The
/// numbers of expanded nodes are computed again, children before their parents. Units of no block are
/// free. Of children with the same code one stays: a tree of jobs finds its children by code.
pub(crate) fn restore(
    memory: &mut ArenaMemory,
    allocator: &mut Allocator,
    units: u32,
    combination: Combination,
) -> Result<Block, TreeError> {
    let root_block = memory.root_block();
    if root_block == 0 {
        return Ok(0);
    }
    let mut used = zeroed((units as usize).div_ceil(8))?;
    let used = &mut BitSlice::<u8, Lsb0>::from_slice_mut(&mut used)[..units as usize];
    used.set(0, true);
    let mut codes = Vec::new();
    let mut nodes = 0;
    claim(memory, used, root_block)?;
    memory.set_header(root_block, NEXT, 0);
    let (mut pending, mut checked) = (root_block, 0);
    while pending != 0 {
        let block = pending;
        pending = memory.header(block, NEXT);
        memory.set_header(block, NEXT, checked);
        checked = block;
        drop_repeated(memory, block, &mut codes);
        nodes += memory.count(block) as u64;
        for at in 0..memory.count(block) {
            let child = memory.child(block, at);
            if child != 0 {
                claim(memory, used, child)?;
                memory.set_header(child, NEXT, pending);
                pending = child;
                continue;
            }
            let node = memory.node(block, at);
            if !(1..=MAX).contains(&node.phi) || !(1..=MAX).contains(&node.delta) {
                return Err(unsound(block, "one with numbers of open nodes", "one with others"));
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
            allocator.give_back(memory, start as Block, units);
        }
        from = end;
    }
    Ok(root_block)
}

/// Checks the extent of a block and marks its units as used.
fn claim(memory: &ArenaMemory, used: &mut BitSlice<u8>, block: Block) -> Result<(), TreeError> {
    let beyond_end = || Err(unsound(block, "within the tree", "beyond its end"));
    let start = block as usize;
    if start >= used.len() {
        return beyond_end();
    }
    let (capacity, count) = (memory.header(block, CAPACITY) as usize, memory.count(block));
    // A child takes more than a unit; so the number of units cannot overflow.
    let free = used.len() - start;
    if capacity > free || units_of(capacity) > free {
        return beyond_end();
    }
    let units = &mut used[start..start + units_of(capacity)];
    if units.any() {
        return Err(unsound(block, "apart from all others", "in the units of another one"));
    }
    if count == 0 || count > capacity {
        return Err(unsound(block, "one with 1 child to its capacity", "one with none or more"));
    }
    units.fill(true);
    Ok(())
}

fn unsound(unit: Block, expected: &'static str, got: &'static str) -> TreeError {
    TreeError::Unsound { unit, expected, got }
}

/// Removes children whose code another child of the block has as well.
fn drop_repeated(memory: &mut ArenaMemory, block: Block, codes: &mut Vec<u64>) {
    codes.clear();
    codes.extend((0..memory.count(block)).map(|at| memory.code(block, at)));
    codes.sort_unstable();
    if codes.is_sorted_by(|one, other| one < other) {
        return;
    }
    codes.dedup();
    let mut is_kept = vec![false; codes.len()];
    for at in (0..memory.count(block)).rev() {
        let place = codes.binary_search(&memory.code(block, at)).expect("a code of the block");
        if std::mem::replace(&mut is_kept[place], true) {
            memory.set_child(block, at, 0);
            memory.remove(block, at);
        }
    }
}

/// Computes the numbers of expanded nodes along a list of blocks in which children come before their
/// parents, and clears the stamps.
fn back_up(memory: &mut ArenaMemory, first: Block, combination: Combination) {
    let mut next = first;
    while next != 0 {
        let block = next;
        next = memory.header(block, NEXT);
        for at in 0..memory.count(block) {
            let child = memory.child(block, at);
            if child != 0 {
                let (phi, delta) = memory.scan(child).numbers_of_parent(combination);
                memory.set_numbers(block, at, phi, delta);
            }
        }
        memory.set_stamp(block, 0);
    }
}
