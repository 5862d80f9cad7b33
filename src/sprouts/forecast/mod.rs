//! A guess at Grundy numbers, from a look at a land: which numbers are how likely.
//!
//! The numbers of lands with many lives are mostly 0 and 1, and which of them it is goes with the
//! parity of the number of moves that are left: about four for every five lives, but that depends on
//! how the lives stand. So every part of a land turns an angle, the *phase*, by its own amount; a
//! move more is half a turn. The phase and the number of lives give the odds. The amounts and the
//! odds are fitted to numbers that searches have found (`cargo xtask fit`), and are in
//! `weights.txt`. A guess decides what is searched first, never a result.
//!
//! Everything is exact or plain IEEE arithmetic in a fixed order, so that searches count the same on
//! every machine.

mod traits;
mod weights;

use std::sync::LazyLock;

pub use traits::{Content, Trait, traits};
pub use weights::{CLASSES, CURVES, curves};

use super::flat::Flat;
use crate::search::sums::game::Odds;
use weights::TraitWeights;

/// Phases that are told apart.
const PHASES: usize = 64;
/// Lands with fewer lives are too different from each other for this.
const MIN_LIVES: u32 = 6;
/// Lands with more lives are treated alike.
const MAX_LIVES: u32 = 64;

static FORECAST: LazyLock<Forecast> = LazyLock::new(|| {
    Forecast::new(include_str!("weights.txt").parse().expect("the weights are tested"))
});

struct Forecast {
    weights: TraitWeights,
    /// By lives from [`MIN_LIVES`] and phase.
    odds: Vec<[Odds; PHASES]>,
}

impl Forecast {
    fn new(weights: TraitWeights) -> Self {
        let odds = (MIN_LIVES..=MAX_LIVES).map(|lives| {
            std::array::from_fn(|phase| weights.odds(lives, phase as f64 / PHASES as f64))
        });
        Forecast { odds: odds.collect(), weights }
    }
}

/// The phase of a land in 1/64 of a turn.
pub(super) fn phase(flat: &Flat) -> u8 {
    let weights = &FORECAST.weights;
    let mut turn = 0u16;
    traits::each_key(flat, |key, count| {
        turn = turn.wrapping_add(weights.of(key).wrapping_mul(count));
    });
    // The nearest of the phases.
    const STEP: u16 = ((1 << 16) / PHASES) as u16;
    (turn.wrapping_add(STEP / 2) / STEP) as u8
}

/// The odds of a land by its lives and phase, if it has enough lives.
pub(super) fn odds(lives: u32, phase: u8) -> Option<&'static Odds> {
    let row = lives.min(MAX_LIVES).checked_sub(MIN_LIVES)?;
    Some(&FORECAST.odds[row as usize][usize::from(phase) % PHASES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprouts::Position;

    /// The phase by its definition.
    fn slow_phase(text: &str) -> u8 {
        let position: Position = text.parse().unwrap();
        let weights = &FORECAST.weights;
        let turns = traits(&position.lands()[0])
            .into_iter()
            .map(|(part, count)| i64::from(weights.of(part.key())) * i64::from(count));
        let turn = turns.sum::<i64>().rem_euclid(1 << 16);
        ((turn + 512) / 1024 % 64) as u8
    }

    #[test]
    fn phases_add_up() {
        for text in [
            "0*2",
            "0*9.AB|1aAaB",
            "0.AB|AB",
            "1a1a.22.2AB|0*3.A1|B",
            "0*40",
            "0*9.AB|0*9.AB",
            "ABCD|ABCD",
        ] {
            let flat = Flat::of_land(&text.parse::<Position>().unwrap().lands()[0]);
            assert_eq!(phase(&flat), slow_phase(text), "{text}");
        }
    }

    #[test]
    fn odds_are_shares_of_one() {
        assert_eq!(odds(MIN_LIVES - 1, 0), None);
        for lives in MIN_LIVES..2 * MAX_LIVES {
            for phase in 0..PHASES as u8 {
                let odds = odds(lives, phase).unwrap();
                let total: u32 = odds.iter().copied().map(u32::from).sum();
                assert!((65_500..=65_536 + 6).contains(&total), "{odds:?}");
            }
        }
    }

    /// The mean loss of a guess that knows how frequent each number is, and nothing else, is 1.5.
    #[test]
    fn published_numbers_are_likelier_than_others() {
        let table = include_str!("../../../tests/data/sprouts_grundy.csv");
        let losses = table.lines().skip(2).filter_map(|line| {
            let mut fields = line.split(',');
            let position: Position = fields.next()?.parse().unwrap();
            let number: usize = fields.next()?.parse().unwrap();
            let [land] = position.lands() else { return None };
            let flat = Flat::of_land(land);
            let odds = odds(flat.lives(), phase(&flat))?;
            Some(-(f64::from(odds[number.min(CLASSES - 1)]) / 65_535.0).ln())
        });
        let losses: Vec<f64> = losses.collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        assert!(losses.len() > 40 && mean < 1.2, "{mean} of {}", losses.len());
    }
}
