//! The tasks of a build. The files in its directory determine which of them are left.

use super::directory::{BuildDirectory, entry_name, parse_part_name, part_name, remove};
use super::error::BuildError;
use super::slices::{BuildTask, Slices, TaskProduct};
use crate::konane::Colour;
use crate::tablebase::files::BlockKey;

impl BuildDirectory {
    fn task(&self, product: TaskProduct) -> BuildTask {
        let dimensions = self.coverage.dimensions;
        BuildTask { dimensions, slice_rows: self.slices.max_rows, product }
    }

    /// Parts of the slice with the first row `first` that exist neither as files nor in a finished layer.
    /// `exists` returns true for the names of the files in `tasks`.
    pub fn missing(
        &self,
        black: u32,
        to_move: Colour,
        first: u32,
        exists: &dyn Fn(&str) -> bool,
    ) -> impl Iterator<Item = BlockKey> {
        let stored = self.stores(to_move);
        let keys = (0..=self.index.squares(Colour::White)).flat_map(move |white| {
            let kinds = self.header(black + white).kinds();
            kinds.map(move |kind| BlockKey { kind, to_move, black, white })
        });
        keys.filter(move |&key| {
            let in_layer = stored && exists(&entry_name(key.black + key.white));
            !in_layer && !exists(&part_name(key, first))
        })
    }

    /// Tasks of which some file is missing, in waves. The tasks of a wave may run in any order, or at the same
    /// time, after all earlier waves are finished.
    pub fn waves(&self, exists: &dyn Fn(&str) -> bool) -> Vec<Vec<BuildTask>> {
        let is_missing = |black: u32, to_move: Colour, first: u32| {
            self.missing(black, to_move, first, exists).next().is_some()
        };
        let mut waves = Vec::new();
        for black in 0..=self.index.squares(Colour::Black) {
            let task = |to_move, slice| self.task(TaskProduct::Rows { black, to_move, slice });
            if self.slices == Slices::WHOLE {
                // White's rows stay in memory: one task makes the rows of both sides.
                let missing = self.index.sides().iter().any(|&side| is_missing(black, side, 0));
                waves.extend(missing.then(|| vec![task(Colour::Black, 0)]));
                continue;
            }
            let of = |to_move| -> Vec<BuildTask> {
                (0..)
                    .zip(self.slices.ranges(self.index.rows(black)))
                    .filter(|(_, rows)| is_missing(black, to_move, rows.start))
                    .map(|(slice, _)| task(to_move, slice))
                    .collect()
            };
            let of_black = of(Colour::Black);
            // If the database does not store White's rows, they are needed only to make Black's.
            let needed = self.stores(Colour::White) || !of_black.is_empty();
            waves.push(if needed { of(Colour::White) } else { Vec::new() });
            waves.push(of_black);
        }
        let layers = (0..=self.coverage.max_stones).filter(|&stones| !exists(&entry_name(stones)));
        waves.push(layers.map(|stones| self.task(TaskProduct::Layer { stones })).collect());
        waves.retain(|wave| !wave.is_empty());
        waves
    }

    /// Tasks that are left, in waves. Removes part files that no task needs any more.
    pub fn pending(&self) -> Result<Vec<Vec<BuildTask>>, BuildError> {
        let mut unchecked = Vec::new();
        for stones in 0..=self.coverage.max_stones {
            if self.read_entry(stones)?.is_none() && self.layer_path(stones).exists() {
                unchecked.push(self.task(TaskProduct::Layer { stones }));
            }
        }
        // Layer files for which the manifest has no entry yet are checked first, because an undamaged layer
        // need not be made again.
        if !unchecked.is_empty() {
            return Ok(vec![unchecked]);
        }
        let names = self.task_files()?;
        let waves = self.waves(&|name| names.contains(name));
        for name in &names {
            // White's rows that the database does not store are removed when no task is left for rows with the
            // same number of black stones.
            if let Some((to_move, of)) = parse_part_name(name)
                && !self.stores(to_move)
                && !waves.iter().flatten().any(
                    |task| matches!(task.product, TaskProduct::Rows { black, .. } if black == of),
                )
            {
                remove(&self.tasks().join(name))?;
            }
        }
        Ok(waves)
    }
}
