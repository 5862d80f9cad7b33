//! Reading of games in the notation of [`GameStore::text`], and of its other spellings.
//!
//! Also read: sums and differences `{2|1} + * - ^`, parentheses around a game, `+-1` for `±1`, `3.^` for `^3`, the arrows
//! `↑`, `↓`, `⇑` (two ups) and `⇓`, `⧾2` and `⧿2` for tiny(2) and miny(2), decimals such as `0.75`, a minus sign before
//! any game, and forms that are not canonical.

use konane_base::system::quote;
use pn_search::ErrorKind;
use pn_search::run::Reason;

use super::dyadic::Dyadic;
use super::store::{GameId, GameStore};

/// Maximum depth of braces and parentheses.
const MAX_DEPTH: usize = 100;

/// Maximum multiple of ↑ and maximum nimber.
const MAX_MULTIPLE: u32 = 1000;

/// Error of a text that is not a game, or whose game does not fit into the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameTextError {
    /// Text that does not follow the notation.
    #[error("{text:?} is not a game: character {column} should be {expected}")]
    Syntax {
        /// The text, abbreviated if it is long.
        text: String,
        /// Place of the first character that cannot be read, from 1.
        column: usize,
        /// Characters that can be read there.
        expected: &'static str,
    },
    /// A limit of the store was reached.
    #[error("the game in the text cannot be computed: {}", .0.text())]
    Limit(Reason),
}

impl GameTextError {
    /// Returns the kind of this error.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            GameTextError::Syntax { .. } => ErrorKind::Usage,
            GameTextError::Limit(reason) => reason.kind(),
        }
    }
}

impl From<Reason> for GameTextError {
    fn from(reason: Reason) -> Self {
        GameTextError::Limit(reason)
    }
}

/// State of the parser: the text, and the place of the next character.
struct Parser<'p, 'a> {
    games: &'p mut GameStore<'a>,
    text: &'p str,
    place: usize,
    depth: usize,
}

impl GameStore<'_> {
    /// Reads a game.
    ///
    /// # Errors
    /// If the text is not a game, or a limit of the store is reached.
    pub fn parse(&mut self, text: &str) -> Result<GameId, GameTextError> {
        let mut parser = Parser { games: self, text, place: 0, depth: 0 };
        let game = parser.sum()?;
        if parser.rest().is_empty() {
            return Ok(game);
        }
        Err(parser.error("\"+\", \"-\" or the end of the text"))
    }
}

impl Parser<'_, '_> {
    fn rest(&self) -> &str {
        &self.text[self.place..]
    }

    fn skip_spaces(&mut self) {
        self.place += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips a text if it is next.
    fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.place += text.len();
        }
        is_next
    }

    /// Skips a text or returns an error.
    fn must_take(&mut self, text: &str, expected: &'static str) -> Result<(), GameTextError> {
        self.skip_spaces();
        if self.take(text) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn error(&self, expected: &'static str) -> GameTextError {
        let column = self.text[..self.place].chars().count() + 1;
        GameTextError::Syntax { text: quote(self.text), column, expected }
    }

    /// Skips digits and returns them.
    fn digits(&mut self) -> &str {
        let begin = self.place;
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.place += len;
        &self.text[begin..self.place]
    }

    /// Reads the number after `^`, `v` or `*`, if there is one.
    fn multiple(&mut self) -> Result<Option<u32>, GameTextError> {
        let begin = self.place;
        let digits = self.digits();
        if digits.is_empty() {
            return Ok(None);
        }
        match digits.parse() {
            Ok(multiple) if multiple <= MAX_MULTIPLE => Ok(Some(multiple)),
            _ => {
                self.place = begin;
                Err(self.error("a number up to 1000"))
            }
        }
    }

    /// Reads games with signs between them, and the white space after them.
    fn sum(&mut self) -> Result<GameId, GameTextError> {
        let mut sum = self.game()?;
        loop {
            self.skip_spaces();
            let game = if self.take("+") {
                self.game()?
            } else if self.take("-") {
                let game = self.game()?;
                self.games.negative(game)
            } else {
                return Ok(sum);
            };
            sum = self.games.sum(sum, game)?;
        }
    }

    /// Reads a game that is not a sum with signs.
    fn game(&mut self) -> Result<GameId, GameTextError> {
        self.skip_spaces();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("at a depth of at most 100 games"));
        }
        let after_minus = self.rest().strip_prefix('-').map(|rest| rest.bytes().next());
        let game =
            if after_minus.is_some_and(|next| !next.is_some_and(|byte| byte.is_ascii_digit())) {
                self.place += 1;
                let game = self.game()?;
                self.games.negative(game)
            } else if self.take("±") || self.take("+-") {
                let options = if self.take("(") {
                    let options = self.options()?;
                    self.must_take(")", "\",\" or \")\"")?;
                    options
                } else {
                    vec![self.game()?]
                };
                let negatives: Vec<_> =
                    options.iter().map(|&option| self.games.negative(option)).collect();
                self.games.game(&options, &negatives)?
            } else if self.take("{") {
                let game = self.divided()?;
                self.must_take("}", "\",\", \"|\" or \"}\"")?;
                game
            } else if self.take("(") {
                let game = self.sum()?;
                self.must_take(")", "\"+\", \"-\" or \")\"")?;
                game
            } else if self.take("tiny") || self.take("Tiny") || self.take("⧾") {
                self.tiny()?
            } else if self.take("miny") || self.take("Miny") || self.take("⧿") {
                let tiny = self.tiny()?;
                self.games.negative(tiny)
            } else {
                self.number_up_star()?
            };
        self.depth -= 1;
        Ok(game)
    }

    /// Reads G and returns {0||0|-G}. G is a number, or has parentheses or braces.
    fn tiny(&mut self) -> Result<GameId, GameTextError> {
        let size = match self.rest().bytes().next() {
            Some(b'0'..=b'9') => {
                let (value, _) = self.number()?;
                self.games.number_up_star(value, 0, 0)?
            }
            Some(b'(' | b'{') => self.game()?,
            _ => return Err(self.error("a number, \"(\" or \"{\"")),
        };
        let (zero, negative) = (self.games.zero(), self.games.negative(size));
        let threat = self.games.game(&[zero], &[negative])?;
        Ok(self.games.game(&[zero], &[threat])?)
    }

    /// Reads options with commas between them.
    fn options(&mut self) -> Result<Vec<GameId>, GameTextError> {
        let mut options = vec![self.sum()?];
        while self.take(",") {
            options.push(self.sum()?);
        }
        Ok(options)
    }

    /// Reads lists of options with bars between them.
    fn divided(&mut self) -> Result<GameId, GameTextError> {
        let mut lists = Vec::new();
        // Number of bars after each list but the last one, and their place.
        let mut bars: Vec<(usize, usize)> = Vec::new();
        loop {
            self.skip_spaces();
            let is_empty = self.rest().is_empty() || self.rest().starts_with(['|', '}']);
            lists.push(if is_empty { Vec::new() } else { self.options()? });
            self.skip_spaces();
            let begin = self.place;
            while self.take("|") {}
            if self.place == begin {
                break;
            }
            bars.push((self.place - begin, begin));
        }
        if bars.is_empty() {
            return Err(self.error("\",\" or \"|\""));
        }
        self.divide(&lists, &bars)
    }

    /// Returns the game of lists of options, divided at the longest row of bars.
    fn divide(
        &mut self,
        lists: &[Vec<GameId>],
        bars: &[(usize, usize)],
    ) -> Result<GameId, GameTextError> {
        let most = bars.iter().map(|&(len, _)| len).max().unwrap_or(0);
        let mut longest = (0..bars.len()).filter(|&at| bars[at].0 == most);
        let middle = longest.next().expect("there is a row of bars");
        if let Some(second) = longest.next() {
            self.place = bars[second].1;
            return Err(self.error("\"}\", or a row of bars of another length"));
        }
        let mut side = |lists: &[Vec<GameId>], bars: &[(usize, usize)]| match lists {
            [options] => Ok(options.clone()),
            _ => self.divide(lists, bars).map(|game| vec![game]),
        };
        let left = side(&lists[..=middle], &bars[..middle])?;
        let right = side(&lists[middle + 1..], &bars[middle + 1..])?;
        Ok(self.games.game(&left, &right)?)
    }

    /// Reads an integer, a fraction or a decimal. Also returns the integer.
    fn number(&mut self) -> Result<(Dyadic, Option<i32>), GameTextError> {
        let begin = self.place;
        self.take("-");
        self.digits();
        let end = self.place;
        // A point without a digit after it is that of a multiple, `3.^`.
        let is_decimal = self
            .rest()
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()));
        if (is_decimal && self.take(".") || self.take("/")) && self.digits().is_empty() {
            return Err(self.error("a power of 2"));
        }
        let text = &self.text[begin..self.place];
        let is_game = |value: &Dyadic| (-Dyadic::MAX_GAME..=Dyadic::MAX_GAME).contains(value);
        let Some(value) = text.parse().ok().filter(is_game) else {
            self.place = begin;
            return Err(self.error(
                "a number k/2^e with e up to 40, from -4096 to 4096, such as 3/4 or 0.75 (0.1 and 1/3 are none)",
            ));
        };
        let integer = self.text[begin..end].parse::<i32>().ok();
        Ok((value, integer.filter(|_| self.place == end)))
    }

    /// Reads a sum of a number, a multiple of up or down, and a nimber, such as `-1/2^3*2`.
    fn number_up_star(&mut self) -> Result<GameId, GameTextError> {
        const EXPECTED: &str = "a number, \"*\", \"^\", \"v\", \"±\", \"{\", \"(\" or \"tiny(\"";
        let begin = self.place;
        let is_number =
            self.rest().trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
        let number = is_number.then(|| self.number()).transpose()?;
        let mut ups = 0i32;
        let mut value = number.map_or(Dyadic::ZERO, |(value, _)| value);
        let is_multiple = number.is_some() && self.take(".");
        let up_begin = self.place;
        for (arrow, count) in [("^", 1), ("↑", 1), ("⇑", 2), ("v", -1), ("↓", -1), ("⇓", -2)]
        {
            while self.take(arrow) {
                ups += count;
            }
            if ups != 0 {
                break;
            }
        }
        if is_multiple {
            let multiple = number.and_then(|(_, integer)| integer);
            let multiple = multiple.filter(|multiple| multiple.unsigned_abs() <= MAX_MULTIPLE);
            let (Some(multiple), 1) = (multiple, ups.abs()) else {
                self.place = up_begin;
                return Err(self.error("\"^\" or \"v\", after an integer up to 1000"));
            };
            ups *= multiple;
            value = Dyadic::ZERO;
        } else if ups.abs() == 1
            && let Some(multiple) = self.multiple()?
        {
            ups *= multiple as i32;
        } else if ups.unsigned_abs() > MAX_MULTIPLE {
            self.place = up_begin;
            return Err(self.error("at most 1000 arrows"));
        }
        let star = if self.take("*") { self.multiple()?.unwrap_or(1) } else { 0 };
        if self.place == begin {
            return Err(self.error(EXPECTED));
        }
        Ok(self.games.number_up_star(value, ups, star)?)
    }
}
