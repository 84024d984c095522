//! How much of a thread's buffer a machine recalls.

/// Which stores are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Those issued last.
    Newest,
    /// Those that reach memory next.
    Oldest,
}

/// What is known about the values of forgotten stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// What holds for all of a variable's.
    Pools,
    /// That, and what holds for every two of a variable's, an older and a newer one.
    Pairs,
    /// Nothing.
    Anything,
}

impl Forgotten {
    /// Whether anything is known of them.
    pub(super) fn has_pools(self) -> bool {
        self != Forgotten::Anything
    }
}

/// What is recalled of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recall {
    /// How many stores of a queue are kept in order.
    pub k: usize,
    /// Whether those are the newest or the oldest ones.
    pub keep: Keep,
    /// What is known of the others.
    pub forgotten: Forgotten,
}

impl Recall {
    /// Everything is kept: the exact machine.
    pub const ALL: Recall = Recall { k: usize::MAX, keep: Keep::Newest, forgotten: Forgotten::Pools };
}
