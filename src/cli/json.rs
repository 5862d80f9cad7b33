//! The JSON objects of the verbs, as types: what `--json` writes can be read back into them.

pub use super::analyse::AnswerJson;
pub use super::annotate::{AnnotatedMoveJson, AnnotationJson, SideJson, SummaryJson};
pub use super::bench::{BenchItemJson, BenchJson};
pub use super::builddb::{BuildJson, PlanJson};
pub use super::judged::{AnalysisJson, JudgedMoveJson};
pub use super::output::{EndedJson, TableJson};
pub use super::perft::{DivideJson, PerftJson};
pub use super::probe::{MoveJson, ProbeJson};
pub use super::solve::{CheckpointJson, ProofJson, SolveJson, TotalJson};
pub use super::sprouts::{
    AddedJson, CanonicalJson, ChildrenJson, DatabaseJson, ExportJson, GrundyJson, ProblemJson,
    SearchedJson, SproutsMoveJson, SproutsSolveJson, StatsJson, ValuesJson, VerifySprJson,
};
pub use super::statespace::{CountsJson, PlyJson, StateSpaceJson};
pub use super::trace::{TraceJson, TraceMoveJson};
pub use super::verify_proof::VerifyProofJson;
pub use super::verifydb::VerifyJson;
