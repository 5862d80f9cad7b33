//! Fits the weights of the local patterns (`konane::patterns`) to solved positions:
//!
//! ```text
//! cargo run --release --package xtask -- fit-patterns 6x7 5x8 … --output src/konane/patterns.bin
//! ```
//!
//! Each board is searched by df-pn with half the tuned weights of the features and without patterns. The estimates of
//! such a search are poor, so that it solves positions of more kinds than a good search, and the result does not depend
//! on the weights in use. The model is a logistic regression on the winner of the
//! solved positions in the table, each with the square root of its search effort as its weight, fitted by AdaGrad
//! (Duchi, Hazan and Singer 2011). One position in ten is used for validation only.

use std::path::PathBuf;

use clap::Args;
use konane::game::{Estimate, FeatureWeights, Konane};
use konane::internals::patterns::{Neighbourhood, UNIT, WEIGHTS, neighbourhoods};
use konane::search::dfpn::dfpn;
use konane::search::plain::Root;
use konane::search::table::{Cursor, Entry, Table};
use konane::{Board, Dimensions, Limits, Phase, Position, Profile, Value};

use crate::DeveloperError;

/// Number of passes over the positions.
const PASSES: usize = 4;
const RATE: f32 = 0.05;
/// Greatest weight of a position, as a multiple of the mean.
const MAX_WEIGHT: f64 = 20.0;

#[derive(Args)]
pub struct FitPatternsArgs {
    /// Boards, such as 6x7
    #[arg(required = true)]
    boards: Vec<Dimensions>,
    /// File of the weights
    #[arg(long, default_value = "src/konane/patterns.bin")]
    output: PathBuf,
    /// Memory of the tables in MiB; all solved positions should fit
    #[arg(long, default_value_t = 4096)]
    memory: usize,
    /// End each search after this number of nodes, and use what it has solved
    #[arg(long)]
    nodes: Option<u64>,
    /// Maximum number of positions of a board
    #[arg(long, default_value_t = 500_000)]
    positions: usize,
}

/// A solved position.
struct Solved {
    code: u64,
    won: bool,
    work: u64,
}

/// A position of the regression.
struct Sample {
    /// First index of the position's weights in the common list, and their number.
    first: usize,
    count: usize,
    won: bool,
    weight: f32,
    work: u64,
    board: usize,
}

/// SplitMix64 (Steele, Lea and Flood 2014), which makes a fit repeatable.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Searches a board and returns solved positions of the jumping phase, in a random order.
fn search(board: &Board, args: &FitPatternsArgs) -> Result<Vec<Solved>, DeveloperError> {
    let Estimate::Features(tuned) = Profile::Tuned.estimate() else {
        return Err("the tuned estimate has no features".into());
    };
    let half = |weights: [f64; 2]| weights.map(|weight| weight / 2.0);
    let weights = FeatureWeights {
        landings: half(tuned.landings),
        movable: half(tuned.movable),
        contacts: half(tuned.contacts),
        bias: tuned.bias / 2.0,
        patterns: 0.0,
        ..tuned
    };
    let game = Konane::new(board, Estimate::Features(weights));
    let table = Table::new(args.memory << 20)?;
    let root = Root::new(&game, Position::start(board).code(board), &table);
    let limits = Limits { nodes: args.nodes, ..Limits::default() };
    let report = dfpn(root, Profile::Tuned.dfpn(), limits, &mut ());
    let (mut cursor, mut solved) = (Cursor::default(), Vec::new());
    loop {
        let mut cells = Vec::new();
        let more = table.copy_cells(&mut cursor, 1, &mut cells);
        for cell in cells {
            let (code, entry) = (cell as u64, Entry::unpack(cell));
            let is_jumping = Position::from_code(board, code).phase(board) == Phase::Jumping;
            if let Some(value) = entry.value().filter(|_| is_jumping) {
                solved.push(Solved { code, won: value == Value::Win, work: entry.work.max(1) });
            }
        }
        if !more {
            break;
        }
    }
    eprintln!("{}: {} nodes, {} solved", board.dimensions(), report.counters.nodes, solved.len());
    solved.sort_unstable_by_key(|position| mix(position.code));
    solved.truncate(args.positions);
    Ok(solved)
}

fn odds(weights: &[f32], indices: &[u16]) -> f32 {
    indices.iter().map(|&index| weights[usize::from(index)]).sum()
}

/// Area under the ROC curve: the share of the pairs of a won and a lost position that `odds` puts in the right order.
fn area(mut positions: Vec<(f32, bool)>) -> f64 {
    positions.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut lost, mut ordered) = (0u64, 0u64);
    for &(_, won) in &positions {
        match won {
            true => ordered += lost,
            false => lost += 1,
        }
    }
    ordered as f64 / (lost * (positions.len() as u64 - lost)) as f64
}

pub fn run(args: &FitPatternsArgs) -> Result<(), DeveloperError> {
    let (mut samples, mut indices) = (Vec::new(), Vec::new());
    for (number, &dimensions) in args.boards.iter().enumerate() {
        let board = Board::new(dimensions);
        let list: Vec<Neighbourhood> = neighbourhoods(dimensions);
        let solved = search(&board, args)?;
        let root = |position: &Solved| (position.work as f64).sqrt();
        let mean = solved.iter().map(root).sum::<f64>() / solved.len() as f64;
        for position in &solved {
            let Solved { code, won, work } = *position;
            let weight = (root(position) / mean).min(MAX_WEIGHT) as f32;
            let first = indices.len();
            let at = Position::from_code(&board, code);
            let weights =
                list.iter().map(|part| part.weight(&board, at.occupied(), at.to_move()) as u16);
            indices.extend(weights);
            let count = list.len();
            samples.push(Sample { first, count, won, weight, work, board: number });
        }
    }
    let mut order: Vec<u64> = (0..samples.len() as u64).collect();
    order.sort_unstable_by_key(|&at| mix(at + 1));
    let samples: Vec<&Sample> = order.iter().map(|&at| &samples[at as usize]).collect();
    let (validation, training) = samples.split_at(samples.len() / 10);
    let of = |sample: &Sample| &indices[sample.first..sample.first + sample.count];

    let (mut weights, mut squares) = (vec![0f32; WEIGHTS], vec![0f32; WEIGHTS]);
    for pass in 1..=PASSES {
        let mut loss = 0.0;
        for sample in training {
            let probability = 1.0 / (1.0 + (-odds(&weights, of(sample))).exp());
            let error = probability - f32::from(u8::from(sample.won));
            loss -= f64::from((1.0 - error.abs()).max(1e-9).ln());
            let gradient = error * sample.weight;
            for &index in of(sample) {
                let square = &mut squares[usize::from(index)];
                *square += gradient * gradient;
                weights[usize::from(index)] -= RATE * gradient / (*square + 1e-3).sqrt();
            }
        }
        eprintln!("pass {pass}: mean logarithmic loss {:.4}", loss / training.len() as f64);
    }
    let bytes: Vec<u8> = weights
        .iter()
        .map(|&weight| {
            ((f64::from(weight) * UNIT).round().clamp(-128.0, 127.0) as i8).cast_unsigned()
        })
        .collect();
    let rounded: Vec<f32> =
        bytes.iter().map(|&byte| f32::from(byte.cast_signed()) / UNIT as f32).collect();
    for (number, board) in args.boards.iter().enumerate() {
        for least in [1, 30, 1000] {
            let chosen =
                validation.iter().filter(|sample| sample.board == number && sample.work >= least);
            let positions: Vec<_> =
                chosen.map(|sample| (odds(&rounded, of(sample)), sample.won)).collect();
            let (count, area) = (positions.len(), area(positions));
            eprintln!("{board}, effort of {least} or more: {count} positions, area {area:.4}");
        }
    }
    std::fs::write(&args.output, bytes)
        .map_err(|error| format!("{}: {error}", args.output.display()))?;
    Ok(())
}
