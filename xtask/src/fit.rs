//! Fits the weights of the Grundy number forecast (`crates/sprouts/src/forecast`) to known numbers:
//!
//! ```text
//! cargo run --release --package xtask -- fit numbers.spr … > crates/sprouts/src/forecast/weights.txt
//! ```
//!
//! The odds of the Grundy numbers are a softmax of functions of the phase (the *curves*). The phase is the sum
//! of the weights of a land's traits. The weights are fitted by Adam (Kingma and Ba 2015) on the mean
//! logarithmic loss: for 300 steps the curves only, then all weights together. One land in ten is used for
//! validation only; the loss on these lands is printed on stderr.

use std::collections::{HashMap, HashSet};
use std::f64::consts::TAU;
use std::path::PathBuf;

use konane::sprouts::forecast::{CLASSES, CURVES, Trait, curves, traits};
use konane::sprouts::spr_file::SprReader;
use konane::sprouts::{Scratch, Sprouts};

use crate::DeveloperError;

/// Number of traits in the model that are not counts. The most frequent ones are used.
const TRAITS: usize = 250;
const STEPS: i32 = 4000;
const BATCH: usize = 2000;
/// Lands with fewer lives have no forecast.
const MIN_LIVES: u32 = 6;
/// Of the lands with fewer lives, only one in six is used, because there are very many.
const MANY_LIVES: u32 = 16;

/// A land with its Grundy number.
struct LabelledLand {
    lives: u32,
    class: usize,
    /// Index and count of each trait.
    traits: Vec<(usize, f64)>,
    is_validation: bool,
}

/// SplitMix64 (Steele, Lea and Flood 2014), which makes a fit repeatable.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Adam's state for one parameter.
#[derive(Clone, Copy, Default)]
struct Adam {
    value: f64,
    gradient: f64,
    mean: f64,
    square: f64,
}

impl Adam {
    fn step(&mut self, rate: f64, number: i32) {
        self.mean = 0.9 * self.mean + 0.1 * self.gradient;
        self.square = 0.999 * self.square + 0.001 * self.gradient * self.gradient;
        let mean = self.mean / (1.0 - 0.9f64.powi(number));
        let square = self.square / (1.0 - 0.999f64.powi(number));
        self.value -= rate * mean / (square.sqrt() + 1e-9);
        self.gradient = 0.0;
    }
}

/// Returns the initial weight of a trait that is a count, in full turns of the phase (360°): a game has about
/// 0.8 moves per life, and a move turns the phase by a half. Returns None for all other traits.
fn initial_weight(part: &Trait) -> Option<f64> {
    match part {
        Trait::Isolated => Some(1.19),
        Trait::Further => Some(0.0),
        Trait::Sign('1') => Some(0.78),
        Trait::Sign('2') => Some(0.32),
        Trait::Sign('a') => Some(0.4),
        Trait::Sign(_) => Some(0.2),
        Trait::Region => Some(-0.16),
        Trait::Boundary => Some(0.03),
        _ => None,
    }
}

/// Returns the distinct lands of the files, and the traits of the model.
fn read(
    files: &[PathBuf],
    random: &mut SplitMix,
) -> Result<(Vec<LabelledLand>, Vec<Trait>), DeveloperError> {
    let (game, mut scratch) = (Sprouts::new(u64::MAX), Scratch::default());
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut lands_with: HashMap<Trait, usize> = HashMap::new();
    for file in files {
        for entry in SprReader::open(file)? {
            let entry = entry?;
            // A position of several lands is skipped: the file only says that it is lost, which does not
            // determine the Grundy numbers of its lands.
            let [land] = entry.position.lands() else { continue };
            let lives = entry.position.lives();
            let is_skipped =
                lives < MIN_LIVES || (lives < MANY_LIVES && random.next() * 6.0 >= 1.0);
            // The same land may occur in several spellings.
            if is_skipped || !seen.insert(game.atoms(&entry.position, &mut scratch)?) {
                continue;
            }
            let traits = traits(land);
            let distinct: HashSet<&Trait> = traits.iter().map(|(part, _)| part).collect();
            for part in distinct {
                *lands_with.entry(part.clone()).or_default() += 1;
            }
            found.push((lives, (entry.grundy as usize).min(CLASSES - 1), traits));
        }
    }
    let mut used: Vec<(Trait, usize)> = lands_with.into_iter().collect();
    used.sort_unstable_by(|(a, times_a), (b, times_b)| {
        let counts_first = initial_weight(b).is_some().cmp(&initial_weight(a).is_some());
        counts_first.then(times_b.cmp(times_a)).then(a.cmp(b))
    });
    let counts = used.iter().filter(|(part, _)| initial_weight(part).is_some()).count();
    used.truncate(counts + TRAITS);
    let numbers: HashMap<&Trait, usize> =
        used.iter().zip(0..).map(|((part, _), number)| (part, number)).collect();
    let lands = found.into_iter().map(|(lives, class, traits)| LabelledLand {
        lives,
        class,
        traits: traits
            .iter()
            .filter_map(|(part, count)| Some((*numbers.get(part)?, f64::from(*count))))
            .collect(),
        is_validation: random.next() < 0.1,
    });
    Ok((lands.collect(), used.into_iter().map(|(part, _)| part).collect()))
}

struct Model {
    turns: Vec<Adam>,
    curves: [[Adam; CURVES]; CLASSES],
}

impl Model {
    /// Returns the loss of a land. Adds its gradient to those of the weights if `learns`.
    fn loss(&mut self, land: &LabelledLand, learns: bool) -> f64 {
        let turn: f64 =
            land.traits.iter().map(|&(number, count)| self.turns[number].value * count).sum();
        let lives = f64::from(land.lives.min(64));
        let at = |turn: f64| curves(turn.rem_euclid(1.0) * TAU, (lives - 16.0) / (lives + 16.0));
        let here = at(turn);
        let power = |row: &[Adam; CURVES]| {
            row.iter().zip(here).map(|(weight, curve)| weight.value * curve).sum::<f64>().exp()
        };
        let mut share = [0.0; CLASSES];
        for (share, row) in share.iter_mut().zip(&self.curves) {
            *share = power(row);
        }
        let total: f64 = share.iter().sum();
        share.iter_mut().for_each(|share| *share /= total);
        let loss = -share[land.class].max(1e-12).ln();
        if !learns {
            return loss;
        }
        share[land.class] -= 1.0;
        // The derivative of cos(a) is cos(a + 1/4 turn), that of cos(2a) is 2 cos(2(a + 1/8 turn)); the same
        // holds for the sine.
        let (quarter, eighth) = (at(turn + 0.25), at(turn + 0.125));
        let mut slope = 0.0;
        for (row, share) in self.curves.iter_mut().zip(share) {
            for (index, weight) in row.iter_mut().enumerate() {
                weight.gradient += share * here[index] / BATCH as f64;
                slope += share
                    * weight.value
                    * match index % 5 {
                        0 => 0.0,
                        1 | 2 => TAU * quarter[index],
                        _ => 2.0 * TAU * eighth[index],
                    };
            }
        }
        for &(number, count) in &land.traits {
            self.turns[number].gradient += slope * count / BATCH as f64;
        }
        loss
    }
}

pub fn run(files: &[PathBuf]) -> Result<(), DeveloperError> {
    let mut random = SplitMix(1);
    let (lands, traits) = read(files, &mut random)?;
    // Lands with a rare number of lives are drawn more often than others: if n lands have the same number of
    // lives, each is drawn with weight 1/√n.
    let mut with_lives = [0usize; 41];
    for land in &lands {
        with_lives[land.lives.min(40) as usize] += 1;
    }
    let (mut shares, mut total) = (Vec::new(), 0.0);
    let training: Vec<&LabelledLand> = lands.iter().filter(|land| !land.is_validation).collect();
    for land in &training {
        total += 1.0 / (with_lives[land.lives.min(40) as usize] as f64).sqrt();
        shares.push(total);
    }
    if training.is_empty() {
        return Err("too few lands with 6 or more lives: none is left for training".into());
    }
    let start =
        |part: &Trait| Adam { value: initial_weight(part).unwrap_or(0.0), ..Adam::default() };
    let mut model = Model {
        turns: traits.iter().map(start).collect(),
        curves: [[Adam::default(); CURVES]; CLASSES],
    };
    for step in 1..=STEPS {
        for _ in 0..BATCH {
            let share = random.next() * total;
            let index = shares.partition_point(|&end| end <= share).min(training.len() - 1);
            model.loss(training[index], true);
        }
        let rate = 0.03 * (1.0 - f64::from(step) / f64::from(STEPS)) + 0.0005;
        model.curves.iter_mut().flatten().for_each(|weight| weight.step(rate, step));
        for weight in &mut model.turns {
            // The curves are fitted first: before that, the phase has no meaning.
            weight.step(if step > 300 { rate / 12.0 } else { 0.0 }, step);
        }
    }
    for (least, most) in [(6, 9), (10, 13), (14, 17), (18, 22), (23, 30), (31, 45), (46, 6000)] {
        let chosen =
            lands.iter().filter(|land| land.is_validation && (least..=most).contains(&land.lives));
        let losses: Vec<f64> = chosen.map(|land| model.loss(land, false)).collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        eprintln!("{least} to {most} lives: {} lands, mean loss {mean:.3}", losses.len());
    }

    println!(
        "# Forecast of Grundy numbers: the traits of a land with their weights in 1/65536 of a turn,"
    );
    println!(
        "# then for the Grundy numbers 0 to {} and for all greater ones the coefficients",
        CLASSES - 2
    );
    println!(
        "# of 1, cos, sin, cos 2, sin 2 of the phase, and of these times\n# (lives - 16) / (lives + 16), in 1/1024."
    );
    println!("# Written by `cargo xtask fit` from {} lands.", lands.len());
    for (part, weight) in traits.iter().zip(&model.turns) {
        println!("{part} {}", (weight.value * 65_536.0).round() as i64);
    }
    for row in &model.curves {
        let numbers: Vec<String> =
            row.iter().map(|weight| ((weight.value * 1024.0).round() as i64).to_string()).collect();
        println!("odds {}", numbers.join(" "));
    }
    Ok(())
}
