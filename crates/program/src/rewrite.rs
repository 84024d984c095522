//! Threads written anew, for passes that turn a program into another one.
//!
//! Every location of the new thread stands for one of the old (or for none), and every edge
//! knows what it stands for. Old registers keep their numbers. Standing at a location of the new
//! thread counts, in properties, as standing at the one it stands for.

use crate::{Arith, Cond, Edge, Expr, Loc, Location, Place, Program, RegId, Thread, ThreadId};

/// A thread that is being written anew; its edges carry a `T` each.
pub struct Rewriting<'t, T> {
    thread: &'t Thread,
    registers: Vec<String>,
    locations: Vec<Location>,
    stands_for: Vec<Option<Loc>>,
    edges: Vec<(Edge, T)>,
}

/// A thread written anew.
pub struct Rewritten<T> {
    /// The thread.
    pub thread: Thread,
    /// The old location that each location stands for.
    pub stands_for: Vec<Option<Loc>>,
    /// What each edge stands for.
    pub origins: Vec<T>,
}

impl<'t, T> Rewriting<'t, T> {
    /// Nothing yet but the old registers. The first location that is added is the entry.
    pub fn of(thread: &'t Thread) -> Rewriting<'t, T> {
        Rewriting {
            thread,
            registers: thread.registers.clone(),
            locations: Vec::new(),
            stands_for: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// The old thread.
    pub fn old(&self) -> &'t Thread {
        self.thread
    }

    /// A new register.
    pub fn register(&mut self, name: impl Into<String>) -> RegId {
        self.registers.push(name.into());
        RegId::new(self.registers.len() - 1)
    }

    /// How many registers there are.
    pub fn registers(&self) -> usize {
        self.registers.len()
    }

    /// A location that stands for an old one, with its labels and its failure.
    pub fn copy(&mut self, of: Loc) -> Loc {
        self.location(Some(of), self.thread.location(of).clone())
    }

    /// A location that stands for an old one in properties, and is otherwise a new one.
    pub fn fresh(&mut self, like: Loc) -> Loc {
        self.location(Some(like), Location::default())
    }

    /// A location.
    pub fn location(&mut self, stands_for: Option<Loc>, location: Location) -> Loc {
        self.locations.push(location);
        self.stands_for.push(stands_for);
        Loc::new(self.locations.len() - 1)
    }

    /// Adds an edge.
    pub fn edge(&mut self, edge: Edge, origin: T) {
        self.edges.push((edge, origin));
    }

    /// The edges so far.
    pub fn edges(&self) -> &[(Edge, T)] {
        &self.edges
    }

    /// Takes away the edges that do not stay.
    pub fn retain(&mut self, stays: impl FnMut(&(Edge, T)) -> bool) {
        self.edges.retain(stays);
    }

    /// The thread. Edges that leave the same location stay in the order in which they came.
    pub fn finish(mut self) -> Rewritten<T> {
        self.edges.sort_by_key(|(edge, _)| edge.from);
        let (edges, origins): (Vec<Edge>, Vec<T>) = self.edges.into_iter().unzip();
        let inside = |loc: &Option<Loc>| loc.is_some_and(|loc| self.thread.in_atomic(loc));
        let atomic = self.stands_for.iter().map(inside).collect();
        let mut thread = self.thread.with(self.locations, atomic, edges);
        thread.registers = self.registers;
        Rewritten { thread, stands_for: self.stands_for, origins }
    }
}

impl Program {
    /// The program with another thread in the place of one, in whose locations `stands_for` finds
    /// the old ones. Questions and hints, which may speak of locations too, are left out.
    pub fn with_thread(&self, id: ThreadId, thread: Thread, stands_for: &[Option<Loc>]) -> Program {
        let mut program = Program { question: None, hints: Vec::new(), ..self.clone() };
        program.threads[id.index()] = thread;
        for property in &mut program.properties {
            property.cond = counting_copies(&property.cond, id, stands_for);
        }
        program
    }
}

/// A condition in which standing at a location counts as standing at what it stands for.
fn counting_copies(cond: &Cond<Place>, thread: ThreadId, stands_for: &[Option<Loc>]) -> Cond<Place> {
    cond.map(&mut |place| match *place {
        Place::At(standing, old) if standing == thread => {
            let copies = stands_for.iter().enumerate().filter(|(_, of)| **of == Some(old));
            let here = copies.map(|(at, _)| Expr::Leaf(Place::At(thread, Loc::new(at))));
            here.reduce(|sum, here| Expr::binary(Arith::Add, sum, here)).unwrap_or_else(|| 0.into())
        }
        other => Expr::Leaf(other),
    })
}
