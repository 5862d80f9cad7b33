//! Any text is parsed as a build task or rejected. A parsed task is unchanged after writing and
//! reading it.
#![no_main]

use konane::tablebase::BuildTask;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(task) = text.parse::<BuildTask>() {
        let written = task.to_string();
        assert_eq!(written.parse::<BuildTask>().map(|task| task.to_string()).ok(), Some(written));
    }
});
