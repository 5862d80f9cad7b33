//! Text of games, in the notation of CGSuite.
//!
//! ```text
//! 3  -5/4          numbers
//! *  *2            nimbers
//! ^  v  ^^  v3     multiples of up and down: ^, ^^, then ^3, ^4
//! 1/2^*2           a sum of a number, a multiple of up, and a nimber
//! tiny(2) miny(2)  {0||0|-2} and its negative
//! ±1  ±{3|2}  ±(1,{2|0})   a game that is its own negative, by its left options
//! {a,b|c}          left and right options
//! {a||b|c}         {a|{b|c}}: the longest row of bars divides first
//! ```

use std::fmt::Write as _;

use super::store::{GameId, GameStore, NumberUpStar};

/// Maximum number of bytes of a text without an ellipsis. Canonical forms share positions, so that the text of a form of
/// some hundred games may be longer than any memory.
const MAX_TEXT: usize = 1 << 20;

/// Text of a game within braces, and the longest row of bars in it outside of inner braces; 0 for a game with a name,
/// which needs no braces.
struct Written {
    text: String,
    bars: usize,
}

impl GameStore<'_> {
    /// Returns the text of a game. The part of a text after about a million bytes is replaced by `…`.
    pub fn text(&self, game: GameId) -> String {
        self.index_of(game);
        let mut budget = MAX_TEXT;
        self.write(game.index, &mut budget).braced()
    }

    /// Writes a game and subtracts the number of bytes from the budget.
    fn write(&self, game: u32, budget: &mut usize) -> Written {
        let node = self.node(game);
        let name = if let Some(sum) = node.sum_of {
            Some(sum.to_string())
        } else if *budget == 0 {
            Some("…".to_owned())
        } else if let Some(size) = self.tiny_size(game) {
            Some(format!("tiny({})", self.write(size, budget).braced()))
        } else if let Some(size) = self.tiny_size(node.negative) {
            Some(format!("miny({})", self.write(size, budget).braced()))
        } else if node.negative == game {
            let options = self.write_options(self.lefts(game), budget);
            Some(if self.lefts(game).len() == 1 {
                format!("±{options}")
            } else {
                format!("±({options})")
            })
        } else {
            None
        };
        if let Some(text) = name {
            *budget = budget.saturating_sub(text.len());
            return Written { text, bars: 0 };
        }
        let [left, right] = [self.lefts(game), self.rights(game)].map(|options| match options {
            [option] => self.write(*option, budget),
            options => Written { text: self.write_options(options, budget), bars: 0 },
        });
        let bars = left.bars.max(right.bars) + 1;
        Written { text: format!("{}{}{}", left.text, "|".repeat(bars), right.text), bars }
    }

    /// Writes options in descending order of their stops: the order does not depend on the order of the computation.
    fn write_options(&self, options: &[u32], budget: &mut usize) -> String {
        let mut texts: Vec<_> = options
            .iter()
            .map(|&option| {
                let node = self.node(option);
                (node.right_stop, node.left_stop, self.write(option, budget).braced())
            })
            .collect();
        texts.sort_unstable_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then_with(|| a.2.cmp(&b.2)));
        let texts: Vec<_> = texts.into_iter().map(|(_, _, text)| text).collect();
        texts.join(",")
    }

    /// Returns G for a game {0||0|-G}.
    fn tiny_size(&self, game: u32) -> Option<u32> {
        match (self.lefts(game), self.rights(game)) {
            (&[0], &[right]) => match (self.lefts(right), self.rights(right)) {
                (&[0], &[size]) => Some(self.node(size).negative),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Written {
    fn braced(self) -> String {
        if self.bars == 0 { self.text } else { format!("{{{}}}", self.text) }
    }
}

impl std::fmt::Display for NumberUpStar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        if self.number != super::Dyadic::ZERO || (self.ups, self.star) == (0, 0) {
            let _ = write!(text, "{}", self.number);
        }
        let arrow = if self.ups > 0 { "^" } else { "v" };
        match self.ups.unsigned_abs() {
            ups @ 0..=2 => text += &arrow.repeat(ups as usize),
            ups => {
                let _ = write!(text, "{arrow}{ups}");
            }
        }
        match self.star {
            0 => {}
            1 => text.push('*'),
            star => {
                let _ = write!(text, "*{star}");
            }
        }
        f.pad(&text)
    }
}
