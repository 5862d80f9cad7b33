//! The events of a search, for whoever listens, from the first one on.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

/// When there are so many events, every other one of them is forgotten.
const MOST_EVENTS: usize = 1024;

/// The events, as they are sent.
#[derive(Debug)]
pub struct History {
    log: Mutex<Log>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Log {
    /// By their numbers, which count from 1.
    events: Vec<(u64, String)>,
    last: u64,
    ended: bool,
}

impl History {
    /// Without events.
    pub fn new() -> Self {
        History { log: Mutex::default(), changed: watch::Sender::new(()) }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event.
    pub fn tell(&self, name: &str, data: &impl Serialize) {
        self.add(name, data, false);
    }

    /// Adds the last event.
    pub fn end(&self, name: &str, data: &impl Serialize) {
        self.add(name, data, true);
    }

    fn add(&self, name: &str, data: &impl Serialize, last: bool) {
        let data = serde_json::to_string(data).expect("texts and numbers");
        let mut log = self.log();
        if log.events.len() >= MOST_EVENTS {
            let mut odd = false;
            log.events.retain(|_| {
                odd = !odd;
                odd
            });
        }
        log.last += 1;
        log.ended = last;
        let (number, mut text) = (log.last, String::new());
        let _ = write!(text, "id: {number}\nevent: {name}\ndata: {data}\n\n");
        log.events.push((number, text));
        drop(log);
        self.changed.send_replace(());
    }

    /// Hears of new events.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// The events after the one with this number, the number of the last one, and whether it was the
    /// end.
    pub fn since(&self, heard: u64) -> (String, u64, bool) {
        let log = self.log();
        let begin = log.events.partition_point(|&(number, _)| number <= heard);
        let texts = log.events[begin..].iter().map(|(_, text)| text.as_str());
        (texts.collect(), log.last, log.ended)
    }

    /// Whether there will be no more events.
    pub fn has_ended(&self) -> bool {
        self.log().ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_listeners_hear_everything_and_long_histories_are_thinned() {
        let history = History::new();
        assert_eq!(history.since(0), (String::new(), 0, false));
        history.tell("progress", &[1]);
        history.tell("progress", &[2]);
        let first = "id: 1\nevent: progress\ndata: [1]\n\n";
        let second = "id: 2\nevent: progress\ndata: [2]\n\n";
        assert_eq!(history.since(0), (format!("{first}{second}"), 2, false));
        assert_eq!(history.since(1), (second.to_owned(), 2, false));
        for number in 3..=10_000 {
            history.tell("progress", &[number]);
            // Who listens all the time misses nothing.
            let (text, last, _) = history.since(number - 1);
            assert_eq!((text.matches("event").count(), last), (1, number));
        }
        history.end("end", &());
        let (all, last, ended) = history.since(0);
        assert!((MOST_EVENTS / 2..=MOST_EVENTS).contains(&all.matches("event").count()));
        assert!(all.starts_with(first) && all.ends_with("event: end\ndata: null\n\n"));
        assert_eq!((last, ended, history.has_ended()), (10_001, true, true));
        assert_eq!(history.since(last), (String::new(), last, true));
    }
}
