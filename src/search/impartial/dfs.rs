//! Depth-first search with Grundy numbers (Lemoine and Viennot 2012), without bounds and without
//! heuristics: the plain search that the others are compared with.
//!
//! A couple's children are looked at one after the other until one is lost: options first, those
//! with few moves before others, then smaller heaps. What is found stays in the workspace's knowledge; the table is not used but for heaps that the
//! knowledge does not track.

use super::SearchOptions;
use super::control::{Control, Observer, Report, Shared};
use super::evaluate::{Evaluator, Pair};
use super::game::{Atom, Impartial};
use super::store::{atom_of, option_at, options_of};
use super::workspace::{Sum, Workspace};
use crate::search::control::Limits;
use crate::search::game::Value;
use crate::search::table::Table;

/// Searches a position depth first on one thread. Recurses as deep as the longest game.
pub fn dfs<G: Impartial>(
    workspace: &Workspace<'_, G>,
    root: &Sum,
    limits: Limits<'_>,
    observer: &mut dyn Observer,
) -> Report {
    let used = workspace.table.estimated_count();
    let shared = Shared::new(limits, observer, used);
    let control = Control::new(&shared);
    let evaluator = Evaluator::new(workspace, &workspace.table, control, SearchOptions::PAPER);
    let mut search = Search { evaluator };
    let value = search.sum(root.atoms(), root.nimber());
    search.evaluator.control.finish(workspace.bytes());
    shared.report(value.map(Pair::of), workspace.bytes())
}

struct Search<'w, 's, 'a, G: Impartial> {
    evaluator: Evaluator<'w, 's, 'a, G, &'w Table>,
}

impl<G: Impartial> Search<'_, '_, '_, G> {
    /// The value of a sum, or `None` if the search has to stop.
    fn sum(&mut self, words: &[u32], nimber: u32) -> Option<Value> {
        loop {
            let rest = self.evaluator.reduce(words, nimber);
            match self.evaluator.open[..] {
                [] => return Some(if rest == 0 { Value::Loss } else { Value::Win }),
                [atom] => return self.couple(atom, rest),
                // The Grundy numbers of all atoms but the last.
                [atom, ..] => {
                    let heap = self.evaluator.current(atom);
                    self.couple(atom, heap)?;
                }
            }
        }
    }

    fn couple(&mut self, atom: Atom, nimber: u32) -> Option<Value> {
        let evaluator = &mut self.evaluator;
        if let Some(value) = evaluator.value(atom, nimber) {
            return Some(value);
        }
        let workspace = evaluator.workspace;
        if evaluator.control.tick(|| workspace.balance(0)) {
            return None;
        }
        let before = evaluator.control.counters.iterations;
        evaluator.control.counters.nodes += 1;
        let list = evaluator.list(atom)?;
        let mut value = Value::Loss;
        // Those that look small first: others may take longer to generate than all of these to solve.
        let game = workspace.game;
        let size = |option: &[u32]| -> u64 {
            let options = |&word: &u32| game.features(atom_of(word)).estimated_options;
            option.iter().map(|word| u64::from(options(word))).sum()
        };
        let mut order: Vec<(u64, u32)> =
            options_of(&list).map(|(start, option)| (size(option), start)).collect();
        order.sort_unstable();
        for (_, start) in order {
            if self.sum(option_at(&list, start), nimber)? == Value::Loss {
                value = Value::Win;
                break;
            }
        }
        let mut heaps = 0..nimber;
        while value == Value::Loss
            && let Some(smaller) = heaps.next()
        {
            value = !self.couple(atom, smaller)?;
        }
        let after = self.evaluator.control.counters.iterations;
        self.evaluator.solved(atom, nimber, value, after.saturating_sub(before));
        Some(value)
    }
}
