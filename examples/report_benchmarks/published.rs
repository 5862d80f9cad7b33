//! The thesis' figures: B. Siefke, "Solving Konane Using Proof-Number Search and Extensions",
//! TU Berlin 2025.

/// A search of 6x6 on one thread (Table 4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Time.
    pub seconds: f64,
    /// Nodes, given in millions with two decimals.
    pub nodes: f64,
}

/// A search of 6x6 on several threads (Table 4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Threads.
    pub threads: u32,
    /// Time.
    pub seconds: f64,
    /// Time on one thread by this time.
    pub speedup: f64,
    /// Nodes by those on one thread.
    pub overhead: f64,
}

/// A square board solved by PN² on 64 threads (Table 4.4).
#[derive(Clone, Debug, PartialEq)]
pub struct SquareBoard {
    /// Ranks x files.
    pub board: &'static str,
    /// Time.
    pub seconds: f64,
    /// Nodes of the first level.
    pub l1_nodes: u64,
    /// Nodes of all second levels.
    pub l2_nodes: u64,
}

/// A row of the perft table of 8x8 (Table B.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perft {
    /// Plies.
    pub depth: usize,
    /// Move sequences.
    pub nodes: u64,
    /// Time.
    pub seconds: f64,
}

/// The data rows of a table, without comments and heading.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.skip(1).map(|line| line.split(',').collect())
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

/// Table 4.2, by the program's name of the algorithm.
pub fn search_6x6(algorithm: &str) -> Option<Search> {
    let name = if algorithm == "ab" { "alphabeta" } else { algorithm };
    rows(include_str!("../../tests/data/konane_search_6x6.csv"))
        .find(|row| row[0] == name && row[6].ends_with("Table 4.2"))
        .map(|row| Search { seconds: number(row[2]), nodes: number::<f64>(row[3]) * 1e6 })
}

/// Table 4.3, by the program's name of the algorithm; empty for those that it does not have.
pub fn scaling_6x6(algorithm: &str) -> Vec<Scaling> {
    rows(include_str!("../../tests/data/konane_search_6x6.csv"))
        .filter(|row| row[0] == algorithm && row[6].ends_with("Table 4.3"))
        .map(|row| Scaling {
            threads: number(row[1]),
            seconds: number(row[2]),
            speedup: number(row[4]),
            overhead: number(row[5]),
        })
        .collect()
}

/// Table 4.4.
pub fn square_boards() -> Vec<SquareBoard> {
    rows(include_str!("../../tests/data/konane_pn2_square_boards.csv"))
        .map(|row| SquareBoard {
            board: row[0],
            seconds: number::<f64>(row[1]) / 1e3,
            l1_nodes: number(row[2]),
            l2_nodes: number(row[3]),
        })
        .collect()
}

/// Table B.1.
pub fn perft_8x8() -> Vec<Perft> {
    rows(include_str!("../../tests/data/perft_8x8.csv"))
        .map(|row| Perft {
            depth: number(row[0]),
            nodes: number(row[1]),
            seconds: number::<f64>(row[2]) / 1e3,
        })
        .collect()
}

/// Table 4.1: new positions of 5x5 at plies 1 to 10, with and without symmetry reduction.
pub fn unique_5x5() -> [Vec<u64>; 2] {
    let board =
        rows(include_str!("../../tests/data/unique_states.csv")).filter(|row| row[0] == "5x5");
    let (with, without) = board.map(|row| (number::<u64>(row[2]), number::<u64>(row[3]))).unzip();
    [with, without]
}

/// Figure 4.3: `black` or `white`; nothing where the thesis has no answer.
pub fn winner(board: &str) -> Option<&'static str> {
    rows(include_str!("../../tests/data/konane_winners.csv"))
        .find(|row| row[0] == board)
        .map(|row| row[1])
        .filter(|&winner| winner != "unknown")
}
