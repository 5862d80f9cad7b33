//! Sums and cooling.

use std::collections::HashMap;

use pn_search::run::Reason;

use super::dyadic::Dyadic;
use super::store::{GameId, GameStore, NumberUpStar};

impl GameStore<'_> {
    /// Returns the sum of two games.
    pub fn sum(&mut self, g: GameId, h: GameId) -> Result<GameId, Reason> {
        self.index_of(g);
        self.index_of(h);
        self.sum_of(g.index, h.index).map(|index| self.id(index))
    }

    /// [`Self::sum`] for indices.
    fn sum_of(&mut self, g: u32, h: u32) -> Result<u32, Reason> {
        let (a, b) = (*self.node(g), *self.node(h));
        if a.negative == h {
            return Ok(0);
        }
        if let (Some(a), Some(b)) = (a.sum_of, b.sum_of) {
            let number = a.number.plus(b.number).ok_or(Reason::Memory)?;
            let ups = a.ups.checked_add(b.ups).ok_or(Reason::Memory)?;
            return self.sum_index(NumberUpStar { number, ups, star: a.star ^ b.star });
        }
        let (g, h) = (g.min(h), g.max(h));
        if g == 0 {
            return Ok(h);
        }
        if let Some(&sum) = self.sums.get(&(g, h)) {
            return Ok(sum);
        }
        // To add a number, one adds it to the options of the other game (number translation).
        let [with_options_of_g, with_options_of_h] = match (a.is_number(), b.is_number()) {
            (false, false) => [true, true],
            _ => [!self.node(g).is_number(), !self.node(h).is_number()],
        };
        let mut options = [Vec::new(), Vec::new()];
        for (game, other, is_used) in [(g, h, with_options_of_g), (h, g, with_options_of_h)] {
            if is_used {
                for (side, places) in self.places(game).into_iter().enumerate() {
                    for place in places {
                        let sum = self.sum_of(self.option(place), other)?;
                        options[side].push(sum);
                    }
                }
            }
        }
        let [left, right] = &mut options;
        let sum = self.canonical(left, right)?;
        self.reserve_entry(|games| &mut games.sums)?;
        self.sums.insert((g, h), sum);
        Ok(sum)
    }

    /// Returns the game cooled by `t`: every move costs `t`, and above its temperature the game is its mean. `None` if a
    /// number is out of range.
    pub fn cooled(&mut self, game: GameId, t: Dyadic) -> Result<Option<GameId>, Reason> {
        self.cool(game, t, &mut HashMap::new())
    }

    fn cool(
        &mut self,
        game: GameId,
        t: Dyadic,
        cooled: &mut HashMap<GameId, GameId>,
    ) -> Result<Option<GameId>, Reason> {
        if let Some(&cooled) = cooled.get(&game) {
            return Ok(Some(cooled));
        }
        let Some(thermograph) = self.thermograph(game)? else { return Ok(None) };
        let result = if thermograph.temperature < t || self.as_number(game).is_some() {
            self.number(thermograph.mean)?
        } else {
            let tax = self.number(t)?;
            let mut options =
                [self.left_options(game).collect::<Vec<_>>(), self.right_options(game).collect()];
            for (side, tax) in options.iter_mut().zip([self.negative(tax), tax]) {
                for option in side {
                    let Some(cold) = self.cool(*option, t, cooled)? else { return Ok(None) };
                    *option = self.sum(cold, tax)?;
                }
            }
            self.game(&options[0], &options[1])?
        };
        cooled.insert(game, result);
        Ok(Some(result))
    }
}
