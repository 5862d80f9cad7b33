//! The store of canonical forms: each game once, with its options, stops and negative.

use std::sync::atomic::{AtomicU32, Ordering};

use ahash::RandomState;
use hashbrown::{HashMap, HashTable};
use pn_search::allocation::try_reserve_exact;
use pn_search::run::{Limits, Reason};

use super::compare::{CompareMemo, Stop};
use super::dyadic::Dyadic;
use super::thermograph::Thermograph;

/// Number of comparisons and other steps between two polls of the clock and the stop flag.
const POLL_INTERVAL: u32 = 1 << 12;

/// Initial capacity of the lists, in elements.
const FIRST_CAPACITY: usize = 1 << 10;

/// A game of a [`GameStore`]. Two ids of a store are equal exactly if the games are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId {
    pub(super) index: u32,
    store: u32,
}

/// Number, multiple of ↑, and nimber whose sum a game is (*number-up-star* in Siegel's book).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberUpStar {
    pub number: Dyadic,
    pub ups: i32,
    pub star: u32,
}

/// Options, stops and names of a canonical form.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameNode {
    /// Place of the left options, which precede the right options.
    start: u32,
    lefts: u16,
    rights: u16,
    pub negative: u32,
    pub left_stop: Stop,
    pub right_stop: Stop,
    pub sum_of: Option<NumberUpStar>,
}

impl GameNode {
    /// Returns true if the game is a number. Only then is the right stop above the left stop.
    #[inline]
    pub fn is_number(&self) -> bool {
        self.left_stop < self.right_stop
    }
}

/// Canonical forms of short games, and the operations on them.
///
/// Limits: the deadline, the stop flag, a number of bytes, and [`Limits::nodes`] as the maximum number of games.
/// Every operation that may take long returns the reason if a limit is reached.
pub struct GameStore<'a> {
    pub(super) nodes: Vec<GameNode>,
    options: Vec<u32>,
    index: HashTable<u32>,
    hasher: RandomState,
    /// Number of this store in its ids.
    number: u32,
    limits: Limits<'a>,
    memory_bytes: usize,
    /// Bytes that the owner of the store has reserved.
    reserved_bytes: usize,
    countdown: u32,
    pub(super) compared: CompareMemo,
    pub(super) numbers: HashMap<Dyadic, u32, RandomState>,
    pub(super) sums: HashMap<(u32, u32), u32, RandomState>,
    pub(super) thermographs: HashMap<u32, Option<Thermograph>, RandomState>,
}

impl<'a> GameStore<'a> {
    /// Creates a store with the game 0, and with `memory_bytes` as its limit of memory. A store takes at least 64 KiB.
    pub fn new(limits: Limits<'a>, memory_bytes: u64) -> Self {
        static STORES: AtomicU32 = AtomicU32::new(0);
        // Fixed keys: results and times do not depend on the run.
        let hasher = RandomState::with_seeds(1, 2, 3, 4);
        let mut games = GameStore {
            nodes: Vec::with_capacity(FIRST_CAPACITY),
            options: Vec::with_capacity(FIRST_CAPACITY),
            index: HashTable::new(),
            number: STORES.fetch_add(1, Ordering::Relaxed),
            limits,
            memory_bytes: usize::try_from(memory_bytes).unwrap_or(usize::MAX),
            reserved_bytes: 0,
            countdown: POLL_INTERVAL,
            compared: CompareMemo::new(),
            numbers: HashMap::with_hasher(hasher.clone()),
            sums: HashMap::with_hasher(hasher.clone()),
            thermographs: HashMap::with_hasher(hasher.clone()),
            hasher,
        };
        let zero = NumberUpStar { number: Dyadic::ZERO, ups: 0, star: 0 };
        games.push(&[], &[], Some(zero), Stop::of_number(Dyadic::ZERO));
        games.numbers.insert(Dyadic::ZERO, 0);
        games
    }

    /// The game 0.
    pub fn zero(&self) -> GameId {
        self.id(0)
    }

    /// Number of different games in the store.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns false: a store contains at least the game 0.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Returns the negative: the players exchange their moves.
    pub fn negative(&self, game: GameId) -> GameId {
        self.id(self.nodes[self.index_of(game)].negative)
    }

    /// Returns the left options of the canonical form.
    pub fn left_options(&self, game: GameId) -> impl ExactSizeIterator<Item = GameId> {
        let node = &self.nodes[self.index_of(game)];
        self.left_slice(node).iter().map(|&option| self.id(option))
    }

    /// Returns the right options of the canonical form.
    pub fn right_options(&self, game: GameId) -> impl ExactSizeIterator<Item = GameId> {
        let node = &self.nodes[self.index_of(game)];
        self.right_slice(node).iter().map(|&option| self.id(option))
    }

    /// Returns the number that the game is, if it is one.
    pub fn as_number(&self, game: GameId) -> Option<Dyadic> {
        let node = &self.nodes[self.index_of(game)];
        node.is_number().then(|| node.left_stop.number())
    }

    /// Bytes in use, with those that the owner has reserved.
    pub fn memory_bytes(&self) -> usize {
        // Thermographs have their breakpoints on the heap: a dozen on average.
        let thermographs = self.thermographs.len() * 12 * size_of::<[Dyadic; 2]>();
        self.reserved_bytes
            + self.nodes.capacity() * size_of::<GameNode>()
            + self.options.capacity() * size_of::<u32>()
            + self.index.allocation_size()
            + self.compared.bytes()
            + self.numbers.allocation_size()
            + self.sums.allocation_size()
            + self.thermographs.allocation_size()
            + thermographs
    }

    /// Counts `bytes` of memory that the owner of the store is going to allocate for tables of game ids.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Reason> {
        self.must_fit(bytes)?;
        self.reserved_bytes += bytes;
        Ok(())
    }

    /// Counts memory that the owner has freed.
    pub fn release(&mut self, bytes: usize) {
        self.reserved_bytes -= bytes;
    }

    /// Polls the clock and the stop flag at intervals. Called once for each step of a long operation.
    #[inline]
    pub fn poll(&mut self) -> Result<(), Reason> {
        self.countdown -= 1;
        if self.countdown > 0 {
            return Ok(());
        }
        self.countdown = POLL_INTERVAL;
        self.limits.reached().map_or(Ok(()), Err)
    }

    /// The id of an index.
    pub(super) fn id(&self, index: u32) -> GameId {
        GameId { index, store: self.number }
    }

    /// The index of an id.
    ///
    /// # Panics
    /// If the id belongs to another store.
    #[inline]
    pub(super) fn index_of(&self, game: GameId) -> usize {
        assert_eq!(game.store, self.number, "the id of a game was used with another store");
        game.index as usize
    }

    pub(super) fn node(&self, index: u32) -> &GameNode {
        &self.nodes[index as usize]
    }

    fn left_slice(&self, node: &GameNode) -> &[u32] {
        &self.options[node.start as usize..][..usize::from(node.lefts)]
    }

    fn right_slice(&self, node: &GameNode) -> &[u32] {
        &self.options[node.start as usize + usize::from(node.lefts)..][..usize::from(node.rights)]
    }

    /// Left options of an index.
    pub(super) fn lefts(&self, index: u32) -> &[u32] {
        self.left_slice(self.node(index))
    }

    /// Right options of an index.
    pub(super) fn rights(&self, index: u32) -> &[u32] {
        self.right_slice(self.node(index))
    }

    /// Places of the left and of the right options of an index in [`Self::option`]: loops over options also change
    /// the store.
    #[inline]
    pub(super) fn places(&self, index: u32) -> [std::ops::Range<usize>; 2] {
        let node = self.node(index);
        let start = node.start as usize;
        let middle = start + usize::from(node.lefts);
        [start..middle, middle..middle + usize::from(node.rights)]
    }

    /// The option at a place.
    #[inline]
    pub(super) fn option(&self, place: usize) -> u32 {
        self.options[place]
    }

    /// Returns the game with these options, which must be a canonical form, sorted by index.
    pub(super) fn intern(
        &mut self,
        left: &[u32],
        right: &[u32],
        sum_of: Option<NumberUpStar>,
        stops: [Stop; 2],
    ) -> Result<u32, Reason> {
        let hash = self.hasher.hash_one((left, right));
        let is_same = |&index: &u32| {
            let node = self.node(index);
            self.left_slice(node) == left && self.right_slice(node) == right
        };
        if let Some(&index) = self.index.find(hash, is_same) {
            return Ok(index);
        }
        self.make_room(left.len() + right.len())?;
        let sum_of = sum_of.or_else(|| self.recognise(left, right, stops));
        let game = self.push(left, right, sum_of, stops);
        let negated = |options: &[u32]| {
            let mut negated: Vec<u32> = options.iter().map(|&o| self.node(o).negative).collect();
            negated.sort_unstable();
            negated
        };
        let (negated_left, negated_right) = (negated(right), negated(left));
        if negated_left != left || negated_right != right {
            let negative_sum =
                sum_of.map(|sum| NumberUpStar { number: -sum.number, ups: -sum.ups, ..sum });
            let stops = [-stops[1], -stops[0]];
            let negative = self.push(&negated_left, &negated_right, negative_sum, stops);
            self.nodes[game as usize].negative = negative;
            self.nodes[negative as usize].negative = game;
        }
        Ok(game)
    }

    /// Adds a game that is its own negative until the caller links it to another one.
    fn push(
        &mut self,
        left: &[u32],
        right: &[u32],
        sum_of: Option<NumberUpStar>,
        [left_stop, right_stop]: [Stop; 2],
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let start = self.options.len() as u32;
        self.options.extend_from_slice(left);
        self.options.extend_from_slice(right);
        let (lefts, rights) = (left.len() as u16, right.len() as u16);
        self.nodes.push(GameNode {
            start,
            lefts,
            rights,
            negative: index,
            left_stop,
            right_stop,
            sum_of,
        });
        let hash = self.hasher.hash_one((left, right));
        let (nodes, options, hasher) = (&self.nodes, &self.options, &self.hasher);
        let rehash = |&index: &u32| {
            let node = &nodes[index as usize];
            let start = node.start as usize;
            let middle = start + usize::from(node.lefts);
            let right = &options[middle..middle + usize::from(node.rights)];
            hasher.hash_one((&options[start..middle], right))
        };
        self.index.insert_unique(hash, index, rehash);
        index
    }

    /// Reserves memory for a game with a number of options, and for its negative.
    fn make_room(&mut self, options: usize) -> Result<(), Reason> {
        let full = self.limits.nodes.is_some_and(|max| self.nodes.len() as u64 >= max);
        if full {
            return Err(Reason::NodeLimit);
        }
        // Numbers of nodes and places are stored in 32 bits, the highest of which is a flag in `CompareMemo`.
        let max = 1 << 31;
        if options > usize::from(u16::MAX)
            || self.nodes.len() + 2 > max
            || self.options.len() + 2 * options > max
        {
            return Err(Reason::Memory);
        }
        let index = self.index.allocation_size();
        if self.nodes.len() + 2 > self.nodes.capacity() {
            // The other tables double at about the same time.
            let bytes = 2 * self.nodes.capacity() * size_of::<GameNode>() + 2 * index;
            self.must_fit(bytes)?;
            let more = self.nodes.capacity();
            try_reserve_exact(&mut self.nodes, more).map_err(|_| Reason::Memory)?;
        }
        if self.options.len() + 2 * options > self.options.capacity() {
            let more = self.options.capacity().max(2 * options);
            self.must_fit((self.options.capacity() + more) * size_of::<u32>())?;
            try_reserve_exact(&mut self.options, more).map_err(|_| Reason::Memory)?;
        }
        if self.nodes.len() > self.compared.capacity() / 4
            && self.must_fit(2 * self.compared.bytes()).is_ok()
        {
            self.compared.grow();
        }
        Ok(())
    }

    /// Returns an error if `bytes` more bytes exceed the limit.
    pub(super) fn must_fit(&self, bytes: usize) -> Result<(), Reason> {
        let fits = self.memory_bytes().saturating_add(bytes) <= self.memory_bytes;
        if fits { Ok(()) } else { Err(Reason::Memory) }
    }

    /// Reserves memory for another entry of one of the maps. `map` selects it.
    pub(super) fn reserve_entry<K: std::hash::Hash + Eq, V>(
        &mut self,
        map: impl Fn(&mut Self) -> &mut HashMap<K, V, RandomState>,
    ) -> Result<(), Reason> {
        let entries = map(self);
        if entries.len() == entries.capacity() {
            let bytes = 2 * entries.allocation_size();
            self.must_fit(bytes)?;
            map(self).try_reserve(1).map_err(|_| Reason::Memory)?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for GameStore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GameStore").field("games", &self.len()).finish_non_exhaustive()
    }
}
