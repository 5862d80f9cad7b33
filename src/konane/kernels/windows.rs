//! Sums over windows: a value for the stones in each of some small rectangles of a board, added up.

use super::Isa;

/// Maximum number of squares of a window.
pub const WINDOW_SQUARES: u32 = 12;

/// A rectangle of at most [`WINDOW_SQUARES`] squares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The squares.
    pub squares: u64,
    /// Number of ranks.
    pub ranks: u32,
    /// Number of files.
    pub files: u32,
}

/// The windows of a board with their values.
#[derive(Clone, Debug)]
pub struct WindowSums {
    isa: Isa,
    /// Distance between the ranks of the board.
    step: u32,
    /// Each window, with the index of its first value.
    windows: Box<[(Window, u32)]>,
    /// For each side to move, the values of all windows: those of a window are indexed by its occupied squares, the
    /// lowest square at bit 0.
    values: [Box<[i16]>; 2],
}

impl WindowSums {
    /// `values` returns the values of the window with this index for each side to move, one for each set of its
    /// squares.
    ///
    /// # Panics
    /// If a window has too many squares or values, or the processor does not support the instruction set.
    pub fn new(
        isa: Isa,
        step: u32,
        windows: &[Window],
        values: impl Fn(usize) -> [Vec<i16>; 2],
    ) -> Self {
        assert!(isa as usize <= Isa::detect() as usize, "this processor has no {isa:?}");
        let (mut starts, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
        for (at, window) in windows.iter().enumerate() {
            let squares = window.squares.count_ones();
            assert!(squares == window.ranks * window.files && squares <= WINDOW_SQUARES);
            starts.push((*window, all[0].len() as u32));
            for (all, values) in all.iter_mut().zip(values(at)) {
                assert_eq!(values.len(), 1 << squares, "a value for each set of squares");
                all.extend(values);
            }
        }
        WindowSums { isa, step, windows: starts.into(), values: all.map(Vec::into_boxed_slice) }
    }

    /// The sum of the values of a board's windows, with the side of this index to move. Takes some 10 ns with BMI2.
    #[inline]
    pub fn sum(&self, side: usize, board: u64) -> i32 {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor supports `isa` (see `new`), and both instruction sets include BMI2.
            Isa::Avx2 | Isa::Avx512 => unsafe { self.sum_bmi2(side, board) },
            _ => self.sum_with(side, |window| self.index(board, window)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi2")]
    fn sum_bmi2(&self, side: usize, board: u64) -> i32 {
        self.sum_with(side, |window| std::arch::x86_64::_pext_u64(board, window.squares))
    }

    /// Returns the occupied squares of a window, the lowest square at bit 0.
    #[inline(always)]
    fn index(&self, board: u64, window: &Window) -> u64 {
        let lowest = board >> window.squares.trailing_zeros();
        let rank = (1 << window.files) - 1;
        let mut index = 0;
        for at in 0..window.ranks {
            index |= (lowest >> (at * self.step) & rank) << (at * window.files);
        }
        index
    }

    #[inline(always)]
    fn sum_with(&self, side: usize, index: impl Fn(&Window) -> u64) -> i32 {
        let values = &self.values[side];
        let mut sum = 0;
        for (window, start) in &self.windows {
            sum += i32::from(values[*start as usize + index(window) as usize]);
        }
        sum
    }
}
