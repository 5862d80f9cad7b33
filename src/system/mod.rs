//! What the machine has and does: memory, disk, instruction sets, signals. A leaf.

mod amounts;
mod isa;
mod mapping;
mod signals;

pub use amounts::{bytes_text, disk_free, memory_available, peak_memory};
pub use isa::Isa;
pub(crate) use mapping::zeroed;
pub use signals::file_size_limit_is_an_error;
