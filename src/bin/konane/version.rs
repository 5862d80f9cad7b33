//! Version of the program, in `--version`, in JSON and on the page.

use std::sync::LazyLock;

use serde::Serialize;

use crate::commands::bench::SIGNATURE;

/// The program that printed a result.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramJson {
    /// Version.
    pub version: &'static str,
    /// Commit of the sources, without uncommitted changes; null if they are not a clone of the repository.
    pub commit: Option<&'static str>,
    /// Signature of `konane bench`. Programs of the same signature search the same nodes.
    pub signature: u64,
}

/// This program.
pub const PROGRAM: ProgramJson = ProgramJson {
    version: env!("CARGO_PKG_VERSION"),
    commit: option_env!("KONANE_COMMIT"),
    signature: SIGNATURE,
};

/// Returns the text of `--version`.
pub fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let ProgramJson { version, commit, signature } = PROGRAM;
        format!("{version}\ncommit: {}\nsignature: {signature}", commit.unwrap_or("unknown"))
    });
    &TEXT
}
