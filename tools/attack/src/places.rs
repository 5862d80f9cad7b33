//! Things that are no files, and too little of memory and disk.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::geteuid;

use crate::run::{Attack, Call, left_over};
use crate::samples::Samples;

/// A place where a file is read or written.
struct Place {
    args: &'static str,
    path: &'static str,
    /// What the program answers where it is a good file or none, if it writes it.
    writes: Option<&'static str>,
}

/// What checks the output; exit code 0.
const PROOF: Option<&str> = Some("verify-proof o.proof --quiet");
const NIMBERS: Option<&str> = Some("sprouts db stats o.nimbers");

const PLACES: [Place; 22] = [
    read("verify-proof 5x6.proof --quiet", "5x6.proof"),
    read("play 5x6 --proof 5x6.proof", "5x6.proof"),
    read("solve 5x6 --checkpoint table.ckpt --resume --quiet", "table.ckpt"),
    read("solve 5x6 --checkpoint tree.ckpt --resume --algo pns --quiet", "tree.ckpt"),
    read("verifydb db/4x4-complete --quiet", "db/4x4-complete/database.json"),
    read("verifydb db/4x4-complete --quiet", "db/4x4-complete/stones-08.kdb"),
    read("probe 4x4 --moves a4~a3 --db db", "db/4x4-complete/stones-14.kdb"),
    read("solve 4x4 --db db --quiet", "db/4x4-complete/database.json"),
    read("solve 4x4 --db db --quiet", "db/4x4-complete"),
    read("sprouts verify some.spr", "some.spr"),
    read("sprouts db stats some.nimbers", "some.nimbers"),
    read("sprouts db merge o.nimbers some.nimbers", "some.nimbers"),
    read("sprouts db import o.nimbers some.spr", "some.spr"),
    read("sprouts db export some.nimbers o.spr", "some.nimbers"),
    write("solve 5x6 --proof o.proof --quiet", "o.proof", PROOF),
    write(
        "solve 5x6 --checkpoint o.ckpt --quiet",
        "o.ckpt",
        Some("solve 5x6 --checkpoint o.ckpt --resume --quiet"),
    ),
    write("builddb 4x4 --out o --quiet", "o", Some("verifydb o/4x4-complete --quiet")),
    write(
        "builddb 4x4 --out db2 --quiet",
        "db2/4x4-complete/database.json",
        Some("verifydb db2/4x4-complete --quiet"),
    ),
    write("sprouts solve 0*6 --db o.nimbers --quiet", "o.nimbers", NIMBERS),
    write("sprouts db import o.nimbers some.spr", "o.nimbers", NIMBERS),
    write("sprouts db merge o.nimbers some.nimbers", "o.nimbers", NIMBERS),
    write("sprouts db export some.nimbers o.spr", "o.spr", Some("sprouts verify o.spr")),
];

const fn read(args: &'static str, path: &'static str) -> Place {
    Place { args, path, writes: None }
}

const fn write(args: &'static str, path: &'static str, check: Option<&'static str>) -> Place {
    Place { args, path, writes: check }
}

/// Puts something at a path; what it is, or nothing if that cannot be done here.
fn put(attack: &mut Attack, path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        fs::remove_dir_all(path).expect("a folder of samples");
    } else if path.exists() {
        fs::remove_file(path).expect("a sample");
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let device = |minor| {
        geteuid().is_root()
            && mknodat(CWD, path, FileType::CharacterDevice, Mode::from(0o666), makedev(1, minor))
                .is_ok()
    };
    let node = match attack.random.below(9) {
        0 | 1 => {
            mknodat(CWD, path, FileType::Fifo, Mode::from(0o666), 0).expect("a FIFO");
            "FIFO"
        }
        2 => {
            fs::create_dir(path).expect("a folder");
            fs::write(path.join("full"), "x").expect("a file");
            "folder"
        }
        3 => {
            drop(UnixListener::bind(path).ok()?);
            "socket"
        }
        4 => {
            symlink("nowhere/else", path).expect("a link");
            "link to nothing"
        }
        5 => {
            symlink(path.file_name().expect("a name"), path).expect("a link");
            "link to itself"
        }
        6 => {
            fs::write(path, "").expect("a file");
            "empty file"
        }
        7 if device(3) => "null device",
        8 if device(7) => "full device",
        _ => {
            attack.skip("devices, which need root");
            return None;
        }
    };
    Some(node)
}

/// The kind of what is at a path, as a word.
fn kind_at(path: &Path) -> &'static str {
    match fs::symlink_metadata(path).map(|data| data.file_type()) {
        Ok(kind) if kind.is_fifo() => "FIFO",
        Ok(kind) if kind.is_char_device() => "device",
        Ok(kind) if kind.is_socket() => "socket",
        Ok(kind) if kind.is_symlink() => "link",
        Ok(kind) if kind.is_dir() => "folder",
        Ok(_) => "file",
        Err(_) => "nothing",
    }
}

pub fn places(attack: &mut Attack, samples: &Samples) {
    while attack.goes_on() {
        let place = attack.random.pick(&PLACES);
        let folder = attack.folder();
        samples.copy(folder.path());
        let path = folder.path().join(place.path);
        let Some(node) = put(attack, &path) else {
            continue;
        };
        let before = kind_at(&path);
        let end = attack.run(place.args, folder.path());
        let after = kind_at(&path);
        // A file and a link may be replaced by the output; a FIFO, a device, a folder may not.
        let replaced = before != after && !["file", "link"].contains(&before);
        let pretends = match place.writes {
            // An empty log is one that nothing has been written to yet; nothing else here is good.
            None => {
                end.code == Some(0) && !(node == "empty file" && place.path.ends_with(".nimbers"))
            }
            Some(check) => {
                end.code == Some(0)
                    && after == "file"
                    && attack.run(check, folder.path()).code != Some(0)
            }
        };
        let fault = end
            .fault()
            .or_else(|| replaced.then(|| format!("{node} became {after}")))
            .or_else(|| pretends.then(|| format!("exit code 0 with a {node}")))
            .or_else(|| left_over(folder.path()));
        let what = if place.writes.is_some() { "outputs" } else { "inputs" };
        let story = format!("{node} at {}, konane {}", place.path, place.args);
        attack.count(what, &end, fault, &story);
    }
}

/// Verbs that need no files, to be run with little memory, and onto a standard output that is full.
const VERBS: [&str; 12] = [
    "solve 5x6 --threads 2",
    "solve 5x6 --algo pns --memory 64MiB --json",
    "solve 5x6 --algo pn2 --threads 2",
    "solve 5x6 --algo ab",
    "solve 5x6 --algo pns-pdfpn --threads 3",
    "perft 6x6 8 --threads 2",
    "perft 5x5 8 --unique",
    "statespace 4x4",
    "sprouts solve 0*9 --threads 2",
    "sprouts grundy 0*7",
    "sprouts children 0*5 --json",
    "help solve",
];

/// KiB of address space: with less than 13 MiB, the loader or an allocation of the runtime ends the
/// process before anything is searched or read.
const LEAST_MEMORY: u64 = 16 << 10;

pub fn limits(attack: &mut Attack, samples: &Samples) {
    let writing: Vec<&Place> = PLACES.iter().filter(|place| place.writes.is_some()).collect();
    while attack.goes_on() {
        let folder = attack.folder();
        samples.copy(folder.path());
        let place = *attack.random.pick(&writing);
        let mut call = Call { args: place.args.to_string(), ..Call::default() };
        let mut checked = true;
        let what = match attack.random.below(5) {
            0 => {
                call.file = Some(attack.random.below(200) as u64);
                "longest file"
            }
            1 => {
                call.memory = Some(LEAST_MEMORY + attack.random.below(1 << 19) as u64);
                if attack.random.below(2) == 0 {
                    call.args = attack.random.pick(&VERBS).to_string();
                    checked = false;
                }
                "address space"
            }
            2 => {
                let full = folder.path().join("full-device");
                let mode = Mode::from(0o666);
                let made = mknodat(CWD, &full, FileType::CharacterDevice, mode, makedev(1, 7));
                if !geteuid().is_root() || made.is_err() {
                    attack.skip("a standard output that is full, which needs root");
                    continue;
                }
                call.args = attack.random.pick(&VERBS).to_string();
                call.stdout = Some(full);
                checked = false;
                "full standard output"
            }
            3 => {
                // Whoever may not write to a folder; root may, and becomes nobody.
                for path in crate::run::names(folder.path()) {
                    let path = folder.path().join(path);
                    let mode = if path.is_dir() { 0o555 } else { 0o444 };
                    fs::set_permissions(path, fs::Permissions::from_mode(mode))
                        .expect("permissions");
                }
                for above in folder.path().ancestors().take(2) {
                    let mode = fs::Permissions::from_mode(0o755);
                    fs::set_permissions(above, mode).expect("permissions");
                }
                let mode = fs::Permissions::from_mode(0o555);
                fs::set_permissions(folder.path(), mode).expect("permissions");
                call.as_nobody = geteuid().is_root();
                "read-only folder"
            }
            _ => {
                // The output goes to a small disk of its own.
                for output in [" o.", " o ", " db2 "] {
                    let on_disk = format!(" disk/{}", output.trim_start());
                    call.args = call.args.replace(output, &on_disk);
                }
                call.disk = Some(4 * (1 + attack.random.below(40)) as u64);
                "full disk"
            }
        };
        let end = attack.call(&call, folder.path());
        if call.disk.is_some() && end.had_no_disk() {
            attack.skip("full disks, which need a mount of one's own");
            continue;
        }
        let writable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(folder.path(), writable).expect("permissions");
        let path = folder.path().join(place.path);
        // What stands is whole, whatever was answered.
        let unlike = checked
            && path.is_file()
            && attack.run(place.writes.expect("it writes"), folder.path()).code != Some(0);
        let lost = what == "full standard output" && end.code == Some(0);
        // A search that has its answer needs no checkpoint; that there is none is a warning.
        let needed = !place.path.ends_with(".ckpt");
        let onto_nothing = checked && needed && end.code == Some(0) && !path.exists();
        let fault = end
            .fault()
            .or_else(|| lost.then(|| "exit code 0 though nothing could be printed".to_string()))
            .or_else(|| onto_nothing.then(|| "exit code 0 without the output".to_string()))
            .or_else(|| unlike.then(|| "output not whole".to_string()))
            .or_else(|| left_over(folder.path()));
        let story =
            format!("{:?} {:?} {:?} konane {}", call.file, call.memory, call.disk, call.args);
        attack.count(what, &end, fault, &story);
    }
}
