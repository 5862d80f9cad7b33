//! Progress on stderr: a live line on a terminal, else a plain line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{short, speed, time};
use crate::konane::notation::format_move;
use crate::konane::{Board, Position};
use crate::proof::ProofObserver;
use crate::search::certificate::CertificateProgress;
use crate::search::control::{Observer, Progress};
use crate::search::numbers::INFINITY;

/// Between two changes of the live line.
const LIVE: Duration = Duration::from_millis(200);

/// Before the first plain line: short runs stay silent.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// Between plain lines at most.
const SLOWEST: Duration = Duration::from_secs(30);

enum Sink {
    Silent,
    Live(ProgressBar),
    Lines { interval: Duration },
}

/// Shows how a search gets on.
pub struct SearchProgress {
    sink: Sink,
    begun: Instant,
    next: Instant,
    capacity: u64,
    /// Codes after the root's moves, and the moves' texts.
    moves: Vec<(u64, String)>,
}

impl SearchProgress {
    /// For a search of `position` with a table of `capacity` entries.
    pub fn new(board: &Board, position: &Position, capacity: u64, quiet: bool) -> Self {
        let code = |mv| board.symmetries().code(&position.play(board, mv));
        let text = |mv| format_move(board.dimensions(), mv);
        let begun = Instant::now();
        let (sink, first) = if quiet {
            (Sink::Silent, FIRST_LINE)
        } else if io::stderr().is_terminal() {
            (Sink::Live(spinner()), LIVE)
        } else {
            let interval = FIRST_LINE;
            (Sink::Lines { interval }, FIRST_LINE)
        };
        let moves = position.moves(board).into_iter();
        SearchProgress {
            sink,
            begun,
            next: begun + first,
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
        if let Some(now) = self.is_due() {
            let line = self.line(progress, (now - self.begun).as_secs_f64());
            self.show(line, now);
        }
    }
}

impl ProofObserver for SearchProgress {
    fn collecting(&mut self, progress: &CertificateProgress) {
        if let Some(now) = self.is_due() {
            let line = format!(
                "{}, {} proof: {} positions, {} moves answered, {} stones",
                time((now - self.begun).as_secs_f64()),
                if progress.thinning { "thinning" } else { "collecting" },
                short(progress.positions as f64),
                short(progress.answered as f64),
                progress.layer,
            );
            self.show(line, now);
        }
    }
}

impl SearchProgress {
    /// Shows a line that stays.
    pub fn note(&mut self, line: &str) {
        match &self.sink {
            Sink::Silent => {}
            Sink::Live(bar) => bar.println(line),
            Sink::Lines { .. } => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    /// The time, if a line is to be shown now.
    fn is_due(&self) -> Option<Instant> {
        if matches!(self.sink, Sink::Silent) {
            return None;
        }
        let now = Instant::now();
        (now >= self.next).then_some(now)
    }

    fn show(&mut self, line: String, now: Instant) {
        match &mut self.sink {
            Sink::Silent => {}
            Sink::Live(bar) => {
                bar.set_message(line);
                bar.tick();
                self.next = now + LIVE;
            }
            Sink::Lines { interval } => {
                // A closed stderr is no reason to stop.
                let _ = writeln!(io::stderr(), "{line}");
                self.next = now + *interval;
                *interval = (*interval * 2).min(SLOWEST);
            }
        }
    }
}

impl Drop for SearchProgress {
    fn drop(&mut self) {
        if let Sink::Live(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    let bar = ProgressBar::new_spinner();
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar
}

fn number(number: u32) -> String {
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
