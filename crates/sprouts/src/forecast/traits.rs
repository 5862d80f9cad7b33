//! Traits of lands that the forecast uses: [`Trait`], with the [`Content`] of a boundary.

use std::fmt;
use std::str::FromStr;

use pn_search::split_mix::mix;

use crate::flat::Land;
use crate::flat::{Flat, ONE, TWO, Token};

/// The vertices of each sort in a boundary are counted up to this number.
const MAX_COUNT: u16 = 15;
/// The isolated spots of a region are counted up to these numbers: in a [`Trait::Kind`], and in a
/// [`Trait::Shape`].
const MAX_ISOLATED: [u32; 2] = [2, 4];
/// Number of isolated spots of a land that turn the phase only by the weight of [`Trait::Isolated`]. Each
/// further spot also turns it by the weight of [`Trait::Further`]. Most lands to which the weights are fitted
/// have fewer isolated spots. Without the second weight, a small error of the first would add up in larger
/// lands.
const FURTHER_FROM: u16 = 12;
/// The boundaries of a region are counted up to this number in a [`Trait::Shape`].
const MAX_BOUNDARIES: u32 = 4;

/// Multiset of the vertices of a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Content {
    /// Four counts, each at most 15: spots with one curve end; spots with two curve ends that occur once;
    /// letters whose other occurrence is in another region; pairs of letters within the boundary.
    counts: [u16; 4],
}

/// Characters in the text of a content, one for each occurrence or pair.
const SIGNS: [char; 4] = ['1', '2', 'A', 'a'];

/// A property that a land may have several times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trait {
    /// An isolated spot.
    Isolated,
    /// An isolated spot beyond the twelfth of the land.
    Further,
    /// A vertex, or a pair of letters within a boundary: `1`, `2`, `A` or `a`, as in the text of a content.
    Sign(char),
    /// A region.
    Region,
    /// A boundary that is not an isolated spot.
    Boundary,
    /// A boundary with this content.
    Content(Content),
    /// A region with this number of isolated spots and of boundaries, each counted up to its maximum.
    Shape(u32, u32),
    /// A region with this number of isolated spots, counted up to its maximum, and boundaries of these
    /// contents.
    Kind(u32, Vec<Content>),
}

const ISOLATED: u64 = 1;
const SIGN: u64 = 2;
const REGION: u64 = 6;
const BOUNDARY: u64 = 7;
const FURTHER: u64 = 8;
const CONTENT: u64 = 1 << 32;
const SHAPE: u64 = 2 << 32;
const KIND: u64 = 3 << 32;

impl Content {
    fn of(tokens: &[Token]) -> (Content, [u16; 4]) {
        let mut counts = [0u16; 4];
        for (at, &token) in tokens.iter().enumerate() {
            match token {
                ONE => counts[0] += 1,
                TWO => counts[1] += 1,
                // The second occurrence of a pair.
                _ if tokens[..at].contains(&token) => {
                    counts[2] -= 1;
                    counts[3] += 1;
                }
                _ => counts[2] += 1,
            }
        }
        (Content { counts: counts.map(|count| count.min(MAX_COUNT)) }, counts)
    }

    fn code(self) -> u64 {
        self.counts.iter().fold(0, |code, &count| code << 4 | u64::from(count))
    }

    /// Returns the contribution of this content to the key of a [`Trait::Kind`].
    fn share(self) -> u64 {
        mix(KIND + self.code())
    }
}

fn shape(isolated: u32, boundaries: u32) -> u64 {
    let isolated = isolated.min(MAX_ISOLATED[1]);
    SHAPE + u64::from(isolated * (MAX_BOUNDARIES + 1) + boundaries.min(MAX_BOUNDARIES))
}

fn kind(isolated: u32, shares: u64) -> u64 {
    mix(mix(KIND << 1 | u64::from(isolated.min(MAX_ISOLATED[0]))).wrapping_add(shares))
}

/// Calls `found` with the keys of all traits of a land and the numbers of their occurrences. A key may be
/// passed several times; the numbers add up. [`traits`] is the reference implementation.
pub(super) fn each_key(flat: &Flat, mut found: impl FnMut(u64, u16)) {
    let mut signs = [0u16; 4];
    let mut all_isolated = 0u16;
    for (number, region) in flat.regions.iter().enumerate() {
        let boundaries = flat.boundaries(number);
        let length = boundaries.len() as u32;
        let mut shares = 0u64;
        for boundary in boundaries {
            let (content, counts) = Content::of(&flat.tokens[flat.span(boundary)]);
            for (sign, count) in signs.iter_mut().zip(counts) {
                *sign = sign.wrapping_add(count);
            }
            found(CONTENT + content.code(), 1);
            shares = shares.wrapping_add(content.share());
        }
        all_isolated = all_isolated.wrapping_add(region.isolated as u16);
        found(shape(region.isolated, length), 1);
        found(kind(region.isolated, shares), 1);
    }
    (SIGN..).zip(signs).for_each(|(key, count)| found(key, count));
    found(ISOLATED, all_isolated);
    found(FURTHER, all_isolated.saturating_sub(FURTHER_FROM));
    found(REGION, flat.regions.len() as u16);
    found(BOUNDARY, flat.ends.len() as u16);
}

/// Calls `found` with all traits of a land and the numbers of their occurrences.
fn each(flat: &Flat, mut found: impl FnMut(Trait, u16)) {
    for (number, region) in flat.regions.iter().enumerate() {
        let boundaries = flat.boundaries(number);
        let length = boundaries.len() as u32;
        let mut contents = Vec::with_capacity(boundaries.len());
        for boundary in boundaries {
            let (content, counts) = Content::of(&flat.tokens[flat.span(boundary)]);
            for (sign, count) in SIGNS.into_iter().zip(counts) {
                if count > 0 {
                    found(Trait::Sign(sign), count);
                }
            }
            found(Trait::Content(content), 1);
            contents.push(content);
        }
        let [in_kind, in_shape] = MAX_ISOLATED.map(|max| region.isolated.min(max));
        found(Trait::Isolated, region.isolated as u16);
        found(Trait::Region, 1);
        found(Trait::Boundary, length as u16);
        found(Trait::Shape(in_shape, length.min(MAX_BOUNDARIES)), 1);
        found(Trait::Kind(in_kind, contents), 1);
    }
    let isolated = flat.regions.iter().map(|region| region.isolated as u16).sum::<u16>();
    found(Trait::Further, isolated.saturating_sub(FURTHER_FROM));
}

/// Returns the traits of a land and the numbers of their occurrences. A trait may be listed several times;
/// the numbers add up.
pub fn traits(land: &Land) -> Vec<(Trait, u16)> {
    let mut traits = Vec::new();
    each(&Flat::of_land(land), |mut part, count| {
        if let Trait::Kind(_, contents) = &mut part {
            contents.sort_unstable();
        }
        traits.push((part, count));
    });
    traits.retain(|&(_, count)| count > 0);
    traits
}

impl Trait {
    /// Returns the key of the trait's weight. The key does not depend on the order of the contents in a
    /// [`Trait::Kind`].
    #[inline]
    pub(super) fn key(&self) -> u64 {
        match self {
            Trait::Isolated => ISOLATED,
            Trait::Further => FURTHER,
            Trait::Sign(sign) => {
                SIGN + SIGNS.iter().position(|own| own == sign).unwrap_or(0) as u64
            }
            Trait::Region => REGION,
            Trait::Boundary => BOUNDARY,
            Trait::Content(content) => CONTENT + content.code(),
            &Trait::Shape(isolated, boundaries) => shape(isolated, boundaries),
            Trait::Kind(isolated, contents) => {
                let shares = contents.iter().map(|content| content.share());
                kind(*isolated, shares.fold(0, u64::wrapping_add))
            }
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sign, count) in SIGNS.into_iter().zip(self.counts) {
            for _ in 0..count {
                write!(f, "{sign}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Content {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut counts = [0; 4];
        for character in text.chars() {
            let kind = SIGNS.iter().position(|&sign| sign == character).ok_or(())?;
            counts[kind] += 1;
        }
        let fits = !text.is_empty() && counts.iter().all(|&count| count <= MAX_COUNT);
        fits.then_some(Content { counts }).ok_or(())
    }
}

/// Writes one word: `isolated`, `further`, `region`, `boundary`, `sign:1`, `content:2AA`, `shape:3.1` or
/// `kind:2.1aA.AA`, where the first number counts isolated spots.
impl fmt::Display for Trait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trait::Isolated => write!(f, "isolated"),
            Trait::Further => write!(f, "further"),
            Trait::Region => write!(f, "region"),
            Trait::Boundary => write!(f, "boundary"),
            Trait::Sign(sign) => write!(f, "sign:{sign}"),
            Trait::Content(content) => write!(f, "content:{content}"),
            Trait::Shape(isolated, boundaries) => write!(f, "shape:{isolated}.{boundaries}"),
            Trait::Kind(isolated, contents) => {
                write!(f, "kind:{isolated}")?;
                contents.iter().try_for_each(|content| write!(f, ".{content}"))
            }
        }
    }
}

impl FromStr for Trait {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut parts = rest.split('.');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or(());
        match name {
            "isolated" => Ok(Trait::Isolated),
            "further" => Ok(Trait::Further),
            "region" => Ok(Trait::Region),
            "boundary" => Ok(Trait::Boundary),
            "sign" => {
                SIGNS.into_iter().find(|sign| rest == sign.to_string()).map(Trait::Sign).ok_or(())
            }
            "content" => Ok(Trait::Content(rest.parse()?)),
            "shape" => Ok(Trait::Shape(number()?, number()?)),
            "kind" => {
                let isolated = number()?;
                Ok(Trait::Kind(isolated, parts.map(str::parse).collect::<Result<_, _>>()?))
            }
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    #[test]
    fn traits_are_those_of_the_text() {
        let position: Position = "0*3.1aBa.CD|2.CD|B".parse().unwrap();
        let traits = traits(&position.lands()[0]);
        let words: Vec<String> =
            traits.iter().map(|(part, count)| format!("{part} {count}")).collect();
        let expected = [
            ["sign:1 1", "sign:A 1", "sign:a 1", "content:1Aa 1"].as_slice(),
            &["sign:A 2", "content:AA 1"],
            &["isolated 3", "region 1", "boundary 2", "shape:3.2 1", "kind:2.AA.1Aa 1"],
            &["sign:2 1", "content:2 1", "sign:A 2", "content:AA 1"],
            &["region 1", "boundary 2", "shape:0.2 1", "kind:0.AA.2 1"],
            &["sign:A 1", "content:A 1", "region 1", "boundary 1", "shape:0.1 1", "kind:0.A 1"],
        ];
        assert_eq!(words, expected.concat());
    }

    #[test]
    fn words_are_read_back() {
        for text in ["0*3.1aBa.CD|2.CD|B", "0*2", "1a1a", "0.AB|AB", "0*13"] {
            let position: Position = text.parse().unwrap();
            for (part, _) in traits(&position.lands()[0]) {
                assert_eq!(part.to_string().parse(), Ok(part));
            }
        }
        for text in ["", "sign:", "sign:3", "content:", "content:0", "shape:1", "kind:A", "regions"]
        {
            assert_eq!(text.parse::<Trait>(), Err(()), "{text}");
        }
    }
}
