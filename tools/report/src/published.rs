//! Published figures, from `tests/data`: of B. Siefke, "Solving Konane Using Proof-Number Search and
//! Extensions", TU Berlin 2025 ("the thesis"), and the outcomes of Sprouts.

use std::str::FromStr;

const SEARCH: &str = include_str!("../../../tests/data/konane_search_6x6.csv");
const SQUARES: &str = include_str!("../../../tests/data/konane_pn2_square_boards.csv");
const PERFT: &str = include_str!("../../../tests/data/perft_8x8.csv");
const UNIQUE: &str = include_str!("../../../tests/data/unique_states.csv");
const WINNERS: &str = include_str!("../../../tests/data/konane_winners.csv");
const SPROUTS: &str = include_str!("../../../tests/data/sprouts_outcomes.csv");

/// A search of 6x6 on one thread (Table 4.2).
pub struct Search {
    pub seconds: f64,
    /// Given in millions with two decimals.
    pub nodes: f64,
}

/// A search of 6x6 on several threads (Table 4.3).
pub struct Scaling {
    pub threads: u32,
    pub seconds: f64,
    /// Time on one thread by this time.
    pub speedup: f64,
    /// Nodes by those on one thread.
    pub overhead: f64,
}

/// A square board solved by PN² on 64 threads (Table 4.4).
pub struct SquareBoard {
    pub board: &'static str,
    pub seconds: f64,
    pub l1_nodes: u64,
    pub l2_nodes: u64,
}

/// A row of the perft table of 8x8 (Table B.1).
pub struct Perft {
    pub depth: usize,
    pub nodes: u64,
    pub seconds: f64,
}

/// The data rows of a table, without comments and heading.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.skip(1).map(|line| line.split(',').collect())
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not a number"))
}

/// Table 4.2, by the program's name of the algorithm.
pub fn search_6x6(algorithm: &str) -> Search {
    let name = if algorithm == "ab" { "alphabeta" } else { algorithm };
    let row = rows(SEARCH).find(|row| row[0] == name && row[6].ends_with("Table 4.2"));
    let row = row.unwrap_or_else(|| panic!("{algorithm} is not in Table 4.2"));
    Search { seconds: number(row[2]), nodes: number::<f64>(row[3]) * 1e6 }
}

/// Table 4.3, by the program's name of the algorithm; empty for those that it does not have.
pub fn scaling_6x6(algorithm: &str) -> Vec<Scaling> {
    rows(SEARCH)
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
pub fn square_boards() -> impl Iterator<Item = SquareBoard> {
    rows(SQUARES).map(|row| SquareBoard {
        board: row[0],
        seconds: number::<f64>(row[1]) / 1e3,
        l1_nodes: number(row[2]),
        l2_nodes: number(row[3]),
    })
}

/// Table B.1.
pub fn perft_8x8() -> impl Iterator<Item = Perft> {
    rows(PERFT).map(|row| Perft {
        depth: number(row[0]),
        nodes: number(row[1]),
        seconds: number::<f64>(row[2]) / 1e3,
    })
}

/// Table 4.1: new positions of 5x5 at plies 1 to 10, with and without symmetry reduction.
pub fn unique_5x5() -> [Vec<u64>; 2] {
    let board = rows(UNIQUE).filter(|row| row[0] == "5x5");
    let (with, without) = board.map(|row| (number::<u64>(row[2]), number::<u64>(row[3]))).unzip();
    [with, without]
}

/// Figure 4.3: `black` or `white`; nothing where the thesis has no answer.
pub fn winner(board: &str) -> Option<&'static str> {
    let row = rows(WINNERS).find(|row| row[0] == board)?;
    Some(row[1]).filter(|&winner| winner != "unknown")
}

/// `win` or `loss` for the first player from so many isolated spots.
pub fn sprouts_outcome(spots: u32) -> Option<&'static str> {
    rows(SPROUTS).find(|row| row[0] == spots.to_string()).map(|row| row[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read_as_printed() {
        let dfpn = search_6x6("dfpn");
        assert_eq!((dfpn.seconds, dfpn.nodes.round()), (39.73, 46_360_000.0));
        assert_eq!(search_6x6("ab").seconds, 4432.66);
        let on_two = &scaling_6x6("dfpn")[1];
        assert_eq!((on_two.threads, on_two.seconds, on_two.speedup), (2, 33.86, 1.54));
        assert!(scaling_6x6("pns").is_empty());
        let square = square_boards().nth(5).unwrap();
        assert_eq!((square.board, square.seconds), ("6x6", 6.63));
        assert_eq!(perft_8x8().nth(9).unwrap().nodes, 51_883_544);
        let [with, without] = unique_5x5();
        assert_eq!((with.len(), with[9], without[9]), (10, 10_784, 86_132));
        let winners = ["6x6", "8x8", "99x1"].map(winner);
        assert_eq!(winners, [Some("white"), None, None]);
        assert_eq!([7, 8, 1000].map(sprouts_outcome), [Some("loss"), Some("loss"), None]);
    }
}
