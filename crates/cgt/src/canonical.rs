//! Canonical forms: options that are dominated or reversible are removed.

use pn_search::run::Reason;

use super::compare::Stop;
use super::dyadic::Dyadic;
use super::store::{GameId, GameStore, NumberUpStar};

/// A form {left|right} that is not a number, and its stops.
#[derive(Clone, Copy)]
struct Form<'f> {
    left: &'f [u32],
    right: &'f [u32],
    left_stop: Stop,
    right_stop: Stop,
}

impl GameStore<'_> {
    /// Returns the game {left|right}.
    pub fn game(&mut self, left: &[GameId], right: &[GameId]) -> Result<GameId, Reason> {
        let [mut left, mut right] = [left, right]
            .map(|options| options.iter().map(|&o| self.index_of(o) as u32).collect::<Vec<_>>());
        self.canonical(&mut left, &mut right).map(|index| self.id(index))
    }

    /// Returns a number as a game: at most [`Dyadic::MAX_GAME`].
    pub fn number(&mut self, number: Dyadic) -> Result<GameId, Reason> {
        self.number_index(number).map(|index| self.id(index))
    }

    /// Returns the sum of a number, a multiple of ↑ and a nimber.
    pub fn number_up_star(
        &mut self,
        number: Dyadic,
        ups: i32,
        star: u32,
    ) -> Result<GameId, Reason> {
        self.sum_index(NumberUpStar { number, ups, star }).map(|index| self.id(index))
    }

    /// Returns the index of the canonical form of {left|right}. Changes the two lists.
    pub(super) fn canonical(
        &mut self,
        left: &mut Vec<u32>,
        right: &mut Vec<u32>,
    ) -> Result<u32, Reason> {
        self.poll()?;
        for options in [&mut *left, &mut *right] {
            options.sort_unstable();
            options.dedup();
        }
        let left_stop = left.iter().map(|&l| self.node(l).right_stop).max().unwrap_or(Stop::MIN);
        let right_stop = right.iter().map(|&r| self.node(r).left_stop).min().unwrap_or(Stop::MAX);
        // By the simplicity theorem. No stop is a number, so none of the options can be equal to it.
        if left_stop < right_stop {
            let number = Stop::simplest_between(left_stop, right_stop).ok_or(Reason::Memory)?;
            return self.number_index(number);
        }
        self.remove_dominated(left, true)?;
        self.remove_dominated(right, false)?;
        // No step changes the value, so that of the current lists is that of the game.
        for is_left in [true, false] {
            let (mut place, mut has_bypassed) = (0, false);
            loop {
                let form = Form { left, right, left_stop, right_stop };
                let options = if is_left { form.left } else { form.right };
                let Some(&option) = options.get(place) else { break };
                let Some(reverse) = self.reverse(option, is_left, form)? else {
                    place += 1;
                    continue;
                };
                let options = if is_left { &mut *left } else { &mut *right };
                options.swap_remove(place);
                options.extend(if is_left { self.lefts(reverse) } else { self.rights(reverse) });
                has_bypassed = true;
            }
            let options = if is_left { &mut *left } else { &mut *right };
            if has_bypassed {
                options.sort_unstable();
                options.dedup();
                self.remove_dominated(options, is_left)?;
            }
            options.sort_unstable();
        }
        self.intern(left, right, None, [left_stop, right_stop])
    }

    /// Removes options that another one dominates: smaller left options, greater right options.
    fn remove_dominated(&mut self, options: &mut Vec<u32>, is_left: bool) -> Result<(), Reason> {
        let mut place = 0;
        'options: while place < options.len() {
            let option = options[place];
            for other in 0..options.len() {
                if other == place {
                    continue;
                }
                let (low, high) =
                    if is_left { (option, options[other]) } else { (options[other], option) };
                self.poll()?;
                if self.at_most(low, high)? {
                    options.swap_remove(place);
                    continue 'options;
                }
            }
            place += 1;
        }
        Ok(())
    }

    /// Returns an option through which an option of the form is reversible: a right option of a left option that is at
    /// most the form, or a left option of a right option that is at least the form.
    fn reverse(
        &mut self,
        option: u32,
        is_left: bool,
        form: Form<'_>,
    ) -> Result<Option<u32>, Reason> {
        let [lefts, rights] = self.places(option);
        for place in if is_left { rights } else { lefts } {
            let reply = self.option(place);
            self.poll()?;
            if self.is_ordered(reply, form, is_left)? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    /// Returns true if `g` ≤ {left|right} (`is_below`), or if `g` ≥ {left|right}.
    fn is_ordered(&mut self, g: u32, form: Form<'_>, is_below: bool) -> Result<bool, Reason> {
        let node = self.node(g);
        let (own, other) = ([node.left_stop, node.right_stop], [form.left_stop, form.right_stop]);
        let (low, high) = if is_below { (own, other) } else { (other, own) };
        if low[0] > high[0] || low[1] > high[1] {
            return Ok(false);
        }
        if low[0] < high[1] {
            return Ok(true);
        }
        for &option in if is_below { form.right } else { form.left } {
            let (low, high) = if is_below { (option, g) } else { (g, option) };
            if self.at_most(low, high)? {
                return Ok(false);
            }
        }
        self.poll()?;
        let [lefts, rights] = self.places(g);
        for place in if is_below { lefts } else { rights } {
            if self.is_ordered(self.option(place), form, !is_below)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the index of a number.
    pub(super) fn number_index(&mut self, number: Dyadic) -> Result<u32, Reason> {
        if number.max(-number) > Dyadic::MAX_GAME {
            return Err(Reason::Memory);
        }
        // An integer n has the option n − 1, a fraction the two numbers at a distance of 1/2^e. These come first, without
        // recursion: an integer may be large.
        let mut pending = vec![number];
        while let Some(&number) = pending.last() {
            if self.numbers.contains_key(&number) {
                pending.pop();
                continue;
            }
            self.poll()?;
            let unit = number.unit_fraction();
            let towards = |step: Dyadic| number.plus(step).ok_or(Reason::Memory);
            let is_integer = number.exponent() == 0;
            let low = (!is_integer || number > Dyadic::ZERO).then(|| towards(-unit)).transpose()?;
            let high = (!is_integer || number < Dyadic::ZERO).then(|| towards(unit)).transpose()?;
            let index_of = |option: Option<Dyadic>| {
                option.map(|option| self.numbers.get(&option).copied().ok_or(option))
            };
            match (index_of(low).transpose(), index_of(high).transpose()) {
                (Err(missing), _) | (_, Err(missing)) => pending.push(missing),
                (Ok(low), Ok(high)) => {
                    // The store adds the negative at the same time.
                    self.reserve_entry(|games| &mut games.numbers)?;
                    let sum = NumberUpStar { number, ups: 0, star: 0 };
                    let index = self.intern(
                        low.as_slice(),
                        high.as_slice(),
                        Some(sum),
                        Stop::of_number(number),
                    )?;
                    self.numbers.insert(number, index);
                }
            }
        }
        Ok(self.numbers[&number])
    }

    /// Returns the index of a sum of a number, a multiple of ↑ and a nimber.
    pub(super) fn sum_index(&mut self, sum: NumberUpStar) -> Result<u32, Reason> {
        let NumberUpStar { number, ups, star } = sum;
        let number = self.number_index(number)?;
        if ups < 0 {
            let negative = NumberUpStar { number: -sum.number, ups: -ups, star };
            let index = self.sum_index(negative)?;
            return Ok(self.node(index).negative);
        }
        if ups == 0 {
            // Both players have the options x, x*, ..., x*(n - 1) in x*n, which is a canonical form.
            let [low, high] = Stop::of_number(sum.number);
            let mut nimbers = vec![number];
            for star in 1..=star {
                self.poll()?;
                let mut options = nimbers.clone();
                options.sort_unstable();
                let sum = NumberUpStar { number: sum.number, ups: 0, star };
                nimbers.push(self.intern(&options, &options, Some(sum), [high, low])?);
            }
            return Ok(nimbers[star as usize]);
        }
        // x + n.↑ + *m = {x | x + (n − 1).↑ + *(m ^ 1)}, but x + ↑* = {x, x* | x}. So the nimber alternates.
        let first = if ups % 2 == 0 { star } else { star ^ 1 };
        let mut option = self.sum_index(NumberUpStar { ups: 0, star: first, ..sum })?;
        for _ in 0..ups {
            let mut left = vec![number];
            if option == number {
                left.push(self.sum_index(NumberUpStar { ups: 0, star: 1, ..sum })?);
            }
            option = self.canonical(&mut left, &mut vec![option])?;
        }
        Ok(option)
    }

    /// Returns a canonical form, which is not a number, as a sum of a number, a multiple of ↑ and a nimber, if it is such
    /// a sum.
    pub(super) fn recognise(
        &self,
        left: &[u32],
        right: &[u32],
        stops: [Stop; 2],
    ) -> Option<NumberUpStar> {
        let number = stops[0].number();
        if number != stops[1].number() {
            return None;
        }
        let part = |&option: &u32| self.node(option).sum_of.filter(|sum| sum.number == number);
        let star =
            |option: &u32| part(option).filter(|sum| sum.ups == 0).map(|sum| sum.star as usize);
        let is_number = |options: &[u32]| matches!(options, [option] if star(option) == Some(0));
        if left == right {
            let is_below = |option: &u32| star(option).is_some_and(|star| star < left.len());
            return left.iter().all(is_below).then_some(NumberUpStar {
                number,
                ups: 0,
                star: left.len() as u32,
            });
        }
        // The forms of `sum_index`. Those of their negatives have left and right exchanged.
        let ups = |left: &[u32], right: &[u32], sign: i32| match right {
            [option] if is_number(left) => {
                let sum = part(option).filter(|sum| sum.ups * sign >= 0)?;
                Some(NumberUpStar { ups: sum.ups + sign, star: sum.star ^ 1, ..sum })
            }
            _ if is_number(right)
                && left.len() == 2
                && left.iter().all(|option| star(option).is_some_and(|star| star < 2)) =>
            {
                Some(NumberUpStar { number, ups: sign, star: 1 })
            }
            _ => None,
        };
        ups(left, right, 1).or_else(|| ups(right, left, -1))
    }
}
