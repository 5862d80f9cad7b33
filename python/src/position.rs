//! `Position`: a board, the stones on it, and the side to move.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use konane::notation::{parse_line, parse_move, parse_position_as};
use konane::record::Record;
use konane::{Board, Dimensions, Move, PhaseChoice, Position, Square, draw};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::argument::{IntegerArg, StrArg, name, read_text, wrong_choice, wrong_type};
use crate::error::Failure;

/// Position of Konane. It is immutable: a move returns a new position.
///
/// `board` is ranks x files, such as ``"6x6"``, of up to 64 squares. `text` is the position in the
/// notation of the program: ranks from the top with ``/`` between them, ``x`` for Black, ``o`` for
/// White, a number for that many empty squares, then ``b`` or ``w`` for the side to move; it defaults
/// to the start. `moves` are played from there: ``"a6 a5"``, or a list of such texts.
///
/// `phase` is ``"auto"`` if the number of empty squares determines the phase. With ``"jump"``, or with the word
/// ``jump`` at its end, `text` is a position in the jumping phase: ``Position("1x3", "1ox b jump")``. In this phase
/// all stones may stand on squares of the other colour, as in ``"1xoxo1 b"``. Diagrams are read, one rank per line.
///
/// Positions are equal if their boards, stones, sides to move and phases are. They can be pickled and
/// used as keys of dictionaries. Raises ``InputError`` for a text that is not a position, with the
/// place and the reason.
#[pyclass(name = "Position", module = "konane", frozen, eq, hash)]
#[derive(Clone, Debug)]
pub struct PyPosition {
    pub board: Arc<Board>,
    pub position: Position,
    /// Last move, for pictures. It does not affect equality.
    last: Option<Move>,
}

impl PartialEq for PyPosition {
    fn eq(&self, other: &Self) -> bool {
        self.position == other.position
    }
}

impl Eq for PyPosition {}

impl Hash for PyPosition {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.position.hash(state);
    }
}

/// Moves as one text, from a text or a list of texts.
pub struct MovesArg(String);

/// Maximum number of texts in a list of moves. A game has at most 64 moves, so most texts of a longer list
/// contain no move.
const MAX_MOVE_TEXTS: usize = 1024;

impl<'py> FromPyObject<'_, 'py> for MovesArg {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a text such as 'a6 a5', or a list of such texts";
        if value.is_instance_of::<PyString>() {
            return Ok(MovesArg(read_text::<name::Moves>(&value, EXPECTED)?));
        }
        if !value.hasattr("__iter__")? {
            return Err(wrong_type::<name::Moves>(&value, EXPECTED));
        }
        let mut texts = Vec::new();
        // Item by item: the length that an object reports may be wrong.
        for text in value.try_iter()? {
            texts.push(read_text::<name::Moves>(&text?, EXPECTED)?);
            if texts.len() > MAX_MOVE_TEXTS {
                return Err(Failure::input(format_args!(
                    "moves: more than {MAX_MOVE_TEXTS} texts; a game has at most 64 moves"
                ))
                .into());
            }
        }
        Ok(MovesArg(texts.join(" ")))
    }
}

impl PyPosition {
    /// Returns the start of a board.
    ///
    /// # Errors
    /// If the text is not a board.
    pub fn start(board: &str) -> Result<Self, Failure> {
        let board = Arc::new(Board::new(dimensions(board)?));
        let position = Position::start(&board);
        Ok(PyPosition { board, position, last: None })
    }

    /// Returns the ranks and files of the board.
    pub fn dimensions(&self) -> Dimensions {
        self.board.dimensions()
    }

    /// Returns a key that is equal for positions of one board with the same rules.
    pub fn board_key(&self) -> (u32, u32, bool) {
        let board = self.dimensions();
        (board.ranks(), board.files(), self.position.is_standard())
    }

    /// Returns the text of a move.
    pub fn move_text(&self, mv: Move) -> String {
        mv.to_string()
    }

    /// Returns the position as text.
    pub fn text(&self) -> String {
        self.position.to_string()
    }

    /// Reads moves from this position.
    ///
    /// # Errors
    /// If a move is illegal.
    pub fn read_moves(&self, moves: &MovesArg) -> Result<Vec<Move>, Failure> {
        parse_line(&self.board, &self.position, &moves.0).map_err(Failure::input)
    }

    /// Returns the positions of a recorded game.
    pub fn of_game(record: &Record) -> Vec<Self> {
        let board = Arc::new(record.board());
        let last = record.moves.iter().map(|recorded| Some(recorded.mv));
        let positions = record.positions().into_iter().zip(std::iter::once(None).chain(last));
        let game = |(position, last)| PyPosition { board: Arc::clone(&board), position, last };
        positions.map(game).collect()
    }

    /// Returns a position on the same board.
    fn with(&self, position: Position, last: Option<Move>) -> Self {
        PyPosition { board: Arc::clone(&self.board), position, last }
    }
}

/// Reads a board.
///
/// # Errors
/// If the text is not a board.
pub fn dimensions(text: &str) -> Result<Dimensions, Failure> {
    text.parse().map_err(Failure::input)
}

fn phase_choice(name: &StrArg<name::Phase>) -> Result<PhaseChoice, Failure> {
    name.parse().map_err(|_| wrong_choice(name, "'auto' or 'jump'"))
}

/// Returns the position of a code, canonical or not; `None` if the number is not a code of the board.
pub fn decode(board: &Board, code: u64) -> Option<Position> {
    let position = Position::from_code(board, code);
    if position.occupied() & !board.all() != 0 {
        return None;
    }
    // With two or more empty squares, every set of stones is a position.
    if (board.all() & !position.occupied()).count_ones() >= 2 {
        return Some(position);
    }
    Position::from_setup(board, position.to_setup(board)).ok()
}

#[pymethods]
impl PyPosition {
    #[new]
    #[pyo3(signature = (board, text=None, phase=StrArg::from("auto"), *, moves=None),
        text_signature = "(board, text=None, phase='auto', *, moves=None)")]
    fn new(
        board: StrArg<name::Board>,
        text: Option<StrArg<name::Text>>,
        phase: StrArg<name::Phase>,
        moves: Option<MovesArg>,
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
        board: StrArg<name::Board>,
        code: IntegerArg<name::Code>,
    ) -> Result<Self, Failure> {
        let start = PyPosition::start(&board)?;
        let (code, board) = (code.get()?, start.dimensions());
        let wrong =
            || Failure::input(format_args!("{code:#x} is not the code of a position of {board}"));
        let position = decode(&start.board, code).ok_or_else(wrong)?;
        Ok(start.with(position, None))
    }

    /// Board: ranks x files, such as ``"6x6"``.
    #[getter]
    fn board(&self) -> String {
        self.dimensions().to_string()
    }

    /// Side to move: ``"black"`` or ``"white"``.
    #[getter]
    fn to_move(&self) -> &'static str {
        self.position.to_move().name()
    }

    /// Exact canonical code, an integer below 2**64.
    ///
    /// Two positions of a board have the same code if and only if a symmetry maps one to the other; then they have
    /// the same value. On boards with an even side, after both removals, this includes the symmetries that
    /// exchange the colours and the side to move. ``probe_many`` takes these codes. Do not look up codes of
    /// positions with fewer than two empty squares in the jumping phase, or with stones on squares of the other
    /// colour: in a database, these codes belong to other positions.
    #[getter]
    fn code(&self) -> u64 {
        self.position.code(&self.board)
    }

    /// Occupied squares as an integer: bit 0 is the top left square, the next bits follow along the ranks.
    #[getter]
    fn occupied(&self) -> u64 {
        self.position.occupied()
    }

    /// True if the side to move has no legal move, and has lost.
    #[getter]
    fn is_over(&self) -> bool {
        self.position.count_moves(&self.board) == 0
    }

    /// Returns the legal moves as a list of texts in a fixed order: ``"e4"`` removes a stone, ``"c3-g3"`` jumps.
    fn moves(&self) -> Vec<String> {
        self.position.moves(&self.board).into_iter().map(|mv| self.move_text(mv)).collect()
    }

    /// Returns the position after a move. Raises ``InputError`` for an illegal move, and names the rule.
    #[pyo3(signature = (r#move))]
    fn play(&self, r#move: StrArg<name::Move>) -> Result<Self, Failure> {
        let mv = parse_move(&self.board, &self.position, &r#move).map_err(Failure::input)?;
        Ok(self.with(self.position.play(&self.board, mv), Some(mv)))
    }

    /// Returns the squares as a list of pairs of a name and a stone, ``"black"``, ``"white"`` or ``None``: from the top
    /// left square along the ranks, as the bits of ``occupied``.
    fn squares(&self) -> Vec<(String, Option<&'static str>)> {
        let board = self.dimensions();
        let square = |index: u32| {
            let is_occupied = self.position.occupied() >> index & 1 == 1;
            let stone = is_occupied.then(|| self.board.colour_of(index).name());
            (Square::new(board, index as u8).to_string(), stone)
        };
        (0..board.ranks() * board.files()).map(square).collect()
    }

    /// Returns an array of ``int8`` of the shape 3 x ranks x files, as input of a neural network: ones for the stones
    /// of the player to move, then for those of the other player, then for empty squares. The first rank is the top
    /// one.
    fn planes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<i8>>, Failure> {
        let board = self.dimensions();
        let (ranks, files) = (board.ranks() as usize, board.files() as usize);
        let own = Some(self.to_move());
        let mut planes = vec![0; 3 * ranks * files];
        for (index, (_, stone)) in self.squares().into_iter().enumerate() {
            let plane = if stone.is_none() { 2 } else { usize::from(stone != own) };
            planes[plane * ranks * files + index] = 1;
        }
        Ok(PyArray1::from_vec(py, planes).reshape([3, ranks, files])?)
    }

    /// Returns a picture as SVG: the board, its stones, and the last move if this position was made by `play` or
    /// with `moves`.
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
        format!("Position('{}', '{}')", self.dimensions(), self.text())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String, String)) {
        let this = slf.get();
        (slf.get_type(), (this.board(), this.text()))
    }
}
