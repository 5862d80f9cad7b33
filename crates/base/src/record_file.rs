//! Append-only files of records. A record is a text with a number; the [`RecordKind`] of a file says what they mean.
//!
//! [`RecordFile`] is a file that is open for writing; [`read`] reads a file without changing it. Both pass
//! every [`Record`] to a function of the caller and return the [`Contents`], with a [`TornFrame`] if
//! the last write was interrupted.
//!
//! # Format
//!
//! The file begins with [`RecordKind::magic`]. Frames follow, one for each write. All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | [`FRAME`] |
//! | 4 | length of the records in bytes |
//! | 8 | offset of the frame in the file |
//! | 8 | xxh3 of the three fields above |
//! | 8 | xxh3 of the records |
//! | … | records: two bytes number, two bytes length of the text, the text in UTF-8 |
//!
//! # Interrupted writes
//!
//! A frame is appended with one write. A program that is killed during the write leaves an incomplete frame
//! at the end of the file, and no other damage. The next program that opens the file for writing removes this
//! frame and reports it ([`TornFrame`]). The checksum of the header distinguishes an incomplete frame from a
//! damaged length. Every other deviation from the format is damage: the file is refused with the offset.
//! While a program has a file open for writing, no other program can open it for writing.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::file::{FileError, open_locked, open_regular};
use pn_search::ErrorKind;
use xxhash_rust::xxh3::xxh3_64;

/// Length of the first bytes of a file.
const MAGIC_BYTES: usize = 16;

/// Meaning of the records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordKind {
    /// First bytes of a file, with the version of the records.
    pub magic: [u8; MAGIC_BYTES],
    /// Name in error messages.
    pub name: &'static str,
}

/// First bytes of a frame.
pub const FRAME: [u8; 4] = *b"SNF\n";
const HEADER: usize = 32;
/// Maximum length of the records of a frame, in bytes.
pub const MAX_FRAME: usize = 1 << 20;
/// Maximum length of a text, in bytes.
pub const MAX_TEXT: usize = u16::MAX as usize;

/// Reason for which a record file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not of the expected kind.
    #[error(
        "{}: not a {}: it does not begin with {:?}",
        path.display(), expected.name, String::from_utf8_lossy(&expected.magic)
    )]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// Kind of file that was expected.
        expected: RecordKind,
    },
    /// The file is damaged.
    #[error("{}: damaged at byte {place}: {what}; restore it from a copy", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the damage.
        place: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// Another program has the file open for writing.
    #[error("{}: in use by another program; wait until it has ended", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A text is too long for a record.
    #[error("{}: a text of {length} bytes does not fit in a record of at most {MAX_TEXT}", path.display())]
    TextTooLong {
        /// The file.
        path: PathBuf,
        /// Length of the text in bytes.
        length: usize,
    },
}

impl RecordFileError {
    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            // A `FileError` of an output file may be a usage error. A record file is read before it is written,
            // so its errors are file errors.
            RecordFileError::File(_)
            | RecordFileError::OtherKind { .. }
            | RecordFileError::Damaged { .. }
            | RecordFileError::InUse { .. }
            | RecordFileError::TextTooLong { .. } => ErrorKind::File,
        }
    }

    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let to_file = FileError::io(action, path);
        move |source| to_file(source).into()
    }
}

/// An incomplete frame at the end of a file, left by a program that was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornFrame {
    /// Offset of the frame's first byte.
    pub place: u64,
    /// Length of the frame in bytes.
    pub bytes: u64,
}

/// A land and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The text of the land.
    pub text: &'a str,
    /// Its number.
    pub number: u32,
    /// Offset of the record in the file.
    pub place: u64,
}

/// Summary of a file that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of records.
    pub records: u64,
    /// Length of the file's header and of its complete frames, in bytes.
    pub bytes: u64,
    /// The incomplete frame at the end of the file, if there is one.
    pub torn: Option<TornFrame>,
}

/// Reads a record file without changing it, one frame at a time, and calls `entry` for every record.
///
/// # Errors
/// [`RecordFileError`] if the file cannot be read or is damaged; errors returned by `entry`, unchanged.
pub fn read<E: From<RecordFileError>>(
    path: &Path,
    kind: RecordKind,
    entry: impl FnMut(Record<'_>) -> Result<(), E>,
) -> Result<Contents, E> {
    let file = open_regular(path).map_err(RecordFileError::from)?;
    read_from(path, kind, buffered(&file), entry)
}

/// Returns true if a file begins like a record file of this kind.
///
/// # Errors
/// [`RecordFileError::File`] if the file cannot be read.
pub fn is_of_kind(path: &Path, kind: RecordKind) -> Result<bool, RecordFileError> {
    let mut magic = Vec::new();
    let mut file = open_regular(path)?.take(MAGIC_BYTES as u64);
    file.read_to_end(&mut magic).map_err(RecordFileError::io(path, "read"))?;
    Ok(magic == kind.magic)
}

fn buffered(file: &File) -> BufReader<&File> {
    BufReader::with_capacity(1 << 20, file)
}

/// Reads a record file from any reader. `path` is used in error messages.
///
/// # Errors
/// The same as [`read`].
pub fn read_from<R: Read, E: From<RecordFileError>>(
    path: &Path,
    kind: RecordKind,
    mut reader: R,
    mut entry: impl FnMut(Record<'_>) -> Result<(), E>,
) -> Result<Contents, E> {
    let damaged = |place, what| RecordFileError::Damaged { path: path.to_owned(), place, what };
    let fill = |reader: &mut R, bytes: &mut [u8]| {
        let mut filled = 0;
        while filled < bytes.len() {
            match reader.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(RecordFileError::io(path, "read")(error)),
            }
        }
        Ok(filled)
    };

    let mut magic = [0; MAGIC_BYTES];
    let filled = fill(&mut reader, &mut magic)?;
    if magic[..filled] != kind.magic[..filled] {
        let path = path.to_owned();
        return Err(RecordFileError::OtherKind { path, expected: kind }.into());
    }
    let mut contents = Contents { bytes: MAGIC_BYTES as u64, ..Contents::default() };
    if filled < MAGIC_BYTES {
        // The write of the file's header was interrupted.
        contents.bytes = 0;
        contents.torn = (filled > 0).then_some(TornFrame { place: 0, bytes: filled as u64 });
        return Ok(contents);
    }
    let mut records = Vec::new();
    loop {
        let place = contents.bytes;
        let mut header = [0; HEADER];
        let filled = fill(&mut reader, &mut header)?;
        if filled == 0 {
            return Ok(contents);
        }
        if filled < HEADER {
            let known = filled.min(FRAME.len());
            if header[..known] != FRAME[..known] {
                return Err(damaged(place, "no frame begins here").into());
            }
            contents.torn = Some(TornFrame { place, bytes: filled as u64 });
            return Ok(contents);
        }
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        if header[..4] != FRAME || word(8) != place || word(16) != xxh3_64(&header[..16]) {
            return Err(damaged(place, "the header of a frame does not match its checksum").into());
        }
        let length = (word(0) >> 32) as usize;
        if length > MAX_FRAME {
            return Err(damaged(place, "a frame is longer than the format allows").into());
        }
        records.resize(length, 0);
        let filled = fill(&mut reader, &mut records)?;
        if filled < length {
            contents.torn = Some(TornFrame { place, bytes: (HEADER + filled) as u64 });
            return Ok(contents);
        }
        if word(24) != xxh3_64(&records) {
            return Err(damaged(place, "the records do not match their checksum").into());
        }
        let mut at = 0;
        while at < length {
            let here = place + (HEADER + at) as u64;
            let field = |at: usize| -> Option<usize> {
                Some(u16::from_le_bytes(records.get(at..at + 2)?.try_into().ok()?).into())
            };
            let text = field(at + 2).and_then(|count| records.get(at + 4..at + 4 + count));
            let text = text.and_then(|text| std::str::from_utf8(text).ok());
            let (Some(number), Some(text)) = (field(at), text) else {
                return Err(damaged(here, "a record is truncated or is not UTF-8 text").into());
            };
            entry(Record { text, number: number as u32, place: here })?;
            at += 4 + text.len();
            contents.records += 1;
        }
        contents.bytes += (HEADER + length) as u64;
    }
}

/// A record file that is open for writing, and locked.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    /// Offset of the next frame.
    end: u64,
    /// Space for the header of the next frame, followed by the frame's records.
    frame: Vec<u8>,
}

impl RecordFile {
    /// Opens a record file, or creates an empty one, and calls `entry` for every record. An incomplete frame at
    /// the end is removed.
    ///
    /// # Errors
    /// [`RecordFileError`] if the file cannot be read, is damaged or in use; errors returned by `entry`,
    /// unchanged. In these cases the file is not changed.
    pub fn open<E: From<RecordFileError>>(
        path: &Path,
        kind: RecordKind,
        entry: impl FnMut(Record<'_>) -> Result<(), E>,
    ) -> Result<(RecordFile, Contents), E> {
        let io = |action| RecordFileError::io(path, action);
        let Some(file) = open_locked(path).map_err(RecordFileError::from)? else {
            return Err(RecordFileError::InUse { path: path.to_owned() }.into());
        };
        let contents = read_from(path, kind, buffered(&file), entry)?;
        let mut end = contents.bytes;
        file.set_len(end).map_err(io("cut off the end of"))?;
        let mut position = &file;
        position.seek(SeekFrom::Start(end)).map_err(io("seek in"))?;
        if end == 0 {
            position.write_all(&kind.magic).map_err(io("write to"))?;
            end = MAGIC_BYTES as u64;
        }
        let frame = vec![0; HEADER];
        Ok((RecordFile { path: path.to_owned(), file, end, frame }, contents))
    }

    /// Adds a record. The record is certain to be in the file only after [`Self::flush`].
    ///
    /// # Errors
    /// [`RecordFileError::TextTooLong`], and the errors of [`Self::flush`].
    ///
    /// # Panics
    /// If the number does not fit in 16 bits.
    pub fn append(&mut self, text: &str, number: u32) -> Result<(), RecordFileError> {
        let length = u16::try_from(text.len()).map_err(|_| RecordFileError::TextTooLong {
            path: self.path.clone(),
            length: text.len(),
        })?;
        let number = u16::try_from(number).expect("numbers have 16 bits");
        if self.frame.len() + 4 + text.len() > HEADER + MAX_FRAME {
            self.flush()?;
        }
        self.frame.extend_from_slice(&number.to_le_bytes());
        self.frame.extend_from_slice(&length.to_le_bytes());
        self.frame.extend_from_slice(text.as_bytes());
        Ok(())
    }

    /// Writes the added records as one frame.
    ///
    /// # Errors
    /// [`RecordFileError::File`]. After an error, the file is unchanged or ends with an incomplete frame.
    pub fn flush(&mut self) -> Result<(), RecordFileError> {
        if self.frame.len() == HEADER {
            return Ok(());
        }
        let length = (self.frame.len() - HEADER) as u32;
        let sum = xxh3_64(&self.frame[HEADER..]);
        self.frame[..4].copy_from_slice(&FRAME);
        self.frame[4..8].copy_from_slice(&length.to_le_bytes());
        self.frame[8..16].copy_from_slice(&self.end.to_le_bytes());
        let head = xxh3_64(&self.frame[..16]);
        self.frame[16..24].copy_from_slice(&head.to_le_bytes());
        self.frame[24..32].copy_from_slice(&sum.to_le_bytes());
        if let Err(error) = self.file.write_all(&self.frame) {
            // After an error such as a full disk, the incomplete frame is removed: otherwise the next frame
            // would follow it.
            let end = self.end;
            let _ = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::Start(end)));
            return Err(RecordFileError::io(&self.path, "write to")(error));
        }
        self.end += self.frame.len() as u64;
        self.frame.truncate(HEADER);
        Ok(())
    }

    /// Writes the added records and waits until they are on the disk.
    ///
    /// # Errors
    /// [`RecordFileError::File`].
    pub fn close(mut self) -> Result<(), RecordFileError> {
        self.flush()?;
        self.file.sync_data().map_err(RecordFileError::io(&self.path, "write to"))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KIND: RecordKind = RecordKind { magic: *b"numbers of tests", name: "test file" };

    type Records = Vec<(String, u32)>;

    fn load(path: &Path) -> Result<(Records, Contents), RecordFileError> {
        let mut records = Vec::new();
        let contents = read(path, KIND, |entry: Record<'_>| {
            records.push((entry.text.to_owned(), entry.number));
            Ok::<(), RecordFileError>(())
        })?;
        Ok((records, contents))
    }

    fn add(path: &Path, records: &[(String, u32)]) -> Contents {
        let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
        let (mut db, contents) = RecordFile::open(path, KIND, ignore).unwrap();
        for (text, number) in records {
            db.append(text, *number).unwrap();
        }
        db.close().unwrap();
        contents
    }

    fn sample(count: u32) -> Records {
        (0..count).map(|index| (format!("0.{index}"), index % 7)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn added_records_are_read(
            batches in prop::collection::vec(
                prop::collection::vec((".{0,40}", 0u32..1 << 16), 0..20), 0..6),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("db");
            add(&path, &[]);
            for batch in &batches {
                add(&path, batch);
            }
            let (records, contents) = load(&path).unwrap();
            prop_assert_eq!(contents.records, records.len() as u64);
            prop_assert_eq!(contents.bytes, std::fs::metadata(&path).unwrap().len());
            prop_assert_eq!(contents.torn, None);
            prop_assert_eq!(records, batches.concat());
        }
    }

    /// Checks every possible length of an interrupted file: complete frames are kept, the rest is removed,
    /// and records can be added.
    #[test]
    fn every_interrupted_write_is_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let batches = [sample(3), sample(9), sample(1)];
        let mut lengths = vec![0];
        add(&path, &[]);
        for batch in &batches {
            lengths.push(std::fs::metadata(&path).unwrap().len());
            add(&path, batch);
        }
        let whole = std::fs::read(&path).unwrap();
        lengths.push(whole.len() as u64);
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let frames = lengths.iter().filter(|&&end| end <= length as u64).count();
            let kept = batches[..frames.saturating_sub(2)].concat();
            let torn = length as u64 - lengths[frames - 1];
            let (records, contents) = load(&path).unwrap();
            assert_eq!(records, kept, "{length}");
            assert_eq!(contents.torn.map_or(0, |cut| cut.bytes), torn, "{length}");
            assert_eq!(contents.torn.map(|cut| cut.place), (torn > 0).then(|| lengths[frames - 1]));
            assert_eq!(add(&path, &batches[1]), contents);
            assert_eq!(load(&path).unwrap().0, [&kept[..], &batches[1]].concat(), "{length}");
        }
    }

    #[test]
    fn every_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        add(&path, &sample(5));
        add(&path, &sample(4));
        let whole = std::fs::read(&path).unwrap();
        for index in 0..whole.len() {
            let mut changed = whole.clone();
            changed[index] ^= 1 << (index % 8);
            std::fs::write(&path, &changed).unwrap();
            let error = load(&path).expect_err("a change is damage");
            match &error {
                RecordFileError::OtherKind { .. } => assert!(index < MAGIC_BYTES),
                RecordFileError::Damaged { place, .. } => assert!(*place <= index as u64),
                other => panic!("{other}"),
            }
            let text = error.to_string();
            assert!(text.contains(path.to_str().unwrap()), "{text}");
            // Opening the file for writing does not change it.
            let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
            assert!(RecordFile::open(&path, KIND, ignore).is_err());
            assert_eq!(std::fs::read(&path).unwrap(), changed);
        }
    }

    #[test]
    fn large_batches_become_several_frames() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let records: Records =
            (0..40u32).map(|index| (format!("{index}").repeat(MAX_TEXT / 2), index)).collect();
        add(&path, &records);
        assert_eq!(load(&path).unwrap().0, records);
        let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
        let (mut db, _) = RecordFile::open(&path, KIND, ignore).unwrap();
        let error = db.append(&"0".repeat(MAX_TEXT + 1), 0).unwrap_err();
        assert!(
            matches!(error, RecordFileError::TextTooLong { length, .. } if length == MAX_TEXT + 1)
        );
    }

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
        let (db, _) = RecordFile::open(&path, KIND, ignore).unwrap();
        let second = RecordFile::open(&path, KIND, ignore).unwrap_err();
        assert!(matches!(second, RecordFileError::InUse { .. }), "{second}");
        drop(db);
        RecordFile::open(&path, KIND, ignore).unwrap();
    }
}
