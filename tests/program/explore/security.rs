//! Who is refused, and what holds the page together.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::Server;

const VERSION: &str = "GET /api/v1/version";

#[test]
fn only_our_own_address_is_answered() {
    let server = Server::new();
    let port = server.port;
    let ask = |host: &str, more: &str| {
        let text = format!("GET /api/v1/version HTTP/1.1\r\n{host}{more}Connection: close\r\n\r\n");
        server.send(text.as_bytes()).status
    };
    for host in ["127.0.0.1", "localhost", "LocalHost"] {
        assert_eq!(ask(&format!("Host: {host}:{port}\r\n"), ""), 200, "{host}");
    }
    for host in [
        String::new(),
        "Host: \r\n".to_owned(),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: 127.0.0.1:{}\r\n", port ^ 1),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: evil@127.0.0.1:{port}\r\n"),
        format!("Host: [::1]:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
    ] {
        assert_eq!(ask(&host, ""), 403, "{host:?}");
    }
    // A target with a host of its own.
    let target = |host: &str| {
        let text = format!(
            "GET http://{host}/api/v1/version HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             Connection: close\r\n\r\n"
        );
        server.send(text.as_bytes()).status
    };
    assert_eq!(target(&format!("127.0.0.1:{port}")), 200);
    assert_eq!(target("evil.example"), 403);
}

#[test]
fn other_pages_are_refused() {
    let server = Server::new();
    let port = server.port;
    let ask = |first: &str, header: &str| server.request(first, &[header], "").status;
    for first in [VERSION, "GET /", "GET /js/main.js", "GET /api/v1/konane/position?board=3x3"] {
        for header in ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"] {
            assert_eq!(ask(first, header), 200, "{first} {header}");
        }
        for header in [
            "Sec-Fetch-Site: same-site",
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: ",
            "Sec-Fetch-Site: none\r\nSec-Fetch-Site: none",
            "Origin: null",
            "Origin: http://evil.example",
            "Origin: http://127.0.0.1",
            "Origin: http://127.0.0.1:1",
        ] {
            assert_eq!(ask(first, header), 403, "{first} {header}");
        }
    }
    assert_eq!(ask(VERSION, &format!("Origin: http://127.0.0.1:{port}")), 200);
    assert_eq!(ask(VERSION, &format!("Origin: http://localhost:{port}")), 200);
    assert_eq!(ask(VERSION, &format!("Origin: https://127.0.0.1:{port}")), 403);
    // What a browser asks before it lets a page send JSON elsewhere.
    let preflight = server.request(
        "OPTIONS /api/v1/searches",
        &["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"],
        "",
    );
    assert_eq!(preflight.status, 405);
    assert!(!preflight.head.contains("access-control"), "{}", preflight.head);
}

#[test]
fn bodies_are_json_and_small() {
    let server = Server::new();
    let body = json!({"board": "3x3", "position": "xox/oxo/xox b"}).to_string();
    let send = |headers: &[&str], body: &str| {
        server.request("POST /api/v1/konane/setup", headers, body).status
    };
    let kind = "Content-Type: application/json";
    assert_eq!(send(&[kind], &body), 200);
    assert_eq!(send(&["Content-Type: Application/JSON; charset=utf-8"], &body), 200);
    for wrong in [
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: application/jsonp",
        "X-Nothing: 1",
    ] {
        assert_eq!(send(&[wrong], &body), 415, "{wrong}");
    }
    assert_eq!(send(&[kind, "Content-Type: text/plain"], &body), 415);
    let delete = |headers: &[&str], body: &str| {
        server.request("DELETE /api/v1/searches/1", headers, body).status
    };
    assert_eq!(delete(&[], ""), 404);
    assert_eq!(delete(&["Content-Type: text/plain"], "{}"), 415);
    assert_eq!(server.request(VERSION, &["Content-Type: text/plain"], "x").status, 415);

    assert_eq!(send(&[kind], ""), 400);
    assert_eq!(send(&[kind], "{"), 400);
    assert_eq!(send(&[kind], "[]"), 422);
    assert_eq!(send(&[kind], r#"{"board":"3x3","position":"xox/oxo/xox b","file":"x"}"#), 422);
    let long = |length: usize| format!("{body}{}", " ".repeat(length - body.len()));
    assert_eq!(send(&[kind], &long(16 << 10)), 200);
    assert_eq!(send(&[kind], &long((16 << 10) + 1)), 413);
    // A length that was not told.
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 20 << 10, " ".repeat(20 << 10));
    let head = format!(
        "POST /api/v1/konane/setup HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{kind}\r\n\
         Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        server.port
    );
    assert_eq!(server.send((head + &chunk).as_bytes()).status, 413);
    let long = format!("GET /api/v1/konane/position?board=3x3&moves={}", ",".repeat(3000));
    assert_eq!(server.request(&long, &[], "").status, 414);
}

#[test]
fn every_answer_has_the_headers() {
    let server = Server::new();
    for first in [
        "GET /",
        VERSION,
        "GET /nothing",
        "POST /",
        "GET /api/v1/konane/position",
        "GET /api/v1/sprouts/draw?position=0*2",
    ] {
        let head = server.request(first, &["Content-Type: application/json"], "").head;
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{first}: {head}");
        }
    }
    assert!(server.request("GET /", &["Sec-Fetch-Site: cross-site"], "").head.contains("nosniff"));
}

#[test]
fn clients_that_send_nothing_keep_nobody_out() {
    let server = Server::new();
    let mut slow: Vec<_> = (0..40).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    }
    let begun = Instant::now();
    assert_eq!(server.get("version").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
    // They are sent away in the end, with or without a word.
    let mut answer = Vec::new();
    slow[0].read_to_end(&mut answer).expect("the end");
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}

#[test]
fn clients_that_never_read_keep_nobody_out_for_long() {
    let server = Server::new();
    let request = format!("GET /style.css HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    // As many as may be connected, each with more to write than its buffers hold.
    let mut deaf: Vec<_> = (0..64).map(|_| server.connect()).collect();
    for stream in &mut deaf {
        stream.write_all(request.repeat(1000).as_bytes()).unwrap();
    }
    let begun = Instant::now();
    assert_eq!(server.get("version").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
}
