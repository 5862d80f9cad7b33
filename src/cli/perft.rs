//! `konane perft`.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::CliError;
use super::args::PerftArgs;
use super::exit::Exit;
use super::input;
use super::output::{self, DivideJson, PerftJson};
use crate::konane::notation::{format_move, format_position};
use crate::konane::{Board, Move, Perft, Position};
use crate::search::control::Reason;

/// Counts and prints; text appears ply by ply.
pub fn run(args: &PerftArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let (board, position) = input::start(&args.start)?;
    // 0 leaves the choice to rayon: one thread for each core.
    let threads = args.threads.unwrap_or(0) as usize;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(CliError::Threads)?;
    pool.install(|| {
        Run { args, board: &board, position: &position, stop, begun: Instant::now() }.run()
    })
}

struct Run<'a> {
    args: &'a PerftArgs,
    board: &'a Board,
    position: &'a Position,
    stop: &'a AtomicBool,
    begun: Instant,
}

impl Run<'_> {
    fn run(&self) -> Result<Exit, CliError> {
        let depth = self.args.depth;
        let perft = Perft::new(self.board);
        let head = if self.args.unique { "new positions" } else { "nodes" };
        self.say(format_args!("{:>5}  {head:>26}  time\n", "ply"))?;
        let mut counts = Vec::new();
        let mut divided = Vec::new();
        if self.args.unique {
            let symmetry = !self.args.no_symmetry;
            let plies = perft.unique_plies(self.position, symmetry, self.stop);
            for count in plies.take(depth as usize) {
                counts.push(count);
                self.say_count(&counts)?;
            }
        } else {
            for ply in 1..=depth {
                let Some(moves) = perft.divide_until(self.position, ply, self.stop) else {
                    break;
                };
                counts.push(moves.iter().map(|(_, count)| count).sum());
                divided = moves;
                self.say_count(&counts)?;
            }
        }
        let complete = counts.len() == depth as usize;
        if self.args.json {
            output::write_json(&self.json(counts, &divided, complete))?;
        } else {
            if self.args.divide && complete {
                output::write_text(&self.divide_text(&divided))?;
            }
            if !complete {
                output::write_text("interrupted\n")?;
            }
        }
        Ok(if complete { Exit::Answered } else { Exit::Interrupted })
    }

    fn say(&self, text: std::fmt::Arguments<'_>) -> Result<(), CliError> {
        if self.args.json {
            return Ok(());
        }
        output::write_text(&text.to_string())
    }

    fn say_count(&self, counts: &[u64]) -> Result<(), CliError> {
        let count = output::grouped(*counts.last().unwrap_or(&0));
        let time = output::time(self.begun.elapsed().as_secs_f64());
        self.say(format_args!("{:>5}  {count:>26}  {time}\n", counts.len()))
    }

    fn divide_text(&self, divided: &[(Move, u64)]) -> String {
        let mut text = format!("\nby first move, at depth {}:\n", self.args.depth);
        for &(mv, count) in divided {
            let mv = format_move(self.board.dimensions(), mv);
            let _ = writeln!(text, "{mv:>9}  {:>22}", output::grouped(count));
        }
        text
    }

    fn json(&self, counts: Vec<u64>, divided: &[(Move, u64)], complete: bool) -> PerftJson {
        let (nodes, unique) =
            if self.args.unique { (None, Some(counts)) } else { (Some(counts), None) };
        let divide = (self.args.divide && complete).then(|| {
            let name = |mv| format_move(self.board.dimensions(), mv);
            let item = |&(mv, nodes): &(Move, u64)| DivideJson { mv: name(mv), nodes };
            divided.iter().map(item).collect()
        });
        PerftJson {
            board: self.board.dimensions().to_string(),
            position: format_position(self.board, self.position),
            depth: self.args.depth,
            nodes,
            symmetry: unique.is_some().then_some(!self.args.no_symmetry),
            unique,
            divide,
            reason: (!complete).then_some(Reason::Interrupted.text()),
            seconds: self.begun.elapsed().as_secs_f64(),
        }
    }
}
