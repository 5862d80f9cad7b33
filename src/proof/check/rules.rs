//! The rules of Konane once more, as plainly as they can be said: square by square, direction by
//! direction, symmetry by symmetry.
//!
//! A proof is only worth as much as its checker, so this file is written to be read in one sitting
//! and shares nothing with the solver: no masks, no shifts of sets, no tables of images, not even the
//! types. docs/PROOF_FORMAT.md states the same rules in words.

use super::format::Side;

/// A square: row from the top, file from the left.
type Square = (i32, i32);

/// The four directions of a jump.
const DIRECTIONS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

/// Stones on squares, and who is to move. Bit `row * files + file` stands for a square; whose stone
/// it is follows from the square's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stones {
    /// Occupied squares.
    pub occupied: u64,
    /// Who is to move.
    pub to_move: Side,
}

/// A move: a stone is taken off the board (`from` and `to` are the same), or jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Where the stone is.
    pub from: (i32, i32),
    /// Where it lands.
    pub to: (i32, i32),
}

/// A reflection or rotation of the board, as the number to which each square's number goes.
#[derive(Clone, Debug)]
struct Symmetry {
    image: Vec<u32>,
    keeps_colours: bool,
}

/// The rules on one board.
#[derive(Clone, Debug)]
pub struct Rules {
    ranks: i32,
    files: i32,
    symmetries: Vec<Symmetry>,
}

impl Rules {
    /// The rules on a board of `ranks` times `files` squares, at most 64.
    ///
    /// # Panics
    /// If there are no squares, or more.
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

    /// Whether a game can have such a position as far as the removals are concerned: a full board
    /// is Black's turn; with one empty square it is White's, and Black was allowed to empty it.
    pub fn is_position(&self, stones: &Stones) -> bool {
        match self.empty_squares(stones) {
            0 => stones.to_move == Side::Black,
            1 => {
                let mut squares = self.squares();
                let hole = squares.find(|&square| !self.is_occupied(stones, square));
                stones.to_move == Side::White && hole.is_some_and(|hole| self.may_open(hole))
            }
            _ => true,
        }
    }

    /// Whether Black may remove its stone from a square on the first ply: a corner or the centre.
    fn may_open(&self, (row, file): Square) -> bool {
        let corner = (row == 0 || row == self.ranks - 1) && (file == 0 || file == self.files - 1);
        let middle = |place: i32, length: i32| place == length / 2 || place == (length - 1) / 2;
        let centre = middle(row, self.ranks) && middle(file, self.files);
        colour((row, file)) == Side::Black && (corner || centre)
    }

    /// Writes the legal moves into a list.
    pub fn list_moves(&self, stones: &Stones, moves: &mut Vec<Step>) {
        moves.clear();
        self.each_move(stones, |step| {
            moves.push(step);
            true
        });
    }

    /// Whether there is a legal move.
    pub fn can_move(&self, stones: &Stones) -> bool {
        let mut found = false;
        self.each_move(stones, |_| {
            found = true;
            false
        });
        found
    }

    /// Calls `visit` with the legal moves one after the other, as long as it returns true.
    fn each_move(&self, stones: &Stones, mut visit: impl FnMut(Step) -> bool) {
        let empty = self.empty_squares(stones);
        for from in self.squares() {
            if colour(from) != stones.to_move || !self.is_occupied(stones, from) {
                continue;
            }
            if empty < 2 {
                // Ply 1: a black stone in a corner or the centre. Ply 2: a white stone beside the
                // hole.
                let beside_hole = || {
                    DIRECTIONS.iter().any(|direction| {
                        let square = (from.0 + direction.0, from.1 + direction.1);
                        self.on_board(square) && !self.is_occupied(stones, square)
                    })
                };
                let allowed = if empty == 0 { self.may_open(from) } else { beside_hole() };
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
                    // The square between has the other colour, so a stone on it is an enemy.
                    let possible = self.on_board(to)
                        && self.is_occupied(stones, over)
                        && !self.is_occupied(stones, to);
                    if !possible {
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

    /// The position after a legal move.
    pub fn play(&self, stones: &Stones, step: Step) -> Stones {
        let mut occupied = stones.occupied & !(1 << self.number(step.from));
        let (mut row, mut file) = step.from;
        // From the start to the landing square every stone on the way is taken.
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

    /// Whether some reflection exchanges the colours: ranks or files are even in number.
    fn has_even_side(&self) -> bool {
        self.ranks % 2 == 0 || self.files % 2 == 0
    }

    /// The number that stands for a position and all that are like it by symmetry.
    ///
    /// On a board with an even side, a jumping-phase position with White to move is turned into one
    /// with Black to move by an exchanging symmetry. Of all sets of occupied squares that are
    /// possible then, the least is the code. On a board without one, bit 63 says that White is to
    /// move. Before the second removal only the symmetries that keep the colours are used.
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

    /// The position that a code stands for, if it is the code of one.
    pub fn decode(&self, code: u64) -> Option<Stones> {
        let marked = !self.has_even_side() && code >> 63 == 1;
        let occupied = if marked { code & !(1 << 63) } else { code };
        if occupied > u64::MAX >> (64 - self.ranks * self.files) {
            return None;
        }
        let black = Stones { occupied, to_move: Side::Black };
        let white = marked || self.empty_squares(&black) == 1;
        let stones = Stones { to_move: if white { Side::White } else { Side::Black }, ..black };
        (self.is_position(&stones) && self.code(&stones) == code).then_some(stones)
    }

    /// A position as text: ranks from the top, `x` Black, `o` White, a number for that many empty
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

    /// A move as text: `e4` or `c3-g3`.
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

/// The colour of a square: that of the stone on it at the start. The top-left square is black.
fn colour((row, file): Square) -> Side {
    if (row + file) % 2 == 0 { Side::Black } else { Side::White }
}
