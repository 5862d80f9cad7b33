//! Reference implementation: plain recursion, and a writer of databases with its values.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::tablebase::files::{BlockKind, Coverage, LayerHeader, Scope, layer_name};
use crate::tablebase::files::{LayerFile, LayerWriter};
use crate::tablebase::index::{Address, Index};
use crate::tablebase::{Histogram, Manifest, ManifestLayer, Metric, PositionCounts};
use crate::{Board, Colour, Phase, Position};

/// The sets of stones after all possible jumps, found square by square.
pub fn jumps(board: &Board, occupied: u64, to_move: Colour) -> Vec<u64> {
    let d = board.dimensions();
    let (ranks, files) = (d.ranks() as i32, d.files() as i32);
    let square = |r: i32, f: i32| {
        ((0..ranks).contains(&r) && (0..files).contains(&f)).then(|| 1u64 << (r * files + f))
    };
    let mut after = Vec::new();
    for r in 0..ranks {
        for f in 0..files {
            let from = square(r, f).unwrap();
            if occupied & from & board.squares_of(to_move) == 0 {
                continue;
            }
            for (dr, df) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                let mut stones = occupied & !from;
                for i in 1.. {
                    let over = square(r + (2 * i - 1) * dr, f + (2 * i - 1) * df);
                    let to = square(r + 2 * i * dr, f + 2 * i * df);
                    let (Some(over), Some(to)) = (over, to) else { break };
                    if stones & over == 0 || stones & to != 0 {
                        break;
                    }
                    stones &= !over;
                    after.push(stones | to);
                }
            }
        }
    }
    after
}

/// Values by plain recursion.
pub struct Recursion {
    pub board: Board,
    known: HashMap<(u64, Colour), u32>,
}

impl Recursion {
    pub fn new(size: &str) -> Self {
        Recursion { board: Board::new(size.parse().unwrap()), known: HashMap::new() }
    }

    /// Remoteness of a set of stones, taken as a position of the jumping phase.
    pub fn jumping_plies(&mut self, occupied: u64, to_move: Colour) -> u32 {
        if let Some(&known) = self.known.get(&(occupied, to_move)) {
            return known;
        }
        let after = jumps(&self.board, occupied, to_move);
        let after: Vec<u32> =
            after.into_iter().map(|stones| self.jumping_plies(stones, !to_move)).collect();
        let plies = plies(&after);
        self.known.insert((occupied, to_move), plies);
        plies
    }

    /// Returns true if the side to move wins, with the stones taken as a position of the jumping phase.
    pub fn jumping(&mut self, occupied: u64, to_move: Colour) -> bool {
        self.jumping_plies(occupied, to_move) % 2 == 1
    }

    /// Remoteness of a position of any phase.
    pub fn plies(&mut self, position: &Position) -> u32 {
        if position.phase(&self.board) == Phase::Jumping {
            return self.jumping_plies(position.occupied(), position.to_move());
        }
        let board = self.board.clone();
        let moves = position.moves(&board).into_iter();
        let after: Vec<u32> = moves.map(|mv| self.plies(&position.play(&board, mv))).collect();
        plies(&after)
    }

    /// Returns true if the side to move wins.
    pub fn value(&mut self, position: &Position) -> bool {
        self.plies(position) % 2 == 1
    }
}

/// The remoteness of a position from the remotenesses of the positions after its moves.
fn plies(after: &[u32]) -> u32 {
    let lost = after.iter().filter(|&&plies| plies % 2 == 0).min();
    lost.or(after.iter().max()).map_or(0, |plies| plies + 1)
}

/// The positions of the jumping phase that a game can reach.
pub fn reachable(board: &Board) -> HashSet<(u64, Colour)> {
    let (mut seen, mut found) = (HashSet::new(), HashSet::new());
    let mut todo = vec![Position::start(board)];
    while let Some(position) = todo.pop() {
        if !seen.insert((position.occupied(), position.to_move())) {
            continue;
        }
        if position.phase(board) == Phase::Jumping {
            found.insert((position.occupied(), position.to_move()));
        }
        todo.extend(position.moves(board).into_iter().map(|mv| position.play(board, mv)));
    }
    found
}

/// A database to be built.
pub struct Sample {
    pub size: &'static str,
    pub scope: Scope,
    pub metric: Metric,
    pub max_stones: u32,
    pub chunk_bytes: u32,
}

/// Builds a database in a subdirectory of `out`, and returns the path of the subdirectory. The outcomes at all
/// addresses for which `spoil` returns true are inverted.
pub fn build(out: &Path, plan: &Sample, spoil: impl Fn(&Address) -> bool) -> PathBuf {
    build_version(plan.metric.format_version(), out, plan, spoil)
}

/// As [`build`], in the given version of the format.
pub fn build_version(
    version: u32,
    out: &Path,
    plan: &Sample,
    spoil: impl Fn(&Address) -> bool,
) -> PathBuf {
    let mut oracle = Recursion::new(plan.size);
    let board = oracle.board.clone();
    let dimensions = board.dimensions();
    let max_stones = plan.max_stones.min(dimensions.squares());
    let index = Index::new(board.clone(), plan.scope.exchanges());
    let reached = match plan.scope {
        Scope::Complete => HashSet::new(),
        Scope::Reachable => reachable(&board),
    };
    let is_in =
        |occupied, side| plan.scope == Scope::Complete || reached.contains(&(occupied, side));
    let (scope, metric) = (plan.scope, plan.metric);
    let directory = out.join(Coverage { dimensions, scope, metric, max_stones }.name());
    std::fs::create_dir_all(&directory).unwrap();
    let mut layers = Vec::new();
    for stones in 0..=max_stones {
        let header = LayerHeader {
            version,
            chunk_bytes: plan.chunk_bytes,
            ..LayerHeader::new(&index, plan.scope, plan.metric, stones)
        };
        let mut writer =
            LayerWriter::create(&directory.join(layer_name(stones)), header.clone()).unwrap();
        for key in header.keys() {
            writer.begin_block(key);
            for row in 0..index.rows(key.black) as u32 {
                let mut bytes = vec![0u8; header.row_bytes(key.white) as usize];
                for column in 0..index.ranks(Colour::White).count(key.white) {
                    let address = Address {
                        to_move: key.to_move,
                        black: key.black,
                        white: key.white,
                        row,
                        column,
                    };
                    let occupied = index.occupied(&address);
                    let plies = oracle.jumping_plies(occupied, key.to_move);
                    let bit = match key.kind {
                        BlockKind::Reached => true,
                        BlockKind::Wins => (plies % 2 == 1) ^ spoil(&address),
                        BlockKind::Remoteness(bit) => plies >> bit & 1 == 1,
                    };
                    let bit = bit && is_in(occupied, key.to_move);
                    bytes[column as usize / 8] |= u8::from(bit) << (column % 8);
                }
                writer.write(&bytes).unwrap();
            }
            writer.end_block().unwrap();
        }
        let (path, _) = writer.finish().unwrap();
        let (bytes, footer_xxh3) = LayerFile::footer(&path).unwrap();
        let counts = count(&mut oracle, plan.scope, stones, &is_in);
        layers.push(ManifestLayer { stones, bytes, footer_xxh3, counts });
    }
    let histogram = (plan.metric == Metric::Remoteness).then(|| histogram(&mut oracle, max_stones));
    let manifest = Manifest { version, dimensions, scope: plan.scope, layers, histogram };
    assert_eq!(directory, out.join(manifest.coverage().name()));
    manifest.write(&directory).unwrap();
    directory
}

/// The counts of a layer, position by position.
fn count(
    oracle: &mut Recursion,
    scope: Scope,
    stones: u32,
    is_in: &impl Fn(u64, Colour) -> bool,
) -> PositionCounts {
    let board = oracle.board.clone();
    let mut counts = PositionCounts::default();
    let images = board.symmetries().preserving();
    for occupied in (0..=board.all()).filter(|occupied| occupied.count_ones() == stones) {
        let is_least =
            images.iter().all(|g| crate::konane::symmetry::permute(g, occupied) >= occupied);
        if scope == Scope::Reachable && !is_least {
            continue;
        }
        for side in [Colour::Black, Colour::White] {
            if !is_in(occupied, side) {
                continue;
            }
            counts.positions += 1;
            let wins = u64::from(oracle.jumping(occupied, side));
            match side {
                Colour::Black => counts.black_to_move_wins += wins,
                Colour::White => counts.white_to_move_wins += wins,
            }
        }
    }
    counts
}

/// Numbers of positions with up to `max_stones` stones by remoteness, position by position.
pub fn histogram(oracle: &mut Recursion, max_stones: u32) -> Histogram {
    let mut sides = [Vec::new(), Vec::new()];
    let all = oracle.board.all();
    for occupied in (0..=all).filter(|occupied| occupied.count_ones() <= max_stones) {
        for side in [Colour::Black, Colour::White] {
            let plies = oracle.jumping_plies(occupied, side) as usize;
            let numbers: &mut Vec<u64> = &mut sides[side.index()];
            numbers.resize(numbers.len().max(plies + 1), 0);
            numbers[plies] += 1;
        }
    }
    let [black, white] = sides;
    Histogram { black, white }
}
