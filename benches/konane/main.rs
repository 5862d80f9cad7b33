//! All benchmarks. `cargo bench -- movegen` runs those with `movegen` in their name.

mod algorithms;
mod codes;
mod common;
mod coordinator;
mod movegen;
mod perft;
mod sprouts;
mod table;
mod tablebase;

criterion::criterion_main!(
    movegen::benches,
    codes::benches,
    perft::benches,
    table::benches,
    algorithms::benches,
    tablebase::benches,
    sprouts::benches,
    coordinator::benches,
);
