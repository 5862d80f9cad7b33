//! `konane sprouts`.

use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::CliError;
use super::exit::Exit;
use super::output;
use crate::sprouts::{Position, Scratch, Sprouts};

pub mod args;
pub mod db;
mod draw;
pub mod grundy;
pub mod session;
pub mod solve;
mod verify;

use args::{PositionArgs, SproutsArgs, SproutsCommand};

/// Bytes that the tables of `canonical` and `children` may take. A position that a person writes
/// needs a small part of it.
const MEMORY: u64 = 2 << 30;

/// Does what the arguments say.
pub fn run(args: &SproutsArgs, stop: &AtomicBool) -> Result<Exit, CliError> {
    match &args.command {
        SproutsCommand::Solve(args) => solve::run(args, stop),
        SproutsCommand::Grundy(args) => grundy::run(args, stop),
        SproutsCommand::Db(args) => db::run(args),
        SproutsCommand::Canonical(args) => canonical(args),
        SproutsCommand::Children(args) => children(args),
        SproutsCommand::Verify(args) => verify::run(args, stop),
        SproutsCommand::Draw(args) => draw::run(args),
    }
}

/// The JSON of `sprouts canonical`.
#[derive(Debug, Serialize)]
struct CanonicalJson<'a> {
    position: &'a str,
    canonical: String,
}

/// The JSON of `sprouts children`.
#[derive(Debug, Serialize)]
struct ChildrenJson<'a> {
    position: &'a str,
    children: Vec<String>,
}

fn canonical(args: &PositionArgs) -> Result<Exit, CliError> {
    let position: Position = args.position.parse()?;
    let game = Sprouts::new(MEMORY);
    let sum = game.atoms(&position, &mut Scratch::default())?;
    let canonical = game.text(&sum);
    if args.json {
        output::write_json(&CanonicalJson { position: args.position.trim_ascii(), canonical })?;
    } else {
        output::write_text(&(canonical + "\n"))?;
    }
    Ok(Exit::Answered)
}

fn children(args: &PositionArgs) -> Result<Exit, CliError> {
    let position: Position = args.position.parse()?;
    let game = Sprouts::new(MEMORY);
    let mut scratch = Scratch::default();
    let sum = game.atoms(&position, &mut scratch)?;
    let children = game.children(&sum, &mut scratch)?;
    let mut children: Vec<String> = children.iter().map(|child| game.text(child)).collect();
    children.sort_unstable();
    if args.json {
        output::write_json(&ChildrenJson { position: args.position.trim_ascii(), children })?;
    } else {
        let lines: String = children.into_iter().map(|child| child + "\n").collect();
        output::write_text(&lines)?;
    }
    Ok(Exit::Answered)
}
