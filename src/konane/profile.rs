//! Sets of search parameters ([`Profile`]): the variants of the thesis, and the fastest known ones.

use std::fmt;

use serde::Serialize;

use super::game::{Estimate, FeatureWeights};
use crate::search::LeafSolverOptions;
use crate::search::alphabeta::AlphaBetaOptions;
use crate::search::dfpn::{DfpnOptions, VirtualLoss};
use crate::search::numbers::{Combination, Epsilon};
use crate::search::pn2::{Pn2Budget, Pn2Options};
use crate::search::pns::PnsOptions;

/// Choice of the parameters of all algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Profile {
    /// The fastest known parameters.
    Tuned,
    /// The published variants (thesis, chapter 3 and section 4).
    Thesis,
}

impl Profile {
    /// `tuned` or `thesis`.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Tuned => "tuned",
            Profile::Thesis => "thesis",
        }
    }

    /// The leaf estimate.
    pub fn estimate(self) -> Estimate {
        match self {
            Profile::Tuned => Estimate::Features(FeatureWeights::TUNED),
            Profile::Thesis => Estimate::Mobility,
        }
    }

    /// The parameters of df-pn. The ε of the thesis is 0.15.
    pub fn dfpn(self) -> DfpnOptions {
        match self {
            Profile::Tuned => {
                let PnsOptions { combination, leaf_solver, .. } = self.pns();
                DfpnOptions {
                    combination,
                    epsilon: Epsilon::new(0.05),
                    epsilon_at_or_nodes: false,
                    leaf_solver,
                    max_attempts: 2,
                    evaluate_all: false,
                    virtual_loss: VirtualLoss::Selection { share_1024: 4 },
                    seed: None,
                }
            }
            Profile::Thesis => {
                let epsilon = Epsilon::new(0.15);
                DfpnOptions { epsilon, epsilon_at_or_nodes: true, ..DfpnOptions::PLAIN }
            }
        }
    }

    /// The parameters of PNS. docs/research has the measurements for each tuned parameter.
    pub fn pns(self) -> PnsOptions {
        match self {
            Profile::Tuned => PnsOptions {
                combination: Combination::mixed(8),
                leaf_solver: LeafSolverOptions { budget: 120, effort: 62 },
                epsilon: Epsilon::new(0.1),
                evaluate_all: false,
                store_open: true,
                refresh_age: 1000,
                seed: None,
            },
            Profile::Thesis => PnsOptions::PLAIN,
        }
    }

    /// The parameters of PN². Section 4 of the thesis defines its budget of second-level searches.
    pub fn pn2(self) -> Pn2Options {
        match self {
            // `epsilon` and `refresh_age` save steps on the long paths of PNS, at the price of more nodes. The
            // second-level trees of PN² are small and stay in the cache, so here only the price would remain.
            Profile::Tuned => Pn2Options {
                pns: PnsOptions { epsilon: Epsilon::ZERO, refresh_age: 0, ..self.pns() },
                budget: Pn2Budget::Logistic {
                    inflection: 150_000.0,
                    slope: 30_000.0,
                    minimum: 2000,
                },
                virtual_loss_64: 2,
                cancel_jobs: true,
            },
            Profile::Thesis => Pn2Options {
                pns: self.pns(),
                budget: Pn2Budget::THESIS,
                virtual_loss_64: 0,
                cancel_jobs: false,
            },
        }
    }

    /// The parameters of α-β.
    pub fn alphabeta(self) -> AlphaBetaOptions {
        let step = match self {
            Profile::Tuned => 64,
            Profile::Thesis => 1,
        };
        AlphaBetaOptions { step, leaf_solver: self.pns().leaf_solver, seed: None }
    }
}

/// Changes of single parameters of a profile, for experiments. Each replaces the parameter of all algorithms that have
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The ε of the 1+ε trick, from 0 to 16.
    pub epsilon: Option<f64>,
    /// Combination of the children's phi to delta.
    pub combination: Option<Combination>,
    /// Budgets of the second level of PN².
    pub pn2_budget: Option<Pn2Budget>,
    /// Virtual loss of df-pn on several threads.
    pub virtual_loss: Option<VirtualLoss>,
    /// Seed of a random order of equally good children.
    pub seed: Option<u64>,
}

impl Overrides {
    pub(super) fn dfpn(&self, options: DfpnOptions) -> DfpnOptions {
        DfpnOptions {
            epsilon: self.epsilon.map_or(options.epsilon, Epsilon::new),
            combination: self.combination.unwrap_or(options.combination),
            virtual_loss: self.virtual_loss.unwrap_or(options.virtual_loss),
            seed: self.seed.or(options.seed),
            ..options
        }
    }

    pub(super) fn alphabeta(&self, options: AlphaBetaOptions) -> AlphaBetaOptions {
        AlphaBetaOptions { seed: self.seed.or(options.seed), ..options }
    }

    pub(super) fn pns(&self, options: PnsOptions) -> PnsOptions {
        PnsOptions {
            epsilon: self.epsilon.map_or(options.epsilon, Epsilon::new),
            combination: self.combination.unwrap_or(options.combination),
            seed: self.seed.or(options.seed),
            ..options
        }
    }

    pub(super) fn pn2(&self, options: Pn2Options) -> Pn2Options {
        Pn2Options {
            pns: self.pns(options.pns),
            budget: self.pn2_budget.unwrap_or(options.budget),
            ..options
        }
    }
}

/// The changed parameters as in the options of `konane solve`, each after a space.
impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(epsilon) = self.epsilon {
            write!(f, " --epsilon {epsilon}")?;
        }
        if let Some(combination) = self.combination {
            write!(f, " --combination {combination}")?;
        }
        if let Some(budget) = self.pn2_budget {
            write!(f, " --pn2-budget {budget}")?;
        }
        if let Some(virtual_loss) = self.virtual_loss {
            write!(f, " --virtual {virtual_loss}")?;
        }
        if let Some(seed) = self.seed {
            write!(f, " --seed {seed}")?;
        }
        Ok(())
    }
}
