//! Texts: positions of Sprouts spelt otherwise, and texts of both games that are wrong or huge.

use std::fs;

use crate::run::{Attack, Call, End, Random, left_over};

/// Spells a position otherwise: other names, another order of lands, regions and boundaries, boundaries
/// begun elsewhere and regions turned over.
fn respelled(text: &str, random: &mut Random) -> String {
    let mut lands: Vec<String> = text.split('+').map(|land| respelled_land(land, random)).collect();
    random.shuffle(&mut lands);
    lands.join("+")
}

fn respelled_land(land: &str, random: &mut Random) -> String {
    let names = |first: u8, random: &mut Random| {
        let mut names: Vec<char> = (first..first + 26).map(char::from).collect();
        random.shuffle(&mut names);
        names
    };
    let upper = names(b'A', random);
    let mut regions = Vec::new();
    for region in land.split('|') {
        let turned = random.below(2) == 0;
        let mut boundaries = Vec::new();
        for boundary in region.split('.') {
            if let Some(spots) = boundary.strip_prefix("0*") {
                let spots: usize = spots.parse().expect("a number of spots");
                boundaries.extend(std::iter::repeat_n("0".to_string(), spots));
                continue;
            }
            let lower = names(b'a', random);
            let mut vertices: Vec<char> = boundary
                .chars()
                .map(|vertex| match vertex {
                    'A'..='Z' => upper[usize::from(vertex as u8 - b'A')],
                    'a'..='z' => lower[usize::from(vertex as u8 - b'a')],
                    other => other,
                })
                .collect();
            let start = random.below(vertices.len().max(1));
            vertices.rotate_left(start);
            if turned {
                vertices.reverse();
            }
            boundaries.push(vertices.into_iter().collect());
        }
        random.shuffle(&mut boundaries);
        regions.push(boundaries.join("."));
    }
    random.shuffle(&mut regions);
    regions.join("|")
}

fn call(verb: &str, text: &str, json: bool) -> Call {
    let mut more = vec!["--".to_string(), text.to_string()];
    if json {
        more.insert(0, "--json".to_string());
    }
    Call { args: verb.to_string(), more, memory: Some(2 << 20), ..Call::default() }
}

/// Texts that ask for much.
const HUGE: [&str; 14] = [
    "0*0",
    "0*1000000",
    "0*4294967296",
    "0*18446744073709551616",
    "0*99999999999999999999999999",
    "a(4294967295)a(4294967295)",
    "A(99999999999)|A(99999999999)",
    "n(0)n(0)",
    "AB|AB|AB",
    "aaaa",
    "+",
    "||||....++++",
    "!+!",
    "\u{feff}0*2",
];

/// A text with some characters changed, gone or more.
fn malformed(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    const SIGNS: &str = "0123aAbBzZ*.|+!()}] \t-é0*9";
    let signs: Vec<char> = SIGNS.chars().collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(chars.len() + 1);
        match random.below(4) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at < chars.len() => chars[at] = *random.pick(&signs),
            2 => {
                let part: Vec<char> = chars[..at].to_vec();
                let times = 1 + random.below(30);
                part.iter().cycle().take(part.len() * times).for_each(|&sign| chars.push(sign));
                chars.truncate(100_000);
            }
            _ => chars.insert(at, *random.pick(&signs)),
        }
    }
    chars.into_iter().filter(|&sign| sign != '\0').collect()
}

pub fn texts(attack: &mut Attack) {
    // Where the walk through the moves of a start is.
    let mut at = "0*4".to_string();
    while attack.goes_on() {
        let folder = attack.folder();
        let folder = folder.path();
        match attack.random.below(6) {
            0..3 => {
                // With names beyond the letters the respelling would have to know more.
                if at.contains('(') || at == "!" || at.len() > 60 {
                    at = format!("0*{}", 2 + attack.random.below(7));
                }
                let text = respelled(&at, &mut attack.random);
                let canonical = |end: &End| end.member("canonical");
                let one = attack.call(&call("sprouts canonical", &at, true), folder);
                let other = attack.call(&call("sprouts canonical", &text, true), folder);
                let unlike = canonical(&one).is_none() || canonical(&one) != canonical(&other);
                let fault = one.fault().or_else(|| other.fault());
                let fault = fault.or_else(|| unlike.then(|| "another canonical form".to_string()));
                attack.count("Sprouts, respelled", &other, fault, &format!("{at} as {text}"));
                let end = attack.call(&call("sprouts children", &at, true), folder);
                let children: Vec<String> = serde_json::from_str::<serde_json::Value>(&end.stdout)
                    .ok()
                    .and_then(|json| serde_json::from_value(json["children"].clone()).ok())
                    .unwrap_or_default();
                at = match children.is_empty() {
                    true => format!("0*{}", 2 + attack.random.below(7)),
                    false => attack.random.pick(&children).clone(),
                };
            }
            3 => {
                let text = match attack.random.below(3) {
                    0 => attack.random.pick(&HUGE).to_string(),
                    _ => malformed(&at, &mut attack.random),
                };
                let verb = *attack.random.pick(&[
                    "sprouts canonical",
                    "sprouts draw",
                    "sprouts solve --max-nodes 100 --memory 64MiB --quiet --threads 1",
                    "sprouts grundy --max-nodes 100 --memory 64MiB --quiet --threads 1",
                ]);
                let end = attack.call(&call(verb, &text, false), folder);
                let short: String = text.chars().take(200).collect();
                attack.count("Sprouts, malformed", &end, end.fault(), &format!("{verb} {short:?}"));
            }
            4 => {
                // Lines of a .spr file, up to 10 MB together.
                let mut text = String::from("[Positions+Nimber]\n");
                let most = 1 << (10 + attack.random.below(14));
                let unit = *attack
                    .random
                    .pick(&["0.", "A", "1a2a.", "AB|AB|", "0*9.", "(", "0+", "\u{e9}"]);
                if attack.random.below(2) == 0 {
                    text += &unit.repeat(most / unit.len());
                    text += " 0\n";
                } else {
                    while text.len() < most {
                        let line = malformed(&at, &mut attack.random);
                        text += &format!("{line} {}\n", attack.random.below(4));
                    }
                }
                text.truncate(
                    (0..=10_000_000.min(text.len()))
                        .rev()
                        .find(|&end| text.is_char_boundary(end))
                        .unwrap_or(0),
                );
                fs::write(folder.join("huge.spr"), &text).expect("a file");
                let verb = *attack.random.pick(&[
                    "sprouts verify huge.spr --max-work 10000 --memory 64MiB",
                    "sprouts db import o.nimbers huge.spr",
                ]);
                let limited =
                    Call { args: verb.to_string(), memory: Some(2 << 20), ..Call::default() };
                let end = attack.call(&limited, folder);
                let fault = end.fault().or_else(|| left_over(folder));
                let story = format!("{} bytes of {unit:?} or lines, {verb}", text.len());
                attack.count("Sprouts, files", &end, fault, &story);
            }
            _ => {
                let good = ["xox/oxo/xox b", "xoxo/ox1x/x1xo/oxox b", "64 w", "a4 a3", "c3-g3"];
                let text = malformed(good[attack.random.below(good.len())], &mut attack.random);
                let mut limited = match attack.random.below(3) {
                    0 => call("solve 4x4 --max-nodes 1000 --quiet --position", &text, false),
                    1 => call("solve 4x4 --max-nodes 1000 --quiet --moves", &text, false),
                    _ => call("perft 4x4 2 --position", &text, false),
                };
                // The text belongs to the flag.
                limited.more.remove(0);
                let end = attack.call(&limited, folder);
                let short: String = text.chars().take(200).collect();
                attack.count(
                    "Konane, malformed",
                    &end,
                    end.fault(),
                    &format!("{} {short:?}", limited.args),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_respelling_has_the_same_signs() {
        let attack = "0*2.AB|1aBA2a";
        let mut random = Random::new(7);
        for _ in 0..100 {
            let text = respelled(attack, &mut random);
            let count =
                |text: &str, keep: fn(char) -> bool| text.chars().filter(|&c| keep(c)).count();
            assert_eq!(count(&text, |c| c.is_ascii_uppercase()), 4, "{text}");
            assert_eq!(count(&text, |c| c.is_ascii_lowercase()), 2, "{text}");
            assert_eq!(count(&text, |c| c == '0'), 2, "{text}");
            assert_eq!(text.matches('|').count(), 1, "{text}");
        }
    }
}
