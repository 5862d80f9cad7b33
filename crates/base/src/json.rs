//! Serialisation of results: names of enumerations, types written as text, and `unknown`.
//!
//! Results derive `Serialize`, and `JsonSchema` with the feature `json-schema`. The program, the API and the Python package print them without changes.

#[cfg(feature = "json-schema")]
use std::borrow::Cow;
use std::fmt::Display;
use std::path::Path;

use pn_search::numbers::{INFINITY, Number};
#[cfg(feature = "json-schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// Implements `Serialize`, and `JsonSchema` with the feature `json-schema`, for types that are written as their
/// `Display` text. The calling crate must have this feature, and depend on `serde` and optionally on `schemars`.
#[macro_export]
macro_rules! serialize_as_text {
    ($($type:ty: $description:literal),+ $(,)?) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "json-schema")]
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $description })
            }
        }
    )+};
}

/// Serialises `None` as the text `unknown`. For `#[serde(with)]`.
pub mod or_unknown {
    use super::{Serialize, Serializer};

    /// Serialises the value or `unknown`.
    pub fn serialize<T: Serialize, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str("unknown"),
        }
    }
}

/// Schema of a field serialised by [`or_unknown`].
#[cfg(feature = "json-schema")]
pub struct OrUnknown<T>(std::marker::PhantomData<T>);

#[cfg(feature = "json-schema")]
impl<T: JsonSchema> JsonSchema for OrUnknown<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{} or unknown", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut names = variants(&T::json_schema(generator));
        names.push("unknown".to_owned());
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Returns the names in the schema of an enumeration without fields.
#[cfg(feature = "json-schema")]
pub fn variants(schema: &Schema) -> Vec<String> {
    let of = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let list = |key| schema.get(key).and_then(|value| value.as_array()).into_iter().flatten();
    list("enum")
        .filter_map(of)
        .chain(list("oneOf").filter_map(|one| of(one.get("const")?)))
        .collect()
}

/// Serialises a value as its `Display` text. For `#[serde(serialize_with)]`.
pub fn as_text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Serialises a path as text. For `#[serde(serialize_with)]`.
pub fn as_path<S: Serializer>(path: &impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

/// Serialises a proof or disproof number, or null if it is infinite. For `#[serde(serialize_with)]`.
pub fn as_finite<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    finite(*number).serialize(serializer)
}

/// Returns a proof or disproof number, or `None` if it is infinite.
pub fn finite(number: Number) -> Option<Number> {
    (number < INFINITY).then_some(number)
}

/// Returns a count divided by a time in seconds, as a whole number, or 0 if no time has passed.
pub fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { (count as f64 / seconds).round() } else { 0.0 }
}
