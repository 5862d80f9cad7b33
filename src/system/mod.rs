//! What the machine has and does: memory, disk, instruction sets, signals; how people write amounts
//! of it; and how errors repeat what somebody has written. A leaf.

mod amounts;
mod isa;
mod mapping;
mod quote;
mod signals;
mod threads;
mod units;

pub use amounts::{disk_free, memory_available, peak_memory};
pub use isa::Isa;
pub(crate) use mapping::zeroed;
pub use quote::{alternatives, quote};
pub use signals::file_size_limit_is_an_error;
#[cfg(feature = "cli")]
pub(crate) use threads::start_in_pool;
pub(crate) use threads::start_worker;
pub use units::{
    NumberError, UnitError, bytes_text, parse_bytes, parse_count, parse_duration, parse_number,
};
