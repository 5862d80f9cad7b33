use super::*;
use crate::konane::notation::parse_position;
use crate::konane::{SolveOptions, Solver};
use crate::search::run::{Limits, Reason};

fn board(text: &str) -> Board {
    Board::new(text.parse().unwrap())
}

fn options() -> SolveOptions {
    SolveOptions { memory_bytes: 16 << 20, ..SolveOptions::default() }
}

/// Solves a position with a file, to which positions of any effort are added.
fn solve(path: &Path, position: &Position) -> (crate::Solution, ResultsUse) {
    let board = position.board();
    let results = ResultsFile::open(path, &board).unwrap().min_work(4);
    let solver = Solver::new(&board, position).options(options()).results(Some(&results));
    let solution = solver.run().unwrap();
    let used = results.in_use();
    assert!(results.into_error().is_none());
    (solution, used)
}

fn all(path: &Path) -> Vec<Solved> {
    let mut records = Vec::new();
    read(path, |solved| records.push(solved)).unwrap();
    records
}

fn verify_all(path: &Path) -> VerifiedResults {
    verify(path, None, options(), Limits::default(), |_, _| ()).unwrap()
}

#[test]
fn a_search_adds_results_that_a_later_one_uses() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let mut records = 0;
    for text in ["5x6", "6x6", "5x7"] {
        let board = board(text);
        let start = Position::start(&board);
        let (first, added) = solve(path, &start);
        assert!(added.loaded == 0 && added.added > 5, "{added:?}");
        let (second, used) = solve(path, &start);
        assert_eq!((used.loaded, used.added), (added.added, 0));
        assert_eq!(second.winner, first.winner);
        assert!(second.nodes < first.nodes / 5, "{} {}", second.nodes, first.nodes);
        if let Some(best) = second.best_move {
            let after = Solver::new(&board, &start.play(&board, best)).options(options());
            assert_eq!(after.run().unwrap().winner, first.winner, "{text} {best}");
        }
        records += added.added;
    }
    let verified = verify_all(path);
    assert_eq!((verified.records, verified.solved), (records, records));
    assert_eq!((verified.wrong, verified.reason), (vec![], None));
}

#[test]
fn wrong_outcomes_are_found_and_limits_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let (_, used) = solve(path, &Position::start(&board("5x6")));
    let Solved { position, value } = all(path)[used.added as usize / 2];
    let copy = &folder.path().join("copy");
    let others: Vec<_> =
        all(path).into_iter().filter(|solved| solved.position != position).collect();
    add(copy, &others, |_| ()).unwrap();
    let wrong = Solved { position, value: !value };
    assert_eq!(add(copy, &[wrong], |_| ()).unwrap(), 1);
    assert_eq!(verify_all(copy).wrong, [position]);
    let error = add(copy, &all(path), |_| ()).unwrap_err();
    assert!(matches!(error, ResultsError::Contradiction { .. }), "{error}");
    assert_eq!(verify_all(copy).records, used.added);

    let sample = verify(path, Some(5), options(), Limits::default(), |_, of| assert_eq!(of, 5));
    assert_eq!(sample.unwrap().solved, 5);
    let limits = Limits { nodes: Some(100), ..Limits::default() };
    let verified = verify(path, None, options(), limits, |_, _| ()).unwrap();
    assert!(verified.solved < used.added && verified.reason == Some(Reason::NodeLimit));
}

#[test]
fn equivalent_positions_have_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("results");
    let board = board("4x4");
    let solved = |text, value| Solved { position: parse_position(&board, text).unwrap(), value };
    let one = solved("xoxo/oxox/xox1/ox2 b", Value::Win);
    let turned = solved("2xo/1xox/xoxo/oxox b", Value::Win);
    assert_eq!(one.position.code(&board), turned.position.code(&board));
    assert_eq!(add(path, &[one, turned], |_| ()).unwrap(), 1);
    assert_eq!(add(path, &[turned], |_| ()).unwrap(), 0);
    let other = Solved { value: Value::Loss, ..turned };
    assert!(add(path, &[other], |_| ()).is_err());
    assert_eq!(all(path), [one]);
}

#[test]
fn invalid_records_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    for (text, number, problem) in [
        ("xo/ox b", 2, "neither 0 nor 1"),
        ("", 0, "no board"),
        ("xo/oxo b", 1, "rank"),
        ("1ox b jump", 1, "standard rules"),
    ] {
        let path = &folder.path().join(number.to_string() + &text.replace('/', "-"));
        let ignore = |_: Record<'_>| Ok::<(), RecordFileError>(());
        let (mut file, _) = RecordFile::open(path, RESULTS, ignore).unwrap();
        file.append(text, number).unwrap();
        file.close().unwrap();
        let error = read(path, |_| ()).unwrap_err();
        assert!(matches!(error, ResultsError::Record { place: 48, .. }), "{error:?}");
        assert!(error.to_string().contains(problem), "{error}");
        assert!(add(path, &[], |_| ()).is_err());
    }
}

/// Several threads add overlapping results at the same time, each as its own process would.
#[test]
fn additions_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (path, source) = (&folder.path().join("results"), &folder.path().join("source"));
    solve(source, &Position::start(&board("5x6")));
    let records = &all(source);
    std::thread::scope(|scope| {
        for worker in 0..4 {
            scope.spawn(move || {
                for (_, chunk) in
                    records.chunks(7).enumerate().filter(|(index, _)| (index + worker) % 4 < 2)
                {
                    add(path, chunk, |_| ()).unwrap();
                }
            });
        }
    });
    let (mut kept, mut expected) = (all(path), records.clone());
    let order = |solved: &Solved| (solved.position.occupied(), solved.position.to_move());
    kept.sort_by_key(order);
    expected.sort_by_key(order);
    assert_eq!(kept, expected);
}
