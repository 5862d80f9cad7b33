//! Figures as SVG: the few elements that the charts need, in whole pixels.

use std::fmt::Write as _;

/// A point: to the right and downwards.
pub type At = (i32, i32);

/// Colour of text and axes.
pub const INK: &str = "#282828";
/// Colour of lines behind the data.
pub const GRID: &str = "#DEDEDE";
pub const WHITE: &str = "#FFFFFF";
/// Colours that remain distinct for colour-blind readers (Okabe and Ito), one for each algorithm.
pub const COLOURS: [&str; 4] = ["#0072B2", "#D55E00", "#009E73", "#AA5096"];

/// Radius of a marker.
const R: i32 = 5;

/// Forms of markers.
#[derive(Clone, Copy)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    /// A square on its corner.
    Diamond,
}

/// Which side of a text is at its point: the left, the middle or the right.
#[derive(Clone, Copy)]
pub enum Side {
    Start,
    Middle,
    End,
}

/// Which height of a text is at its point.
#[derive(Clone, Copy)]
pub enum Height {
    Top,
    Centre,
    Bottom,
}

/// A figure that is being drawn.
pub struct Svg {
    text: String,
    /// Where (0, 0) is: figures of several panels move it.
    pub origin: At,
}

impl Svg {
    /// An empty figure.
    pub fn new((width, height): At) -> Self {
        let text = format!(
            "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n"
        );
        let mut figure = Svg { text, origin: (0, 0) };
        figure.rectangle((0, 0), (width, height), WHITE, "none");
        figure
    }

    /// The whole figure.
    pub fn finish(self) -> String {
        self.text + "</svg>\n"
    }

    fn moved(&self, (x, y): At) -> At {
        (x + self.origin.0, y + self.origin.1)
    }

    fn points(&self, points: &[At]) -> String {
        points.iter().map(|&at| self.moved(at)).map(|(x, y)| format!("{x},{y} ")).collect()
    }

    /// Lines from each point to the next.
    pub fn line(&mut self, points: &[At], colour: &str, opacity: f64, width: u32) {
        let points = self.points(points);
        let _ = writeln!(
            self.text,
            "<polyline fill=\"none\" opacity=\"{opacity}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\" points=\"{points}\"/>"
        );
    }

    /// A rectangle: filled, or its outline; the other colour is `none`.
    pub fn rectangle(&mut self, at: At, (width, height): At, fill: &str, outline: &str) {
        let (x, y) = self.moved(at);
        let _ = writeln!(
            self.text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" opacity=\"1\" \
             fill=\"{fill}\" stroke=\"{outline}\"/>"
        );
    }

    /// A disc, with an outline.
    pub fn disc(&mut self, at: At, radius: i32, fill: &str, outline: Option<&str>) {
        let (x, y) = self.moved(at);
        let mut draw = |fill: &str, stroke: &str, width: u32| {
            let _ = writeln!(
                self.text,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" opacity=\"1\" fill=\"{fill}\" \
                 stroke=\"{stroke}\" stroke-width=\"{width}\"/>"
            );
        };
        draw(fill, "none", 1);
        outline.into_iter().for_each(|colour| draw("none", colour, 2));
    }

    /// A marker, filled or not.
    pub fn marker(&mut self, shape: Shape, colour: &str, (x, y): At, filled: bool) {
        let fill = if filled { colour } else { WHITE };
        let corners: &[At] = match shape {
            Shape::Circle => return self.disc((x, y), R, fill, Some(colour)),
            Shape::Square => &[(-R, -R), (R, -R), (R, R), (-R, R)],
            Shape::Triangle => &[(0, -R - 1), (R + 1, R), (-R - 1, R)],
            Shape::Diamond => &[(0, -R - 2), (R + 2, 0), (0, R + 2), (-R - 2, 0)],
        };
        let mut corners: Vec<At> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        let points = self.points(&corners);
        let _ = writeln!(self.text, "<polygon opacity=\"1\" fill=\"{fill}\" points=\"{points}\"/>");
        // Closed, and a little further, so that the last corner is mitred.
        corners.extend_from_within(..2);
        self.line(&corners, colour, 1.0, 2);
    }

    /// A text of so many points.
    pub fn text(&mut self, words: &str, at: At, points: i32, (side, height): (Side, Height)) {
        let (x, y) = self.moved(at);
        let anchor = match side {
            Side::Start => "start",
            Side::Middle => "middle",
            Side::End => "end",
        };
        let dy = match height {
            Height::Top => "0.76em",
            Height::Centre => "0.5ex",
            Height::Bottom => "-0.5ex",
        };
        let size = f64::from(points) / 1.24;
        let _ = writeln!(
            self.text,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{dy}\" text-anchor=\"{anchor}\" \
             font-family=\"sans-serif\" font-size=\"{size}\" opacity=\"1\" fill=\"{INK}\">\n\
             {words}\n</text>"
        );
    }
}
