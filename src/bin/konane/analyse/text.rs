//! Moves and their values, in words.

use std::fmt::Write as _;

use crate::output;
use konane::Move;
use konane::analysis::Analysis;
use konane::search::Value;

/// All moves, one a line, winning first, and a line of best play.
pub fn moves_text(analysis: &Analysis, line: &[Move]) -> String {
    let mut text = String::new();
    if !analysis.moves.is_empty() {
        text += "\n  move     outcome  replies  source\n";
    }
    for judged in &analysis.moves {
        let mv = judged.mv.to_string();
        let outcome = judged.outcome().map_or("unknown", Value::name);
        let source = judged.judgement.map_or("", |judgement| judgement.source.name());
        let plies = match judged.judgement.and_then(|judgement| judgement.remoteness) {
            // Of the position after the move; the game lasts one more.
            Some(plies) => format!(", {}", output::plies(plies + 1)),
            None => String::new(),
        };
        let replies = judged.replies;
        let row = format!("  {mv:<8} {outcome:<8} {replies:>7}  {source}{plies}");
        let _ = writeln!(text, "{}", row.trim_end());
    }
    if !line.is_empty() {
        let _ = writeln!(text, "\n  line     {}", output::wrapped(line, 11));
    }
    text
}
