//! Concurrent programs over mathematical integers, as control-flow automata.
//!
//! A [`Program`] is a set of shared scalar variables, a list of [`Thread`]s and the
//! [`Property`]s it must satisfy. A thread is an automaton: locations, and [`Edge`]s that
//! carry one [`Op`] each. Arrays, loops, functions and lazy conditions exist only in front
//! ends; below them there are scalars, registers and branches. Nothing here knows a memory
//! model: what a store or a fence *does* is the business of the `machine` crate.
//!
//! ```
//! use program::{Cond, Expr, Op, Program, Relation, Source, Span, ThreadBuilder, Variable};
//!
//! let mut program = Program::new("one store", Source::default());
//! let x = program.add_variable(Variable::new("x", Span::NONE));
//! let mut thread = ThreadBuilder::new("P");
//! let (start, end) = (thread.entry(), thread.location(Span::NONE));
//! thread.edge(start, Op::Store(x, Expr::from(1)), end, Span::NONE);
//! program.threads.push(thread.finish()?);
//! assert!(program.validate().is_ok());
//! # Ok::<(), program::Invalid>(())
//! ```

mod automaton;
mod bits;
mod build;
mod deciding;
mod delay;
mod division;
mod dot;
mod expr;
mod fences;
mod forgetting;
mod ids;
mod linear;
mod liveness;
mod loops;
mod named;
mod names;
mod print;
mod property;
mod question;
mod renaming;
mod rewrite;
mod source;
mod symmetry;
mod unroll;
mod validate;
mod waiting;

pub use automaton::{CallSite, Domain, Edge, Failure, FailureKind, Fence, Location, Op, Thread};
pub use bits::BitSum;
pub use build::ThreadBuilder;
pub use delay::{Delay, Delayed, NoDelay, Origin};
pub use dot::dot;
pub use expr::{Arith, Cond, EvalError, Expr, Relation};
pub use fences::{FenceSet, Placement, Point, Strength};
pub use ids::{EdgeId, Loc, RegId, ThreadId, VarId};
pub use linear::LinearExpr;
pub use liveness::Liveness;
pub use named::AuthoredRegisters;
pub use names::{KEYWORDS, Names, is_keyword, take_name};
pub use print::{print, same, same_but_skips};
pub use property::{Hint, Place, Property, PropertyKind, Quantifier, Question, StartCondition};
pub use renaming::{RegisterNames, Renaming, ValueNames};
pub use rewrite::{Rewriting, Rewritten};
pub use source::{Source, SourceLine, Span};
pub use symmetry::{thread_swaps, thread_swaps_but_for_starts};
pub use unroll::UnrolledProgram;
pub use validate::Invalid;

use std::sync::Arc;

/// The integers programs compute with: mathematical, of any size.
pub type Int = num_bigint::BigInt;

/// A shared scalar variable. A cell of an array is a variable named like `flag[0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name: an identifier, or an identifier and a number in brackets.
    pub name: String,
    /// The values it may start with.
    pub initial: Domain,
    /// Where it was declared.
    pub span: Span,
}

impl Variable {
    /// A variable that starts at 0.
    pub fn new(name: impl Into<String>, span: Span) -> Variable {
        Variable { name: name.into(), initial: Domain::only(0), span }
    }
}

/// Something that is taken for granted about a place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// The place.
    pub span: Span,
    /// What is assumed of it, in a few words ("no overflow").
    pub text: String,
}

/// A concurrent program and what is claimed of it.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name, usually the file's.
    pub name: String,
    /// The text that spans point into.
    pub source: Arc<Source>,
    /// Shared variables; a [`VarId`] is an index here.
    pub variables: Vec<Variable>,
    /// Threads; a [`ThreadId`] is an index here.
    pub threads: Vec<Thread>,
    /// What initial values have in common, beyond the domains of single variables: a run starts only where
    /// all of these hold.
    pub starts: Vec<StartCondition>,
    /// What must hold, besides the failures inside threads.
    pub properties: Vec<Property>,
    /// What a litmus test asks of its final configurations.
    pub question: Option<Question>,
    /// What the text was read with but may not hold; whatever is proved holds only if it does.
    pub assumptions: Vec<Assumption>,
    /// Predicates the author offers to proof engines; they never change a verdict.
    pub hints: Vec<Hint>,
}

impl Program {
    /// A program without variables, threads or properties.
    pub fn new(name: impl Into<String>, source: Source) -> Program {
        Program {
            name: name.into(),
            source: Arc::new(source),
            variables: Vec::new(),
            threads: Vec::new(),
            starts: Vec::new(),
            properties: Vec::new(),
            question: None,
            assumptions: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Adds a shared variable and returns its id.
    pub fn add_variable(&mut self, variable: Variable) -> VarId {
        self.variables.push(variable);
        VarId::new(self.variables.len() - 1)
    }

    /// The thread with this id.
    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.index()]
    }

    /// The variable with this id.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// All thread ids, in order.
    pub fn thread_ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::new)
    }

    /// All variable ids, in order.
    pub fn variable_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId::new)
    }
}
