//! The search for a request.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::AnswerWriter;
use super::protocol::{EngineAnswerJson, EngineProgressJson, EngineRequest};
use crate::trace::ProgressJson;
use konane::analysis::{Analysis, AnalysisError, Analyst, ChosenMove};
use konane::search::run::{Limits, Progress, Reason};
use konane::{Algorithm, Board, Move, Position};

/// A request in flight.
pub struct Job {
    pub request: EngineRequest,
    pub board: Board,
    pub position: Position,
    /// Ends the search.
    pub stop: AtomicBool,
    /// True if a thread has begun the search, or if the request was stopped before.
    pub is_begun: AtomicBool,
}

impl Job {
    /// Returns a job that has not begun.
    pub fn new(request: EngineRequest, board: Board, position: Position) -> Self {
        let [stop, is_begun] = [(); 2].map(|()| AtomicBool::new(false));
        Job { request, board, position, stop, is_begun }
    }

    /// Returns the answer with the known values.
    fn answer(
        &self,
        analysis: Analysis,
        choice: Option<ChosenMove>,
        line: Option<Vec<Move>>,
        (nodes, seconds): (u64, f64),
    ) -> EngineAnswerJson {
        EngineAnswerJson {
            id: self.request.id.clone(),
            board: analysis.board,
            position: analysis.position,
            to_move: analysis.to_move,
            phase: analysis.phase,
            judgement: analysis.judgement,
            winner: analysis.winner,
            reason: analysis.reason,
            best_move: choice.map(|choice| choice.mv),
            moves: self.request.values.then_some(analysis.moves),
            line,
            nodes,
            seconds,
        }
    }

    /// Returns the answer to a request that was stopped before its search began.
    pub fn stopped(&self) -> EngineAnswerJson {
        let mut analysis = Analysis::new(&self.board, &self.position);
        analysis.reason = Some(Reason::Interrupted);
        self.answer(analysis, None, self.request.line.then(Vec::new), (0, 0.0))
    }

    /// Finds the values that are requested, with an analyst that no other request uses.
    pub fn search(
        self: &Arc<Self>,
        analyst: Analyst,
        output: &Arc<AnswerWriter>,
    ) -> Result<EngineAnswerJson, AnalysisError> {
        let (request, position, begun) = (&self.request, &self.position, Instant::now());
        let mut analyst = match request.progress {
            None => analyst,
            Some(interval) => {
                let (job, output) = (Arc::clone(self), Arc::clone(output));
                let mut due = interval;
                analyst.on_progress(move |searched, progress| {
                    let elapsed = begun.elapsed();
                    if elapsed >= due {
                        due = elapsed.saturating_add(interval);
                        output.write(&job.progress(searched, progress, elapsed));
                    }
                })
            }
        };
        let limits = |nodes: u64| Limits {
            nodes: request.max_nodes.map(|max| max.get().saturating_sub(nodes)),
            // A time that the clock cannot represent is no limit.
            deadline: request.time_limit.and_then(|limit| begun.checked_add(limit)),
            stop: Some(&self.stop),
            ..Limits::default()
        };
        let (analysis, choice) = if request.values {
            let analysis = analyst.analyse(position, limits(0), &mut |_| {})?;
            let analysis = analyst.find_remoteness(analysis, limits(analyst.nodes()))?;
            // One expansion, which finds the best move by the results in the table.
            let one = Limits { nodes: Some(2), ..Limits::default() };
            (analysis, analyst.solve(position, one)?.1)
        } else {
            analyst.solve(position, limits(0))?
        };
        let line = match analysis.judgement {
            _ if !request.line => None,
            None => Some(Vec::new()),
            Some(_) => Some(analyst.line(position, limits(analyst.nodes()))?),
        };
        let counts = (analyst.nodes(), begun.elapsed().as_secs_f64());
        Ok(self.answer(analysis, choice, line, counts))
    }

    /// Returns a report of the progress of a search of `searched`.
    fn progress(
        &self,
        searched: &Position,
        progress: &Progress<'_>,
        elapsed: Duration,
    ) -> EngineProgressJson {
        let seconds = elapsed.as_secs_f64();
        let report = match *searched == self.position {
            true => {
                let (board, algorithm) = (&self.board, Algorithm::Dfpn);
                ProgressJson::of_konane(progress, seconds, board, searched, algorithm)
            }
            // The numbers are those of a position after a move.
            false => ProgressJson { pn: None, dn: None, ..ProgressJson::new(progress, seconds) },
        };
        EngineProgressJson { id: self.request.id.clone(), progress: true, report }
    }
}
