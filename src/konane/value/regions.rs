//! Independent regions of a position: groups of stones that can never affect each other.
//!
//! `Reach(s)` contains every square on which the stone s may ever stand, and `may_be_empty` every square that may ever be
//! empty. Both are the least sets with these rules:
//!
//! 1. s may jump from p over q to l if p is in `Reach(s)`, q in `Reach` of an enemy stone, and l in `may_be_empty`. Then l
//!    is in `Reach(s)`.
//! 2. The first square of a stone is in `may_be_empty` if the stone may move or be taken.
//!
//! For each such jump, s is in one group with all stones whose `Reach` contains q or l. Every move of the game is such a jump,
//! so the sets only become smaller during play, and a group has the same moves alone as in the whole position. Stones
//! without a group never move and are never taken. They have to stay where they block the landing of a jump.

use super::super::board::Board;
use super::super::geometry::{Colour, Direction, squares};

/// A region: its stones, and stones that never move but are needed to keep others from moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardRegion {
    /// The stones that may move, be taken or block others.
    pub stones: u64,
    /// These and the blocking stones that never move.
    pub occupied: u64,
    /// The squares on which these stones may ever stand. Regions have none in common.
    pub reach: u64,
}

/// Shifts a set by a number of steps in a direction.
#[inline]
fn shifted(board: &Board, direction: Direction, set: u64, steps: u32) -> u64 {
    let by = steps * board.step(direction);
    if direction.is_forward() { set << by } else { set >> by }
}

/// Shifts a set by a number of steps against a direction.
#[inline]
fn shifted_back(board: &Board, direction: Direction, set: u64, steps: u32) -> u64 {
    let by = steps * board.step(direction);
    if direction.is_forward() { set >> by } else { set << by }
}

/// The squares on which jumps over one stone may land, by direction: from `starts`, over `enemies`, to `landings`.
fn jumps(board: &Board, colour: Colour, starts: u64, enemies: u64, landings: u64) -> [u64; 4] {
    Direction::ALL.map(|direction| {
        if board.step(direction) == 0 {
            return 0;
        }
        let on_board = board.landings[colour.index()][direction as usize];
        let over = shifted(board, direction, enemies, 1);
        shifted(board, direction, starts, 2) & over & on_board & landings
    })
}

/// Returns the independent regions of a position, in the order of their first stones. Stones in none of them have no
/// effect on the game.
pub fn regions(board: &Board, occupied: u64) -> Vec<BoardRegion> {
    let mut stones: Vec<(u64, Colour)> =
        squares(occupied).map(|square| (1 << square, board.colour_of(square.into()))).collect();
    let starts: Vec<u64> = stones.iter().map(|&(reach, _)| reach).collect();
    let mut cover =
        [Colour::Black, Colour::White].map(|colour| occupied & board.squares_of(colour));
    let mut may_be_empty = board.all() & !occupied;
    loop {
        let before = (cover, may_be_empty);
        let mut has_changed = false;
        for (place, (reach, colour)) in stones.iter_mut().enumerate() {
            let enemies = cover[(!*colour).index()];
            let landings = jumps(board, *colour, *reach, enemies, may_be_empty);
            for (direction, landings) in Direction::ALL.into_iter().zip(landings) {
                if landings == 0 {
                    continue;
                }
                may_be_empty |= starts[place] | shifted_back(board, direction, landings, 1);
                has_changed |= landings & !*reach != 0;
                *reach |= landings;
            }
            cover[colour.index()] |= *reach;
        }
        if !has_changed && before == (cover, may_be_empty) {
            break;
        }
    }
    let mut groups: Vec<u64> = Vec::new();
    for &(reach, colour) in &stones {
        let landings = jumps(board, colour, reach, cover[(!colour).index()], may_be_empty);
        let touched =
            Direction::ALL.into_iter().zip(landings).fold(0, |touched, (direction, landings)| {
                touched | landings | shifted_back(board, direction, landings, 1)
            });
        if touched == 0 {
            continue;
        }
        let is_member = |other: u64| other == reach || other & touched != 0;
        let members = stones.iter().zip(&starts).filter(|((other, _), _)| is_member(*other));
        let mut group = members.fold(0, |group, (_, start)| group | start);
        groups.retain(|other| {
            let is_separate = other & group == 0;
            if !is_separate {
                group |= other;
            }
            is_separate
        });
        groups.push(group);
    }
    groups.sort_unstable_by_key(|group| group.trailing_zeros());
    let grouped = groups.iter().fold(0, |all, group| all | group);
    let region = |group: u64| {
        let mut occupied = group;
        // Stones that never move, at landings of jumps that are possible but for them.
        loop {
            let members = || stones.iter().zip(&starts).filter(|&(_, start)| start & occupied != 0);
            let mut cover = [0; 2];
            for (&(reach, colour), _) in members() {
                cover[colour.index()] |= reach;
            }
            let blocked = members().fold(0, |blocked, (&(reach, colour), _)| {
                let enemies = cover[(!colour).index()];
                jumps(board, colour, reach, enemies, !may_be_empty)
                    .into_iter()
                    .fold(blocked, |a, b| a | b)
            });
            let walls = blocked & !grouped & !occupied;
            if walls == 0 {
                let group_cover =
                    stones.iter().zip(&starts).filter(|&(_, start)| start & group != 0);
                let reach = group_cover.fold(0, |all, ((reach, _), _)| all | reach);
                return BoardRegion { stones: group, occupied, reach };
            }
            occupied |= walls;
        }
    };
    groups.iter().map(|&group| region(group)).collect()
}
