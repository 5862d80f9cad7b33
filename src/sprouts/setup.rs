//! What a text says, before anybody has asked whether it can be a position.

use std::fmt;

/// Most vertices that a text of people may write (`0*n` counts n). Bounds the memory that a text can
/// ask for.
pub const MOST_VERTICES: usize = 2000;

/// Most vertices of a canonical text of a position that games from such a text lead to. A vertex has
/// three lives at most, no move adds any, and a vertex of a canonical text has half a life at least.
pub(super) const MOST_CANONICAL: usize = 6 * MOST_VERTICES;

/// The name of a spot that occurs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// `a` to `z` or `A` to `Z`.
    pub letter: u8,
    /// The number in parentheses, if there is one.
    pub index: Option<u32>,
}

impl Name {
    /// Whether the name belongs to the boundary (lower case) and not to the land. Beyond the
    /// alphabet SPOTS writes `m(k)` for lower-case and `n(k)` for upper-case letters.
    pub fn is_lower(self) -> bool {
        self.letter.is_ascii_lowercase() && !(self.letter == b'n' && self.index.is_some())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "{}", char::from(self.letter)),
            Some(index) => write!(f, "{}({index})", char::from(self.letter)),
        }
    }
}

/// One occurrence of a spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vertex {
    /// A spot that occurs once, with this number of curve ends, 0 to 3.
    Digit(u8),
    /// An occurrence of a spot that occurs twice.
    Letter(Name),
}

/// A vertex and where it stands. Boundaries, regions and lands are numbered through the whole text,
/// from 0; boundaries and regions without vertices (`0*0`) have numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The byte of the text.
    pub at: usize,
    /// The vertex.
    pub vertex: Vertex,
    /// The boundary.
    pub boundary: u32,
    /// The region.
    pub region: u32,
    /// The land.
    pub land: u32,
}

/// The vertices of a text, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The vertices.
    pub vertices: Vec<Written>,
}
