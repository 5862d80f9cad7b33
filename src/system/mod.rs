//! What the machine has and does: memory, disk, instruction sets, signals; how people write amounts
//! of it; and how errors repeat what somebody has written. A leaf.

mod amounts;
mod isa;
mod quote;
mod signals;
mod units;

pub use crate::search::allocation::{
    is_allocation_fallible, is_available, try_reserve, try_reserve_exact, try_reserve_in_set,
    zeroed,
};
pub use crate::search::threads::{STACK_BYTES, start_in_pool, thread, thread_pool};
pub use amounts::{disk_free, memory_available, peak_memory};
pub use isa::Isa;
pub use quote::{alternatives, quote};
pub use signals::file_size_limit_is_an_error;
pub use units::{
    NumberError, UnitError, bytes_text, duration_from_seconds, grouped, parse_bytes, parse_count,
    parse_duration, parse_number,
};
