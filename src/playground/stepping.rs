//! A run, step by step: the page says which steps were taken, and is told where that leads.
//!
//! Steps are numbers in the lists of enabled steps that the page was shown, so a run is a short list of numbers
//! that can be shared; taking the last one back is leaving it out.

use super::model_of;
use super::reading::loaded;
use crate::commands::{domain_text, enabled_text, open_variables, pick};
use crate::report::{ShownRun, run_parts};
use evidence::symbolic::example_start;
use fastrand::Rng;
use machine::{Account, Buffered, Configuration, Enabled, TraceStep};
use program::{AuthoredRegisters, Int, Names, Program, VarId};
use serde::Deserialize;
use serde_json::{Value, json};

/// Steps of a surprise.
const SURPRISE: usize = 300;
/// Surprises that are tried until one violates something.
const SURPRISES: usize = 40;
/// Runs may not be longer.
const MOST_STEPS: usize = 2000;

/// What a page wants to know of a run.
#[derive(Deserialize)]
pub struct PageRun {
    name: String,
    text: String,
    model: String,
    /// What variables start with where that is open, by name.
    #[serde(default)]
    initial: Vec<(String, String)>,
    /// The number of each step, and the value that it chooses.
    #[serde(default)]
    steps: Vec<PageStep>,
    /// Goes on at random with this seed, until something is violated or nothing can be done.
    #[serde(default)]
    surprise: Option<u64>,
}

/// A step: its number, and the value that it chooses.
type PageStep = (usize, Option<String>);

/// A run as far as it was taken.
#[derive(Clone)]
struct TakenRun {
    steps: Vec<PageStep>,
    events: Vec<TraceStep>,
    passed: Vec<Configuration>,
}

impl TakenRun {
    fn now(&self) -> &Configuration {
        &self.passed[self.passed.len() - 1]
    }

    fn take(&mut self, machine: &Buffered<'_>, number: usize, choice: Option<Int>) -> Result<(), String> {
        let enabled = self.now().enabled(machine);
        let wanted = enabled.get(number).ok_or_else(|| format!("there is no step {}", number + 1))?;
        let choice = wanted.choice.as_ref().and(choice.or_else(|| Some(wanted.choice.as_ref()?.example())));
        let next = self.now().take(machine, wanted.event, choice.as_ref());
        self.passed.push(next.ok_or("the step cannot be taken with this value")?);
        self.steps.push((number, choice.as_ref().map(Int::to_string)));
        self.events.push(TraceStep { event: wanted.event, choice });
        Ok(())
    }

    /// Goes on at random; whether that violates something.
    fn surprise(&mut self, machine: &Buffered<'_>, program: &Program, chance: &mut Rng) -> bool {
        for _ in 0..SURPRISE {
            let enabled = self.now().enabled(machine);
            if enabled.is_empty() || self.steps.len() >= MOST_STEPS {
                break;
            }
            let number = chance.usize(..enabled.len());
            let choice = enabled[number].choice.as_ref().map(|domain| pick(chance, domain));
            if self.take(machine, number, choice).is_err() {
                break;
            }
            if self.now().violation(program).is_some() {
                return true;
            }
        }
        false
    }
}

/// Where the steps of a run lead.
pub fn run(wanted: &PageRun) -> Result<Value, String> {
    let model = model_of(&wanted.model)?;
    let loaded = loaded(&wanted.name, &wanted.text).map_err(|why| why.reason)?;
    let program = &loaded.program;
    let machine = Buffered::exact(program, model).with_dead_registers();
    let initial = initial(program, &wanted.initial)?;
    let first = Configuration::initial(&machine, &initial).ok_or("it cannot start with these values")?;
    let mut taken = TakenRun { steps: Vec::new(), events: Vec::new(), passed: vec![first] };
    if wanted.steps.len() > MOST_STEPS {
        return Err(format!("a run has at most {MOST_STEPS} steps here"));
    }
    for (number, choice) in &wanted.steps {
        taken.take(&machine, *number, choice.as_deref().map(number_of).transpose()?)?;
    }
    if let Some(seed) = wanted.surprise {
        let mut chance = Rng::with_seed(seed);
        let start = taken.clone();
        for _ in 0..SURPRISES {
            taken = start.clone();
            if taken.surprise(&machine, program, &mut chance) {
                break;
            }
        }
    }
    Ok(shown(program, &machine, &initial, &taken))
}

/// What variables start with where that is open.
fn initial(program: &Program, chosen: &[(String, String)]) -> Result<Vec<(VarId, Int)>, String> {
    let examples = example_start(program).ok().flatten().filter(|_| !program.starts.is_empty());
    let example = |v: VarId| {
        let values = examples.as_ref().and_then(|values| values.get(v.index()));
        values.map_or_else(|| program.variable(v).initial.example(), |(_, value)| value.clone())
    };
    let value = |v: VarId| {
        let variable = program.variable(v);
        let said = chosen.iter().find(|(name, _)| *name == variable.name);
        let value = said.map(|(_, value)| number_of(value)).transpose()?;
        Ok((v, value.unwrap_or_else(|| example(v))))
    };
    open_variables(program).map(value).collect()
}

fn number_of(text: &str) -> Result<Int, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not an integer"))
}

fn shown(program: &Program, machine: &Buffered<'_>, initial: &[(VarId, Int)], taken: &TakenRun) -> Value {
    let now = taken.now();
    let enabled = now.enabled(machine);
    let (names, authored) = (Names::original(program), AuthoredRegisters::of(program));
    let step = |step: &Enabled| {
        let thread = step.event.thread();
        json!({
            "thread": thread.index(),
            "name": program.thread(thread).name,
            "text": enabled_text(program, &names, &authored, now, step),
            "drain": matches!(step.event, machine::Event::Drain { .. }),
            "choice": step.choice.as_ref().map(|domain| {
                json!({"from": domain_text(domain), "example": domain.example().to_string()})
            }),
        })
    };
    let account = Account::of(program, &taken.events, taken.passed.clone());
    let violation = now.violation(program);
    let run = ShownRun { program, model: machine.model(), account: &account, violation, cause: None };
    let violations: Vec<String> = now.violations(program).map(|violation| violation.text(program)).collect();
    let open = initial.iter().map(|(v, value)| {
        let variable = program.variable(*v);
        json!({"name": variable.name, "value": value.to_string(), "from": domain_text(&variable.initial)})
    });
    json!({
        "steps": taken.steps,
        "initial": open.collect::<Vec<_>>(),
        "threads": program.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(),
        "enabled": enabled.iter().map(step).collect::<Vec<_>>(),
        "violations": violations,
        "holder": now.holder().map(|thread| program.thread(thread).name.as_str()),
        "ended": now.is_final(program),
        "html": run_parts(&run, "this run"),
    })
}
