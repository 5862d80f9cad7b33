//! The rules of Konane against their naive twin, the published tables, and the notation.

mod notation;
mod notation_properties;
mod perft;
mod positions;
mod records;
mod symmetry;
mod transpose;
mod twin;
mod twins_agree;
