//! Rules of Konane and codes of positions, computed square by square.
//!
//! This module is written for readers, not for speed, because a proof is only as reliable as its checker.
//! It shares no code with the solver, whose rules work on sets of squares. docs/PROOF_FORMAT.md states
//! the same rules in words.

use crate::Side;

/// A square: row from the top, file from the left.
type Square = (i32, i32);

/// Directions of a jump.
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

/// A position: the occupied squares and the side to move. The colour of a stone is that of its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stones {
    /// Occupied squares: bit `row * files + file`, row 0 at the top.
    pub occupied: u64,
    /// Side to move.
    pub to_move: Side,
}

/// A move: a jump, or a removal if `from` equals `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Start of the jump, or square of the removed stone: row from the top, file from the left.
    pub from: (i32, i32),
    /// Landing square of the jump, or `from` for a removal.
    pub to: (i32, i32),
}

/// A reflection or rotation that maps the board to itself.
#[derive(Clone, Debug)]
struct Symmetry {
    /// `image[n]` is the number of the square to which the square with number `n` is mapped.
    image: Vec<u32>,
    keeps_colours: bool,
}

/// Rules on a board of a given size.
#[derive(Clone, Debug)]
pub struct Rules {
    ranks: i32,
    files: i32,
    symmetries: Vec<Symmetry>,
}

impl Rules {
    /// Creates the rules for a board of `ranks` times `files` squares.
    ///
    /// # Panics
    /// If the number of squares is 0 or above 64.
    pub fn new(ranks: u8, files: u8) -> Self {
        let (ranks, files) = (i32::from(ranks), i32::from(files));
        assert!((1..=64).contains(&(ranks * files)), "a board of 1 to 64 squares");
        let mut rules = Rules { ranks, files, symmetries: Vec::new() };
        for transpose in [false, true] {
            if transpose && ranks != files {
                continue;
            }
            for flip_rows in [false, true] {
                for flip_files in [false, true] {
                    let image = |(row, file): Square| {
                        let (row, file) = if transpose { (file, row) } else { (row, file) };
                        let row = if flip_rows { ranks - 1 - row } else { row };
                        let file = if flip_files { files - 1 - file } else { file };
                        (row, file)
                    };
                    let keeps_colours = colour(image((0, 0))) == colour((0, 0));
                    let image = rules.squares().map(|square| rules.number(image(square))).collect();
                    rules.symmetries.push(Symmetry { image, keeps_colours });
                }
            }
        }
        rules
    }

    fn squares(&self) -> impl Iterator<Item = Square> + use<> {
        let files = self.files;
        (0..self.ranks).flat_map(move |row| (0..files).map(move |file| (row, file)))
    }

    fn number(&self, (row, file): Square) -> u32 {
        (row * self.files + file) as u32
    }

    fn on_board(&self, (row, file): Square) -> bool {
        (0..self.ranks).contains(&row) && (0..self.files).contains(&file)
    }

    fn is_occupied(&self, stones: &Stones, square: Square) -> bool {
        stones.occupied >> self.number(square) & 1 == 1
    }

    fn empty_squares(&self, stones: &Stones) -> u32 {
        (self.ranks * self.files) as u32 - stones.occupied.count_ones()
    }

    /// Returns true if the position agrees with the rules of removals. A full board must have Black to
    /// move. A board with one empty square must have White to move, and Black's first removal must be
    /// legal. Other positions are not restricted.
    pub fn is_position(&self, stones: &Stones) -> bool {
        match self.empty_squares(stones) {
            0 => stones.to_move == Side::Black,
            1 => {
                let mut squares = self.squares();
                let hole = squares.find(|&square| !self.is_occupied(stones, square));
                stones.to_move == Side::White && hole.is_some_and(|hole| self.is_opening(hole))
            }
            _ => true,
        }
    }

    /// Returns true if Black's first removal may be on this square: a black corner or centre square.
    fn is_opening(&self, (row, file): Square) -> bool {
        let corner = (row == 0 || row == self.ranks - 1) && (file == 0 || file == self.files - 1);
        let is_middle = |at: i32, length: i32| at == length / 2 || at == (length - 1) / 2;
        let centre = is_middle(row, self.ranks) && is_middle(file, self.files);
        colour((row, file)) == Side::Black && (corner || centre)
    }

    /// Replaces the content of `moves` by the legal moves.
    pub fn list_moves(&self, stones: &Stones, moves: &mut Vec<Step>) {
        moves.clear();
        self.for_each_move(stones, |step| {
            moves.push(step);
            true
        });
    }

    /// Returns true if there is a legal move.
    pub fn can_move(&self, stones: &Stones) -> bool {
        let mut found = false;
        self.for_each_move(stones, |_| {
            found = true;
            false
        });
        found
    }

    /// Calls `visit` for each legal move until `visit` returns false.
    fn for_each_move(&self, stones: &Stones, mut visit: impl FnMut(Step) -> bool) {
        let empty = self.empty_squares(stones);
        for from in self.squares() {
            if colour(from) != stones.to_move || !self.is_occupied(stones, from) {
                continue;
            }
            if empty < 2 {
                // Removals.
                let is_beside_hole = || {
                    DIRECTIONS.iter().any(|direction| {
                        let square = (from.0 + direction.0, from.1 + direction.1);
                        self.on_board(square) && !self.is_occupied(stones, square)
                    })
                };
                let allowed = if empty == 0 { self.is_opening(from) } else { is_beside_hole() };
                if allowed && !visit(Step { from, to: from }) {
                    return;
                }
                continue;
            }
            for direction in DIRECTIONS {
                let mut at = from;
                loop {
                    let over = (at.0 + direction.0, at.1 + direction.1);
                    let to = (over.0 + direction.0, over.1 + direction.1);
                    // Neighbouring squares differ in colour, so a stone on `over` is the opponent's.
                    let is_legal = self.on_board(to)
                        && self.is_occupied(stones, over)
                        && !self.is_occupied(stones, to);
                    if !is_legal {
                        break;
                    }
                    if !visit(Step { from, to }) {
                        return;
                    }
                    at = to;
                }
            }
        }
    }

    /// Returns the position after a legal move.
    pub fn play(&self, stones: &Stones, step: Step) -> Stones {
        let mut occupied = stones.occupied & !(1 << self.number(step.from));
        let (mut row, mut file) = step.from;
        // All stones between the start and the landing square are removed.
        while (row, file) != step.to {
            row += (step.to.0 - row).signum();
            file += (step.to.1 - file).signum();
            occupied &= !(1 << self.number((row, file)));
        }
        if step.from != step.to {
            occupied |= 1 << self.number(step.to);
        }
        Stones { occupied, to_move: stones.to_move.other() }
    }

    /// Returns true if the number of ranks or files is even, so that a reflection exchanges the colours.
    fn has_even_side(&self) -> bool {
        self.ranks % 2 == 0 || self.files % 2 == 0
    }

    /// Returns the code of a position, which is the same for all equivalent positions.
    ///
    /// The code is the least image of the occupied squares under certain symmetries. On a board with an
    /// even side, a jumping-phase position with White to move is equivalent to one with Black to move,
    /// and its code is the least image under the symmetries that exchange the colours. In all other
    /// cases it is the least image under those that keep the colours. If both sides are odd, bit 63 is
    /// set for White to move.
    pub fn code(&self, stones: &Stones) -> u64 {
        let jumping = self.empty_squares(stones) >= 2;
        let white = stones.to_move == Side::White;
        let exchange = self.has_even_side() && jumping && white;
        let mut least = u64::MAX;
        for symmetry in &self.symmetries {
            if symmetry.keeps_colours == exchange {
                continue;
            }
            let mut image = 0u64;
            for (number, &to) in symmetry.image.iter().enumerate() {
                image |= (stones.occupied >> number & 1) << to;
            }
            least = least.min(image);
        }
        if white && !self.has_even_side() { least | 1 << 63 } else { least }
    }

    /// Returns the position with this code, or none if the number is not a code.
    pub fn decode(&self, code: u64) -> Option<Stones> {
        let is_marked = !self.has_even_side() && code >> 63 == 1;
        let occupied = if is_marked { code & !(1 << 63) } else { code };
        if occupied > u64::MAX >> (64 - self.ranks * self.files) {
            return None;
        }
        let black = Stones { occupied, to_move: Side::Black };
        let white = is_marked || self.empty_squares(&black) == 1;
        let stones = Stones { to_move: if white { Side::White } else { Side::Black }, ..black };
        (self.is_position(&stones) && self.code(&stones) == code).then_some(stones)
    }

    /// Formats a position: ranks from the top, `x` for Black, `o` for White, numbers for runs of empty
    /// squares, then the side to move.
    pub fn position_text(&self, stones: &Stones) -> String {
        let mut text = String::new();
        for row in 0..self.ranks {
            if row > 0 {
                text.push('/');
            }
            let mut empty = 0;
            for file in 0..self.files {
                if !self.is_occupied(stones, (row, file)) {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    text += &empty.to_string();
                    empty = 0;
                }
                text.push(if colour((row, file)) == Side::Black { 'x' } else { 'o' });
            }
            if empty > 0 {
                text += &empty.to_string();
            }
        }
        text + if stones.to_move == Side::Black { " b" } else { " w" }
    }

    /// Formats a move, such as `e4` or `c3-g3`.
    pub fn move_text(&self, step: Step) -> String {
        let square = |(row, file): Square| {
            let letter = |number: i32| char::from(b'a' + number as u8);
            let mut text = String::new();
            if file >= 26 {
                text.push(letter(file / 26 - 1));
            }
            text.push(letter(file % 26));
            text + &(self.ranks - row).to_string()
        };
        if step.from == step.to {
            square(step.from)
        } else {
            square(step.from) + "-" + &square(step.to)
        }
    }
}

/// Returns the colour of a square. The top-left square is black, and neighbours differ.
fn colour((row, file): Square) -> Side {
    if (row + file) % 2 == 0 { Side::Black } else { Side::White }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perft(rules: &Rules, stones: &Stones, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let mut moves = Vec::new();
        rules.list_moves(stones, &mut moves);
        moves.iter().map(|&step| perft(rules, &rules.play(stones, step), depth - 1)).sum()
    }

    /// Counts of B. Siefke, "Solving Konane Using Proof-Number Search and Extensions", table B.1.
    #[test]
    fn perft_of_8x8_is_as_published() {
        let start = Stones { occupied: u64::MAX, to_move: Side::Black };
        let rules = Rules::new(8, 8);
        let counts = [1, 2, 3, 4, 5, 6].map(|depth| perft(&rules, &start, depth));
        assert_eq!(counts, [4, 12, 28, 172, 892, 7124]);
    }

    /// A multiple jump of White on one rank, and a code with bit 63 set.
    #[test]
    fn jumps_remove_each_stone_jumped_over() {
        // On 1x7, squares 0, 2, 4 and 6 are black. White on square 1 jumps over 2, then over 4.
        let rules = Rules::new(1, 7);
        let stones = Stones { occupied: 0b001_0110, to_move: Side::White };
        assert_eq!(rules.position_text(&stones), "1ox1x2 w");
        let mut moves = Vec::new();
        rules.list_moves(&stones, &mut moves);
        let texts: Vec<String> = moves.iter().map(|&step| rules.move_text(step)).collect();
        assert_eq!(texts, ["b1-d1", "b1-f1"]);
        let after = rules.play(&stones, moves[1]);
        assert_eq!(after, Stones { occupied: 0b010_0000, to_move: Side::Black });
        assert!(!rules.can_move(&after));
        // The mirror image of square 5 is square 1.
        assert_eq!(rules.code(&after), 0b10);
        assert_eq!(rules.code(&Stones { to_move: Side::White, ..after }), 0b10 | 1 << 63);
        assert_eq!(rules.decode(0b10), Some(Stones { occupied: 0b10, ..after }));
        assert_eq!(rules.decode(0b010_0000), None);
    }
}
