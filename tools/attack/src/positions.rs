//! Positions of Konane on boards of all shapes: every algorithm against plain recursion by rules of its
//! own.

use std::collections::HashMap;

use crate::run::Attack;

/// The rules, square by square. Square `rank * files + file` is black if rank + file is even.
struct Rules {
    ranks: i32,
    files: i32,
}

impl Rules {
    fn is_black(&self, square: i32) -> bool {
        (square / self.files + square % self.files) % 2 == 0
    }

    fn squares(&self) -> i32 {
        self.ranks * self.files
    }

    /// The square so many steps away, if it is on the board.
    fn step(&self, square: i32, (down, right): (i32, i32), steps: i32) -> Option<i32> {
        let (rank, file) =
            (square / self.files + down * steps, square % self.files + right * steps);
        let on_board = (0..self.ranks).contains(&rank) && (0..self.files).contains(&file);
        on_board.then_some(rank * self.files + file)
    }

    /// The positions after each move of the side to move.
    fn moves(&self, stones: u64, black: bool) -> Vec<u64> {
        const WAYS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
        let has = |square: i32| stones >> square & 1 == 1;
        let own =
            (0..self.squares()).filter(|&square| has(square) && self.is_black(square) == black);
        let empty: Vec<i32> = (0..self.squares()).filter(|&square| !has(square)).collect();
        let middle = |at: i32, length: i32| at == length / 2 || at == (length - 1) / 2;
        let end = |at: i32, length: i32| at == 0 || at == length - 1;
        match empty[..] {
            [] => own
                .filter(|square| {
                    let (rank, file) = (square / self.files, square % self.files);
                    end(rank, self.ranks) && end(file, self.files)
                        || middle(rank, self.ranks) && middle(file, self.files)
                })
                .map(|square| stones & !(1 << square))
                .collect(),
            [hole] => own
                .filter(|&square| WAYS.iter().any(|&way| self.step(hole, way, 1) == Some(square)))
                .map(|square| stones & !(1 << square))
                .collect(),
            _ => {
                let mut after = Vec::new();
                for square in own {
                    for way in WAYS {
                        let mut left = stones & !(1 << square);
                        let mut steps = 1;
                        while let (Some(over), Some(to)) =
                            (self.step(square, way, steps), self.step(square, way, steps + 1))
                        {
                            if !has(over) || has(to) {
                                break;
                            }
                            left &= !(1 << over);
                            after.push(left | 1 << to);
                            steps += 2;
                        }
                    }
                }
                after
            }
        }
    }

    /// Whether the side to move wins; nothing if that takes too long.
    fn wins(
        &self,
        stones: u64,
        black: bool,
        known: &mut HashMap<(u64, bool), bool>,
    ) -> Option<bool> {
        if let Some(&wins) = known.get(&(stones, black)) {
            return Some(wins);
        }
        if known.len() > 200_000 {
            return None;
        }
        let mut wins = false;
        for after in self.moves(stones, black) {
            if !self.wins(after, !black, known)? {
                wins = true;
                break;
            }
        }
        known.insert((stones, black), wins);
        Some(wins)
    }

    fn text(&self, stones: u64, black: bool) -> String {
        let rank = |rank: i32| {
            let (mut text, mut gap) = (String::new(), 0);
            for square in rank * self.files..(rank + 1) * self.files {
                if stones >> square & 1 == 0 {
                    gap += 1;
                    continue;
                }
                text += &if gap > 0 { gap.to_string() } else { String::new() };
                text.push(if self.is_black(square) { 'x' } else { 'o' });
                gap = 0;
            }
            text + &if gap > 0 { gap.to_string() } else { String::new() }
        };
        let ranks: Vec<String> = (0..self.ranks).map(rank).collect();
        format!("{} {}", ranks.join("/"), if black { 'b' } else { 'w' })
    }
}

pub fn positions(attack: &mut Attack) {
    while attack.goes_on() {
        let random = &mut attack.random;
        let most = *random.pick(&[8, 8, 8, 64]);
        let ranks = 1 + random.below(most);
        let files = 1 + random.below(64 / ranks);
        let rules = Rules { ranks: ranks as i32, files: files as i32 };
        let all = u64::MAX >> (64 - ranks * files);
        // From the start, some moves on, or any stones.
        let (mut stones, mut black) = (all, true);
        if random.below(3) == 0 {
            for _ in 0..random.below(20) {
                let after = rules.moves(stones, black);
                if !after.is_empty() {
                    (stones, black) = (*random.pick(&after), !black);
                }
            }
        } else {
            let density = 1 + random.below(7) as u64;
            stones =
                (0..64).filter(|_| random.next() % 8 < density).fold(0, |set, bit| set | 1 << bit)
                    & all;
            black = random.below(2) == 0;
            if (all ^ stones).count_ones() < 2 {
                continue;
            }
        }
        let Some(wins) = rules.wins(stones, black, &mut HashMap::new()) else {
            continue;
        };
        let search = *random.pick(&[
            "dfpn --threads 1",
            "dfpn --threads 3",
            "dfpn --profile thesis",
            "pns",
            "pns --profile thesis",
            "pn2 --threads 1",
            "pn2 --threads 2",
            "pn2 --profile thesis --threads 1",
            "ab",
            "pns-pdfpn --threads 2",
        ]);
        let text = rules.text(stones, black);
        let place = text.replace(' ', "~");
        let args = format!(
            "solve {ranks}x{files} --position {place} --memory 16MiB --json --quiet --algo {search}"
        );
        let folder = attack.folder();
        let end = attack.run(&args, folder.path());
        let winner = if wins == black { "black" } else { "white" };
        let answer = end.member("winner").unwrap_or_else(|| "nothing".to_string());
        // PNS keeps its whole tree, for which there may be no memory.
        let gave_up = end.code == Some(3) && end.member("reason").as_deref() == Some("memory");
        let wrong = !gave_up && (end.code != Some(0) || answer != winner);
        let fault = end.fault().or_else(|| wrong.then(|| format!("wrong answer {answer}")));
        attack.count(search.split(' ').next().expect("a name"), &end, fault, &args);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boards whose winners are published, small enough for plain recursion.
    #[test]
    fn starts_are_won_as_published() {
        for (ranks, files, black) in
            [(1, 1, true), (1, 4, false), (1, 5, true), (3, 3, false), (4, 4, false)]
        {
            let rules = Rules { ranks, files };
            let all = u64::MAX >> (64 - ranks * files);
            assert_eq!(rules.wins(all, true, &mut HashMap::new()), Some(black), "{ranks}x{files}");
        }
        assert_eq!(Rules { ranks: 3, files: 3 }.text(0b101_010_100, true), "2x/1x1/x1x b");
    }

    /// Table B.1 of the thesis for 8x8: 4, 12, 28, 172 move sequences.
    #[test]
    fn moves_are_counted_as_published() {
        let rules = Rules { ranks: 8, files: 8 };
        let mut positions = vec![u64::MAX];
        let mut counts = Vec::new();
        for ply in 0..4 {
            positions =
                positions.iter().flat_map(|&stones| rules.moves(stones, ply % 2 == 0)).collect();
            counts.push(positions.len());
        }
        assert_eq!(counts, [4, 12, 28, 172]);
    }
}
