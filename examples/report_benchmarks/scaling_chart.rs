//! The figure of scaling: speed-up and node throughput by threads, as in the thesis' Figure 4.2,
//! on logarithmic scales.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::draw::{Area, COLOURS, Failure, GRID, INK, Shape, marker, text};
use crate::records::Results;
use crate::scaling::{PARALLEL, Point, SEARCHED, Series, THREADS, series};

const SIZE: (u32, u32) = (960, 520);

/// The colours of df-pn and PN², as in the other figure.
const ALGORITHM_COLOURS: [RGBColor; PARALLEL.len()] = [COLOURS[0], COLOURS[2]];

/// The markers of what is searched.
const SHAPES: [Shape; SEARCHED.len()] =
    [Shape::Diamond, Shape::Circle, Shape::Square, Shape::Triangle];

/// What the panels show; a point beyond stands on the edge. The right one has room for the thesis'
/// PN², which has 41.5 on 12 threads.
const LEAST: f64 = 0.25;
const MOST: [f64; 2] = [16.0, 64.0];

/// Draws the figure as SVG.
///
/// # Errors
/// If the drawing library fails.
pub fn svg(results: &Results) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(84);
        legend(&head)?;
        let halves = body.split_evenly((1, 2));
        let cores = results.records().map(|record| record.cores).max();
        let all = series(results);
        panel(&halves[0], "Speed-up", MOST[0], &all, cores, |point| point.speedup)?;
        let title = "Nodes per second (on one thread = 1)";
        panel(&halves[1], title, MOST[1], &all, cores, Point::throughput)?;
        root.present()?;
    }
    Ok(text)
}

fn panel(
    area: &Area<'_>,
    title: &str,
    most: f64,
    all: &[Series],
    cores: Option<u32>,
    value: impl Fn(&Point) -> f64,
) -> Result<(), Failure> {
    let (width, height) = area.dim_in_pixel();
    let (left, right) = (64, width as i32 - 24);
    let (top, bottom) = (30, height as i32 - 48);
    let most_threads = f64::from(THREADS[THREADS.len() - 1]);
    let x = |threads: u32| {
        let part = f64::from(threads).log2() / most_threads.log2();
        left + (part * f64::from(right - left)).round() as i32
    };
    let y = |value: f64| {
        let part = (value.clamp(LEAST, most) / LEAST).log2() / (most / LEAST).log2();
        bottom - (part * f64::from(bottom - top)).round() as i32
    };

    text(area, title, (left, 6), 17, HPos::Left, VPos::Top)?;
    for exponent in LEAST.log2() as i32..=most.log2() as i32 {
        let number = 2f64.powi(exponent);
        area.draw(&PathElement::new(vec![(left, y(number)), (right, y(number))], GRID))?;
        text(area, &number.to_string(), (left - 8, y(number)), 13, HPos::Right, VPos::Center)?;
    }
    for threads in THREADS {
        area.draw(&PathElement::new(vec![(x(threads), top), (x(threads), bottom)], GRID))?;
        text(area, &threads.to_string(), (x(threads), bottom + 8), 13, HPos::Center, VPos::Top)?;
    }
    text(area, "threads", ((left + right) / 2, bottom + 27), 13, HPos::Center, VPos::Top)?;
    // As many times as there are threads, until the cores are all in use.
    let ideal = |threads: u32| f64::from(cores.map_or(threads, |cores| threads.min(cores)));
    let line: Vec<(i32, i32)> =
        (1..=THREADS[THREADS.len() - 1]).map(|threads| (x(threads), y(ideal(threads)))).collect();
    area.draw(&PathElement::new(line, INK.mix(0.5).stroke_width(1)))?;
    let proportional = vec![(x(1), y(1.0)), (right, y(most_threads))];
    area.draw(&PathElement::new(proportional, INK.mix(0.5).stroke_width(1)))?;
    area.draw(&PathElement::new(vec![(left, bottom), (right, bottom)], INK))?;

    for series in all {
        let colour = colour(series);
        let points: Vec<(i32, i32)> =
            series.points.iter().map(|point| (x(point.threads), y(value(point)))).collect();
        area.draw(&PathElement::new(points.clone(), colour.mix(0.45).stroke_width(2)))?;
        let ours = searched(series);
        for point in points {
            let shape = ours.map_or(Shape::Circle, |index| SHAPES[index]);
            marker(area, shape, colour, point, ours.is_some())?;
        }
    }
    Ok(())
}

fn colour(series: &Series) -> RGBColor {
    let index = PARALLEL.iter().position(|&(algorithm, _)| algorithm == series.algorithm);
    ALGORITHM_COLOURS[index.expect("series are of these algorithms")]
}

/// Which of the searches a series is; none for what is published.
fn searched(series: &Series) -> Option<usize> {
    SEARCHED.iter().position(|&search| search == (series.board, series.profile))
}

fn legend(area: &Area<'_>) -> Result<(), Failure> {
    let label = |words: &str, at: (i32, i32)| text(area, words, at, 14, HPos::Left, VPos::Center);
    let mut at = 64;
    for ((_, name), colour) in PARALLEL.into_iter().zip(ALGORITHM_COLOURS) {
        let line = vec![(at, 24), (at + 28, 24)];
        area.draw(&PathElement::new(line, colour.stroke_width(3)))?;
        label(name, (at + 36, 24))?;
        at += 96;
    }
    let thin = vec![(at, 24), (at + 28, 24)];
    area.draw(&PathElement::new(thin, INK.mix(0.5).stroke_width(1)))?;
    label("in proportion to the threads; to those that have a core", (at + 36, 24))?;

    let mut at = 70;
    marker(area, Shape::Circle, INK, (at, 56), false)?;
    label("the thesis, 6x6", (at + 14, 56))?;
    at += 150;
    for ((board, profile), shape) in SEARCHED.into_iter().zip(SHAPES) {
        marker(area, shape, INK, (at, 56), true)?;
        label(&format!("here, {board}, {profile}"), (at + 14, 56))?;
        at += 170;
    }
    Ok(())
}
