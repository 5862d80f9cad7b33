//! Any text is a task of a build or is refused; one that was read is written the same.
#![no_main]

use konane::tablebase::Task;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(task) = text.parse::<Task>() {
        let written = task.to_string();
        assert_eq!(written.parse::<Task>().map(|task| task.to_string()).ok(), Some(written));
    }
});
