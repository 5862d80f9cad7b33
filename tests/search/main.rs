//! Every search algorithm against plain negamax, on random graphs and random Konane positions.
//!
//! What must hold of every report, whatever the parameters and however small the memory:
//!
//! * a known outcome is the oracle's;
//! * without limits, and with memory of a reasonable size, the outcome is known;
//! * the best child of a won root is lost;
//! * the same search twice counts the same nodes;
//! * a limit leads to `Unknown` with its own reason.

mod algorithms;
mod boards;
mod graphs;
mod impartial;
mod jumping;
mod known;
mod limits;
mod narrow_table;
mod parallel;
mod plain_konane;
mod random;
mod repetition;
mod table;
mod winners;
