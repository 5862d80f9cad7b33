//! The observer of `konane solve`: progress on stderr, the trace, and messages about checkpoints.

use std::time::Instant;

use super::Answer;
use super::checkpoint::RunCheckpoints;
use crate::exit::CliError;
use crate::output::{proof_number, short};
use crate::progress::ProgressDisplay;
use crate::trace::{ProgressJson, Trace};
use konane::Solution;
use konane::json::per_second;
use konane::proof::ProofObserver;
use konane::search::certificate::CertificateProgress;
use konane::search::run::{CheckpointProgress, Observer, Progress};

/// Shows the progress of a search, of its checkpoints and of its proof.
pub struct SolveObserver<'a> {
    pub display: ProgressDisplay,
    pub trace: Option<Trace>,
    pub run_checkpoints: Option<RunCheckpoints<'a>>,
    /// The answer, of which the first part is printed before the proof is collected.
    pub answer: &'a Answer<'a>,
    /// Time at which the first part was printed.
    pub solved: Option<Instant>,
}

impl<'a> SolveObserver<'a> {
    /// Returns the results of the checkpoints and of the trace, once the search is over.
    pub fn finish(mut self) -> (Option<RunCheckpoints<'a>>, Result<(), CliError>) {
        self.note_written();
        (self.run_checkpoints, self.trace.map_or(Ok(()), Trace::finish))
    }

    fn note_written(&mut self) {
        if let Some(run_checkpoints) = &mut self.run_checkpoints {
            run_checkpoints.note_written(&self.display);
        }
    }
}

impl Observer for SolveObserver<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.note_written();
        let SolveObserver { display, trace, .. } = self;
        let Answer { args, board, position, .. } = *self.answer;
        display.update(|seconds| {
            let best = progress.best.and_then(|code| position.move_to(board, code));
            line(progress, seconds, best.map(|mv| mv.to_string()))
        });
        if let Some(trace) = trace {
            trace.write(progress, |seconds| {
                ProgressJson::of_konane(progress, seconds, board, position, args.algo)
            });
        }
    }

    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.display.update(|_| {
            let &CheckpointProgress { writing, done, of } = progress;
            let verb = if writing { "writing" } else { "reading" };
            let percent = 100 * u128::from(done) / u128::from(of.max(1));
            format!("{verb} the checkpoint: {percent} %")
        });
    }
}

impl ProofObserver for SolveObserver<'_> {
    fn solved(&mut self, solution: &Solution) {
        self.solved = Some(Instant::now());
        self.note_written();
        let checkpoints = self.run_checkpoints.as_ref();
        self.display.aside(|| self.answer.print_early(solution, checkpoints));
    }

    fn collecting(&mut self, progress: &CertificateProgress) {
        self.note_written();
        self.display.update(|_| {
            format!(
                "{} proof: {} positions, {} moves answered, {} stones",
                if progress.thinning { "thinning" } else { "collecting" },
                short(progress.positions as f64),
                short(progress.answered as f64),
                progress.layer,
            )
        });
    }
}

/// Returns the progress of a search as a line of at most 80 columns.
fn line(progress: &Progress, seconds: f64, best: Option<String>) -> String {
    let counters = &progress.counters;
    let numbers = match progress.depth {
        0 => format!("pn {} dn {}", proof_number(progress.phi), proof_number(progress.delta)),
        depth => format!("depth {depth}"),
    };
    let best = best.map_or(String::new(), |mv| format!(", best {mv}"));
    format!(
        "{} nodes, {}/s, {numbers}, table {:.1} %{best}",
        short(counters.nodes as f64),
        short(per_second(counters.nodes, seconds)),
        100.0 * counters.table_used as f64 / progress.table_capacity.max(1) as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::search::numbers::INFINITY;
    use konane::search::run::Counters;

    #[test]
    fn a_line_names_the_numbers_and_the_best_move() {
        let mut progress = Progress {
            phi: 12,
            delta: INFINITY,
            table_capacity: 1000,
            counters: Counters { nodes: 3_000_000, table_used: 125, ..Counters::default() },
            ..Progress::default()
        };
        assert_eq!(
            line(&progress, 2.0, Some("c3".to_owned())),
            "3.00 M nodes, 1.50 M/s, pn 12 dn infinite, table 12.5 %, best c3"
        );
        progress.depth = 7;
        assert_eq!(line(&progress, 2.0, None), "3.00 M nodes, 1.50 M/s, depth 7, table 12.5 %");
    }
}
