//! Compares every search algorithm with plain negamax, on random graphs and random Konane positions.
//!
//! Properties of every report, for all parameters and any size of the memory:
//!
//! * a known outcome is that of negamax;
//! * without limits, and with memory of a reasonable size, the outcome is known;
//! * the best child of a won root is lost;
//! * the same search counts the same nodes again;
//! * a search that reaches a limit returns `Unknown` with the name of the limit as reason.

mod algorithms;
mod boards;
mod compact_table;
mod graphs;
mod impartial;
mod jumping;
mod known;
mod limits;
mod parallel;
mod plain_konane;
mod published;
mod repetition;
mod table;
mod winners;
