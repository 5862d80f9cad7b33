//! Progress on stderr: a live line on a terminal, with a bar if the amount of work is known; elsewhere plain
//! lines at growing intervals.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::output::{self, bytes, counted, time, warn};
use crate::terminal_text::escape_line;
use konane::tablebase::{BuildObserver, DatabaseError, Stage};

/// Time between two changes of the live line, in milliseconds.
const LIVE: u64 = 200;

/// Time before the first plain line, in milliseconds. Short runs show none.
const FIRST_LINE: u64 = 10_000;

/// Maximum time between two plain lines, in milliseconds.
const MAX_INTERVAL: u64 = 30_000;

/// The live line without a bar.
const SPINNER: &str = "{spinner} {elapsed} {wide_msg}";

/// Progress of a run on stderr. All threads may use it.
pub struct Progress {
    /// The live line, hidden if the run is quiet; `None` for plain lines.
    bar: Option<ProgressBar>,
    begun: Instant,
    /// Time at which the next line is due, in milliseconds since the beginning.
    next: AtomicU64,
}

impl Progress {
    /// Starts the clock. `quiet` shows warnings only.
    pub fn new(quiet: bool) -> Self {
        let (bar, first) = if quiet {
            (Some(ProgressBar::hidden()), u64::MAX)
        } else if is_live() {
            (Some(spinner()), LIVE)
        } else {
            (None, FIRST_LINE)
        };
        Progress { bar, begun: Instant::now(), next: AtomicU64::new(first) }
    }

    /// Shows the line that `text` returns, if one is due: the live line, or a plain one with the time.
    /// `text` is given the seconds since the beginning.
    pub fn update(&self, text: impl FnOnce(f64) -> String) {
        let Some(seconds) = self.due() else { return };
        match &self.bar {
            Some(bar) => set_message(bar, &text(seconds)),
            None => output::note(&format!("{}, {}", time(seconds), text(seconds))),
        }
    }

    /// The seconds since the beginning, if a line is due. Returns them to one caller only.
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

    /// Changes the live line only.
    pub fn live(&self, line: String) {
        if let Some(bar) = &self.bar {
            set_message(bar, &line);
        }
    }

    /// Shows a line that stays.
    pub fn note(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(escape_line(line)),
            None => output::note(line),
        }
    }

    /// Shows a line that stays, with the time.
    fn line(&self, text: &str) {
        self.note(&format!("{:>10}  {text}", time(self.begun.elapsed().as_secs_f64())));
    }

    /// Changes the live line, or shows a plain one, at the beginning or end of a part of the work.
    pub fn step(&self, text: &str) {
        match &self.bar {
            Some(bar) => set_message(bar, text),
            None => self.line(text),
        }
    }

    /// Adds a bar to the live line.
    pub fn part(&self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            if bar.length().is_none() {
                bar.set_style(style("{spinner} {elapsed} [{bar:24}] {percent:>3} % {wide_msg}"));
            }
            bar.set_length(of);
            bar.set_position(done);
        }
    }

    /// Removes the bar, when the amount of work is not known.
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

impl BuildObserver for Progress {
    fn stage(&self, stage: Stage) {
        match stage {
            // Lines report layers when they are finished.
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
        let pad = if stones < 10 { " " } else { "" };
        self.line(&format!("{pad}{}: {}", counted(stones.into(), "stone"), bytes(size)));
    }

    fn discarded(&self, path: &Path, reason: &DatabaseError) {
        let text = format!("{} is made again: {reason}", path.display());
        self.aside(|| warn(&text));
    }

    fn removed(&self, files: usize) {
        let text = format!("{files} files of a build that was begun in another way are removed");
        self.aside(|| warn(&text));
    }

    fn progress(&self, done: u64, of: u64) {
        self.part(done, of);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Stderr as a terminal, with the cursor left at the beginning of the line. Elsewhere indicatif leaves
/// it at the end, where the `^C` that a terminal echoes begins a new line, and the old one stays.
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
        // Nothing is left to be done if stderr is gone.
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
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
