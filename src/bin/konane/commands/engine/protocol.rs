//! Lines of input and output: their fields and their parser.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

use crate::args::played_position::PlayedPosition;
use crate::trace::ProgressJson;
use crate::version::ProgramJson;
use konane::analysis::{JudgedMove, Judgement, JudgementFields};
use konane::json::or_unknown;
use konane::search::run::Reason;
use konane::system::parse_duration;
use konane::{Colour, Dimensions, Move, Phase, Position};

/// Id of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(test, schemars(inline))]
pub enum RequestId {
    /// Text.
    Text(String),
    /// Whole number of at most 64 bits.
    Number(i64),
}

/// A request for the value of a position.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EngineRequest {
    /// Any text or whole number that no other request in flight has. All answers to the request have it.
    pub id: RequestId,
    /// Ranks x files.
    board: String,
    /// The position, by default the start of the game.
    position: Option<String>,
    /// The phase of the position: `auto` (default: by the number of empty squares), `removal`, which is the
    /// same, or `jump`.
    phase: Option<String>,
    /// Moves that follow the position.
    moves: Option<String>,
    /// Maximum number of nodes, by default unlimited.
    pub max_nodes: Option<NonZeroU64>,
    /// Maximum time from the beginning of the search, such as `500ms` or `10s`; by default unlimited.
    #[serde(default, deserialize_with = "duration")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub time_limit: Option<Duration>,
    /// True to find the value of every move within the limits.
    #[serde(default)]
    pub values: bool,
    /// True to find a line of best play within the limits.
    #[serde(default)]
    pub line: bool,
    /// Time between two reports of progress, such as `1s`; by default there are none.
    #[serde(default, deserialize_with = "duration")]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub progress: Option<Duration>,
    /// Of the requests that wait for a thread, the one of the highest priority is searched first, by default 0. Those of
    /// equal priority are searched in the order of their lines.
    #[serde(default)]
    pub priority: i64,
}

impl EngineRequest {
    /// Returns true if the search ends without a `stop`.
    pub fn has_limit(&self) -> bool {
        self.max_nodes.is_some() || self.time_limit.is_some()
    }
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_duration(&text)).transpose().map_err(de::Error::custom)
}

/// A command about the engine or a request.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EngineCommand {
    /// `stop`: ends one search or all, whose answers follow. `quit`: does the same for all and ends the engine. `version`:
    /// prints the version.
    action: EngineAction,
    /// With `stop`: the id of the request; all requests if absent. With `version`: any id, which the answer has.
    id: Option<RequestId>,
    /// With `quit`: true to wait for the requests that have a limit, as at the end of input.
    #[serde(default)]
    wait: bool,
}

/// Actions.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, schemars(inline))]
enum EngineAction {
    Stop,
    Quit,
    Version,
}

/// The answer to a request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EngineAnswerJson {
    /// Id of the request.
    pub id: RequestId,
    /// Ranks x files.
    pub board: Dimensions,
    /// The position, after the moves of the request.
    pub position: Position,
    /// The player to move.
    pub to_move: Colour,
    /// Kind of the moves: `removal` if a move removes a stone, else `jump`.
    pub phase: Phase,
    #[serde(flatten, serialize_with = "JudgementFields::serialize")]
    #[cfg_attr(test, schemars(with = "JudgementFields"))]
    pub judgement: Option<Judgement>,
    /// The player who wins.
    #[serde(serialize_with = "or_unknown::serialize")]
    #[cfg_attr(test, schemars(with = "konane::json::OrUnknown<Colour>"))]
    pub winner: Option<Colour>,
    /// Reason for an unknown value of the position, or with `values` of a move. Absent if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The move to play: a winning move; in a lost position the first of the losing moves in the order of
    /// `moves`; while the outcome is unknown, the best move so far. Null if there is no move, or if the
    /// request was stopped before its search began.
    pub best_move: Option<Move>,
    /// With `values`: all moves, winning ones first and unknown ones last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<JudgedMove>>,
    /// With `line`: best play to the end, or as far as it is decided; empty while the outcome is
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<Move>>,
    /// Positions evaluated, by all searches for the request.
    pub nodes: u64,
    /// Wall-clock time since the search began.
    pub seconds: f64,
}

/// The answer to `{"action":"version"}`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EngineVersionJson {
    /// Id in the line. Absent if the line has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// Version of the protocol: documented fields do not change within a version; new ones may be added.
    pub protocol: u32,
    /// The program.
    #[serde(flatten)]
    pub program: ProgramJson,
}

/// Progress of a request. While a move is searched for `values` or `line`, `pn`, `dn`, `best_move` and
/// `moves` are absent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EngineProgressJson {
    /// Id of the request.
    pub id: RequestId,
    /// True.
    pub progress: bool,
    #[serde(flatten)]
    pub report: ProgressJson,
}

/// The answer to a line that is not a request, or to a request that failed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EngineErrorJson {
    /// Id in the line; null if the line has none.
    pub id: Option<RequestId>,
    /// The error and its remedy.
    pub error: String,
}

/// A line of input.
pub enum EngineLine {
    /// A request with its position.
    Request(Box<(EngineRequest, PlayedPosition)>),
    /// The request with this id is to be stopped, or all requests.
    Stop(Option<RequestId>),
    /// The engine is to end, after the answers to requests with a limit if `wait` is true.
    Quit { wait: bool },
    /// The version is to be written.
    Version(Option<RequestId>),
}

/// Parses a line.
pub fn parse(line: &[u8]) -> Result<EngineLine, EngineErrorJson> {
    let text =
        |error: serde_json::Error| error.to_string().replace(" at line 1 column", " at column");
    let value: Value = serde_json::from_slice(line).map_err(|error| EngineErrorJson {
        id: None,
        error: format!(
            "the line is not valid JSON ({}): write one object, such as {{\"id\":1,\"board\":\"5x5\"}}",
            text(error)
        ),
    })?;
    let id = value.get("id").and_then(|id| RequestId::deserialize(id).ok());
    let wrong = |error: String| EngineErrorJson { id: id.clone(), error };
    if !value.is_object() {
        let error = r#"the line is not a JSON object: write one, such as {"id":1,"board":"5x5"}"#;
        return Err(wrong(error.to_owned()));
    }
    // Parsed again, because `value` has lost duplicate fields.
    if value.get("action").is_some() {
        let command: EngineCommand = fields(line).map_err(wrong)?;
        return Ok(match command.action {
            EngineAction::Quit => EngineLine::Quit { wait: command.wait },
            EngineAction::Stop => EngineLine::Stop(command.id),
            EngineAction::Version => EngineLine::Version(command.id),
        });
    }
    let request: EngineRequest = fields(line).map_err(wrong)?;
    let [position, phase, moves] =
        [&request.position, &request.phase, &request.moves].map(Option::as_deref);
    let played = PlayedPosition::parse(&request.board, position, phase, moves).map_err(wrong)?;
    Ok(EngineLine::Request(Box::new((request, played))))
}

/// Deserialises a JSON object. An error names the field.
fn fields<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(line);
    serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, text) = (error.path().to_string(), error.into_inner().to_string());
        // The column is of no use: the field is named.
        let text = text.split(" at line 1 column").next().unwrap_or_default();
        let begins = |kinds: &[&str]| kinds.iter().any(|kind| text.starts_with(kind));
        if begins(&["unknown field", "missing field", "duplicate field"]) {
            return text.to_owned();
        }
        let value: Result<Value, _> = serde_json::from_slice(line);
        match value.as_ref().ok().and_then(|value| value.get(&path)) {
            Some(value) if begins(&["invalid", "unknown variant", "data did not match"]) => {
                format!("{path}: {value} is not {}", expected(&path))
            }
            _ => format!("{path}: {text}"),
        }
    })
}

/// Describes the values of a field.
fn expected(field: &str) -> &'static str {
    match field {
        "id" => "a text or a whole number of at most 64 bits",
        "max_nodes" => "a whole number of at least 1",
        "priority" => "a whole number of at most 64 bits",
        "values" | "line" | "wait" => "true or false",
        "time_limit" | "progress" => "a time as text, such as \"5s\"",
        "action" => "\"stop\", \"quit\" or \"version\"",
        _ => "a text",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = r#"{"id":1,"board":"4x4","position":"x1xo/o1ox/xoxo/oxox b","phase":"auto","moves":"b1-b3","max_nodes":9,"time_limit":"5s","values":true,"line":false,"progress":"1m","priority":-1}"#;

    proptest! {
        /// Every line is accepted or has an error of one line. No line makes the engine panic.
        #[test]
        fn any_line_is_accepted_or_has_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..64),
            at in 0..LINE.len(),
            removed in 0..4usize,
            inserted in r#"[-0-9a-z{}\[\]":,./ ]{0,4}"#,
        ) {
            let end = (at + removed).min(LINE.len());
            let changed = format!("{}{inserted}{}", &LINE[..at], &LINE[end..]);
            for line in [&bytes[..], changed.as_bytes()] {
                if let Err(EngineErrorJson { error, .. }) = parse(line) {
                    prop_assert!(!error.is_empty() && !error.contains('\n'), "{}", error);
                }
            }
        }
    }

    #[test]
    fn values_of_wrong_types_are_errors_that_name_the_field() {
        for (fields, expected) in [
            (r#""id":1.5"#, "id: 1.5 is not a text or a whole number of at most 64 bits"),
            (r#""id":1,"max_nodes":0"#, "max_nodes: 0 is not a whole number of at least 1"),
            (r#""id":1,"max_nodes":1e3"#, "max_nodes: 1000.0 is not a whole number of at least 1"),
            (r#""id":1,"moves":["c3"]"#, r#"moves: ["c3"] is not a text"#),
            (r#""id":1,"values":null"#, "values: null is not true or false"),
            (r#""id":1,"progress":2"#, r#"progress: 2 is not a time as text, such as "5s""#),
        ] {
            let line = format!(r#"{{"board":"4x4",{fields}}}"#);
            let Err(EngineErrorJson { error, .. }) = parse(line.as_bytes()) else {
                panic!("{line}")
            };
            assert_eq!(error, expected);
        }
        let Err(EngineErrorJson { error, .. }) = parse(br#"{"id":1,"action":"go"}"#) else {
            panic!("there is no such action")
        };
        assert_eq!(error, r#"action: "go" is not "stop", "quit" or "version""#);
    }

    #[test]
    fn a_line_with_all_fields_is_accepted() {
        let Ok(EngineLine::Request(found)) = parse(LINE.as_bytes()) else { panic!("{LINE}") };
        let (request, played) = *found;
        assert_eq!(request.time_limit, Some(Duration::from_secs(5)));
        assert_eq!(played.position.to_string(), "x1xo/oxox/x1xo/o1ox w");
    }
}
