//! `konane json-schema`: the schemas of the JSON that the program prints, and of the API's requests and
//! answers. docs/json.schema.json is its output.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::commands::annotate::AnnotationJson;
use crate::commands::bench::BenchJson;
use crate::commands::builddb::{BuildJson, PlanJson};
use crate::commands::perft::PerftJson;
use crate::commands::solve::SolveJson;
use crate::commands::sprouts::{
    AddedJson, CanonicalJson, ChildrenJson, ExportJson, GrundyJson, SproutsSolveJson, StatsJson,
    ValuesJson, VerifySprJson,
};
use crate::commands::statespace::StateSpaceJson;
use crate::commands::verify_proof::VerifyProofJson;
use crate::commands::verifydb::VerifyJson;
use crate::exit::{CliError, Exit};
use crate::output::{self, EndedJson};
use crate::repl::analyse::{AnalysisJson, AnswerJson};
use crate::trace::ProgressJson;
use konane::tablebase::Probe;

/// Type of the objects that a subcommand prints.
struct Printed {
    /// The subcommand, and an option that changes the object.
    name: &'static str,
    add: fn(&mut SchemaGenerator) -> String,
}

const fn printed<T: JsonSchema>(name: &'static str) -> Printed {
    Printed { name, add: |generator| type_name::<T>(generator) }
}

/// Adds a type to the definitions and returns its name there.
fn type_name<T: JsonSchema>(generator: &mut SchemaGenerator) -> String {
    generator.subschema_for::<T>();
    T::schema_name().into_owned()
}

/// All objects of the command line.
const PRINTED: &[Printed] = &[
    printed::<SolveJson>("solve"),
    printed::<ProgressJson>("solve --trace"),
    printed::<PerftJson>("perft"),
    printed::<BuildJson>("builddb"),
    printed::<PlanJson>("builddb --plan"),
    printed::<Probe>("probe"),
    printed::<VerifyJson>("verifydb"),
    printed::<VerifyProofJson>("verify-proof"),
    printed::<StateSpaceJson>("statespace"),
    printed::<AnalysisJson>("analyse"),
    printed::<AnswerJson>("analyse (other commands)"),
    printed::<AnnotationJson>("annotate"),
    printed::<SproutsSolveJson>("sprouts solve"),
    printed::<ProgressJson>("sprouts solve --trace"),
    printed::<GrundyJson>("sprouts grundy"),
    printed::<CanonicalJson>("sprouts canonical"),
    printed::<ChildrenJson>("sprouts children"),
    printed::<ValuesJson>("sprouts children --values"),
    printed::<VerifySprJson>("sprouts verify"),
    printed::<AddedJson>("sprouts db import"),
    printed::<AddedJson>("sprouts db merge"),
    printed::<ExportJson>("sprouts db export"),
    printed::<StatsJson>("sprouts db stats"),
    printed::<BenchJson>("bench"),
    printed::<EndedJson>("annotate -, interrupted while it reads"),
];

/// Prints one JSON Schema: the objects of the subcommands as its properties, and all types, those of
/// the API included, as definitions. A hidden subcommand for the generator of the documentation.
pub fn run() -> Result<Exit, CliError> {
    let mut answers = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let commands: Map<String, Value> = PRINTED
        .iter()
        .map(|Printed { name, add }| {
            ((*name).to_owned(), json!({ "$ref": format!("#/$defs/{}", add(&mut answers)) }))
        })
        .collect();
    let mut requests = SchemaSettings::draft2020_12().for_deserialize().into_generator();
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
    let text = serde_json::to_string_pretty(&schema).expect("a JSON value can be written");
    output::write_text(&(text + "\n"))?;
    Ok(Exit::Answered)
}
