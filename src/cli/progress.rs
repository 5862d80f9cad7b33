//! Progress of searches of Konane on stderr.

use super::output::{short, speed, time};
use super::ticker::Ticker;
use crate::konane::notation::format_move;
use crate::konane::{Board, Position};
use crate::proof::ProofObserver;
use crate::search::certificate::CertificateProgress;
use crate::search::control::{Observer, Progress};
use crate::search::numbers::INFINITY;

/// Shows how a search gets on.
pub struct SearchProgress {
    ticker: Ticker,
    capacity: u64,
    /// Codes after the root's moves, and the moves' texts.
    moves: Vec<(u64, String)>,
}

impl SearchProgress {
    /// For a search of `position` with a table of `capacity` entries.
    pub fn new(board: &Board, position: &Position, capacity: u64, quiet: bool) -> Self {
        let code = |mv| board.symmetries().code(&position.play(board, mv));
        let text = |mv| format_move(board.dimensions(), mv);
        let moves = position.moves(board).into_iter();
        SearchProgress {
            ticker: Ticker::new(quiet),
            capacity,
            moves: moves.map(|mv| (code(mv), text(mv))).collect(),
        }
    }

    /// Fits a terminal of 80 columns.
    fn line(&self, progress: &Progress, seconds: f64) -> String {
        let counters = &progress.counters;
        let mut parts = vec![
            time(seconds),
            format!("{} nodes", short(counters.nodes as f64)),
            format!("{}/s", short(speed(counters.nodes, seconds))),
        ];
        if progress.depth > 0 {
            parts.push(format!("depth {}", progress.depth));
        } else {
            let (pn, dn) = (number(progress.phi), number(progress.delta));
            parts.push(format!("pn {pn} dn {dn}"));
        }
        let fill = 100.0 * counters.table_used as f64 / self.capacity.max(1) as f64;
        parts.push(format!("table {fill:.1} %"));
        if let Some(best) = progress.best
            && let Some((_, text)) = self.moves.iter().find(|(code, _)| *code == best)
        {
            parts.push(format!("best {text}"));
        }
        parts.join(", ")
    }
}

impl Observer for SearchProgress {
    fn progress(&mut self, progress: &Progress) {
        if let Some(seconds) = self.ticker.due() {
            let line = self.line(progress, seconds);
            self.ticker.show(line);
        }
    }
}

impl ProofObserver for SearchProgress {
    fn collecting(&mut self, progress: &CertificateProgress) {
        if let Some(seconds) = self.ticker.due() {
            let line = format!(
                "{}, {} proof: {} positions, {} moves answered, {} stones",
                time(seconds),
                if progress.thinning { "thinning" } else { "collecting" },
                short(progress.positions as f64),
                short(progress.answered as f64),
                progress.layer,
            );
            self.ticker.show(line);
        }
    }
}

impl SearchProgress {
    /// Shows a line that stays.
    pub fn note(&mut self, line: &str) {
        self.ticker.note(line);
    }
}

/// A proof or disproof number.
pub fn number(number: u32) -> String {
    if number >= INFINITY { "infinite".to_string() } else { short(f64::from(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::konane::Dimensions;
    use crate::search::control::Counters;

    #[test]
    fn a_line_names_the_numbers_and_the_best_move() {
        let board = Board::new(Dimensions::new(6, 6).unwrap());
        let start = Position::start(&board);
        let shown = SearchProgress::new(&board, &start, 1000, true);
        let mv = start.moves(&board)[1];
        let mut progress = Progress {
            phi: 12,
            delta: INFINITY,
            best: Some(board.symmetries().code(&start.play(&board, mv))),
            depth: 0,
            counters: Counters { nodes: 3_000_000, table_used: 125, ..Counters::default() },
        };
        let line = shown.line(&progress, 2.0);
        assert!(line.starts_with("2.000 s, 3.00 M nodes, 1.50 M/s, pn 12 dn infinite"));
        assert!(line.contains("table 12.5 %, best "), "{line}");
        progress.depth = 7;
        progress.best = None;
        let line = shown.line(&progress, 2.0);
        assert!(line.ends_with("depth 7, table 12.5 %"), "{line}");
    }
}
