//! `GET /api/v1/databases`: contents of the databases; `GET /api/v1/proofs`: the headers of the proofs.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::Shared;
use crate::web::files::ProofFile;
use crate::web::params::{NoParams, Params};
use crate::web::reply::Answer;
use konane::Dimensions;
use konane::tablebase::{Histogram, Manifest, Metric, PositionCounts, Scope};

/// The answer of `databases`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DatabasesJson {
    /// Those that can be read.
    pub databases: Vec<DatabaseHereJson>,
    /// Errors of the others.
    pub errors: Vec<String>,
}

/// A database.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DatabaseHereJson {
    /// Its directory's name.
    pub name: String,
    /// Ranks x files.
    pub board: Dimensions,
    /// `complete` or `reachable`.
    pub scope: Scope,
    /// `outcome`: who wins; `remoteness`: after how many plies as well.
    pub metric: Metric,
    /// The most stones of its positions.
    pub max_stones: u32,
    /// Bytes of its layers.
    pub bytes: u64,
    /// All layers together; none if they have 2^64 positions or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<PositionCounts>,
    /// With remoteness: the lengths of the games, over all positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// From 0 stones on.
    pub layers: Vec<LayerJson>,
}

/// The positions with some number of stones.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LayerJson {
    /// The stones.
    pub stones: u32,
    /// Bytes of the file.
    pub bytes: u64,
    /// Positions, and those that the side to move wins.
    #[serde(flatten)]
    pub counts: PositionCounts,
}

/// Returns the databases.
pub async fn databases(State(explorer): Shared, _: Params<NoParams>) -> Answer<DatabasesJson> {
    let listed = explorer.databases().await?;
    let (mut databases, mut errors) = (Vec::new(), Vec::new());
    for (path, manifest) in listed {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        match manifest {
            Ok(manifest) => databases.push(database(name, &manifest)),
            Err(error) => errors.push(error.to_string()),
        }
    }
    Ok(Json(DatabasesJson { databases, errors }))
}

fn database(name: String, manifest: &Manifest) -> DatabaseHereJson {
    let layers = manifest.layers.iter();
    DatabaseHereJson {
        name,
        board: manifest.dimensions,
        scope: manifest.scope,
        metric: manifest.metric(),
        max_stones: manifest.max_stones(),
        bytes: layers.clone().map(|layer| layer.bytes).sum(),
        total: manifest.total(),
        histogram: manifest.histogram.clone(),
        layers: layers
            .map(|layer| LayerJson {
                stones: layer.stones,
                bytes: layer.bytes,
                counts: layer.counts,
            })
            .collect(),
    }
}

/// The answer of `proofs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProofsJson {
    /// All of them.
    pub proofs: Vec<ProofFile>,
}

/// Returns the proofs.
pub async fn proofs(State(explorer): Shared, _: Params<NoParams>) -> Json<ProofsJson> {
    Json(ProofsJson { proofs: explorer.files.proofs.clone() })
}
