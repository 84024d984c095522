//! `run`: random walks. Chance is seeded, so a walk can be walked again.

use super::replay::RecordedRun;
use crate::args::{RunArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::limits::Watch;
use crate::numbers::counted;
use crate::report::{Failed, Said, WalkEnd, Walked, Walks};
use crate::session::{Outputs, Session, Told};
use evidence::symbolic::example_start;
use evidence::{Checked, Ignore, Monitor, Progress, Stop, Task, Verdict, check};
use fastrand::Rng;
use machine::{Account, Buffered, Configuration, Machine, Trace, TraceStep, Violation};
use num_traits::ToPrimitive;
use program::{Domain, Int, Program, VarId};

/// Where any integer will do, one from -`SMALL` to `SMALL` is taken.
const SMALL: i64 = 4;

/// How many steps pass between two looks at the clock.
const PATIENCE: usize = 64;
/// So often initial values are drawn that may not go together.
const START_TRIES: usize = 64;

/// Runs the command.
pub fn walk(args: &RunArgs, console: &Console) -> Result<Exit, CommandError> {
    let session = Session::open("run", args.report.chosen(), Outputs::default(), console)?;
    let mut told = Told::default();
    let Some(loaded) = session.load(&mut told, &Ok(args.file.clone()), &args.input) else {
        session.show(&told)?;
        return Ok(told.exit);
    };
    let program = &loaded.program;
    let watch = session.watch_over(args.resources.budget(), loaded.name.clone());
    if let Some(evidence) = &args.replay {
        let recorded = RecordedRun::read(program, evidence, &watch)?;
        recorded.tell(&session, &mut told, &loaded);
        session.show(&told)?;
        return Ok(told.exit);
    }
    let model = chosen_models(&args.model)[0];
    let machine = Buffered::exact(program, model).with_dead_registers();
    let mut walks = Walks::default();
    loop {
        let seed = args.seed.wrapping_add(walks.all as u64);
        let walk = match RandomWalk::random(&machine, seed, args.steps, &watch) {
            Ok(walk) => walk,
            Err(stop) => {
                let done = counted(walks.all, "walk");
                let reason = format!("{stop}; {done} before that violated nothing");
                let failed = Failed::new("run", &loaded.name, Some(model), reason);
                session.failed(&mut told, &Failed { stopped: true, ..failed });
                break;
            }
        };
        walks.all += 1;
        walks.ended += usize::from(walk.end == WalkEnd::Ended);
        walks.blocked += usize::from(walk.end == WalkEnd::Blocked);
        if walk.violation.is_none() && walks.all < args.runs {
            continue;
        }
        let task = Task::safe(program, model);
        let checked = walk.checked(&task)?;
        let violation = checked.as_ref().and_then(Checked::violated);
        let account = Account::of(program, &walk.steps, walk.passed);
        let walked = Walked {
            file: &loaded.name,
            program,
            model,
            initial: &walk.initial,
            account: &account,
            end: walk.end,
            violation,
            seed: Some(seed),
            walks,
        };
        session.say(&mut told, &Said::Walk(&walked));
        told.ends(if violation.is_some() { Exit::Violated } else { Exit::Holds });
        break;
    }
    session.show(&told)?;
    Ok(told.exit)
}

struct RandomWalk {
    initial: Vec<(VarId, Int)>,
    steps: Vec<TraceStep>,
    passed: Vec<Configuration>,
    end: WalkEnd,
    violation: Option<Violation>,
}

impl RandomWalk {
    /// Every enabled step is equally likely, again and again, until something ends it.
    fn random(machine: &Buffered<'_>, seed: u64, most: usize, watch: &Watch<'_>) -> Result<RandomWalk, Stop> {
        let program = machine.program();
        let mut chance = Rng::with_seed(seed);
        let (initial, first) = random_start(machine, &mut chance);
        let mut walk = RandomWalk {
            initial,
            steps: Vec::new(),
            passed: first.into_iter().collect(),
            end: WalkEnd::Blocked,
            violation: None,
        };
        while let Some(now) = walk.passed.last() {
            if walk.steps.len().is_multiple_of(PATIENCE) {
                watch.observe(&Progress { phase: "walking", ..Progress::default() })?;
            }
            walk.violation = now.violation(program);
            if walk.violation.is_some() {
                walk.end = WalkEnd::Violated;
                break;
            }
            let enabled = now.enabled(machine);
            if enabled.is_empty() {
                walk.end = if now.is_final(program) { WalkEnd::Ended } else { WalkEnd::Blocked };
                break;
            }
            if walk.steps.len() >= most {
                walk.end = WalkEnd::Cut;
                break;
            }
            let taken = &enabled[chance.usize(..enabled.len())];
            let choice = taken.choice.as_ref().map(|domain| pick(&mut chance, domain));
            let Some(next) = now.take(machine, taken.event, choice.as_ref()) else { break };
            walk.steps.push(TraceStep { event: taken.event, choice });
            walk.passed.push(next);
        }
        Ok(walk)
    }

    /// The violation, if there is one; replayed, like every verdict.
    fn checked(&self, task: &Task<'_>) -> Result<Option<Checked>, String> {
        let Some(violation) = self.violation else { return Ok(None) };
        let trace = Trace { initial: self.initial.clone(), steps: self.steps.clone(), violation };
        let mut checked = check(task, Verdict::Unsafe(trace), &Ignore).map_err(|why| {
            format!("this is a bug in fencewright, please report it: a walk was rejected: {why}")
        })?;
        checked.explain(task, &Ignore);
        Ok(Some(checked))
    }
}

/// Initial values at random; where those hardly ever satisfy what is assumed, one example. The configuration is
/// missing if there is none.
fn random_start(machine: &Buffered<'_>, chance: &mut Rng) -> (Vec<(VarId, Int)>, Option<Configuration>) {
    let program = machine.program();
    for _ in 0..START_TRIES {
        let open = open_variables(program);
        let initial: Vec<_> = open.map(|v| (v, pick(chance, &program.variable(v).initial))).collect();
        if let Some(first) = Configuration::initial(machine, &initial) {
            return (initial, Some(first));
        }
    }
    let mut initial = example_start(program).ok().flatten().unwrap_or_default();
    initial.retain(|(v, _)| program.variable(*v).initial.single().is_none());
    let first = Configuration::initial(machine, &initial);
    (initial, first)
}

/// The variables whose initial value is open.
pub fn open_variables(program: &Program) -> impl Iterator<Item = VarId> {
    program.variable_ids().filter(|v| program.variable(*v).initial.single().is_none())
}

/// A value of a domain.
pub fn pick(chance: &mut Rng, domain: &Domain) -> Int {
    match domain {
        Domain::All => Int::from(chance.i64(-SMALL..=SMALL)),
        Domain::Range(low, high) => {
            // Of a range beyond 64 bits, its beginning has to do.
            let size = (high - low).to_u64().unwrap_or(u64::MAX);
            low + Int::from(chance.u64(0..=size))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_picked_from_their_domain() {
        let mut chance = Rng::with_seed(1);
        let huge = Int::from(u64::MAX) * 4;
        let domains = [
            Domain::All,
            Domain::only(7),
            Domain::Range(Int::from(-2), Int::from(2)),
            Domain::Range(-&huge, huge),
        ];
        for domain in domains {
            for _ in 0..100 {
                assert!(domain.contains(&pick(&mut chance, &domain)), "{domain:?}");
            }
        }
    }
}
