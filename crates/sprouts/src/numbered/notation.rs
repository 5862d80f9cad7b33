//! Texts of moves: [`WrittenMove`] is the content of a text, which may fit several moves of a position.

use std::fmt::{self, Write as _};

use super::moves::{NumberedMove, Site};
use super::{NumberedPosition, Walk};
use crate::error::MoveTextError;

/// The parts of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WrittenMove {
    /// The spots that the curve connects.
    connected: [u32; 2],
    /// True for each of them that is followed by `!`.
    marks: [bool; 2],
    fresh: u32,
    /// The spot after `@`.
    accessible: Option<u32>,
    /// The listed spots, in ascending order.
    list: Vec<u32>,
}

/// A move that fits a text.
struct Fit {
    mv: NumberedMove,
    /// True if the listed spots are on the right of the curve.
    is_right: bool,
    /// Number of piers that the list omits.
    omitted: usize,
}

impl NumberedPosition {
    /// Reads a move. The [module](super) explains the notation.
    ///
    /// # Errors
    /// [`MoveTextError`] if no move fits, or if several moves fit that lead to different positions.
    pub fn read(&self, text: &str) -> Result<NumberedMove, MoveTextError> {
        let mut fits = self.resolve(&parse(text, self.last_spot() + 1)?)?;
        match fits.len() {
            1 => Ok(fits.remove(0)),
            _ => Err(MoveTextError::Ambiguous {
                texts: fits.iter().map(|mv| self.write(mv)).collect::<Vec<_>>().join(" or "),
            }),
        }
    }

    /// Returns the shortest text from which [`NumberedPosition::read`] finds a move to the same position, up to
    /// reflections of lands and dead spots. The ends of the curve are in ascending order if possible. To follow a
    /// written game, play the move that is read back, because later marks depend on reflections.
    ///
    /// # Panics
    /// If the move is one of another position.
    pub fn write(&self, mv: &NumberedMove) -> String {
        let after = self.play(mv).shape();
        let mut texts: Vec<(String, WrittenMove)> =
            self.forms(mv).into_iter().map(|form| (form.to_string(), form)).collect();
        texts.sort_by_cached_key(|(text, form)| {
            (form.connected[0] > form.connected[1], text.len(), text.clone())
        });
        let is_read_back = |(_, form): &(String, WrittenMove)| match self.resolve(form).as_deref() {
            Ok([fit]) => self.play(fit).shape() == after,
            _ => false,
        };
        texts.into_iter().find(is_read_back).expect("a form distinguishes each move").0
    }

    /// Returns all forms that may describe a move.
    fn forms(&self, mv: &NumberedMove) -> Vec<WrittenMove> {
        let connected = self.connected(mv);
        let mut lists = vec![Vec::new()];
        if mv.is_enclosing() {
            let sides = [false, true].map(|is_right| self.separated(mv, is_right));
            let list = |side: &[(u32, bool)], has_piers: bool| {
                let listed = side.iter().filter(|&&(_, is_pier)| has_piers || !is_pier);
                listed.map(|&(spot, _)| spot).collect()
            };
            lists = sides.iter().flat_map(|side| [list(side, false), list(side, true)]).collect();
        }
        let others = self.regions.iter().enumerate().filter(|&(number, region)| {
            number != mv.region && connected.iter().all(|&spot| contains(region, spot))
        });
        let others: Vec<&Vec<Walk>> = others.map(|(_, region)| region).collect();
        let spots = self.regions[mv.region].iter().flatten().copied();
        let unique = spots.filter(|&spot| {
            let is_elsewhere = others.iter().any(|region| contains(region, spot));
            self.is_live(spot) && !connected.contains(&spot) && !is_elsewhere
        });
        let places = match others.is_empty() {
            true => vec![None],
            false => [None].into_iter().chain(unique.min().map(Some)).collect(),
        };
        let mut forms = Vec::new();
        for list in lists {
            for &accessible in &places {
                for marks in [[false, false], [true, false], [false, true], [true, true]] {
                    for connected in [connected, [connected[1], connected[0]]] {
                        let fresh = self.last_spot() + 1;
                        let list = list.clone();
                        forms.push(WrittenMove { connected, marks, fresh, accessible, list });
                    }
                }
            }
        }
        forms
    }

    /// Returns the moves that a text may mean, without those that lead to equal positions.
    fn resolve(&self, written: &WrittenMove) -> Result<Vec<NumberedMove>, MoveTextError> {
        self.check_spots(written)?;
        let mut regions = self.fits(written)?;
        if let Some(spot) = written.accessible {
            regions.retain(|fits| contains(&self.regions[fits[0].mv.region], spot));
            if regions.is_empty() {
                return Err(MoveTextError::Inaccessible { spot });
            }
        } else if let [first, second] = &regions[..] {
            let [first, second] = [first, second].map(|fits| &self.regions[fits[0].mv.region]);
            let has_more = |region: &[Walk], other| {
                let mut spots = region.iter().flatten();
                spots.any(|&spot| self.is_live(spot) && !contains(other, spot))
            };
            match [has_more(first, second), has_more(second, first)] {
                [true, false] => drop(regions.remove(0)),
                [false, true] => drop(regions.remove(1)),
                _ => {}
            }
        }
        let mut moves: Vec<NumberedMove> = Vec::new();
        let mut shapes = Vec::new();
        for fits in regions {
            for fit in self.expected(fits, written.marks) {
                let shape = self.play(&fit.mv).shape();
                if !shapes.contains(&shape) {
                    shapes.push(shape);
                    moves.push(fit.mv);
                }
            }
        }
        Ok(moves)
    }

    fn check_spots(&self, written: &WrittenMove) -> Result<(), MoveTextError> {
        let spots = self.last_spot();
        let &WrittenMove { connected: [from, to], fresh, .. } = written;
        let all = written.connected.iter().chain(&written.accessible).chain(&written.list);
        if let Some(&spot) = all.clone().find(|&&spot| !(1..=spots).contains(&spot)) {
            return Err(MoveTextError::NoSpot { spot, spots });
        }
        if fresh != spots + 1 {
            return Err(MoveTextError::FreshSpot { fresh, expected: spots + 1 });
        }
        if let Some(&spot) = all.clone().find(|&&spot| !self.is_live(spot)) {
            return Err(MoveTextError::Dead { spot });
        }
        match from == to && self.ends_of(from) == 2 {
            true => Err(MoveTextError::OneLife { spot: from }),
            false => Ok(()),
        }
    }

    /// Returns the moves that fit the ends of the curve and the list, one entry for each region.
    fn fits(&self, written: &WrittenMove) -> Result<Vec<Vec<Fit>>, MoveTextError> {
        let [from, to] = written.connected;
        let (mut regions, mut is_apart, mut is_enclosing) = (Vec::new(), true, false);
        for region in 0..self.regions.len() {
            let [starts, ends] = [from, to].map(|spot| self.sites(region, spot));
            let pairs = starts.iter().flat_map(|&start| ends.iter().map(move |&end| [start, end]));
            let mut fits = Vec::new();
            for sites in pairs {
                is_apart = false;
                let right = Vec::new();
                let mut mv = NumberedMove { region, sites, right };
                if !mv.is_enclosing() {
                    if written.list.is_empty() {
                        fits.push(Fit { mv, is_right: false, omitted: 0 });
                    }
                    continue;
                }
                is_enclosing = true;
                for is_right in [true, false] {
                    let has_listed =
                        |walk: &Walk| walk.iter().any(|spot| written.list.contains(spot));
                    let walks = self.regions[region].iter().enumerate();
                    let right = walks.filter(|&(_, walk)| has_listed(walk) == is_right);
                    mv.right = right.map(|(boundary, _)| boundary).collect();
                    if let Some(omitted) = self.omitted(&mv, is_right, &written.list) {
                        fits.push(Fit { mv: mv.clone(), is_right, omitted });
                    }
                }
            }
            if !fits.is_empty() {
                regions.push(fits);
            }
        }
        match regions.is_empty() {
            true if is_apart => Err(MoveTextError::Apart { from, to }),
            true if !is_enclosing => Err(MoveTextError::NotEnclosing { from, to }),
            true => Err(MoveTextError::List { from, to }),
            false => Ok(regions),
        }
    }

    /// Returns the number of spots that a list of one side of an enclosing curve omits; `None` if the list is not one
    /// of this side.
    fn omitted(&self, mv: &NumberedMove, is_right: bool, list: &[u32]) -> Option<usize> {
        let side = self.separated(mv, is_right);
        let is_on_side = |spot: &u32| side.iter().any(|(other, _)| other == spot);
        let touched = &self.regions[mv.region][mv.sites[0].boundary];
        let mut of_touched = side.iter().filter(|(spot, _)| touched.contains(spot));
        let is_named = of_touched.clone().any(|(spot, _)| list.contains(spot));
        let fits =
            list.iter().all(is_on_side) && (is_named || of_touched.all(|&(_, is_pier)| is_pier));
        fits.then(|| side.len() - list.len())
    }

    /// Returns the occurrences of a spot along the border of a region.
    fn sites(&self, region: usize, spot: u32) -> Vec<Site> {
        let walks = self.regions[region].iter().enumerate();
        let sites = walks.flat_map(|(boundary, walk)| {
            let places = walk.iter().enumerate().filter(|&(_, &other)| other == spot);
            places.map(move |(index, _)| Site { boundary, index })
        });
        sites.collect()
    }

    /// Reduces the moves of a region that fit a text to those that players expect.
    fn expected(&self, mut fits: Vec<Fit>, marks: [bool; 2]) -> Vec<Fit> {
        let omitted = fits.iter().map(|fit| fit.omitted).min();
        fits.retain(|fit| Some(fit.omitted) == omitted);
        let has_marks = |fit: &Fit| {
            let mut ends = fit.mv.sites.iter().zip(marks);
            ends.all(|(&site, mark)| self.needs_mark(fit.mv.region, site).unwrap_or(mark) == mark)
        };
        if fits.iter().any(has_marks) {
            fits.retain(has_marks);
            if fits.iter().any(|fit| fit.is_right) {
                fits.retain(|fit| fit.is_right);
            }
        }
        fits
    }

    /// Returns true if a curve that reaches a pier at this site needs a mark; `None` if the spot is no pier.
    fn needs_mark(&self, region: usize, site: Site) -> Option<bool> {
        let walk = &self.regions[region][site.boundary];
        let spot = walk[site.index];
        let sites = walk.iter().filter(|&&other| other == spot).count();
        // With the region on the right hand, the last spot before this one is on the left of the walker.
        let left = walk[(site.index + walk.len() - 1) % walk.len()];
        let right = walk[(site.index + 1) % walk.len()];
        (sites == 2).then_some(left > right)
    }
}

fn contains(region: &[Walk], spot: u32) -> bool {
    region.iter().any(|walk| walk.contains(&spot))
}

impl fmt::Display for WrittenMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = self.connected;
        let [from_mark, to_mark] = self.marks.map(|mark| if mark { "!" } else { "" });
        write!(f, "{from}{from_mark}({}", self.fresh)?;
        if let Some(spot) = self.accessible {
            write!(f, "@{spot}")?;
        }
        write!(f, "){to}{to_mark}")?;
        let mut separator = '[';
        let mut spots = &self.list[..];
        while let [first, ..] = *spots {
            let run = spots.iter().zip(first..).take_while(|&(&spot, next)| spot == next).count();
            f.write_char(separator)?;
            // A dash between two spots would save nothing.
            let (text, rest) = match run {
                3.. => (format!("{first}-{}", spots[run - 1]), &spots[run..]),
                _ => (first.to_string(), &spots[1..]),
            };
            f.write_str(&text)?;
            (spots, separator) = (rest, ',');
        }
        if self.list.is_empty() { Ok(()) } else { f.write_char(']') }
    }
}

/// Parses a text. Listed spots may have numbers up to `max`.
fn parse(text: &str, max: u32) -> Result<WrittenMove, MoveTextError> {
    let mut reader = Reader { text, at: 0 };
    let mut written = WrittenMove::default();
    written.connected[0] = reader.spot()?;
    written.marks[0] = reader.skip('!');
    reader.expect('(', "expected '(' and the number of the new spot, as in 1(4)2")?;
    written.fresh = reader.spot()?;
    if reader.skip('@') {
        written.accessible = Some(reader.spot()?);
    }
    reader.expect(')', "expected ')' after the new spot, as in 1(4)2")?;
    written.connected[1] = reader.spot()?;
    written.marks[1] = reader.skip('!');
    if reader.skip('[') {
        loop {
            let first = reader.spot()?;
            let at = reader.at;
            let last = if reader.skip('-') { reader.spot()? } else { first };
            if first > last {
                let problem = "the numbers around '-' must be in ascending order";
                return Err(MoveTextError::Syntax { at, problem });
            }
            if last > max {
                return Err(MoveTextError::NoSpot { spot: last, spots: max - 1 });
            }
            written.list.extend(first..=last);
            if !reader.skip(',') {
                break;
            }
        }
        reader.expect(']', "expected ',', '-' or ']' in the list of spots, as in [2,5-7]")?;
    }
    if reader.at < text.len() {
        let problem = "the move should end here: write one move, such as 1(4)2 or 1(4)1[2,3]";
        return Err(MoveTextError::Syntax { at: reader.at, problem });
    }
    written.list.sort_unstable();
    written.list.dedup();
    Ok(written)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn skip(&mut self, expected: char) -> bool {
        let is_next = self.text[self.at..].starts_with(expected);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, expected: char, problem: &'static str) -> Result<(), MoveTextError> {
        match self.skip(expected) {
            true => Ok(()),
            false => Err(MoveTextError::Syntax { at: self.at, problem }),
        }
    }

    fn spot(&mut self) -> Result<u32, MoveTextError> {
        let (at, rest) = (self.at, &self.text[self.at..]);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits;
        let problem = "expected the number of a spot";
        rest[..digits].parse().map_err(|_| MoveTextError::Syntax { at, problem })
    }
}
