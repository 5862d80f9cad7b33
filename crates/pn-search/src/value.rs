//! Value of a position: won or lost.

use serde::{Deserialize, Serialize};

/// Value of a position, from the view of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "json-schema", schemars(inline))]
pub enum Value {
    /// The side to move wins.
    Win,
    /// The side to move loses.
    Loss,
}

impl Value {
    /// Name in output: `win` or `loss`.
    pub const fn name(self) -> &'static str {
        match self {
            Value::Win => "win",
            Value::Loss => "loss",
        }
    }
}

impl std::ops::Not for Value {
    type Output = Value;

    fn not(self) -> Value {
        match self {
            Value::Win => Value::Loss,
            Value::Loss => Value::Win,
        }
    }
}
