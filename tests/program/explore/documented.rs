//! Pages of the HTTP API in docs: every example request is sent, and the response must have the fields of
//! the example.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::server::Server;
use crate::common::{ROOT, TestDir};

/// Returns the code blocks of a text, each with the word after the opening fence.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut parts = text.split("```");
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.push(block.split_once('\n').expect("a line"));
    }
    blocks
}

/// Collects the paths and types of all fields. Elements of a list share a path.
fn fields(value: &Value, above: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                fields(value, &format!("{above}.{name}"), found);
            }
        }
        Value::Array(values) => {
            found.insert(format!("{above} []"));
            values.iter().for_each(|value| fields(value, &format!("{above}[]"), found));
        }
        // A field that may be null has an example with null and one without.
        Value::Null => {}
        Value::Bool(_) => drop(found.insert(format!("{above} bool"))),
        Value::Number(_) => drop(found.insert(format!("{above} number"))),
        Value::String(_) => drop(found.insert(format!("{above} text"))),
    }
}

fn fields_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    fields(&value, "", &mut found);
    found
}

/// Returns the fields of all events of a stream, with the event name as prefix.
fn fields_of_events(text: &str) -> BTreeSet<String> {
    let (mut found, mut name) = (BTreeSet::new(), "");
    for line in text.lines() {
        if let Some(event) = line.strip_prefix("event: ") {
            name = event;
        } else if let Some(data) = line.strip_prefix("data: ") {
            found.extend(fields_of(data).into_iter().map(|field| format!("{name}{field}")));
        }
    }
    found
}

#[test]
fn responses_have_the_fields_of_the_examples() {
    let docs = ["api", "api-searches", "api-sprouts"]
        .map(|name| Path::new(ROOT).join(format!("docs/{name}.md")))
        .map(|path| fs::read_to_string(path).expect("a page of the API"))
        .concat();
    let dir = TestDir::new();
    dir.run(&["builddb", "3x3", "--metric", "remoteness", "--quiet"]);
    dir.run(&["solve", "4x4", "--proof", "4x4.proof", "--quiet"]);
    let server = Server::at(dir, &["--proof", "4x4.proof"]);
    let (mut last, mut id, mut requested) = (None, "none".to_owned(), BTreeSet::new());
    for (kind, text) in blocks(&docs) {
        let text = text.trim();
        match kind {
            "http" => {
                let (first, body) = text.split_once('\n').unwrap_or((text, ""));
                requested
                    .insert(first.split(['?', ' ']).nth(1).expect("a path").replace("ID", "{id}"));
                let json: &[_] =
                    if body.is_empty() { &[] } else { &["Content-Type: application/json"] };
                let reply = server.request(&first.replace("ID", &id), json, body.trim());
                if first == "POST /api/v1/searches" && reply.status == 201 {
                    id = reply.json()["id"].as_str().unwrap().to_owned();
                }
                last = Some((first, reply));
            }
            "json" => {
                let (first, reply) = last.take().expect("a request before it");
                assert_eq!(fields_of(&reply.body), fields_of(text), "{first}: {}", reply.body);
            }
            "text" => {
                let (first, reply) = last.take().expect("a request before it");
                assert_eq!(fields_of_events(&reply.body), fields_of_events(text), "{first}");
            }
            _ => {}
        }
    }
    let api = "/api/v1";
    for path in [
        "version",
        "boards",
        "databases",
        "proofs",
        "openings",
        "konane/position",
        "konane/line",
        "konane/play",
        "konane/why",
        "konane/report",
        "konane/puzzle",
        "konane/value",
        "konane/setup",
        "sprouts/position",
        "sprouts/draw",
        "sprouts/canonical",
        "searches",
        "searches/{id}",
        "searches/{id}/events",
    ] {
        assert!(requested.contains(&format!("{api}/{path}")), "{path} has no example");
    }
}
