//! Several steps of one agent at once: against plain searches, for claims of every kind, and once more in the obvious way, with
//! runs grown at random; a mistake leaves one condition out, and violations are lost.

use super::serving::{Obvious, Successor, acts, misses, parts};
use super::stubborn::{deadlocking, scattered};
use super::{Law, compare, explore, hold, read};
use engine::Reduction;
use evidence::{Certificate, Ignore, Task, Verdict, check};
use fastrand::Rng;
use machine::{Agents, Buffered, Event, MODELS, Model, State, Stepper};
use program::{
    Cond, Fence, Op, Place, Program, Property, PropertyKind, Relation, Source, Span, ThreadBuilder, ThreadId,
    VarId, Variable,
};
use std::collections::BTreeSet;
use support::random::seeds;

#[test]
fn ends_of_runs_are_enough() {
    let count = 3 * seeds();
    let (judged, fewer) = hold(scattered, Reduction::Cartesian, count);
    println!("{judged} of {count} judged, {fewer} reduced");
    assert!(judged * 2 > count as usize && fewer * 2 > judged, "{judged} of {count} judged, {fewer} reduced");
}

#[test]
fn no_deadlock_is_lost_between_the_ends() {
    let (mut judged, mut fewer) = (0, 0);
    for seed in 0..seeds() {
        let program = deadlocking(seed);
        match compare(&program, MODELS[seed as usize % MODELS.len()], Reduction::Cartesian) {
            Law::Open => {}
            Law::Holds { all, left } => {
                judged += 1;
                fewer += usize::from(left < all);
            }
            Law::Broken(why) => panic!("seed {seed}: {why}\n{}", program::print(&program)),
        }
    }
    assert!(judged > 50 && fewer * 4 > judged, "{judged} judged, {fewer} reduced");
}

/// Who claims single steps where several were taken at once is refused, unless that makes no difference.
#[test]
fn a_proof_says_that_steps_are_taken_at_once() {
    let (mut refused, mut judged) = (0, 0);
    for seed in 0..seeds() {
        let program = scattered(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let Verdict::Safe(Certificate::Reduced(mut proof)) =
            explore(&program, model, Reduction::Cartesian).verdict
        else {
            continue;
        };
        judged += 1;
        let single = explore(&program, model, Reduction::Dynamic);
        let same = single.statistics.states == proof.set.states.len();
        proof.rules.runs = false;
        let verdict = Verdict::Safe(Certificate::Reduced(proof));
        let accepted = check(&Task::safe(&program, model), verdict, &Ignore).is_ok();
        assert!(!accepted || same, "seed {seed}");
        refused += usize::from(!accepted);
    }
    assert!(refused * 4 > judged && judged > 20, "{refused} of {judged}");
}

/// A condition left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Only last steps may clash.
    Clashing,
    /// A store that joins the buffer counts, for it may be drained.
    Stores,
    /// A run ends where a step would wait for the buffer.
    Waiting,
    /// No step but the first undoes a goal.
    Keeping,
    /// Who cannot act now may be about to.
    Stopped,
    /// Nobody who does not act may clash with a run.
    Others,
}

const LEFT_OUT: [Without; 6] = [
    Without::Clashing,
    Without::Stores,
    Without::Waiting,
    Without::Keeping,
    Without::Stopped,
    Without::Others,
];

/// The loads and the stores of a step.
type Touched = (BTreeSet<VarId>, BTreeSet<VarId>);

fn clash(a: &Touched, b: &Touched) -> bool {
    let meets = |a: &BTreeSet<VarId>, b: &BTreeSet<VarId>| !a.is_disjoint(b);
    meets(&a.1, &b.0) || meets(&a.1, &b.1) || meets(&a.0, &b.1)
}

/// Steps of one agent: where they lead, and what each touches at once and with what it leaves in the buffer.
struct ObviousRun {
    thread: ThreadId,
    drains: bool,
    end: State,
    touched: Vec<(Touched, Touched)>,
    stopped: bool,
}

struct RunRules<'a> {
    obvious: Obvious<'a>,
    model: Model,
    without: Without,
}

impl RunRules<'_> {
    fn has(&self, condition: Without) -> bool {
        self.without != condition
    }

    /// What any step of a program at its location touches.
    fn touched(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        thread: ThreadId,
        state: &State,
    ) -> (Touched, Touched) {
        let automaton = self.obvious.program.thread(thread);
        let (mut at_once, mut all) = (Touched::default(), Touched::default());
        for (_, edge) in automaton.outgoing(stepper.local(thread, state).loc) {
            edge.op.for_each_part(&mut |part| match part {
                Op::Load(_, variable) => {
                    at_once.0.insert(*variable);
                    all.0.insert(*variable);
                }
                Op::Store(variable, _) => {
                    if edge.op.waits() || !self.model.buffers() {
                        at_once.1.insert(*variable);
                    }
                    all.1.insert(*variable);
                }
                _ => {}
            });
        }
        if !self.has(Without::Stores) {
            all = at_once.clone();
        }
        (at_once, all)
    }

    /// All that agents of other threads who do not act may ever touch.
    fn of_others(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        but: ThreadId,
        state: &State,
        set: Agents,
    ) -> Touched {
        let mut all = Touched::default();
        for thread in self.obvious.program.thread_ids().filter(|thread| *thread != but) {
            let local = stepper.local(thread, state);
            if set.buffers >> thread.index() & 1 == 0 {
                all.1.extend(local.stores());
            }
            if set.programs >> thread.index() & 1 == 0 {
                let automaton = self.obvious.program.thread(thread);
                for edge in automaton.edges() {
                    edge.op.for_each_part(&mut |part| match part {
                        Op::Load(_, variable) => drop(all.0.insert(*variable)),
                        Op::Store(variable, _) => drop(all.1.insert(*variable)),
                        _ => {}
                    });
                }
            }
        }
        all
    }

    /// Whether the runs are a vector with one more step of one of them, which touches this at once.
    fn fit(&self, runs: &[ObviousRun], at: usize, step: &Touched, others: &Touched) -> bool {
        let run = &runs[at];
        let inner = |run: &ObviousRun| run.touched.iter().map(|(_, all)| all.clone()).collect::<Vec<_>>();
        let before = inner(run);
        let apart = |other: &ObviousRun| {
            let (last, inner) = (other.touched.last().map(|(at_once, _)| at_once.clone()), inner(other));
            let inner = &inner[..inner.len().saturating_sub(1)];
            let theirs: Vec<Touched> = inner.iter().cloned().chain(last).collect();
            !before.iter().any(|mine| theirs.iter().any(|theirs| clash(mine, theirs)))
                && !inner.iter().any(|theirs| clash(step, theirs))
        };
        let counts = |other: &&ObviousRun| {
            other.thread != run.thread && (!other.stopped || self.has(Without::Stopped))
        };
        (!self.has(Without::Clashing) || runs.iter().filter(counts).all(apart))
            && (!self.has(Without::Others) || !before.iter().chain([step]).any(|mine| clash(mine, others)))
    }

    /// The only step of an agent, if it may be one more of its run.
    fn next(&self, stepper: &mut Stepper<'_, Buffered<'_>>, run: &ObviousRun) -> Option<Successor> {
        let local = stepper.local(run.thread, &run.end).clone();
        let waits =
            self.obvious.program.thread(run.thread).outgoing(local.loc).any(|(_, edge)| edge.op.waits());
        if !run.drains && waits && !local.drained() && self.has(Without::Waiting) {
            return None;
        }
        stepper.prepare(&run.end);
        let mut found = Vec::new();
        let mut doubted = false;
        let visit = |event: Event, _: Option<i64>, next: &State| found.push((event, next.clone()));
        stepper.successors_of(run.thread, &run.end, &mut State::default(), |_| doubted = true, visit);
        found.retain(|(event, _)| matches!(event, Event::Drain { .. }) == run.drains);
        let (event, next) = found.pop().filter(|_| found.is_empty() && !doubted)?;
        let kept = self.obvious.goals.iter().flat_map(parts).all(|part| {
            let mut same = true;
            part.for_each_leaf(&mut |place| {
                same &= stepper.place(&run.end, place) == stepper.place(&next, place);
            });
            same
        });
        (kept || !self.has(Without::Keeping)).then_some((event, next))
    }

    /// Where runs of those who act lead to, grown at random.
    fn ends(
        &self,
        stepper: &mut Stepper<'_, Buffered<'_>>,
        state: &State,
        steps: &[Successor],
        set: Agents,
        rng: &mut Rng,
    ) -> Vec<State> {
        let mut runs: Vec<ObviousRun> = Vec::new();
        for (event, end) in steps.iter().filter(|(event, _)| acts(set, *event)) {
            let thread = event.thread();
            let touched = match event {
                Event::Step { .. } => self.touched(stepper, thread, state),
                Event::Drain { variable, .. } => drained(*variable),
            };
            let drains = matches!(event, Event::Drain { .. });
            runs.push(ObviousRun {
                thread,
                drains,
                end: end.clone(),
                touched: vec![touched],
                stopped: false,
            });
        }
        for thread in self.obvious.program.thread_ids() {
            let program = set.programs >> thread.index() & 1 == 1;
            if program && !runs.iter().any(|run| run.thread == thread && !run.drains) {
                let touched = vec![self.touched(stepper, thread, state)];
                let end = State::default();
                runs.push(ObviousRun { thread, drains: false, end, touched, stopped: true });
            }
        }
        for _ in 0..8 * runs.len() {
            let at = rng.usize(..runs.len());
            let run = &runs[at];
            if run.stopped || run.drains && self.model.reorders_stores() {
                continue;
            }
            let Some((event, next)) = self.next(stepper, run) else { continue };
            let touched = match event {
                Event::Step { .. } => self.touched(stepper, run.thread, &run.end),
                Event::Drain { variable, .. } => drained(variable),
            };
            let others = self.of_others(stepper, run.thread, state, set);
            if self.fit(&runs, at, &touched.0, &others) {
                runs[at].end = next;
                runs[at].touched.push(touched);
            }
        }
        runs.into_iter().filter(|run| !run.stopped).map(|run| run.end).collect()
    }
}

fn drained(variable: VarId) -> (Touched, Touched) {
    let touched = (BTreeSet::new(), BTreeSet::from([variable]));
    (touched.clone(), touched)
}

fn differs(program: &Program, model: Model, without: Without, rng: &mut Rng) -> bool {
    let Some(obvious) = Obvious::new(program, model) else { return false };
    let rules = RunRules { obvious, model, without };
    misses(program, model, &mut |stepper, state, next| {
        let set = rules.obvious.acting(stepper, state, &next, rng);
        rules.ends(stepper, state, &next, set, rng)
    })
}

/// Programs that random ones rarely look like: a message that comes back before a run is at its end, a place that is passed, a
/// value that others write while a run goes on.
const RARE: [&str; 3] = [
    "shared x, z; thread P { let r; x = 1; r = z; if (r == 1) { bad: skip; } }
     thread Q { let s; s = x; z = s; } never P@bad;",
    "thread P { let r; r = 1; mid: skip; r = 2; } thread Q { let s; s = 1; s = 2; } never P@mid;",
    "shared a, x; thread P { let r; a = 1; r = x; if (r == 1) { bad: skip; } } thread Q { x = 1; } never P@bad;",
];

/// A thread that goes on by one of two edges: with a fence, which waits for its store, or without.
fn may_wait() -> Program {
    let mut program = Program::new("may wait", Source::default());
    let x = program.add_variable(Variable::new("x", Span::NONE));
    let mut builder = ThreadBuilder::new("P");
    let stored = builder.step(builder.entry(), Op::Store(x, 1.into()), Span::NONE);
    let waited = builder.step(stored, Op::Fence(Fence::Full), Span::NONE);
    builder.step(stored, Op::Assume(Cond::TRUE), Span::NONE);
    program.threads.push(builder.finish().expect("valid"));
    never(program, Cond::at(ThreadId::new(0), waited))
}

/// A thread that waits for a value in one step, and another that writes it and something else.
fn stopped() -> Program {
    let mut program = Program::new("stopped", Source::default());
    let x = program.add_variable(Variable::new("x", Span::NONE));
    let mut waiting = ThreadBuilder::new("P");
    let r = waiting.register("r");
    let seen = Op::Assume(Cond::compare(Relation::Eq, r, 1));
    let parts = vec![Op::Load(r, x), seen];
    let met = waiting.step(waiting.entry(), Op::Block { locked: false, parts }, Span::NONE);
    let mut writing = ThreadBuilder::new("Q");
    let written = writing.step(writing.entry(), Op::Store(x, 1.into()), Span::NONE);
    writing.step(written, Op::Store(x, 0.into()), Span::NONE);
    program.threads.extend([waiting, writing].map(|builder| builder.finish().expect("valid")));
    never(program, Cond::at(ThreadId::new(0), met))
}

fn never(mut program: Program, cond: Cond<Place>) -> Program {
    program.properties.push(Property { kind: PropertyKind::Never, cond, span: Span::NONE, text: None });
    program
}

#[test]
fn every_condition_on_runs_is_needed() {
    let programs: Vec<Program> = RARE.iter().map(|text| read(text)).chain([may_wait(), stopped()]).collect();
    let differs = |seed: u64, without: Without| {
        let (at, rng) = (seed as usize, &mut Rng::with_seed(seed));
        let (rare, model) = (at / 2 % programs.len(), MODELS[at / 2 % MODELS.len()]);
        match at % 2 {
            0 => differs(&scattered(seed).build(), model, without, rng),
            _ => differs(&programs[rare], model, without, rng),
        }
    };
    let wrong = (0..6 * seeds()).find(|seed| differs(*seed, Without::Nothing));
    assert_eq!(wrong, None, "the obvious version is wrong");
    for mistake in LEFT_OUT {
        let found = (0..6 * seeds()).find(|seed| differs(*seed, mistake));
        assert!(found.is_some(), "{mistake:?}");
    }
    // What is noticed if a condition is missing is not lost by the real thing.
    for (program, model) in
        programs.iter().flat_map(|program| MODELS.iter().map(move |model| (program, *model)))
    {
        assert!(!matches!(compare(program, model, Reduction::Cartesian), Law::Broken(_)), "{}", program.name);
    }
}
