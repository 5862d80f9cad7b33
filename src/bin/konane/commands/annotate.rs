//! `konane annotate`: judges every move of a game record.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use crate::args::OutputArgs;
use crate::args::analyst::AnalystArgs;
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::progress::ProgressDisplay;
use crate::repl::game::RecordArgs;
use konane::analysis::{AnnotationSummary, GameAnnotation, SideSummary};
use konane::record::Record;
use konane::search::run::{Limits, Reason};
use konane::system::parse_duration;
use konane::{Colour, Dimensions};

/// `konane annotate`.
#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Prints the record with marks after its moves, comments on those with ? and !, and a summary as remarks:\n",
    "  ?  gives a won game away\n",
    "  !  the only legal move, or the only one that wins\n",
    "  ~  not decided within --time, before the move or after it\n",
    "The exit code is 3 if a move stays undecided.\n\n",
    "Examples:\n",
    "  konane annotate game.txt > judged.txt\n",
    "  konane annotate game.txt --db db --json\n",
    "  konane annotate - < game.txt\n"
))]
pub struct AnnotateArgs {
    /// The game record, as saved by `play` and `analyse`; - for standard input.
    #[arg(value_name = "GAME")]
    pub game: PathBuf,
    /// Board of a record without the header Board: ranks x files, such as 6x6.
    #[arg(long, value_name = "RxF")]
    pub board: Option<Dimensions>,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub analyst: AnalystArgs,
    /// Search time for each position of the game, such as 500ms or 10s.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration,
          allow_hyphen_values = true)]
    pub time: Duration,
    /// Comment on every move, not only on mistakes and only moves.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Judges and prints.
pub fn run(args: &AnnotateArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let record = match args.game.as_os_str() == "-" {
        false => args.record.read(&args.game, args.board)?,
        true => match args.record.read_stdin(args.board, stop)? {
            Some(record) => record,
            None => {
                let ended = Err(CliError::Interrupted);
                return output::ended(args.output.json, ended, |reason| EndedJson { reason });
            }
        },
    };
    let mut analyst = args.analyst.open(&record.board())?;
    if !args.output.quiet {
        output::note_trusted_proofs(&args.analyst.proof);
    }
    let progress = ProgressDisplay::new(args.output.quiet);
    let all = record.moves.len() + 1;
    let mut judged = analyst.annotate(&record, |ply| {
        progress.update(|_| {
            let done = all - 1 - ply;
            progress.part(done as u64, all as u64);
            format!("{done} of {all} positions judged")
        });
        let deadline = Instant::now().checked_add(args.time);
        Limits { deadline, stop: Some(stop), ..Limits::default() }
    })?;
    drop(progress);
    if stop.load(Ordering::Relaxed) {
        judged.reason = Some(Reason::Interrupted);
    }
    if args.output.json {
        output::write_json(&judged)?;
    } else {
        output::write_text(text(record, &judged, args.all))?;
    }
    Ok(judged.reason.into())
}

/// Returns the record with marks, and the summary as remarks. Mistakes and only moves have a comment, or every move
/// if `all` is true.
fn text(mut record: Record, judged: &GameAnnotation, all: bool) -> String {
    judged.enter(&mut record, all);
    let mut text = record.to_string();
    text.push('\n');
    let AnnotationSummary { black, white } = &judged.summary;
    for (colour, side) in [(Colour::Black, black), (Colour::White, white)] {
        let SideSummary { moves, mistakes, only, unknown } = side;
        text += &format!(
            "# {colour}: moves {moves}, gave a won game away (?) {mistakes}, only moves (!) {only}, \
             not decided (~) {unknown}\n"
        );
    }
    text
}
