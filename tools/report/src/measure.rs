//! Runs the program and keeps what it printed, with where, when and beside how much else.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Failure;
use crate::records::{Record, parse};
use crate::suites::{Job, Suite, is_answered, words};

/// The program, the machine, and the file of the records.
pub struct Bench {
    program: PathBuf,
    results: PathBuf,
    signature: u64,
    cpu: String,
    cores: u32,
    version: String,
    /// GNU time, which measures memory and processor time, if it is there.
    timer: bool,
}

impl Bench {
    /// Reads the signature and version of the program, and the processor.
    pub fn new(program: PathBuf, results: PathBuf) -> Result<Self, Failure> {
        let bench = output(Command::new(&program).args(["bench", "--json"]))
            .ok_or_else(|| format!("{}: bench --json failed", program.display()))?;
        let bench: serde_json::Value = serde_json::from_str(&bench)?;
        let signature = bench["signature"].as_u64().ok_or("bench was interrupted")?;
        let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(": ")?.1.to_string())
        });
        let cpu = cpu.or_else(|| output(Command::new("uname").arg("-m")));
        let version = output(Command::new(&program).arg("--version")).unwrap_or_default();
        let timer = output(Command::new("time").arg("--version"));
        Ok(Bench {
            program,
            results,
            signature,
            cpu: cpu.unwrap_or("unknown".to_string()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            version: version.trim_start_matches("konane ").to_owned(),
            timer: timer.is_some_and(|text| text.contains("GNU")),
        })
    }

    /// All records so far.
    pub fn records(&self) -> Result<Vec<Record>, Failure> {
        if !self.results.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&self.results)?;
        parse(&text).map_err(|error| format!("{}: {error}", self.results.display()).into())
    }

    /// Whether a record is of these arguments, by this program on this machine.
    fn is_same(&self, job: &Job, record: &Record) -> bool {
        (&record.args, record.signature, &record.cpu) == (&job.args, self.signature, &self.cpu)
    }

    /// Runs what has no record yet. With `again` what has been recorded before does not count, and an
    /// earlier record of this program on this machine goes when there is another in its place.
    pub fn run_all(&self, suite: Suite, jobs: &[Job], again: bool) -> Result<(), Failure> {
        let mut records = if again { Vec::new() } else { self.records()? };
        for job in jobs {
            let settles = |record: &Record| {
                let same = self.is_same(job, record) && record.run == job.run;
                same && job.is_settled_by(record) || is_answered(suite, job, record)
            };
            if !records.iter().any(settles) {
                records.push(self.run(job)?);
                if again {
                    self.drop_replaced(job, jobs, records.len())?;
                }
            }
        }
        Ok(())
    }

    /// Drops the records that were there before the last ones, so many, and are of this run of a job, or
    /// of a repetition of it that is not among the jobs.
    fn drop_replaced(&self, job: &Job, jobs: &[Job], last: usize) -> Result<(), Failure> {
        let (text, records) = (fs::read_to_string(&self.results)?, self.records()?);
        let earlier = records.len() - last;
        let is_replaced = |record: &Record| {
            let is_run = |other: &Job| self.is_same(other, record) && other.run == record.run;
            self.is_same(job, record) && (is_run(job) || !jobs.iter().any(is_run))
        };
        let lines = text.lines().filter(|line| !line.trim().is_empty()).zip(&records).enumerate();
        let kept: String = lines
            .filter(|(index, (_, record))| *index >= earlier || !is_replaced(record))
            .map(|(_, (line, _))| format!("{line}\n"))
            .collect();
        if kept.len() < text.len() {
            // Whole or not at all, since it is hours of work.
            let new = self.results.with_extension("new");
            fs::write(&new, kept)?;
            fs::rename(new, &self.results)?;
        }
        Ok(())
    }

    /// Runs the program once and appends the record.
    fn run(&self, job: &Job) -> Result<Record, Failure> {
        let line = job.command();
        eprintln!("run {}: konane {line}", job.run);
        let usage = tempfile::NamedTempFile::new()?;
        let mut command = if self.timer {
            let mut timer = Command::new("time");
            timer.arg("--format=%M %U %S").arg("--output").arg(usage.path()).arg(&self.program);
            timer
        } else {
            Command::new(&self.program)
        };
        let load = fs::read_to_string("/proc/loadavg").ok();
        let load = load.and_then(|text| text.split(' ').next()?.parse().ok());
        let begin = Instant::now();
        let output_of = command.args(words(&line)).stdin(Stdio::null()).output()?;
        let wall_seconds = (begin.elapsed().as_secs_f64() * 1e6).round() / 1e6;
        // A limit that was reached (3) is a result; an interrupt or an error is none.
        let exit_code = output_of.status.code().unwrap_or(130);
        let printed = String::from_utf8(output_of.stdout)?;
        let result = match exit_code {
            0 | 3 => serde_json::from_str(&printed)?,
            code => {
                let messages = String::from_utf8_lossy(&output_of.stderr);
                return Err(format!("{messages}konane {line} ended with exit code {code}").into());
            }
        };
        // The last line: a message about the exit code may stand before it. GNU time counts KiB.
        let usage = fs::read_to_string(usage.path())?;
        let usage: Vec<f64> = usage
            .lines()
            .last()
            .map_or(Vec::new(), |line| line.split(' ').filter_map(|n| n.parse().ok()).collect());
        let measured = <[f64; 3]>::try_from(usage).ok();
        let record = Record {
            args: job.args.clone(),
            signature: self.signature,
            cpu: self.cpu.clone(),
            run: job.run,
            time_limit: job.time_limit.clone(),
            max_nodes: job.max_nodes,
            command: format!("konane {line}"),
            exit_code,
            wall_seconds,
            cpu_seconds: measured
                .map(|[_, user, system]| ((user + system) * 100.0).round() / 100.0),
            peak_rss_bytes: measured.map(|[kibibytes, ..]| kibibytes as u64 * 1024),
            load_before: load,
            date: output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))
                .ok_or("date failed")?,
            version: self.version.clone(),
            cores: self.cores,
            result,
        };
        // The answer as the program printed it, at the end.
        let head = serde_json::to_string(&record)?;
        let head = head.strip_suffix('}').expect("an object");
        let mut file = File::options().append(true).create(true).open(&self.results)?;
        file.write_all(format!("{head},\"result\":{}}}\n", printed.trim_end()).as_bytes())?;
        Ok(record)
    }
}

/// What a command prints, if it succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim_end().to_string())
}
