//! `konane analyse` with commands from a pipe, compared with plain recursion and databases.

use std::collections::HashMap;
use std::fs;

use konane::{Board, Position, notation, record::Record};

use serde::Deserialize;

use super::common::{TestDir, code, stderr, stdout};

/// Answers of `analyse --json`, with the fields that the tests read.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum AnswerJson {
    Analysis(Box<AnalysisJson>),
    Hint { hint: Option<String>, outcome: String },
    Saved { saved: String },
    Drawn { drawn: String },
    Help { help: String },
    Error { error: String },
}

#[derive(Debug, PartialEq, Deserialize)]
struct AnalysisJson {
    position: String,
    outcome: String,
    winner: String,
    source: Option<String>,
    verdict: String,
    complete: bool,
    moves: Vec<MoveJson>,
    line: Option<Vec<String>>,
    start: Option<String>,
    played: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct MoveJson {
    #[serde(rename = "move")]
    mv: String,
    outcome: String,
    after: String,
}

/// Runs `analyse --json`. The first object is for the initial position, followed by one per
/// command.
fn answers(dir: &TestDir, args: &[&str], lines: &str) -> Vec<AnswerJson> {
    let output = dir.with_input(&[&["analyse"], args, &["--json"]].concat(), lines);
    let note =
        "note: a.proof is trusted without verification: konane verify-proof a.proof verifies it\n";
    let proofs = args.iter().filter(|&&arg| arg == "--proof").count();
    assert_eq!(stderr(&output), note.repeat(proofs));
    let text = stdout(&output);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn analyses(dir: &TestDir, args: &[&str], lines: &str) -> Vec<AnalysisJson> {
    let analysis = |answer| match answer {
        AnswerJson::Analysis(analysis) => *analysis,
        other => panic!("{other:?}"),
    };
    answers(dir, args, lines).into_iter().map(analysis).collect()
}

/// A reference solver by plain recursion.
struct ReferenceSolver {
    board: Board,
    wins: HashMap<Position, bool>,
}

impl ReferenceSolver {
    fn new(size: &str) -> Self {
        ReferenceSolver { board: Board::new(size.parse().unwrap()), wins: HashMap::new() }
    }

    fn wins(&mut self, position: &Position) -> bool {
        if let Some(&known) = self.wins.get(position) {
            return known;
        }
        let mut won = false;
        for mv in position.moves(&self.board) {
            won |= !self.wins(&position.play(&self.board, mv));
        }
        self.wins.insert(*position, won);
        won
    }

    /// Returns the position of an analysis.
    fn position(&self, text: &str) -> Position {
        notation::parse_position(&self.board, text).unwrap()
    }

    /// Checks every value of an analysis. Also checks that its line preserves the outcome until the
    /// game ends.
    fn check(&mut self, analysis: &AnalysisJson) {
        let name = |won: bool| if won { "win" } else { "loss" };
        let position = self.position(&analysis.position);
        let won = self.wins(&position);
        assert_eq!(analysis.outcome, name(won));
        let winner = if won { position.to_move() } else { !position.to_move() };
        assert_eq!(analysis.winner, winner.name());
        assert_eq!(analysis.moves.len(), position.count_moves(&self.board) as usize);
        for judged in &analysis.moves {
            let mv = notation::parse_move(&self.board, &position, &judged.mv).unwrap();
            let after = position.play(&self.board, mv);
            assert_eq!(judged.after, after.to_string());
            assert_eq!(judged.outcome, name(!self.wins(&after)), "{}", judged.mv);
        }
        let (mut at, mut won) = (position, self.wins(&position));
        for mv in analysis.line.as_ref().expect("a line") {
            at = at.play(&self.board, notation::parse_move(&self.board, &at, mv).unwrap());
            won = !won;
            assert_eq!(self.wins(&at), won, "{mv}");
        }
        assert_eq!(at.count_moves(&self.board), 0, "{:?}", analysis.line);
    }
}

#[test]
fn values_agree_with_plain_recursion() {
    let dir = TestDir::new();
    for (size, lines) in [
        ("3x3", "b2\nc2\nundo\na2\nnew\na3\n"),
        ("4x4", "b3\nb4\nb1-b3\nundo\nundo\nc3\nundo\nredo\n"),
        ("3x5", "a3\na2\nboard\nmoves\n"),
        ("1x9", "a1\nb1\n"),
    ] {
        let mut reference = ReferenceSolver::new(size);
        let seen = analyses(&dir, &[size], lines);
        assert_eq!(seen.len(), lines.lines().count() + 1, "{size}");
        for analysis in &seen {
            reference.check(analysis);
        }
    }
}

#[test]
fn databases_proofs_and_searches_agree() {
    let dir = TestDir::new();
    dir.json(&["builddb", "4x4", "--json", "--quiet"], 0);
    dir.json(&["solve", "4x4", "--proof", "a.proof", "--json", "-q"], 0);
    let lines = "a4\na3\n";
    let search = analyses(&dir, &["4x4"], lines);
    let database = analyses(&dir, &["4x4", "--db", "db"], lines);
    let proof = analyses(&dir, &["4x4", "--proof", "a.proof", "--proof", "a.proof"], lines);
    let mut reference = ReferenceSolver::new("4x4");
    for (index, analysis) in database.iter().enumerate() {
        reference.check(analysis);
        reference.check(&proof[index]);
        reference.check(&search[index]);
        assert_eq!(analysis.source.as_deref(), Some("database"), "{index}");
    }
    assert_eq!(proof[0].source.as_deref(), Some("proof"));
    assert_eq!(search[0].source.as_deref(), Some("search"));
}

/// An outcome does not determine the remoteness of a lost position.
#[test]
fn hints_name_the_longest_resistance_only_if_remoteness_is_known() {
    let dir = TestDir::new();
    dir.json(&["builddb", "4x4", "--json", "--quiet"], 0);
    dir.json(&["builddb", "4x4", "--metric", "remoteness", "--json", "--quiet"], 0);
    let words = ["seems hardest to answer.", " delays the loss longest."];
    for (subcommand, db, known) in [
        // `analyse` has found the remoteness by search.
        ("analyse", None, 1),
        ("play", None, 0),
        ("analyse", Some("db/4x4-complete"), 1),
        ("play", Some("db/4x4-complete"), 0),
        ("analyse", Some("db/4x4-complete-remoteness"), 1),
        ("play", Some("db/4x4-complete-remoteness"), 1),
    ] {
        let db = db.map_or(vec![], |db| vec!["--db", db]);
        let side = if subcommand == "play" { &["--side", "black"][..] } else { &[] };
        let args = [&[subcommand, "4x4"], &db[..], side].concat();
        let output = dir.with_input(&args, "hint\n");
        let text = stdout(&output);
        let hint = text.lines().find(|line| line.starts_with("Every move loses; ")).expect(&text);
        assert!(hint.contains(words[known]) && !hint.contains(words[1 - known]), "{hint}");
    }
}

#[test]
fn unproven_outcomes_are_unknown() {
    let dir = TestDir::new();
    let args = ["8x8", "--time", "50ms", "--memory", "16MiB"];
    let seen = analyses(&dir, &args, "search 100ms\n");
    assert_eq!(seen.len(), 2);
    for analysis in &seen {
        assert_eq!((analysis.outcome.as_str(), analysis.complete), ("unknown", false));
        assert!(analysis.moves.iter().all(|judged| judged.outcome == "unknown"));
        assert_eq!(analysis.line.as_deref(), Some(&[][..]));
    }
    let output = dir.with_input(&[&["analyse"], &args[..]].concat(), "hint\n");
    let text = stdout(&output);
    assert_eq!(code(&output), 0);
    assert!(text.contains("\nNot decided yet: 4 moves to look at.\n"), "{text}");
    assert!(text.contains("  unknown        2\n"), "{text}");
    assert!(text.contains(" is the best so far; the winner is not known yet.\n"), "{text}");
}

#[test]
fn every_command_has_an_answer() {
    let dir = TestDir::new();
    let lines = "move c3\nhint\nsave g.txt\ndraw g.svg\nundo\nundo\nload g.txt\nhelp\nx9\n\n\
                 # a remark\nposition\nquit\nc4\n";
    let seen = answers(&dir, &["5x5"], lines);
    let kinds: Vec<&str> = seen
        .iter()
        .map(|answer| match answer {
            AnswerJson::Analysis(_) => "analysis",
            AnswerJson::Hint { .. } => "hint",
            AnswerJson::Saved { .. } => "saved",
            AnswerJson::Drawn { .. } => "drawn",
            AnswerJson::Help { .. } => "help",
            AnswerJson::Error { .. } => "error",
        })
        .collect();
    let expected = [
        "analysis", "analysis", "hint", "saved", "drawn", "analysis", "error", "analysis", "help",
        "error", "analysis",
    ];
    assert_eq!(kinds, expected);
    let record: Record = fs::read_to_string(dir.path("g.txt")).unwrap().parse().unwrap();
    assert_eq!(record.moves.len(), 1);
    assert!(fs::read_to_string(dir.path("g.svg")).unwrap().contains("stroke=\"#c0392b\""));
    let AnswerJson::Analysis(loaded) = &seen[7] else { panic!("{:?}", seen[7]) };
    assert_eq!(loaded.played.as_deref(), Some(&["c3".to_owned()][..]));
    let output = dir.with_input(&["analyse", "5x5"], lines);
    assert_eq!(code(&output), 2, "x9 is not a move");
    let text = stdout(&output);
    for part in [
        "\n5x5, White (o) to move\n",
        "   3  x o[.]o x\n",
        "\nWhite loses in 14 plies: all 4 moves lose.\n",
        "  move     outcome  replies  source\n  c4       loss           3  search, 14 plies\n",
        "\n  line     c4 ",
        "Every move loses; ",
        "Saved the game to g.txt.\n",
        "there is nothing to take back\n",
        "there is no square x9",
        "xoxox/oxoxo/xo1ox/oxoxo/xoxox w\n",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "colours are for terminals");
}

#[test]
fn the_initial_position_can_be_given() {
    let dir = TestDir::new();
    fs::write(dir.path("g.txt"), "Board: 5x5\n\n1. c3 c4 2. c1-c3\n").unwrap();
    let by_moves = analyses(&dir, &["5x5", "--moves", "c3 c4 c1-c3"], "undo\n");
    let by_game = analyses(&dir, &["5x5", "--game", "g.txt"], "undo\n");
    assert_eq!(by_moves, by_game);
    assert_eq!(analyses(&dir, &["5x5", "--moves", "1.c3 c4 2.c1-c3"], "undo\n"), by_game);
    let start = by_moves[0].start.as_deref().unwrap();
    let from = ["5x5", "--position", start, "--moves", "c3 c4 c1-c3"];
    assert_eq!(analyses(&dir, &from, "undo\n"), by_game);
    // The record contains the board size.
    assert_eq!(analyses(&dir, &["--game", "g.txt"], "undo\n"), by_game);
    assert_eq!(by_moves[0].played.as_ref().map(Vec::len), Some(3));
    assert_eq!(by_moves[1].played.as_ref().map(Vec::len), Some(2));
    for (args, expected, part) in [
        (&["5x5", "--game", "none.txt"][..], 4, "none.txt"),
        (&["4x5", "--game", "g.txt"], 2, "a game on the 5x5 board, not on 4x5"),
        (&["4x5", "--game", "g.txt"], 2, "tip: write 5x5 instead of 4x5, or omit the board"),
        (&["--game", "none.txt"], 4, "none.txt"),
        (&["--game", "-"], 2, "name a file"),
        (&["--game", "g.txt", "--moves", "c3"], 2, "--game"),
        (&[], 2, "<RxF"),
        (&["--moves", "c3"], 2, "<RxF"),
        (&["5x5", "--game", "g.txt", "--moves", "c3"], 2, "--game"),
        (&["5x5", "--moves", "c9"], 2, "--moves"),
        (&["5x5", "--memory", "1KiB"], 2, "--memory"),
        (&["5x5", "--db", "none"], 4, "none"),
    ] {
        let output = dir.with_input(&[&["analyse"], args].concat(), "");
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_finished_game_is_lost() {
    let dir = TestDir::new();
    let seen = analyses(&dir, &["1x4", "--position", "4 b"], "");
    assert_eq!(seen[0].verdict, "Black cannot move. White has won.");
    assert!(seen[0].moves.is_empty() && seen[0].line.as_ref().is_some_and(Vec::is_empty));
    let output = dir.with_input(&["analyse", "1x4", "--position", "4 b"], "hint\n");
    assert!(stdout(&output).ends_with("There is no move.\n"), "{}", stdout(&output));
    let found = answers(&dir, &["1x4", "--position", "4 b"], "hint\n");
    assert!(
        matches!(&found[1], AnswerJson::Hint { hint: None, outcome } if outcome == "loss"),
        "{found:?}"
    );
}
