//! The JSON of analyses: the object of `analyse --json` and of the explorer's positions.

use schemars::JsonSchema;
use serde::Serialize;

use konane::analysis::Analysis;
use konane::search::Value;
use konane::{Move, Position};

/// An analysis with moves before and after its position.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnalysisJson {
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Best play from the position, as far as it is decided. Absent if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<Move>>,
    /// The position before the moves that were played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Position>,
    /// The moves that were played from `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Vec<Move>>,
}

impl From<Analysis> for AnalysisJson {
    fn from(analysis: Analysis) -> Self {
        AnalysisJson { analysis, line: None, start: None, played: None }
    }
}

/// `win`, `loss` or `unknown`.
pub fn outcome_name(outcome: Option<Value>) -> &'static str {
    outcome.map_or("unknown", Value::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use konane::analysis::Analyst;
    use konane::search::run::Limits;

    #[test]
    fn unknown_values_have_no_source() {
        let json = |analysis: Analysis| serde_json::to_value(AnalysisJson::from(analysis)).unwrap();
        let analyst = Analyst::new("8x8".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let open = json(analyst.look(&start).unwrap());
        assert_eq!((&open["outcome"], &open["winner"]), (&"unknown".into(), &"unknown".into()));
        assert_eq!((open.get("source"), &open["complete"]), (None, &false.into()));
        let moves = open["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["outcome"] == "unknown" && mv.get("source").is_none()));
        let mut analyst = Analyst::new("3x3".parse().unwrap(), 1 << 20).unwrap();
        let start = Position::start(analyst.board());
        let decided = json(analyst.analyse(&start, Limits::default(), &mut |_| {}).unwrap());
        assert_eq!((&decided["phase"], &decided["complete"]), (&"removal".into(), &true.into()));
        assert_eq!((&decided["outcome"], &decided["winner"]), (&"loss".into(), &"white".into()));
        let moves = decided["moves"].as_array().unwrap();
        assert!(moves.iter().all(|mv| mv["source"].is_string()));
        assert!(!decided.to_string().contains("null"), "{decided}");
    }
}
