//! What the figures have in common: colours, markers, text.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A part of a figure.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What the drawing library fails with.
pub type Failure = Box<dyn std::error::Error>;

/// Colour of text and axes.
pub const INK: RGBColor = RGBColor(40, 40, 40);
/// Colour of lines behind the data.
pub const GRID: RGBColor = RGBColor(222, 222, 222);

/// Colours that remain distinct for colour-blind readers (Okabe and Ito), one for each algorithm.
pub const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(170, 80, 150)];

const FONT: &str = "sans-serif";
const RADIUS: i32 = 5;

/// Forms of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle with the tip above.
    Triangle,
    /// A square on its corner.
    Diamond,
}

/// A marker, filled or not.
pub fn marker(
    area: &Area<'_>,
    shape: Shape,
    colour: RGBColor,
    (x, y): (i32, i32),
    filled: bool,
) -> Result<(), Failure> {
    let (fill, outline) = (if filled { colour } else { WHITE }.filled(), colour.stroke_width(2));
    let r = RADIUS;
    let corners: &[(i32, i32)] = match shape {
        Shape::Circle => {
            area.draw(&Circle::new((x, y), r, fill))?;
            area.draw(&Circle::new((x, y), r, outline))?;
            return Ok(());
        }
        Shape::Square => &[(-r, -r), (r, -r), (r, r), (-r, r)],
        Shape::Triangle => &[(0, -r - 1), (r + 1, r), (-r - 1, r)],
        Shape::Diamond => &[(0, -r - 2), (r + 2, 0), (0, r + 2), (-r - 2, 0)],
    };
    let mut corners: Vec<(i32, i32)> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    area.draw(&Polygon::new(corners.clone(), fill))?;
    // Closed, and a little further, so that the last corner is mitred.
    corners.extend_from_within(..2);
    area.draw(&PathElement::new(corners, outline))?;
    Ok(())
}

/// Text, anchored at a point.
pub fn text(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: i32,
    horizontal: HPos,
    vertical: VPos,
) -> Result<(), Failure> {
    let style = (FONT, size).into_text_style(area).color(&INK).pos(Pos::new(horizontal, vertical));
    area.draw_text(text, &style, at)?;
    Ok(())
}
