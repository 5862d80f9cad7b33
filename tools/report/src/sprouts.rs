//! The page of the starts of Sprouts beside the published outcomes.

use std::collections::BTreeMap;

use crate::published;
use crate::records::Record;
use crate::row;
use crate::text::{page, table};

/// The page, from the newest record of each start and number of threads that has an outcome, or else the
/// newest; and the starts with another outcome than the published one.
///
/// # Errors
/// If a record is not of a start `0*n`.
pub fn markdown(records: &[Record]) -> Result<(String, Vec<String>), String> {
    let mut starts: BTreeMap<(u32, u32), &Record> = BTreeMap::new();
    for record in records {
        let spots = record.result.position.strip_prefix("0*").and_then(|spots| spots.parse().ok());
        let spots: u32 = spots.ok_or_else(|| format!("{}: no start 0*n", record.command))?;
        let run = (spots, record.result.threads.unwrap_or(1));
        let solved = starts.get(&run).is_some_and(|earlier| earlier.result.found().is_some());
        if !solved || record.result.found().is_some() {
            starts.insert(run, record);
        }
    }
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (&(spots, threads), record) in &starts {
        let answer = &record.result;
        let published = published::sprouts_outcome(spots).unwrap_or_default();
        let outcome = answer.result().unwrap_or("unknown");
        if answer.found().is_some_and(|found| !published.is_empty() && found != published) {
            wrong.push(answer.position.clone());
        }
        let reason = answer.reason.as_ref().map(|reason| format!(" ({reason})"));
        let peak = record.peak_rss_bytes.map(|bytes| format!("{:.0}", bytes as f64 / 1048576.0));
        let memory = record.args.split_once("--memory ").map_or("", |(_, rest)| rest);
        let load = record.load_before.map(|load| format!("{load:.2}"));
        rows.push(row![
            spots,
            format!("{outcome}{}", reason.unwrap_or_default()),
            published,
            answer.expansions,
            answer.total_nodes(),
            answer.grundy_numbers,
            format!("{:.2}", answer.seconds),
            peak.unwrap_or_default(),
            memory,
            threads,
            load.unwrap_or_default(),
        ]);
    }
    let head = "spots|outcome|published|expansions|nodes|Grundy numbers|seconds|peak MiB|`--memory`\
                |threads|load";
    let verdict = match wrong.is_empty() {
        true => "All outcomes agree.".to_string(),
        false => format!("NOT AS PUBLISHED: {}", wrong.join(" ")),
    };
    let texts = [("starts", table(head, &rows)), ("verdict", verdict)];
    Ok((page(include_str!("../pages/sprouts.md"), &texts), wrong))
}
