use konane::konane::game::*;
use konane::konane::*;
use konane::search::{control::*, dfpn::*, numbers::*, table::*};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let get = |k: &str, d: f64| -> f64 {
        a.iter()
            .find_map(|x| x.strip_prefix(&format!("{k}=")))
            .map(|x| x.parse().unwrap())
            .unwrap_or(d)
    };
    let board = Board::new(a[1].parse().unwrap());
    let est = if get("plain", 0.0) == 1.0 {
        Estimate::Mobility
    } else {
        let text = a.iter().find_map(|x| x.strip_prefix("w=")).unwrap_or("1.000,-1.053,1.079,-1.057,0.000,0.000,-2.000,2.000");
        let v: Vec<f64> = text.split(',').map(|x| x.parse().unwrap()).collect();
        Estimate::Features(Weights { landings: [v[0], v[1]], movable: [v[2], v[3]], contacts: [v[6], v[7]], bias: get("bias", 0.444), size: get("gamma", 1.66), scale: get("scale", 8.0) })
    };
    let game = Konane::new(&board, est);
    let table = Table::new((get("mem", 512.0) * 1048576.0) as usize).unwrap();
    let opt = DfpnOptions {
        combination: Combination {
            shift: get("shift", 3.0) as u32,
        },
        epsilon_1024: (get("eps", 0.15) * 1024.0) as u32,
        settle_budget: get("budget", 0.0) as u32,
        settle_effort: get("effort", 8.0) as u32,
    };
    let t = std::time::Instant::now();
    let root = board.symmetries().code(&Position::start(&board));
    let limits = Limits { nodes: Some(get("nodes", 2e9) as u64), ..Default::default() };
    let r = if get("ab", 0.0) > 0.0 {
        let o = konane::search::alphabeta::AlphaBetaOptions { step: get("ab", 1.0) as u32, settle_budget: opt.settle_budget, settle_effort: opt.settle_effort };
        konane::search::alphabeta::alphabeta(&game, root, &table, o, limits, &mut ())
    } else { dfpn(&game, root, &table, opt, limits, &mut ()) };
    let s = t.elapsed().as_secs_f64();
    let c = r.counters;
    println!(
        "{:?} nodes {:.3}M exp {:.3}M settle {:.3}M used {:.3}M repl {:.3}M  {:.3}s {:.2} Mn/s",
        r.outcome,
        c.nodes as f64 / 1e6,
        c.expansions as f64 / 1e6,
        c.settle_positions as f64 / 1e6,
        c.table_used as f64 / 1e6,
        c.table_replaced as f64 / 1e6,
        s,
        c.nodes as f64 / 1e6 / s
    );
}
