//! The notation of positions: the strings of Applegate, Jacobson and Sleator ("Computer analysis of
//! Sprouts", 1991) in the form that SPOTS and GLOP write.
//!
//! ```text
//! position = "!" | land { "+" land }
//! land     = region { "|" region }
//! region   = boundary { "." boundary }
//! boundary = vertex { vertex } | "0*" n
//! vertex   = "0" | "1" | "2" | "3" | letter | letter "(" number ")"
//! ```
//!
//! In older files of GLOP `.`, `}`, `]` and `!` end a boundary, a region, a land and the position:
//! `0.AB.}AB.}]!` is `0.AB|AB`. A text that contains `}` or `]` is read in this form.
//!
//! [`parse`] reads both forms and returns [`WrittenVertex`] values, without checking that they form a
//! position. Each is a [`Vertex`]: a digit, or a letter with its [`SpotName`].

use std::fmt;

use super::error::TextError;

/// Maximum number of vertices in a text from a user (`0*n` counts as n). The limit bounds the memory that a
/// text can request.
pub const MAX_VERTICES: usize = 2000;

/// Maximum number of vertices in the canonical text of a position that can arise from a user's text. A vertex
/// of the user's text has at most three lives, and no move adds lives. A vertex of a canonical text stands
/// for at least half a life: a letter is two vertices and has one life.
pub(super) const MAX_CANONICAL_VERTICES: usize = 6 * MAX_VERTICES;

/// The name of a spot that occurs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpotName {
    /// `a` to `z` or `A` to `Z`.
    pub letter: u8,
    /// The number in parentheses, if there is one.
    pub index: Option<u32>,
}

impl SpotName {
    /// Returns true for a lower-case name, which occurs twice in one boundary; false for an upper-case name,
    /// which occurs in two regions. When SPOTS has used all letters, it writes `m(k)` for lower-case and
    /// `n(k)` for upper-case names.
    pub fn is_lower(self) -> bool {
        self.letter.is_ascii_lowercase() && !(self.letter == b'n' && self.index.is_some())
    }
}

impl fmt::Display for SpotName {
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
    Letter(SpotName),
}

/// A vertex and its location. Boundaries, regions and lands are numbered through the whole text, from 0.
/// Boundaries and regions without vertices (`0*0`) have numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenVertex {
    /// Byte offset in the text.
    pub at: usize,
    /// The vertex.
    pub vertex: Vertex,
    /// Number of the boundary.
    pub boundary: u32,
    /// Number of the region.
    pub region: u32,
    /// Number of the land.
    pub land: u32,
}

/// Parses a text of at most `max` vertices in either form. Surrounding white space is ignored.
///
/// Takes one pass, and memory for at most `max` vertices.
///
/// # Errors
/// [`TextError`] with the first byte that does not match the grammar.
pub fn parse(text: &str, max: usize) -> Result<Vec<WrittenVertex>, TextError> {
    if let (_, Some(_)) = split_heap(text) {
        return Err(TextError::Heap { at: text.rfind('*').unwrap_or_default() });
    }
    let skipped = text.len() - text.trim_ascii_start().len();
    let trimmed = text.trim_ascii();
    if trimmed.is_empty() {
        return Err(TextError::Empty);
    }
    let mut parser = Parser {
        text: &text[..skipped + trimmed.len()],
        at: skipped,
        max,
        vertices: Vec::new(),
        open: None,
        count: [0; 3],
        filled: [false; 3],
    };
    if trimmed.contains(['}', ']']) {
        parser.terminators()?;
    } else {
        parser.separators()?;
    }
    Ok(parser.vertices)
}

/// Splits a text into a position and, if a nim heap follows as in `0*2 + *3`, the digits of its size.
pub fn split_heap(text: &str) -> (&str, Option<&str>) {
    let digits = |size: &&str| !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_digit());
    let couple = text.rsplit_once('+').and_then(|(position, heap)| {
        Some((position, heap.trim_ascii().strip_prefix('*').filter(digits)?))
    });
    couple.map_or((text, None), |(position, heap)| (position, Some(heap)))
}

/// Content of the current boundary so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBoundary {
    /// Vertices. More vertices may follow.
    Vertices,
    /// Spots without curves. Nothing may follow.
    Loose,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Maximum number of vertices.
    max: usize,
    vertices: Vec<WrittenVertex>,
    open: Option<OpenBoundary>,
    /// Numbers of the current boundary, region and land.
    count: [u32; 3],
    /// In the older form: true if the current region has a finished boundary, if the current land has a
    /// finished region, and if the position has a finished land.
    filled: [bool; 3],
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn separators(&mut self) -> Result<(), TextError> {
        if &self.text[self.at..] == "!" {
            return Ok(());
        }
        while let Some(found) = self.peek() {
            let level = match found {
                '.' => 1,
                '|' => 2,
                '+' => 3,
                '!' => {
                    let expected = "it is written alone, for the position in which nothing is left";
                    return Err(TextError::Misplaced { at: self.at, found, expected });
                }
                _ => {
                    self.vertex(found)?;
                    continue;
                }
            };
            self.end_boundary()?;
            self.count[1] += u32::from(level >= 2);
            self.count[2] += u32::from(level >= 3);
            self.at += 1;
        }
        self.end_boundary()
    }

    fn terminators(&mut self) -> Result<(), TextError> {
        while let Some(found) = self.peek() {
            match found {
                '.' => {
                    self.end_boundary()?;
                    self.filled[0] = true;
                }
                '}' => {
                    self.end_part(0, found, "region", "the boundary before it has to end with '.'")?
                }
                ']' => {
                    self.end_part(1, found, "land", "the region before it has to end with '}'")?
                }
                '!' => {
                    if self.open.is_some() || self.filled[0] || self.filled[1] {
                        let expected = "the land before it has to end with ']'";
                        return Err(TextError::Misplaced { at: self.at, found, expected });
                    }
                    self.at += 1;
                    return match self.peek() {
                        None => Ok(()),
                        Some(found) => {
                            let expected = "the position has ended with '!'";
                            Err(TextError::Misplaced { at: self.at, found, expected })
                        }
                    };
                }
                '|' | '+' => {
                    let expected =
                        "in a text with '}' or ']', regions end with '}' and lands with ']'";
                    return Err(TextError::Misplaced { at: self.at, found, expected });
                }
                _ => {
                    self.vertex(found)?;
                    continue;
                }
            }
            self.at += 1;
        }
        let expected = "a text with '}' or ']' has to end with '!'";
        Err(TextError::Unfinished { at: self.at, expected })
    }

    /// Ends a region (`level` 0) or a land (1). It must not be empty, and the boundaries and regions in it
    /// must have ended.
    fn end_part(
        &mut self,
        level: usize,
        found: char,
        what: &'static str,
        expected: &'static str,
    ) -> Result<(), TextError> {
        let at = self.at;
        if self.open.is_some() || self.filled[..level].contains(&true) {
            return Err(TextError::Misplaced { at, found, expected });
        }
        if !self.filled[level] {
            return Err(TextError::EmptyPart { at, what });
        }
        self.filled[level] = false;
        self.filled[level + 1] = true;
        self.count[level + 1] += 1;
        Ok(())
    }

    fn end_boundary(&mut self) -> Result<(), TextError> {
        if self.open.take().is_none() {
            return Err(TextError::EmptyBoundary { at: self.at });
        }
        self.count[0] += 1;
        Ok(())
    }

    /// Reads a vertex, or `0*n`.
    fn vertex(&mut self, found: char) -> Result<(), TextError> {
        let at = self.at;
        let vertex = match found {
            '0' => {
                self.at += 1;
                return self.loose(at);
            }
            '1'..='3' => {
                self.at += 1;
                Vertex::Digit(found as u8 - b'0')
            }
            '4'..='9' => return Err(TextError::Digit { at, digit: found }),
            'a'..='z' | 'A'..='Z' => {
                self.at += 1;
                Vertex::Letter(SpotName { letter: found as u8, index: self.index()? })
            }
            '*' => {
                let expected = "only 0 can be multiplied, as in 0*12";
                return Err(TextError::Misplaced { at, found, expected });
            }
            '(' | ')' => {
                let expected = "an index follows a letter, as in A(30)";
                return Err(TextError::Misplaced { at, found, expected });
            }
            _ => return Err(TextError::Unknown { at, found }),
        };
        if self.open == Some(OpenBoundary::Loose) {
            return Err(TextError::LooseSpot { at });
        }
        self.open = Some(OpenBoundary::Vertices);
        self.push(at, vertex)
    }

    /// Reads the rest of a `0`: nothing, or `*n`. Each of the spots is a boundary of its own.
    fn loose(&mut self, at: usize) -> Result<(), TextError> {
        if self.open.is_some() {
            return Err(TextError::LooseSpot { at });
        }
        let mut spots = 1;
        if self.peek() == Some('*') {
            self.at += 1;
            let begin = self.at;
            // A number too large for u64 is above every limit.
            spots = match self.digits() {
                "" => return Err(TextError::Count { at: begin }),
                digits => digits.parse().unwrap_or(u64::MAX),
            };
        }
        if spots > (self.max - self.vertices.len()) as u64 {
            return Err(TextError::TooLarge { at, max: self.max });
        }
        for spot in 0..spots {
            self.count[0] += u32::from(spot > 0);
            self.push(at, Vertex::Digit(0))?;
        }
        self.open = Some(OpenBoundary::Loose);
        Ok(())
    }

    fn index(&mut self) -> Result<Option<u32>, TextError> {
        if self.peek() != Some('(') {
            return Ok(None);
        }
        self.at += 1;
        let at = self.at;
        let index = self.digits().parse().map_err(|_| TextError::Index { at })?;
        if self.peek() != Some(')') {
            return Err(TextError::Index { at: self.at });
        }
        self.at += 1;
        Ok(Some(index))
    }

    fn digits(&mut self) -> &'a str {
        let rest: &'a str = &self.text[self.at..];
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += length;
        &rest[..length]
    }

    fn push(&mut self, at: usize, vertex: Vertex) -> Result<(), TextError> {
        if self.vertices.len() == self.max {
            return Err(TextError::TooLarge { at, max: self.max });
        }
        let [boundary, region, land] = self.count;
        self.vertices.push(WrittenVertex { at, vertex, boundary, region, land });
        Ok(())
    }
}
