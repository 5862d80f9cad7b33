//! The figures: the algorithms by board, the gain by threads, and the winners.

use crate::algorithms::{ALGORITHMS, COMPARED};
use crate::published;
use crate::records::{Group, Results};
use crate::scaling::{PARALLEL, Point, SEARCHED, Series, THREADS, series};
use crate::svg::{At, COLOURS, GRID, Height, INK, Shape, Side, Svg, WHITE};
use crate::winners::Row;

pub const ABOVE: (Side, Height) = (Side::Middle, Height::Bottom);
pub const BELOW: (Side, Height) = (Side::Middle, Height::Top);
pub const LEFT_OF: (Side, Height) = (Side::End, Height::Centre);
pub const RIGHT_OF: (Side, Height) = (Side::Start, Height::Centre);
pub const HEADING: (Side, Height) = (Side::Start, Height::Top);

/// How far `value` is on the way from `least` to `most` on a logarithmic scale.
pub fn part(value: f64, least: f64, most: f64) -> f64 {
    (value / least).log2() / (most / least).log2()
}

/// Nodes and time of each algorithm on each board, on logarithmic scales.
pub fn algorithms(results: &Results) -> String {
    const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];
    let mut svg = Svg::new((960, 460));
    let mut at = 70;
    for ((_, name), (colour, shape)) in ALGORITHMS.into_iter().zip(COLOURS.into_iter().zip(SHAPES))
    {
        svg.line(&[(at, 28), (at + 28, 28)], colour, 0.45, 2);
        svg.marker(shape, colour, (at + 14, 28), true);
        svg.text(name, (at + 36, 28), 15, RIGHT_OF);
        at += 106;
    }
    svg.marker(SHAPES[0], COLOURS[0], (at + 30, 28), true);
    svg.text("here, one thread", (at + 42, 28), 15, RIGHT_OF);
    svg.marker(SHAPES[0], COLOURS[0], (at + 196, 28), false);
    svg.text("the thesis, 6x6, one thread", (at + 208, 28), 15, RIGHT_OF);

    let nodes_label = |exponent| match exponent {
        0..3 => 10i32.pow(exponent as u32).to_string(),
        3..6 => format!("{} k", 10i32.pow(exponent as u32 - 3)),
        6..9 => format!("{} M", 10i32.pow(exponent as u32 - 6)),
        _ => format!("{} G", 10f64.powi(exponent - 9)),
    };
    let time_label = |exponent| match exponent {
        ..-3 => format!("{} µs", 10f64.powi(exponent + 6)),
        -3..0 => format!("{} ms", 10f64.powi(exponent + 3)),
        0..3 => format!("{} s", 10f64.powi(exponent)),
        _ => format!("{},000 s", 10f64.powi(exponent - 3)),
    };
    type Panel<'a> = (
        &'a str,
        &'a dyn Fn(&Group) -> f64,
        fn(published::Search) -> f64,
        &'a dyn Fn(i32) -> String,
    );
    let panels: [Panel<'_>; 2] = [
        ("Nodes", &|group| group.nodes() as f64, |search| search.nodes, &nodes_label),
        ("Time", &Group::seconds, |search| search.seconds, &time_label),
    ];
    for (panel, (title, of_group, of_thesis, label)) in panels.into_iter().enumerate() {
        svg.origin = (480 * panel as i32, 52);
        let values = ALGORITHMS.map(|(algorithm, _)| {
            COMPARED.map(|board| {
                let group = results.solve(board, algorithm, "tuned", 1);
                group.filter(|group| !group.is_unfinished()).map(of_group)
            })
        });
        let published = ALGORITHMS.map(|(name, _)| of_thesis(published::search_6x6(name)));
        let all = || values.iter().flatten().flatten().chain(&published);
        // The powers of ten between which all values lie.
        let low = all().fold(f64::INFINITY, |a, &b| a.min(b)).log10().floor() as i32;
        let high = all().fold(0.0f64, |a, &b| a.max(b)).log10().ceil() as i32;

        let (left, right, top, bottom) = (70, 464, 30, 360);
        let y = |value: f64| {
            let part = part(value, 10f64.powi(low), 10f64.powi(high));
            bottom - (part * f64::from(bottom - top)).round() as i32
        };
        let step = (right - left) / COMPARED.len() as i32;
        // The markers of the algorithms on one board stand beside each other.
        let x = |column: usize, algorithm: usize| {
            left + step / 2 + step * column as i32 + (2 * algorithm as i32 - 3) * 11 / 2
        };
        svg.text(title, (left, 8), 17, HEADING);
        for exponent in low..=high {
            let at = y(10f64.powi(exponent));
            svg.line(&[(left, at), (right, at)], GRID, 1.0, 1);
            svg.text(&label(exponent), (left - 8, at), 13, LEFT_OF);
        }
        svg.line(&[(left, bottom), (right, bottom)], INK, 1.0, 1);
        for (column, board) in COMPARED.into_iter().enumerate() {
            svg.text(board, ((x(column, 0) + x(column, 3)) / 2, bottom + 8), 14, BELOW);
        }
        svg.text("board", ((left + right) / 2, bottom + 27), 13, BELOW);
        let at_6x6 = COMPARED.iter().position(|&board| board == "6x6").expect("6x6 is compared");
        for (index, values) in values.iter().enumerate() {
            let points = values.iter().enumerate();
            let points: Vec<At> = points
                .filter_map(|(column, value)| Some((x(column, index), y((*value)?))))
                .collect();
            svg.line(&points, COLOURS[index], 0.45, 2);
            for &point in &points {
                svg.marker(SHAPES[index], COLOURS[index], point, true);
            }
            let at = (x(at_6x6, index), y(published[index]));
            svg.marker(SHAPES[index], COLOURS[index], at, false);
        }
    }
    svg.finish()
}

/// Speed-up and node throughput by threads, as in the thesis' Figure 4.2, on logarithmic scales.
pub fn scaling(results: &Results) -> String {
    // The colours of df-pn and PN² as in the other figure.
    const ALGORITHM_COLOURS: [&str; PARALLEL.len()] = [COLOURS[0], COLOURS[2]];
    const SHAPES: [Shape; SEARCHED.len()] =
        [Shape::Diamond, Shape::Circle, Shape::Square, Shape::Triangle];
    let mut svg = Svg::new((960, 520));
    let mut at = 64;
    for ((_, name), colour) in PARALLEL.into_iter().zip(ALGORITHM_COLOURS) {
        svg.line(&[(at, 24), (at + 28, 24)], colour, 1.0, 3);
        svg.text(name, (at + 36, 24), 14, RIGHT_OF);
        at += 96;
    }
    svg.line(&[(at, 24), (at + 28, 24)], INK, 0.5, 1);
    let words = "in proportion to the threads; to those that have a core";
    svg.text(words, (at + 36, 24), 14, RIGHT_OF);
    let mut at = 70;
    svg.marker(Shape::Circle, INK, (at, 56), false);
    svg.text("the thesis, 6x6", (at + 14, 56), 14, RIGHT_OF);
    at += 150;
    for ((board, profile), shape) in SEARCHED.into_iter().zip(SHAPES) {
        svg.marker(shape, INK, (at, 56), true);
        svg.text(&format!("here, {board}, {profile}"), (at + 14, 56), 14, RIGHT_OF);
        at += 170;
    }

    let all = series(results);
    let cores = results.records().map(|record| record.cores).max();
    // What the panels show; a point beyond stands on the edge. The right one has room for the
    // thesis' PN², which has 41.5 on 12 threads.
    const LEAST: f64 = 0.25;
    type Panel<'a> = (&'a str, f64, fn(&Point<'_>) -> f64);
    let panels: [Panel<'_>; 2] = [
        ("Speed-up", 16.0, |point| point.speedup),
        ("Nodes per second (on one thread = 1)", 64.0, |point| point.throughput()),
    ];
    for (panel, (title, most, value)) in panels.into_iter().enumerate() {
        svg.origin = (480 * panel as i32, 84);
        let (left, right, top, bottom) = (64, 456, 30, 388);
        let most_threads = THREADS[THREADS.len() - 1];
        let x = |threads: u32| {
            let part = part(f64::from(threads), 1.0, f64::from(most_threads));
            left + (part * f64::from(right - left)).round() as i32
        };
        let y = |value: f64| {
            let part = part(value.clamp(LEAST, most), LEAST, most);
            bottom - (part * f64::from(bottom - top)).round() as i32
        };
        svg.text(title, (left, 6), 17, HEADING);
        for exponent in LEAST.log2() as i32..=most.log2() as i32 {
            let number = 2f64.powi(exponent);
            svg.line(&[(left, y(number)), (right, y(number))], GRID, 1.0, 1);
            svg.text(&number.to_string(), (left - 8, y(number)), 13, LEFT_OF);
        }
        for threads in THREADS {
            svg.line(&[(x(threads), top), (x(threads), bottom)], GRID, 1.0, 1);
            svg.text(&threads.to_string(), (x(threads), bottom + 8), 13, BELOW);
        }
        svg.text("threads", ((left + right) / 2, bottom + 27), 13, BELOW);
        // Right of the line, our points are those of threads that wait for each other.
        if let Some(cores) = cores.filter(|&cores| cores < most_threads) {
            svg.line(&[(x(cores), top), (x(cores), bottom)], INK, 1.0, 2);
            let words = format!("\u{2192} here: {cores} cores, no more to gain");
            svg.text(&words, (x(cores) + 6, bottom - 14), 13, RIGHT_OF);
        }
        // As many times as there are threads, until the cores are all in use.
        let ideal = |threads: u32| f64::from(cores.map_or(threads, |cores| threads.min(cores)));
        let line: Vec<At> =
            (1..=most_threads).map(|threads| (x(threads), y(ideal(threads)))).collect();
        svg.line(&line, INK, 0.5, 1);
        svg.line(&[(x(1), y(1.0)), (right, y(f64::from(most_threads)))], INK, 0.5, 1);
        svg.line(&[(left, bottom), (right, bottom)], INK, 1.0, 1);
        for Series { algorithm, board, profile, points } in &all {
            let index = PARALLEL.iter().position(|(name, _)| name == algorithm);
            let colour = ALGORITHM_COLOURS[index.expect("series are of these algorithms")];
            let ours = SEARCHED.iter().position(|search| *search == (*board, *profile));
            let shape = ours.map_or(Shape::Circle, |index| SHAPES[index]);
            let points: Vec<At> =
                points.iter().map(|point| (x(point.threads), y(value(point)))).collect();
            svg.line(&points, colour, 0.45, 2);
            for point in points {
                svg.marker(shape, colour, point, ours.is_some());
            }
        }
    }
    svg.finish()
}

/// The boards of up to 8x8 as in the thesis' Figure 4.3, and all boards by their shorter and longer
/// side.
pub fn winners(rows: &[Row]) -> String {
    // Sides of a square of the two parts.
    const LARGE: i32 = 28;
    const SMALL: i32 = 15;
    let mut svg = Svg::new((1080, 560));

    let (left, top) = (70, 60);
    svg.text("Boards of up to 8x8", (left, top - 50), 17, HEADING);
    svg.text("files", (left + 4 * LARGE, top - 30), 13, BELOW);
    svg.text("ranks", (left - 22, top + 4 * LARGE), 13, LEFT_OF);
    for index in 0..8 {
        let (number, at) = ((index + 1).to_string(), LARGE * index + LARGE / 2);
        svg.text(&number, (left + at, top - 6), 13, ABOVE);
        svg.text(&number, (left - 8, top + at), 13, LEFT_OF);
    }
    for row in rows.iter().filter(|row| row.files <= 8) {
        let (ranks, files) = (row.ranks as i32 - 1, row.files as i32 - 1);
        square(
            &mut svg,
            row.winner(),
            row.is_new(),
            (left + files * LARGE, top + ranks * LARGE),
            LARGE,
        );
        if ranks != files {
            let at = (left + ranks * LARGE, top + files * LARGE);
            square(&mut svg, row.winner(), row.is_new(), at, LARGE);
        }
    }

    let (left, top) = (420, 90);
    let entries = [
        ("Black wins", Some("black"), false),
        ("White wins", Some("white"), false),
        ("the same, not in the thesis", Some("white"), true),
        ("not solved", None, false),
    ];
    for (index, (words, winner, is_new)) in (0..).zip(entries) {
        let y = top + index * (LARGE + 14);
        square(&mut svg, winner, is_new, (left, y), LARGE);
        svg.text(words, (left + LARGE + 12, y + LARGE / 2), 15, RIGHT_OF);
    }

    let (left, top) = (70, 390);
    svg.text("All boards of up to 64 squares", (left, top - 50), 17, HEADING);
    svg.text("longer side", (left + 32 * SMALL, top - 32), 13, BELOW);
    svg.text("shorter", (left - 22, top + 4 * SMALL), 13, (Side::End, Height::Bottom));
    svg.text("side", (left - 22, top + 4 * SMALL), 13, (Side::End, Height::Top));
    for side in 1..=64 {
        let (number, at) = (side.to_string(), SMALL * (side - 1) + SMALL / 2);
        if side == 1 || side % 4 == 0 {
            svg.text(&number, (left + at, top - 4), 12, ABOVE);
        }
        if side <= 8 {
            svg.text(&number, (left - 8, top + at), 12, LEFT_OF);
        }
    }
    for row in rows {
        let at = (left + (row.files as i32 - 1) * SMALL, top + (row.ranks as i32 - 1) * SMALL);
        square(&mut svg, row.winner(), row.is_new(), at, SMALL);
    }
    svg.finish()
}

/// A board: black, white, or crossed out for unknown; with a dot if its winner is new.
fn square(svg: &mut Svg, winner: Option<&str>, is_new: bool, (x, y): At, side: i32) {
    let fill = match winner {
        Some("black") => INK,
        Some(_) => WHITE,
        None => GRID,
    };
    svg.rectangle((x, y), (side, side), fill, "none");
    if winner.is_none() {
        svg.line(&[(x, y + side), (x + side, y)], INK, 0.5, 1);
    }
    svg.rectangle((x, y), (side, side), "none", INK);
    if is_new {
        svg.disc((x + side / 2, y + side / 2), side / 5, COLOURS[1], None);
    }
}
