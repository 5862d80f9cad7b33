//! Any text is a task of a build or is refused; one that was read is written the same.
#![no_main]

use konane::tablebase::BuildTask;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(task) = text.parse::<BuildTask>() {
        let written = task.to_string();
        assert_eq!(written.parse::<BuildTask>().map(|task| task.to_string()).ok(), Some(written));
    }
});
