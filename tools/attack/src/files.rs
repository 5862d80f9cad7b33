//! Damaged and forged files.

use std::fs;
use std::path::Path;

use crate::formats::{Format, manifest_of};
use crate::run::{Attack, Call, End, Random, left_over};
use crate::samples::{Reader, Samples};

/// Most address space of a program that reads a file that is not to be trusted, in KiB.
const ENOUGH: u64 = 2 << 20;

/// Changes bytes somewhere; what was done.
fn change(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let at = random.below(bytes.len());
    // Headers and footers matter more than their share.
    let at = match random.below(4) {
        0 => at.min(at % 400),
        1 => bytes.len() - 1 - at % 100.min(bytes.len()),
        _ => at,
    };
    match random.below(8) {
        0..3 => {
            bytes[at] ^= 1 << random.below(8);
            "flip"
        }
        3 => {
            bytes.truncate(at);
            "cut"
        }
        4 => {
            let more = 1 + random.below(4096);
            let byte = *random.pick(&[0, b'\n', 0xFF]);
            bytes.resize(bytes.len() + more, byte);
            "more"
        }
        5 => {
            let end = (at + 1 + random.below(4096)).min(bytes.len());
            bytes[at..end].fill(*random.pick(&[0, 0xFF]));
            "fill"
        }
        6 => {
            let end = (at + 8).min(bytes.len());
            let absurd: u64 = *random.pick(&[u64::MAX, 1 << 63, 1 << 40, 1 << 32, u64::MAX >> 1]);
            bytes[at..end].copy_from_slice(&absurd.to_le_bytes()[..end - at]);
            "absurd number"
        }
        _ => {
            let from = random.below(bytes.len());
            let length = (1 + random.below(4096)).min(bytes.len() - from);
            let part = bytes[from..from + length].to_vec();
            bytes.splice(at..at, part);
            "part twice"
        }
    }
}

/// Puts other bytes in place of a sample.
fn write(folder: &Path, path: &str, bytes: &[u8]) {
    fs::write(folder.join(path), bytes).expect("a file in the folder of the try");
}

fn read(attack: &Attack, reader: &Reader, folder: &Path) -> End {
    let call = Call {
        args: reader.args.to_string(),
        input: reader.input.as_bytes().to_vec(),
        memory: Some(ENOUGH),
        ..Call::default()
    };
    attack.call(&call, folder)
}

/// Whether the answer, if there is one, is right.
fn wrong_answer(reader: &Reader, end: &End) -> Option<String> {
    let (member, right) = reader.right;
    if member.is_empty() || end.code != Some(0) {
        return None;
    }
    let answer = end.member(member).unwrap_or_else(|| "nothing".to_string());
    (answer != right).then(|| format!("wrong answer {answer}"))
}

pub fn damage(attack: &mut Attack, samples: &Samples) {
    while attack.goes_on() {
        let sample = attack.random.pick(&samples.all);
        let reader = attack.random.pick(&sample.readers);
        let folder = attack.folder();
        samples.copy(folder.path());
        let good = fs::read(folder.path().join(sample.path)).expect("a sample");
        let mut bytes = good.clone();
        let done = change(&mut bytes, &mut attack.random);
        write(folder.path(), sample.path, &bytes);
        let end = read(attack, reader, folder.path());
        // A torn end of Grundy numbers is what a killed program leaves, and is cut off; so is one
        // that grew by part of a frame. A text has no checksum.
        let may_pass = sample.format == Format::Text
            || sample.format == Format::GrundyNumbers && bytes.len() != good.len()
            || sample.format == Format::GrundyNumbers && end.stderr.contains("cut");
        let missed = reader.reads_all && bytes != good && end.code == Some(0) && !may_pass;
        let fault = end
            .fault()
            .or_else(|| wrong_answer(reader, &end))
            .or_else(|| missed.then(|| "damage not found".to_string()))
            .or_else(|| left_over(folder.path()));
        let story = format!("{done} in {}, konane {}", sample.path, reader.args);
        attack.count(sample.what, &end, fault, &story);
    }
}

pub fn forged(attack: &mut Attack, samples: &Samples) {
    while attack.goes_on() {
        let sample = attack.random.pick(&samples.all);
        let reader = attack.random.pick(&sample.readers);
        let folder = attack.folder();
        samples.copy(folder.path());
        let mut bytes = fs::read(folder.path().join(sample.path)).expect("a sample");
        let frames = sample.format.frames(&bytes);
        let done = match attack.random.below(4) {
            0 if !frames.is_empty() => {
                let frame = attack.random.pick(&frames).clone();
                let bomb = vec![0; 1 << (10 + attack.random.below(19))];
                sample.format.replace_frame(&mut bytes, frame, &bomb);
                "zeros in a frame"
            }
            1 | 2 if !frames.is_empty() => {
                let frame = attack.random.pick(&frames).clone();
                let content = zstd::stream::decode_all(&bytes[frame.0.clone()]);
                let mut content = content.expect("a frame of a good file");
                if !content.is_empty() {
                    let at = attack.random.below(content.len());
                    content[at] ^= 1 << attack.random.below(8);
                }
                sample.format.replace_frame(&mut bytes, frame, &content);
                "values"
            }
            _ => change(&mut bytes, &mut attack.random),
        };
        sample.format.seal(&mut bytes);
        write(folder.path(), sample.path, &bytes);
        if sample.format == Format::Layer {
            let (database, name) = sample.path.rsplit_once('/').expect("a layer is in a folder");
            let manifest = folder.path().join(database).join("database.json");
            let mut text = fs::read(&manifest).expect("a manifest");
            manifest_of(&mut text, name, &bytes);
            fs::write(manifest, text).expect("a manifest");
        }
        let end = read(attack, reader, folder.path());
        // Values with the right checksums are believed by those that do not prove; a proof is not.
        let believed = !reader.args.starts_with("verify-proof")
            || end
                .member("root")
                .is_some_and(|root| root != "xoxoxo/oxoxox/xoxoxo/oxoxox/xoxoxo b");
        let fault = end
            .fault()
            .or_else(|| wrong_answer(reader, &end).filter(|_| !believed))
            .or_else(|| left_over(folder.path()));
        let story = format!("{done} in {}, konane {}", sample.path, reader.args);
        attack.count(sample.what, &end, fault, &story);
    }
}
