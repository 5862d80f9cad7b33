//! The winner of a sum, by values where they are quick, else by search.
//!
//! Each component is evaluated with a limit of positions. The sum of the values that are found is one game, *the known
//! part*. If a component remains, df-pn searches the sum of the known part and the positions of the other components, with
//! a limit of nodes. An unfinished evaluation leaves the values of many positions, so the search ends where every component
//! has one. Without a result, evaluation and search go on by turns with greater limits.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Instant;

use serde::Serialize;

use super::super::board::Board;
use super::super::geometry::{Colour, squares};
use super::super::position::Position;
use super::position_values::{Evaluation, ValueProgress, for_each_successor};
use super::{
    BoardRegion, Components, KnownMove, ValueError, ValueTerm, known_moves, known_sum, outcome,
    term_texts, wins_after,
};
use crate::cgt::{GameId, GameStore};
use crate::json::or_unknown;
use crate::search::Value;
use crate::search::dfpn::{DfpnOptions, dfpn};
use crate::search::numbers::{Combination, Epsilon, Number};
use crate::search::plain::Root;
use crate::search::plain::game::{Child, Expansion, Game};
use crate::search::plain::oracle::OracleAnswer;
use crate::search::run::{Limits, Observer, Outcome, Progress, Reason};
use crate::search::split_mix::mix;
use crate::search::table::Table;

/// Positions evaluated for the value of a component before the first search: less than a second.
const FIRST_POSITIONS: u64 = 500_000;

/// Nodes of a search, in relation to the positions evaluated for a component before it. Both then take about as long.
const SEARCH_FACTOR: u64 = 4;

/// Factor by which the limits grow from turn to turn.
const GROWTH: u64 = 8;

/// Bytes of a follower of the known part, with its entry in the index.
const FOLLOWER_BYTES: usize = 160;

/// Greatest number of moves that the leaf estimate distinguishes.
const MAX_MOBILITY: Number = 1000;

/// Parameters of the search.
const OPTIONS: DfpnOptions = DfpnOptions {
    combination: Combination::mixed(8),
    epsilon: Epsilon::new(0.15),
    evaluate_all: false,
    ..DfpnOptions::PLAIN
};

/// Code of the root. It differs from the codes of all positions, because the moves at the root are those of the terms,
/// which may be more than those of the known part.
const ROOT: u64 = u64::MAX;

/// Bits of a code. The highest bit is only set in [`ROOT`].
const CODE_BITS: u32 = 63;

/// Winner of a sum.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SumSolution {
    /// The terms: positions with their boards, and games.
    pub terms: Vec<String>,
    /// The player to move.
    pub to_move: Colour,
    /// The result for the player to move.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Value>"))]
    pub outcome: Option<Value>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(feature = "json-schema", schemars(with = "crate::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Reason for an unknown outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// A winning move; null if every move loses, or if the outcome is unknown.
    pub best_move: Option<SumMove>,
    /// Components of the terms: independent regions of the positions, and games.
    pub components: u64,
    /// Components without a value, which were searched last; 0 if there are none, or if a limit was reached earlier.
    pub searched: u64,
    /// Positions evaluated for values, and nodes of searches.
    pub nodes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Wall-clock time.
    pub seconds: f64,
}

/// A move in a term of a sum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SumMove {
    /// Number of the term, from 1.
    pub term: u32,
    /// The jump, or the option to which the player moves in a game.
    #[serde(rename = "move")]
    pub mv: String,
}

/// A component without a value, and its place in a code.
struct SearchRegion<'t> {
    board: &'t Board,
    /// Index of the board's values.
    place: usize,
    /// The squares that may change, in bits of the code from `shift` on.
    reach: u64,
    shift: u32,
    /// Occupied squares that never change.
    walls: u64,
}

impl SearchRegion<'_> {
    fn occupied(&self, code: u64) -> u64 {
        let bits = code >> self.shift;
        let stones =
            (0..).zip(squares(self.reach)).map(|(bit, square)| (bits >> bit & 1) << square);
        self.walls | stones.fold(0, |all, stone| all | stone)
    }

    fn bits(&self, occupied: u64) -> u64 {
        let bits =
            (0..).zip(squares(self.reach)).map(|(bit, square)| (occupied >> square & 1) << bit);
        bits.fold(0, |all, bit| all | bit) << self.shift
    }
}

/// Sums as a game of the search. A code has the side to move in bit 0, then the known part as an index in `known`, then the
/// squares of each region.
struct SumGame<'t, 's, 'a> {
    regions: Vec<SearchRegion<'t>>,
    /// Games that the known part may become, each with the indices of its left and right options.
    known: Vec<(GameId, [Vec<u32>; 2])>,
    known_bits: u32,
    /// Moves in the position in which the search begins, with the code after each.
    moves: Vec<(u64, SumMove)>,
    values: Mutex<&'s mut Components<'t, 'a>>,
}

impl<'t, 's, 'a> SumGame<'t, 's, 'a> {
    /// Returns the game in which `to_move` begins. `known_moves` are the moves in the known part.
    fn new(
        components: &'s mut Components<'t, 'a>,
        to_move: Colour,
        known_moves: Vec<(SumMove, GameId)>,
    ) -> Result<Self, SumError> {
        let Components { games, boards, parts, .. } = &mut *components;
        let now = known_sum(games, parts, None)?;
        let after = known_moves.iter().map(|&(_, after)| after);
        let (known, index) = followers(games, [now].into_iter().chain(after))?;
        let known_bits = known.len().next_power_of_two().ilog2();
        let mut shift = 1 + known_bits;
        let mut regions = Vec::new();
        let mut jumps = Vec::new();
        for part in parts.iter().filter(|part| part.value.is_none()) {
            let Some((place, BoardRegion { occupied, reach, .. })) = part.region else { continue };
            let board = boards[place].board;
            let region = SearchRegion { board, place, reach, shift, walls: occupied & !reach };
            shift += reach.count_ones();
            let position = Position::new_unchecked(board, occupied, to_move);
            for mv in position.moves(board) {
                let mv_text = SumMove { term: part.term as u32 + 1, mv: mv.to_string() };
                jumps.push((regions.len(), position.play(board, mv).occupied(), mv_text));
            }
            regions.push((region, occupied));
        }
        if shift > CODE_BITS {
            games.release(known.len() * FOLLOWER_BYTES);
            return Err(SumError::Refused(ValueError::TooLarge { bits: shift }));
        }
        let side = |colour: Colour| u64::from(colour == Colour::White);
        let code = |known: GameId| side(!to_move) | u64::from(index[&known]) << 1;
        let start = regions.iter().fold(0, |all, (region, occupied)| all | region.bits(*occupied));
        let known_moves = known_moves.into_iter().map(|(mv, after)| (start | code(after), mv));
        let jumps = jumps.into_iter().map(|(at, after, mv)| {
            let region = &regions[at].0;
            (start & !region.bits(!0) | region.bits(after) | code(now), mv)
        });
        let moves = known_moves.chain(jumps).collect();
        let regions = regions.into_iter().map(|(region, _)| region).collect();
        let values = Mutex::new(components);
        Ok(SumGame { regions, known, known_bits, moves, values })
    }

    fn games(&mut self) -> &mut GameStore<'a> {
        &mut self.values.get_mut().expect("no thread panics while it holds this lock").games
    }

    fn to_move(code: u64) -> Colour {
        if code & 1 == 0 { Colour::Black } else { Colour::White }
    }

    fn known_index(&self, code: u64) -> usize {
        (code >> 1 & ((1 << self.known_bits) - 1)) as usize
    }

    /// Calls `visit` with the code after each move.
    fn for_each_child(&self, code: u64, mut visit: impl FnMut(u64)) {
        let (colour, known) = (Self::to_move(code), self.known_index(code));
        let other = code ^ 1;
        let other_known = other & !(((1 << self.known_bits) - 1) << 1);
        for &option in &self.known[known].1[colour.index()] {
            visit(other_known | u64::from(option) << 1);
        }
        for region in &self.regions {
            let occupied = region.occupied(code);
            let rest = other & !region.bits(!0);
            for_each_successor(region.board, occupied, colour, |after| {
                visit(rest | region.bits(after));
            });
        }
    }

    /// A position with its leaf estimate: delta is the squared mobility of the side to move, phi that of the other side.
    fn child(&self, code: u64) -> Child {
        let options = self.known[self.known_index(code)].1.each_ref();
        let mut moves = options.map(|options| options.len() as Number);
        for region in &self.regions {
            let occupied = region.occupied(code);
            for colour in [Colour::Black, Colour::White] {
                let position = Position::new_unchecked(region.board, occupied, colour);
                moves[colour.index()] += position.count_jumps(region.board, colour);
            }
        }
        let colour = Self::to_move(code);
        // Estimates stay far below the numbers of proven positions.
        let mobility = |colour: Colour| moves[colour.index()].min(MAX_MOBILITY);
        let [own, others] = [mobility(colour), mobility(!colour)];
        Child { code, phi: 1 + others * others, delta: 1 + own * own, effort: Child::NEVER_SOLVE }
    }
}

impl Game for SumGame<'_, '_, '_> {
    type Scratch = ();

    fn expand(
        &self,
        code: u64,
        _: &mut (),
        children: &mut Vec<Child>,
        mut prefetch: impl FnMut(u64),
    ) -> Expansion {
        let before = children.len();
        let mut add = |code| {
            prefetch(code);
            children.push(self.child(code));
        };
        match code {
            ROOT => self.moves.iter().for_each(|&(code, _)| add(code)),
            _ => self.for_each_child(code, &mut add),
        }
        if children.len() == before { Expansion::Lost } else { Expansion::Open }
    }

    fn key(&self, code: u64) -> u64 {
        mix(code)
    }

    /// The winner by values, if the memo has one for every region.
    fn oracle_value(&self, code: u64) -> OracleAnswer {
        if code == ROOT {
            return OracleAnswer::Unknown;
        }
        let mut values = self.values.lock().expect("no thread panics while it holds this lock");
        let Components { games, boards, .. } = &mut **values;
        let mut sum = Ok(self.known[self.known_index(code)].0);
        for region in &self.regions {
            match boards[region.place].known(region.occupied(code), games) {
                Some(value) => sum = sum.and_then(|sum| games.sum(sum, value)),
                None => return OracleAnswer::Unknown,
            }
        }
        // Without memory for the sum, the search continues below the position.
        match sum {
            Ok(sum) => OracleAnswer::Known(outcome(games.class(sum), Self::to_move(code))),
            Err(_) => OracleAnswer::Unknown,
        }
    }
}

/// Returns the games that the players may reach from `starts` by any moves, each with the indices of its options, and the
/// index of each.
#[expect(clippy::type_complexity, reason = "both parts are fields of the caller")]
fn followers(
    games: &mut GameStore<'_>,
    starts: impl Iterator<Item = GameId>,
) -> Result<(Vec<(GameId, [Vec<u32>; 2])>, HashMap<GameId, u32>), Reason> {
    let mut index = HashMap::new();
    let mut found = Vec::new();
    let mut add = |game: GameId, found: &mut Vec<(GameId, [Vec<u32>; 2])>| {
        *index.entry(game).or_insert_with(|| {
            found.push((game, [Vec::new(), Vec::new()]));
            found.len() as u32 - 1
        })
    };
    for start in starts {
        add(start, &mut found);
    }
    let mut next = 0;
    while let Some(&(game, _)) = found.get(next) {
        games.reserve(FOLLOWER_BYTES)?;
        games.poll()?;
        let left = games.left_options(game).map(|option| add(option, &mut found)).collect();
        let right = games.right_options(game).map(|option| add(option, &mut found)).collect();
        found[next].1 = [left, right];
        next += 1;
    }
    Ok((found, index))
}

/// Finds the winner of the sum of `terms` if `to_move` begins.
///
/// Reaching a limit leaves the winner unknown, with a reason. [`Limits::nodes`] limits the number of positions.
/// `observer` is called every few thousand positions.
///
/// # Errors
/// If a position is not in the jumping phase, a text is not a game, or the sum does not fit into 63 bits.
pub fn solve_sum(
    terms: &[ValueTerm],
    to_move: Colour,
    limits: Limits<'_>,
    memory_bytes: u64,
    observer: &mut (dyn FnMut(&ValueProgress) + Send),
) -> Result<SumSolution, ValueError> {
    solve_sum_within(terms, to_move, limits, memory_bytes, FIRST_POSITIONS, observer)
}

/// [`solve_sum`] with `first_positions` in place of [`FIRST_POSITIONS`].
pub(super) fn solve_sum_within(
    terms: &[ValueTerm],
    to_move: Colour,
    limits: Limits<'_>,
    memory_bytes: u64,
    first_positions: u64,
    observer: &mut (dyn FnMut(&ValueProgress) + Send),
) -> Result<SumSolution, ValueError> {
    let begun = Instant::now();
    let mut components = Components::new(terms, limits, memory_bytes)?;
    let mut work = Work { max_positions: first_positions, nodes: 0, searched: 0, memory_bytes: 0 };
    let result = decide(&mut components, to_move, limits, memory_bytes, &mut work, observer);
    let (outcome, best_move, reason) = match result {
        Ok((outcome, best_move)) => (Some(outcome), best_move, None),
        Err(SumError::Stopped(reason)) => (None, None, Some(reason)),
        Err(SumError::Refused(error)) => return Err(error),
    };
    Ok(SumSolution {
        terms: term_texts(terms),
        to_move,
        outcome,
        winner: outcome.map(|outcome| to_move.winner(outcome)),
        reason,
        best_move,
        components: components.parts.len() as u64,
        searched: work.searched,
        nodes: work.nodes,
        memory_bytes: work.memory_bytes.max(components.games.memory_bytes() as u64),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Limit and counters of a solution.
struct Work {
    /// Positions evaluated for a component in this turn.
    max_positions: u64,
    nodes: u64,
    searched: u64,
    /// Memory at the end of the last search.
    memory_bytes: u64,
}

/// Reason why there is no winner.
enum SumError {
    Stopped(Reason),
    Refused(ValueError),
}

impl From<Reason> for SumError {
    fn from(reason: Reason) -> Self {
        SumError::Stopped(reason)
    }
}

fn decide(
    components: &mut Components<'_, '_>,
    to_move: Colour,
    limits: Limits<'_>,
    memory_bytes: u64,
    work: &mut Work,
    observer: &mut (dyn FnMut(&ValueProgress) + Send),
) -> Result<(Value, Option<SumMove>), SumError> {
    if let Some(reason) = components.unread {
        return Err(reason.into());
    }
    let table_bytes = usize::try_from(memory_bytes / 2).unwrap_or(usize::MAX);
    // An evaluation that ends for lack of memory leaves some for the table, and for sums and their options.
    let kept_bytes = table_bytes + table_bytes / 4;
    loop {
        let is_kept = components.games.reserve(kept_bytes).is_ok();
        let evaluated = evaluate_parts(components, limits, work, observer);
        if is_kept {
            components.games.release(kept_bytes);
        }
        let may_go_on = evaluated?;
        let max_nodes = may_go_on.then(|| work.max_positions.saturating_mul(SEARCH_FACTOR));
        match search(components, to_move, limits, max_nodes, table_bytes, work, observer) {
            Ok(None) => {}
            Err(SumError::Refused(_)) if may_go_on => {}
            Ok(Some(found)) => return Ok(found),
            Err(error) => return Err(error),
        }
        work.max_positions = work.max_positions.max(1).saturating_mul(GROWTH);
    }
}

/// Finds the winner by the values of the components, or by a search if some have none. `Ok(None)` if the search reached
/// `max_nodes`.
fn search(
    components: &mut Components<'_, '_>,
    to_move: Colour,
    limits: Limits<'_>,
    max_nodes: Option<u64>,
    table_bytes: usize,
    work: &mut Work,
    observer: &mut (dyn FnMut(&ValueProgress) + Send),
) -> Result<Option<(Value, Option<SumMove>)>, SumError> {
    let Components { games, boards, parts, .. } = &mut *components;
    work.searched = parts.iter().filter(|part| part.value.is_none()).count() as u64;
    let mut run = Evaluation { games, positions: work.nodes, max_positions: None, observer };
    let known_moves = known_moves(boards, parts, to_move, &mut run);
    work.nodes = run.positions;
    let known_moves = known_moves?;
    let named = |term: usize, mv| SumMove { term: term as u32 + 1, mv };
    if work.searched == 0 {
        for KnownMove { term, mv, value, rest } in known_moves {
            if wins_after(run.games, value, rest, to_move)? {
                return Ok(Some((Value::Win, Some(named(term, mv)))));
            }
        }
        return Ok(Some((Value::Loss, None)));
    }
    let mut moves = Vec::new();
    for KnownMove { term, mv, value, rest } in known_moves {
        moves.push((named(term, mv), run.games.sum(rest, value)?));
    }
    let (before, games) = (work.nodes, components.games.len() as u64);
    let bytes = components.games.memory_bytes() as u64 + table_bytes as u64;
    let mut game = SumGame::new(components, to_move, moves)?;
    game.games().reserve(table_bytes)?;
    let table = Table::new(table_bytes).map_err(|_| SumError::Stopped(Reason::Memory))?;
    let left = limits.nodes.map(|max| max.saturating_sub(work.nodes));
    let is_limited = max_nodes.is_some_and(|max| left.is_none_or(|left| max < left));
    let nodes = if is_limited { max_nodes } else { left };
    let mut observer = SearchObserver { observer, before, games, bytes };
    let report =
        dfpn(Root::new(&game, ROOT, &table), OPTIONS, Limits { nodes, ..limits }, &mut observer);
    work.nodes += report.counters.nodes;
    let best = || game.moves.iter().find(|(code, _)| Some(*code) == report.best);
    let found = match report.outcome {
        Outcome::Unknown(Reason::NodeLimit) if is_limited => Ok(None),
        Outcome::Unknown(reason) => Err(reason.into()),
        Outcome::Known(Value::Loss) => Ok(Some((Value::Loss, None))),
        Outcome::Known(Value::Win) => Ok(Some((Value::Win, best().map(|(_, mv)| mv.clone())))),
    };
    work.memory_bytes = game.games().memory_bytes() as u64;
    let follower_bytes = game.known.len() * FOLLOWER_BYTES;
    game.games().release(table_bytes + follower_bytes);
    found
}

/// Forwards the progress of the search to the observer.
struct SearchObserver<'o> {
    observer: &'o mut (dyn FnMut(&ValueProgress) + Send),
    /// Positions evaluated before the search.
    before: u64,
    /// Games in the store at the beginning.
    games: u64,
    /// Memory of the values at the beginning, and of the table.
    bytes: u64,
}

impl Observer for SearchObserver<'_> {
    fn progress(&mut self, progress: &Progress<'_>) {
        let positions = self.before + progress.counters.nodes;
        let (games, memory_bytes) = (self.games, self.bytes);
        (self.observer)(&ValueProgress { positions, games, memory_bytes });
    }
}

/// Evaluates the components without a value, each within [`Work::max_positions`] and half of the nodes that are left.
/// Returns true if a component without a value may get one with more positions.
fn evaluate_parts(
    components: &mut Components<'_, '_>,
    limits: Limits<'_>,
    work: &mut Work,
    observer: &mut dyn FnMut(&ValueProgress),
) -> Result<bool, Reason> {
    let Components { games, boards, parts, .. } = components;
    let mut may_go_on = false;
    for part in parts.iter_mut().filter(|part| part.value.is_none()) {
        let Some((place, region)) = part.region else { continue };
        let left = limits.nodes.map_or(u64::MAX, |max| max.saturating_sub(work.nodes) / 2);
        let positions = work.nodes;
        let max_positions = Some(positions.saturating_add(left.min(work.max_positions)));
        let mut run = Evaluation { games, positions, max_positions, observer };
        let value = boards[place].region_value(region.occupied, &mut run);
        work.nodes = run.positions;
        match value {
            Ok(value) => part.value = Some(value),
            Err(Reason::NodeLimit) => may_go_on |= left > work.max_positions,
            Err(Reason::Memory) => {}
            Err(reason) => return Err(reason),
        }
    }
    Ok(may_go_on)
}
