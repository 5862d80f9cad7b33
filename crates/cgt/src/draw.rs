//! Drawings of thermographs.

use std::fmt::Write as _;

use super::dyadic::Dyadic;
use super::thermograph::Thermograph;

/// Size of the drawing in pixels.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 420.0;

/// Margins with the names of the axes.
const MARGIN: f64 = 48.0;

impl Thermograph {
    /// Returns the thermograph as an SVG document: temperature upwards, and numbers that are good for Left on the left, as
    /// in the literature. The walls end in a mast with an arrow.
    pub fn svg(&self, title: &str) -> String {
        let points = || self.left.iter().chain(&self.right);
        let stops = || points().map(|[_, x]| x.to_f64());
        let (low, high) =
            (stops().fold(f64::INFINITY, f64::min), stops().fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = ((low - 0.5).floor(), (high + 0.5).ceil());
        let top = (self.temperature.to_f64().max(0.0) * 1.25).max(1.0);
        let across = |x: f64| MARGIN + (high - x) / (high - low) * (WIDTH - 2.0 * MARGIN);
        let up = |t: f64| HEIGHT - MARGIN - t / top * (HEIGHT - 2.0 * MARGIN);
        let mut body = String::new();
        // Axes: a dozen steps at most.
        let mut line = |x1: f64, y1: f64, x2: f64, y2: f64, style: &str| {
            let _ = writeln!(body, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" {style}/>");
        };
        let grid = "stroke=\"#e0e0e0\"";
        let (bottom, ceiling) = (up(0.0), up(top));
        let steps = |from: f64, to: f64| {
            let step = [0.125, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
            let step = step
                .into_iter()
                .find(|step| (to - from) / step <= 10.0)
                .unwrap_or((to - from) / 5.0);
            let first = (from / step).ceil() as i64;
            (first..=(to / step).floor() as i64).map(move |n| n as f64 * step)
        };
        for x in steps(low, high) {
            line(across(x), bottom, across(x), ceiling, grid);
        }
        for t in steps(0.0, top) {
            line(
                across(high),
                up(t),
                across(low),
                up(t),
                if t == 0.0 { "stroke=\"#888888\"" } else { grid },
            );
        }
        let path = |wall: &[[Dyadic; 2]]| {
            let points = wall
                .iter()
                .map(|[t, x]| format!("{:.1} {:.1}", across(x.to_f64()), up(t.to_f64())));
            points.collect::<Vec<_>>()
        };
        let (left, right) = (path(&self.left), path(&self.right));
        let outline: Vec<String> = left.iter().chain(right.iter().rev()).cloned().collect();
        let _ = writeln!(
            body,
            "<path d=\"M{}Z\" fill=\"#c0392b\" fill-opacity=\"0.12\"/>",
            outline.join("L")
        );
        for wall in [&left, &right] {
            let _ = writeln!(
                body,
                "<path d=\"M{}\" fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2.5\"/>",
                wall.join("L")
            );
        }
        let (mast, foot) = (across(self.mean.to_f64()), up(self.temperature.to_f64().max(0.0)));
        let tip = ceiling - 8.0;
        let _ = writeln!(
            body,
            "<path d=\"M{mast:.1} {foot:.1}L{mast:.1} {tip:.1}M{:.1} {:.1}L{mast:.1} {tip:.1}L{:.1} {:.1}\" \
             fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2.5\"/>",
            mast - 5.0,
            tip + 8.0,
            mast + 5.0,
            tip + 8.0,
        );
        let mut name = |x: f64, y: f64, anchor: &str, text: &str| {
            let _ = writeln!(
                body,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
            );
        };
        for x in steps(low, high) {
            name(across(x), bottom + 18.0, "middle", &x.to_string());
        }
        for t in steps(0.0, top) {
            name(MARGIN - 8.0, up(t) + 4.0, "end", &t.to_string());
        }
        name(WIDTH / 2.0, HEIGHT - 8.0, "middle", "stop (good for Left on the left)");
        name(8.0, 18.0, "start", "temperature");
        name(
            WIDTH - 8.0,
            18.0,
            "end",
            &format!("mean {}, temperature {}", self.mean, self.temperature),
        );
        let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{body}</svg>\n"
        )
    }
}
