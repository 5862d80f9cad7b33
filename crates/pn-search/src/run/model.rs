//! The gate, the counts of visits and the stop signals under the loom model checker
//! (`RUSTFLAGS="--cfg loom" cargo test --lib loom`).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::gate::Gate;
use super::signals::{Signal, Signals};
use super::visits::Visits;
use crate::table::{Entry, Stored, Table};

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn gate_of(members: usize) -> Gate {
    let gate = Gate::new();
    (0..members).for_each(|_| gate.join());
    gate
}

/// Something that every worker reads and only a standstill may change: loom reports an access at
/// the same time, and one that no lock orders.
struct Shared {
    gate: Gate,
    value: UnsafeCell<u32>,
}

#[allow(unsafe_code)]
impl Shared {
    fn read(&self) -> u32 {
        // SAFETY: what this model checks.
        self.value.with(|value| unsafe { *value })
    }

    fn pass(&self) {
        // SAFETY: what this model checks.
        self.gate.pass(|| self.value.with_mut(|value| unsafe { *value += 1 }));
    }
}

#[test]
fn loom_nobody_reads_while_the_work_is_done_and_nobody_waits_for_ever() {
    explore(3, || {
        let shared = Arc::new(Shared { gate: gate_of(3), value: UnsafeCell::new(0) });
        let others = [true, false].map(|requests| {
            let shared = shared.clone();
            thread::spawn(move || {
                shared.read();
                if requests {
                    shared.gate.request();
                }
                if shared.gate.is_wanted() {
                    shared.pass();
                    shared.read();
                }
                shared.gate.leave();
            })
        });
        shared.read();
        if shared.gate.is_wanted() {
            shared.pass();
        }
        shared.gate.leave();
        for other in others {
            other.join().unwrap();
        }
        // The one who asked was there itself, so it has been done, once.
        assert_eq!(shared.read(), 1);
    });
}

#[test]
fn loom_two_who_ask_are_served_once_or_twice() {
    explore(3, || {
        let shared = Arc::new(Shared { gate: gate_of(2), value: UnsafeCell::new(0) });
        let ask = |shared: &Shared| {
            shared.gate.request();
            shared.pass();
            assert!(shared.read() >= 1);
            shared.gate.leave();
        };
        let other = {
            let shared = shared.clone();
            thread::spawn(move || ask(&shared))
        };
        ask(&shared);
        other.join().unwrap();
        assert!((1..=2).contains(&shared.read()));
    });
}

/// A worker whose work panics takes the panic with it; the other two go on.
#[test]
fn loom_a_panic_in_the_work_releases_the_other_workers() {
    explore(2, || {
        let gate = Arc::new(gate_of(3));
        gate.request();
        let run = |gate: &Gate| {
            let result = catch_unwind(AssertUnwindSafe(|| {
                // Without the panic hook, which would print a message for each interleaving.
                gate.pass(|| resume_unwind(Box::new(())));
            }));
            gate.leave();
            result.is_err()
        };
        let others = [0, 1].map(|_| {
            let gate = gate.clone();
            thread::spawn(move || run(&gate))
        });
        let mut panics = usize::from(run(&gate));
        for other in others {
            panics += usize::from(other.join().unwrap());
        }
        assert_eq!(panics, 1);
        assert!(!gate.is_wanted());
    });
}

/// Two workers with one table each store an entry, and one lets the table grow. A growth that met a
/// store would lose or misplace an entry, or touch a cell that no lock orders.
#[test]
fn loom_growth_is_alone_with_the_table() {
    explore(3, || {
        let shared = Arc::new((gate_of(2), Table::growing_from_one_cluster()));
        // The codes' upper bits say into which half they belong.
        let workers = [(1u64, true), (1 << 63, false)].map(|(code, requests)| {
            let shared = shared.clone();
            thread::spawn(move || {
                let (gate, table) = &*shared;
                let entry = Entry { phi: 1, delta: 1, work: 1 };
                assert_eq!(table.store(code, code, entry), Stored::Filled);
                if requests {
                    gate.request();
                }
                if gate.is_wanted() {
                    gate.pass(|| table.grow(1, |code| code));
                }
                gate.leave();
            })
        });
        for worker in workers {
            worker.join().unwrap();
        }
        for code in [1, 1 << 63] {
            assert!(shared.1.lookup(code, code).is_some());
        }
    });
}

#[test]
fn loom_visits_are_all_counted_and_news_are_seen() {
    explore(3, || {
        let visits = Arc::new(Visits::with_bits(1));
        let before = visits.enter(0);
        let others = [0, 1].map(|tells| {
            let visits = visits.clone();
            thread::spawn(move || {
                visits.enter(0);
                for _ in 0..tells {
                    visits.tell(0);
                }
                visits.leave(0);
            })
        });
        let seen = visits.look(0);
        assert!((1..=3).contains(&seen.count()));
        assert!(seen.count() <= 1 + seen.news_since(before));
        for other in others {
            other.join().unwrap();
        }
        let after = visits.look(0);
        assert_eq!((after.count(), after.news_since(before)), (1, 3));
        assert_eq!(visits.leave(0), 0);
    });
}

#[test]
fn loom_a_message_arrives_once_unless_a_later_one_replaces_it() {
    explore(3, || {
        let signals = Arc::new(Signals::new(3));
        let senders = [1, 2].map(|sender| {
            let signals = signals.clone();
            thread::spawn(move || signals.send(sender, 10 * sender as u64))
        });
        let take = |worker| match signals.take(worker) {
            Some(Signal::Solved(key)) => Some(key),
            Some(Signal::Cancel) => panic!("no job was cancelled"),
            None => None,
        };
        let first = take(0);
        let second = take(0);
        for sender in senders {
            sender.join().unwrap();
        }
        let third = take(0);
        assert_eq!(take(0), None);
        let mut taken: Vec<u64> = [first, second, third].into_iter().flatten().collect();
        assert!(!taken.is_empty() && taken.len() <= 2);
        taken.sort();
        taken.dedup();
        assert!(taken.iter().all(|key| [10, 20].contains(key)));
        assert_eq!(take(1), Some(20));
        assert_eq!(take(2), Some(10));
    });
}
