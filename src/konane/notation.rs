//! Text.
use super::board::Dimensions;
/// Name of a square.
pub fn square_name(dimensions: Dimensions, square: u32) -> String {
    let (row, file) = (square / dimensions.files(), square % dimensions.files());
    let letter = |f: u32| (b'a' + f as u8) as char;
    let mut name = String::new();
    if file >= 26 {
        name.push(letter(file / 26 - 1));
    }
    name.push(letter(file % 26));
    name + &(dimensions.ranks() - row).to_string()
}
