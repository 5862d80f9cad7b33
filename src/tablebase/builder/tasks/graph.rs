//! Which tasks there are, and which of them are left.

use std::collections::HashSet;
use std::fs;

use super::layers::read_entry;
use super::place::{Place, parse_slice_name, slice_name};
use super::slices::Slices;
use super::task::{Task, Work};
use crate::konane::Colour;
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::builder::workspace::remove;
use crate::tablebase::files::{BlockKey, BlockKind, Manifest, ManifestLayer, Scope};
use crate::tablebase::index::{Index, Sizes};

/// The tasks of a board.
pub(super) struct Graph<'a> {
    pub index: &'a Index,
    pub sizes: &'a Sizes,
    pub slices: Slices,
    pub place: &'a Place,
}

impl Graph<'_> {
    fn task(&self, work: Work) -> Task {
        let dimensions = self.index.board().dimensions();
        Task { dimensions, slice_rows: self.slices.most, work }
    }

    fn squares(&self) -> u32 {
        self.index.board().dimensions().squares()
    }

    /// The slices of a layer of rows, with their first rows.
    fn slices(&self, black: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.slices.ranges(self.sizes.rows(black)).map(|range| range.start))
    }

    /// All tasks: those of a wave may run in any order, or at the same time, once all waves before are
    /// finished.
    pub fn waves(&self) -> Vec<Vec<Task>> {
        let mut waves = Vec::new();
        for black in 0..=self.sizes.squares(Colour::Black) {
            for to_move in [Colour::White, Colour::Black] {
                let rows = |(slice, _)| self.task(Work::Rows { black, to_move, slice });
                waves.push(self.slices(black).map(rows).collect());
            }
        }
        let layer = |stones| self.task(Work::Layer { stones });
        waves.push((0..=self.squares()).map(layer).collect());
        waves
    }

    /// The tasks that are left, by what is in the directory.
    pub fn pending(&self) -> Result<Vec<Vec<Task>>, BuildError> {
        let entries = self.entries()?;
        let layer = |stones: u32| self.task(Work::Layer { stones });
        let left: Vec<u32> =
            (0..=self.squares()).filter(|&n| entries[n as usize].is_none()).collect();
        // Files of layers that nobody vouches for: they are checked first, since whole ones save
        // what follows.
        let strange = left.iter().filter(|&&stones| self.place.layer(stones).exists());
        let strange: Vec<Task> = strange.map(|&stones| layer(stones)).collect();
        if !strange.is_empty() {
            return Ok(vec![strange]);
        }
        let names = self.place.names()?;
        let mut waves = Vec::new();
        for black in 0..=self.sizes.squares(Colour::Black) {
            let of_black = self.missing(black, Colour::Black, &entries, &names);
            // Where White's rows are not stored, they are made for Black's.
            let for_black = !self.index.sides().contains(&Colour::White) && of_black.is_empty();
            let of_white = match for_black {
                true => Vec::new(),
                false => self.missing(black, Colour::White, &entries, &names),
            };
            waves.extend([of_white, of_black].into_iter().filter(|wave| !wave.is_empty()));
        }
        let layers: Vec<Task> = left.into_iter().map(layer).collect();
        waves.extend(Some(layers).filter(|wave| !wave.is_empty()));
        Ok(waves)
    }

    /// The entries of the layers that are finished.
    pub fn entries(&self) -> Result<Vec<Option<ManifestLayer>>, BuildError> {
        (0..=self.squares()).map(|stones| read_entry(self.place, stones)).collect()
    }

    /// The tasks of a layer of rows that lack a file.
    fn missing(
        &self,
        black: u32,
        to_move: Colour,
        entries: &[Option<ManifestLayer>],
        names: &HashSet<String>,
    ) -> Vec<Task> {
        let stored = self.index.sides().contains(&to_move);
        let lacks = |&(_, first): &(u32, u32)| {
            (0..=self.sizes.squares(Colour::White)).any(|white| {
                let key = BlockKey { kind: BlockKind::Wins, to_move, black, white };
                let in_layer = stored && entries[(black + white) as usize].is_some();
                !in_layer && !names.contains(&slice_name(key, first))
            })
        };
        let task = |(slice, _)| self.task(Work::Rows { black, to_move, slice });
        self.slices(black).filter(lacks).map(task).collect()
    }

    /// Removes what no task will need: White's rows where they are not stored and Black's are there.
    pub fn tidy(&self) -> Result<(), BuildError> {
        if self.index.sides().contains(&Colour::White) {
            return Ok(());
        }
        let (names, entries) = (self.place.names()?, self.entries()?);
        let done: Vec<bool> = (0..=self.sizes.squares(Colour::Black))
            .map(|black| self.missing(black, Colour::Black, &entries, &names).is_empty())
            .collect();
        for name in &names {
            if let Some((BlockKey { to_move: Colour::White, black, .. }, _)) =
                parse_slice_name(name)
                && done.get(black as usize) == Some(&true)
            {
                remove(&self.place.tasks().join(name))?;
            }
        }
        Ok(())
    }

    /// Writes the manifest, and removes the files of the tasks.
    pub fn finish(&self) -> Result<Manifest, BuildError> {
        let directory = &self.place.directory;
        let layers: Option<Vec<ManifestLayer>> = self.entries()?.into_iter().collect();
        let layers = layers.ok_or_else(|| BuildError::Unfinished { path: directory.clone() })?;
        let dimensions = self.index.board().dimensions();
        let scope = Scope::Complete;
        let manifest = Manifest { version: 1, dimensions, scope, layers, histogram: None };
        manifest.write(directory)?;
        let tasks = self.place.tasks();
        fs::remove_dir_all(&tasks).map_err(BuildError::io("remove", &tasks))?;
        Ok(manifest)
    }
}
