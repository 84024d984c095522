//! One worker's part of a search in rounds.
//!
//! A round: expand some states of the level in every own shard, post the successors to the workers who have their
//! shards, and tell all what has to be known by all; then give numbers to new controls and add what came. While messages are under way
//! the next round is expanded, so nobody waits for others as long as all take about as long: what comes is added one round later, and
//! the level ends with a round that is empty. If states may
//! go to files and somebody finds memory scarce, all move theirs there at the end of the round, and from then on
//! before every level.
//!
//! Who works alone, in memory, posts nothing to himself: states are added as they are found ([`super::own`]). They come to their shards in the
//! same order as by message, and what is added during a level is not expanded before the next one. States of a round that finds a violation, and of the one
//! after it, do not count.

use super::Going;
use super::news::{NEWS, RoundNews, garbled, read_news, read_step, refused};
use super::numbers::{Numbers, put_number, take_number};
use super::own::OwnFound;
use super::shard::{LATE, NotAdded, STATES, Shard, ShardMessages, StatePlace, TOGETHER};
use evidence::{Controls, Lost, Posted, Progress, Received, Rounds, Stop};
use machine::{Buffered, DataDomain, Doubt, Remembered, State, StateRef, TakenUp, shards_of};
use std::collections::BTreeMap;
use std::ops::Range;

/// How many states of a shard are expanded in a round: what is posted must not outgrow the states.
const SLICE: usize = 1024;

/// How many states are expanded between two looks at the monitor.
const PATIENCE: usize = 1024;

/// How a search in rounds ended; the same for all workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// Everything reachable was expanded.
    Complete,
    /// The way to a violation, state by state.
    Violated(Vec<Vec<u8>>),
    /// Only states heavier than the largest bound are left.
    Heavy,
    /// The monitor of a process stopped it.
    Stopped(Stop),
    /// A shard is full.
    Full,
}

/// What a worker found.
pub(super) struct WorkerFound {
    pub(super) finish: Finish,
    pub(super) controls: Controls,
    /// Its own shards.
    pub(super) shards: Vec<Shard>,
    /// What nobody could see; known to all.
    pub(super) doubts: Vec<Doubt>,
    /// How many states all workers have together.
    pub(super) states: usize,
    pub(super) bound: usize,
    /// Whether states ever were too heavy.
    pub(super) postponed: bool,
}

/// How far to go, and where from.
pub(super) struct Start<'a> {
    pub(super) shards: Vec<Shard>,
    pub(super) controls: &'a Controls,
    pub(super) bound: usize,
    pub(super) going: Going<'a>,
}

pub(super) struct RoundsWorker<'a, D> {
    domain: D,
    remembered: Remembered,
    rounds: &'a mut dyn Rounds,
    numbers: Numbers,
    own: Range<usize>,
    shards: Vec<Shard>,
    messages: ShardMessages,
    /// What was found and is not added yet, of who works alone.
    found: Option<OwnFound>,
    /// Successors with controls that had no number, and where they were reached from: those of the round before, and of this one.
    late: [Vec<(StatePlace, State)>; 2],
    /// Those that have numbers now, on their way.
    late_messages: Vec<Posted>,
    /// Why not everything was seen, and a state where that shows.
    doubts: BTreeMap<Doubt, Vec<u8>>,
    bound: usize,
    going: Going<'a>,
    /// Whether states are in files.
    spilling: bool,
    /// How many states the others have, and own ones had, when all told so last.
    states: (usize, usize),
    /// How many own ones there were when the last two rounds began.
    counted: [usize; 2],
    report: Unreported,
    spare: Spare,
}

/// What the monitor has not heard of.
#[derive(Default)]
struct Unreported {
    expanded: usize,
    reported: usize,
}

/// Working memory.
#[derive(Default)]
struct Spare {
    state: State,
    next: State,
    /// The bytes of the state, if it is not in memory or was unpacked.
    taken: Vec<u8>,
    packed: Vec<u8>,
}

impl<'a, 'm, 'p: 'm, D: DataDomain<'m, Machine = Buffered<'p>>> RoundsWorker<'a, D> {
    pub(super) fn new(mut domain: D, rounds: &'a mut dyn Rounds, start: Start<'a>) -> RoundsWorker<'a, D> {
        let own = shards_of(rounds.index(), rounds.workers());
        let states = start.shards.iter().map(Shard::len).sum();
        RoundsWorker {
            numbers: Numbers::new(start.controls, domain.stepper_mut()),
            remembered: Remembered::new(&domain),
            domain,
            own,
            shards: start.shards,
            messages: ShardMessages::default(),
            found: (rounds.workers() == 1 && start.going.spill.is_none()).then(OwnFound::default),
            late: Default::default(),
            late_messages: Vec::new(),
            doubts: BTreeMap::new(),
            bound: start.bound,
            going: start.going,
            spilling: false,
            states: (0, states),
            counted: [0; 2],
            report: Unreported::default(),
            spare: Spare::default(),
            rounds,
        }
    }

    /// Goes on until everything is explored, or all have to stop.
    pub(super) fn run(mut self) -> Result<WorkerFound, Lost> {
        let explored = self.explore();
        if explored.is_err() {
            self.rounds.give_up();
        }
        let finish = explored?;
        // The work of all is to be counted; they have ended, so whoever wants to stop says so next time.
        self.ask(0, &mut RoundNews::default());
        let doubts = self.share_doubts()?;
        let postponed = self.bound > 1 || self.shards.iter().any(|shard| !shard.heavy.is_empty());
        Ok(WorkerFound {
            finish,
            controls: self.numbers.agreed,
            shards: self.shards,
            doubts,
            states: self.states.0 + self.states.1,
            bound: self.bound,
            postponed,
        })
    }

    fn explore(&mut self) -> Result<Finish, Lost> {
        let question = self.going.question.as_bytes();
        if self.rounds.tell_all(question)?.iter().any(|asked| asked != question) {
            return Err(Lost("processes that share the work were asked different things".to_string()));
        }
        let mut trouble = RoundNews::default();
        // How many states of the level were taken.
        let mut taken = 0;
        loop {
            let all = self.go_on(&mut trouble)?;
            if let Some(stop) = all.stop {
                return Ok(Finish::Stopped(stop));
            }
            if all.full {
                return Ok(Finish::Full);
            }
            if let Some(goal) = all.goal {
                let way = self.way_to(goal)?;
                self.recount()?;
                return Ok(Finish::Violated(way));
            }
            if all.scarce {
                self.make_room(&mut trouble)?;
            }
            taken += all.taken;
            if all.more || all.late > 0 {
                continue;
            }
            if std::mem::take(&mut taken) == 0 {
                match all.heavy {
                    0 => return Ok(Finish::Complete),
                    _ if self.bound >= self.going.most => return Ok(Finish::Heavy),
                    _ => self.raise_bound(),
                }
            }
            if self.spilling {
                self.settle(&mut trouble);
            }
            self.shards.iter_mut().for_each(Shard::begin_level);
        }
    }

    /// Goes on with the level, round by round, as far as nothing else has to be done. While messages of a round are under
    /// way the next states are expanded, so there is one round more than it takes.
    fn go_on(&mut self, trouble: &mut RoundNews) -> Result<RoundNews, Lost> {
        let mut under_way = self.send_round(&RoundNews::default(), trouble)?;
        let mut taken = 0;
        loop {
            let next = self.send_round(&under_way, trouble)?;
            let all = self.receive_round(&under_way, false, trouble)?;
            if all.is_last() {
                let rest = self.receive_round(&next, all.is_end(), trouble)?;
                let all = all.then(rest);
                return Ok(RoundNews { taken: taken + all.taken, ..all });
            }
            taken += all.taken;
            under_way = next;
        }
    }

    /// Expands states, and posts what all have to know of that, if the round before did not end the search.
    fn send_round(&mut self, before: &RoundNews, trouble: &mut RoundNews) -> Result<RoundNews, Lost> {
        let mut news = std::mem::take(trouble);
        news.states = self.shards.iter().map(Shard::len).sum();
        self.counted = [self.counted[1], news.states];
        if !before.is_end() {
            self.expand(&mut news)?;
        }
        let posts = self.posts(&news);
        self.rounds.post(posts)?;
        Ok(news)
    }

    /// What all have to know of a round of which this worker told so much. Unless the search has ended, states that came are added;
    /// what is wrong with that is told in the next round.
    fn receive_round(
        &mut self,
        own: &RoundNews,
        ended: bool,
        trouble: &mut RoundNews,
    ) -> Result<RoundNews, Lost> {
        let mail = self.rounds.collect()?;
        let (all, told) = read_news(&mail)?;
        let stepper = self.domain.stepper_mut();
        self.numbers.agree(told.iter().copied(), stepper).ok_or_else(garbled)?;
        self.remembered.renumber(&self.numbers);
        self.states = (all.states.saturating_sub(own.states), own.states);
        if !ended && !all.is_end() {
            self.take_in(&mail, trouble)?;
        }
        Ok(all)
    }

    /// Moves states to files. When all have done so, there must be room.
    fn make_room(&mut self, news: &mut RoundNews) -> Result<(), Lost> {
        if !std::mem::replace(&mut self.spilling, true) && self.rounds.index() == 0 {
            self.going.monitor.note("memory is scarce: states go to files");
        }
        self.settle(news);
        self.rounds.tell_all(&[])?;
        // What was scarce before is there again; or nothing is of use.
        news.scarce = false;
        self.ask(0, news);
        if std::mem::take(&mut news.scarce) {
            news.stop = news.stop.or(Some(Stop::Memory));
        }
        Ok(())
    }

    /// Moves the own states to files; whatever goes wrong is told in the next round.
    fn settle(&mut self, news: &mut RoundNews) {
        let Going { spill: Some(spill), monitor, .. } = self.going else { return };
        for shard in &mut self.shards {
            match shard.settle(spill, monitor) {
                Ok(()) => {}
                Err(error) => return refused(error, monitor, news),
            }
        }
    }

    /// Counts the states that there were before the round that found a violation. Those that may be in memory and in a file
    /// are settled first.
    fn recount(&mut self) -> Result<(), Lost> {
        if self.spilling {
            self.settle(&mut RoundNews::default());
        }
        // Who works alone has added states of two more rounds.
        let own = match self.found {
            Some(_) => self.counted[0],
            None => self.shards.iter().map(Shard::len).sum(),
        };
        let all = self.rounds.tell_all(&(own as u64).to_le_bytes())?;
        let count = |told: Vec<u8>| told.first_chunk().map_or(0, |count| u64::from_le_bytes(*count) as usize);
        self.states = (all.into_iter().map(count).sum::<usize>().saturating_sub(own), own);
        Ok(())
    }

    fn raise_bound(&mut self) {
        self.bound = self.bound.saturating_mul(2).min(self.going.most);
        self.shards.iter_mut().for_each(Shard::take_up_heavy);
    }

    /// Expands some states of the level.
    fn expand(&mut self, news: &mut RoundNews) -> Result<(), Lost> {
        self.post_late()?;
        for at in 0..self.shards.len() {
            for _ in 0..SLICE {
                if news.stop.is_some() || news.goal.is_some() {
                    break;
                }
                match self.shards[at].take(&mut self.spare.taken) {
                    Ok(None) => break,
                    Ok(Some(state)) => {
                        news.taken += 1;
                        self.visit(at, state, news)?;
                    }
                    Err(error) => refused(error.into(), self.going.monitor, news),
                }
            }
            self.shards[at].forget_chunk();
        }
        self.add_found(1, news);
        news.more = self.shards.iter().any(Shard::has_more);
        news.heavy = self.shards.iter().map(|shard| shard.heavy.len()).sum();
        news.late = self.late.iter().map(Vec::len).sum();
        Ok(())
    }

    fn visit(&mut self, at: usize, state: StateRef, news: &mut RoundNews) -> Result<(), Lost> {
        let place = StatePlace { shard: self.own.start + at, number: state.number() };
        let packed = self.shards[at].in_memory(state).unwrap_or(&self.spare.taken);
        let taken_up = self.remembered.take_up(&mut self.domain, &self.numbers, packed, self.bound);
        match taken_up {
            TakenUp::Heavy if !self.remembered.state().may_violate() => self.shards[at].heavy.push(state),
            TakenUp::Listed if !self.remembered.state().may_violate() => self.post_remembered(place),
            _ => self.visit_unpacked(at, state, place, news)?,
        }
        self.add_found(TOGETHER, news);
        if self.report.expanded.is_multiple_of(PATIENCE) && self.report.expanded > self.report.reported {
            self.ask(0, news);
        }
        Ok(())
    }

    /// Adds what was found to the own shards, once there is so much.
    #[inline]
    fn add_found(&mut self, least: usize, news: &mut RoundNews) {
        let Some(found) = self.found.as_ref().filter(|found| found.len() >= least) else { return };
        let coming = found.growth(&self.shards);
        if coming > 0 {
            self.ask(coming, news);
        }
        // As for messages: a round in which something is wrong is the last one.
        if let Some(found) = &mut self.found
            && news.stop.is_none()
        {
            news.full |= found.add_to(&mut self.shards).is_err();
        }
    }

    /// Posts the successors of a state that was taken up.
    fn post_remembered(&mut self, place: StatePlace) {
        let (packed, messages) = (&mut self.spare.packed, &mut self.messages);
        let late = &mut self.late[1];
        self.remembered.each_successor(|successor| match &mut self.found {
            _ if !successor.is_numbered() => {
                let mut state = State::default();
                successor.unpack(&mut state);
                late.push((place, state));
            }
            Some(found) => found.push(place, |start, bytes| successor.pack_behind(start, bytes)),
            None => {
                let end = successor.pack_behind(0, packed);
                messages.add(place, &packed[..end]);
            }
        });
        self.report.expanded += 1;
    }

    fn visit_unpacked(
        &mut self,
        at: usize,
        state_ref: StateRef,
        place: StatePlace,
        news: &mut RoundNews,
    ) -> Result<(), Lost> {
        let Spare { state, next, taken, packed } = &mut self.spare;
        if let Some(bytes) = self.shards[at].in_memory(state_ref) {
            taken.clear();
            taken.extend_from_slice(bytes);
        }
        if !self.numbers.unpack(taken, state) {
            return Err(garbled());
        }
        let mut doubts = Vec::new();
        match self.domain.violation(state) {
            Ok(None) => {}
            Ok(Some(_)) => {
                news.goal = Some(place);
                return Ok(());
            }
            Err(doubt) => doubts.push(doubt),
        }
        if self.domain.stepper().longest_queue(state) > self.bound {
            self.shards[at].heavy.push(state_ref);
        } else {
            self.domain.prepare(state);
            let (numbers, messages, late) = (&mut self.numbers, &mut self.messages, &mut self.late[1]);
            let own = &mut self.found;
            self.domain.successors(
                state,
                next,
                |doubt| doubts.push(doubt),
                |_, _, next| {
                    packed.clear();
                    match numbers.pack(next, packed) {
                        true => match own {
                            Some(own) => own.push_packed(place, packed),
                            None => messages.add(place, packed),
                        },
                        false => late.push((place, next.clone())),
                    }
                },
            );
            self.report.expanded += 1;
        }
        for doubt in doubts {
            self.doubts.entry(doubt).or_insert_with(|| self.spare.taken.clone());
        }
        Ok(())
    }

    /// Asks whether to go on. Too little memory is no reason to stop where there are files.
    fn ask(&mut self, coming: usize, news: &mut RoundNews) {
        match self.observe(coming) {
            Ok(()) => {}
            Err(Stop::Memory) if self.going.spill.is_some() => news.scarce = true,
            Err(stop) => news.stop = Some(stop),
        }
    }

    fn observe(&mut self, coming: usize) -> Result<(), Stop> {
        let new = self.report.expanded - std::mem::replace(&mut self.report.reported, self.report.expanded);
        let own: usize = self.shards.iter().map(Shard::len).sum();
        let bytes: usize = self.shards.iter().map(|shard| shard.states.bytes()).sum();
        self.going.monitor.observe(&Progress {
            phase: "exploring",
            bound: (self.bound != usize::MAX).then_some(self.bound),
            states: self.states.0 + own,
            // A state has three successors or so.
            work: 4 * new * self.domain.work(),
            bytes: bytes + self.messages.bytes() + self.domain.stepper().bytes() + self.remembered.bytes(),
            coming,
            ..Progress::default()
        })
    }

    /// The messages of a round.
    fn posts(&mut self, news: &RoundNews) -> Vec<Posted> {
        let mut told = vec![NEWS];
        news.write(&mut told);
        self.numbers.tell_new(self.domain.stepper(), &mut told);
        let mut posts: Vec<Posted> = (0..self.rounds.workers()).map(|to| (to, told.clone())).collect();
        posts.append(&mut self.late_messages);
        posts.extend(self.messages());
        posts
    }

    fn messages(&mut self) -> Vec<Posted> {
        let workers = self.rounds.workers();
        let mut posts = Vec::new();
        for worker in 0..workers {
            for shard in shards_of(worker, workers) {
                posts.extend(self.messages.take(shard).map(|message| (worker, message)));
            }
        }
        posts
    }

    /// Posts what waited for numbers of controls: they were told two rounds ago, so all have agreed on them.
    fn post_late(&mut self) -> Result<(), Lost> {
        let [waiting, new] = &mut self.late;
        let due = std::mem::replace(waiting, std::mem::take(new));
        let packed = &mut self.spare.packed;
        for (place, state) in due {
            packed.clear();
            if !self.numbers.pack(&state, packed) {
                return Err(garbled());
            }
            match &mut self.found {
                Some(found) => found.push_packed(place, packed),
                None => self.messages.add(place, packed),
            }
        }
        self.late_messages = self.messages();
        self.late_messages.iter_mut().for_each(|(_, message)| message[0] = LATE);
        Ok(())
    }

    /// Adds states that came, those first that are late. What is wrong with that is told in the next round.
    fn take_in(&mut self, mail: &[Received], news: &mut RoundNews) -> Result<(), Lost> {
        for kind in [LATE, STATES] {
            for (_, message) in mail {
                let [first, shard, states @ ..] = message.as_slice() else { continue };
                if *first == kind {
                    self.take_in_states(usize::from(*shard), states, news)?;
                }
            }
        }
        Ok(())
    }

    fn take_in_states(&mut self, shard: usize, states: &[u8], news: &mut RoundNews) -> Result<(), Lost> {
        let at = shard.checked_sub(self.own.start).filter(|at| *at < self.shards.len());
        let at = at.ok_or_else(garbled)?;
        // A state takes eight bytes at least.
        let coming = self.shards[at].states.growth(states.len() / 8);
        if coming > 0 && news.stop.is_none() {
            self.ask(coming, news);
        }
        if news.stop.is_some() {
            return Ok(());
        }
        match self.shards[at].add(states) {
            Ok(()) => {}
            Err(NotAdded::Full(_)) => news.full = true,
            Err(NotAdded::Garbled) => return Err(garbled()),
        }
        Ok(())
    }

    /// The states on the way to a place, from the start. Whoever has the place tells as much of the way as it knows.
    fn way_to(&mut self, goal: StatePlace) -> Result<Vec<Vec<u8>>, Lost> {
        let (mut way, mut next) = (Vec::new(), Some(goal));
        while next.is_some() {
            let (mut told, mut before) = (Vec::new(), next);
            while let Some(at) = before.filter(|place| self.own.contains(&place.shard)) {
                let step = self.shards[at.shard - self.own.start].step_back(at.number);
                let (state, from) = step.map_err(|error| Lost(format!("a file with states: {error}")))?;
                put_number(&mut told, from.map_or(0, |from| 1 + from.shard as u64));
                put_number(&mut told, from.map_or(0, |from| u64::from(from.number)));
                put_number(&mut told, state.len() as u64);
                told.extend_from_slice(state);
                before = from;
            }
            next = None;
            for told in self.rounds.tell_all(&told)? {
                let mut bytes = told.as_slice();
                while !bytes.is_empty() {
                    let (state, from) = read_step(&mut bytes).ok_or_else(garbled)?;
                    way.push(state);
                    next = from;
                }
            }
        }
        way.reverse();
        Ok(way)
    }

    /// What nobody could see: whoever could not see something tells of a state where that shows, and all look there.
    fn share_doubts(&mut self) -> Result<Vec<Doubt>, Lost> {
        let mut told = Vec::new();
        for state in self.doubts.values() {
            put_number(&mut told, state.len() as u64);
            told.extend_from_slice(state);
        }
        let mut found: Vec<Doubt> = self.doubts.keys().copied().collect();
        for told in self.rounds.tell_all(&told)? {
            let mut bytes = told.as_slice();
            while !bytes.is_empty() {
                let length = take_number(&mut bytes).and_then(|length| usize::try_from(length).ok());
                let (packed, rest) =
                    length.and_then(|length| bytes.split_at_checked(length)).ok_or_else(garbled)?;
                bytes = rest;
                let Spare { state, next, .. } = &mut self.spare;
                if !self.numbers.unpack(packed, state) || !self.domain.has(state) {
                    return Err(garbled());
                }
                found.extend(self.domain.violation(state).err());
                self.domain.prepare(state);
                self.domain.successors(state, next, |doubt| found.push(doubt), |_, _, _| {});
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }
}
