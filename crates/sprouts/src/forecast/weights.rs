//! The file of weights: how far each trait turns the phase, and the coefficients from which the odds are
//! computed. [`TraitWeights`] is the content of the file, [`WeightsError`] the error for an invalid file.

use std::collections::HashMap;
use std::str::FromStr;

use pn_search::split_mix;
use pn_search::sums::game::Odds;

use super::traits::Trait;

/// Number of classes of Grundy numbers with odds: one for each number from 0 to 4, and one for all greater
/// numbers.
pub const CLASSES: usize = 6;
/// Number of coefficients of a class. For a phase x they multiply 1, cos x, sin x, cos 2x, sin 2x, and the
/// same five values times the size (see [`curves`]).
pub const CURVES: usize = 10;
/// Denominator of coefficients in the file.
const UNIT: f64 = 1024.0;

/// Reason for which weights cannot be read, with the number of the line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {0}: a trait and its weight, or `odds` and {CURVES} numbers are expected")]
pub struct WeightsError(pub usize);

/// Weights of traits in 1/65536 of a turn, and coefficients of the odds.
#[derive(Clone, Debug, Default)]
pub(super) struct TraitWeights {
    /// Hash table of keys and weights. An empty slot has the weight 0, which is the weight of every key that
    /// is not in the table.
    turns: Vec<(u64, u16)>,
    /// Coefficients of each class.
    curves: Vec<[f64; CURVES]>,
}

/// Format: lines `trait weight` and [`CLASSES`] lines `odds c1 … c10`, in 1/1024; `#` begins a comment.
impl FromStr for TraitWeights {
    type Err = WeightsError;

    fn from_str(text: &str) -> Result<Self, WeightsError> {
        let mut weights = TraitWeights::default();
        let mut turns = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let error = WeightsError(number);
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                None => {}
                Some(word) if word.starts_with('#') => {}
                Some("odds") => {
                    let row: Vec<i32> =
                        words.map(str::parse).collect::<Result<_, _>>().map_err(|_| error)?;
                    let row: [i32; CURVES] = row.try_into().map_err(|_| error)?;
                    weights.curves.push(row.map(|number| f64::from(number) / UNIT));
                }
                Some(word) => {
                    let part: Trait = word.parse().map_err(|()| error)?;
                    let (Some(Ok(turn)), None) =
                        (words.next().map(str::parse::<i32>), words.next())
                    else {
                        return Err(error);
                    };
                    turns.insert(part.key(), turn as u16);
                }
            }
        }
        weights.set_turns(&turns);
        let complete = weights.curves.len() == CLASSES;
        complete.then_some(weights).ok_or(WeightsError(text.lines().count() + 1))
    }
}

impl TraitWeights {
    /// Fills the hash table. At least three quarters of it stay empty, because most keys that are looked up
    /// are absent.
    fn set_turns(&mut self, turns: &HashMap<u64, u16>) {
        let length = (turns.len() * 4).next_power_of_two().max(16);
        self.turns = vec![(0, 0); length];
        for (&key, &turn) in turns.iter().filter(|&(_, &turn)| turn != 0) {
            let slot = self.slot(key);
            self.turns[slot] = (key, turn);
        }
    }

    /// Returns the slot of `key`, or the empty slot in which it would be stored.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.turns.len() - 1;
        let mut at = (split_mix::mix(key) >> 32) as usize & mask;
        while self.turns[at].1 != 0 && self.turns[at].0 != key {
            at = (at + 1) & mask;
        }
        at
    }

    /// Returns the weight of the trait with this key.
    #[inline]
    pub(super) fn of(&self, key: u64) -> u16 {
        self.turns[self.slot(key)].1
    }

    /// Returns the odds of a land with these lives: the softmax of the curves. `phase` is in turns.
    pub(super) fn odds(&self, lives: u32, phase: f64) -> Odds {
        let lives = f64::from(lives);
        let curves = curves(phase * std::f64::consts::TAU, (lives - 16.0) / (lives + 16.0));
        let power = |row: &[f64; CURVES]| {
            exp(row.iter().zip(curves).map(|(coefficient, curve)| coefficient * curve).sum())
        };
        let powers: Vec<f64> = self.curves.iter().map(power).collect();
        let total: f64 = powers.iter().sum();
        std::array::from_fn(|class| (powers[class] / total * 65_535.0).round() as u16)
    }
}

/// Returns the values that the coefficients multiply, for a phase of `angle` radians. `size` is
/// (lives − 16)/(lives + 16).
pub fn curves(angle: f64, size: f64) -> [f64; CURVES] {
    let (sin, cos) = sin_cos(angle);
    let own = [1.0, cos, sin, cos * cos - sin * sin, 2.0 * sin * cos];
    std::array::from_fn(|index| own[index % 5] * if index < 5 { 1.0 } else { size })
}

/// Returns sine and cosine with errors below 1e-9. Uses only basic arithmetic, because its results are the
/// same on every machine: the power series at 1/1024 of the angle, then ten doublings of the angle.
fn sin_cos(angle: f64) -> (f64, f64) {
    let x = angle / 1024.0;
    let square = x * x;
    let mut sin = x * (1.0 - square / 6.0 * (1.0 - square / 20.0));
    let mut cos = 1.0 - square / 2.0 * (1.0 - square / 12.0);
    for _ in 0..10 {
        (sin, cos) = (2.0 * sin * cos, cos * cos - sin * sin);
    }
    (sin, cos)
}

/// Returns the exponential function with a relative error below 1e-6 for |x| ≤ 20. Uses basic arithmetic like
/// [`sin_cos`]: the power series at x/4096, then twelve squarings.
fn exp(x: f64) -> f64 {
    let x = x / 4096.0;
    let mut power = 1.0 + x * (1.0 + x / 2.0 * (1.0 + x / 3.0));
    for _ in 0..12 {
        power *= power;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_the_standard_library() {
        for step in -100..=100 {
            let x = f64::from(step) / 10.0;
            let (sin, cos) = sin_cos(x);
            assert!((sin - x.sin()).abs() < 1e-9 && (cos - x.cos()).abs() < 1e-9, "{x}");
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn invalid_files_of_weights_are_refused() {
        let odds = "odds 1 2 3 4 5 6 7 8 9 10\n".repeat(CLASSES);
        let read = |text: String| text.parse::<TraitWeights>().map(|weights| weights.of(6));
        assert_eq!(read(format!("# so\n\nregion 5\nsign:1 -7\n{odds}")), Ok(5));
        assert_eq!(read(format!("region\n{odds}")), Err(WeightsError(1)));
        assert_eq!(read(format!("region 1 2\n{odds}")), Err(WeightsError(1)));
        assert_eq!(read(format!("regions 1\n{odds}")), Err(WeightsError(1)));
        assert_eq!(read(format!("region x\n{odds}")), Err(WeightsError(1)));
        assert_eq!(read("odds 1 2\n".into()), Err(WeightsError(1)));
        assert_eq!(read("region 5\n".into()), Err(WeightsError(2)));
    }
}
