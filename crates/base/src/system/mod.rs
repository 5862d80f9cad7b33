//! The machine and the process: memory, disk, instruction sets, threads; sizes, durations and counts as text.

mod machine;
mod text;

pub use machine::{Isa, disk_free, memory_available, peak_memory};
pub use pn_search::allocation::{
    is_allocation_fallible, is_available, try_reserve, try_reserve_exact, try_reserve_in_set,
    zeroed,
};
pub use pn_search::threads::{STACK_BYTES, start_in_pool, thread, thread_pool};
pub use text::{
    NumberError, UnitError, alternatives, bytes_text, counted, duration_from_seconds, grouped,
    large, parse_bytes, parse_count, parse_duration, parse_number, quote, short, time_text,
};
