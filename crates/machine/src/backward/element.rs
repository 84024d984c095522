//! Elements: what is demanded of a state, as a list of numbers, and when one demands less than another.
//!
//! An element demands, of every thread, the state it is in (0: any); of every variable and the lock, a
//! value (0: any); and of every *channel*, what is on its way there. It stands for all states that have
//! what it demands, and perhaps more on the way. There are two kinds of channels.
//!
//! * A *queue* holds a thread's stores to one variable (PSO), oldest first. `[]` demands nothing, `[0]`
//!   that it is empty. Otherwise the newest is as demanded, and the older ones contain those demanded in
//!   order: whatever stands between can leave together with the next one, and nobody notices.
//! * A *view* holds what a thread will find next (see [`super::letters`]), oldest first. The newest letters are as
//!   demanded, in order; the thread's own stores among them are all there are, between others there
//!   may be more, and before them anything: a thread may pass over the oldest letter at any time.
//!
//! Both orders are well-quasi-orders: among infinitely many elements one demands no more than a later one.

/// Where the parts of an element lie, the same for all elements of a program.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How many threads there are.
    pub threads: usize,
    /// How many variables there are, the lock among them.
    pub variables: usize,
    /// In this order.
    pub channels: Vec<Channel>,
    /// Letters from this one on are own stores.
    pub own_from: u16,
}

/// What a channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The stores of a thread to a variable that are on their way.
    Queue {
        /// The thread.
        thread: u16,
        /// The variable.
        variable: u16,
    },
    /// What a thread will find next.
    View {
        /// The thread.
        thread: u16,
    },
}

/// What is demanded of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element(pub(super) Box<[u16]>);

impl Element {
    /// How much it demands.
    pub fn weight(&self) -> usize {
        self.0.iter().filter(|number| **number != 0).count()
    }
}

impl Layout {
    /// Demands nothing.
    pub(super) fn anything(&self) -> Demand {
        Demand {
            states: vec![0; self.threads],
            memory: vec![0; self.variables],
            channels: vec![Vec::new(); self.channels.len()],
        }
    }

    /// The states demanded.
    pub(super) fn states<'a>(&self, element: &'a Element) -> &'a [u16] {
        &element.0[..self.threads]
    }

    /// The values demanded.
    pub(super) fn memory<'a>(&self, element: &'a Element) -> &'a [u16] {
        &element.0[self.threads..self.threads + self.variables]
    }

    /// What is demanded of channels.
    pub(super) fn words<'a>(&self, element: &'a Element) -> impl Iterator<Item = &'a [u16]> {
        let head = self.threads + self.variables;
        let (lengths, mut rest) = element.0[head..].split_at(self.channels.len());
        lengths.iter().map(move |length| {
            let (word, behind) = rest.split_at(usize::from(*length));
            rest = behind;
            word
        })
    }

    /// An element to be worked on.
    pub fn open(&self, element: &Element) -> Demand {
        Demand {
            states: self.states(element).to_vec(),
            memory: self.memory(element).to_vec(),
            channels: self.words(element).map(<[u16]>::to_vec).collect(),
        }
    }

    /// Of a word that is too long to be counted the newest letters are demanded: that is less, so more states
    /// are meant, and nothing is left out.
    pub fn close(&self, demand: &Demand) -> Element {
        let newest = |word: &Vec<u16>| word.len().saturating_sub(usize::from(u16::MAX));
        let words = || demand.channels.iter().map(|word| &word[newest(word)..]);
        let head = demand.states.iter().chain(&demand.memory).copied();
        let lengths = words().map(|word| word.len() as u16);
        Element(head.chain(lengths).chain(words().flatten().copied()).collect())
    }

    /// Whether every state that has what `more` demands has what `less` demands.
    pub(super) fn covers(&self, less: &Element, more: &Element) -> bool {
        let head = self.threads + self.variables;
        let as_demanded = |(a, b): (&u16, &u16)| *a == 0 || a == b;
        if !less.0[..head].iter().zip(&more.0[..head]).all(as_demanded) {
            return false;
        }
        let words = self.words(less).zip(self.words(more)).zip(&self.channels);
        words.into_iter().all(|((less, more), channel)| match channel {
            Channel::Queue { .. } => queue_covers(less, more),
            Channel::View { .. } => self.view_covers(less, more),
        })
    }

    /// Whether every view that has what `more` demands has what `less` demands.
    pub fn view_covers(&self, less: &[u16], more: &[u16]) -> bool {
        let mut more = more.iter().rev();
        less.iter().rev().all(|wanted| {
            // Letters that are no own stores may be passed over; an own store may not.
            let found = more.find(|letter| *letter == wanted || **letter >= self.own_from);
            found == Some(wanted)
        })
    }
}

/// Whether every queue that has what `more` demands has what `less` demands.
pub fn queue_covers(less: &[u16], more: &[u16]) -> bool {
    let (Some((newest, older)), Some((other, others))) = (less.split_last(), more.split_last()) else {
        return less.is_empty();
    };
    let mut others = others.iter();
    newest == other && older.iter().all(|wanted| others.any(|value| value == wanted))
}

/// An element while it is worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Of every thread the state it is in.
    pub states: Vec<u16>,
    /// The values of variables.
    pub memory: Vec<u16>,
    /// What is on its way in every channel.
    pub channels: Vec<Vec<u16>>,
}

impl Demand {
    /// Demands this as well; `None` if something else is demanded already.
    pub(super) fn memory_is(&mut self, (variable, value): (u16, u16)) -> Option<()> {
        let known = &mut self.memory[usize::from(variable)];
        if *known != 0 && *known != value {
            return None;
        }
        *known = value;
        Some(())
    }

    /// What is demanded is so after this was written: before, it need not be. `None` if something else is
    /// demanded.
    pub(super) fn memory_was_set(&mut self, fact: (u16, u16)) -> Option<()> {
        self.memory_is(fact)?;
        self.memory[usize::from(fact.0)] = 0;
        Some(())
    }
}
