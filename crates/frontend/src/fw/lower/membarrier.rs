//! `membarrier`: every other thread passes a full fence before the caller goes on.
//!
//! This is what Linux's call of that name does: it interrupts all threads, each of which executes a full fence in its
//! handler, and returns when all have. So there is, for every thread, *some* moment between call and return at which its
//! buffer is empty. These moments differ: a thread that was interrupted early may have stored again before another one
//! is. (A step that waits until all buffers are empty at once would promise more. With `c` stored by the caller before
//! the call, `A { r = c; y = 1; s = z; }` and `B { z = 1; t = c; }` may get r = 1, s = 0, t = 0 and the
//! caller still miss `y` after it: A was interrupted first. One common moment forbids that.)
//!
//! Automata need nothing new for it. A request to every other thread is a variable; the caller sets them in one locked
//! step and waits in another one until all are answered. A thread can answer wherever it stands outside of atomic
//! sections, in a locked step, which waits for an empty buffer as the handler's fence does. Inside of a section its buffer is
//! empty, and nobody sees memory before its end: answering then is the same. A thread that has ended answers
//! for good: it takes one more step when its buffer is empty, and claims count it as ended before that, too.

use super::{LoweringState, Threads};
use crate::Diagnostic;
use crate::fw::limits;
use program::{
    Cond, Edge, Expr, Fence, Int, Loc, Location, Op, Program, RegId, Relation, Rewriting, Span, Thread,
    ThreadId, VarId, Variable,
};
use std::collections::BTreeSet;

/// Writes what `membarrier` means into the program's threads. So far it is a fence at one of these places.
pub(super) fn lower(
    places: &BTreeSet<Span>,
    threads: &mut Threads<'_>,
    work: &mut LoweringState<'_>,
    program: &mut Program,
) {
    let is_call = |edge: &Edge| edge.op == Op::Fence(Fence::Full) && places.contains(&edge.span);
    for thread in &program.threads {
        if let Some(edge) = thread.edges().iter().find(|edge| is_call(edge) && thread.in_atomic(edge.from)) {
            let error = Diagnostic::error(edge.span, "`membarrier` inside an atomic section never ends");
            work.sink.error(error.hint("other threads cannot answer there: put it in front of the section"));
            return;
        }
    }
    let called = |thread: &Thread| thread.edges().iter().find(|edge| is_call(edge)).map(|edge| edge.span);
    let calls = program.thread_ids().filter_map(|id| Some((id, called(program.thread(id))?)));
    let calls: Vec<(ThreadId, Span)> = calls.collect();
    let Some((_, first)) = calls.first().filter(|_| program.threads.len() > 1) else { return };
    let more = (calls.len() + 1) * program.threads.len();
    let locations: usize = program.threads.iter().map(|thread| thread.locs().count()).sum();
    if program.variables.len() + more > limits::VARIABLES
        || work.size + locations * calls.len() > limits::SIZE
    {
        work.too_large(*first);
        return;
    }
    let requests = Requests::declare(&calls, program);
    for id in program.thread_ids() {
        let rewritten = requests.rewrite(id, program.thread(id), &is_call);
        work.size += rewritten.edges().len() - program.thread(id).edges().len();
        let finished = &mut threads.finished[id.index()];
        finished.ending.extend(rewritten.locs().filter(|loc| rewritten.is_end(*loc)));
        finished.labels = super::thread::labels(&rewritten);
        program.threads[id.index()] = rewritten;
    }
}

/// The variables through which threads ask and answer.
struct Requests {
    /// Who asks, at which place (the first of several), and by thread the variable that is 1 until it has answered.
    calls: Vec<(ThreadId, Span, Vec<VarId>)>,
    /// By thread, 1 once it has ended and nothing of it is on its way to memory.
    gone: Vec<VarId>,
}

impl Requests {
    fn declare(calls: &[(ThreadId, Span)], program: &mut Program) -> Requests {
        let names: Vec<String> = program.threads.iter().map(|thread| thread.name.clone()).collect();
        let mut variable = |name: String, span| program.add_variable(Variable::new(name, span));
        let mut asked = Vec::new();
        for (caller, span) in calls {
            let by = &names[caller.index()];
            let of = names.iter().map(|name| variable(format!("membarrier.{by}.{name}"), *span));
            asked.push((*caller, *span, of.collect()));
        }
        let gone = names.iter().map(|name| variable(format!("gone.{name}"), calls[0].1)).collect();
        Requests { calls: asked, gone }
    }

    /// A thread that calls and answers. Locations keep their numbers.
    fn rewrite(&self, id: ThreadId, thread: &Thread, is_call: &dyn Fn(&Edge) -> bool) -> Thread {
        let mut new = Rewriting::of(thread);
        let mut unused = (1..).map(|at| format!("t{at}")).filter(|name| !thread.registers.contains(name));
        let registers = [0, 1].map(|_| new.register(unused.next().unwrap_or_default()));
        let mut answering: Vec<Loc> = Vec::new();
        for loc in thread.locs() {
            new.copy(loc);
            if !thread.in_atomic(loc) && thread.location(loc).failure.is_none() {
                answering.push(loc);
            }
        }
        for edge in thread.edges() {
            if !is_call(edge) {
                new.edge(edge.clone(), ());
                continue;
            }
            // Who is asking still stands in front of the statement.
            let labels = thread.location(edge.from).labels.clone();
            let asking = new.location(Some(edge.from), Location { labels, failure: None, span: edge.span });
            answering.push(asking);
            new.edge(Edge { to: asking, op: self.ask(id), ..edge.clone() }, ());
            new.edge(Edge { from: asking, op: self.wait(id, registers), ..edge.clone() }, ());
        }
        for loc in thread.locs().filter(|loc| thread.is_end(*loc)) {
            let end = new.location(Some(loc), thread.location(loc).clone());
            let op = Op::locked(vec![Op::Store(self.gone[id.index()], Expr::from(1))]);
            new.edge(Edge { from: loc, to: end, op, span: thread.location(loc).span, call: None }, ());
        }
        for loc in answering {
            for (_, span, asked) in self.calls.iter().filter(|(caller, ..)| *caller != id) {
                let (from, to, op) = (loc, loc, answer(asked[id.index()], registers[0]));
                new.edge(Edge { from, to, op, span: *span, call: None }, ());
            }
        }
        new.finish().thread
    }

    /// What a thread asks of others.
    fn asked(&self, by: ThreadId) -> impl Iterator<Item = (ThreadId, VarId)> {
        let calls = self.calls.iter().filter(move |(caller, ..)| *caller == by);
        let all = calls.flat_map(|(.., asked)| asked.iter().copied().enumerate());
        all.map(|(of, variable)| (ThreadId::new(of), variable)).filter(move |(of, _)| *of != by)
    }

    fn ask(&self, by: ThreadId) -> Op {
        Op::locked(self.asked(by).map(|(_, variable)| Op::Store(variable, Expr::from(1))).collect())
    }

    fn wait(&self, by: ThreadId, [asked, gone]: [RegId; 2]) -> Op {
        let parts = self.asked(by).flat_map(|(of, variable)| {
            let is = |register, value: i64| Cond::compare(Relation::Eq, register, Int::from(value));
            let answered = Cond::or([is(asked, 0), is(gone, 1)]);
            [Op::Load(asked, variable), Op::Load(gone, self.gone[of.index()]), Op::Assume(answered)]
        });
        Op::locked(parts.collect())
    }
}

fn answer(request: VarId, register: RegId) -> Op {
    let pending = Op::Assume(Cond::compare(Relation::Eq, register, Int::from(1)));
    Op::locked(vec![Op::Load(register, request), pending, Op::Store(request, Expr::from(0))])
}
