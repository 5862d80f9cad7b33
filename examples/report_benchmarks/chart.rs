//! The figure: nodes and time of each algorithm on each board, on logarithmic scales.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::draw::{Area, COLOURS, Failure, GRID, INK, Shape, marker, text};
use crate::published;
use crate::records::Results;
use crate::report::{ALGORITHMS, COMPARED};

const SIZE: (u32, u32) = (960, 460);

/// The marker of each algorithm.
const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];

/// Pixels between the markers of two algorithms on one board.
const DODGE: i32 = 11;

/// What one half of the figure shows.
struct Panel {
    title: &'static str,
    /// By algorithm and board.
    values: [[Option<f64>; COMPARED.len()]; ALGORITHMS.len()],
    /// The thesis' values on 6x6, by algorithm.
    published: [f64; ALGORITHMS.len()],
    label: fn(i32) -> String,
}

/// Draws the figure as SVG.
///
/// # Errors
/// If the drawing library fails.
pub fn svg(results: &Results) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(52);
        legend(&head)?;
        let halves = body.split_evenly((1, 2));
        for (half, panel) in halves.iter().zip(panels(results)) {
            panel.draw(half)?;
        }
        root.present()?;
    }
    Ok(text)
}

fn panels(results: &Results) -> [Panel; 2] {
    let mut nodes = Panel {
        title: "Nodes",
        values: Default::default(),
        published: [0.0; ALGORITHMS.len()],
        label: |exponent| match exponent {
            0..3 => 10i32.pow(exponent as u32).to_string(),
            3..6 => format!("{} k", 10i32.pow(exponent as u32 - 3)),
            6..9 => format!("{} M", 10i32.pow(exponent as u32 - 6)),
            _ => format!("{} G", 10f64.powi(exponent - 9)),
        },
    };
    let mut seconds = Panel {
        title: "Time",
        values: Default::default(),
        published: [0.0; ALGORITHMS.len()],
        label: |exponent| match exponent {
            ..-3 => format!("{} µs", 10f64.powi(exponent + 6)),
            -3..0 => format!("{} ms", 10f64.powi(exponent + 3)),
            0..3 => format!("{} s", 10f64.powi(exponent)),
            _ => format!("{},000 s", 10f64.powi(exponent - 3)),
        },
    };
    for (index, (algorithm, _)) in ALGORITHMS.into_iter().enumerate() {
        for (column, board) in COMPARED.into_iter().enumerate() {
            let group = results.solve(board, algorithm, "tuned");
            if let Some(group) = group.filter(|group| !group.is_unfinished()) {
                nodes.values[index][column] = Some(group.nodes() as f64);
                seconds.values[index][column] = Some(group.seconds());
            }
        }
        let thesis = published::search_6x6(algorithm).expect("the table has all four");
        nodes.published[index] = thesis.nodes;
        seconds.published[index] = thesis.seconds;
    }
    [nodes, seconds]
}

impl Panel {
    /// The powers of ten between which all values lie.
    fn decades(&self) -> (i32, i32) {
        let values = || self.values.iter().flatten().flatten().chain(&self.published);
        let least = values().fold(f64::INFINITY, |a, &b| a.min(b));
        let most = values().fold(0.0f64, |a, &b| a.max(b));
        (least.log10().floor() as i32, most.log10().ceil() as i32)
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), Failure> {
        let (width, height) = area.dim_in_pixel();
        let (left, right) = (70, width as i32 - 16);
        let (top, bottom) = (30, height as i32 - 48);
        let (low, high) = self.decades();
        let y = |value: f64| {
            let part = (value.log10() - f64::from(low)) / f64::from(high - low);
            bottom - (part * f64::from(bottom - top)).round() as i32
        };
        let step = (right - left) / COMPARED.len() as i32;
        let x = |column: usize, algorithm: usize| {
            let middle = left + step / 2 + step * column as i32;
            middle + (2 * algorithm as i32 - (ALGORITHMS.len() as i32 - 1)) * DODGE / 2
        };

        text(area, self.title, (left, 8), 17, HPos::Left, VPos::Top)?;
        for exponent in low..=high {
            let at = y(10f64.powi(exponent));
            area.draw(&PathElement::new(vec![(left, at), (right, at)], GRID))?;
            let label = (self.label)(exponent);
            text(area, &label, (left - 8, at), 13, HPos::Right, VPos::Center)?;
        }
        area.draw(&PathElement::new(vec![(left, bottom), (right, bottom)], INK))?;
        for (column, board) in COMPARED.into_iter().enumerate() {
            let middle = (x(column, 0) + x(column, ALGORITHMS.len() - 1)) / 2;
            text(area, board, (middle, bottom + 8), 14, HPos::Center, VPos::Top)?;
        }
        let middle = (left + right) / 2;
        text(area, "board", (middle, bottom + 27), 13, HPos::Center, VPos::Top)?;

        let at_6x6 = COMPARED.iter().position(|&board| board == "6x6").expect("6x6 is compared");
        for (index, values) in self.values.iter().enumerate() {
            let points = values.iter().enumerate();
            let points: Vec<(i32, i32)> = points
                .filter_map(|(column, value)| value.map(|value| (x(column, index), y(value))))
                .collect();
            let faint = COLOURS[index].mix(0.45).stroke_width(2);
            area.draw(&PathElement::new(points.clone(), faint))?;
            for point in points {
                marker(area, SHAPES[index], COLOURS[index], point, true)?;
            }
            let at = (x(at_6x6, index), y(self.published[index]));
            marker(area, SHAPES[index], COLOURS[index], at, false)?;
        }
        Ok(())
    }
}

fn legend(area: &Area<'_>) -> Result<(), Failure> {
    let mut at = 70;
    for (index, (_, name)) in ALGORITHMS.into_iter().enumerate() {
        area.draw(&PathElement::new(
            vec![(at, 28), (at + 28, 28)],
            COLOURS[index].mix(0.45).stroke_width(2),
        ))?;
        marker(area, SHAPES[index], COLOURS[index], (at + 14, 28), true)?;
        text(area, name, (at + 36, 28), 15, HPos::Left, VPos::Center)?;
        at += 106;
    }
    marker(area, SHAPES[0], COLOURS[0], (at + 30, 28), true)?;
    text(area, "here, one thread", (at + 42, 28), 15, HPos::Left, VPos::Center)?;
    marker(area, SHAPES[0], COLOURS[0], (at + 196, 28), false)?;
    text(area, "the thesis, 6x6, one thread", (at + 208, 28), 15, HPos::Left, VPos::Center)?;
    Ok(())
}
