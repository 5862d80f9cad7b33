//! All benchmarks; `cargo bench -- movegen` runs those whose names have that in them.

mod algorithms;
mod codes;
mod common;
mod endgame;
mod movegen;
mod perft;
mod sprouts;
mod table;

criterion::criterion_main!(
    movegen::benches,
    codes::benches,
    perft::benches,
    table::benches,
    algorithms::benches,
    endgame::benches,
    sprouts::benches,
);
