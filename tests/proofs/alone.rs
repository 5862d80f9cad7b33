//! The checker compiled alone: what is checked must not rest on what it checks. Whatever it imported
//! from the rest of the crate would not be here.

#[path = "../../src/proof/check/mod.rs"]
#[allow(dead_code)]
mod check;

use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use konane::Position;

use crate::samples::{board, bytes_of, proof};

#[test]
fn the_checker_alone_tells_a_proof_from_none() {
    let board = board("4x5");
    let found = proof(&board, &Position::start(&board));
    let codes = &found.certificate.codes;
    let flaw = |codes: &[u64]| {
        let header = konane::proof::ProofHeader { positions: codes.len() as u64, ..found.header };
        let bytes = Cursor::new(bytes_of(&header, codes));
        let mut reader = check::reader::ProofReader::new(Path::new("a file"), bytes).unwrap();
        check::verify::verify(&mut reader, &|_, _| {}, &AtomicBool::new(false)).unwrap().flaw
    };
    assert_eq!(flaw(codes), None);
    assert!(flaw(&codes[1..]).is_some());
}
