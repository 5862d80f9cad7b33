//! Requests that are read, and errors that are answered.

use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::analysis::AnalysisError;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// The request can be read, and asks for what cannot be: 422.
    pub fn refused(text: impl ToString) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text)
    }

    /// Files that cannot be read, no memory, or a mistake in the program: nothing that the client
    /// can change: 500.
    pub fn failed(text: impl ToString) -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, text)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorJson { error: self.text, search: self.search })).into_response()
    }
}

impl From<AnalysisError> for Problem {
    fn from(error: AnalysisError) -> Self {
        Problem::failed(error)
    }
}

/// The parameters of an address.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::try_from_uri(&parts.uri);
        let Query(params) =
            query.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.body_text()))?;
        Ok(Params(params))
    }
}

/// A body of JSON.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = Json::from_request(request, state);
        let Ok(body) = tokio::time::timeout(BODY_TIME, body).await else {
            let seconds = BODY_TIME.as_secs();
            let text = format!("the body of the request did not come within {seconds} s");
            return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, text));
        };
        let Json(body) = body.map_err(|error| Problem::new(error.status(), error.body_text()))?;
        Ok(Body(body))
    }
}
