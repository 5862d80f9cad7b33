//! Sets `KONANE_COMMIT`, the commit of the sources, if they are a clone of the repository.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let git = |args: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&root).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim_end().to_owned())
    };
    // Sources that were copied into another repository have no commit.
    let is_clone = git(&["rev-parse", "--show-prefix"]).is_some_and(|prefix| prefix.is_empty());
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_clone) else {
        return;
    };
    println!("cargo::rustc-env=KONANE_COMMIT={commit}");
    // Changes with every commit and checkout. A missing file would repeat every build.
    let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}
