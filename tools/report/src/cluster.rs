//! The page of searches on many machines, from the records of `konane-simulate`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::figures::{ABOVE, BELOW, HEADING, LEFT_OF, RIGHT_OF, part};
use crate::row;
use crate::svg::{At, COLOURS, GRID, INK, Shape, Svg};
use crate::text::{figures, page, short, table, time};

/// One simulation, as far as the page has it.
#[derive(Deserialize)]
pub struct Simulation {
    game: String,
    machines: u32,
    threads: u32,
    job_nodes: u64,
    told_from: u64,
    nodes: u64,
    alone: u64,
    /// On the virtual clock.
    seconds: f64,
    costs: Map<String, Value>,
    traffic: Traffic,
}

#[derive(Deserialize)]
struct Traffic {
    jobs: u64,
    entry_bytes: u64,
    message_bytes: u64,
    driver: f64,
    busy: f64,
}

impl Simulation {
    fn cost(&self, name: &str) -> f64 {
        self.costs.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }

    fn cores(&self) -> u32 {
        self.machines * self.threads
    }

    fn speedup(&self) -> f64 {
        self.alone as f64 * self.cost("node_ns") / 1e9 / self.seconds
    }

    fn overhead(&self) -> f64 {
        self.nodes as f64 / self.alone as f64
    }

    /// What a call takes the driver.
    fn call_ms(&self) -> f64 {
        self.cost("call_us") / 1e3
    }

    fn is_free(&self) -> bool {
        self.call_ms() == 0.0
    }
}

/// Records, one a line.
///
/// # Errors
/// If a line is none.
pub fn parse(text: &str) -> Result<Vec<Simulation>, serde_json::Error> {
    let mut all: Vec<Simulation> =
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    all.sort_by_key(|one| (one.alone, one.cores(), one.machines, one.job_nodes));
    Ok(all)
}

/// The page.
pub fn markdown(all: &[Simulation]) -> String {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|one| {
            let percent = |part: f64| format!("{:.0} %", part * 100.0);
            row![
                one.game,
                one.machines,
                one.threads,
                short(one.job_nodes as f64),
                if one.is_free() { "0".to_string() } else { format!("{} ms", one.call_ms()) },
                one.told_from,
                short(one.nodes as f64),
                figures(one.overhead()),
                time(one.seconds),
                figures(one.speedup()),
                percent(one.traffic.busy),
                percent(one.traffic.driver),
                short(one.traffic.jobs as f64),
                figures((one.traffic.entry_bytes + one.traffic.message_bytes) as f64 / 1e6),
            ]
        })
        .collect();
    let headings = "board|>machines|>threads of each|>job, nodes|>call|>told from|>nodes|>overhead|>time|\
                    >speed-up|>searching|>driver|>jobs|>MB";
    let first = all.iter().find(|one| !one.is_free()).unwrap_or(&all[0]);
    let costs = format!(
        "{} ns for a node, {} µs for a thread of a job, {} ms of a message on its way, {} ms of the \
         driver for a call, {} µs of the leader for a message, {} ns to collect an entry and {} ns to \
         take one in, {} MB a second between two machines, {} MB a second of messages through the driver",
        first.cost("node_ns"),
        first.cost("thread_us"),
        first.cost("latency_us") / 1e3,
        first.call_ms(),
        first.cost("job_us"),
        first.cost("collect_ns"),
        first.cost("store_ns"),
        first.cost("megabytes"),
        first.cost("driver_megabytes"),
    );
    let texts = [("table", table(headings, &rows)), ("costs", costs)];
    page(include_str!("../pages/cluster.md"), &texts)
}

/// Speed-up and overhead by cores, on logarithmic scales.
pub fn figure(all: &[Simulation]) -> String {
    const SHAPES: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Diamond];
    let mut games: BTreeMap<u64, Vec<&Simulation>> = BTreeMap::new();
    for one in all {
        games.entry(one.alone).or_default().push(one);
    }
    let mut svg = Svg::new((960, 480));
    let mut at = 70;
    for (ones, (colour, shape)) in games.values().zip(COLOURS.into_iter().zip(SHAPES)) {
        svg.marker(shape, colour, (at, 24), true);
        let words =
            format!("{}, {} nodes on one thread", ones[0].game, short(ones[0].alone as f64));
        svg.text(&words, (at + 14, 24), 14, RIGHT_OF);
        at += 226;
    }
    svg.marker(Shape::Circle, INK, (at, 24), false);
    svg.text("if a call took no time", (at + 14, 24), 14, RIGHT_OF);
    let most_cores = all.iter().map(Simulation::cores).max().unwrap_or(1).next_power_of_two();
    type Panel = (&'static str, f64, fn(&Simulation) -> f64);
    let panels: [Panel; 2] = [
        ("Speed-up", f64::from(most_cores), Simulation::speedup),
        ("Overhead", 16.0, Simulation::overhead),
    ];
    for (panel, (title, most, value)) in panels.into_iter().enumerate() {
        svg.origin = (480 * panel as i32, 60);
        let (left, right, top, bottom) = (64, 456, 30, 370);
        let x = |cores: u32| {
            let part = part(f64::from(cores), 1.0, f64::from(most_cores));
            left + (part * f64::from(right - left)).round() as i32
        };
        let y = |value: f64| {
            let part = part(value.clamp(0.5, most), 0.5, most);
            bottom - (part * f64::from(bottom - top)).round() as i32
        };
        svg.text(title, (left, 6), 17, HEADING);
        for exponent in -1..=most.log2() as i32 {
            let number = 2f64.powi(exponent);
            svg.line(&[(left, y(number)), (right, y(number))], GRID, 1.0, 1);
            svg.text(&number.to_string(), (left - 8, y(number)), 13, LEFT_OF);
        }
        for exponent in 0..=most_cores.ilog2() {
            let cores = 1 << exponent;
            svg.line(&[(x(cores), top), (x(cores), bottom)], GRID, 1.0, 1);
            svg.text(&cores.to_string(), (x(cores), bottom + 8), 13, BELOW);
        }
        svg.text("cores", ((left + right) / 2, bottom + 27), 13, BELOW);
        svg.line(&[(left, bottom), (right, bottom)], INK, 1.0, 1);
        if panel == 0 {
            svg.line(&[(x(1), y(1.0)), (x(most_cores), y(f64::from(most_cores)))], INK, 0.5, 1);
        }
        for (ones, (colour, shape)) in games.values().zip(COLOURS.into_iter().zip(SHAPES)) {
            for one in ones {
                let at: At = (x(one.cores()), y(value(one)));
                svg.marker(shape, colour, at, !one.is_free());
                if one.threads > 1 {
                    let words = format!("{}×{}", one.machines, one.threads);
                    svg.text(&words, (at.0, at.1 - 8), 11, ABOVE);
                }
            }
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_raw_results() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks");
        let read = |name: &str| std::fs::read_to_string(format!("{docs}/{name}")).unwrap();
        let all = parse(&read("cluster.jsonl")).unwrap();
        assert_eq!(read("cluster.md"), markdown(&all));
        assert_eq!(read("cluster.svg"), figure(&all));
    }
}
