//! Ways to break evidence, as edits of its facts.

use super::facts::Fact;
use fastrand::Rng;
use program::{Int, Program};
use support::models;

/// An edit; `None` if there is nothing to edit in this way.
pub type Mutation = fn(&Program, Vec<Fact>, &mut Rng) -> Option<Vec<Fact>>;

/// All edits, by name.
pub const MUTATIONS: &[(&str, Mutation)] =
    &[
        ("dropped state", |_, facts, rng| drop_one(facts, rng, is_state)),
        ("doubled state", |_, facts, rng| double_one(facts, rng, is_state)),
        ("changed state", |_, facts, rng| edit_state(facts, rng, true)),
        ("added state", |_, facts, rng| edit_state(facts, rng, false)),
        ("swapped states", |_, facts, rng| swap(facts, rng, is_state)),
        ("shortened state", |_, facts, rng| {
            edit_one(facts, rng, |fact, _| {
                if let Fact::State(numbers) = fact { numbers.pop().is_some() } else { false }
            })
        }),
        ("dropped dictionary line", |_, facts, rng| drop_one(facts, rng, is_dictionary)),
        ("dropped last dictionary line", |_, mut facts, _| {
            let last = facts.iter().rposition(is_dictionary)?;
            facts.remove(last);
            Some(facts)
        }),
        ("doubled dictionary line", |_, facts, rng| double_one(facts, rng, is_dictionary)),
        ("swapped dictionary lines", |_, facts, rng| swap(facts, rng, is_dictionary)),
        ("changed dictionary line", edit_dictionary),
        ("cut trace", |_, mut facts, rng| {
            let steps: Vec<usize> = places(&facts, is_step);
            let from = *steps.get(rng.usize(..steps.len().max(1)))?;
            facts.drain(from..facts.len() - 1);
            Some(facts)
        }),
        ("dropped step", |_, facts, rng| drop_one(facts, rng, is_step)),
        ("dropped drain", |_, facts, rng| drop_one(facts, rng, |fact| matches!(fact, Fact::Drain { .. }))),
        ("doubled step", |_, facts, rng| double_one(facts, rng, is_step)),
        ("swapped steps", |_, facts, rng| swap(facts, rng, is_step)),
        ("changed step", edit_step),
        ("changed choice", |_, facts, rng| edit_one(facts, rng, edit_choice)),
        ("changed initial value", |_, facts, rng| {
            edit_one(facts, rng, |fact, rng| match fact {
                Fact::Initial { value, .. } => {
                    *value += nudge(rng);
                    true
                }
                _ => false,
            })
        }),
        ("dropped initial value", |_, facts, rng| {
            drop_one(facts, rng, |fact| matches!(fact, Fact::Initial { .. }))
        }),
        ("added initial value", |program, mut facts, rng| {
            if !facts.iter().any(is_claim) || program.variables.is_empty() {
                return None;
            }
            let variable = rng.usize(..program.variables.len());
            facts.insert(1, Fact::Initial { variable, value: Int::from(rng.i64(-1..3)) });
            Some(facts)
        }),
        ("changed claim", edit_claim),
        ("dropped claim", |_, facts, rng| drop_one(facts, rng, is_claim)),
        ("another model", |_, facts, rng| {
            edit_one(facts, rng, |fact, rng| match fact {
                Fact::Head { model, .. } => {
                    let others: Vec<&str> = models::names().filter(|name| name != model).collect();
                    *model = others[rng.usize(..others.len())].to_string();
                    true
                }
                _ => false,
            })
        }),
        ("another kind", |_, facts, rng| {
            edit_one(facts, rng, |fact, _| match fact {
                Fact::Head { kind, .. } => {
                    *kind = if kind == "trace" { "closed-set" } else { "trace" }.to_string();
                    true
                }
                _ => false,
            })
        }),
        ("no head", |_, mut facts, _| {
            facts.remove(0);
            Some(facts)
        }),
    ];

fn is_state(fact: &Fact) -> bool {
    matches!(fact, Fact::State(_))
}

fn is_dictionary(fact: &Fact) -> bool {
    matches!(fact, Fact::Global(_) | Fact::Local { .. })
}

fn is_step(fact: &Fact) -> bool {
    matches!(fact, Fact::Step { .. } | Fact::Drain { .. })
}

fn is_claim(fact: &Fact) -> bool {
    matches!(fact, Fact::Property(_) | Fact::Failure { .. })
}

fn places(facts: &[Fact], wanted: impl Fn(&Fact) -> bool) -> Vec<usize> {
    (0..facts.len()).filter(|at| wanted(&facts[*at])).collect()
}

fn pick(facts: &[Fact], rng: &mut Rng, wanted: impl Fn(&Fact) -> bool) -> Option<usize> {
    let places = places(facts, wanted);
    (!places.is_empty()).then(|| places[rng.usize(..places.len())])
}

fn drop_one(mut facts: Vec<Fact>, rng: &mut Rng, wanted: impl Fn(&Fact) -> bool) -> Option<Vec<Fact>> {
    let at = pick(&facts, rng, wanted)?;
    facts.remove(at);
    Some(facts)
}

fn double_one(mut facts: Vec<Fact>, rng: &mut Rng, wanted: impl Fn(&Fact) -> bool) -> Option<Vec<Fact>> {
    let at = pick(&facts, rng, wanted)?;
    facts.insert(at, facts[at].clone());
    Some(facts)
}

/// Swaps two different facts of the same kind, neighbours as often as not.
fn swap(mut facts: Vec<Fact>, rng: &mut Rng, wanted: impl Fn(&Fact) -> bool) -> Option<Vec<Fact>> {
    let places = places(&facts, wanted);
    if places.len() < 2 {
        return None;
    }
    let first = rng.usize(..places.len() - 1);
    let second = if rng.bool() { first + 1 } else { rng.usize(first + 1..places.len()) };
    facts.swap(places[first], places[second]);
    (facts[places[first]] != facts[places[second]]).then_some(facts)
}

/// Edits one of the facts that the edit accepts.
fn edit_one(
    facts: Vec<Fact>,
    rng: &mut Rng,
    edit: impl Fn(&mut Fact, &mut Rng) -> bool,
) -> Option<Vec<Fact>> {
    let editable = |fact: &Fact| edit(&mut fact.clone(), &mut Rng::with_seed(0));
    let at = pick(&facts, rng, editable)?;
    let mut edited = facts;
    edit(&mut edited[at], rng).then_some(edited)
}

/// A small number other than 0.
fn nudge(rng: &mut Rng) -> i64 {
    let size = rng.i64(1..3);
    if rng.bool() { size } else { -size }
}

fn shifted(number: usize, rng: &mut Rng) -> usize {
    number.wrapping_add_signed(nudge(rng) as isize)
}

/// Changes a number of a state, in place or in a copy.
fn edit_state(mut facts: Vec<Fact>, rng: &mut Rng, in_place: bool) -> Option<Vec<Fact>> {
    let at = pick(&facts, rng, is_state)?;
    let Fact::State(mut numbers) = facts[at].clone() else { return None };
    let which = rng.usize(..numbers.len());
    numbers[which] += nudge(rng);
    if in_place {
        facts[at] = Fact::State(numbers);
    } else {
        facts.push(Fact::State(numbers));
    }
    Some(facts)
}

fn edit_dictionary(program: &Program, facts: Vec<Fact>, rng: &mut Rng) -> Option<Vec<Fact>> {
    let variables = program.variables.len().max(1);
    edit_one(facts, rng, |fact, rng| match fact {
        Fact::Global(holder) => {
            *holder = if rng.bool() { None } else { Some(rng.usize(..3)) };
            true
        }
        Fact::Local { thread, location, buffer } => {
            match rng.usize(..6) {
                0 => *thread = shifted(*thread, rng),
                1 | 2 => *location = shifted(*location, rng),
                3 => drop(buffer.pop()),
                4 => buffer.push(None),
                _ => buffer.push(Some(rng.usize(..variables))),
            }
            true
        }
        _ => false,
    })
}

fn edit_step(program: &Program, facts: Vec<Fact>, rng: &mut Rng) -> Option<Vec<Fact>> {
    let threads = program.threads.len();
    edit_one(facts, rng, |fact, rng| {
        match fact {
            Fact::Step { thread, edge, .. } => match rng.bool() {
                true => *edge = shifted(*edge, rng),
                false => *thread = rng.usize(..threads + 1),
            },
            Fact::Drain { thread, variable } => match rng.bool() {
                true => *variable = shifted(*variable, rng),
                false => *thread = rng.usize(..threads + 1),
            },
            _ => return false,
        }
        true
    })
}

/// Adds a choice where there is none; else drops or changes it.
fn edit_choice(fact: &mut Fact, rng: &mut Rng) -> bool {
    let Fact::Step { choice, .. } = fact else { return false };
    *choice = match choice.take() {
        None => Some(Int::from(rng.i64(-1..2))),
        Some(_) if rng.usize(..4) == 0 => None,
        Some(value) => Some(value + nudge(rng)),
    };
    true
}

fn edit_claim(program: &Program, facts: Vec<Fact>, rng: &mut Rng) -> Option<Vec<Fact>> {
    let threads = program.threads.len();
    edit_one(facts, rng, |fact, rng| {
        if !is_claim(fact) {
            return false;
        }
        *fact = match (&fact, rng.usize(..3)) {
            (Fact::Property(at), 0 | 1) => Fact::Property(shifted(*at, rng)),
            (Fact::Failure { thread, location }, 0) => {
                Fact::Failure { thread: *thread, location: shifted(*location, rng) }
            }
            (Fact::Failure { .. }, 1) => Fact::Property(rng.usize(..3)),
            _ => Fact::Failure { thread: rng.usize(..threads + 1), location: rng.usize(..12) },
        };
        true
    })
}
