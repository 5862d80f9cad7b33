//! Writes the benchmark report from the raw results that `scripts/benchmarks.sh` collects.
//!
//! ```text
//! cargo run --release --example report_benchmarks -- docs/benchmarks/results.jsonl docs
//! ```
//!
//! writes `docs/benchmarks.md` and `docs/benchmarks/algorithms.svg`.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

mod chart;
mod published;
mod records;
mod report;
mod text;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [results, folder] = args.as_slice() else {
        eprintln!("usage: report_benchmarks RESULTS.jsonl FOLDER");
        return ExitCode::from(2);
    };
    match write(Path::new(results), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(results: &Path, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let name = results.display();
    let text = fs::read_to_string(results).map_err(|error| format!("{name}: {error}"))?;
    let records = records::parse(&text).map_err(|error| format!("{name}: {error}"))?;
    let results = records::Results::new(records);
    let figures = folder.join("benchmarks");
    fs::create_dir_all(&figures)?;
    for (path, content) in [
        (folder.join("benchmarks.md"), report::markdown(&results)),
        (figures.join("algorithms.svg"), chart::svg(&results)?),
    ] {
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
