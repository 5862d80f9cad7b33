//! Start and end of the server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::Server;
use crate::common::{TestDir, code, signal, stderr, stdout};

/// Ctrl-C while a search runs, with an event stream and an idle connection open.
#[test]
fn ctrl_c_ends_the_server_with_open_connections() {
    for name in ["-INT", "-TERM"] {
        let mut server = Server::new();
        let search = json!({"game": "konane", "board": "8x8"});
        let id = server.post("searches", &search).json()["id"].as_str().unwrap().to_owned();
        let mut stream = server.connect();
        let port = server.port;
        let request =
            format!("GET /api/v1/searches/{id}/events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while !line.starts_with("data: ") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0);
        }
        let _idle = server.connect();
        // A request whose position is still searched when the signal arrives.
        let mut asking = server.connect();
        let request = format!(
            "GET /api/v1/konane/position?board=8x8&time=2000 HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        );
        asking.write_all(request.as_bytes()).unwrap();
        // The server accepts the connection above before it answers this request.
        assert_eq!(server.get("version").status, 200);
        let started = Instant::now();
        signal(&server.child, name);
        let mut rest = String::new();
        let _ = stream.read_to_string(&mut rest);
        assert!(rest.contains("event: end"), "{rest}");
        assert!(rest.contains("\"reason\":\"interrupted\""), "{rest}");
        let status = server.child.wait().unwrap();
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        assert_eq!(status.code(), Some(130));
    }
}

#[test]
fn a_port_in_use_is_an_error_with_a_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = TestDir::new().run(&["explore", "--port", &port]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    let text = stderr(&output);
    assert!(text.contains(&format!("cannot listen at 127.0.0.1:{port}")), "{text}");
    assert!(text.contains("--port 0"), "{text}");
}

#[test]
fn invalid_files_and_options_are_errors_before_the_server_listens() {
    let dir = TestDir::new();
    fs::create_dir(dir.path("empty")).unwrap();
    fs::write(dir.path("no.proof"), "nothing").unwrap();
    dir.run(&["builddb", "3x3", "--out", "3x3", "--quiet"]);
    // All of these fail before the server listens.
    for (args, expected, text) in [
        (&["--db", "missing"][..], 4, "missing"),
        (&["--db", "empty"], 4, "it contains no database"),
        (&["--db", "3x3", "--db", "empty"], 4, "it contains no database"),
        (&["--proof", "missing.proof"], 4, "missing.proof"),
        (&["--proof", "no.proof"], 4, "no.proof"),
        (&["--sprouts-db", "no.proof"], 4, "no.proof"),
        (&["--memory", "7MiB"], 2, "at least 8 MiB"),
        (&["--port", "65536"], 2, "65536"),
    ] {
        let output = dir.run(&[&["explore"][..], args].concat());
        assert_eq!(code(&output), expected, "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
        assert!(stderr(&output).contains(text), "{args:?}: {}", stderr(&output));
    }
}

/// New Grundy numbers are written to the file.
#[test]
fn grundy_numbers_are_saved() {
    let dir = TestDir::new();
    let file = dir.path("kept.nimbers");
    let mut server = Server::at(dir, &["--sprouts-db", "kept.nimbers"]);
    let answer = server.json("sprouts/position?position=0*4&time=2000");
    assert_eq!((&answer["complete"], &answer["grundy"]), (&json!(true), &json!(1)));
    let before = fs::metadata(&file).unwrap().len();
    signal(&server.child, "-INT");
    assert_eq!(server.child.wait().unwrap().code(), Some(130));
    assert!(fs::metadata(&file).unwrap().len() >= before && before > 0);
    let text = stdout(&crate::common::konane(&["sprouts", "db", "stats", file.to_str().unwrap()]));
    assert!(!text.contains("records     0"), "{text}");
}
