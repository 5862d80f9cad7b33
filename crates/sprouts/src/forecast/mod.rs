//! A forecast of Grundy numbers: estimated probabilities of the numbers of a land.
//!
//! The Grundy numbers of lands with many lives are mostly 0 and 1. Which of them is more likely depends on
//! the parity of the number of remaining moves. There are about four moves for every five lives, but the
//! exact ratio depends on the distribution of the lives. Therefore a forecast adds up an angle, the *phase*:
//! every trait of a land turns the angle by its own amount. Half a turn stands for one more move, because
//! this changes the parity. The phase and the number of lives determine the probabilities, called *odds*. The
//! amounts and the odds are fitted to Grundy numbers found by searches (`cargo xtask fit`), and are stored in
//! `weights.txt`. A forecast only influences the order of a search, never a result.
//!
//! All arithmetic is exact, or plain IEEE arithmetic in a fixed order, so that node counts are the same on
//! every machine.
//!
//! A land is described by its [`Trait`]s; the weights of these are `TraitWeights`. `Forecast` holds the
//! odds.

mod traits;
mod weights;

use std::sync::LazyLock;

pub use traits::{Content, Trait, traits};
pub use weights::{CLASSES, CURVES, curves};

use super::flat::Flat;
use pn_search::sums::game::Odds;
use weights::TraitWeights;

/// Number of phases.
const PHASES: usize = 64;
/// Minimum number of lives for a forecast. Smaller lands differ too much from each other.
const MIN_LIVES: u32 = 6;
/// Lands with more lives are treated as if they had this number.
const MAX_LIVES: u32 = 64;

static FORECAST: LazyLock<Forecast> = LazyLock::new(|| {
    Forecast::new(include_str!("weights.txt").parse().expect("the weights are tested"))
});

struct Forecast {
    weights: TraitWeights,
    /// Odds by number of lives, from [`MIN_LIVES`] on, and by phase.
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

/// Returns the phase of a land in 1/64 of a turn.
pub(super) fn phase(flat: &Flat) -> u8 {
    let weights = &FORECAST.weights;
    let mut turn = 0u16;
    traits::each_key(flat, |key, count| {
        turn = turn.wrapping_add(weights.of(key).wrapping_mul(count));
    });
    // Rounds to the nearest phase.
    const STEP: u16 = ((1 << 16) / PHASES) as u16;
    (turn.wrapping_add(STEP / 2) / STEP) as u8
}

/// Returns the odds of a land with these lives and this phase, if it has enough lives.
pub(super) fn odds(lives: u32, phase: u8) -> Option<&'static Odds> {
    let row = lives.min(MAX_LIVES).checked_sub(MIN_LIVES)?;
    Some(&FORECAST.odds[row as usize][usize::from(phase) % PHASES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    /// Reference implementation: the phase by its definition.
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
    fn odds_add_up_to_one() {
        assert_eq!(odds(MIN_LIVES - 1, 0), None);
        for lives in MIN_LIVES..2 * MAX_LIVES {
            for phase in 0..PHASES as u8 {
                let odds = odds(lives, phase).unwrap();
                let total: u32 = odds.iter().copied().map(u32::from).sum();
                assert!((65_500..=65_536 + 6).contains(&total), "{odds:?}");
            }
        }
    }

    /// The loss is the negative logarithm of the probability of the published number. A forecast that uses
    /// only the frequency of each number has a mean loss of 1.5.
    #[test]
    fn published_numbers_are_likelier_than_others() {
        let table = include_str!("../../../../tests/data/sprouts_grundy.csv");
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
