//! Random numbers by SplitMix64 (Steele, Lea and Flood 2014). For the same seed, they are the same in every build.

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the bits of a generator's state.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns a mixed key of a code.
pub fn key(code: u64) -> u64 {
    mix(code.wrapping_add(STEP))
}

/// A random number generator with its state.
pub struct Random(pub u64);

impl Random {
    #[allow(clippy::should_implement_trait, reason = "not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns a number below `bound`, computed by a remainder.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a number below `bound`, computed from the upper bits, or 0 if `bound` is 0.
    pub fn scaled(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.index(end + 1));
        }
    }
}
