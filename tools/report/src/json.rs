//! docs/json.md and docs/api.md from docs/json.schema.json, which the program prints.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::Failure;

/// Names and templates of the pages. A line `{{Name}}` is replaced by the table of a type, and
/// `{{commands}}` by the table of all subcommands and their keys.
const PAGES: [(&str, &str); 2] =
    [("json.md", include_str!("../pages/json.md")), ("api.md", include_str!("../pages/api.md"))];

/// Names and contents of the pages, from the JSON Schema of the program (`konane json-schema`).
///
/// # Errors
/// If the schema is not JSON, a template names an unknown type, or a type is on no page.
pub fn pages(schema: &str) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut schema: Map<String, Value> = serde_json::from_str(schema)?;
    let mut part = |name| match schema.get_mut(name).map(Value::take) {
        Some(Value::Object(part)) => Ok(part),
        _ => Err(format!("the schema has no object {name}")),
    };
    let (objects, types) = (part("properties")?, part("$defs")?);
    let (mut pages, mut used) = (Vec::new(), Vec::new());
    for (name, template) in PAGES {
        let mut page = String::new();
        for line in template.lines() {
            match line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
                None => page += line,
                Some("commands") => page += &commands(&objects, &types),
                Some(name) => {
                    let found = types.get(name);
                    page += &table(found.ok_or_else(|| format!("there is no type {name}"))?);
                    used.push(name);
                }
            }
            page.push('\n');
        }
        pages.push((name, page));
    }
    let missing: Vec<_> = types.keys().filter(|name| !used.contains(&name.as_str())).collect();
    if !missing.is_empty() {
        return Err(format!("these types are on no page: {missing:?}").into());
    }
    Ok(pages)
}

/// The table of all subcommands and the keys of their objects.
fn commands(objects: &Map<String, Value>, types: &Map<String, Value>) -> String {
    let mut text = "| subcommand | type | keys |\n|---|---|---|".to_owned();
    for (command, object) in objects {
        let name = last(object["$ref"].as_str().unwrap_or_default());
        let ty = &types[name];
        let variants = ty.get("anyOf").and_then(Value::as_array);
        let variants = variants.map_or_else(|| vec![ty], |variants| variants.iter().collect());
        let mut keys = Vec::new();
        for variant in variants {
            let properties = variant.get("properties").and_then(Value::as_object);
            keys.extend(properties.into_iter().flatten().map(|(key, _)| format!("`{key}`")));
        }
        let _ = write!(text, "\n| `{command}` | {name} | {} |", keys.join(" "));
    }
    text
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// The keys of an object, or of each of several objects.
fn table(ty: &Value) -> String {
    if let Some(variants) = ty.get("anyOf").and_then(Value::as_array) {
        let titled = |variant: &Value| {
            let about = variant.get("description").and_then(Value::as_str).unwrap_or_default();
            match variant.get("$ref").and_then(Value::as_str) {
                Some(name) => format!("{about} `{}`, as above.", last(name)),
                None => format!("{about}\n\n{}", table(variant)),
            }
        };
        return variants.iter().map(titled).collect::<Vec<_>>().join("\n\n");
    }
    let required: Vec<&str> =
        ty["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut text = "| key | value | meaning |\n|---|---|---|".to_owned();
    let properties = ty.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let is_request = ty.get("additionalProperties") == Some(&Value::Bool(false));
        let absent = !required.contains(&key.as_str());
        let mut kind = kind(property);
        if absent {
            // A key that may be absent is never null in answers.
            if !is_request || kind.ends_with(" or null") {
                kind = kind.trim_end_matches(" or null").to_owned();
            }
            kind += ", or absent";
        }
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = about.replace('|', "\\|").replace('\n', " ");
        let _ = write!(text, "\n| `{key}` | {kind} | {about} |");
    }
    text
}

fn last(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// The kind of a value in words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return link(last(reference));
    }
    let texts = |list: &[Value]| {
        let names = list.iter().filter(|value| !value.is_null());
        names.map(|value| format!("`{}`", value.as_str().unwrap_or_default())).collect::<Vec<_>>()
    };
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        return or(texts(list), list.contains(&Value::Null));
    }
    for key in ["oneOf", "anyOf"] {
        let Some(list) = schema.get(key).and_then(Value::as_array) else { continue };
        let nullable = list.iter().any(|one| one.get("type") == Some(&json!("null")));
        let kinds = list.iter().filter(|one| one.get("type") != Some(&json!("null")));
        let mut names: Vec<String> = kinds
            .map(|one| match one.get("const").and_then(Value::as_str) {
                Some(name) => format!("`{name}`"),
                None => kind(one),
            })
            .collect();
        names.dedup();
        return or(names, nullable);
    }
    let of = |name: &str| match name {
        "string" => "text".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "array" => format!("list: {}", schema.get("items").map_or("value".to_owned(), kind)),
        other => other.to_owned(),
    };
    match schema.get("type") {
        Some(Value::String(name)) => of(name),
        Some(Value::Array(names)) => {
            let kinds = names.iter().filter_map(Value::as_str).filter(|&name| name != "null");
            or(kinds.map(of).collect(), names.contains(&json!("null")))
        }
        _ => "value".to_owned(),
    }
}

/// Alternatives in words.
fn or(mut kinds: Vec<String>, nullable: bool) -> String {
    if nullable {
        kinds.push("null".to_owned());
    }
    match kinds.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "value".to_owned(),
    }
}
