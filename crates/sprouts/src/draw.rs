//! A picture of a position: a panel for each region, with a ring for each boundary.
//!
//! The picture shows what the text contains, not the curves as they were drawn: the order of the spots along
//! each boundary. A spot that occurs once is labelled with its number of curve ends. Both occurrences of any
//! other spot have the same colour and letter. [`svg`] is the only public function; it fills a `Picture`.

use std::f64::consts::TAU;
use std::fmt::{self, Write};

use super::flat::{Boundary, Region, Spot};
use super::names::LandNames;
use super::position::Position;

const MARGIN: f64 = 16.0;
const TITLE: f64 = 26.0;
/// Radius of a spot.
const DOT: f64 = 11.0;
/// Maximum total width of the panels of a row.
const WIDTH: f64 = 760.0;

/// Colours of letters, reused if there are more letters.
const COLOURS: [&str; 8] =
    ["#c0392b", "#2471a3", "#1e8449", "#b9770e", "#7d3c98", "#148f77", "#a04000", "#5d6d7e"];

/// Writes the position as an SVG document.
pub fn svg(position: &Position) -> String {
    let mut picture = Picture { body: String::new(), x: MARGIN, y: MARGIN, row: 0.0, right: 0.0 };
    for (number, land) in position.lands().iter().enumerate() {
        let mut scope = LandNames::of_land(land);
        for (region_number, region) in land.iter().enumerate() {
            let title = format!("land {}, region {}", number + 1, region_number + 1);
            picture.region(&title, region, &mut scope).expect("strings take any text");
        }
    }
    let (width, height) = (picture.right.max(240.0) + MARGIN, picture.y + picture.row + MARGIN);
    let mut body = picture.body;
    if position.lands().is_empty() {
        body += "<text x=\"16\" y=\"34\">nothing is left</text>\n";
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{position}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    )
}

struct Picture {
    body: String,
    x: f64,
    y: f64,
    /// Height of the highest panel of the current row.
    row: f64,
    right: f64,
}

impl Picture {
    fn region(&mut self, title: &str, region: &Region, scope: &mut LandNames) -> fmt::Result {
        let radii: Vec<f64> = region.iter().map(|boundary| radius(boundary.len())).collect();
        // Boundaries are placed in rows within the panel.
        let (mut places, mut x, mut y, mut row, mut wide) = (Vec::new(), 0.0, 0.0, 0.0f64, 0.0f64);
        for radius in &radii {
            let size = 2.0 * (radius + DOT) + MARGIN;
            if x > 0.0 && x + size > WIDTH / 2.0 {
                (x, y, row) = (0.0, y + row, 0.0);
            }
            places.push((x + size / 2.0, y + size / 2.0));
            x += size;
            (row, wide) = (row.max(size), wide.max(x));
        }
        let (width, height) = (wide.max(130.0) + MARGIN, y + row + TITLE + MARGIN / 2.0);
        if self.x > MARGIN && self.x + width > WIDTH {
            (self.x, self.y, self.row) = (MARGIN, self.y + self.row + MARGIN, 0.0);
        }
        let (left, top) = (self.x, self.y);
        writeln!(
            self.body,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"10\" fill=\"#f4f6f7\" stroke=\"#85929e\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#566573\">{title}</text>",
            left + 10.0,
            top + 18.0,
        )?;
        for ((boundary, radius), (x, y)) in region.iter().zip(radii).zip(places) {
            let centre = (left + MARGIN / 2.0 + x, top + TITLE + y);
            self.boundary(boundary, radius, centre, scope)?;
        }
        self.x += width + MARGIN;
        self.right = self.right.max(left + width);
        self.row = self.row.max(height);
        Ok(())
    }

    fn boundary(
        &mut self,
        boundary: &Boundary,
        radius: f64,
        centre: (f64, f64),
        scope: &mut LandNames,
    ) -> fmt::Result {
        let (x, y) = centre;
        if boundary.len() > 1 {
            writeln!(
                self.body,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"#ffffff\" \
                 stroke=\"#2c3e50\" stroke-width=\"2\"/>"
            )?;
        }
        let names = scope.names(boundary);
        for (place, (spot, name)) in boundary.iter().zip(names).enumerate() {
            let angle = TAU * (place as f64 / boundary.len() as f64 - 0.25);
            let (x, y) = (x + radius * angle.cos(), y + radius * angle.sin());
            let colour = match *spot {
                Spot::Single(3) => "#aeb6bf",
                Spot::Single(_) => "#2c3e50",
                Spot::Pair(pair) => COLOURS[pair as usize % COLOURS.len()],
            };
            writeln!(
                self.body,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT:.1}\" fill=\"{colour}\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#ffffff\">{name}\
                 </text>",
                y + 4.5,
            )?;
        }
        Ok(())
    }
}

/// Returns the radius of the ring for a boundary of this length.
fn radius(vertices: usize) -> f64 {
    if vertices == 1 { 0.0 } else { (vertices as f64 * 3.2 * DOT / TAU).max(1.8 * DOT) }
}
