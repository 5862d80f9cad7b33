//! Request bodies and error answers.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::exit::CliError;
use konane::ErrorKind;
use konane::SolveError;
use konane::analysis::AnalysisError;
use konane::sprouts::MovesError;
use konane::tablebase::DatabaseError;

/// Maximum size of a request's body in bytes.
pub const MAX_BODY: usize = 16 << 10;

/// Maximum time for reading the body of a request.
const BODY_TIME: Duration = Duration::from_secs(10);

/// An answer with an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ApiError {
    /// HTTP status.
    pub status: StatusCode,
    /// Error message with the remedy.
    pub text: String,
    /// Id of the running search that prevents this request.
    pub search: Option<String>,
}

/// The JSON of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorJson {
    /// Error message with the remedy.
    pub error: String,
    /// With status 429, if a running search prevents the request: the id of that search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// Result of a route.
pub type ApiResult<T> = Result<Json<T>, ApiError>;

impl ApiError {
    /// Returns an error with this status and text.
    pub fn new(status: StatusCode, text: impl ToString) -> Self {
        ApiError { status, text: text.to_string(), search: None }
    }

    /// Returns the error for a well-formed request that cannot be fulfilled: 422.
    pub fn refused(text: impl ToString) -> Self {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    }

    /// Returns the error for a failure that the client cannot avoid, such as a panic: 500.
    pub fn failed(text: impl ToString) -> Self {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// Returns the answer for a library error of this kind. The only mapping from error kinds to statuses.
    fn of(kind: ErrorKind, text: impl ToString) -> Self {
        match kind {
            ErrorKind::Usage | ErrorKind::Limit => ApiError::refused(text),
            ErrorKind::Resource | ErrorKind::File | ErrorKind::Check | ErrorKind::Interrupted => {
                ApiError::failed(text)
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorJson { error: self.text, search: self.search })).into_response()
    }
}

/// Converts errors by their kind.
macro_rules! api_error_from {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                ApiError::of(error.kind(), error)
            }
        })*
    };
}

api_error_from!(AnalysisError, CliError, DatabaseError, MovesError, SolveError);

/// A JSON body.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = tokio::time::timeout(BODY_TIME, Bytes::from_request(request, state)).await;
        let Ok(body) = body else {
            let seconds = BODY_TIME.as_secs();
            let text = format!("the body of the request was not received within {seconds} s");
            return Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, text));
        };
        let body = body.map_err(|error| match error.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => {
                ApiError::new(status, format!("the body has more than {MAX_BODY} bytes"))
            }
            status => ApiError::new(status, "the body is incomplete"),
        })?;
        let value: Value = serde_json::from_slice(&body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = format!("the body is not valid JSON: error at line {line}, column {column}");
            ApiError::new(StatusCode::BAD_REQUEST, text)
        })?;
        // Serde would accept an array with the fields in order.
        if !value.is_object() {
            return Err(ApiError::refused("the body is not a JSON object"));
        }
        // Parsed again, because `value` has lost duplicate fields.
        let read = serde_json::from_slice(&body);
        Ok(Body(read.map_err(|error| ApiError::refused(format!("the body: {error}")))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_status() {
        let statuses = ErrorKind::ALL.map(|kind| (kind, ApiError::of(kind, "").status.as_u16()));
        let expected = [
            (ErrorKind::Usage, 422),
            (ErrorKind::Resource, 500),
            (ErrorKind::Limit, 422),
            (ErrorKind::File, 500),
            (ErrorKind::Check, 500),
            (ErrorKind::Interrupted, 500),
        ];
        assert_eq!(statuses, expected);
    }
}
