//! Schemas of the JSON that the program prints, and of the requests and answers of the API.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Map, json};

use crate::commands::bench::BenchJson;
use crate::commands::builddb::{BuildJson, ClassesJson};
use crate::commands::complexity::ComplexityJson;
use crate::commands::engine::{
    EngineAnswerJson, EngineCommand, EngineErrorJson, EngineProgressJson, EngineRequest,
    EngineVersionJson,
};
use crate::commands::perft::PerftJson;
use crate::commands::results;
use crate::commands::solve::SolveJson;
use crate::commands::sprouts::{
    AddedJson, CanonicalJson, ChildrenJson, ExportJson, GrundyJson, StatsJson, ValuesJson,
    VerifySprJson,
};
use crate::commands::statespace::StateSpaceJson;
use crate::commands::verify_proof::VerifyProofJson;
use crate::commands::verifydb::VerifyJson;
use crate::output::EndedJson;
use crate::repl::analyse::{AnalysisJson, AnswerJson};
use crate::trace::ProgressJson;
use konane::analysis::{GameAnnotation, Puzzle};
use konane::sprouts::SproutsSolution;
use konane::tablebase::{Plan, Probe};
use konane::value::{CensusRow, SumSolution, SumValue, ValuePlan};

/// docs/json.schema.json has the objects of the subcommands as properties, and all types, including those of the API, as
/// definitions. `INSTA_UPDATE=always` replaces it.
#[test]
fn the_published_schema_is_up_to_date() {
    // Formats such as uint32 are no formats of JSON Schema. Strict validators reject a schema that has them.
    let remove_format = RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
    });
    let settings = SchemaSettings::draft2020_12().with_transform(remove_format);
    let mut answers = settings.clone().for_serialize().into_generator();
    let mut commands = Map::new();
    macro_rules! printed {
        ($($name:literal: $type:ty),+ $(,)?) => {$(
            answers.subschema_for::<$type>();
            let reference = format!("#/$defs/{}", <$type>::schema_name());
            commands.insert($name.to_owned(), json!({ "$ref": reference }));
        )+};
    }
    printed! {
        "solve": SolveJson,
        "solve --add": SumSolution,
        "solve --trace": ProgressJson,
        "perft": PerftJson,
        "builddb": BuildJson,
        "builddb --plan": Plan,
        "builddb --classes": ClassesJson,
        "probe": Probe,
        "verifydb": VerifyJson,
        "verify-proof": VerifyProofJson,
        "statespace": StateSpaceJson,
        "value": SumValue,
        "value --plan": ValuePlan,
        "value --table": CensusRow,
        "complexity": ComplexityJson,
        "analyse": AnalysisJson,
        "analyse (other commands)": AnswerJson,
        "annotate": GameAnnotation,
        "puzzle": Puzzle,
        "results list": results::ListJson,
        "results merge": results::MergeJson,
        "results verify": results::VerifyJson,
        "engine": EngineAnswerJson,
        "engine (progress)": EngineProgressJson,
        "engine (error)": EngineErrorJson,
        "engine (version)": EngineVersionJson,
        "sprouts solve": SproutsSolution,
        "sprouts solve --trace": ProgressJson,
        "sprouts grundy": GrundyJson,
        "sprouts canonical": CanonicalJson,
        "sprouts children": ChildrenJson,
        "sprouts children --values": ValuesJson,
        "sprouts complexity": ComplexityJson,
        "sprouts verify": VerifySprJson,
        "sprouts db import": AddedJson,
        "sprouts db merge": AddedJson,
        "sprouts db export": ExportJson,
        "sprouts db stats": StatsJson,
        "bench": BenchJson,
        "annotate -, interrupted while it reads": EndedJson,
    }
    let mut requests = settings.for_deserialize().into_generator();
    requests.subschema_for::<EngineRequest>();
    requests.subschema_for::<EngineCommand>();
    #[cfg(feature = "explore")]
    crate::web::add_schemas(&mut answers, &mut requests);
    let mut types = answers.take_definitions(true);
    types.extend(requests.take_definitions(true));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JSON of konane",
        "description": "`properties` has the objects of the subcommands by their names.",
        "properties": commands,
        "$defs": types,
    });
    let schema = serde_json::to_string_pretty(&schema).expect("a JSON value can be written")
        + "
";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/json.schema.json");
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        fs::write(&path, &schema).expect("the file can be written");
    }
    assert!(
        fs::read_to_string(&path).expect("the file is text") == schema,
        "{path:?} is not up to date"
    );
}
