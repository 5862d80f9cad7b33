//! Any bytes are read as a game record or rejected with a location in the input, with the
//! orientation detected or given, and with a board for records without headers. A parsed record is unchanged after writing and reading it, also
//! with flipped ranks. All of its moves are legal.
#![no_main]

use konane::notation::square_name;
use konane::record::{Record, RecordOptions};
use konane::{Move, Square};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let board = "6x6".parse().ok();
    for (board, flip_ranks) in [(None, false), (None, true), (board, false)] {
        match Record::from_bytes(bytes, RecordOptions { board, flip_ranks }) {
            Ok(record) => {
                assert_eq!(record.positions().len(), record.moves.len() + 1);
                let text = record.to_string();
                assert_eq!(text.parse().as_ref(), Ok(&record));
                assert_eq!(flipped(&record, &text).parse(), Ok(record));
            }
            Err(error) => {
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
                assert!((1..=lines).contains(&error.line) && error.column > 0, "{error}");
                assert!(error.to_string().len() < 1000, "long texts are cut");
            }
        }
    }
});

/// Writes the record like a program whose rank 1 is the top rank, with a number for every ply.
fn flipped(record: &Record, text: &str) -> String {
    let (headers, _) = text.split_once("\n\n").expect("an empty line");
    let mut flipped = String::from("Flip-Ranks: yes\n");
    for line in headers.lines().filter(|&line| line != "Flip-Ranks: no") {
        match line.strip_prefix("Position: ").and_then(|position| position.split_once(' ')) {
            Some((ranks, side)) => {
                let ranks: Vec<&str> = ranks.split('/').rev().collect();
                flipped += &format!("Position: {} {side}\n", ranks.join("/"));
            }
            None => flipped += &format!("{line}\n"),
        }
    }
    flipped.push('\n');
    let comments = |comments: &[String]| {
        let comments = comments.iter().map(|comment| format!("{{{}}} ", comment.replace('}', ")")));
        comments.collect::<String>()
    };
    flipped += &comments(&record.comments);
    for (ply, recorded) in record.moves.iter().enumerate() {
        let square = |square: Square| {
            let (ranks, files) = (record.dimensions.ranks(), record.dimensions.files());
            let index = u32::from(square.index());
            let (row, file) = (index / files, index % files);
            square_name(record.dimensions, (ranks - 1 - row) * files + file)
        };
        let mv = match recorded.mv {
            Move::Remove { square: removed } => square(removed),
            Move::Jump { from, to } => square(from) + "\u{2013}" + &square(to),
        };
        let mark = recorded.mark.map(|mark| mark.symbol().to_string()).unwrap_or_default();
        flipped += &format!("{}. {mv}{mark} {}", ply + 1, comments(&recorded.comments));
    }
    flipped
}
