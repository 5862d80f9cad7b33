//! A line on stderr now and then: a live one on a terminal, else plain ones.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

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

/// Says when a line is due, and shows it.
pub struct Ticker {
    sink: Sink,
    begun: Instant,
    next: Instant,
}

impl Ticker {
    /// From now on; nothing is shown if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let begun = Instant::now();
        let (sink, first) = if quiet {
            (Sink::Silent, FIRST_LINE)
        } else if io::stderr().is_terminal() {
            (Sink::Live(spinner()), LIVE)
        } else {
            (Sink::Lines { interval: FIRST_LINE }, FIRST_LINE)
        };
        Ticker { sink, begun, next: begun + first }
    }

    /// The seconds since the beginning, if a line is to be shown now.
    pub fn due(&self) -> Option<f64> {
        if matches!(self.sink, Sink::Silent) {
            return None;
        }
        let now = Instant::now();
        (now >= self.next).then(|| (now - self.begun).as_secs_f64())
    }

    /// Shows a line that stays.
    pub fn note(&mut self, line: &str) {
        match &self.sink {
            Sink::Silent => {}
            Sink::Live(bar) => bar.println(line),
            // A closed stderr is no reason to stop.
            Sink::Lines { .. } => drop(writeln!(io::stderr(), "{line}")),
        }
    }

    /// Shows a line.
    pub fn show(&mut self, line: String) {
        match &mut self.sink {
            Sink::Silent => {}
            Sink::Live(bar) => {
                bar.set_message(line);
                bar.tick();
                self.next = Instant::now() + LIVE;
            }
            Sink::Lines { interval } => {
                // A closed stderr is no reason to stop.
                let _ = writeln!(io::stderr(), "{line}");
                self.next = Instant::now() + *interval;
                *interval = (*interval * 2).min(SLOWEST);
            }
        }
    }
}

impl Drop for Ticker {
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
