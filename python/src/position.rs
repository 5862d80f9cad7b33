//! `Position`: a board, the stones on it, and who is to move.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use konane::notation::{parse_line, parse_move, parse_position_as};
use konane::{Board, Dimensions, Move, PhaseChoice, Position, draw};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::argument::{Text, Whole, name, read_text, wrong_choice, wrong_type};
use crate::error::Failure;

/// A position of Konane. It is immutable: a move returns a new position.
///
/// `board` is ranks x files, such as ``"6x6"``, of up to 64 squares. `text` is the position in the
/// notation of the program: ranks from the top with ``/`` between them, ``x`` for Black, ``o`` for
/// White, a number for that many empty squares, then ``b`` or ``w`` for the side to move; it defaults
/// to the start. `moves` are played from there: ``"a6 a5"``, or a list of such texts.
///
/// `phase` is ``"auto"`` if the number of empty squares determines the phase. With ``"jump"``, `text`
/// is a position in the jumping phase for any number of them: ``Position("1x3", "1ox b", "jump")``.
///
/// Positions are equal if their boards, stones, sides to move and phases are. They can be pickled and
/// used as keys of dictionaries. Raises ``InputError`` for a text that is not a position, with the
/// place and the reason.
#[pyclass(name = "Position", module = "konane", frozen, eq, hash)]
#[derive(Clone, Debug)]
pub struct PyPosition {
    pub board: Arc<Board>,
    pub position: Position,
    /// The move that led here, for pictures; positions are equal whatever it was.
    last: Option<Move>,
}

impl PartialEq for PyPosition {
    fn eq(&self, other: &Self) -> bool {
        self.dimensions() == other.dimensions()
            && self.position == other.position
            && self.is_early_jump() == other.is_early_jump()
    }
}

impl Eq for PyPosition {}

impl Hash for PyPosition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.dimensions(), self.position, self.is_early_jump()).hash(state);
    }
}

/// Moves in one text, whether they were given as one text or as a list.
struct Moves(String);

/// Maximum number of texts in a list of moves. A game has at most 64 moves, a text at least a part of
/// one.
const MAX_MOVE_TEXTS: usize = 1024;

impl<'py> FromPyObject<'_, 'py> for Moves {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a text such as 'a6 a5', or a list of such texts";
        if value.is_instance_of::<PyString>() {
            return Ok(Moves(read_text::<name::Moves>(&value, EXPECTED)?));
        }
        if !value.hasattr("__iter__")? {
            return Err(wrong_type::<name::Moves>(&value, EXPECTED));
        }
        let mut texts = Vec::new();
        // Item by item: the length that an object reports need not be true.
        for text in value.try_iter()? {
            texts.push(read_text::<name::Moves>(&text?, EXPECTED)?);
            if texts.len() > MAX_MOVE_TEXTS {
                return Err(Failure::input(format_args!(
                    "moves: more than {MAX_MOVE_TEXTS} texts; a game has at most 64 moves"
                ))
                .into());
            }
        }
        Ok(Moves(texts.join(" ")))
    }
}

impl PyPosition {
    /// The start of a board.
    ///
    /// # Errors
    /// If the text is no board.
    pub fn start(board: &str) -> Result<Self, Failure> {
        let board = Arc::new(Board::new(dimensions(board)?));
        let position = Position::start(&board);
        Ok(PyPosition { board, position, last: None })
    }

    /// Ranks and files.
    pub fn dimensions(&self) -> Dimensions {
        self.board.dimensions()
    }

    /// True for a position in the jumping phase with fewer than two empty squares, of which databases
    /// and proofs have no value.
    pub fn is_early_jump(&self) -> bool {
        self.position.is_early_jump(&self.board)
    }

    /// The text of a move of this board.
    pub fn move_text(&self, mv: Move) -> String {
        mv.to_string()
    }

    /// The text.
    pub fn text(&self) -> String {
        self.position.to_string()
    }

    /// The same board with other stones.
    fn with(&self, position: Position, last: Option<Move>) -> Self {
        PyPosition { board: Arc::clone(&self.board), position, last }
    }
}

/// Reads a board.
///
/// # Errors
/// If the text is none.
pub fn dimensions(text: &str) -> Result<Dimensions, Failure> {
    text.parse().map_err(Failure::input)
}

fn phase_choice(name: &Text<name::Phase>) -> Result<PhaseChoice, Failure> {
    name.parse().map_err(|_| wrong_choice(name, "'auto' or 'jump'"))
}

/// The position of a code of the board, canonical or not; nothing if there is none.
pub fn decode(board: &Board, code: u64) -> Option<Position> {
    let position = Position::from_code(board, code);
    if position.occupied() & !board.all() != 0 {
        return None;
    }
    // With two empty squares or more, everything is a position.
    if (board.all() & !position.occupied()).count_ones() >= 2 {
        return Some(position);
    }
    Position::from_setup(board, position.to_setup(board)).ok()
}

#[pymethods]
impl PyPosition {
    #[new]
    #[pyo3(signature = (board, text=None, phase=Text::from("auto"), *, moves=None),
        text_signature = "(board, text=None, phase='auto', *, moves=None)")]
    fn new(
        board: Text<name::Board>,
        text: Option<Text<name::Text>>,
        phase: Text<name::Phase>,
        moves: Option<Moves>,
    ) -> Result<Self, Failure> {
        let (dimensions, phase) = (dimensions(&board)?, phase_choice(&phase)?);
        let (board, begin) = match text {
            Some(text) => parse_position_as(dimensions, &text, phase).map_err(Failure::input)?,
            None if phase == PhaseChoice::Jump => {
                return Err(Failure::input("phase: 'jump' needs the argument text"));
            }
            None => {
                let board = Board::new(dimensions);
                let start = Position::start(&board);
                (board, start)
            }
        };
        let moves = moves.map_or_else(String::new, |moves| moves.0);
        let moves = parse_line(&board, &begin, &moves).map_err(Failure::input)?;
        let position = moves.iter().fold(begin, |position, &mv| position.play(&board, mv));
        Ok(PyPosition { board: Arc::new(board), position, last: moves.last().copied() })
    }

    /// Returns the position of a code. Codes of positions that are not canonical are accepted, too.
    /// Raises ``InputError`` for a number that is not the code of a position.
    #[classmethod]
    fn from_code(
        _class: &Bound<'_, PyType>,
        board: Text<name::Board>,
        code: Whole<name::Code>,
    ) -> Result<Self, Failure> {
        let start = PyPosition::start(&board)?;
        let (code, board) = (code.get()?, start.dimensions());
        let wrong =
            || Failure::input(format_args!("{code:#x} is not the code of a position of {board}"));
        let position = decode(&start.board, code).ok_or_else(wrong)?;
        Ok(start.with(position, None))
    }

    /// The board, such as ``"6x6"``: ranks x files.
    #[getter]
    fn board(&self) -> String {
        self.dimensions().to_string()
    }

    /// Who is to move: ``"black"`` or ``"white"``.
    #[getter]
    fn to_move(&self) -> &'static str {
        self.position.to_move().name()
    }

    /// The exact canonical code, an integer below 2**64.
    ///
    /// Two positions of a board have the same code exactly if a symmetry maps one to the other (on
    /// boards with an even side also one that exchanges the colours and the side to move, once both
    /// removals are made), and then they have the same value. ``probe_many`` takes these codes. Positions
    /// with fewer than two empty squares and ``phase="jump"`` have codes of their own, which no database
    /// has: there they stand for other positions.
    #[getter]
    fn code(&self) -> u64 {
        self.position.code(&self.board)
    }

    /// The occupied squares as an integer: bit 0 is the top left square, then along the ranks.
    #[getter]
    fn occupied(&self) -> u64 {
        self.position.occupied()
    }

    /// Whether the side to move has no move, and has lost.
    #[getter]
    fn is_over(&self) -> bool {
        self.position.count_moves(&self.board) == 0
    }

    /// The legal moves, a list of texts in a fixed order: ``"e4"`` removes a stone, ``"c3-g3"`` jumps.
    fn moves(&self) -> Vec<String> {
        self.position.moves(&self.board).into_iter().map(|mv| self.move_text(mv)).collect()
    }

    /// Returns the position after a move. Raises ``InputError`` for a move that is not legal, and names
    /// the rule.
    #[pyo3(signature = (r#move))]
    fn play(&self, r#move: Text<name::Move>) -> Result<Self, Failure> {
        let mv = parse_move(&self.board, &self.position, &r#move).map_err(Failure::input)?;
        Ok(self.with(self.position.play(&self.board, mv), Some(mv)))
    }

    /// A picture as SVG: the board, its stones, and the last move if this position came from `play`
    /// or `moves`.
    fn svg(&self) -> String {
        draw::svg(&self.board, &self.position, self.last)
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        let phase = if self.is_early_jump() { ", 'jump'" } else { "" };
        format!("Position('{}', '{}'{phase})", self.dimensions(), self.text())
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (String, String, &'static str)) {
        let this = slf.get();
        let phase = if this.is_early_jump() { PhaseChoice::Jump } else { PhaseChoice::Auto };
        (slf.get_type(), (this.board(), this.text(), phase.name()))
    }
}
