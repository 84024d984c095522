//! Work in rounds by several workers, which may live in several processes.
//!
//! Workers share nothing but what they post. A worker ends a round by posting bytes to others ([`Rounds::post`]), and
//! gets what they posted in it when all have ended it ([`Rounds::collect`]): in the order of the
//! senders and, per sender, in the order of posting. So what a worker sees depends on what was posted only, never on
//! who was faster. Between the two it may do its part of the next round, so that nobody has to wait.
//!
//! How bytes travel is the [`Crew`]'s business. [`Alone`] is the crew of one worker, on the thread of whoever asks.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

/// What a worker posts: to whom, and what.
pub type Posted = (usize, Vec<u8>);

/// What a worker gets: from whom, and what.
pub type Received = (usize, Vec<u8>);

/// A worker was lost, so the work of all is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lost {}

/// A worker's view of the others.
pub trait Rounds {
    /// Its number.
    fn index(&self) -> usize;

    /// How many workers there are.
    fn workers(&self) -> usize;

    /// Ends a round, and waits for nobody. All workers must do so equally often.
    fn post(&mut self, posts: Vec<Posted>) -> Result<(), Lost>;

    /// Waits until all have ended the first round that was not collected yet; what they posted in it.
    fn collect(&mut self) -> Result<Vec<Received>, Lost>;

    /// Ends a round and waits until all have.
    fn exchange(&mut self, posts: Vec<Posted>) -> Result<Vec<Received>, Lost> {
        self.post(posts)?;
        self.collect()
    }

    /// Ends the work of all: whoever waits for this worker finds it lost.
    fn give_up(&mut self) {}

    /// Ends a round in which a worker tells all the same; what everybody told, in order.
    fn tell_all(&mut self, told: &[u8]) -> Result<Vec<Vec<u8>>, Lost> {
        let posts = (0..self.workers()).map(|worker| (worker, told.to_vec())).collect();
        Ok(self.exchange(posts)?.into_iter().map(|(_, told)| told).collect())
    }
}

/// Workers.
pub trait Crew: Sync {
    /// How many there are in all processes together.
    fn workers(&self) -> usize;

    /// Those in this process.
    fn here(&self) -> Range<usize>;

    /// Calls `part` once per worker of this process, all at the same time, and waits for them.
    fn work(&self, part: &(dyn Fn(&mut dyn Rounds) + Sync)) -> Result<(), Lost>;

    /// Which process this is, and of how many. All have the same number of workers.
    fn process(&self) -> (usize, usize) {
        let here = self.here();
        (here.start / here.len().max(1), self.workers() / here.len().max(1))
    }
}

/// One worker.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

/// What the one worker posted to itself and did not collect, round by round.
#[derive(Default)]
struct OwnPosts(VecDeque<Vec<Posted>>);

impl Rounds for OwnPosts {
    fn index(&self) -> usize {
        0
    }

    fn workers(&self) -> usize {
        1
    }

    fn post(&mut self, posts: Vec<Posted>) -> Result<(), Lost> {
        self.0.push_back(posts);
        Ok(())
    }

    fn collect(&mut self) -> Result<Vec<Received>, Lost> {
        self.0.pop_front().ok_or_else(|| Lost("nothing was posted".to_string()))
    }
}

impl Crew for Alone {
    fn workers(&self) -> usize {
        1
    }

    fn here(&self) -> Range<usize> {
        0..1
    }

    fn work(&self, part: &(dyn Fn(&mut dyn Rounds) + Sync)) -> Result<(), Lost> {
        part(&mut OwnPosts::default());
        Ok(())
    }
}
