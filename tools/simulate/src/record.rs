//! What came of a simulation.

use crate::costs::Costs;
use crate::flags::Flags;
use crate::world::Traffic;

/// What came of a simulation: what was found, of a game, and what it took.
#[derive(Debug, serde::Serialize)]
pub struct Record<F> {
    pub game: String,
    pub machines: u32,
    pub threads: usize,
    pub job_nodes: u64,
    #[serde(flatten)]
    pub found: F,
    /// On the virtual clock.
    pub seconds: f64,
    pub costs: Costs,
    pub traffic: Traffic,
    pub real_seconds: f64,
}

/// What was found.
pub trait Found: serde::Serialize {
    /// Names and texts, for people; the search took so many seconds.
    fn rows(&self, costs: &Costs, seconds: f64) -> Vec<(&'static str, String)>;
}

impl<F: Found> Record<F> {
    /// Prints it as the flags say.
    pub fn tell(&self, flags: &Flags) -> serde_json::Result<()> {
        if flags.json {
            println!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        let Record { traffic, costs, .. } = self;
        println!(
            "{}: {} machines of {} threads, jobs of {} nodes",
            self.game, self.machines, self.threads, self.job_nodes
        );
        let mut rows = self.found.rows(costs, self.seconds);
        rows.push(("time", format!("{:.3} s on the virtual clock", self.seconds)));
        let busy = traffic.busy * 100.0;
        rows.push(("machines", format!("{busy:.0} % of the time searching")));
        rows.push(("driver", format!("{:.0} % of the time busy", traffic.driver * 100.0)));
        let messages = traffic.message_bytes as f64 / 1e6;
        let mut sent = format!("{messages:.1} MB of messages with {} jobs", traffic.jobs);
        if traffic.fetched > 0 {
            let entries = traffic.entry_bytes as f64 / 1e6;
            sent += &format!(", {entries:.1} MB of entries with {} of them", traffic.fetched);
        }
        rows.push(("sent", sent));
        rows.push(("called off", format!("{} jobs", traffic.called_off)));
        let (real, entry) = (self.real_seconds, traffic.collect_ns);
        let (leader, message) = (traffic.leader_seconds, traffic.leader_us);
        let mut real =
            format!("{real:.1} s; {leader:.2} s of the leader, {message:.1} µs a message");
        if traffic.fetched > 0 {
            real += &format!("; {entry:.0} ns for an entry");
        }
        rows.push(("real", real));
        for (name, text) in rows {
            println!("{name:11} {text}");
        }
        Ok(())
    }
}
