//! `GET /api/v1/databases`: contents of the databases; `GET /api/v1/proofs`: the headers of the proofs.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use super::SharedExplorer;
use crate::web::files::{Files, ProofFile};
use crate::web::params::{NoParams, Params};
use crate::web::reply::ApiResult;
use konane::Dimensions;
use konane::tablebase::{
    Database, DatabaseError, DatabaseOptions, Histogram, Manifest, Metric, PositionCounts, Scope,
};

/// The answer of `databases`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DatabasesJson {
    /// The readable databases.
    pub databases: Vec<DatabaseHereJson>,
    /// Errors of the unreadable databases.
    pub errors: Vec<String>,
}

/// A database.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DatabaseHereJson {
    /// Name of the directory.
    pub name: String,
    /// Ranks x files.
    pub board: Dimensions,
    /// `complete` or `reachable`.
    pub scope: Scope,
    /// `outcome`: the winner; `remoteness`: the winner and the plies to the end with best play.
    pub metric: Metric,
    /// Maximum number of stones of its positions.
    pub max_stones: u32,
    /// Size of the layers in bytes.
    pub bytes: u64,
    /// Counts of all layers together. Absent if there are 2^64 positions or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<PositionCounts>,
    /// With remoteness: numbers of the positions that can be looked up, by remoteness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// The layers by number of stones, from 0.
    pub layers: Vec<LayerJson>,
}

/// A layer: the positions with a certain number of stones.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LayerJson {
    /// Number of stones.
    pub stones: u32,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of positions, and of those that the side to move wins.
    #[serde(flatten)]
    pub counts: PositionCounts,
}

/// Returns the databases.
pub async fn databases(
    State(explorer): SharedExplorer,
    _: Params<NoParams>,
) -> ApiResult<DatabasesJson> {
    let listed = explorer.databases().await?;
    let read = move |_: &Files| -> Result<_, DatabaseError> {
        let (mut databases, mut errors) = (Vec::new(), Vec::new());
        for (path, manifest) in listed {
            match manifest.and_then(|manifest| database(&path, &manifest)) {
                Ok(database) => databases.push(database),
                Err(error) => errors.push(error.to_string()),
            }
        }
        Ok(DatabasesJson { databases, errors })
    };
    Ok(Json(explorer.read_files(read).await?))
}

fn database(path: &Path, manifest: &Manifest) -> Result<DatabaseHereJson, DatabaseError> {
    let layers = manifest.layers.iter();
    let histogram = match manifest.metric() {
        Metric::Outcome => None,
        Metric::Remoteness => Database::open(path, DatabaseOptions::default())?.histogram()?,
    };
    Ok(DatabaseHereJson {
        name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        board: manifest.dimensions,
        scope: manifest.scope,
        metric: manifest.metric(),
        max_stones: manifest.max_stones(),
        bytes: layers.clone().map(|layer| layer.bytes).sum(),
        total: manifest.total(),
        histogram,
        layers: layers
            .map(|layer| LayerJson {
                stones: layer.stones,
                bytes: layer.bytes,
                counts: layer.counts,
            })
            .collect(),
    })
}

/// The answer of `proofs`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProofsJson {
    /// The proofs.
    pub proofs: Vec<ProofFile>,
}

/// Returns the proofs.
pub async fn proofs(State(explorer): SharedExplorer, _: Params<NoParams>) -> Json<ProofsJson> {
    Json(ProofsJson { proofs: explorer.files.proofs.clone() })
}
