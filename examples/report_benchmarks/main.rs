//! Writes the reports from the raw results that `scripts/benchmarks.sh` and `scripts/winners.sh`
//! collect.
//!
//! ```text
//! cargo run --release --example report_benchmarks -- algorithms docs/benchmarks/results.jsonl docs
//! cargo run --release --example report_benchmarks -- scaling docs/benchmarks/scaling.jsonl docs
//! cargo run --release --example report_benchmarks -- winners docs/benchmarks/winners.jsonl docs
//! ```
//!
//! | report | writes |
//! |---|---|
//! | `algorithms` | `benchmarks.md`, `benchmarks/algorithms.svg`, `benchmarks/table-4.2.csv` and `-4.4.csv` |
//! | `scaling` | `benchmarks/scaling.md`, `.csv` and `.svg` |
//! | `winners` | `winners.md`, `benchmarks/winners.csv` and `.svg` |

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

mod chart;
mod draw;
mod published;
mod records;
mod report;
mod scaling;
mod scaling_chart;
mod tables;
mod text;
mod winners;
mod winners_chart;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [kind, results, folder] = args.as_slice() else {
        eprintln!("usage: report_benchmarks algorithms|scaling|winners RESULTS.jsonl FOLDER");
        return ExitCode::from(2);
    };
    match write(kind, Path::new(results), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(kind: &str, results: &Path, folder: &Path) -> Result<(), Failure> {
    let name = results.display();
    let text = fs::read_to_string(results).map_err(|error| format!("{name}: {error}"))?;
    let records = records::parse(&text).map_err(|error| format!("{name}: {error}"))?;
    fs::create_dir_all(folder.join("benchmarks"))?;
    for (path, content) in files(kind, records)? {
        let path = folder.join(path);
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The files of a report, by their places in the folder.
fn files(
    kind: &str,
    records: Vec<records::Record>,
) -> Result<Vec<(&'static str, String)>, Failure> {
    match kind {
        "algorithms" => {
            let results = records::Results::new(records);
            Ok(vec![
                ("benchmarks.md", report::markdown(&results)),
                ("benchmarks/algorithms.svg", chart::svg(&results)?),
                ("benchmarks/table-4.2.csv", tables::table_4_2(&results)),
                ("benchmarks/table-4.4.csv", tables::table_4_4(&results)),
            ])
        }
        "scaling" => {
            let results = records::Results::new(records);
            Ok(vec![
                ("benchmarks/scaling.md", scaling::markdown(&results)),
                ("benchmarks/scaling.csv", scaling::csv_table(&results)),
                ("benchmarks/scaling.svg", scaling_chart::svg(&results)?),
            ])
        }
        "winners" => {
            let rows = winners::rows(&records)?;
            Ok(vec![
                ("winners.md", winners::markdown(&rows)),
                ("benchmarks/winners.csv", winners::csv_table(&rows)),
                ("benchmarks/winners.svg", winners_chart::svg(&rows)?),
            ])
        }
        other => Err(format!("no report {other:?}: algorithms, scaling or winners").into()),
    }
}
