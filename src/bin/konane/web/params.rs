//! Parameters in the query string. Unlike those of [`Query`], error messages name the parameter and its value.

use std::fmt;

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::reply::ApiError;

/// The parameters of a request: texts and whole numbers, some of them optional.
pub struct Params<T>(pub T);

/// No parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let Query(pairs) =
            Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map_err(|_| {
                let text = "write parameters as name=value, joined by &";
                ApiError::new(StatusCode::BAD_REQUEST, text)
            })?;
        let pairs = pairs.into_iter().map(|(name, text)| (name.clone(), Param { name, text }));
        T::deserialize(MapDeserializer::new(pairs)).map(Params)
    }
}

impl de::Error for ApiError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        ApiError::new(StatusCode::BAD_REQUEST, text)
    }

    fn missing_field(name: &'static str) -> Self {
        de::Error::custom(format_args!("{name}: missing parameter"))
    }

    fn duplicate_field(name: &'static str) -> Self {
        de::Error::custom(format_args!("{name}: duplicate parameter"))
    }

    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        let known = match known {
            [] => "no parameters are accepted here".to_owned(),
            known => format!("accepted here: {}", known.join(", ")),
        };
        de::Error::custom(format_args!("{name}: unknown parameter; {known}"))
    }
}

/// The value of a parameter.
struct Param {
    name: String,
    text: String,
}

impl Param {
    fn number<N: std::str::FromStr>(&self) -> Result<N, ApiError> {
        let Param { name, text } = self;
        let bits = 8 * size_of::<N>();
        let wrong = format_args!("{name}: {text:?} is not a whole number below 2^{bits}");
        text.parse().map_err(|_| de::Error::custom(wrong))
    }
}

impl<'de> IntoDeserializer<'de, ApiError> for Param {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Param {
    type Error = ApiError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ApiError> {
        visitor.visit_string(self.text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ApiError> {
        visitor.visit_some(self)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ApiError> {
        visitor.visit_u32(self.number()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ApiError> {
        visitor.visit_u64(self.number()?)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
