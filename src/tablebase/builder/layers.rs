//! Layers of a build: checked when they are found, assembled from parts, and listed in the manifest.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use super::directory::{BuildDirectory, remove};
use super::error::BuildError;
use super::monitor::{BuildMonitor, Stage};
use crate::tablebase::files::{
    Coverage, Histogram, Inflater, LayerFile, LayerWriter, Manifest, ManifestLayer, Metric, ROWS,
    count_layer,
};

/// Bytes of rows that are read together when a layer is assembled from slices.
const ASSEMBLY_BYTES: usize = 1 << 20;

impl BuildDirectory {
    /// Returns the manifest's entry of a layer that an earlier run has finished, or `None` if there is no such
    /// layer. A layer file without an entry is checked completely and gets an entry. If the file is damaged, it
    /// is removed.
    pub fn find_layer(
        &self,
        stones: u32,
        monitor: &BuildMonitor<'_>,
    ) -> Result<Option<ManifestLayer>, BuildError> {
        let path = self.layer_path(stones);
        if let Some(entry) = self.read_entry(stones)? {
            return Ok(Some(entry));
        }
        if !path.exists() {
            return Ok(None);
        }
        let header = self.header(stones);
        let checked = LayerFile::open(&path).and_then(|file| file.expect_layer(&header));
        let checked = checked.map_err(BuildError::from);
        let checked = checked.and_then(|()| self.count_positions(stones, monitor));
        match checked {
            Err(BuildError::Database(error)) if error.is_damage() => {
                monitor.observer.discarded(&path, &error);
                remove(&path)?;
                Ok(None)
            }
            checked => checked.map(Some),
        }
    }

    /// Reads and checks the whole file of a layer, counts its positions, and writes its entry.
    pub fn count_positions(
        &self,
        stones: u32,
        monitor: &BuildMonitor<'_>,
    ) -> Result<ManifestLayer, BuildError> {
        let file = LayerFile::open(&self.layer_path(stones))?;
        let entry = ManifestLayer::of_file(&self.index, &file, monitor.stop)?;
        self.write_entry(&entry)?;
        Ok(entry)
    }

    /// Assembles a layer from its parts, whose checksums are checked, writes its entry and removes
    /// the parts.
    ///
    /// # Errors
    /// [`BuildError::Lost`] if a part is missing or damaged.
    pub fn assemble(&self, stones: u32, monitor: &BuildMonitor<'_>) -> Result<(), BuildError> {
        let path = self.layer_path(stones);
        let temporary = self.temporary(&path);
        match self.write_layer(stones, &temporary, monitor) {
            // Another process has made the layer and removed the parts.
            Err(BuildError::Lost { .. }) if self.read_entry(stones)?.is_some() => return Ok(()),
            written => written?,
        }
        self.publish(&temporary, &path)?;
        #[cfg(unix)]
        {
            let directory = &self.path;
            let opened =
                std::fs::File::open(directory).map_err(BuildError::io("open", directory))?;
            opened.sync_all().map_err(BuildError::io("write", directory))?;
        }
        let entry = self.count_positions(stones, monitor)?;
        monitor.observer.layer_finished(stones, entry.bytes);
        self.remove_parts(stones)
    }

    fn write_layer(
        &self,
        stones: u32,
        path: &Path,
        monitor: &BuildMonitor<'_>,
    ) -> Result<(), BuildError> {
        let header = self.header(stones);
        let keys = header.keys();
        let mut writer = LayerWriter::create(path, header)?;
        let (mut inflater, mut bytes) = (Inflater::new(), Vec::new());
        for key in keys {
            let rows = self.index.rows(key.black);
            if self.slices.count(rows) == 1 {
                let (part, _) = self.open_rows(key, &(0..rows as u32))?;
                let copied = writer.copy_block(&part, key, monitor.stop);
                copied.map_err(|reason| self.lost(part.path(), reason))?;
                continue;
            }
            writer.begin_block(key);
            for range in self.slices.ranges(rows) {
                let (part, _) = self.open_rows(key, &range)?;
                let row_bytes = part.header().row_bytes(key.white) as usize;
                let batch = (ASSEMBLY_BYTES / row_bytes).next_multiple_of(ROWS).max(ROWS);
                for first in (0..range.len()).step_by(batch) {
                    monitor.check()?;
                    bytes.resize(batch.min(range.len() - first) * row_bytes, 0);
                    self.read_rows(&part, key, first as u32, &mut inflater, &mut bytes)?;
                    monitor.read_bytes.fetch_add(bytes.len() as u64, Relaxed);
                    writer.write(&bytes)?;
                }
            }
            writer.end_block()?;
        }
        let (_, bytes) = writer.finish()?;
        monitor.written_bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Removes the parts of a finished layer.
    pub fn remove_parts(&self, stones: u32) -> Result<(), BuildError> {
        for key in self.header(stones).keys() {
            for range in self.slices.ranges(self.index.rows(key.black)) {
                remove(&self.part_path(key, range.start))?;
            }
        }
        Ok(())
    }

    /// Writes the manifest and removes the subdirectory `tasks`.
    pub fn finish(&self, monitor: &BuildMonitor<'_>) -> Result<Manifest, BuildError> {
        let max_stones = self.coverage.max_stones;
        let entries = (0..=max_stones).map(|stones| self.read_entry(stones));
        let layers = entries.collect::<Result<Option<Vec<_>>, _>>()?;
        let layers = layers.ok_or_else(|| BuildError::Unfinished { path: self.path.clone() })?;
        let mut histogram = None;
        if self.coverage.metric == Metric::Remoteness {
            let histogram = histogram.insert(Histogram::default());
            for stones in 0..=max_stones {
                monitor.observer.stage(Stage::Counting { stones });
                let file = LayerFile::open(&self.layer_path(stones))?;
                histogram.add(&count_layer(&self.index, &file, monitor.stop)?.1);
            }
        }
        let Coverage { dimensions, scope, metric, .. } = self.coverage;
        let version = metric.format_version();
        let manifest = Manifest { version, dimensions, scope, layers, histogram };
        manifest.write(&self.path)?;
        self.remove_tasks()?;
        Ok(manifest)
    }
}
