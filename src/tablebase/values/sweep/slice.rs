//! Some of the rows of a layer: what a task of a build by many has in memory.

use std::io;
use std::ops::Range;

use rayon::prelude::*;

use super::columns::Columns;
use super::memory::Words;
use super::row_ops::row_words;
use super::scatter::Targets;
use crate::konane::Colour;
use crate::tablebase::index::Index;

/// The rows of a range of canonical black patterns with one number of stones, for one side to move.
///
/// They are made as rows over all white patterns ([`Slice::targets`]) and then taken apart where
/// they are ([`Slice::split`]), so that no second copy of them is ever in memory.
#[derive(Debug)]
pub struct Slice {
    black: u32,
    rows: Range<u32>,
    row_words: usize,
    stride: usize,
    words: Words,
}

impl Slice {
    /// Rows of zeros.
    ///
    /// # Errors
    /// If memory cannot be reserved.
    pub fn zeroed(index: &Index, black: u32, rows: Range<u32>) -> io::Result<Self> {
        let white = index.numbering().count(Colour::White);
        let stride = stride_words(white);
        let words = Words::zeroed(rows.len() * stride)?;
        Ok(Slice { black, rows, row_words: row_words(white), stride, words })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    /// The rows, to be written to.
    pub fn targets(&mut self) -> Targets<'_> {
        let row_words = self.row_words;
        let rows = self.words.as_mut_slice().par_chunks_exact_mut(self.stride);
        Targets::new(self.black, self.rows.start, rows.map(|row| &mut row[..row_words]))
    }

    /// Takes the rows apart by the number of white stones. After this, only [`Slice::block_row`]
    /// makes sense.
    pub fn split(&mut self, columns: &Columns) {
        let (row_words, words) = (self.row_words, columns.words());
        let rows = self.words.as_mut_slice().par_chunks_exact_mut(self.stride);
        rows.for_each_init(
            || vec![0; words],
            |split, row| {
                columns.split(&row[..row_words], split);
                let bytes_of = |(to, from): (&mut u64, &u64)| *to = from.to_le();
                row.iter_mut().zip(split.iter()).for_each(bytes_of);
            },
        );
    }

    /// The part of a row, counted from the slice's first one, with a number of white stones, as
    /// bytes of a database's block.
    pub fn block_row(&self, row: usize, columns: &Columns, white: u32) -> &[u8] {
        let start = row * self.stride;
        let block = columns.block(white);
        let words = &self.words.as_slice()[start + block.start..start + block.end];
        &bytemuck::cast_slice(words)[..columns.row_bytes(white)]
    }
}

/// Words that a row takes: enough for the row, and for its parts, each from a word of its own.
pub fn stride_words(white: u32) -> usize {
    row_words(white).max(Columns::new(white).words())
}
