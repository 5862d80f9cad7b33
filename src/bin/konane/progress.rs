//! Progress on stderr. On a terminal: a live line, with a bar if the amount of work is known. Elsewhere: plain
//! lines, the first after [`FIRST_LINE`], the others at increasing intervals. Searches and
//! steps of the work share these intervals.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{
    HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike,
};

use crate::output::{self, bytes, counted, time, warn};
use crate::terminal_text::escape_line;
use konane::tablebase::{BuildObserver, DatabaseError, Stage};

/// Update interval of the live line, in milliseconds.
const LIVE: u64 = 200;

/// Time before the first plain line, in milliseconds. Shorter runs print none.
const FIRST_LINE: u64 = 10_000;

/// Maximum time between two plain lines, in milliseconds.
const MAX_INTERVAL: u64 = 30_000;

/// Template of the live line without a bar.
const SPINNER: &str = "{spinner} {elapsed} {wide_msg}";

/// Template of the live line with a bar.
const BAR: &str = "{spinner} {elapsed} [{bar:24}] {percent:>3} %{rest} {wide_msg}";

/// Display of a run's progress on stderr. Can be shared by threads.
pub struct ProgressDisplay {
    /// The live line, hidden if the run is quiet; `None` for plain lines.
    bar: Option<ProgressBar>,
    begun: Instant,
    /// Time at which the next line is due, in milliseconds since `begun`.
    next: AtomicU64,
}

impl ProgressDisplay {
    /// Starts the clock. With `quiet`, only warnings are shown.
    pub fn new(quiet: bool) -> Self {
        let (bar, first) = if quiet {
            (Some(ProgressBar::hidden()), u64::MAX)
        } else if is_live() {
            (Some(spinner()), LIVE)
        } else {
            (None, FIRST_LINE)
        };
        ProgressDisplay { bar, begun: Instant::now(), next: AtomicU64::new(first) }
    }

    /// If a line is due, shows the result of `text` as the live line, or as a plain line with the time. The
    /// argument of `text` is the number of seconds since the start.
    pub fn update(&self, text: impl FnOnce(f64) -> String) {
        let Some(seconds) = self.due() else { return };
        match &self.bar {
            Some(bar) => set_message(bar, &text(seconds)),
            None => output::note(&format!("{}, {}", time(seconds), text(seconds))),
        }
    }

    /// Returns the seconds since the start if a line is due, to one caller only.
    fn due(&self) -> Option<f64> {
        let next = self.next.load(Ordering::Relaxed);
        if next == u64::MAX {
            return None;
        }
        let elapsed = self.begun.elapsed();
        let now = elapsed.as_millis() as u64;
        let later = match self.bar {
            Some(_) => now + LIVE,
            None => (2 * now).min(now + MAX_INTERVAL),
        };
        let mine = || self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed);
        (now >= next && mine().is_ok()).then_some(elapsed.as_secs_f64())
    }

    /// Changes the live line. Prints no plain line.
    pub fn live(&self, line: String) {
        if let Some(bar) = &self.bar {
            set_message(bar, &line);
        }
    }

    /// Prints a permanent line.
    pub fn note(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(escape_line(line)),
            None => output::note(line),
        }
    }

    /// Changes the live line at once, at the start or end of a part of the work, or prints a plain line if one is
    /// due.
    pub fn step(&self, text: &str) {
        match &self.bar {
            Some(bar) => set_message(bar, text),
            None => self.update(|_| text.to_owned()),
        }
    }

    /// Adds a bar and an estimate of the remaining time to the live line.
    pub fn part(&self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            if bar.length().is_none() {
                bar.set_style(style(BAR));
            }
            bar.set_length(of);
            bar.set_position(done);
        }
    }

    /// Removes the bar, for work of unknown amount.
    pub fn endless(&self) {
        if let Some(bar) = &self.bar
            && bar.length().is_some()
        {
            bar.unset_length();
            bar.set_style(style(SPINNER));
        }
    }

    /// Hides the live line while `write` writes to stdout, which may be the same terminal.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl BuildObserver for ProgressDisplay {
    fn stage(&self, stage: Stage) {
        match stage {
            // Plain lines report finished layers.
            Stage::Resuming
            | Stage::Layer { .. }
            | Stage::Assembling { .. }
            | Stage::Counting { .. } => self.live(stage.to_string()),
            Stage::Rows { .. }
            | Stage::Ply { .. }
            | Stage::Checking { .. }
            | Stage::Recomputing { .. } => self.step(&stage.to_string()),
        }
    }

    fn layer_finished(&self, stones: u32, size: u64) {
        let text = format!("{}: {}", counted(stones.into(), "stone"), bytes(size));
        match &self.bar {
            // A permanent line above the live line.
            Some(_) => {
                let (pad, now) = (if stones < 10 { " " } else { "" }, self.begun.elapsed());
                self.note(&format!("{:>10}  {pad}{text}", time(now.as_secs_f64())));
            }
            None => self.update(|_| text),
        }
    }

    fn discarded(&self, path: &Path, reason: &DatabaseError) {
        let text = format!("{} is rebuilt: {reason}", path.display());
        self.aside(|| warn(&text));
    }

    fn removed(&self, files: usize) {
        let text = format!("removed {files} files of an earlier build with other options");
        self.aside(|| warn(&text));
    }

    fn progress(&self, done: u64, of: u64) {
        self.part(done, of);
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Stderr as a terminal. Moves the cursor to the start of the line after every update. By default indicatif
/// leaves it at the end; the `^C` that a terminal echoes can then wrap, and the old line is not cleared.
#[derive(Debug)]
struct Terminal(Term);

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        self.0.size().1
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.write_str("\r")?;
        self.0.flush()
    }
}

/// Clears the live line before the program exits without unwinding.
pub fn clear() {
    if is_live() {
        // Ignored: stderr may be closed.
        let _ = Term::stderr().clear_line();
    }
}

/// Returns true if stderr can show a live line.
fn is_live() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Changes the text of the live line.
fn set_message(bar: &ProgressBar, text: &str) {
    bar.set_message(escape_line(text).into_owned());
}

fn spinner() -> ProgressBar {
    let terminal = Box::new(Terminal(Term::buffered_stderr()));
    let target = ProgressDrawTarget::term_like_with_hz(terminal, 20);
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style(SPINNER));
    bar.enable_steady_tick(Duration::from_millis(LIVE));
    bar
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("rest", write_rest)
}

/// Writes the estimated time to the end of the work, once it is known.
fn write_rest(state: &ProgressState, out: &mut dyn Write) {
    let rest = state.eta();
    if !rest.is_zero() {
        // The template has no place for an error.
        let _ = write!(out, ", {:#} left", HumanDuration(rest));
    }
}
