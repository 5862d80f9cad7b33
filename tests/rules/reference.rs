//! Reference implementation of the rules, square by square: an array of cells and coordinates, without bit sets.
//! It is slow, simple, and uses no code of the library except types.

use konane::{Board, Colour, Dimensions, Move, Position};

/// Row from the top and file from the left.
pub type Square = (i32, i32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Empty,
    Stone(Colour),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReferenceMove {
    Remove(Square),
    Jump(Square, Square),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencePosition {
    ranks: i32,
    files: i32,
    cells: Vec<Cell>,
    to_move: Colour,
}

impl ReferencePosition {
    /// The start: stones alternate, with a black one at the top left, and Black is to move.
    pub fn start(dimensions: Dimensions) -> ReferencePosition {
        let (ranks, files) = (dimensions.ranks() as i32, dimensions.files() as i32);
        let colour = |square: i32| match (square / files + square % files) % 2 {
            0 => Colour::Black,
            _ => Colour::White,
        };
        ReferencePosition {
            ranks,
            files,
            cells: (0..ranks * files).map(|s| Cell::Stone(colour(s))).collect(),
            to_move: Colour::Black,
        }
    }

    /// Converts a position of the library.
    pub fn of(board: &Board, position: &Position) -> ReferencePosition {
        let mut reference = ReferencePosition::start(board.dimensions());
        for (square, cell) in reference.cells.iter_mut().enumerate() {
            if position.occupied() >> square & 1 == 0 {
                *cell = Cell::Empty;
            }
        }
        reference.to_move = position.to_move();
        reference
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::new(self.ranks as u32, self.files as u32).expect("a board")
    }

    /// Converts it to a position of the library.
    pub fn position(&self) -> Position {
        let mut occupied = 0;
        for (square, &cell) in self.cells.iter().enumerate() {
            if cell != Cell::Empty {
                occupied += 1u64 << square;
            }
        }
        Position::new_unchecked(&Board::new(self.dimensions()), occupied, self.to_move)
    }

    /// The stone on a square; `None` outside of the board.
    fn at(&self, (row, file): Square) -> Option<Cell> {
        let inside = (0..self.ranks).contains(&row) && (0..self.files).contains(&file);
        inside.then(|| self.cells[(row * self.files + file) as usize])
    }

    fn set(&mut self, (row, file): Square, cell: Cell) {
        self.cells[(row * self.files + file) as usize] = cell;
    }

    fn squares(&self) -> impl Iterator<Item = Square> + use<> {
        let (ranks, files) = (self.ranks, self.files);
        (0..ranks).flat_map(move |row| (0..files).map(move |file| (row, file)))
    }

    fn empty_squares(&self) -> usize {
        self.cells.iter().filter(|&&c| c == Cell::Empty).count()
    }

    pub fn is_jumping(&self) -> bool {
        self.empty_squares() >= 2
    }

    /// All legal moves, sorted.
    pub fn moves(&self) -> Vec<ReferenceMove> {
        let mut moves: Vec<ReferenceMove> = match self.empty_squares() {
            0 => {
                let squares = self.squares();
                let openings = squares.filter(|&s| self.is_corner(s) || self.is_centre(s));
                openings
                    .filter(|&s| self.at(s) == Some(Cell::Stone(Colour::Black)))
                    .map(ReferenceMove::Remove)
                    .collect()
            }
            1 => {
                let hole = |s: Square| self.at(s) == Some(Cell::Empty);
                self.squares()
                    .filter(|&s| self.at(s) == Some(Cell::Stone(Colour::White)))
                    .filter(|&(row, file)| {
                        hole((row - 1, file))
                            || hole((row + 1, file))
                            || hole((row, file - 1))
                            || hole((row, file + 1))
                    })
                    .map(ReferenceMove::Remove)
                    .collect()
            }
            _ => self.jumps(self.to_move),
        };
        moves.sort();
        moves
    }

    /// The jumps that a side would have if it were to move.
    pub fn jumps(&self, side: Colour) -> Vec<ReferenceMove> {
        let mut jumps = Vec::new();
        for start in self.squares() {
            if self.at(start) != Some(Cell::Stone(side)) {
                continue;
            }
            for (down, right) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                let (mut row, mut file) = start;
                // To take a stone, the next square must have a stone of the opponent, and the square after it must
                // be empty.
                while self.at((row + down, file + right)) == Some(Cell::Stone(!side))
                    && self.at((row + 2 * down, file + 2 * right)) == Some(Cell::Empty)
                {
                    (row, file) = (row + 2 * down, file + 2 * right);
                    jumps.push(ReferenceMove::Jump(start, (row, file)));
                }
            }
        }
        jumps
    }

    /// The number of stones of a side that have at least one jump.
    pub fn movable(&self, side: Colour) -> usize {
        self.distinct(side, |from, _| from)
    }

    /// The number of distinct squares on which a side's jumps land.
    pub fn landings(&self, side: Colour) -> usize {
        self.distinct(side, |_, to| to)
    }

    fn distinct(&self, side: Colour, which: impl Fn(Square, Square) -> Square) -> usize {
        let squares = self.jumps(side).into_iter().map(|mv| match mv {
            ReferenceMove::Jump(from, to) => which(from, to),
            ReferenceMove::Remove(_) => unreachable!("jumps are jumps"),
        });
        squares.collect::<std::collections::BTreeSet<_>>().len()
    }

    /// The number of stones of a side that have an occupied neighbour on an axis of at least three
    /// squares (a shorter one has no jumps).
    pub fn contacts(&self, side: Colour) -> usize {
        let stone = |square| matches!(self.at(square), Some(Cell::Stone(_)));
        let touches = |&(row, file): &Square| {
            let horizontal = stone((row, file - 1)) || stone((row, file + 1));
            let vertical = stone((row - 1, file)) || stone((row + 1, file));
            (self.files >= 3 && horizontal) || (self.ranks >= 3 && vertical)
        };
        let own = self.squares().filter(|&square| self.at(square) == Some(Cell::Stone(side)));
        own.filter(touches).count()
    }

    pub fn play(&self, mv: ReferenceMove) -> ReferencePosition {
        let mut next = self.clone();
        match mv {
            ReferenceMove::Remove(square) => next.set(square, Cell::Empty),
            ReferenceMove::Jump(from, to) => {
                let stone = self.at(from).expect("moves start on the board");
                let (down, right) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
                let mut square = from;
                while square != to {
                    next.set(square, Cell::Empty);
                    square = (square.0 + down, square.1 + right);
                }
                next.set(to, stone);
            }
        }
        next.to_move = !self.to_move;
        next
    }

    /// The number of move sequences of a length.
    pub fn perft(&self, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let moves = self.moves();
        let nodes = moves.into_iter().map(|mv| self.play(mv).perft(depth - 1));
        nodes.sum()
    }

    /// Converts a move to one of the library.
    pub fn translate(&self, mv: ReferenceMove) -> Move {
        let dimensions = Dimensions::new(self.ranks as u32, self.files as u32).expect("a board");
        let number =
            |(row, file): Square| konane::Square::new(dimensions, (row * self.files + file) as u8);
        match mv {
            ReferenceMove::Remove(square) => Move::Remove { square: number(square) },
            ReferenceMove::Jump(from, to) => Move::Jump { from: number(from), to: number(to) },
        }
    }

    fn is_corner(&self, (row, file): Square) -> bool {
        (row == 0 || row == self.ranks - 1) && (file == 0 || file == self.files - 1)
    }

    /// Returns true if the square is in the middle of its file and of its rank. A line of even length has two middle
    /// squares.
    fn is_centre(&self, (row, file): Square) -> bool {
        let middle = |at: i32, length: i32| ((2 * at + 1) - length).abs() <= 1;
        middle(row, self.ranks) && middle(file, self.files)
    }
}
