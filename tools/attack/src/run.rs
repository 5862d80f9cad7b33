//! Running the program, what counts as a failure, and the table of counts.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    #[cfg(test)]
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for index in (1..list.len()).rev() {
            list.swap(index, self.below(index + 1));
        }
    }
}

/// A call of the program.
#[derive(Clone, Default)]
pub struct Call {
    /// Separated by blanks; `~` stands for a blank within an argument.
    pub args: String,
    /// More arguments, as they are.
    pub more: Vec<String>,
    pub input: Vec<u8>,
    /// Most address space in KiB.
    pub memory: Option<u64>,
    /// Longest file in units of 512 bytes.
    pub file: Option<u64>,
    /// Where standard output goes, if it is not kept.
    pub stdout: Option<PathBuf>,
    /// Without the rights of root.
    pub as_nobody: bool,
    /// With a disk of so many KiB on the folder `disk` below that of the try. What is on it afterwards is
    /// copied beside it.
    pub disk: Option<u64>,
}

/// A process that was started.
pub struct Running {
    child: Child,
    begin: Instant,
    kept: TempDir,
    /// Its name, once it is the program and no shell any more.
    name: String,
}

/// How a call ended.
#[derive(Debug)]
pub struct End {
    /// Nothing if a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Whether the signal that was sent to it met a handler.
    pub caught: bool,
    pub hung: bool,
    pub stdout: String,
    pub stderr: String,
}

impl End {
    /// A member of the JSON object that was printed.
    pub fn member(&self, name: &str) -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(self.stdout.lines().next()?).ok()?;
        match &value[name] {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Whether there could be no disk of its own.
    pub fn had_no_disk(&self) -> bool {
        self.stderr.contains("unshare") || self.stderr.contains("mount:")
    }

    /// What is wrong with any end, whatever was asked for.
    pub fn fault(&self) -> Option<String> {
        if self.hung {
            return Some("hang".to_string());
        }
        if self.stderr.contains("panicked at") {
            return Some("panic".to_string());
        }
        match (self.code, self.signal) {
            (_, Some(signal)) => Some(format!("signal {signal}")),
            (Some(0..=4 | 130), _) => None,
            (code, _) => Some(format!("exit code {}", code.unwrap_or(-1))),
        }
    }
}

#[derive(Default)]
struct Counts {
    tries: u32,
    answered: u32,
    refused: u32,
    faults: BTreeMap<String, u32>,
}

/// What is going on.
pub struct Attack {
    program: PathBuf,
    pub random: Random,
    place: TempDir,
    tries: u32,
    seconds: u32,
    kind: String,
    begun: Instant,
    done: u32,
    counts: BTreeMap<(usize, String, String), Counts>,
    kinds: usize,
    skipped: Vec<String>,
}

/// How long a call may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(60);

impl Attack {
    pub fn new(program: PathBuf, seed: u64, tries: u32, seconds: u32) -> io::Result<Self> {
        let place = tempfile::Builder::new().prefix("konane-attack-").tempdir()?;
        Ok(Attack {
            program,
            random: Random(seed),
            place,
            tries,
            seconds,
            kind: String::new(),
            begun: Instant::now(),
            done: 0,
            counts: BTreeMap::new(),
            kinds: 0,
            skipped: Vec::new(),
        })
    }

    /// Begins a kind of tries; each has random numbers of its own.
    pub fn begin(&mut self, kind: &str, seed: u64) {
        let salt =
            kind.bytes().fold(seed, |salt, byte| salt.wrapping_mul(31).wrapping_add(byte.into()));
        self.random = Random(salt);
        (self.kind, self.begun, self.done) = (kind.to_string(), Instant::now(), 0);
        self.kinds += 1;
    }

    /// Whether there is time for another try.
    pub fn goes_on(&mut self) -> bool {
        self.done += 1;
        self.done <= self.tries && self.begun.elapsed().as_secs() < u64::from(self.seconds)
    }

    /// Says what cannot be tried here.
    pub fn skip(&mut self, what: &str) {
        if !self.skipped.iter().any(|earlier| earlier == what) {
            self.skipped.push(what.to_string());
        }
    }

    /// An empty folder for one try.
    pub fn folder(&self) -> TempDir {
        let folder = tempfile::Builder::new().prefix("try-").tempdir_in(self.place.path());
        folder.expect("a folder below the temporary one")
    }

    /// Starts the program in a folder.
    pub fn start(&self, call: &Call, folder: &Path) -> io::Result<Running> {
        let kept = self.folder();
        let mut script = String::new();
        for (option, limit) in [("v", call.memory), ("f", call.file)] {
            script += &limit.map_or(String::new(), |limit| format!("ulimit -{option} {limit} && "));
        }
        let mut command = match call.disk {
            Some(kibibytes) => {
                let mount = format!("mount -t tmpfs -o size={kibibytes}k none disk");
                script += &format!("mkdir disk && {mount} || exit 125; ");
                // The disk is gone with the last process that sees it.
                script += "\"$0\" \"$@\"; code=$?; cp -a disk/. . || exit 125; exit $code";
                let mut command = Command::new("unshare");
                // A hang ends with all that was started.
                command.args(["-rm", "sh"]).process_group(0);
                command
            }
            None => {
                script += "exec \"$0\" \"$@\"";
                Command::new("sh")
            }
        };
        command.arg("-c").arg(script).arg(&self.program);
        command.args(call.args.split(' ').map(|arg| arg.replace('~', " "))).args(&call.more);
        fs::write(kept.path().join("in"), &call.input)?;
        command.current_dir(folder).stdin(File::open(kept.path().join("in"))?);
        command.stdout(match &call.stdout {
            Some(path) => File::options().write(true).open(path)?,
            None => File::create(kept.path().join("out"))?,
        });
        command.stderr(File::create(kept.path().join("err"))?);
        if call.as_nobody {
            command.uid(65534);
        }
        let name = self.program.file_name().unwrap_or_default().to_string_lossy();
        // As much of it as the system keeps.
        let name = name.chars().take(15).collect();
        Ok(Running { child: command.spawn()?, begin: Instant::now(), kept, name })
    }

    /// Starts the program and waits for it.
    pub fn call(&self, call: &Call, folder: &Path) -> End {
        match self.start(call, folder) {
            Ok(running) => running.wait(None),
            Err(error) => End {
                code: Some(2),
                signal: None,
                caught: false,
                hung: false,
                stdout: String::new(),
                stderr: error.to_string(),
            },
        }
    }

    /// Calls the program without limits.
    pub fn run(&self, args: &str, folder: &Path) -> End {
        self.call(&Call { args: args.to_string(), ..Call::default() }, folder)
    }

    /// Counts a try; says so at once if it failed.
    pub fn count(&mut self, what: &str, end: &End, fault: Option<String>, story: &str) {
        let key = (self.kinds, self.kind.clone(), what.to_string());
        let counts = self.counts.entry(key).or_default();
        counts.tries += 1;
        match (&fault, end.code) {
            (Some(_), _) => {}
            (None, Some(0)) => counts.answered += 1,
            (None, _) => counts.refused += 1,
        }
        if let Some(fault) = fault {
            let times = counts.faults.entry(fault.clone()).or_default();
            *times += 1;
            if *times <= 3 {
                let last = end.stderr.lines().next_back().unwrap_or_default();
                eprintln!("{} of {what}: {fault}: {story}: {last}", self.kind);
            }
        }
    }

    /// Prints the table; whether nothing failed.
    pub fn print(&self) -> bool {
        println!("| attack | on | tries | exit code 0 | refused or stopped | failures |");
        println!("|---|---|---:|---:|---:|---|");
        let mut sound = true;
        for ((_, kind, what), counts) in &self.counts {
            let Counts { tries, answered, refused, faults } = counts;
            let faults: Vec<String> =
                faults.iter().map(|(name, n)| format!("{n} {name}")).collect();
            let text = if faults.is_empty() { "0".to_string() } else { faults.join(", ") };
            println!("| {kind} | {what} | {tries} | {answered} | {refused} | {text} |");
            sound &= faults.is_empty();
        }
        for what in &self.skipped {
            println!("\nSkipped: {what}.");
        }
        sound
    }
}

impl Running {
    /// Waits, and sends a signal after a time; kills what takes too long.
    pub fn wait(mut self, signal: Option<(Duration, Signal)>) -> End {
        let pid = Pid::from_child(&self.child);
        let mut signal = signal;
        let mut deadline = PATIENCE;
        let (mut hung, mut caught) = (false, false);
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child of this process") {
                break status;
            }
            let elapsed = self.begin.elapsed();
            if let Some((_, signal)) = signal.take_if(|(after, _)| elapsed >= *after) {
                caught = catches(pid, &self.name, signal);
                // The child has not been waited for, so its id is still its own.
                let _ = kill_process(pid, signal);
                deadline = elapsed + PATIENCE;
            }
            if elapsed > deadline {
                hung = true;
                // There is such a group only if it is the child's own.
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let text = |name: &str| {
            let bytes = fs::read(self.kept.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (text("out"), text("err"));
        End { code: status.code(), signal: status.signal(), caught, hung, stdout, stderr }
    }
}

/// Whether a process has this name, so that it is no shell that is to become it, and has a handler for the
/// signal, as far as the system tells.
fn catches(pid: Pid, name: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()));
    let status = status.unwrap_or_default();
    let field = |name: &str| Some(status.lines().find_map(|l| l.strip_prefix(name))?.trim());
    let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    field("Name:") == Some(name) && caught.unwrap_or(0) >> (signal.as_raw() - 1) & 1 == 1
}

/// All names below a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut todo = vec![folder.to_path_buf()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder).expect("below the folder");
            names.push(name.to_string_lossy().into_owned());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                todo.push(path);
            }
        }
    }
    names.sort();
    names
}

/// A file that should not be there: a temporary one or a lock.
pub fn left_over(folder: &Path) -> Option<String> {
    let odd =
        |name: &String| [".tmp", ".part", ".lock", ".new"].iter().any(|end| name.contains(end));
    names(folder).into_iter().find(odd).map(|name| {
        let name = name.rsplit('/').next().unwrap_or_default();
        format!("left-over {}", name.split_once('.').map_or(name, |(_, end)| end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Attack, Call) {
        let attack = Attack::new("/bin/sh".into(), 1, 1, 1).unwrap();
        let (args, more) = ("-c".to_string(), vec![script.to_string()]);
        (attack, Call { args, more, ..Call::default() })
    }

    #[test]
    fn what_is_on_a_full_disk_is_seen_afterwards() {
        let (attack, call) = shell("yes >disk/o.proof; exit 3");
        let folder = attack.folder();
        let end = attack.call(&Call { disk: Some(8), ..call }, folder.path());
        if end.had_no_disk() {
            return;
        }
        assert_eq!((end.code, end.fault()), (Some(3), None), "{end:?}");
        assert_eq!(fs::metadata(folder.path().join("o.proof")).unwrap().len(), 8 << 10);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_catches_a_signal_is_known() {
        for (handler, code) in [("trap 'exit 130' HUP; ", Some(130)), ("", None)] {
            let (attack, call) = shell(&format!("{handler}while :; do sleep 0.01; done"));
            let folder = attack.folder();
            let running = attack.start(&call, folder.path()).unwrap();
            let end = running.wait(Some((Duration::from_millis(500), Signal::HUP)));
            assert_eq!((end.caught, end.code), (code.is_some(), code), "{end:?}");
            assert_eq!(end.signal, code.is_none().then_some(Signal::HUP.as_raw()));
        }
    }
}
