//! `konane sprouts children`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::search::{MISERE, NumbersArg, analyst, outcome_row};
use super::text::{self, TextArg};
use crate::args::{OutputArgs, SearchArgs};
use crate::exit::{CliError, Exit};
use crate::output::{self, outcome_name};
use crate::progress::ProgressDisplay;
use konane::search::run::Reason;
use konane::sprouts::analysis::Analysis;
use konane::sprouts::{Position, Scratch, Sprouts};

/// `konane sprouts children`.
#[derive(Debug, Args)]
#[command(after_help = format!("{}\n\n{}", text::HELP, concat!(
    "Examples:\n",
    "  konane sprouts children \"0*2\"\n",
    "  konane sprouts children \"0*7\" --values\n",
    "  konane sprouts children \"0*7\" --values --misere\n",
    "  konane sprouts children \"0*12\" --values --time-limit 10s --db sprouts.nimbers\n"
)))]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "threads" | "memory" | "time_limit" | "max_nodes" | "db" => arg.requires("values"),
    _ => arg,
}))]
pub struct ChildrenArgs {
    #[command(flatten)]
    pub text: TextArg,
    /// Search for the Grundy number of each child, and print its outcome for the player who makes the
    /// move. The options below require this one.
    #[arg(long)]
    pub values: bool,
    /// Print the outcomes of the misère game, in which the player who makes the last move loses. It has no
    /// Grundy numbers.
    #[arg(long, requires = "values")]
    pub misere: bool,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub numbers: NumbersArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The JSON of `sprouts children`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChildrenJson {
    /// The position as it was given.
    pub position: String,
    /// The distinct positions after its moves in canonical form; null if a limit or a signal ended the
    /// run before all were listed.
    pub children: Option<Vec<String>>,
    /// The limit, or `interrupted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// The JSON of `sprouts children --values`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValuesJson {
    /// The position as it was given.
    pub position: String,
    /// The values.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Lists the children and prints them.
pub fn run(args: &ChildrenArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let position = args.text.position.clone();
    let ended = |reason| ChildrenJson { position, children: None, reason: Some(reason) };
    if args.values {
        return output::ended(args.output.json, values(args, stop), ended);
    }
    let text = |json: &ChildrenJson| {
        json.children.iter().flatten().map(|child| format!("{child}\n")).collect()
    };
    output::report(args.output.json, list(args, stop), text, ended)
}

fn list(args: &ChildrenArgs, stop: &AtomicBool) -> Result<ChildrenJson, CliError> {
    let children = match children(&args.text.read()?, text::MEMORY, stop) {
        Err(_) if stop.load(Ordering::Relaxed) => return Err(CliError::Interrupted),
        children => Some(children?),
    };
    Ok(ChildrenJson { position: args.text.position.clone(), children, reason: None })
}

/// Returns the sorted canonical texts of the children.
fn children(position: &Position, memory: u64, stop: &AtomicBool) -> Result<Vec<String>, CliError> {
    let game = Sprouts::new(memory);
    let mut scratch = Scratch::default();
    let sum = game.atoms(position, &mut scratch).map_err(text::too_large)?;
    let children = game.children(&sum, &mut scratch, &|| stop.load(Ordering::Relaxed));
    let children = children.map_err(text::too_large)?;
    let mut texts: Vec<String> = children.iter().map(|child| game.text(child)).collect();
    texts.sort_unstable();
    Ok(texts)
}

fn values(args: &ChildrenArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    let begun = Instant::now();
    let position = args.text.read()?;
    let threads = args.search.threads.of("dfpn", ["dfpn"])?;
    let mut analyst =
        analyst(args.search.limits.memory, &args.numbers, args.misere)?.threads(threads);
    let progress = ProgressDisplay::new(args.output.quiet);
    let on_change = &mut |analysis: &Analysis| {
        progress.update(|_| {
            let known = analysis.children.iter().filter(|child| child.source.is_some()).count();
            format!("the values of {known} of {} children", analysis.children.len())
        });
    };
    let analysis =
        analyst.analyse(&position, args.search.limits.started_at(begun, stop), on_change)?;
    drop(progress);
    let closed = analyst.close();
    let reason = analysis.reason;
    let seconds = begun.elapsed().as_secs_f64();
    let json = ValuesJson { position: args.text.position.clone(), analysis, seconds };
    output::answer(args.output.json, &json, |json| shown(json, args.misere))?;
    closed?;
    Ok(reason.into())
}

fn shown(json: &ValuesJson, misere: bool) -> String {
    let ValuesJson { position, analysis, seconds } = json;
    let reason = analysis.reason.map_or("no reason", Reason::text);
    let number = |number: Option<u32>| number.map_or("?".to_owned(), |number| number.to_string());
    let lands: Vec<String> = analysis
        .lands
        .iter()
        .map(|land| format!("{} has {}", land.position, number(land.grundy)))
        .collect();
    let mut rows = vec![outcome_row(analysis.outcome, analysis.reason)];
    if misere {
        rows.push(("game", MISERE.to_owned()));
    } else {
        rows.push(("Grundy", number(analysis.grundy)));
    }
    if lands.len() > 1 && !misere {
        rows.push(("lands", lands.join(", ")));
    }
    rows.push(("time", output::time(*seconds)));
    let mut text = output::rows(position, &rows);
    for child in &analysis.children {
        let outcome = outcome_name(child.outcome);
        let grundy = if misere { String::new() } else { format!("{:>3}  ", number(child.grundy)) };
        text += &format!("{outcome:<9}{grundy}{}\n", child.position);
    }
    let open = analysis.children.iter().filter(|child| child.source.is_none()).count();
    if open > 0 {
        let values = if misere { "outcomes" } else { "numbers" };
        text += &format!("{open} {values} are unknown ({reason})\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_that_fills_the_memory_has_an_error_without_tips() {
        let error = children(&"0*9".parse().unwrap(), 1, &AtomicBool::new(false)).unwrap_err();
        assert_eq!((error.exit(), error.tip()), (Exit::Limit, None));
        assert!(error.to_string().ends_with("use a smaller position"), "{error}");
    }
}
