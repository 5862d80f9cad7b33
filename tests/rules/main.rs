//! The rules of Konane, compared with a reference implementation and published tables; notation and records.

mod notation;
mod notation_properties;
mod perft;
mod positions;
mod records;
mod reference;
mod reference_agrees;
mod symmetry;
mod transpose;
