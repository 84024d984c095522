//! What is claimed of a program from outside its threads.

use crate::{Cond, Domain, Expr, Int, Loc, Program, RegId, Relation, Span, ThreadId, VarId};

/// What a property may speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// 1 while the thread stands at the location, 0 otherwise.
    At(ThreadId, Loc),
    /// A register of a thread.
    Register(ThreadId, RegId),
    /// The value of a shared variable in memory.
    Memory(VarId),
    /// 1 while nothing of the thread is on its way to memory, 0 otherwise.
    Drained(ThreadId),
}

/// When a property's condition is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// In every reachable configuration in which no thread is inside an atomic section; it must be false.
    Never,
    /// Where all threads have ended and all buffers are empty; it must be true.
    Finally,
}

impl PropertyKind {
    /// The word that such a claim begins with.
    pub fn word(self) -> &'static str {
        match self {
            PropertyKind::Never => "never",
            PropertyKind::Finally => "finally",
        }
    }
}

/// A claim about configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// When the condition is looked at, and what is wanted of it.
    pub kind: PropertyKind,
    /// The condition.
    pub cond: Cond<Place>,
    /// Where it is written.
    pub span: Span,
    /// The words of the source, where they say it all (a copy made by unrolling has none).
    pub text: Option<String>,
}

/// How a question about final configurations quantifies over them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Some final configuration satisfies it.
    Exists,
    /// No final configuration satisfies it.
    NotExists,
    /// All final configurations satisfy it.
    ForAll,
}

/// A question about the configurations where all threads have ended and all buffers are empty,
/// as litmus tests ask it: which values can the observed places have, and does the condition
/// hold in some, none or all of them?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// How the condition is quantified.
    pub quantifier: Quantifier,
    /// The condition.
    pub cond: Cond<Place>,
    /// Final configurations that do not satisfy it are ignored.
    pub filter: Cond<Place>,
    /// What a report lists, under these names and in this order.
    pub observed: Vec<(String, Place)>,
    /// Where the condition is written.
    pub span: Span,
}

impl Question {
    /// Everything it depends on: what it observes first, then what else the condition and the
    /// filter speak of. Final states that agree there need not be told apart.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = self.observed.iter().map(|(_, place)| *place).collect();
        for cond in [&self.cond, &self.filter] {
            cond.for_each_leaf(&mut |place| {
                if !places.contains(place) {
                    places.push(*place);
                }
            });
        }
        places
    }
}

/// A predicate offered to proof engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The predicate.
    pub cond: Cond<Place>,
    /// Where it is written.
    pub span: Span,
}

impl Hint {
    /// Whether it says something of the program: it does not if it holds always, or never.
    pub fn speaks(&self) -> bool {
        self.cond.any_leaf(|_| true)
    }
}

/// A condition on initial values. It speaks of memory only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartCondition {
    /// The condition.
    pub cond: Cond<Place>,
    /// Where it is written.
    pub span: Span,
}

impl Cond<Place> {
    /// "The thread stands at the location."
    pub fn at(thread: ThreadId, loc: Loc) -> Cond<Place> {
        Cond::compare(Relation::Ne, Place::At(thread, loc), Int::from(0))
    }

    /// The thread and the location, if it is [`Cond::at`] of these.
    pub fn as_at(&self) -> Option<(ThreadId, Loc)> {
        match self {
            Cond::Compare(Relation::Ne, Expr::Leaf(Place::At(thread, loc)), Expr::Const(zero))
                if *zero == Int::ZERO =>
            {
                Some((*thread, *loc))
            }
            _ => None,
        }
    }

    /// "Nothing of the thread is on its way to memory."
    pub fn drained(thread: ThreadId) -> Cond<Place> {
        Cond::compare(Relation::Ne, Place::Drained(thread), Int::from(0))
    }
}

impl Program {
    /// Whether runs may start with these values in memory, as far as [`Program::starts`] goes.
    pub fn may_start(&self, memory: &impl Fn(VarId) -> Int) -> bool {
        let value = |place: &Place| match *place {
            Place::Memory(variable) => memory(variable),
            Place::Drained(_) => Int::from(1),
            Place::At(..) | Place::Register(..) => Int::ZERO,
        };
        self.starts.iter().all(|start| start.cond.eval(&value) == Ok(true))
    }

    /// The variables about whose initial values something is assumed.
    pub fn assumed(&self) -> Vec<VarId> {
        let mut found = Vec::new();
        for start in &self.starts {
            start.cond.for_each_leaf(&mut |place| {
                if let Place::Memory(variable) = *place {
                    found.push(variable);
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Takes from the domains of variables what a start condition excludes by itself, like `n > 0 && n < 5`: whoever
    /// lists initial values then lists fewer, and perhaps all. Conditions stay, and so do domains that would become
    /// empty or stay unbounded on one side.
    pub fn narrow_starts(&mut self) {
        let mut bounds = vec![(None, None); self.variables.len()];
        self.starts.iter().for_each(|start| bounded(&start.cond, &mut bounds));
        for (variable, (low, high)) in self.variables.iter_mut().zip(bounds) {
            let (low, high) = match &variable.initial {
                Domain::All => (low, high),
                Domain::Range(from, to) => {
                    (low.max(Some(from.clone())), Some(high.map_or(to.clone(), |high| high.min(to.clone()))))
                }
            };
            if let (Some(low), Some(high)) = (low, high)
                && low <= high
            {
                variable.initial = Domain::Range(low, high);
            }
        }
    }

    /// Where a property is written that speaks of what is on its way to memory: then it matters when a store joins
    /// a buffer and when it leaves, and not only what threads and memory see of it.
    pub fn speaks_of_buffers(&self) -> Option<Span> {
        let of_buffers = |place: &Place| matches!(place, Place::Drained(_));
        let speaking = self.properties.iter().find(|property| property.cond.any_leaf(of_buffers));
        speaking.map(|property| property.span)
    }

    /// All places that properties and the question speak of, each once and in order. Hints are not among them: a
    /// register does not stay live, nor states apart, because a predicate was offered.
    pub fn observed(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for property in &self.properties {
            property.cond.for_each_leaf(&mut |place| places.push(*place));
        }
        places.extend(self.question.iter().flat_map(Question::places));
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The bounds that a condition sets to single variables.
fn bounded(cond: &Cond<Place>, bounds: &mut [(Option<Int>, Option<Int>)]) {
    let (relation, variable, value) = match cond {
        Cond::And(parts) => return parts.iter().for_each(|part| bounded(part, bounds)),
        Cond::Compare(relation, Expr::Leaf(Place::Memory(v)), Expr::Const(value)) => (*relation, v, value),
        Cond::Compare(relation, Expr::Const(value), Expr::Leaf(Place::Memory(v))) => {
            (relation.mirrored(), v, value)
        }
        _ => return,
    };
    let (low, high) = match relation {
        Relation::Eq => (Some(value.clone()), Some(value.clone())),
        Relation::Ne => (None, None),
        Relation::Lt => (None, Some(value - 1)),
        Relation::Le => (None, Some(value.clone())),
        Relation::Gt => (Some(value + 1), None),
        Relation::Ge => (Some(value.clone()), None),
    };
    let known = &mut bounds[variable.index()];
    known.0 = known.0.take().max(low);
    known.1 = match (known.1.take(), high) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}
