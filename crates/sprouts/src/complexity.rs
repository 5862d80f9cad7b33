//! [`sprouts_complexity`]: estimates of the sizes of the game tree of a position and of its tree with Grundy numbers,
//! as in Figure 1 of Čížek, Balko and Schmid.

use std::sync::atomic::Ordering;

use konane_base::complexity::{ComplexityEstimate, Samples, log10_sum, random_game};
use pn_search::sums::game::{Atom, GameFull, Impartial, Stop};
use serde::Serialize;

use super::error::MovesError;
use super::game::{Scratch, Sprouts};
use super::position::Position;

/// Assumed Grundy number of every land, which is unknown while a tree is sampled: the couples with heaps from 0 to
/// this number have to be searched to find it. The numbers found by searches of 0\*12, 0\*14, 0\*15, 0\*16, 0\*18,
/// 0\*20 and 0\*22 are 1.00, 1.23, 1.13, 0.94, 1.15, 1.07 and 1.10 on average.
const MEAN_GRUNDY: u32 = 1;

/// Estimates for a position of Sprouts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
pub struct SproutsComplexity {
    /// The game tree, whose nodes are positions. Isomorphic children of a node count once.
    pub game_tree: ComplexityEstimate,
    /// The tree with Grundy numbers, whose nodes are couples of a position and a nim heap.
    pub grundy_tree: ComplexityEstimate,
}

/// Estimates the numbers of leaves of both trees of a position. Runs on the current rayon pool. Every sample has a
/// game of its own, with at most `max_bytes` of lands.
///
/// # Errors
/// [`MovesError::Full`] if there is no memory for a new land or the stop flag was set;
/// [`MovesError::TooMany`] if a land has too many moves.
///
/// # Panics
/// If the number of samples is 0.
pub fn sprouts_complexity(
    position: &Position,
    max_bytes: u64,
    samples: &Samples<'_>,
) -> Result<SproutsComplexity, MovesError> {
    let logs = samples.run(|pick| {
        // The order of children depends on the ids of lands, which must not depend on other samples.
        let game = Sprouts::new(max_bytes);
        let mut scratch = Scratch::default();
        let start = game.atoms(position, &mut scratch)?;
        let stop = || samples.stop.load(Ordering::Relaxed);
        let mut sampler = Sampler { game: &game, scratch: &mut scratch, stop: &stop, pick };
        Ok::<_, MovesError>((sampler.game_tree(&start)?, sampler.couple(&start, 0)?))
    })?;
    let (game_tree, grundy_tree) = logs.into_iter().unzip();
    let [game_tree, grundy_tree] = [game_tree, grundy_tree].map(ComplexityEstimate::of);
    Ok(SproutsComplexity { game_tree, grundy_tree })
}

/// Samples the trees of a position. Results are logarithms to base 10.
struct Sampler<'a> {
    game: &'a Sprouts,
    scratch: &'a mut Scratch,
    stop: &'a Stop<'a>,
    /// Returns a random number below its argument.
    pick: &'a mut dyn FnMut(usize) -> usize,
}

impl Sampler<'_> {
    /// Plays a random game.
    fn game_tree(&mut self, start: &[Atom]) -> Result<f64, MovesError> {
        let Sampler { game, scratch, stop, pick } = self;
        random_game(start.to_vec(), |sum| children(game, sum, scratch, *stop), *pick)
    }

    /// Returns the complexity below a couple of a sum and a heap, C(v) of the paper.
    ///
    /// - A couple of one land (an atomic node): the number of its children times the complexity of a random one.
    ///   The children are the options of the land with the heap, and the land with each smaller heap.
    /// - A couple of several lands (a decomposable node): the sum of the complexities of all its children. These are
    ///   the couples that determine the Grundy number of each land except the last, and the couple of the last land.
    fn couple(&mut self, sum: &[Atom], heap: u32) -> Result<f64, MovesError> {
        if let [_, _, ..] = sum {
            return self.decomposable(sum, heap);
        }
        let options = children(self.game, sum, self.scratch, self.stop)?;
        let count = options.len() + heap as usize;
        if count == 0 {
            return Ok(0.0);
        }
        let picked = (self.pick)(count);
        let below = match options.into_iter().nth(picked) {
            Some(option) => self.couple(&option, heap)?,
            None => self.couple(sum, (count - 1 - picked) as u32)?,
        };
        Ok((count as f64).log10() + below)
    }

    fn decomposable(&mut self, sum: &[Atom], heap: u32) -> Result<f64, MovesError> {
        let mut lands = sum.to_vec();
        // As in a search, the land that is likely to take most comes last. The texts make the order independent of
        // the ids.
        lands.sort_by_cached_key(|&land| {
            let features = self.game.features(land);
            (features.lives, features.estimated_options, self.game.land_text(land))
        });
        let (mut logs, mut heap) = (Vec::new(), heap);
        let last = lands.pop().expect("a decomposable sum has several lands");
        for land in lands {
            for smaller in 0..=MEAN_GRUNDY {
                logs.push(self.couple(&[land], smaller)?);
            }
            heap ^= MEAN_GRUNDY;
        }
        logs.push(self.couple(&[last], heap)?);
        Ok(log10_sum(&logs))
    }
}

/// [`Sprouts::children`] that polls `stop` for small positions, too.
fn children(
    game: &Sprouts,
    sum: &[Atom],
    scratch: &mut Scratch,
    stop: &Stop<'_>,
) -> Result<Vec<Vec<Atom>>, MovesError> {
    if stop() { Err(GameFull.into()) } else { game.children(sum, scratch, stop) }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use konane_base::complexity::exact_mean;

    fn children_of(game: &Sprouts, scratch: &mut Scratch, sum: &[Atom]) -> Vec<Vec<Atom>> {
        game.children(sum, scratch, &|| false).unwrap()
    }

    /// Counts the leaves of the game tree.
    fn leaves(game: &Sprouts, scratch: &mut Scratch, sum: &[Atom]) -> f64 {
        let children = children_of(game, scratch, sum);
        let below: f64 = children.iter().map(|child| leaves(game, scratch, child)).sum();
        below.max(1.0)
    }

    /// Counts the leaves of the tree with Grundy numbers.
    fn couple_leaves(game: &Sprouts, scratch: &mut Scratch, sum: &[Atom], heap: u32) -> f64 {
        let mut lands = sum.to_vec();
        lands.sort_by_key(|&land| {
            let features = game.features(land);
            (features.lives, features.estimated_options, game.land_text(land))
        });
        let mut of = |sum: &[Atom], heap| couple_leaves(game, scratch, sum, heap);
        match lands[..] {
            // The heaps above 0 of a sequence that ends with 0 are any subset that has the first heap.
            [] => f64::from(1u32 << heap.saturating_sub(1)),
            [land] => {
                let heaps: f64 = (0..heap).map(|smaller| of(&[land], smaller)).sum();
                let options = children_of(game, scratch, &[land]);
                let moves = options.iter().map(|sum| couple_leaves(game, scratch, sum, heap));
                (heaps + moves.sum::<f64>()).max(1.0)
            }
            [ref first @ .., last] => {
                let numbers: f64 = first.iter().map(|&land| of(&[land], 0) + of(&[land], 1)).sum();
                numbers + of(&[last], heap ^ (first.len() as u32 & 1))
            }
        }
    }

    #[test]
    fn the_mean_of_all_samples_is_the_number_of_leaves() {
        let counted = [("!", 1.0, 1.0), ("0", 1.0, 1.0), ("0*2", 29.0, 29.0), ("0+22", 3.0, 6.0)];
        let larger = [("0+0*2", None), ("0.AB|0.AB", None)];
        let counted = counted.map(|(text, all, grundy)| (text, Some((all, grundy))));
        for (text, expected) in counted.into_iter().chain(larger) {
            let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
            let start = game.atoms(&text.parse().unwrap(), &mut scratch).unwrap();
            let all = leaves(&game, &mut scratch, &start);
            let grundy = couple_leaves(&game, &mut scratch, &start, 0);
            assert!(expected.is_none_or(|expected| expected == (all, grundy)), "{all}, {grundy}");
            let mut mean = |sample: fn(&mut Sampler<'_>, &[Atom]) -> Result<f64, MovesError>| {
                exact_mean(|pick| {
                    let scratch = &mut scratch;
                    let mut sampler = Sampler { game: &game, scratch, stop: &|| false, pick };
                    sample(&mut sampler, &start).unwrap()
                })
            };
            let means = [
                mean(|sampler, start| sampler.game_tree(start)),
                mean(|sampler, start| sampler.couple(start, 0)),
            ];
            for (mean, leaves) in means.into_iter().zip([all, grundy]) {
                assert!((mean / leaves - 1.0).abs() < 1e-9, "{text}: {mean}, not {leaves}");
            }
        }
    }

    #[test]
    fn estimates_are_near_the_number_of_leaves_and_reproducible() {
        let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
        let position: Position = "0*3".parse().unwrap();
        let start = game.atoms(&position, &mut scratch).unwrap();
        let stop = AtomicBool::new(false);
        let samples = Samples { count: 1000, seed: 1, stop: &stop, on_sample: &|| () };
        let on_threads = |threads, seed| {
            let pool = konane_base::system::thread_pool(threads).build().unwrap();
            let samples = Samples { seed, ..samples };
            pool.install(|| sprouts_complexity(&position, u64::MAX, &samples)).unwrap()
        };
        let estimate = on_threads(1, 1);
        assert_eq!(on_threads(3, 1), estimate);
        assert_ne!(on_threads(3, 2), estimate);
        let near = |mean: f64, leaves: f64| (mean - leaves.log10()).abs() < 0.05;
        let leaves = leaves(&game, &mut scratch, &start);
        assert!(near(estimate.game_tree.log10_mean, leaves), "{estimate:?}, not {leaves}");
        let leaves = couple_leaves(&game, &mut scratch, &start, 0);
        assert!(near(estimate.grundy_tree.log10_mean, leaves), "{estimate:?}, not {leaves}");
    }

    #[test]
    fn full_memory_and_the_stop_flag_end_an_estimate() {
        let position: Position = "0*5".parse().unwrap();
        for (stop, max_bytes) in [(false, 1), (true, u64::MAX)] {
            let stop = AtomicBool::new(stop);
            let samples = Samples { count: 10, seed: 1, stop: &stop, on_sample: &|| () };
            let result = sprouts_complexity(&position, max_bytes, &samples);
            assert_eq!(result, Err(MovesError::Full(GameFull)));
        }
    }
}
