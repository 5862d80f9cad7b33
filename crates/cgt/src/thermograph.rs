//! Thermographs: mean, temperature, and the stops of a game for each tax on moves.

use pn_search::run::Reason;

use super::dyadic::Dyadic;
use super::store::{GameId, GameStore};

/// The thermograph of a game from temperature 0 upwards.
///
/// A wall is a list of points (temperature, stop). It is straight between two points, and vertical above the last one:
/// there is the mast, at the mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thermograph {
    /// The left stop of the game cooled by t, for each t.
    pub left: Vec<[Dyadic; 2]>,
    /// The right stop of the game cooled by t, for each t.
    pub right: Vec<[Dyadic; 2]>,
    /// Mean value.
    pub mean: Dyadic,
    /// The lowest temperature at which the walls meet. For a number with the denominator 2^e it is -1/2^e.
    pub temperature: Dyadic,
}

/// A wall with a tax: points as in a wall, and a slope of -1 (left) or 1 (right) above the last one.
type Scaffold = Vec<[Dyadic; 2]>;

impl GameStore<'_> {
    /// Returns the thermograph; `None` if a number in it is out of the range of [`Dyadic`].
    pub fn thermograph(&mut self, game: GameId) -> Result<Option<Thermograph>, Reason> {
        self.index_of(game);
        self.make_thermograph(game.index)?;
        Ok(self.thermographs[&game.index].clone())
    }

    /// Adds the thermograph of a game, and those of its positions, to the memo.
    fn make_thermograph(&mut self, game: u32) -> Result<(), Reason> {
        if self.thermographs.contains_key(&game) {
            return Ok(());
        }
        self.poll()?;
        let node = *self.node(game);
        let thermograph = match node.sum_of {
            // All infinitesimals have temperature 0.
            Some(sum) => {
                let temperature =
                    if node.is_number() { -sum.number.unit_fraction() } else { Dyadic::ZERO };
                let wall = vec![[Dyadic::ZERO, sum.number]];
                Some(Thermograph { left: wall.clone(), right: wall, mean: sum.number, temperature })
            }
            None => {
                let [lefts, rights] = self.places(game);
                for place in lefts.clone().chain(rights.clone()) {
                    self.make_thermograph(self.option(place))?;
                }
                let walls = |place| self.thermographs[&self.option(place)].as_ref();
                let left = lefts.map(|place| scaffold::<true>(&walls(place)?.right));
                let right = rights.map(|place| scaffold::<false>(&walls(place)?.left));
                outermost::<true>(left)
                    .zip(outermost::<false>(right))
                    .and_then(|(left, right)| meet(left, right))
            }
        };
        self.reserve_entry(|games| &mut games.thermographs)?;
        self.thermographs.insert(game, thermograph);
        Ok(())
    }
}

/// Returns the scaffold of an option: its opposite wall, from which the tax for the move to it is subtracted (left) or to
/// which it is added (right).
fn scaffold<const LEFT: bool>(wall: &[[Dyadic; 2]]) -> Option<Scaffold> {
    wall.iter().map(|&[t, x]| Some([t, if LEFT { x.minus(t)? } else { x.plus(t)? }])).collect()
}

/// Returns the value of a scaffold at a temperature.
fn at<const LEFT: bool>(scaffold: &Scaffold, t: Dyadic) -> Option<Dyadic> {
    let above = scaffold.partition_point(|&[point, _]| point <= t);
    let [begin, x] = scaffold[above - 1];
    let is_vertical = scaffold.get(above).is_some_and(|&[_, next]| next == x);
    if is_vertical {
        return Some(x);
    }
    let distance = t.minus(begin)?;
    if LEFT { x.minus(distance) } else { x.plus(distance) }
}

/// Returns the maximum of left scaffolds, or the minimum of right scaffolds.
fn outermost<const LEFT: bool>(
    scaffolds: impl Iterator<Item = Option<Scaffold>>,
) -> Option<Scaffold> {
    let mut scaffolds = scaffolds;
    let first = scaffolds.next().flatten()?;
    scaffolds.try_fold(first, |a, b| outer_of_two::<LEFT>(&a, &b?))
}

fn outer_of_two<const LEFT: bool>(a: &Scaffold, b: &Scaffold) -> Option<Scaffold> {
    let mut result: Scaffold = Vec::new();
    let mut push = |point: [Dyadic; 2]| {
        // A point on the line of the two before it is left out.
        if let [.., [t0, x0], [t1, x1]] = result[..]
            && x1.minus(x0).zip(point[1].minus(x1)).is_some_and(|(first, second)| {
                (first == Dyadic::ZERO) == (second == Dyadic::ZERO) && t0 != t1
            })
        {
            result.pop();
        }
        result.push(point);
    };
    // The difference at the last point, and its temperature.
    let mut last: Option<(Dyadic, Dyadic)> = None;
    for t in temperatures(a, b) {
        let (x, y) = (at::<LEFT>(a, t)?, at::<LEFT>(b, t)?);
        let difference = x.minus(y)?;
        if let Some((before, begin)) = last
            && (before < Dyadic::ZERO && difference > Dyadic::ZERO
                || before > Dyadic::ZERO && difference < Dyadic::ZERO)
        {
            // One of the two is vertical, so the difference changes as fast as the temperature.
            let distance = if before < Dyadic::ZERO { -before } else { before };
            let crossing = begin.plus(distance)?;
            push([crossing, at::<LEFT>(a, crossing)?]);
        }
        push([t, if (difference > Dyadic::ZERO) == LEFT { x } else { y }]);
        last = Some((difference, t));
    }
    Some(result)
}

/// Returns the temperatures of all points of two scaffolds.
fn temperatures(a: &Scaffold, b: &Scaffold) -> Vec<Dyadic> {
    let mut all: Vec<Dyadic> = a.iter().chain(b).map(|&[t, _]| t).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the thermograph with these scaffolds, which meet at the temperature of the game.
fn meet(left: Scaffold, right: Scaffold) -> Option<Thermograph> {
    let distance = |t| at::<true>(&left, t)?.minus(at::<false>(&right, t)?);
    let temperatures = temperatures(&left, &right);
    // The last temperature at which the scaffolds have not met.
    let mut below = None;
    for &t in &temperatures {
        if distance(t)? <= Dyadic::ZERO {
            break;
        }
        below = Some(t);
    }
    let temperature = match below {
        None => temperatures[0],
        Some(begin) => {
            // The distance decreases by 1 or 2 for each degree, or not at all until the next point.
            let open = distance(begin)?;
            let is_crossing = |t: &Dyadic| distance(*t).is_some_and(|end| end <= Dyadic::ZERO);
            let half = begin.plus(open.half()?)?;
            if is_crossing(&half) { half } else { begin.plus(open)? }
        }
    };
    let mean = at::<true>(&left, temperature)?;
    let cut = |scaffold: Scaffold| {
        let mut wall: Vec<_> = scaffold.into_iter().filter(|&[t, _]| t < temperature).collect();
        wall.push([temperature, mean]);
        wall
    };
    Some(Thermograph { left: cut(left), right: cut(right), mean, temperature })
}
