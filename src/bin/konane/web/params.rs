//! The parameters of an address, and what is wrong with them in our own words.

use std::fmt;

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::reply::Problem;

/// The parameters of an address: texts and whole numbers, some of them optional.
pub struct Params<T>(pub T);

/// No parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let wrong = |text: String| Problem::new(StatusCode::BAD_REQUEST, text);
        let pairs: Query<Vec<(String, String)>> = Query::try_from_uri(&parts.uri)
            .map_err(|_| wrong("write parameters as name=value, joined by &".to_owned()))?;
        let pairs = pairs.0.into_iter().map(|(name, text)| (name.clone(), Param { name, text }));
        let params = T::deserialize(MapDeserializer::new(pairs));
        Ok(Params(params.map_err(|Wrong(text)| wrong(text))?))
    }
}

/// What is wrong with a parameter.
#[derive(Debug)]
struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Wrong(text.to_string())
    }

    fn missing_field(name: &'static str) -> Self {
        Wrong(format!("{name}: this parameter is missing"))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Wrong(format!("{name}: this parameter is given twice"))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let known = match known {
            [] => "none is known here".to_owned(),
            known => format!("known here: {}", known.join(", ")),
        };
        Wrong(format!("{name}: there is no such parameter; {known}"))
    }
}

/// The value of a parameter.
struct Param {
    name: String,
    text: String,
}

impl Param {
    fn number<N: std::str::FromStr>(&self) -> Result<N, Wrong> {
        let Param { name, text } = self;
        let most = 8 * size_of::<N>();
        let wrong = |_| Wrong(format!("{name}: {text:?} is no whole number below 2^{most}"));
        text.parse().map_err(wrong)
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Param {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Param {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_u32(self.number()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_u64(self.number()?)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
