//! Won or lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value of a finished search: who wins, seen from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Value {
    /// The side to move wins.
    Win,
    /// The side to move loses.
    Loss,
}

impl Value {
    /// `win` or `loss`.
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
