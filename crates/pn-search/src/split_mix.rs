//! SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014): a
//! small generator whose numbers are the same in every build.

/// Increment of a generator's state at every step.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the output of a generator with the state `z`. Every bit of the result depends on every
/// bit of `z`. Different states have different results. The result for 0 is 0.
#[inline(always)]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Vigna's splitmix64.c, seed 1234567.
    #[test]
    fn numbers_are_the_published_ones() {
        let numbers = (1..=5u64).map(|step| mix(STEP.wrapping_mul(step).wrapping_add(1_234_567)));
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert!(numbers.eq(expected));
    }
}
