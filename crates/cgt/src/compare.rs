//! Stops, comparison and outcome classes.

use std::ops::Neg;

use pn_search::run::Reason;
use serde::Serialize;

use super::dyadic::Dyadic;
use super::store::{GameId, GameStore, NumberUpStar};

/// A stop: the number at which alternate play ends, and the player to move there.
///
/// Four times the number in units, plus 1 if Right is to move, minus 1 if Left is to move (*adorned stops*). A player
/// who has to move in a number loses at it, so Left prefers x with Right to move to x with Left to move. By number
/// avoidance, a game G is at least the number x exactly if its right stop is above x in this order, and at most x
/// exactly if its left stop is below x. So all comparisons with numbers are comparisons of stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stop(i64);

impl Stop {
    /// Below all stops, for a player without options.
    pub const MIN: Stop = Stop(-i64::MAX);
    /// Above all stops.
    pub const MAX: Stop = Stop(i64::MAX);

    /// The stops of a number: there, the left stop is below the right stop.
    pub fn of_number(number: Dyadic) -> [Stop; 2] {
        [Stop(4 * number.units() - 1), Stop(4 * number.units() + 1)]
    }

    /// The number at which play ends.
    pub fn number(self) -> Dyadic {
        Dyadic::checked((self.0 + 1) >> 2).expect("a stop is in the range of numbers")
    }

    /// Returns the simplest number between two stops. `None` if there is none in the range of numbers.
    pub fn simplest_between(low: Stop, high: Stop) -> Option<Dyadic> {
        Dyadic::simplest(low.0.div_euclid(4) + 1, (high.0 - 1).div_euclid(4))
    }
}

impl Neg for Stop {
    type Output = Stop;

    fn neg(self) -> Stop {
        Stop(-self.0)
    }
}

/// Outcome class: the winner of a game for either first player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum OutcomeClass {
    /// Left wins: the game is positive.
    #[serde(rename = "L")]
    Left,
    /// Right wins: the game is negative.
    #[serde(rename = "R")]
    Right,
    /// The next (first) player wins: the game is confused with 0.
    #[serde(rename = "N")]
    Next,
    /// The previous (second) player wins: the game is 0.
    #[serde(rename = "P")]
    Previous,
}

impl OutcomeClass {
    /// The class of a game that is at least 0, at most 0, both or neither.
    pub fn of(is_at_least_0: bool, is_at_most_0: bool) -> OutcomeClass {
        match (is_at_least_0, is_at_most_0) {
            (true, true) => OutcomeClass::Previous,
            (true, false) => OutcomeClass::Left,
            (false, true) => OutcomeClass::Right,
            (false, false) => OutcomeClass::Next,
        }
    }

    /// `L`, `R`, `N` or `P`.
    pub const fn letter(self) -> char {
        match self {
            OutcomeClass::Left => 'L',
            OutcomeClass::Right => 'R',
            OutcomeClass::Next => 'N',
            OutcomeClass::Previous => 'P',
        }
    }
}

/// Results of comparisons, in a table in which a result replaces another one at its place.
pub(super) struct CompareMemo {
    /// The two indices, with the result in the highest bit of the second one. 0 is an empty place: comparisons of the
    /// game 0 are decided by stops.
    entries: Vec<u64>,
}

/// Flag of a true result.
const IS_TRUE: u64 = 1 << 31;

/// Entries of the first table: 64 KiB.
const FIRST_ENTRIES: usize = 1 << 13;

/// Maximum number of entries: 128 MiB.
const MAX_ENTRIES: usize = 1 << 24;

impl CompareMemo {
    pub fn new() -> Self {
        CompareMemo { entries: vec![0; FIRST_ENTRIES] }
    }

    pub fn capacity(&self) -> usize {
        // At its maximum the table does not grow.
        if self.entries.len() == MAX_ENTRIES { usize::MAX } else { self.entries.len() }
    }

    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<u64>()
    }

    /// Doubles the table. It is empty afterwards: results are computed again where they are needed.
    pub fn grow(&mut self) {
        self.entries = vec![0; 2 * self.entries.len()];
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> (64 - self.entries.len().trailing_zeros())) as usize
    }

    #[inline]
    fn get(&self, g: u32, h: u32) -> Option<bool> {
        let key = u64::from(g) << 32 | u64::from(h);
        let entry = self.entries[self.place(key)];
        (entry & !IS_TRUE == key).then_some(entry & IS_TRUE != 0)
    }

    #[inline]
    fn put(&mut self, g: u32, h: u32, result: bool) {
        let key = u64::from(g) << 32 | u64::from(h);
        let place = self.place(key);
        self.entries[place] = if result { key | IS_TRUE } else { key };
    }
}

impl NumberUpStar {
    /// Returns true if this is at most `other`, which has the same number. n.↑ is above every nimber if n is at least 2,
    /// and ↑ is above every nimber but *.
    fn is_at_most(self, other: NumberUpStar) -> bool {
        match (other.ups - self.ups, other.star ^ self.star) {
            (0, star) => star == 0,
            (1, star) => star != 1,
            (ups, _) => ups > 1,
        }
    }
}

impl GameStore<'_> {
    /// The left and the right stop.
    pub fn stops(&self, game: GameId) -> [Dyadic; 2] {
        let node = &self.nodes[self.index_of(game)];
        [node.left_stop.number(), node.right_stop.number()]
    }

    /// The outcome class.
    pub fn class(&self, game: GameId) -> OutcomeClass {
        let node = &self.nodes[self.index_of(game)];
        let [below_0, above_0] = Stop::of_number(Dyadic::ZERO);
        OutcomeClass::of(node.right_stop >= above_0, node.left_stop <= below_0)
    }

    /// Returns true if g ≤ h.
    pub fn is_at_most(&mut self, g: GameId, h: GameId) -> Result<bool, Reason> {
        self.index_of(g);
        self.index_of(h);
        self.at_most(g.index, h.index)
    }

    /// [`Self::is_at_most`] for indices. The stops decide most comparisons: if g ≤ h, then no stop of g exceeds that of
    /// h; if the left stop of g is below the right stop of h, there is a number between them.
    #[inline]
    pub(super) fn at_most(&mut self, g: u32, h: u32) -> Result<bool, Reason> {
        let (a, b) = (self.node(g), self.node(h));
        if a.left_stop > b.left_stop || a.right_stop > b.right_stop {
            return Ok(false);
        }
        if g == h || a.left_stop < b.right_stop {
            return Ok(true);
        }
        self.compare_options(g, h)
    }

    /// g ≤ h unless a left option of g is at least h, or a right option of h is at most g.
    fn compare_options(&mut self, g: u32, h: u32) -> Result<bool, Reason> {
        if let Some(result) = self.compared.get(g, h) {
            return Ok(result);
        }
        if let (Some(a), Some(b)) = (self.node(g).sum_of, self.node(h).sum_of)
            && a.number == b.number
        {
            return Ok(a.is_at_most(b));
        }
        self.poll()?;
        let [lefts, _] = self.places(g);
        let [_, rights] = self.places(h);
        let mut result = true;
        for place in lefts {
            if self.at_most(h, self.option(place))? {
                result = false;
                break;
            }
        }
        if result {
            for place in rights {
                if self.at_most(self.option(place), g)? {
                    result = false;
                    break;
                }
            }
        }
        self.compared.put(g, h, result);
        Ok(result)
    }
}
