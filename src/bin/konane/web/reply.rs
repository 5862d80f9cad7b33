//! Bodies that are read, and errors that are answered.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::Connection;
use crate::exit::CliError;
use konane::ErrorKind;
use konane::SolveError;
use konane::analysis::AnalysisError;
use konane::sprouts::MovesError;
use konane::tablebase::DatabaseError;

/// Maximum size of a request's body in bytes.
pub const MOST_BODY: usize = 16 << 10;

/// A body that has not come after this time is not waited for.
const BODY_TIME: Duration = Duration::from_secs(10);

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: StatusCode,
    /// What is wrong, and the remedy.
    pub text: String,
    /// The search that is in the way.
    pub search: Option<String>,
}

/// The JSON of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorJson {
    /// What is wrong, and the remedy.
    pub error: String,
    /// With status 429, where a search is in the way: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// What the routes return.
pub type Answer<T> = Result<Json<T>, Problem>;

impl Problem {
    /// With a status and a text.
    pub fn new(status: StatusCode, text: impl ToString) -> Self {
        Problem { status, text: text.to_string(), search: None }
    }

    /// A request that can be read, and asks for something that is not possible: 422.
    pub fn refused(text: impl ToString) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    }

    /// A failure that the client cannot avoid, such as a panic of the program: 500.
    pub fn failed(text: impl ToString) -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }

    /// An error of this kind. The only place that assigns statuses to errors of the library.
    fn of(kind: ErrorKind, text: impl ToString) -> Self {
        match kind {
            ErrorKind::Usage | ErrorKind::Limit => Problem::refused(text),
            ErrorKind::Resource | ErrorKind::File | ErrorKind::Check | ErrorKind::Interrupted => {
                Problem::failed(text)
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorJson { error: self.text, search: self.search })).into_response()
    }
}

/// Converts errors by their kind.
macro_rules! problem_from {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Problem::of(error.kind(), error)
            }
        })*
    };
}

problem_from!(AnalysisError, CliError, DatabaseError, MovesError, SolveError);

/// A body of JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let connection = request.extensions().get::<Connection>().cloned();
        if let Some(connection) = &connection {
            connection.set_waiting();
        }
        let body = tokio::time::timeout(BODY_TIME, Bytes::from_request(request, state)).await;
        if let Some(connection) = &connection {
            connection.set_processing();
        }
        let Ok(body) = body else {
            let seconds = BODY_TIME.as_secs();
            let text = format!("the body of the request did not come within {seconds} s");
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, text));
        };
        let body = body.map_err(|error| match error.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => {
                Problem::new(status, format!("the body has more than {MOST_BODY} bytes"))
            }
            status => Problem::new(status, "the body has not come as a whole"),
        })?;
        let value: Value = serde_json::from_slice(&body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = format!("the body is no JSON: it fails at line {line}, column {column}");
            Problem::new(StatusCode::BAD_REQUEST, text)
        })?;
        // Else a list would be read as the fields in their order.
        if !value.is_object() {
            return Err(Problem::refused("the body is JSON, but no object"));
        }
        // Not from the value, in which a field that is given twice is there once.
        let read = serde_json::from_slice(&body);
        Ok(Body(read.map_err(|error| Problem::refused(format!("the body: {error}")))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_status() {
        let statuses = ErrorKind::ALL.map(|kind| (kind, Problem::of(kind, "").status.as_u16()));
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
