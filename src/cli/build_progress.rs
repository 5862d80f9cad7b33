//! Progress of building and checking on stderr: a bar on a terminal, else a line for each layer.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{bytes, time};
use crate::endgame::DatabaseError;
use crate::endgame::layer_writer::LayerSummary;
use crate::endgame::observer::{BuildObserver, Stage};

/// Between two changes of the bar while nothing is reported.
const LIVE: Duration = Duration::from_millis(200);

enum Sink {
    Silent,
    Live(ProgressBar),
    Lines,
}

/// Shows how a build or a check gets on.
pub struct BuildProgress {
    sink: Sink,
    begun: Instant,
}

impl BuildProgress {
    /// From now on; `quiet` shows nothing but what is wrong.
    pub fn new(quiet: bool) -> Self {
        let sink = if quiet {
            Sink::Silent
        } else if io::stderr().is_terminal() {
            Sink::Live(bar())
        } else {
            Sink::Lines
        };
        BuildProgress { sink, begun: Instant::now() }
    }

    /// A line that stays.
    pub fn line(&self, text: &str) {
        let line = format!("{:>10}  {text}\n", time(self.begun.elapsed().as_secs_f64()));
        match &self.sink {
            Sink::Silent => {}
            Sink::Live(bar) => bar.println(line.trim_end()),
            // A closed stderr is no reason to stop.
            Sink::Lines => drop(io::stderr().write_all(line.as_bytes())),
        }
    }
}

impl BuildObserver for BuildProgress {
    fn stage(&self, stage: Stage) {
        match (&self.sink, stage) {
            (Sink::Live(bar), _) => bar.set_message(stage.to_string()),
            // Layers are reported when they are finished.
            (
                _,
                Stage::Rows { .. }
                | Stage::Ply { .. }
                | Stage::Checking { .. }
                | Stage::Recomputing { .. },
            ) => {
                self.line(&stage.to_string());
            }
            _ => {}
        }
    }

    fn layer_finished(&self, stones: u32, layer: &LayerSummary) {
        let size = bytes(layer.bytes);
        self.line(&format!("{stones:>2} stones: {size}"));
    }

    fn discarded(&self, path: &Path, reason: &DatabaseError) {
        let text = format!("{} is made again: {reason}", path.display());
        match &self.sink {
            Sink::Live(bar) => bar.println(text),
            _ => super::output::complain(&text),
        }
    }

    fn progress(&self, done: u64, of: u64) {
        if let Sink::Live(bar) = &self.sink {
            bar.set_length(of);
            bar.set_position(done);
        }
    }
}

impl Drop for BuildProgress {
    fn drop(&mut self) {
        if let Sink::Live(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let template = "{spinner} {elapsed} [{bar:24}] {percent:>3} % {wide_msg}";
    let style = ProgressStyle::with_template(template);
    let bar = ProgressBar::new(0);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(LIVE);
    bar
}
