//! Searches with event streams.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Reply, Server};

fn start(server: &Server, body: &Value) -> String {
    let reply = server.post("searches", body);
    assert_eq!(reply.status, 201, "{}", reply.body);
    reply.json()["id"].as_str().expect("a name").to_owned()
}

/// Returns names and data of the events. Checks that their ids increase.
fn events(text: &str) -> Vec<(String, Value)> {
    let mut last = 0;
    let read = |event: &str| {
        let field = |name: &str| {
            let mut lines = event.lines();
            lines.find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{event:?}"))
        };
        let number: u64 = field("id: ").parse().expect("a number");
        assert!(number > last, "{event}");
        last = number;
        (field("event: ").to_owned(), serde_json::from_str(field("data: ")).expect("JSON"))
    };
    text.split_terminator("\n\n").map(read).collect()
}

fn get_events(server: &Server, id: &str, headers: &[&str]) -> Reply {
    server.request(&format!("GET /api/v1/searches/{id}/events"), headers, "")
}

#[test]
fn all_events_of_a_search_are_sent() {
    let server = Server::new();
    for (algo, board) in [("dfpn", "6x6"), ("pns", "5x5"), ("pn2", "5x5"), ("pns-pdfpn", "5x6")] {
        let body = json!({"game": "konane", "board": board, "algo": algo, "memory": "32MiB"});
        let id = start(&server, &body);
        let reply = get_events(&server, &id, &[]);
        assert_eq!(reply.status, 200);
        assert!(reply.head.contains("content-type: text/event-stream"), "{}", reply.head);
        let events = events(&reply.body);
        let ((name, end), before) = events.split_last().expect("events");
        assert_eq!(name, "end");
        let winner = if board.ends_with("x5") { "black" } else { "white" };
        assert_eq!(end["winner"], winner, "{board}");
        assert_eq!(end["outcome"], if winner == "black" { "win" } else { "loss" });
        assert!(!before.is_empty(), "{algo}");
        let mut time = 0.0;
        for (name, progress) in before {
            assert_eq!(name, "progress");
            let now = progress["seconds"].as_f64().unwrap();
            assert!(now >= time, "{progress}");
            time = now;
            assert!(progress["table"]["capacity"].as_u64().unwrap() > 0, "{progress}");
            for root in progress["moves"].as_array().unwrap() {
                assert!(root["move"].is_string() && root["pn"].is_number() | root["pn"].is_null());
            }
        }
        let (_, last) = before.last().unwrap();
        let (won, lost) = (json!(0), Value::Null);
        let numbers = if winner == "black" { (&won, &lost) } else { (&lost, &won) };
        assert_eq!((&last["pn"], &last["dn"]), numbers, "{algo}: {last}");
        // Late clients receive the same events. A client that already has all of them gets status
        // 204.
        assert_eq!(get_events(&server, &id, &[]).body, reply.body);
        let number = before.len() + 1;
        assert_eq!(get_events(&server, &id, &[&format!("Last-Event-ID: {number}")]).status, 204);
        let rest = get_events(&server, &id, &[&format!("Last-Event-ID: {}", number - 1)]);
        assert_eq!(self::events(&rest.body).len(), 1);
    }
}

/// α-β stores other values in the fields of proof numbers. They must not be reported as proof
/// numbers.
#[test]
fn alpha_beta_has_no_proof_numbers() {
    let server = Server::new();
    let id = start(&server, &json!({"game": "konane", "board": "5x5", "algo": "ab"}));
    let mut events = events(&get_events(&server, &id, &[]).body);
    assert_eq!(events.pop().unwrap().1["winner"], "black");
    assert!(!events.is_empty());
    for (_, progress) in events {
        assert!(progress.get("pn").is_none() && progress.get("dn").is_none(), "{progress}");
    }
}

#[test]
fn sprouts_searches_work() {
    let server = Server::new();
    for algo in ["dfpn", "pns", "pns-pdfpn"] {
        let body = json!({"game": "sprouts", "position": "0*7", "algo": algo});
        let id = start(&server, &body);
        let (name, end) = events(&get_events(&server, &id, &[]).body).pop().unwrap();
        assert_eq!((name.as_str(), &end["outcome"]), ("end", &json!("loss")), "{algo}");
    }
}

#[test]
fn one_search_at_a_time_until_it_is_ended() {
    let server = Server::new();
    let body = json!({"game": "konane", "board": "8x8", "memory": "16MiB"});
    let id = start(&server, &body);
    let rejected = server.post("searches", &body);
    assert_eq!(rejected.status, 429);
    let error = rejected.error();
    for part in ["a search is running, for ", "s now: dfpn on 8x8, xoxoxoxo/", "oxoxoxox b; "] {
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    let delete = || server.request(&format!("DELETE /api/v1/searches/{id}"), &[], "");
    assert_eq!(delete().status, 204);
    let (name, end) = events(&get_events(&server, &id, &[]).body).pop().unwrap();
    assert_eq!((name.as_str(), &end["reason"]), ("end", &json!("interrupted")));
    assert_eq!(end["outcome"], "unknown");
    assert_eq!(delete().status, 204, "again");
    let limited = json!({"game": "konane", "board": "8x8", "limits": {"nodes": 5000}});
    let next = start(&server, &limited);
    assert_ne!(next, id);
    let (_, end) = events(&get_events(&server, &next, &[]).body).pop().unwrap();
    assert_eq!(end["reason"], "node limit");
    let limited = json!({"game": "konane", "board": "8x8", "limits": {"seconds": 0.2}});
    let (_, end) = events(&get_events(&server, &start(&server, &limited), &[]).body).pop().unwrap();
    assert_eq!(end["reason"], "time limit");
    assert!(end["seconds"].as_f64().unwrap() < 5.0, "{end}");
}

/// The error for a second search names the running one, its duration and a remedy.
#[test]
fn the_running_search_is_named_in_the_error() {
    let server = Server::new();
    let limits = json!({"seconds": 600});
    let long = format!("0*30{}", "+0*2".repeat(20));
    let body = json!({"game": "sprouts", "position": long, "algo": "pns", "limits": limits});
    let id = start(&server, &body);
    let rejected = server.post("searches", &json!({"game": "konane", "board": "3x3"}));
    assert_eq!(rejected.status, 429);
    let error = rejected.error();
    for part in ["s now and 10 min 0 s at most: pns on Sprouts, 0*", "…; wait"] {
        assert!(error.contains(part), "no {part:?} in {error}");
    }
    // A client that did not start the search can end it.
    let search = rejected.json()["search"].as_str().expect("its id").to_owned();
    assert_eq!(search, id);
    assert_eq!(server.request(&format!("DELETE /api/v1/searches/{search}"), &[], "").status, 204);
    assert_eq!(events(&get_events(&server, &id, &[]).body).pop().unwrap().0, "end");
    start(&server, &json!({"game": "konane", "board": "3x3"}));
}

#[test]
fn progress_is_streamed_live_and_not_too_often() {
    let server = Server::new();
    let started = Instant::now();
    let id = start(&server, &json!({"game": "konane", "board": "8x8", "memory": "16MiB"}));
    let mut stream = server.connect();
    let port = server.port;
    let request =
        format!("GET /api/v1/searches/{id}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines();
    let mut events = 0;
    while events < 10 {
        let line = lines.next().expect("more").expect("text");
        events += u32::from(line == "event: progress");
    }
    // Consecutive events are at least 0.1 s apart.
    assert!(started.elapsed() >= Duration::from_millis(900), "{:?}", started.elapsed());
    server.request(&format!("DELETE /api/v1/searches/{id}"), &[], "");
    assert!(lines.map_while(Result::ok).any(|line| line == "event: end"));
}

#[test]
fn unknown_and_invalid_searches() {
    let server = Server::new();
    for id in ["1", "0000000000000000", "%2e%2e", "x"] {
        assert_eq!(get_events(&server, id, &[]).status, 204, "{id}");
        let deleted = server.request(&format!("DELETE /api/v1/searches/{id}"), &[], "");
        assert_eq!(deleted.status, 404, "{id}");
    }
    for (body, text) in [
        (json!({}), "game"),
        (json!({"game": "chess"}), "chess"),
        (json!({"game": "konane"}), "board"),
        (json!({"game": "konane", "board": "9x9"}), "9x9"),
        (json!({"game": "konane", "board": "3x3", "position": "xox"}), "rank"),
        (json!({"game": "konane", "board": "3x3", "algo": "mcts"}), "mcts"),
        (json!({"game": "konane", "board": "3x3", "memory": "1TiB"}), "48 MiB"),
        (json!({"game": "konane", "board": "3x3", "memory": "1KiB"}), "small"),
        (
            json!({"game": "konane", "board": "3x3", "limits": {"seconds": -1.0}}),
            "limits.seconds: -1.0: it must be more than 0",
        ),
        (
            json!({"game": "konane", "board": "3x3", "limits": {"seconds": 0}}),
            "limits.seconds: 0.0: it must be more than 0",
        ),
        (
            json!({"game": "sprouts", "position": "0*2", "limits": {"seconds": 1e300}}),
            "limits.seconds: 1e300: it must be at most 18446744073709551 seconds",
        ),
        (json!({"game": "konane", "board": "3x3", "limits": {"hours": 1}}), "hours"),
        (json!({"game": "sprouts"}), "position"),
        (json!({"game": "sprouts", "position": "0*"}), ""),
        (json!({"game": "sprouts", "position": "0*2", "board": "3x3"}), "not accepted for Sprouts"),
        (json!({"game": "sprouts", "position": "0*2", "algo": "ab"}), "dfpn, pns, pns-pdfpn"),
    ] {
        let reply = server.post("searches", &body);
        assert_eq!(reply.status, 422, "{body}: {}", reply.body);
        assert!(reply.error().contains(text), "{body}: {}", reply.body);
    }
}

#[test]
fn streams_are_bounded_and_other_requests_are_answered() {
    let server = Server::new();
    let id = start(&server, &json!({"game": "konane", "board": "8x8", "memory": "16MiB"}));
    let port = server.port;
    let request =
        format!("GET /api/v1/searches/{id}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let streams: Vec<_> = (0..16)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(request.as_bytes()).unwrap();
            let mut lines = BufReader::new(stream).lines();
            assert_eq!(lines.next().unwrap().unwrap(), "HTTP/1.1 200 OK");
            lines
        })
        .collect();
    let rejected = get_events(&server, &id, &[]);
    assert_eq!(rejected.status, 429);
    assert!(rejected.error().contains("streams"));
    assert_eq!(server.get("version").status, 200);
    server.request(&format!("DELETE /api/v1/searches/{id}"), &[], "");
    for lines in streams {
        assert!(lines.map_while(Result::ok).any(|line| line == "event: end"));
    }
    assert_eq!(get_events(&server, &id, &[]).status, 200);
}
