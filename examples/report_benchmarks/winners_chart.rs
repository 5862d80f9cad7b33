//! The figure of winners: the boards of up to 8x8 as in the thesis' Figure 4.3, and all boards by
//! their shorter and longer side.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::draw::{Area, COLOURS, Failure, GRID, INK, text};
use crate::winners::Row;

const SIZE: (u32, u32) = (1080, 560);

/// Sides of a cell of the square of small boards and of the list of long ones, in pixels.
const LARGE: i32 = 28;
const SMALL: i32 = 15;

/// Colour of the mark of winners that are not in the thesis.
const NEW: RGBColor = COLOURS[1];

/// Draws the figure as SVG.
///
/// # Errors
/// If the drawing library fails.
pub fn svg(rows: &[Row]) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        small(&root, rows, (70, 60))?;
        legend(&root, (420, 90))?;
        long(&root, rows, (70, 390))?;
        root.present()?;
    }
    Ok(text)
}

/// Boards of up to 8x8, ranks downwards.
fn small(area: &Area<'_>, rows: &[Row], (left, top): (i32, i32)) -> Result<(), Failure> {
    heading(area, "Boards of up to 8x8", (left, top - 50))?;
    let middle = left + 4 * LARGE;
    text(area, "files", (middle, top - 30), 13, HPos::Center, VPos::Top)?;
    text(area, "ranks", (left - 22, top + 4 * LARGE), 13, HPos::Right, VPos::Center)?;
    for index in 0..8 {
        let (number, at) = ((index + 1).to_string(), LARGE * index + LARGE / 2);
        text(area, &number, (left + at, top - 6), 13, HPos::Center, VPos::Bottom)?;
        text(area, &number, (left - 8, top + at), 13, HPos::Right, VPos::Center)?;
    }
    for row in rows.iter().filter(|row| row.files <= 8) {
        let at = |ranks: u32, files: u32| {
            (left + (files as i32 - 1) * LARGE, top + (ranks as i32 - 1) * LARGE)
        };
        square(area, row, at(row.ranks, row.files), LARGE)?;
        if row.ranks != row.files {
            square(area, row, at(row.files, row.ranks), LARGE)?;
        }
    }
    Ok(())
}

/// All boards, the shorter side downwards, the longer side to the right.
fn long(area: &Area<'_>, rows: &[Row], (left, top): (i32, i32)) -> Result<(), Failure> {
    heading(area, "All boards of up to 64 squares", (left, top - 50))?;
    text(area, "longer side", (left + 32 * SMALL, top - 32), 13, HPos::Center, VPos::Top)?;
    text(area, "shorter", (left - 22, top + 4 * SMALL), 13, HPos::Right, VPos::Bottom)?;
    text(area, "side", (left - 22, top + 4 * SMALL), 13, HPos::Right, VPos::Top)?;
    for side in 1..=64 {
        let at = SMALL * (side - 1) + SMALL / 2;
        if side == 1 || side % 4 == 0 {
            let number = side.to_string();
            text(area, &number, (left + at, top - 4), 12, HPos::Center, VPos::Bottom)?;
        }
        if side <= 8 {
            let number = side.to_string();
            text(area, &number, (left - 8, top + at), 12, HPos::Right, VPos::Center)?;
        }
    }
    for row in rows {
        let at = (left + (row.files as i32 - 1) * SMALL, top + (row.ranks as i32 - 1) * SMALL);
        square(area, row, at, SMALL)?;
    }
    Ok(())
}

fn heading(area: &Area<'_>, words: &str, at: (i32, i32)) -> Result<(), Failure> {
    text(area, words, at, 17, HPos::Left, VPos::Top)
}

/// One board.
fn square(area: &Area<'_>, row: &Row, at: (i32, i32), side: i32) -> Result<(), Failure> {
    cell(area, row.winner(), row.is_new(), at, side)
}

/// Black, white, or crossed out for unknown; with a dot if it is new.
fn cell(
    area: &Area<'_>,
    winner: Option<&str>,
    is_new: bool,
    (x, y): (i32, i32),
    side: i32,
) -> Result<(), Failure> {
    let corners = [(x, y), (x + side, y + side)];
    let fill = match winner {
        Some("black") => INK,
        Some(_) => WHITE,
        None => GRID,
    };
    area.draw(&Rectangle::new(corners, fill.filled()))?;
    if winner.is_none() {
        let slash = vec![(x, y + side), (x + side, y)];
        area.draw(&PathElement::new(slash, INK.mix(0.5)))?;
    }
    area.draw(&Rectangle::new(corners, INK.stroke_width(1)))?;
    if is_new {
        area.draw(&Circle::new((x + side / 2, y + side / 2), side / 5, NEW.filled()))?;
    }
    Ok(())
}

fn legend(area: &Area<'_>, (left, top): (i32, i32)) -> Result<(), Failure> {
    let entries = [
        ("Black wins", Some("black"), false),
        ("White wins", Some("white"), false),
        ("the same, not in the thesis", Some("white"), true),
        ("not solved", None, false),
    ];
    for (index, (words, winner, is_new)) in entries.into_iter().enumerate() {
        let y = top + index as i32 * (LARGE + 14);
        cell(area, winner, is_new, (left, y), LARGE)?;
        text(area, words, (left + LARGE + 12, y + LARGE / 2), 15, HPos::Left, VPos::Center)?;
    }
    Ok(())
}
