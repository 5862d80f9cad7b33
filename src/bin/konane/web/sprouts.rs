//! What was found about Sprouts: an [`Analyst`] in a [`Seat`], and its file of Grundy numbers.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::reply::Problem;
use super::seat::{Seat, Turn};
use crate::args::SearchMemoryArg;
use crate::commands::sprouts::engine::{NumbersArg, analyst};
use crate::exit::CliError;
use konane::sprouts::analysis::Analyst;

/// The analyst.
pub struct Sprouts {
    how: How,
    seat: Seat<Analyst>,
}

/// How an analyst is made.
#[derive(Clone)]
struct How {
    memory: u64,
    threads: NonZeroUsize,
    numbers: Option<PathBuf>,
}

impl How {
    fn make(&self) -> Result<Analyst, CliError> {
        let numbers = NumbersArg { db: self.numbers.clone() };
        Ok(analyst(SearchMemoryArg { memory: self.memory }, &numbers)?.threads(self.threads))
    }
}

impl Sprouts {
    /// With so much memory. Opens the file, so that what is wrong with it is found out now.
    pub fn new(
        memory: u64,
        threads: NonZeroUsize,
        numbers: Option<PathBuf>,
    ) -> Result<Self, CliError> {
        let how = How { memory, threads, numbers };
        let seat = if how.numbers.is_some() { Seat::of(how.make()?) } else { Seat::default() };
        Ok(Sprouts { how, seat })
    }

    /// Does some work with the analyst, on a thread where it may take its time.
    pub async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Analyst, &Turn) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let how = self.how.clone();
        self.seat.with(move || Ok(how.make()?), work).await
    }

    /// Ends all searches.
    pub fn stop(&self) {
        self.seat.stop();
    }

    /// Waits until the disk has all of the file.
    pub fn close(&self) -> Result<(), CliError> {
        match self.seat.take() {
            Some(analyst) => Ok(analyst.close().map(|_| ())?),
            // Somebody is still at work, who is not waited for; a file that is cut short is sound.
            None => Ok(()),
        }
    }
}
