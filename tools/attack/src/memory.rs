//! Little address space: limits about the least with which a command works, where allocations fail in
//! every part of the work.

use std::collections::BTreeMap;

use crate::run::{Attack, Call, End, left_over};
use crate::samples::Samples;

/// Command lines under test. Each takes less than a second.
const COMMANDS: [&str; 28] = [
    "solve 5x6 --memory 16MiB --threads 2 --quiet",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --proof o.proof",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --proof o.proof --json",
    "solve 6x6 --memory 16MiB --threads 2 --quiet --proof o.proof",
    "solve 6x6 --memory 16MiB --threads 2 --quiet --proof o.proof --json",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --checkpoint o.ckpt",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --checkpoint o.ckpt --proof o.proof --json",
    "solve 5x6 --memory 64MiB --quiet --checkpoint table.ckpt --resume",
    "solve 5x6 --memory 16MiB --threads 2 --quiet --lines --json",
    "solve 5x6 --memory 16MiB --algo pns --quiet",
    "solve 5x6 --memory 16MiB --algo pn2 --threads 2 --quiet",
    "solve 5x6 --memory 16MiB --algo pns-pdfpn --threads 2 --quiet",
    "solve 4x4 --memory 16MiB --db db --quiet",
    "perft 6x6 8 --threads 2 --quiet",
    "perft 6x6 6 --threads 2 --quiet --divide --json",
    "perft 5x5 9 --threads 2 --quiet --unique",
    "statespace 4x4 --threads 2 --quiet",
    "builddb 4x4 --out o --threads 2 --quiet",
    "verifydb db/4x4-complete --deep --threads 2 --quiet",
    "verify-proof 5x6.proof --threads 2 --quiet",
    "probe 4x4 --moves a4~a3 --db db",
    "sprouts solve 0*8 --memory 16MiB --threads 2 --quiet",
    "sprouts solve 0*7 --memory 16MiB --threads 2 --quiet --db o.nimbers",
    "sprouts grundy 0*6 --memory 16MiB --threads 2 --quiet",
    "sprouts children 0*6 --json",
    "sprouts verify some.spr --memory 16MiB --quiet",
    "sprouts db import o.nimbers some.spr",
    "sprouts db export some.nimbers o.spr",
];

/// KiB between two limits: the system's pages and the allocator's steps are smaller.
const STEP: u64 = 64;

/// KiB with which every command works.
const ENOUGH: u64 = 4 << 20;

/// Limits below and above the least one that works.
const BELOW: usize = 384;
const ABOVE: usize = 64;

pub fn memory_limits(attack: &mut Attack, samples: &Samples) {
    // With less the loader of programs may fail, before the program runs.
    let floor = least(attack, samples, "--version");
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    while attack.goes_on() {
        let args = *attack.random.pick(&COMMANDS);
        let least = *found.entry(args).or_insert_with(|| least(attack, samples, args));
        let steps = attack.random.below(BELOW + ABOVE) as u64;
        let memory = (least + STEP * ABOVE as u64).saturating_sub(STEP * steps).max(floor);
        let folder = attack.folder();
        samples.copy(folder.path());
        let end = call(attack, args, memory, folder.path());
        let fault = end
            .fault()
            .or_else(|| without_message(&end, args))
            .or_else(|| left_over(folder.path()));
        let verb = if args.starts_with("sprouts") { "sprouts" } else { args };
        let what = verb.split(' ').next().unwrap_or_default();
        attack.count(what, &end, fault, &format!("ulimit -v {memory}; konane {args}"));
    }
}

/// Returns the fault of an end without a message or with a wrong one, if there is one.
fn without_message(end: &End, args: &str) -> Option<String> {
    let is_silent = end.stderr.is_empty() && end.stdout.is_empty();
    match end.code {
        Some(0 | 3 | 4) if !is_silent => {}
        // The memory that the command line asks for.
        Some(2) if end.stderr.contains("--memory") => {}
        code => {
            let silent = if is_silent { ", silent" } else { "" };
            return Some(format!("exit code {}{silent}", code.unwrap_or(-1)));
        }
    }
    let objects = end.stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
    let count = objects.filter(serde_json::Value::is_object).count();
    let wanted = usize::from(args.contains("--json") && !end.stdout.is_empty());
    (count != wanted).then(|| format!("{count} JSON objects"))
}

/// The least limit with which a command works, by bisection.
fn least(attack: &Attack, samples: &Samples, args: &str) -> u64 {
    let (mut fails, mut works) = (0, ENOUGH / STEP);
    while works - fails > 1 {
        let middle = fails.midpoint(works);
        let folder = attack.folder();
        samples.copy(folder.path());
        match call(attack, args, middle * STEP, folder.path()).code {
            Some(0) => works = middle,
            _ => fails = middle,
        }
    }
    works * STEP
}

fn call(attack: &Attack, args: &str, memory: u64, folder: &std::path::Path) -> End {
    let call = Call { args: args.to_string(), memory: Some(memory), ..Call::default() };
    attack.call(&call, folder)
}
