//! Progress of searches of Konane on stderr.

use crate::exit::CliError;
use crate::output::{proof_number, short, speed};
use crate::progress::Progress as Shown;
use crate::trace::{ProgressJson, Trace};
use konane::proof::ProofObserver;
use konane::search::certificate::CertificateProgress;
use konane::search::run::{CheckpointProgress, Observer, Progress};
use konane::{Algorithm, Board, Position};

/// Progress of a search on stderr and in a trace.
pub struct SearchProgress {
    shown: Shown,
    board: Board,
    position: Position,
    /// Codes after the root's moves, and the moves' texts.
    moves: Vec<(u64, String)>,
    trace: Option<Trace>,
    algorithm: Algorithm,
}

impl SearchProgress {
    /// For a search of `position`.
    pub fn new(board: &Board, position: &Position, algorithm: Algorithm, quiet: bool) -> Self {
        let code = |mv| position.play(board, mv).code(board);
        let moves = position.moves(board).into_iter();
        SearchProgress {
            shown: Shown::new(quiet),
            moves: moves.map(|mv| (code(mv), mv.to_string())).collect(),
            board: board.clone(),
            position: *position,
            trace: None,
            algorithm,
        }
    }

    /// Writes a trace as well.
    pub fn record(&mut self, trace: Option<Trace>) {
        self.trace = trace;
    }

    /// Closes the trace and returns its error.
    pub fn finish(self) -> Result<(), CliError> {
        self.trace.map_or(Ok(()), Trace::finish)
    }

    /// The text of the best move.
    fn best(&self, progress: &Progress) -> Option<&String> {
        let best = progress.best?;
        self.moves.iter().find(|(code, _)| *code == best).map(|(_, text)| text)
    }

    /// A line of at most 80 columns.
    fn line(&self, progress: &Progress, seconds: f64) -> String {
        let counters = &progress.counters;
        let mut parts = vec![
            format!("{} nodes", short(counters.nodes as f64)),
            format!("{}/s", short(speed(counters.nodes, seconds))),
        ];
        if progress.depth > 0 {
            parts.push(format!("depth {}", progress.depth));
        } else {
            let (pn, dn) = (proof_number(progress.phi), proof_number(progress.delta));
            parts.push(format!("pn {pn} dn {dn}"));
        }
        let fill = 100.0 * counters.table_used as f64 / progress.table_capacity.max(1) as f64;
        parts.push(format!("table {fill:.1} %"));
        if let Some(text) = self.best(progress) {
            parts.push(format!("best {text}"));
        }
        parts.join(", ")
    }
}

impl Observer for SearchProgress {
    fn progress(&mut self, progress: &Progress) {
        self.shown.update(|seconds| self.line(progress, seconds));
        let SearchProgress { board, position, algorithm, trace, .. } = self;
        if let Some(trace) = trace {
            trace.write(progress, |seconds| {
                ProgressJson::of_konane(progress, seconds, board, position, *algorithm)
            });
        }
    }

    fn checkpoint(&mut self, progress: &CheckpointProgress) {
        self.shown.update(|_| {
            let &CheckpointProgress { writing, done, of } = progress;
            let verb = if writing { "writing" } else { "reading" };
            let percent = 100 * u128::from(done) / u128::from(of.max(1));
            format!("{verb} the checkpoint: {percent} %")
        });
    }
}

impl ProofObserver for SearchProgress {
    fn collecting(&mut self, progress: &CertificateProgress) {
        self.shown.update(|_| {
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

impl SearchProgress {
    /// Shows a line that stays.
    pub fn note(&self, line: &str) {
        self.shown.note(line);
    }

    /// Writes something else to the terminal.
    pub fn aside(&self, write: impl FnOnce()) {
        self.shown.aside(write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::Dimensions;
    use konane::search::numbers::INFINITY;
    use konane::search::run::Counters;

    #[test]
    fn a_line_names_the_numbers_and_the_best_move() {
        let board = Board::new(Dimensions::new(6, 6).unwrap());
        let start = Position::start(&board);
        let shown = SearchProgress::new(&board, &start, Algorithm::Dfpn, true);
        let mv = start.moves(&board)[1];
        let mut progress = Progress {
            phi: 12,
            delta: INFINITY,
            best: Some(start.play(&board, mv).code(&board)),
            table_capacity: 1000,
            counters: Counters { nodes: 3_000_000, table_used: 125, ..Counters::default() },
            ..Progress::default()
        };
        let line = shown.line(&progress, 2.0);
        assert!(line.starts_with("3.00 M nodes, 1.50 M/s, pn 12 dn infinite"));
        assert!(line.contains("table 12.5 %, best "), "{line}");
        progress.depth = 7;
        progress.best = None;
        let line = shown.line(&progress, 2.0);
        assert!(line.ends_with("depth 7, table 12.5 %"), "{line}");
    }
}
