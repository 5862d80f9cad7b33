//! All tasks on this machine, one after the other, each with all threads.

use std::sync::atomic::AtomicBool;

use super::graph::Graph;
use super::task::{Task, Work};
use crate::konane::Colour;
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::builder::observer::{BuildObserver, Outside, Stage};
use crate::tablebase::files::Manifest;

/// How often files may turn out to be damaged before this is taken for the disk's fault.
const MOST_LOST: u32 = 8;

/// Runs what is left, and writes the manifest.
pub(super) fn run(
    graph: &Graph<'_>,
    observer: &dyn BuildObserver,
    stop: &AtomicBool,
) -> Result<Manifest, BuildError> {
    observer.stage(Stage::Resuming);
    let mut waves = graph.pending()?;
    let work = |task: &Task| work(graph, task);
    let outside = Outside::new(observer, stop, waves.iter().flatten().map(work).sum());
    let (mut lost, mut last) = (0, None);
    while let Some(wave) = waves.first() {
        for task in wave {
            outside.go_on()?;
            let stage = match task.work {
                Work::Rows { black, .. } => Stage::Rows { black },
                Work::Layer { stones } => Stage::Assembling { stones },
            };
            if last.replace(stage) != Some(stage) {
                observer.stage(stage);
            }
            match task.run_in(graph.index, graph.place, None, stop) {
                Ok(_) => outside.advance(work(task)),
                Err(BuildError::Lost { path, reason }) if lost < MOST_LOST => {
                    observer.discarded(&path, &reason);
                    lost += 1;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        graph.tidy()?;
        waves = graph.pending()?;
    }
    graph.finish()
}

/// Positions that a task looks at.
fn work(graph: &Graph<'_>, task: &Task) -> u64 {
    match task.work {
        Work::Rows { black, slice, .. } => {
            let rows = graph.slices.range(graph.sizes.rows(black), slice).len() as u64;
            rows << graph.sizes.squares(Colour::White)
        }
        Work::Layer { stones } => graph.sizes.layer_addresses(stones) as u64,
    }
}
