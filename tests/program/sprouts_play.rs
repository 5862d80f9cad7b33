//! `konane sprouts play` with commands from a pipe.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use std::time::{Duration, Instant};

use super::common::{TestDir, code, stderr, stdout};
#[cfg(unix)]
use super::common::{ends_soon, wait_for_work};
use super::sprouts_search::MILLIONS_OF_MOVES;

/// Runs the program with lines on standard input.
fn play(dir: &TestDir, args: &[&str], lines: &str) -> Output {
    dir.with_input(&[&["sprouts", "play"], args].concat(), lines)
}

/// Plays a game in which the person plays the first listed move of a kind at each turn.
fn game(dir: &TestDir, args: &[&str], pick: &str) -> String {
    let mut lines = String::new();
    for _ in 0..20 {
        let output = play(dir, args, &(lines.clone() + "moves\n"));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        if text.contains(" won.\n") {
            return text;
        }
        let listed = text.rsplit_once("Moves: ").expect("a list").1;
        let mine = listed.lines().find(|line| line.contains(pick)).expect(pick);
        let number = mine.split_whitespace().next().unwrap();
        lines += &format!("{number}\n");
    }
    panic!("no end: {lines}");
}

#[test]
fn the_program_wins_and_explains_its_moves() {
    let dir = TestDir::new();
    // The first player loses with two and six spots and wins with three to five.
    for (start, person, side) in
        [("0*2", "first", "second"), ("0*6", "first", "second"), ("0*4", "second", "first")]
    {
        let text = game(&dir, &[start], "loses");
        let begin = format!("{start}: you are the {person} player. I can win.\n");
        assert!(text.starts_with(&begin), "{text}");
        assert!(text.ends_with("No move is left. I have won.\nMoves: 0 win, 0 lose.\n"), "{text}");
        assert!(text.contains("so the player to move loses.\n") && !text.contains(" wins "));
        // A winning person who makes a mistake loses.
        let text = game(&dir, &[start, "--side", side], "loses");
        assert!(text.contains("You can win") && text.contains("left. I have won.\n"), "{text}");
    }
    let text = game(&dir, &["0*3+0*4"], "loses");
    assert!(text.contains("have the Grundy numbers "), "{text}");
}

#[test]
fn two_people_or_the_program_alone_play() {
    let dir = TestDir::new();
    let text = game(&dir, &["0*3", "--side", "both"], "#1 ");
    let begin = "0*3: two people play. The first player can win.\n";
    assert!(text.starts_with(begin) && !text.contains("I play"), "{text}");
    assert!(
        text.contains("No move is left. The ") && text.contains(" player has won.\n"),
        "{text}"
    );
    let after = stdout(&play(&dir, &["0*1"], "1\n#1\n"));
    assert!(after.ends_with("No move is left. I have won.\nno move is left\n"), "{after}");
    let text = stdout(&play(&dir, &["0*3", "--side", "none"], ""));
    assert!(text.starts_with("0*3: the program plays both sides. "), "{text}");
    assert!(text.ends_with("No move is left. The first player has won.\n"), "{text}");
}

#[test]
fn a_perfect_player_beats_the_program() {
    let dir = TestDir::new();
    for (start, side) in [("0*3", "first"), ("0*2", "second"), ("0*7", "second")] {
        let text = game(&dir, &[start, "--side", side], "wins");
        assert!(text.contains("You can win"), "{text}");
        assert!(text.contains(": all moves lose; this one leaves "), "{text}");
        assert!(text.contains("\nNo move is left. You have won.\n"), "{text}");
    }
}

#[test]
fn commands_positions_and_invalid_lines() {
    let dir = TestDir::new();
    let words =
        "help\n\n  moves  \nboard\nposition\nhint\n# a remark\nnew 0*2+22\nhint\nnew\nquit\n1\n";
    let output = play(&dir, &["0*3", "--side", "first"], words);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let text = stdout(&output);
    for part in [
        "take back your last move",
        "Moves: 2 win, 1 lose.\n    #2  wins     Grundy 0   0.1a1a\n",
        "    #1  loses    Grundy ",
        "\n0*3\n  Grundy ",
        "#2 0.1a1a wins: its Grundy number is 0, so the player to move loses.\n",
        "0*2+22: you are the first player. You can win.\n",
        "#1 0*2 wins",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let end = text.rsplit_once("\n0*2+22\nYou are winning: ").expect("the last turn").1;
    assert!(end.contains(" of your 3 moves ") && end.lines().count() == 1, "{text}");
    // A move by its number, by its text and by an equivalent text. `undo` returns to the previous
    // turn.
    let moves = "#3\nundo\n3\nundo\n0.AB|0.AB\nundo\nBA.0|0.3.AB\nundo\nposition\n";
    let text = stdout(&play(&dir, &["0*3", "--side", "first"], moves));
    assert_eq!(text.matches("\nI play ").count(), 4, "{text}");
    let replies: BTreeSet<&str> = text.lines().filter(|line| line.starts_with("I play")).collect();
    assert_eq!(replies.len(), 1, "the reply differs: {text}");
    assert!(text.contains("\n0*3\nYou are winning: "), "{text}");
    let (_, last) = text.rsplit_once("Move taken back.\n").expect("undo");
    assert!(last.contains("\n0*3\n  Grundy "), "{text}");
    // Invalid lines in piped input change the exit code, and the game continues.
    let mistakes = "0*2\n#4\n99\n0*x\nnew 0*x\nhint now\nundo\nredo\n3\n";
    let output = play(&dir, &["0*3", "--side", "first"], mistakes);
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    for part in [
        "no move leads to 0*2; write moves for the list\n",
        "the moves have the numbers 1 to 3\n",
        "99: character",
        "0*x: character 3",
        "\"hint\" takes no argument, found \"now\"; or write help\n",
        "there is nothing to take back\n",
        "there is nothing to redo: no move was taken back\n",
        "\nI play ",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    // `12+0` is a text of the third move. It is not move number 12: there are fewer than twelve
    // moves.
    let text = stdout(&play(&dir, &["0+0.2", "--side", "first"], "moves\n12+0\n"));
    assert!(text.contains("0+12\n") && text.contains("\nI play "), "{text}");
    let output = play(&dir, &["0*3"], "");
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn results_unknown_within_the_time_are_not_claimed() {
    let dir = TestDir::new();
    let lines = "hint\nmoves\nmore\nmore\nmore\nmore\n";
    let output = play(&dir, &["0*40", "--time", "100ms", "--threads", "1"], lines);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("you are the second player. The winner is not known yet.\n"), "{text}");
    assert!(text.contains(": the winner is not known yet.\n"), "{text}");
    assert!(text.contains(" is the best so far; the winner is not known yet.\n"), "{text}");
    assert!(text.contains(" unknown (time limit).\n"), "{text}");
    // With many moves, each is on exactly one page.
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('#')?.split_once("Grundy"))
        .map(|(_, rest)| rest.split_whitespace().last().unwrap())
        .collect();
    assert!(listed.len() > 20 && text.contains(" more: write more.\n"), "{text}");
    let different: BTreeSet<&&str> = listed.iter().collect();
    assert_eq!(different.len(), listed.len(), "{text}");
}

#[test]
fn a_file_of_numbers_is_used_and_invalid_usage_rejected() {
    let dir = TestDir::new();
    let output = play(&dir, &["0*5", "--db", "numbers"], "hint\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let stats = dir.json(&["sprouts", "db", "stats", "numbers", "--json"], 0);
    assert!(stats["lands"].as_u64().unwrap() > 10, "{stats}");
    for (args, expected, part) in [
        (&["0*x"][..], 2, "character 3"),
        (&["0*3", "--side", "third"], 2, "third"),
        (&["0*3", "--time", "fast"], 2, "--time"),
        (&["0*3", "--memory", "1000"], 2, "memory"),
        (&["0*3", "--db", "."], 4, "error: "),
    ] {
        let output = play(&dir, args, "");
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(stderr(&output).contains(part), "{args:?}: {}", stderr(&output));
    }
}

/// The program is to move, and the time limit passes before its moves have been listed.
#[test]
fn the_program_moves_even_without_time() {
    let dir = TestDir::new();
    let args = ["0*1000", "--side", "second", "--time", "10ms"];
    let output = play(&dir, &args, "quit\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("\nI play ") && text.contains(": the winner is not known yet.\n"),
        "{text}"
    );
    let output = play(&dir, &["0*1000", "--side", "first", "--time", "10ms"], "moves\nhint\n");
    let text = stdout(&output);
    assert!(text.contains("Moves: 0 win, 0 lose, 501 unknown ("), "{text}");
    assert!(text.ends_with("The winner is not known yet.\n"), "{text}");
}

#[test]
fn moves_are_undone_and_redone() {
    let dir = TestDir::new();
    let text = stdout(&play(&dir, &["0*5"], "2\n1\nundo\nundo\nredo\nredo\nposition\n"));
    // `redo` also repeats the moves of the program instead of choosing new ones.
    assert_eq!(text.matches("\nI play ").count(), 3, "{text}");
    let turns: Vec<&str> = text.split("\n\n").filter(|part| part.contains("\nYour ")).collect();
    let positions: Vec<&str> = turns.iter().filter_map(|turn| turn.lines().next()).collect();
    assert_eq!(positions.len(), 7, "{text}");
    assert_eq!(positions[3..], [1, 0, 1, 2].map(|turn| positions[turn]), "{text}");
    assert_eq!(
        (text.matches("Move taken back.").count(), text.matches("Move redone.").count()),
        (2, 2)
    );
}

#[test]
fn games_are_saved_and_resumed() {
    let dir = TestDir::new();
    let output = play(&dir, &["0*3"], "1\nsave game.txt\nposition\n");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let game = fs::read_to_string(dir.path("game.txt")).unwrap();
    let lines: Vec<&str> = game.lines().collect();
    assert_eq!((lines[0], lines.len()), ("Sprouts: 0*3", 4), "{game}");
    assert!(lines[1..].iter().all(|line| line.contains('(')), "{game}");
    let text = stdout(&output);
    let (_, position) = text.rsplit_once("Saved the game to game.txt.\n").expect("a message");
    assert!(position.contains("\n  numbers "), "{position}");
    assert!(text.contains(&format!("\nI play {}, 0.AB|0.AB: ", lines[1])), "{text}");
    // The loaded game continues where it was saved, with all its moves and the same players.
    let loaded = play(&dir, &["0*4"], "load game.txt\nposition\nsave again.txt\nundo\nposition\n");
    assert_eq!(code(&loaded), 0, "{}", stderr(&loaded));
    let text = stdout(&loaded);
    assert!(text.contains("\n0*3: you are the second player. I can win.\n"), "{text}");
    assert!(text.contains(position), "{text}");
    assert!(text.contains("\n0.AB|0.AB\n  Grundy "), "{text}");
    assert_eq!(fs::read_to_string(dir.path("again.txt")).unwrap(), game);
    // Comments, empty lines and equivalent texts for the same positions.
    let other = format!("# a game\n\nSprouts:0*3\r\n {} \n# end\n", "0.AB|AB.0");
    fs::write(dir.path("other.txt"), other).unwrap();
    let text = stdout(&play(&dir, &["0*4"], "load other.txt\n"));
    assert!(text.contains("\n0.AB|0.AB\nYour 3 moves all lose.\n"), "{text}");
    // A finished game.
    fs::write(dir.path("over.txt"), "Sprouts: 0*1\nAB|AB\n!\n").unwrap();
    let text = stdout(&play(&dir, &["0*4"], "load over.txt\nundo\n"));
    assert!(text.contains("\nNo move is left. I have won.\nMove taken back.\n"), "{text}");
}

/// A game of a championship (wgosa.org, Peltier8Plus).
const PUBLISHED: &str = "1(9)2 1(10)1[3,4] 3(11)10 2(12)5 5(13)5 6(14)6[7,8] 7(15)8 6(16@2)14";

#[test]
fn moves_between_numbered_spots() {
    let dir = TestDir::new();
    let lines = "1(4)2\n1(5)2\n2(6)2\nsave game.txt\nundo\n#1\n";
    let output = play(&dir, &["0*3", "--side", "both"], lines);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "\n0.1a1a\nThe winner is ",
        "\n0.ABCD|ABCD\nThe winner is ",
        "\n2(6)2: spot 2 has one life left, and a curve back to it needs two\n",
        "Move taken back.\n",
        "\nYour move is ",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let game = fs::read_to_string(dir.path("game.txt")).unwrap();
    assert_eq!(game, "Sprouts: 0*3\n1(4)2\n1(5)2\n");
    // Several moves in a line.
    let line = format!("# Spots have numbers.\nSprouts: 0*8\n{PUBLISHED}\n");
    fs::write(dir.path("published.txt"), line).unwrap();
    let lines = "load published.txt\nsave again.txt\nnew\n1(9)2\n1(10)1[3,4]\n3(11)10\nposition\n";
    let output = play(&dir, &["0*3", "--side", "both"], lines);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let again = fs::read_to_string(dir.path("again.txt")).unwrap();
    let moves = PUBLISHED.replace(' ', "\n");
    assert_eq!(again, format!("Sprouts: 0*8\n{moves}\n"));
    let text = stdout(&output);
    // The example of docs/sprouts.md.
    assert!(text.ends_with("\n  numbers 4;3,11,10,1,10,11/5;6;7;8;1,9,2,9,1,10\n"), "{text}");
    // The simplified position has a move to 0+22, but the drawing has none.
    let lines = "1(5)1[2]\n3(6)3[4]\n5(7)6\n4(8)4\n4(9@3)8\n0+22\nposition\n";
    let text = stdout(&play(&dir, &["0*4", "--side", "both"], lines));
    assert!(
        text.contains("\n0.A|2AB|2B\nYour 5 moves all lose.\nYour move is 1(10)7, 0+"),
        "{text}"
    );
    // Spots of other positions have no numbers.
    let output = play(&dir, &["0.1a1a", "--side", "first"], "1(4)2\nposition\n");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("1(4)2: the spots of this game have no numbers: "), "{text}");
    assert!(!text.contains("  numbers "), "{text}");
}

#[test]
fn moves_of_the_program_are_between_numbered_spots() {
    let dir = TestDir::new();
    for (start, rules) in [("0*7", &[][..]), ("0*6", &["--misere"])] {
        let args = [&[start, "--side", "none"], rules].concat();
        let text = stdout(&play(&dir, &args, "save game.txt\nposition\n"));
        let played = text.lines().filter_map(|line| line.strip_prefix("I play "));
        let played = played.filter_map(|line| line.split_once(':')?.0.split_once(", "));
        let (moves, positions): (Vec<&str>, Vec<&str>) = played.unzip();
        assert!(moves.len() >= 12, "{text}");
        let game = fs::read_to_string(dir.path("game.txt")).unwrap();
        assert_eq!(game, format!("Sprouts: {start}\n{}\n", moves.join("\n")));
        let (game, end) = text.split_once("Saved the game to game.txt.\n").expect("a message");
        let loaded = stdout(&play(&dir, &args, "load game.txt\nposition\n"));
        assert!(loaded.ends_with(end), "{loaded}");
        // The positions after the moves are a record, too.
        let positions = format!("Sprouts: {start}\n{}\n", positions.join("\n"));
        fs::write(dir.path("positions.txt"), positions).unwrap();
        let loaded = stdout(&play(&dir, &args, "load positions.txt\n"));
        let (_, end) = game.rsplit_once("\n\n").expect("the end of the game");
        assert!(loaded.ends_with(end), "{loaded}");
    }
}

#[test]
fn invalid_files_do_not_change_the_game() {
    let dir = TestDir::new();
    let long = "Sprouts: 0*3\n".to_owned() + &"# remark\n".repeat(1 << 17);
    for (content, part) in [
        (&b""[..], "line 1: \"\" is not the start of a Sprouts game: expected \"Sprouts: 0*5\"\n"),
        (b"Board: 5x5\n\nc3 c4\n", "line 1: \"Board: 5x5\" is not the start"),
        (b"Sprouts: 0*x\n", "line 1: \"0*x\" is not a position: character 3"),
        (b"Sprouts: 0*3\n\n0*2\n", "line 3: no move leads from 0*3 to \"0*2\": correct this line"),
        (b"Sprouts: 0*3\n0.1a1a\n0.1a1a\n", "line 3: no move leads from 0.1a1a to \"0.1a1a\""),
        (b"Sprouts: 0*3\n0.1a1\n", "line 2: \"0.1a1\" is not a position: "),
        (b"Sprouts: 0*1\n!\n!\n", "line 2: no move leads from 0 to \"!\""),
        (
            b"Sprouts: 0*3\n1(4)2\n2(5)3 1(5)4\n",
            "line 3: 1(5)4: the new spot is 6, not 5: spots are numbered in the order of the moves: \
             correct this line, or delete it",
        ),
        (b"Sprouts: 0*3\n1(4)2 0.1a1a\n", "line 2: 0.1a1a: character 2: expected '('"),
        (b"Sprouts: 1.1\n1(3)2\n", "line 2: 1(3)2: the spots of this game have no numbers"),
        (b"Sprouts: 0*3\n0.1a1a", "line 2: the file may be cut off here"),
        (b"Sprouts: 0*3\n0.1a1a\n\xff\n", "line 3: it is not UTF-8 text: correct this line\n"),
        (long.as_bytes(), "game.txt has more than 1 MiB"),
    ] {
        fs::write(dir.path("game.txt"), content).unwrap();
        let lines = "load game.txt\nposition\n";
        let output = play(&dir, &["0*4", "--side", "first"], lines);
        assert_eq!(code(&output), 2, "{part}: {}", stdout(&output));
        let text = stdout(&output);
        assert!(
            text.contains(&format!("\ngame.txt: {part}")) || text.contains(part),
            "{part}: {text}"
        );
        assert!(text.contains("\n0*4\n  Grundy "), "{part}: {text}");
    }
    for line in ["load none.txt\n", "load .\n", "save no/where\n", "draw no/where\n"] {
        let output = play(&dir, &["0*4"], line);
        assert_eq!(code(&output), 4, "{line}: {}", stdout(&output));
    }
    // If the moves cannot all be listed, a move cannot be checked.
    fs::write(dir.path("game.txt"), format!("Sprouts: {MILLIONS_OF_MOVES}\n0\n")).unwrap();
    let output = play(&dir, &["0*4"], "load game.txt\nposition\n");
    assert_eq!(code(&output), 3, "{}", stdout(&output));
}

#[test]
fn too_many_moves_and_too_little_memory_do_not_end_the_game() {
    let dir = TestDir::new();
    // Listing all moves would take minutes.
    let started = Instant::now();
    let lines = format!("{MILLIONS_OF_MOVES}\nnew {MILLIONS_OF_MOVES}\nundo\nposition\n");
    let output = play(&dir, &["0*3", "--side", "first", "--memory", "1MiB"], &lines);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["no move leads to ", "\nno room for more positions", "take back\n0*3\n  Grundy"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[cfg(unix)]
#[test]
fn signals_end_the_listing_of_moves() {
    let dir = TestDir::new();
    let child = dir.spawn(&["sprouts", "play", MILLIONS_OF_MOVES, "--time", "100ms"]);
    wait_for_work(&child, Duration::from_millis(500));
    super::common::signal(&child, "-INT");
    let output = ends_soon(child, "sprouts play");
    assert_eq!(code(&output), 130, "{}", stderr(&output));
}

/// The error is reported once, and the game continues without the file.
#[cfg(unix)]
#[test]
fn an_unwritable_file_of_numbers_does_not_end_the_game() {
    let dir = TestDir::new();
    let game = "konane sprouts play 0*7 --db numbers --side first";
    let script = format!("ulimit -f 1; printf 'moves\\nhint\\n' | {game}");
    let output = dir.shell(&script).output().unwrap();
    let (text, message) = (stdout(&output), stderr(&output));
    assert_eq!(code(&output), 4, "{message}");
    assert!(text.contains("Moves: 0 win, 5 lose.\n") && text.contains("Every move loses.\n"));
    assert!(
        message.starts_with("warning: cannot write to numbers: ")
            && message.ends_with(" are not saved\n"),
        "{message}"
    );
    assert_eq!(message.matches('\n').count(), 1, "{message}");
    dir.json(&["sprouts", "db", "stats", "numbers", "--json"], 0);
}
