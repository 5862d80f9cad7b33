//! Rejected hosts, origins and bodies, security headers, and slow clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Reply, Server};
use crate::common::{TestDir, code, stderr};

const VERSION: &str = "GET /api/v1/version";

/// Sends a request with these header lines.
fn send_version_request(server: &Server, headers: &str) -> Reply {
    let text = format!("GET /api/v1/version HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
    server.send(text.as_bytes())
}

#[test]
fn loopback_hosts_are_answered_with_any_port() {
    let server = Server::new();
    let port = server.port;
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        // The header sent through `ssh -L 9999:127.0.0.1:8017`.
        "localhost:9999".to_owned(),
        "LocalHost:9999".to_owned(),
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "127.1.2.3:80".to_owned(),
        "[::1]:9999".to_owned(),
        "[::1]".to_owned(),
    ] {
        assert_eq!(
            send_version_request(&server, &format!("Host: {host}\r\n")).status,
            200,
            "{host}"
        );
    }
    for host in [
        String::new(),
        "Host: \r\n".to_owned(),
        "Host: :80\r\n".to_owned(),
        "Host: 126.0.0.1\r\n".to_owned(),
        "Host: 0.0.0.0\r\n".to_owned(),
        "Host: 192.168.0.1:8017\r\n".to_owned(),
        "Host: [::2]\r\n".to_owned(),
        "Host: localhost:x\r\n".to_owned(),
        "Host: localhost:65536\r\n".to_owned(),
        "Host: localhost:1:2\r\n".to_owned(),
        "Host: konane.example.org\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("Host: localhost.evil.example:{port}\r\n"),
        format!("Host: evil@127.0.0.1:{port}\r\n"),
        format!("Host: localhost@evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
    ] {
        assert_eq!(send_version_request(&server, &host).status, 403, "{host:?}");
    }
    let error = send_version_request(&server, "Host: evil.example:1\r\n").error();
    assert!(error.contains("\"evil.example:1\"") && error.contains("--allow-host"), "{error}");
    // An absolute request target with its own host.
    let target = |target: &str, host: &str| {
        let text = format!(
            "GET http://{target}/api/v1/version HTTP/1.1\r\nHost: {host}\r\n\
             Connection: close\r\n\r\n"
        );
        server.send(text.as_bytes()).status
    };
    assert_eq!(target("localhost:9999", "localhost:9999"), 200);
    assert_eq!(target("localhost:9999", "localhost:9998"), 403);
    assert_eq!(target("evil.example", "localhost"), 403);
    assert_eq!(target("localhost", "evil.example"), 403);
}

#[test]
fn allowed_hosts_are_answered() {
    let hosts = ["--allow-host", "konane.example.org", "--allow-host", "Other.example"];
    let server = Server::at(TestDir::new(), &hosts);
    for host in ["konane.example.org", "KONANE.example.org:444", "other.example:80", "localhost"] {
        assert_eq!(
            send_version_request(&server, &format!("Host: {host}\r\n")).status,
            200,
            "{host}"
        );
        // With and without a TLS proxy in front of the program.
        for scheme in ["http", "https"] {
            let headers = format!("Host: {host}\r\nOrigin: {scheme}://{host}\r\n");
            assert_eq!(send_version_request(&server, &headers).status, 200, "{headers}");
        }
        let headers = format!("Host: {host}\r\nOrigin: http://konane.example.org:1\r\n");
        assert_eq!(send_version_request(&server, &headers).status, 403, "{headers}");
    }
    for host in ["example.org", "evil.konane.example.org", "konane.example.org.evil.example"] {
        assert_eq!(
            send_version_request(&server, &format!("Host: {host}\r\n")).status,
            403,
            "{host}"
        );
    }
    for wrong in ["konane.example.org:80", "http://konane.example.org", "a b", "", "*", "user@host"]
    {
        let output = TestDir::new().run(&["explore", "--allow-host", wrong]);
        assert_eq!(code(&output), 2, "{wrong:?}");
        assert!(stderr(&output).contains("without a port"), "{wrong:?}: {}", stderr(&output));
    }
}

#[test]
fn cross_origin_requests_are_rejected() {
    let server = Server::new();
    let port = server.port;
    let send_version_request =
        |first: &str, header: &str| server.request(first, &[header], "").status;
    for first in [VERSION, "GET /", "GET /js/main.js", "GET /api/v1/konane/position?board=3x3"] {
        for header in ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"] {
            assert_eq!(send_version_request(first, header), 200, "{first} {header}");
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
            "Origin: ftp://127.0.0.1",
        ] {
            assert_eq!(send_version_request(first, header), 403, "{first} {header}");
        }
    }
    assert_eq!(send_version_request(VERSION, &format!("Origin: http://127.0.0.1:{port}")), 200);
    assert_eq!(send_version_request(VERSION, &format!("Origin: http://localhost:{port}")), 403);
    assert_eq!(send_version_request(VERSION, &format!("Origin: http://127.0.0.1:{port}/")), 403);
    // The preflight request of a browser before a page may send JSON to another origin.
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
    // A body of unknown length.
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

/// Maximum number of connections of the server.
const CONNECTIONS: usize = 256;

/// Opens connections that send these bytes and then stay idle.
fn open_idle(server: &Server, count: usize, sent: &str) -> Vec<TcpStream> {
    let client = |_| {
        let mut stream = server.connect();
        stream.write_all(sent.as_bytes()).unwrap();
        stream
    };
    (0..count).map(client).collect()
}

/// Idle clients, clients in the middle of a request, and clients that have been answered are disconnected after ten
/// seconds, so others wait no longer.
#[test]
fn idle_clients_do_not_block_others() {
    let server = Server::new();
    let head = format!("Host: 127.0.0.1:{}\r\n", server.port);
    let kind = "Content-Type: application/json\r\nContent-Length: 100\r\n";
    let kinds = [
        String::new(),
        "GET / HTTP/1.1\r\nHost:".to_owned(),
        format!("POST /api/v1/konane/setup HTTP/1.1\r\n{head}{kind}\r\n{{"),
        format!("HEAD / HTTP/1.1\r\n{head}\r\n"),
        // The answers on a connection exceed the socket buffers.
        format!("GET /style.css HTTP/1.1\r\n{head}\r\n").repeat(1000),
    ];
    let each = CONNECTIONS.div_ceil(kinds.len());
    let clients = kinds.each_ref().map(|sent| open_idle(&server, each, sent));
    let started = Instant::now();
    assert_eq!(server.get("version").status, 200);
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
    drop(clients);
}

#[test]
fn silent_clients_are_disconnected() {
    let server = Server::new();
    let started = Instant::now();
    let answered = format!("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    for sent in ["GET / HTTP/1.1\r\nHost:", &answered] {
        let [mut client] = open_idle(&server, 1, sent).try_into().unwrap();
        client.read_to_end(&mut Vec::new()).expect("the end");
    }
    assert!(started.elapsed() < Duration::from_secs(80), "{:?}", started.elapsed());
}

/// Many simultaneous requests are all answered.
#[test]
fn bursts_of_requests_are_answered() {
    let server = Server::new();
    let request = format!(
        "GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
        server.port
    );
    for mut client in open_idle(&server, CONNECTIONS + 50, &request) {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
