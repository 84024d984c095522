//! What all workers have to know of a round.

use super::numbers::{put_number, take_number};
use super::shard::StatePlace;
use evidence::{Lost, Monitor, NotSpilled, Received, Stop};

/// What all have to know of a worker's round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RoundNews {
    /// The first violation among its states.
    pub(super) goal: Option<StatePlace>,
    pub(super) stop: Option<Stop>,
    pub(super) full: bool,
    /// Whether memory is scarce, and states are to move to files.
    pub(super) scarce: bool,
    /// How many states it took up to expand them.
    pub(super) taken: usize,
    /// Whether states of the level are left.
    pub(super) more: bool,
    pub(super) heavy: usize,
    pub(super) states: usize,
    pub(super) late: usize,
}

/// What a message with news begins with.
pub(super) const NEWS: u8 = 0;

/// A message that nobody here writes.
pub(super) fn garbled() -> Lost {
    Lost("a process sends what makes no sense: do all run the same version on the same program?".to_string())
}

/// Tells why states are not in a file, or cannot be read from there.
pub(super) fn refused(error: NotSpilled, monitor: &dyn Monitor, news: &mut RoundNews) {
    match error {
        NotSpilled::Full => news.full = true,
        NotSpilled::Stopped(stop) => news.stop = Some(stop),
        NotSpilled::File(error) => {
            monitor.note(&format!("a file with states: {error}"));
            news.stop = Some(Stop::Disk);
        }
    }
}

const STOPS: [Stop; 6] = [Stop::Time, Stop::Memory, Stop::States, Stop::Interrupt, Stop::Lost, Stop::Disk];

impl RoundNews {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_number(out, self.goal.map_or(0, |goal| 1 + goal.shard as u64));
        put_number(out, self.goal.map_or(0, |goal| u64::from(goal.number)));
        let stop = self.stop.and_then(|stop| STOPS.iter().position(|known| *known == stop));
        put_number(out, stop.map_or(0, |stop| 1 + stop as u64));
        put_number(out, u64::from(self.full) + 2 * u64::from(self.more) + 4 * u64::from(self.scarce));
        for number in [self.taken, self.heavy, self.states, self.late] {
            put_number(out, number as u64);
        }
    }

    fn read(bytes: &mut &[u8]) -> Option<RoundNews> {
        let mut number = || usize::try_from(take_number(bytes)?).ok();
        let (shard, at, stop, flags) = (number()?, number()?, number()?, number()?);
        Some(RoundNews {
            goal: shard.checked_sub(1).map(|shard| StatePlace { shard, number: at as u32 }),
            stop: stop.checked_sub(1).and_then(|stop| STOPS.get(stop)).copied(),
            full: flags & 1 > 0,
            more: flags & 2 > 0,
            scarce: flags & 4 > 0,
            taken: number()?,
            heavy: number()?,
            states: number()?,
            late: number()?,
        })
    }

    /// Whether no state need be expanded any more.
    pub(super) fn is_end(&self) -> bool {
        self.goal.is_some() || self.stop.is_some() || self.full
    }

    /// Whether there is something else to do before more states are expanded: the level is done, or states have to move.
    pub(super) fn is_last(&self) -> bool {
        self.is_end() || self.scarce || !(self.more || self.late > 0)
    }

    /// What is known after the next round.
    pub(super) fn then(self, next: RoundNews) -> RoundNews {
        RoundNews {
            goal: self.goal.or(next.goal),
            stop: self.stop.or(next.stop),
            full: self.full || next.full,
            scarce: self.scarce || next.scarce,
            taken: self.taken + next.taken,
            ..next
        }
    }

    /// The news of two workers together.
    pub(super) fn and(self, other: RoundNews) -> RoundNews {
        RoundNews {
            goal: self.goal.into_iter().chain(other.goal).min_by_key(|goal| goal.shard),
            stop: self.stop.or(other.stop),
            full: self.full || other.full,
            more: self.more || other.more,
            scarce: self.scarce || other.scarce,
            taken: self.taken + other.taken,
            heavy: self.heavy + other.heavy,
            states: self.states + other.states,
            late: self.late + other.late,
        }
    }
}

/// What all tell together, and the new controls that each tells of.
pub(super) fn read_news(mail: &[Received]) -> Result<(RoundNews, Vec<&[u8]>), Lost> {
    let (mut all, mut controls) = (RoundNews::default(), Vec::new());
    for (_, message) in mail {
        let [NEWS, rest @ ..] = message.as_slice() else { continue };
        let mut bytes = rest;
        all = all.and(RoundNews::read(&mut bytes).ok_or_else(garbled)?);
        controls.push(bytes);
    }
    Ok((all, controls))
}

/// A state on the way to a violation, and the place it was reached from.
pub(super) fn read_step(bytes: &mut &[u8]) -> Option<(Vec<u8>, Option<StatePlace>)> {
    let shard = usize::try_from(take_number(bytes)?).ok()?;
    let number = u32::try_from(take_number(bytes)?).ok()?;
    let length = usize::try_from(take_number(bytes)?).ok()?;
    let (state, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some((state.to_vec(), shard.checked_sub(1).map(|shard| StatePlace { shard, number })))
}
