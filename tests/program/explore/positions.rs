//! Positions, compared with `probe` and the library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use konane::analysis::Level;
use konane::notation::{parse_move, parse_position};
use konane::{Board, Colour, Limits, Position};
use serde_json::{Value, json};

use super::server::Server;
use crate::common::TestDir;

fn position_path(board: &str, text: &str) -> String {
    format!("konane/position?board={board}&time=2000&position={}", text.replace(' ', "_"))
}

/// Returns the jumping-phase positions with these patterns of stones, for either side to move.
fn texts(board: &Board, patterns: impl Iterator<Item = u64>) -> Vec<String> {
    let jumping = |stones: &u64| (board.all() & !stones).count_ones() >= 2;
    let both = |stones| {
        [Colour::Black, Colour::White].map(|side| Position::new_unchecked(board, stones, side))
    };
    let positions = patterns.filter(jumping).flat_map(both);
    positions.map(|position| position.to_string()).collect()
}

/// Compares responses with the output of `probe`. The database is in `dir`; the server may use it
/// or search.
fn compare(server: &Server, dir: &TestDir, size: &str, texts: &[String]) {
    let probed = dir.with_input(&["probe", size, "--json"], &(texts.join("\n") + "\n"));
    let probed = String::from_utf8(probed.stdout).unwrap();
    assert_eq!(probed.lines().count(), texts.len());
    let board = Board::new(size.parse().unwrap());
    for (text, expected) in texts.iter().zip(probed.lines()) {
        let expected: Value = serde_json::from_str(expected).unwrap();
        let answer = server.json(&position_path(size, text));
        for key in ["board", "position", "to_move", "outcome"] {
            assert_eq!(answer[key], expected[key], "{text} {key}");
        }
        if answer["source"] == "database" {
            assert_eq!(answer["class"], expected["class"], "{text}");
        }
        assert_eq!(answer["complete"], true, "{text}");
        let pairs = |value: &Value| {
            let moves = value["moves"].as_array().unwrap().iter();
            let mut pairs: Vec<_> =
                moves.map(|mv| (mv["move"].to_string(), mv["outcome"].to_string())).collect();
            pairs.sort();
            pairs
        };
        assert_eq!(pairs(&answer), pairs(&expected), "{text}");
        let position = parse_position(&board, text).unwrap();
        assert_eq!(answer["code"], position.code(&board).to_string());
        for judged in answer["moves"].as_array().unwrap() {
            let mv = parse_move(&board, &position, judged["move"].as_str().unwrap()).unwrap();
            let after = position.play(&board, mv);
            assert_eq!(judged["after"], after.to_string());
            assert_eq!(judged["replies"], after.count_moves(&board));
        }
    }
}

#[test]
fn positions_of_3x3_agree_with_probe() {
    let (dir, board) = (TestDir::new(), Board::new("3x3".parse().unwrap()));
    dir.run(&["builddb", "3x3", "--quiet"]);
    let texts = texts(&board, 0..1 << 9);
    assert_eq!(texts.len(), 2 * (512 - 10));
    // First by search, then with the database.
    compare(&Server::new(), &dir, "3x3", &texts);
    let second = TestDir::new();
    second.run(&["builddb", "3x3", "--quiet"]);
    compare(&Server::at(second, &[]), &dir, "3x3", &texts);
}

#[test]
fn random_positions_of_5x5_agree_with_probe() {
    let (dir, board) = (TestDir::new(), Board::new("5x5".parse().unwrap()));
    dir.run(&["builddb", "5x5", "--quiet"]);
    let mut seed = 5u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 32
    };
    let patterns: Vec<u64> = (0..60).map(|_| (random() | random()) & board.all()).collect();
    compare(&Server::new(), &dir, "5x5", &texts(&board, patterns.into_iter()));
}

#[test]
fn moves_are_played_from_the_start_or_a_position() {
    let server = Server::new();
    let answer = server.json("konane/position?board=3x3&moves=a3,a2");
    assert_eq!(answer["position"], "1ox/1xo/xox b");
    assert_eq!(answer["start"], "xox/oxo/xox b");
    assert_eq!(answer["played"], json!(["a3", "a2"]));
    let again = server.json("konane/position?board=3x3&position=1ox/oxo/xox_w&moves=a2");
    assert_eq!(again["position"], answer["position"]);
    assert_eq!((&again["start"], &again["played"]), (&json!("1ox/oxo/xox w"), &json!(["a2"])));
    for moves in ["a3_a2", "a3%20a2", "1._a3_a2", "a3,%09a2,", "1.a3,1...a2"] {
        let same = server.json(&format!("konane/position?board=3x3&moves={moves}"));
        assert_eq!((&same["position"], &same["played"]), (&answer["position"], &answer["played"]));
    }
    let plain = server.json("konane/position?board=3x3&position=1ox/1xo/xox%20b");
    assert_eq!((&plain["moves"], plain.get("played")), (&answer["moves"], None));
    assert_eq!(answer["phase"], "jump");
    assert_eq!(server.json("konane/position?board=3x3")["phase"], "removal");
}

/// Requests alternate between the phases: results of one phase are not used for the other.
#[test]
fn one_empty_square_can_be_a_position_of_the_jumping_phase() {
    let server = Server::new();
    for _ in 0..2 {
        let jump = server.json("konane/position?board=1x4&position=1oxo_b&phase=jump");
        assert_eq!((&jump["phase"], &jump["outcome"]), (&json!("jump"), &json!("win")));
        assert_eq!(jump["moves"][0]["move"], "c1-a1");
        let removal = server.json("konane/position?board=1x4&position=1oxo_w&phase=auto");
        assert_eq!(
            (&removal["phase"], &removal["moves"][0]["move"]),
            (&json!("removal"), &json!("b1"))
        );
        let lost = server.json("konane/position?board=1x4&position=1oxo_w&phase=jump");
        assert_eq!((&lost["outcome"], &lost["moves"]), (&json!("loss"), &json!([])));
    }
    let query = "board=1x4&position=1oxo_b&phase=jump";
    assert_eq!(server.json(&format!("konane/play?{query}"))["move"], "c1-a1");
    assert_eq!(server.json(&format!("konane/play?{query}&level=3"))["move"], "c1-a1");
    assert_eq!(server.json(&format!("konane/line?{query}"))["line"][0], "c1-a1");
    let reply = server.post(
        "konane/setup",
        &json!({"board": "1x4", "squares": ["b1", "c1", "d1"], "to_move": "black", "phase": "jump"}),
    );
    assert_eq!(reply.json()["position"], "1oxo b jump", "{}", reply.body);
    assert_eq!(reply.json()["phase"], "jump");
    let again = server.json("konane/position?board=1x4&position=1oxo_b_jump");
    assert_eq!((&again["position"], &again["phase"]), (&json!("1oxo b jump"), &json!("jump")));
}

#[test]
fn positions_are_read_as_the_literature_draws_them() {
    let server = Server::new();
    let drawn = server.json("konane/position?board=1x6&position=1xoxo1_b");
    assert_eq!((&drawn["position"], &drawn["winner"]), (&json!("1xoxo1 b"), &json!("white")));
    assert_eq!(drawn["moves"][0]["move"], "d1-f1");
    assert_eq!(server.json("konane/value?board=1x6&position=1xoxo1_b")["value"], "0");
    // Both colourings of a board alternate.
    let fits = server.json("konane/position?board=1x6&position=1oxox1_b");
    assert_eq!(fits["moves"][0]["move"], "c1-a1");
    let diagram = include_str!("../../data/diagram.txt").replace('.', "_");
    let reply = server.post("konane/setup", &json!({"board": "4x4", "position": diagram}));
    assert_eq!(reply.json()["position"], "xoxo/oxox/xo1o/1xo1 b", "{}", reply.body);
    let reply = server.post("konane/setup", &json!({"board": "1x6", "position": "1x1o2 b"}));
    assert!(reply.body.contains("and other stones do not"), "{}", reply.body);
}

#[test]
fn invalid_requests_get_a_reason() {
    let server = Server::new();
    for (path, status, text) in [
        ("konane/position", 400, "board: missing parameter"),
        (
            "konane/position?board=3x3&file=x",
            400,
            "file: unknown parameter; accepted here: board, position, phase, moves, time",
        ),
        ("konane/position?board=3x3&time=x", 400, "time: \"x\" is not a whole number below 2^64"),
        ("konane/position?board=3x3&board=3x3", 400, "board: duplicate parameter"),
        ("konane/play?board=3x3&level=-1", 400, "level: \"-1\" is not a whole number below 2^32"),
        ("konane/position?board=3x3&time=2001", 422, "2000"),
        ("konane/position?board=9x9", 422, "9x9"),
        ("konane/position?board=3x3&position=xox", 422, "rank"),
        ("konane/position?board=3x3&position=x/oxo/xox_b", 422, "rank 3"),
        ("konane/position?board=1x3&position=1ox_b", 422, "only a1 is empty"),
        (
            "konane/position?board=1x3&position=1ox_b&phase=end",
            422,
            "phase: \"end\" is not a phase",
        ),
        ("konane/position?board=1x3&phase=jump", 422, "jump requires a position"),
        ("konane/position?board=3x3&moves=a3,c1", 422, "move 2 (\"c1\"): c1 is not legal here"),
        ("konane/line?board=", 422, ""),
        ("konane/why?board=3x3&positions=401", 422, "positions: at most 400"),
        ("konane/report?board=3x3&moves=a3,c1", 422, "move 2 (\"c1\"): c1 is not legal here"),
        ("konane/why?board=3x3&move=a2", 422, "a2"),
        ("konane/play?board=3x3&level=0", 422, "level: 1 to 10"),
        ("konane/play?board=3x3&level=11", 422, "level: 1 to 10"),
        ("openings", 400, "board"),
        ("sprouts/position?position=0*", 422, ""),
        ("sprouts/position?position=0*2&rule=x", 422, "expected normal or misere"),
        ("sprouts/draw?position=x", 422, ""),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        assert!(reply.error().contains(text), "{path}: {}", reply.body);
    }
}

#[test]
fn unknown_parameters_are_rejected_everywhere() {
    let server = Server::new();
    let setup = json!({"board": "3x3", "position": "xox/oxo/xox b"});
    let none = "file: unknown parameter; no parameters are accepted here";
    for path in ["version", "boards", "databases", "proofs", "searches/1/events"] {
        let reply = server.get(&format!("{path}?file=x"));
        assert_eq!((reply.status, reply.error().as_str()), (400, none), "{path}");
    }
    for path in ["konane/setup?file=x", "searches?file=x", "sprouts/canonical?file=x"] {
        let reply = server.post(path, &setup);
        assert_eq!((reply.status, reply.error().as_str()), (400, none), "{path}");
    }
    assert_eq!(server.request("DELETE /api/v1/searches/1?file=x", &[], "").status, 400);
    for path in ["konane/line", "konane/play", "konane/report", "konane/why", "openings"] {
        let reply = server.get(&format!("{path}?board=3x3&move=a3&file=x"));
        assert_eq!(reply.status, 400, "{path}: {}", reply.body);
    }
    for path in ["sprouts/position", "sprouts/draw"] {
        assert_eq!(server.get(&format!("{path}?position=0*2&file=x")).status, 400, "{path}");
    }
}

#[test]
fn canonical_texts_of_several_positions() {
    let server = Server::new();
    let texts = ["BA1|0.3.AB.0", "!", "0.0", "AB|0.BA"];
    let reply = server.post("sprouts/canonical", &json!({ "positions": texts }));
    let expected = json!({"canonical": ["0*2.AB|1AB", "!", "0*2", "0.AB|AB"]});
    assert_eq!((reply.status, reply.json()), (200, expected));
    let reply = server.post("sprouts/canonical", &json!({"positions": ["0*2", "0.A"]}));
    assert_eq!(reply.status, 422);
    assert!(reply.error().starts_with("positions: \"0.A\": character 3: "), "{}", reply.body);
}

#[test]
fn errors_in_a_body_are_described() {
    let server = Server::new();
    let json = ["Content-Type: application/json"];
    for (body, status, text) in [
        ("{", 400, "the body is not valid JSON: error at line 1, column 1"),
        ("[\"3x3\",null,[],\"black\"]", 422, "the body is not a JSON object"),
        ("{\"board\":1}", 422, "the body: invalid type: integer `1`, expected a string at line 1"),
        (&" ".repeat(20 << 10), 413, "the body has more than 16384 bytes"),
    ] {
        let reply = server.request("POST /api/v1/konane/setup", &json, body);
        assert_eq!(reply.status, status, "{body}: {}", reply.body);
        assert!(reply.error().starts_with(text), "{body}: {}", reply.body);
    }
    // A path that is not valid UTF-8 names no search.
    assert_eq!(server.request("DELETE /api/v1/searches/%FF", &[], "").status, 404);
    assert_eq!(server.get("searches/%FF/events").status, 204);
}

/// The line, the program's moves and the replies to moves agree with the values.
#[test]
fn lines_moves_and_answers_keep_the_outcome() {
    let server = Server::new();
    let line = server.json("konane/line?board=4x5&time=2000");
    assert_eq!(line["complete"], true);
    let line: Vec<&str> =
        line["line"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap()).collect();
    let mut won = None;
    for length in 0..=line.len() {
        let moves = line[..length].join(",");
        let value = server.json(&format!("konane/position?board=4x5&time=2000&moves={moves}"));
        let outcome = value["outcome"] == "win";
        assert_eq!(*won.get_or_insert(outcome), outcome ^ (length % 2 == 1), "{moves}");
        let play = server.json(&format!("konane/play?board=4x5&time=2000&moves={moves}"));
        assert_eq!(play["outcome"], value["outcome"]);
        assert!(play["why"].as_str().unwrap().ends_with('.'));
        if length == line.len() {
            assert_eq!((&play["move"], &value["moves"]), (&Value::Null, &json!([])));
            break;
        }
        for judged in value["moves"].as_array().unwrap() {
            let position = value["position"].as_str().unwrap().replace(' ', "_");
            let mv = judged["move"].as_str().unwrap();
            let why = format!("konane/why?board=4x5&time=2000&position={position}&move={mv}");
            let why = server.json(&why);
            let after = server.json(&position_path("4x5", why["after"].as_str().unwrap()));
            assert_eq!(why["outcome"], after["outcome"], "{mv}");
            assert_eq!(why["verdict"], after["verdict"]);
            match (why["reply"].as_str(), judged["outcome"].as_str().unwrap()) {
                (None, outcome) => assert_eq!((outcome, &judged["replies"]), ("win", &json!(0))),
                // The side to move after the reply is the one that made the move.
                (Some(_), outcome) => assert_eq!(why["outcome"], outcome, "{mv}"),
            }
            assert!(why.get("refutation").is_none());
        }
        // The refutation of the side that loses: of the position, or of the one after the best move.
        let mut lost = value["position"].as_str().unwrap();
        if value["outcome"] == "win" {
            lost = value["moves"][0]["after"].as_str().unwrap();
        }
        let lost = lost.replace(' ', "_");
        let why = format!("konane/why?board=4x5&time=2000&position={lost}&positions=400");
        let refutation = &server.json(&why)["refutation"];
        for position in refutation.as_array().unwrap() {
            let defences = position["defences"].as_array().unwrap();
            assert_eq!(position["moves"], defences.len());
        }
    }
}

#[test]
fn reports_are_those_of_annotate() {
    let server = Server::new();
    // White's reply gives the win away.
    let report = server.json("konane/report?board=4x4&time=2000&moves=b3,b4,d3-b3");
    let marks: Vec<_> =
        report["moves"].as_array().unwrap().iter().map(|judged| &judged["mark"]).collect();
    assert_eq!(marks[..2], [&Value::Null, &json!("?")]);
    assert_eq!(report["summary"]["white"]["mistakes"], 1);
    assert_eq!(report["result"], "unknown");
    let unknown = server.json("konane/report?board=8x8&time=0&moves=a8,a7");
    assert_eq!(
        (&unknown["reason"], &unknown["moves"][0]["mark"]),
        (&json!("time limit"), &json!("~"))
    );
}

#[test]
fn openings_of_solved_boards() {
    let server = Server::new();
    let answer = server.json("openings?board=4x4&time=2000");
    assert_eq!((&answer["board"], &answer["complete"]), (&json!("4x4"), &json!(true)));
    let openings = answer["openings"].as_array().unwrap();
    // Two corners with two replies each, two squares of the centre with four.
    assert_eq!(openings.len(), 2 * 2 + 2 * 4);
    for opening in openings {
        let moves: Vec<&str> =
            opening["moves"].as_array().unwrap().iter().map(|mv| mv.as_str().unwrap()).collect();
        let value = server.json(&format!("konane/position?board=4x4&moves={}", moves.join(",")));
        let winner = if value["outcome"] == "win" { "black" } else { "white" };
        assert_eq!(opening["winner"], winner, "{moves:?}");
        assert_eq!(opening["code"], value["code"]);
    }
}

/// A level searches exactly its number of nodes, independent of the time parameter and of
/// concurrent requests.
#[test]
fn a_level_searches_its_nodes() {
    let server = Server::new();
    let board = Board::new("8x8".parse().unwrap());
    let start = Position::start(&board);
    let chosen = |level: u32| {
        let level = Level::new(level).unwrap();
        let choice = level.choose(&board, &start, Limits::default()).unwrap().unwrap();
        choice.mv.to_string()
    };
    let expected: Vec<_> = (1..=9).map(|level| (level, chosen(level))).collect();
    // The levels must choose different moves for the comparison to be meaningful.
    assert!(expected.iter().any(|(_, mv)| *mv != expected[0].1), "{expected:?}");
    std::thread::scope(|scope| {
        scope
            .spawn(|| (0..100).for_each(|_| drop(server.get("konane/position?board=8x8&time=20"))));
        for (level, mv) in expected {
            let answer = server.json(&format!("konane/play?board=8x8&time=0&level={level}"));
            assert_eq!(answer["move"], mv, "level {level}");
        }
    });
}

/// A new request ends the search of an older one. While requests wait, each searches only briefly.
/// A board that is too hard stays unsolved.
#[test]
fn requests_do_not_wait_for_other_searches() {
    let server = Server::new();
    let host = format!("Host: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", server.port);
    let search = |_| {
        let mut stream = server.connect();
        let path = "/api/v1/konane/position?board=8x8&time=2000";
        write!(stream, "GET {path} HTTP/1.1\r\n{host}").unwrap();
        stream
    };
    // At two seconds each, they would take a minute.
    let started = Instant::now();
    let searches: Vec<TcpStream> = (0..30).map(search).collect();
    for mut stream in searches {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    }
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    // One search is running in each round. Waiting for all of them would take 20 seconds.
    let started = Instant::now();
    for round in 0..10 {
        let _running = search(round);
        // The server accepts the connection above before it answers this request.
        assert_eq!(server.get("version").status, 200);
        let answer = server.json("konane/position?board=8x8&time=0&moves=a8,a7");
        assert_eq!((&answer["outcome"], &answer["complete"]), (&json!("unknown"), &json!(false)));
        assert!(answer.get("source").is_none());
        assert!(answer["moves"].as_array().unwrap().iter().all(|mv| mv["outcome"] == "unknown"));
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
