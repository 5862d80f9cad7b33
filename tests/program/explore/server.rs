//! A server in a child process, and an HTTP client that sends arbitrary bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Child;
use std::time::Duration;

use serde_json::Value;

use crate::common::TestDir;

/// A server that runs in a temporary directory.
pub struct Server {
    pub child: Child,
    pub port: u16,
    _dir: TestDir,
}

impl Server {
    /// Starts a server without databases and proofs.
    pub fn new() -> Self {
        Server::at(TestDir::new(), &[])
    }

    /// Starts a server in a prepared directory.
    pub fn at(dir: TestDir, more: &[&str]) -> Self {
        let args = [&["explore", "--port", "0", "--threads", "1", "-m", "96MiB"], more].concat();
        let mut child = dir.spawn(&args);
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).expect("text");
        let port =
            line.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix('/'));
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
        Server { child, port, _dir: dir }
    }

    /// Opens a connection with a read timeout.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream
    }

    /// Sends these bytes, and reads until the server closes the connection.
    pub fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("written");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let _ = stream.shutdown(Shutdown::Both);
        Reply::read(&answer)
    }

    /// Sends a request with the correct host, further headers and a body.
    pub fn request(&self, first: &str, headers: &[&str], body: &str) -> Reply {
        let mut text = format!("{first} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port);
        for header in headers {
            text += &format!("{header}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.send(format!("{text}Connection: close\r\n\r\n{body}").as_bytes())
    }

    /// Sends a `GET` request for a path below `/api/v1/`.
    pub fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET /api/v1/{path}"), &[], "")
    }

    /// Sends a `GET` request and returns the JSON. Expects status 200.
    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.json()
    }

    /// Sends a `POST` request with JSON.
    pub fn post(&self, path: &str, body: &Value) -> Reply {
        let json = ["Content-Type: application/json"];
        self.request(&format!("POST /api/v1/{path}"), &json, &body.to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text.as_str(), ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer: {text:?}"));
        let head = head.to_ascii_lowercase();
        let chunked = head.contains("transfer-encoding: chunked");
        let body = if chunked { unchunked(body) } else { body.to_owned() };
        Reply { status, head, body }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the message of an error.
    pub fn error(&self) -> String {
        let json = self.json();
        // The object may also contain the id of the running search.
        let keys = 1 + usize::from(json.get("search").is_some());
        assert_eq!(json.as_object().map(serde_json::Map::len), Some(keys), "{json}");
        json["error"].as_str().expect("a text").to_owned()
    }
}

/// Decodes the complete chunks of a chunked body.
fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Ok(length @ 1..) = usize::from_str_radix(length, 16) else { break };
        body += &after[..length.min(after.len())];
        rest = after.get(length + 2..).unwrap_or_default();
    }
    body
}
