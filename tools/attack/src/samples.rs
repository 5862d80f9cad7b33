//! One good file of every kind, and who reads it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::formats::Format;
use crate::run::Attack;

/// A kind of file.
pub struct Sample {
    pub what: &'static str,
    pub format: Format,
    /// The file in the folder of a try.
    pub path: &'static str,
    pub readers: Vec<Reader>,
}

/// A command line that reads a file.
#[derive(Clone, Copy)]
pub struct Reader {
    pub args: &'static str,
    pub input: &'static str,
    /// A member of the JSON and what it says if the answer is right.
    pub right: (&'static str, &'static str),
    /// Whether it reads every byte, so that it finds every accident.
    pub reads_all: bool,
}

/// All of them.
pub struct Samples {
    folder: PathBuf,
    pub all: Vec<Sample>,
}

const fn reader(args: &'static str, right: (&'static str, &'static str), all: bool) -> Reader {
    Reader { args, input: "", right, reads_all: all }
}

const ANY: (&str, &str) = ("", "");

impl Samples {
    /// Makes the files.
    pub fn make(attack: &Attack) -> io::Result<Self> {
        let folder = attack.folder().keep();
        for (args, code) in [
            ("solve 5x6 --proof 5x6.proof --threads 1 --quiet", 0),
            ("solve 5x6 --max-nodes 10000 --threads 1 --checkpoint table.ckpt --quiet", 3),
            ("solve 5x6 --max-nodes 10000 --algo pns --checkpoint tree.ckpt --quiet", 3),
            ("builddb 4x4 --out db --threads 1 --quiet", 0),
            ("builddb 4x4 --out reached --scope reachable --threads 1 --quiet", 0),
            ("sprouts solve 0*6 --threads 1 --db some.nimbers --quiet", 0),
            ("sprouts db export some.nimbers some.spr", 0),
        ] {
            let end = attack.run(args, &folder);
            if end.code != Some(code) {
                return Err(io::Error::other(format!("konane {args}: {end:?}")));
            }
        }
        let proof = vec![
            reader("verify-proof 5x6.proof --json --quiet", ("winner", "white"), true),
            Reader { input: "a5\nb5\nquit\n", ..reader("play 5x6 --proof 5x6.proof", ANY, false) },
        ];
        const SOLVE_TABLE: &str =
            "solve 5x6 --memory 64MiB --checkpoint table.ckpt --resume --json --quiet --threads 1";
        const SOLVE_TREE: &str =
            "solve 5x6 --memory 64MiB --checkpoint tree.ckpt --resume --json --quiet --algo pns";
        let white = ("winner", "white");
        let database = || {
            vec![
                reader("verifydb db/4x4-complete --json --quiet --threads 1", ANY, true),
                reader("verifydb db/4x4-complete --deep --json --quiet --threads 1", ANY, true),
                reader("probe 4x4 --moves a4~a3 --db db --json", ANY, false),
                reader("solve 4x4 --db db --json --quiet --threads 1 --memory 64MiB", white, false),
                Reader { input: "a4\nquit\n", ..reader("play 4x4 --db db", ANY, false) },
            ]
        };
        let reached = || {
            vec![
                reader("verifydb reached/4x4-reachable --json --quiet --threads 1", ANY, true),
                reader("probe 4x4 --moves a4~a3 --db reached --json", ANY, false),
            ]
        };
        let numbers = vec![
            reader("sprouts db stats some.nimbers --json", ANY, true),
            reader(
                "sprouts solve 0*6 --db some.nimbers --json --quiet --threads 1 --memory 64MiB",
                ("outcome", "loss"),
                true,
            ),
            reader("sprouts db export some.nimbers out.spr", ANY, true),
            reader("sprouts db merge out.nimbers some.nimbers", ANY, true),
        ];
        let spr = vec![
            reader("sprouts verify some.spr --json --memory 64MiB --max-work 100000", ANY, false),
            reader("sprouts db import out.nimbers some.spr --json", ANY, false),
        ];
        let sample = |what, format, path, readers| Sample { what, format, path, readers };
        let all = vec![
            sample("proof", Format::Proof, "5x6.proof", proof),
            sample(
                "checkpoint, table",
                Format::Checkpoint,
                "table.ckpt",
                vec![reader(SOLVE_TABLE, white, true)],
            ),
            sample(
                "checkpoint, tree",
                Format::Checkpoint,
                "tree.ckpt",
                vec![reader(SOLVE_TREE, white, true)],
            ),
            sample("layer", Format::Layer, "db/4x4-complete/stones-08.kdb", database()),
            sample(
                "layer, reachable",
                Format::Layer,
                "reached/4x4-reachable/stones-08.kdb",
                reached(),
            ),
            sample("manifest", Format::Manifest, "db/4x4-complete/database.json", database()),
            sample("Grundy numbers", Format::GrundyNumbers, "some.nimbers", numbers),
            sample(".spr", Format::Text, "some.spr", spr),
        ];
        Ok(Samples { folder, all })
    }

    /// Copies all files to a folder.
    pub fn copy(&self, to: &Path) {
        for name in crate::run::names(&self.folder) {
            let from = self.folder.join(&name);
            let done = if from.is_dir() {
                fs::create_dir_all(to.join(&name))
            } else {
                fs::copy(&from, to.join(&name)).map(drop)
            };
            done.expect("a copy of a sample");
        }
    }
}
