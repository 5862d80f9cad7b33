//! Representations of lands: nested lists of spots as written, flat arrays for computations, and packed
//! bytes for storage.
//!
//! [`Land`], [`Region`], [`Boundary`] and [`Spot`] are the nested lists. [`Flat`] is the working form, with
//! its [`FlatRegion`]s and [`Token`]s. [`Packer`] writes packed bytes and [`Flat::unpack`] reads them. [`LandReader`]
//! checks packed bytes from another process.
//!
//! The working form and the packed bytes contain no dead spots. Isolated spots are counted for each region;
//! everything else is a token: [`ONE`] or [`TWO`] (curve ends of a spot that occurs once) or a letter,
//! [`LETTER`] + its number. A letter occurs twice.
//!
//! # Packed bytes
//!
//! | byte | meaning |
//! |---|---|
//! | 0 | a region ends and another begins |
//! | 1, 2 | a spot that occurs once with this number of curve ends |
//! | 3 | a boundary ends and another begins |
//! | 4, n | n isolated spots; only at the beginning of a region |
//! | 5 ..= 223 | the letter with the number byte − 5 |
//! | 224 ..= 255, n | the letter with the number 219 + (byte − 224)·256 + n |
//!
//! Letters are numbered in the order of their first occurrences. Thus a simple position takes a byte for
//! each of its characters.

/// An occurrence of a spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A spot that occurs once, with this number of curve ends, 0 to 3. Its number of lives is 3 minus the
    /// number of curve ends.
    Single(u8),
    /// One of the two occurrences of a spot with two curve ends, which has one life. The number identifies
    /// the spot within its land.
    Pair(u32),
}

/// The vertices along one connected part of the border of a region, in cyclic order.
pub type Boundary = Vec<Spot>;
/// The boundaries of a region, all read with the region on the same side.
pub type Region = Vec<Boundary>;
/// Regions that were written as one land.
pub type Land = Vec<Region>;

/// A token of the working form.
pub(super) type Token = u16;
/// A spot with one curve end.
pub(super) const ONE: Token = 1;
/// A spot with two curve ends that occurs once.
pub(super) const TWO: Token = 2;
/// The first letter.
pub(super) const LETTER: Token = 4;

const NEXT_REGION: u8 = 0;
const NEXT_BOUNDARY: u8 = 3;
const ISOLATED: u8 = 4;
const FIRST_LETTER: u8 = 5;
const LONG: u8 = 224;
const SHORT_LETTERS: u16 = (LONG - FIRST_LETTER) as u16;

/// A region of the working form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlatRegion {
    /// Number of isolated spots.
    pub isolated: u32,
    /// End of the region's range in the list of boundaries.
    pub boundaries_end: u32,
}

/// Working form of a land: arrays of its regions, of their boundaries, and of the boundaries' tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flat {
    pub tokens: Vec<Token>,
    /// End of each boundary in `tokens`. No boundary is empty.
    pub ends: Vec<u32>,
    pub regions: Vec<FlatRegion>,
    /// Exclusive upper bound of the numbers of letters.
    pub letters: u16,
}

impl Flat {
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.ends.clear();
        self.regions.clear();
        self.letters = 0;
    }

    /// Ends a boundary, which consists of the tokens pushed since the last end. Without tokens, does nothing.
    pub(super) fn end_boundary(&mut self) {
        let end = self.tokens.len() as u32;
        if end > self.ends.last().copied().unwrap_or(0) {
            self.ends.push(end);
        }
    }

    /// Ends a region, which consists of `isolated` isolated spots and of the boundaries since the last
    /// region.
    pub(super) fn end_region(&mut self, isolated: u32) {
        self.regions.push(FlatRegion { isolated, boundaries_end: self.ends.len() as u32 });
    }

    /// Returns the working form of a written land, without dead spots.
    pub(super) fn of_land(land: &Land) -> Flat {
        let mut flat = Flat::default();
        for region in land {
            let mut isolated = 0;
            for boundary in region {
                for spot in boundary {
                    match *spot {
                        Spot::Single(0) => isolated += 1,
                        Spot::Single(ends @ 1..=2) => flat.tokens.push(ends.into()),
                        Spot::Single(_) => {}
                        Spot::Pair(pair) => {
                            let pair = pair as u16;
                            flat.letters = flat.letters.max(pair + 1);
                            flat.tokens.push(LETTER + pair);
                        }
                    }
                }
                flat.end_boundary();
            }
            flat.end_region(isolated);
        }
        flat
    }

    /// Returns the range of a region's boundaries in `ends`.
    pub(super) fn boundaries(&self, region: usize) -> std::ops::Range<usize> {
        let begin = if region == 0 { 0 } else { self.regions[region - 1].boundaries_end };
        begin as usize..self.regions[region].boundaries_end as usize
    }

    /// Returns the range of a boundary in `tokens`.
    pub(super) fn span(&self, boundary: usize) -> std::ops::Range<usize> {
        let begin = if boundary == 0 { 0 } else { self.ends[boundary - 1] };
        begin as usize..self.ends[boundary] as usize
    }

    /// Returns the total number of lives of all spots, such as three for an isolated spot and one for a pair
    /// of letters.
    pub(super) fn lives(&self) -> u32 {
        let isolated: u32 = self.regions.iter().map(|region| region.isolated).sum();
        let halves: u32 = self.tokens.iter().map(|&token| half_lives(token)).sum();
        3 * isolated + halves / 2
    }

    /// Reads packed bytes.
    pub(super) fn unpack(&mut self, packed: &[u8]) {
        self.clear();
        let mut isolated = 0;
        let mut bytes = packed.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                NEXT_REGION => {
                    self.end_boundary();
                    self.end_region(std::mem::take(&mut isolated));
                }
                NEXT_BOUNDARY => self.end_boundary(),
                ISOLATED => isolated += u32::from(bytes.next().unwrap_or(0)),
                1 | 2 => self.tokens.push(Token::from(byte)),
                _ => {
                    let mut letter = u16::from(byte - FIRST_LETTER);
                    if byte >= LONG {
                        let low = u16::from(bytes.next().unwrap_or(0));
                        letter = SHORT_LETTERS + u16::from(byte - LONG) * 256 + low;
                    }
                    self.letters = self.letters.max(letter + 1);
                    self.tokens.push(LETTER + letter);
                }
            }
        }
        self.end_boundary();
        self.end_region(isolated);
    }

    /// Returns the boundaries of a region as [`Spot`]s, isolated spots first.
    pub(super) fn spots(&self, region: usize) -> Vec<Vec<Spot>> {
        let isolated = self.regions[region].isolated as usize;
        let mut boundaries = vec![vec![Spot::Single(0)]; isolated];
        for boundary in self.boundaries(region) {
            let tokens = &self.tokens[self.span(boundary)];
            boundaries.push(tokens.iter().map(|&token| spot(token)).collect());
        }
        boundaries
    }
}

fn spot(token: Token) -> Spot {
    match token {
        ONE | TWO => Spot::Single(token as u8),
        _ => Spot::Pair(u32::from(token - LETTER)),
    }
}

/// Returns twice the number of lives that an occurrence contributes.
fn half_lives(token: Token) -> u32 {
    match token {
        ONE => 4,
        TWO => 2,
        _ => 1,
    }
}

/// Writes packed bytes and numbers letters in the order of their first occurrences.
#[derive(Debug, Default)]
pub(super) struct Packer {
    pub bytes: Vec<u8>,
    /// For each letter its new number + 1, or 0 before its first occurrence.
    names: Vec<u16>,
    next: u16,
}

impl Packer {
    /// Clears everything. Letters must have numbers below `letters`.
    pub(super) fn begin(&mut self, letters: u16) {
        self.bytes.clear();
        self.names.clear();
        self.names.resize(usize::from(letters), 0);
        self.next = 0;
    }

    /// Begins the next land in the same buffer: letters are numbered from 0 again. `names` need not be
    /// cleared, because no letter occurs in several lands.
    pub(super) fn begin_next(&mut self) {
        self.next = 0;
    }

    /// Writes a land, with its parts in the order in which they are given.
    pub(super) fn write(&mut self, flat: &Flat) {
        self.begin(flat.letters);
        for (number, region) in flat.regions.iter().enumerate() {
            if number > 0 {
                self.next_region();
            }
            self.isolated(region.isolated);
            for (count, boundary) in flat.boundaries(number).enumerate() {
                if count > 0 {
                    self.next_boundary();
                }
                flat.tokens[flat.span(boundary)].iter().for_each(|&token| self.token(token));
            }
        }
    }

    pub(super) fn next_region(&mut self) {
        self.bytes.push(NEXT_REGION);
    }

    pub(super) fn next_boundary(&mut self) {
        self.bytes.push(NEXT_BOUNDARY);
    }

    pub(super) fn isolated(&mut self, mut spots: u32) {
        while spots > 0 {
            let step = spots.min(255);
            self.bytes.extend([ISOLATED, step as u8]);
            spots -= step;
        }
    }

    #[inline]
    pub(super) fn token(&mut self, token: Token) {
        if token < LETTER {
            self.bytes.push(token as u8);
            return;
        }
        let name = &mut self.names[usize::from(token - LETTER)];
        if *name == 0 {
            self.next += 1;
            *name = self.next;
        }
        let number = *name - 1;
        if number < SHORT_LETTERS {
            self.bytes.push(FIRST_LETTER + number as u8);
        } else {
            let long = number - SHORT_LETTERS;
            self.bytes.extend([LONG + (long >> 8) as u8, long as u8]);
        }
    }
}

/// Reads packed bytes from another process.
#[derive(Debug, Default)]
pub(super) struct LandReader {
    flat: Flat,
    packer: Packer,
    /// Number of occurrences of each letter.
    occurrences: Vec<u8>,
}

impl LandReader {
    /// Returns the land, or `None` if the bytes are not those that [`Packer`] writes for a land of at most `max`
    /// vertices. It may be a land that can be simplified, or that is not in canonical form.
    pub(super) fn read(&mut self, packed: &[u8], max: usize) -> Option<&Flat> {
        // A vertex takes at most two bytes, with a separator three, so a longer text has too many vertices.
        if packed.len() > 3 * max {
            return None;
        }
        let LandReader { flat, packer, occurrences } = self;
        flat.unpack(packed);
        let isolated: u32 = flat.regions.iter().map(|region| region.isolated).sum();
        let vertices = isolated as usize + flat.tokens.len();
        let is_empty = |region: usize| {
            flat.regions[region].isolated == 0 && flat.boundaries(region).is_empty()
        };
        if vertices > max || (0..flat.regions.len()).any(is_empty) {
            return None;
        }
        occurrences.clear();
        occurrences.resize(flat.letters.into(), 0);
        for &token in flat.tokens.iter().filter(|&&token| token >= LETTER) {
            let count = &mut occurrences[usize::from(token - LETTER)];
            *count = count.saturating_add(1);
        }
        if occurrences.iter().any(|&count| count != 2) {
            return None;
        }
        packer.write(flat);
        (packer.bytes == packed).then_some(flat)
    }
}
