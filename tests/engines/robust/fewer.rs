//! What searches of attacks leave out loses no witness: threads go ahead, and of attacks that differ in names one
//! is searched.

use super::programs::parse;
use super::random::{Sketch, chain_sketch, minimise, replicas, seeds, sketch};
use fastrand::Rng;
use machine::{
    Accesses, Attack, AttackAhead, AttackClass, Attacked, Attacking, Buffered, Delaying, MODELS, Model, SC,
    State, Stepper, attack_classes, attacks, number_controls,
};
use program::Program;
use std::collections::HashSet;

const MOST_STATES: usize = 2_000;

fn packed(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    state.pack(&mut bytes);
    bytes
}

/// All states under SC; nothing if they are too many, or not known.
fn under_sc(program: &Program) -> Option<Vec<State>> {
    let machine = Buffered::exact(program, SC);
    let mut stepper = Stepper::new(&machine);
    number_controls(&mut stepper, program);
    let mut states: Vec<State> = stepper.initial().0.collect();
    let mut known: HashSet<Vec<u8>> = states.iter().map(packed).collect();
    let (mut at, mut doubted) = (0, false);
    while at < states.len() {
        let (state, mut next) = (states[at].clone(), State::default());
        stepper.prepare(&state);
        let visit = |_, _, next: &State| {
            if known.insert(packed(next)) {
                states.push(next.clone());
            }
        };
        stepper.successors(&state, &mut next, |_| doubted = true, visit);
        at += 1;
        if doubted || states.len() > MOST_STATES {
            return None;
        }
    }
    Some(states)
}

/// Models that delay stores.
fn models() -> impl Iterator<Item = Model> {
    MODELS.iter().copied().filter(|model| !model.is_sc())
}

fn attacks_on(program: &Program, model: Model) -> Vec<Attack> {
    attacks(program, model, &Accesses::of(program), &mut || true).expect("not stopped")
}

/// How a search ends: whether there is a witness, and after how many states. Nothing if there are too many.
type Found = Option<(bool, usize)>;

/// Searches from some states; `expand` says whether a state is a witness, and lists what comes after it.
fn searched(
    starts: Vec<Attacked>,
    mut expand: impl FnMut(&Attacked) -> (bool, Vec<(Vec<u8>, Attacked)>),
) -> Found {
    let (mut known, mut work) = (HashSet::new(), starts);
    while let Some(state) = work.pop() {
        let (witness, next) = expand(&state);
        if witness {
            return Some((true, known.len()));
        }
        work.extend(next.into_iter().filter_map(|(bytes, next)| known.insert(bytes).then_some(next)));
        if known.len() > 4 * MOST_STATES {
            return None;
        }
    }
    Some((false, known.len()))
}

/// The search of an attack in which nothing is left out.
fn plain(program: &Program, model: Model, attack: &Attack, under_sc: &[State]) -> Found {
    let (machine, accesses) = (Buffered::exact(program, SC), Accesses::of(program));
    let delaying = Delaying::new(&machine, model, attack);
    let mut attacking = Attacking::new(&delaying, &accesses);
    searched(under_sc.iter().filter_map(|state| attacking.begin(state)).collect(), |state| {
        attacking.prepare(state);
        let (mut found, mut next) = (Vec::new(), Attacked::default());
        let visit = |_, next: &Attacked| {
            let mut bytes = Vec::new();
            attacking.pack(next, &mut bytes);
            found.push((bytes, next.clone()));
        };
        attacking.successors(state, &mut next, |_| {}, visit);
        (attacking.is_witness(state), found)
    })
}

/// The search in which threads go ahead.
fn ahead(program: &Program, model: Model, attack: &Attack, under_sc: &[State]) -> Found {
    let (machine, accesses) = (Buffered::exact(program, SC), Accesses::of(program));
    let delaying = Delaying::new(&machine, model, attack);
    let mut attacking = AttackAhead::new(&delaying, &accesses);
    searched(under_sc.iter().filter_map(|state| attacking.begin(state)).collect(), |state| {
        attacking.prepare(state);
        let mut found = Vec::new();
        let visit = |_: &_, next: &Attacked| {
            let mut bytes = Vec::new();
            attacking.pack(next, &mut bytes);
            found.push((bytes, next.clone()));
        };
        attacking.successors(|_| {}, visit);
        (attacking.is_witness(state), found)
    })
}

/// Of all attacks on a program, those that only one of the two searches finds a witness for. Adds up attacks with
/// a witness, without, and those with fewer states.
fn lost(program: &Program, tally: &mut [usize; 3]) -> usize {
    let Some(states) = under_sc(program) else { return 0 };
    let mut lost = 0;
    for model in models() {
        for attack in attacks_on(program, model) {
            let found = (plain(program, model, &attack, &states), ahead(program, model, &attack, &states));
            let (Some((witness, all)), Some((other, left))) = found else { continue };
            lost += usize::from(witness != other);
            tally[usize::from(!witness)] += 1;
            tally[2] += usize::from(!witness && left < all);
        }
    }
    lost
}

#[test]
fn going_ahead_loses_no_witness() {
    let mut tally = [0; 3];
    for (at, sketch) in [sketch, chain_sketch, replicas].into_iter().enumerate() {
        for seed in (at as u64..seeds()).step_by(3) {
            if lost(&sketch(seed).build(), &mut tally) > 0 {
                let wrong = |sketch: &Sketch| lost(&sketch.build(), &mut [0; 3]) > 0;
                let small = minimise(sketch(seed), &mut |sketch| wrong(sketch)).build();
                panic!("seed {seed}: {}", program::print(&small));
            }
        }
    }
    let [with, without, fewer] = tally;
    println!("{with} with a witness, {without} without, {fewer} of them with fewer states");
    assert!(with as u64 * 8 > seeds() && fewer as u64 * 8 > seeds(), "{tally:?}");
}

/// Two threads that differ in their number, and another one.
fn twins(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let mut body =
        |all: &[&str]| (0..rng.usize(3..7)).map(|_| all[rng.usize(..all.len())]).collect::<String>();
    let both = body(&["x[i] = 1; ", "r = x[1 - i]; ", "y = 1; ", "r = y; ", "z = r; ", "r = z; ", "fence; "]);
    let other = body(&["y = 2; ", "r = y; ", "r = z; ", "z = 1; "]);
    parse(&format!(
        "shared x[2], y, z; thread P(i in 0..2) {{ let r; {both} }} thread Q {{ let r; {other} }} never y == 7;"
    ))
}

#[test]
fn one_of_a_class_speaks_for_all() {
    let (mut alike, mut different) = (0, 0);
    for seed in 0..seeds() / 2 {
        let program = twins(seed);
        let Some(states) = under_sc(&program) else { continue };
        for model in models() {
            let (others, differ) = classes_agree(&program, model, &states).unwrap_or_else(|| {
                panic!("seed {seed} {}: {}", model.name(), program::print(&program));
            });
            alike += others;
            different += u64::from(differ);
        }
    }
    println!("{alike} alike, {different} programs with different classes");
    assert!(alike > seeds() / 8 && different > 0, "{alike}, {different}");
}

/// How many attacks have the answer of the first of their class, and whether classes have different answers; nothing
/// if one of them has another answer.
fn classes_agree(program: &Program, model: Model, states: &[State]) -> Option<(u64, bool)> {
    let all = attacks_on(program, model);
    let witnessed = |attack: &Attack| Some(plain(program, model, attack, states)?.0);
    let Some(answers) = all.iter().map(witnessed).collect::<Option<Vec<bool>>>() else {
        return Some((0, false));
    };
    let of = |is: &dyn Fn(&Attack) -> bool| answers[all.iter().position(is).expect("an attack")];
    let classes = attack_classes(program, all.clone());
    assert_eq!(classes.iter().map(|class| 1 + class.others.len()).sum::<usize>(), all.len());
    let firsts: Vec<bool> = classes.iter().map(|class| of(&|attack| *attack == class.attack)).collect();
    let mut alike = 0;
    for (AttackClass { attack, others }, first) in classes.iter().zip(&firsts) {
        for names in others {
            let store = names.edges[attack.store.index()];
            if of(&|attack| attack.thread == names.thread && attack.store == store) != *first {
                return None;
            }
            alike += 1;
        }
    }
    Some((alike, firsts.contains(&true) && firsts.contains(&false)))
}
