//! `GET /api/v1/version`.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::web::params::{NoParams, Params};

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionJson {
    /// The program's.
    pub version: String,
    /// That of the interface: what is documented stays as it is, and fields may be added.
    pub api: u32,
}

/// Says it.
pub async fn get(_: Params<NoParams>) -> Json<VersionJson> {
    Json(VersionJson { version: env!("CARGO_PKG_VERSION").to_owned(), api: 1 })
}
