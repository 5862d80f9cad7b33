use konane::konane::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let board = Board::new(a[1].parse().unwrap());
    let p = Perft::new(&board);
    for d in 1..=a[2].parse().unwrap() {
        let t = std::time::Instant::now();
        let n = p.count(&Position::start(&board), d);
        println!("{d} {n} {:.4}", t.elapsed().as_secs_f64());
    }
}
