//! Estimates of the complexity of game trees from random games (Knuth, "Estimating the Efficiency of Backtrack
//! Programs", 1975), as in Figure 1 of Čížek, Balko and Schmid.
//!
//! A random game chooses each child with the same probability. The product of the numbers of children along the
//! game estimates the number of leaves of the tree without bias. Each game has a function of its own that generates
//! the samples.

use std::sync::atomic::AtomicBool;

use pn_search::split_mix::{STEP, mix};
use rayon::prelude::*;
use serde::Serialize;

/// Random games of an estimate.
#[derive(Clone, Copy)]
pub struct Samples<'a> {
    /// Number of random games, at least 1.
    pub count: u32,
    /// Seed of the random numbers. Together with the count it determines the estimate, on any number of threads.
    pub seed: u64,
    /// Ends the estimate when it becomes true.
    pub stop: &'a AtomicBool,
    /// Called after each random game, by any thread.
    pub on_sample: &'a (dyn Fn() + Sync),
}

impl std::fmt::Debug for Samples<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Samples { count, seed, .. } = self;
        f.debug_struct("Samples").field("count", count).field("seed", seed).finish_non_exhaustive()
    }
}

impl Samples<'_> {
    /// Returns the results of `sample`, on the current rayon pool. The argument of `sample` is a source of random
    /// numbers: it returns a number below its argument.
    pub fn run<T: Send, E: Send>(
        &self,
        sample: impl Fn(&mut dyn FnMut(usize) -> usize) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let one = |number: u32| {
            let mut state = mix(self.seed.wrapping_add(STEP.wrapping_mul(u64::from(number) + 1)));
            let result = sample(&mut |bound| {
                state = state.wrapping_add(STEP);
                // The upper bits, scaled. The deviation from equal probabilities is below bound / 2^64.
                ((u128::from(mix(state)) * bound as u128) >> 64) as usize
            });
            (self.on_sample)();
            result
        };
        (0..self.count).into_par_iter().map(one).collect()
    }
}

/// Estimated number of leaves of a game tree. All values are logarithms to base 10.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct ComplexityEstimate {
    /// Mean of the samples, which is the estimate.
    pub log10_mean: f64,
    /// Standard deviation of the samples; null if all samples are equal.
    pub log10_deviation: Option<f64>,
    /// First percentile of the samples.
    pub log10_percentile_1: f64,
    /// 99th percentile of the samples.
    pub log10_percentile_99: f64,
}

impl ComplexityEstimate {
    /// Returns the estimate from the logarithms of the samples.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn of(mut logs: Vec<f64>) -> Self {
        logs.sort_unstable_by(f64::total_cmp);
        let count = logs.len() as f64;
        let (min, max) = (logs[0], logs[logs.len() - 1]);
        let mean = log10_sum(&logs) - count.log10();
        let square = |log: f64| (10f64.powf(log - max) - 10f64.powf(mean - max)).powi(2);
        let variance = logs.iter().map(|&log| square(log)).sum::<f64>() / (count - 1.0);
        // The smallest sample that at least this share of all samples does not exceed.
        let percentile = |percent: usize| logs[(logs.len() * percent).div_ceil(100) - 1];
        ComplexityEstimate {
            log10_mean: mean,
            log10_deviation: (min < max).then(|| max + variance.log10() / 2.0),
            log10_percentile_1: percentile(1),
            log10_percentile_99: percentile(99),
        }
    }
}

/// Returns the logarithm of the sum of numbers that are given by their logarithms. The numbers themselves may exceed
/// the range of `f64`.
pub fn log10_sum(logs: &[f64]) -> f64 {
    let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + logs.iter().map(|log| 10f64.powf(log - max)).sum::<f64>().log10()
}

/// Plays a random game. Returns the logarithm of the product of the numbers of children of its positions.
pub fn random_game<P, E>(
    start: P,
    mut children: impl FnMut(&P) -> Result<Vec<P>, E>,
    pick: &mut dyn FnMut(usize) -> usize,
) -> Result<f64, E> {
    let (mut position, mut log) = (start, 0.0);
    loop {
        let mut next = children(&position)?;
        if next.is_empty() {
            return Ok(log);
        }
        log += (next.len() as f64).log10();
        position = next.swap_remove(pick(next.len()));
    }
}

/// Returns the mean of the samples over all random choices, each with its probability. For tests.
#[cfg(any(test, feature = "testing"))]
pub fn exact_mean(mut sample: impl FnMut(&mut dyn FnMut(usize) -> usize) -> f64) -> f64 {
    // The choices of the next sample and their bounds.
    let mut choices: Vec<(usize, usize)> = Vec::new();
    let mut mean = 0.0;
    loop {
        let mut at = 0;
        let log = sample(&mut |bound| {
            if at == choices.len() {
                choices.push((0, bound));
            }
            assert_eq!(choices[at].1, bound, "earlier choices determine the bound");
            at += 1;
            choices[at - 1].0
        });
        let probability: f64 = choices.iter().map(|&(_, bound)| 1.0 / bound as f64).product();
        mean += probability * 10f64.powf(log);
        while choices.last().is_some_and(|&(choice, bound)| choice + 1 == bound) {
            choices.pop();
        }
        match choices.last_mut() {
            Some((choice, _)) => *choice += 1,
            None => return mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_percentiles_of_numbers_beyond_the_range_of_f64() {
        let logs: Vec<f64> = (1..=200).map(|number| 400.0 + f64::from(number).log10()).collect();
        let estimate = ComplexityEstimate::of(logs.into_iter().rev().collect());
        let near = |log: f64, number: f64| (log - 400.0 - number.log10()).abs() < 1e-9;
        assert!(near(estimate.log10_mean, 100.5), "{estimate:?}");
        // Variance of 1 to n: n(n + 1)/12.
        assert!(near(estimate.log10_deviation.unwrap(), 3350f64.sqrt()), "{estimate:?}");
        assert!(near(estimate.log10_percentile_1, 2.0), "{estimate:?}");
        assert!(near(estimate.log10_percentile_99, 198.0), "{estimate:?}");
        let one = ComplexityEstimate::of(vec![3.0]);
        assert_eq!((one.log10_mean, one.log10_deviation), (3.0, None));
        assert_eq!((one.log10_percentile_1, one.log10_percentile_99), (3.0, 3.0));
    }

    #[test]
    fn every_number_below_the_bound_is_equally_likely() {
        let stop = AtomicBool::new(false);
        let samples = Samples { count: 70_000, seed: 1, stop: &stop, on_sample: &|| () };
        let numbers = samples.run(|pick| Ok::<_, ()>((pick(7), pick(1)))).unwrap();
        for number in 0..7 {
            let count = numbers.iter().filter(|&&picked| picked == (number, 0)).count();
            assert!((9_500..10_500).contains(&count), "{number}: {count}");
        }
    }
}
