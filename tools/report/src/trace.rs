//! The figure of one search: what `konane solve --trace` has written.

use std::error::Error;

use konane::TableUse;
use serde::Deserialize;

use crate::figures::{ABOVE, BELOW, HEADING, LEFT_OF, RIGHT_OF, part};
use crate::svg::{At, COLOURS, GRID, INK, Svg};
use crate::text::short;

/// Left and right edge of both panels.
const EDGES: (i32, i32) = (80, 930);

/// A line of a trace, as far as the figure needs it.
#[derive(Debug, Deserialize)]
pub struct Line {
    seconds: f64,
    nodes: u64,
    /// Null if infinite; absent for α-β.
    pn: Option<u32>,
    dn: Option<u32>,
    table: TableUse,
}

/// Reads a file, one object a line.
pub fn parse(text: &str) -> Result<Vec<Line>, Box<dyn Error>> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))?;
        lines.push(line);
    }
    if lines.is_empty() {
        return Err("there is no line in it".into());
    }
    Ok(lines)
}

/// The root's numbers on a logarithmic scale, and how full the table is, over time.
pub fn figure(lines: &[Line]) -> String {
    let mut svg = Svg::new((960, 560));
    let last = lines.last().expect("a trace has a line");
    let end = last.seconds.max(1e-3);
    let (left, right) = EDGES;
    let x = |seconds: f64| left + (seconds / end * f64::from(right - left)).round() as i32;

    let pn: Vec<_> = lines.iter().map(|line| (line.seconds, line.pn)).collect();
    let dn: Vec<_> = lines.iter().map(|line| (line.seconds, line.dn)).collect();
    svg.text("Numbers of the root", (left, 14), 17, HEADING);
    let outcome = match (pn[pn.len() - 1].1, dn[dn.len() - 1].1) {
        (Some(0), _) => "proven: the side to move wins",
        (_, Some(0)) => "proven: the side to move loses",
        _ => "not proven",
    };
    let words = format!("{} nodes, {outcome}", short(last.nodes as f64));
    svg.text(&words, (left + 520, 24), 14, RIGHT_OF);
    for (at, words, colour) in
        [(230, "proof number", COLOURS[0]), (370, "disproof number", COLOURS[1])]
    {
        svg.line(&[(left + at - 30, 24), (left + at - 6, 24)], colour, 1.0, 3);
        svg.text(words, (left + at, 24), 14, RIGHT_OF);
    }
    let step = step(end);
    for tick in 0..=(end / step) as i32 {
        let seconds = f64::from(tick) * step;
        for (top, bottom) in [(50, 330), (390, 500)] {
            svg.line(&[(x(seconds), top), (x(seconds), bottom)], GRID, 1.0, 1);
        }
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        svg.text(&format!("{seconds:.decimals$}"), (x(seconds), 508), 13, BELOW);
    }
    let (top, bottom) = (50, 330);
    let greatest = pn.iter().chain(&dn).filter_map(|&(_, number)| number).max().unwrap_or(1);
    // The power of ten above all numbers; 10 at least, so that there is a scale.
    let exponent = f64::from(greatest.max(2)).log10().ceil() as i32;
    let y = |number: u32| {
        let part = part(f64::from(number.max(1)), 1.0, 10f64.powi(exponent));
        bottom - (part * f64::from(bottom - top)).round() as i32
    };
    for exponent in 0..=exponent {
        let number = 10u32.pow(exponent as u32);
        svg.line(&[(left, y(number)), (right, y(number))], GRID, 1.0, 1);
        svg.text(&short(f64::from(number)), (left - 8, y(number)), 13, LEFT_OF);
    }
    for (numbers, colour) in [(pn, COLOURS[0]), (dn, COLOURS[1])] {
        // Infinite numbers, and those of a proof, have no place on the scale: the line ends there.
        let open = |number: Option<u32>| number.filter(|&number| number > 0);
        for run in numbers.split(|&(_, number)| open(number).is_none()) {
            let points = run.iter().map(|&(seconds, number)| (x(seconds), y(number.unwrap_or(1))));
            svg.line(&one_a_column(points), colour, 1.0, 2);
        }
    }

    let (top, bottom) = (390, 500);
    svg.text("Table entries in use", (left, top - 30), 17, HEADING);
    let capacity = lines.iter().map(|line| line.table.capacity).max().unwrap_or(0).max(1);
    let words = format!("of {}", short(capacity as f64));
    svg.text(&words, (left + 175, top - 20), 14, RIGHT_OF);
    let y = |part: f64| bottom - (part.min(1.0) * f64::from(bottom - top)).round() as i32;
    for percent in [0, 50, 100] {
        let at = y(f64::from(percent) / 100.0);
        svg.line(&[(left, at), (right, at)], GRID, 1.0, 1);
        svg.text(&format!("{percent} %"), (left - 8, at), 13, LEFT_OF);
    }
    let fill = lines.iter().map(|line| line.table.used as f64 / capacity as f64);
    let points = lines.iter().zip(fill).map(|(line, fill)| (x(line.seconds), y(fill)));
    svg.line(&one_a_column(points), COLOURS[2], 1.0, 2);

    for bottom in [330, bottom] {
        svg.line(&[(left, bottom), (right, bottom)], INK, 1.0, 1);
    }
    svg.text("seconds", ((left + right) / 2, bottom + 48), 13, ABOVE);
    svg.finish()
}

/// The last point of each column of pixels.
fn one_a_column(points: impl Iterator<Item = At>) -> Vec<At> {
    let mut kept: Vec<At> = Vec::new();
    for point in points {
        match kept.last_mut() {
            Some(last) if last.0 == point.0 => *last = point,
            _ => kept.push(point),
        }
    }
    kept
}

/// The distance of marks on an axis of this length: 1, 2 or 5 times a power of ten, ten marks at most.
fn step(length: f64) -> f64 {
    let power = 10f64.powf((length / 10.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|of| of * power)
        .into_iter()
        .find(|s| length / s <= 10.0)
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_numbers_are_infinite() {
        let text = "\
            {\"seconds\":0.001,\"nodes\":1,\"pn\":5,\"dn\":70,\"table\":{\"capacity\":400,\"used\":1,\"replaced\":0}}\n\
            {\"seconds\":1.0,\"nodes\":900,\"pn\":50,\"dn\":7000,\"table\":{\"capacity\":400,\"used\":99,\"replaced\":0}}\n\
            {\"seconds\":2.5,\"nodes\":2000,\"pn\":0,\"dn\":null,\"table\":{\"capacity\":400,\"used\":200,\"replaced\":0}}\n";
        let svg = figure(&parse(text).unwrap());
        assert!(svg.contains("2.00 k nodes, proven: the side to move wins"), "{svg}");
        let points = |colour: &str| {
            let line = svg.lines().rfind(|line| line.contains(colour) && line.contains("points"));
            line.unwrap().split("points=").nth(1).unwrap().split_whitespace().count() - 1
        };
        // The proof and disproof number have two open values each; the table has three.
        assert_eq!(points(COLOURS[2]), 3);
        let open: Vec<_> = svg.lines().filter(|line| line.contains(COLOURS[0])).collect();
        assert!(open.iter().any(|line| line.matches(',').count() == 2), "{open:?}");
        let error = parse("{}\n").unwrap_err().to_string();
        assert!(error.starts_with("line 1: missing field"), "{error}");
        assert!(parse("").is_err());
    }

    #[test]
    fn axes_have_ten_marks_at_most() {
        for (length, expected) in [(10.0, 1.0), (11.0, 2.0), (45.0, 5.0), (99.0, 10.0), (0.7, 0.1)]
        {
            assert!((step(length) - expected).abs() < 1e-9, "{length}: {}", step(length));
        }
    }
}
