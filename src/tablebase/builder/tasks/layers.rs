//! Putting a layer together from slices.

use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::place::{self, Place};
use super::rows::{ROWS_OF, slice_header};
use super::run::Runner;
use crate::file::{NewFile, open_regular};
use crate::tablebase::DatabaseError;
use crate::tablebase::builder::error::BuildError;
use crate::tablebase::builder::workspace::{remove, sound};
use crate::tablebase::files::{
    Counts, Inflater, LayerFile, LayerHeader, LayerWriter, ManifestLayer, Metric, ROWS, Scope,
    layer_entry,
};

/// Bytes of rows that are read together.
const BATCH_BYTES: usize = 1 << 20;

/// More than any entry has.
const MOST_BYTES: u64 = 1 << 12;

impl Runner<'_> {
    /// Makes the file of a layer and its entry for the manifest, and removes the slices' blocks that
    /// are in it. A file that is there without an entry is checked and taken as it is.
    pub(super) fn layer(&self, stones: u32) -> Result<(), BuildError> {
        let path = self.place.layer(stones);
        if read_entry(self.place, stones)?.is_some() {
            return self.remove_slices(stones);
        }
        let header = LayerHeader::new(self.index, Scope::Complete, Metric::Outcome, stones);
        let count = |file: LayerFile| layer_entry(self.index, &file, self.stop);
        let entry = match sound(&path, &header, &header.keys(), count, |_| {})? {
            Some(entry) => entry,
            None => {
                let making = self.place.making()?;
                match self.assemble(&making.file(&path), stones) {
                    // Somebody else has made it, and removed the slices.
                    Err(BuildError::Lost { .. }) if read_entry(self.place, stones)?.is_some() => {
                        return Ok(());
                    }
                    made => made?,
                }
                making.done_durably(&path)?;
                count(LayerFile::open(&path)?)?
            }
        };
        let (making, target) = (self.place.making()?, self.place.entry(stones));
        let mut file = NewFile::create(&making.file(&target), 1 << 10)?;
        file.put(entry_text(&entry).as_bytes())?;
        file.finish()?;
        making.done_durably(&target)?;
        self.remove_slices(stones)
    }

    fn assemble(&self, path: &Path, stones: u32) -> Result<(), BuildError> {
        let header = LayerHeader::new(self.index, Scope::Complete, Metric::Outcome, stones);
        let keys = header.keys();
        let mut writer = LayerWriter::create(path, header)?;
        let (mut inflater, mut bytes) = (Inflater::new(), Vec::new());
        for key in keys {
            writer.begin_block(key);
            for range in self.slices.ranges(self.index.orbits(key.black).len().into()) {
                let from = self.place.slice(key, range.start);
                let file = place::open(self.place, &from)?;
                let lost = |reason| self.place.lost(&from, reason);
                let header = slice_header(self, stones);
                if *file.header() != header {
                    let (expected, got) = (header.to_string(), file.header().to_string());
                    return Err(lost(DatabaseError::damaged(&from, "the header", expected, got)));
                }
                let block = file.expect_block(key).map_err(lost)?;
                if block.rows() != range.len() as u64 {
                    let (expected, got) = (range.len(), block.rows());
                    return Err(lost(DatabaseError::damaged(&from, ROWS_OF, expected, got)));
                }
                let row_bytes = block.row_bytes() as usize;
                let batch = (BATCH_BYTES / row_bytes).next_multiple_of(ROWS).max(ROWS);
                for first in (0..range.len()).step_by(batch) {
                    self.look()?;
                    let count = batch.min(range.len() - first);
                    bytes.resize(count * row_bytes, 0);
                    let read = file.read_rows(block, first as u64, &mut inflater, &mut bytes);
                    read.map_err(lost)?;
                    self.read_bytes(bytes.len() as u64);
                    writer.write(&bytes)?;
                }
            }
            writer.end_block()?;
        }
        self.wrote(writer.finish()?.bytes);
        Ok(())
    }

    fn remove_slices(&self, stones: u32) -> Result<(), BuildError> {
        for key in LayerHeader::new(self.index, Scope::Complete, Metric::Outcome, stones).keys() {
            for range in self.slices.ranges(self.index.orbits(key.black).len().into()) {
                remove(&self.place.slice(key, range.start))?;
            }
        }
        Ok(())
    }
}

/// The text of an entry: an array of numbers, the last of which is the XXH3 of the others.
fn entry_text(entry: &ManifestLayer) -> String {
    let Counts { positions, black_to_move_wins: black, white_to_move_wins: white } = entry.counts;
    let ManifestLayer { stones, bytes, footer_xxh3, .. } = *entry;
    let numbers = [u64::from(stones), bytes, footer_xxh3, positions, black, white];
    let checksum = xxh3_64(&numbers.map(u64::to_le_bytes).concat());
    let [stones, bytes, footer, positions, black, white] = numbers;
    format!("[{stones},{bytes},{footer},{positions},{black},{white},{checksum}]\n")
}

fn parse_entry(text: &[u8]) -> Option<ManifestLayer> {
    let numbers: [u64; 7] = serde_json::from_slice(text).ok()?;
    let [stones, bytes, footer_xxh3, positions, black_to_move_wins, white_to_move_wins, _] =
        numbers;
    let counts = Counts { positions, black_to_move_wins, white_to_move_wins };
    let entry = ManifestLayer { stones: stones.try_into().ok()?, bytes, footer_xxh3, counts };
    (entry_text(&entry).as_bytes() == text).then_some(entry)
}

/// The entry of a layer that is finished: nothing if there is none, or if the file of the layer is
/// not the one that it means; then it is removed.
pub(super) fn read_entry(place: &Place, stones: u32) -> Result<Option<ManifestLayer>, BuildError> {
    let (path, layer) = (place.entry(stones), place.layer(stones));
    let Ok(file) = open_regular(&path) else { return Ok(None) };
    let mut text = Vec::new();
    let read = file.take(MOST_BYTES).read_to_end(&mut text);
    read.map_err(BuildError::io("read", &path))?;
    // The footer stands for the whole file, which was on the disk before its entry.
    let entry = parse_entry(&text).filter(|entry| {
        let file = LayerFile::footer(&layer);
        entry.stones == stones && file.is_ok_and(|file| file == (entry.bytes, entry.footer_xxh3))
    });
    if entry.is_none() {
        remove(&path)?;
    }
    Ok(entry)
}
