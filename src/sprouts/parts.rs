//! What positions are made of: spots, boundaries, regions, lands.

/// An occurrence of a spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A spot that occurs once, with this number of curve ends, 0 to 3. It has 3 lives less these.
    Single(u8),
    /// One of the two occurrences of a spot with two curve ends, so with one life. The number names
    /// the spot within its land.
    Pair(u32),
}

/// The vertices along one connected part of the border of a region, in cyclic order.
pub type Boundary = Vec<Spot>;
/// The boundaries of a region, all read with the region on the same hand.
pub type Region = Vec<Boundary>;
/// Regions that have been written as belonging together.
pub type Land = Vec<Region>;
