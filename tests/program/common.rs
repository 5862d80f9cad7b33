//! Helpers that run the program in a temporary directory and read its output.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Path of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// Path of the program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_konane");

/// Returns a command with empty standard input and without the environment variables that affect
/// the program.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    for variable in ["RUST_LOG", "COLUMNS", "KONANE_DB", "KONANE_MEMORY", "KONANE_THREADS"] {
        command.env_remove(variable);
    }
    command.args(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program and returns its output.
pub fn konane(args: &[&str]) -> Output {
    command(args).output().expect("the program runs")
}

/// Runs the program and returns the JSON object that it prints. Checks the exit code, the schema,
/// and that stderr is empty.
pub fn json(args: &[&str], expected: i32) -> Value {
    valid(args, answer(&konane(args), expected))
}

/// Validates an object against the published schema of its subcommand. Every key must be in the
/// schema. Returns the object without the version of the program.
pub fn valid(args: &[&str], mut object: Value) -> Value {
    let program = object.as_object_mut().expect("an object").remove("program");
    let version = program.as_ref().map(|program| &program["version"]);
    // The engine prints its version on request.
    let expected = (args[0] != "engine").then(|| Value::from(env!("CARGO_PKG_VERSION")));
    assert_eq!(version, expected.as_ref(), "{args:?}");
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let text = include_str!("../../docs/json.schema.json");
        // Strict validators reject formats that JSON Schema does not define, such as uint32.
        assert!(!text.contains("\"format\":"));
        serde_json::from_str(text).expect("JSON")
    });
    let properties = |value: &'static Value| value["properties"].as_object().expect("an object");
    // `--trace` writes its objects to a file.
    let is_of =
        |name: &&String| name.split(' ').all(|word| word != "--trace" && args.contains(&word));
    let commands = properties(&SCHEMA);
    let command = commands.keys().filter(is_of).max_by_key(|name| name.len());
    let reference = &commands[command.unwrap_or_else(|| panic!("{args:?}: no schema"))]["$ref"];
    let wanted = json!({ "$defs": SCHEMA["$defs"], "$ref": reference });
    let validator = jsonschema::validator_for(&wanted).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(&object).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{args:?}: {errors:?}: {object}");
    let name = reference.as_str().and_then(|text| text.rsplit('/').next()).expect("a name");
    let known = properties(&SCHEMA["$defs"][name]);
    for key in object.as_object().expect("an object").keys() {
        assert!(known.contains_key(key), "{args:?}: {key} is not in the schema");
    }
    object
}

/// A temporary directory in which the program runs. Databases are written to `db` below it.
pub struct TestDir(TempDir);

impl TestDir {
    pub fn new() -> Self {
        TestDir(tempfile::tempdir().expect("a directory"))
    }

    /// Creates a directory with one file of every kind, written by the program: `db/3x3-complete`,
    /// `4x4.proof`, `5x6.ckpt`, `some.nimbers`, `some.results` and `some.spr`.
    pub fn with_files() -> Self {
        let dir = TestDir::new();
        for line in [
            "builddb 3x3 --out db --quiet",
            "solve 4x4 --threads 1 --proof 4x4.proof --quiet",
            "solve 5x6 --max-nodes 2000 --threads 1 --checkpoint 5x6.ckpt --quiet",
            "sprouts solve 0*5 --threads 1 --db some.nimbers --quiet",
            "sprouts db export some.nimbers some.spr",
            "solve 4x5 --threads 1 --results some.results --quiet",
        ] {
            let output = dir.run(&words(line));
            assert!([0, 3].contains(&code(&output)), "{line}: {}", stderr(&output));
        }
        dir
    }

    /// Copies the directory and its files.
    #[cfg(unix)]
    pub fn copy(&self) -> Self {
        let dir = TestDir::new();
        let copied = Command::new("cp").arg("-a").args([self.path("."), dir.path(".")]).status();
        assert!(copied.expect("cp runs").success());
        dir
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns absolute paths of the names, for use as arguments.
    pub fn paths<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        names.map(|name| self.path(name).to_str().expect("text").to_owned())
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        command.current_dir(self.0.path());
        command
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("the program runs")
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program runs")
    }

    /// Returns a shell command for `script`, with the directory of the program in `PATH`.
    #[cfg(unix)]
    pub fn shell(&self, script: &str) -> Command {
        let directory = Path::new(PROGRAM).parent().expect("a path").to_str().expect("text");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("sh");
        shell.env_remove("RUST_LOG").env_remove("COLUMNS").current_dir(self.0.path());
        // Each malloc arena reserves address space, which some tests limit.
        shell.env("MALLOC_ARENA_MAX", "4").env("PATH", format!("{directory}:{path}"));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell.args(["-c", script]);
        shell
    }

    pub fn with_input(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().expect("the program runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_owned();
        let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("no panic");
        output
    }

    /// Runs the program and returns its validated JSON object. Checks the exit code and that stderr
    /// is empty.
    pub fn json(&self, args: &[&str], expected: i32) -> Value {
        valid(args, answer(&self.run(args), expected))
    }

    /// Returns the sorted names of the files.
    pub fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns the JSON object of a run. Checks the exit code and that stderr is empty.
pub fn answer(output: &Output, expected: i32) -> Value {
    assert_eq!(code(output), expected, "{}", stderr(output));
    assert_eq!(stderr(output), "");
    one_object(&stdout(output))
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

pub fn one_object(text: &str) -> Value {
    assert_eq!(text.matches('\n').count(), 1, "one line: {text:?}");
    let value: Value = serde_json::from_str(text).expect("JSON");
    assert!(value.is_object());
    value
}

/// Splits a command line like a shell. Only double quotes are supported.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in line.split('"').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// Waits until a file exists.
pub fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "{} does not appear", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the program has used this much processor time. On a busy machine elapsed time does
/// not measure progress.
#[cfg(target_os = "linux")]
pub fn wait_for_work(child: &Child, time: Duration) {
    let started = Instant::now();
    let path = format!("/proc/{}/stat", child.id());
    loop {
        let stat = fs::read_to_string(&path).expect("/proc has the process until it is waited for");
        // The program name, in parentheses, may contain spaces.
        let (_, fields) = stat.rsplit_once(") ").expect("fields after the name");
        let fields: Vec<&str> = fields.split(' ').collect();
        assert_ne!(fields[0], "Z", "the program ended too early");
        // User and system time in hundredths of a second.
        let ticks: u64 = fields[11..=12].iter().map(|field| field.parse::<u64>().unwrap()).sum();
        if Duration::from_millis(10 * ticks) >= time {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "the program uses no processor time: {stat}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sleeps for twice `time`: without `/proc` the processor time of another process is unavailable.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn wait_for_work(_child: &Child, time: Duration) {
    std::thread::sleep(2 * time);
}

/// Sends a signal, such as `-INT`.
#[cfg(unix)]
pub fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

/// Returns the output of a program that is expected to end soon. Otherwise kills the program and
/// fails the test.
pub fn ends_soon(child: Child, line: &str) -> Output {
    let id = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(Duration::from_secs(60)) {
        Ok(output) => output.expect("the program has ended"),
        Err(_) => {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
            panic!("`{line}` does not end");
        }
    }
}
