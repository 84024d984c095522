//! Whether facts really are evidence, decided by the reference interpreter alone.
//!
//! A trace is followed step by step. A closed set is decoded into configurations with explicit
//! queues; it is *inductive* if the initial ones are listed and every listed one violates
//! nothing and leads to listed ones only. It is *sound* if that holds for the reachable ones: a
//! set with oddities that nothing reaches proves as much.

use super::facts::Fact;
use program::{Int, Liveness, Loc, Program, RegId, ThreadId, VarId};
use reference::{Config, Pending, ReferenceBuffers, ReferenceModel, ReferenceStep, ReferenceViolation};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// The shape of a thread's control: where it stands, and what its buffer writes to (`None` is a
/// store fence).
type Control = (usize, Vec<Option<usize>>);

/// A listed state: the holder of the lock, every thread's control, all values.
type Key = (Option<usize>, Vec<Control>, Vec<i64>);

/// What facts are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// They prove their claim.
    pub sound: bool,
    /// A checker that goes by the rules must say so; `None` where the rules say nothing.
    pub by_the_rules: Option<bool>,
}

impl Judgement {
    const NONSENSE: Judgement = Judgement { sound: false, by_the_rules: Some(false) };
}

/// Judges facts about one program.
pub struct Judge<'p> {
    program: &'p Program,
    fingerprint: String,
    liveness: Liveness,
    known: RefCell<HashMap<(ReferenceModel, Key), Rc<Expansion>>>,
}

/// What follows from a listed state.
struct Expansion {
    violated: bool,
    /// `None` if a value left 64 bits.
    next: Option<Vec<Key>>,
}

impl<'p> Judge<'p> {
    pub fn new(program: &'p Program) -> Judge<'p> {
        let fingerprint = evidence::fingerprint(program);
        Judge { program, fingerprint, liveness: Liveness::of(program), known: RefCell::default() }
    }

    pub fn judge(&self, facts: &[Fact]) -> Judgement {
        let Some((Fact::Head { kind, model, program }, facts)) = facts.split_first() else {
            return Judgement::NONSENSE;
        };
        let model = ReferenceModel::named(model);
        match (kind.as_str(), model) {
            _ if *program != self.fingerprint => Judgement::NONSENSE,
            ("trace", Some(model)) => {
                let holds = self.is_violating_run(model, facts);
                Judgement { sound: holds, by_the_rules: Some(holds) }
            }
            ("closed-set", Some(model)) => {
                self.listed(model, facts).map_or(Judgement::NONSENSE, |keys| self.judge_set(model, &keys))
            }
            _ => Judgement::NONSENSE,
        }
    }

    fn is_violating_run(&self, model: ReferenceModel, facts: &[Fact]) -> bool {
        let Some((claim, run)) = facts.split_last() else { return false };
        let Some(config) = self.follow(model, run) else { return false };
        let violated = reference::violations(self.program, &config);
        violated.iter().any(|violation| match (violation, claim) {
            (ReferenceViolation::Never(at) | ReferenceViolation::Finally(at), Fact::Property(claimed)) => {
                at == claimed
            }
            (ReferenceViolation::Failure(t, l), Fact::Failure { thread, location }) => {
                (t.index(), l.index()) == (*thread, *location)
            }
            _ => false,
        })
    }

    /// The configuration at the end of a run; `None` if it cannot be run.
    pub fn follow(&self, model: ReferenceModel, run: &[Fact]) -> Option<Config> {
        let mut starts = HashMap::new();
        let mut steps = Vec::new();
        let mut candidates = Vec::new();
        for fact in run {
            match fact {
                Fact::Initial { variable, value } if *variable < self.program.variables.len() => {
                    starts.entry(*variable).or_insert(value);
                    candidates.push(value.clone());
                }
                Fact::Step { choice, .. } => {
                    candidates.extend(choice.clone());
                    steps.push(fact);
                }
                Fact::Drain { .. } => steps.push(fact),
                _ => return None,
            }
        }
        let free = |v: usize| self.program.variables[v].initial.single().is_none();
        if (0..self.program.variables.len()).any(|v| free(v) && !starts.contains_key(&v)) {
            return None;
        }
        let chosen = |config: &Config| starts.iter().all(|(v, value)| config.memory[*v] == **value);
        let mut config =
            reference::initial(self.program, model, &candidates).into_iter().find(|c| chosen(c))?;
        for step in steps {
            let next = reference::successors(self.program, model, &config, &candidates);
            config = next.into_iter().find(|(taken, _)| is_step(taken, step))?.1;
        }
        Some(config)
    }

    /// The listed states, if every number in the lines means something under the model.
    fn listed(&self, model: ReferenceModel, facts: &[Fact]) -> Option<Vec<Key>> {
        let threads = self.program.threads.len();
        let (mut globals, mut locals, mut keys) = (Vec::new(), vec![Vec::new(); threads], Vec::new());
        for fact in facts {
            match fact {
                Fact::Global(holder) if keys.is_empty() && !globals.contains(holder) => {
                    (*holder).is_none_or(|t| t < threads).then(|| globals.push(*holder))?;
                }
                Fact::Local { thread, location, buffer } if keys.is_empty() => {
                    let variables = self.program.variables.len();
                    let fits = match model {
                        ReferenceModel::Sc => buffer.is_empty(),
                        ReferenceModel::Tso => buffer.iter().all(Option::is_some),
                        ReferenceModel::Pso => true,
                    };
                    let exists = fits
                        && *location < self.program.threads.get(*thread)?.locs().count()
                        && buffer.iter().flatten().all(|v| *v < variables);
                    let control = (*location, buffer.clone());
                    let new = exists && !locals[*thread].contains(&control);
                    new.then(|| locals[*thread].push(control))?;
                }
                Fact::State(numbers) => keys.push(self.decode(&globals, &locals, numbers)?),
                _ => return None,
            }
        }
        Some(keys)
    }

    fn decode(&self, globals: &[Option<usize>], locals: &[Vec<Control>], numbers: &[i64]) -> Option<Key> {
        let id = |at: usize| usize::try_from(*numbers.get(at)?).ok();
        let holder = globals.get(id(0)?)?;
        let control = |t: usize| locals[t].get(id(t + 1)?).cloned();
        let controls: Vec<Control> = (0..locals.len()).map(control).collect::<Option<_>>()?;
        let values = numbers[locals.len() + 1..].to_vec();
        let own = |(t, control): (usize, &Control)| {
            self.live(t, control.0).len() + control.1.iter().flatten().count()
        };
        let expected = self.program.variables.len() + controls.iter().enumerate().map(own).sum::<usize>();
        (values.len() == expected).then_some((*holder, controls, values))
    }

    fn live(&self, thread: usize, location: usize) -> &[RegId] {
        self.liveness.at(ThreadId::new(thread), Loc::new(location))
    }

    fn judge_set(&self, model: ReferenceModel, keys: &[Key]) -> Judgement {
        let listed: HashSet<&Key> = keys.iter().collect();
        let initial = reference::initial(self.program, model, &[]);
        let initial: Option<Vec<Key>> = initial.iter().map(|config| self.key(config)).collect();
        let initial = initial.filter(|keys| keys.iter().all(|key| listed.contains(key)));
        let Some(initial) = initial else { return Judgement::NONSENSE };
        let kept = |key: &Key| {
            let expansion = self.expand(model, key)?;
            let closed = |next: &Vec<Key>| next.iter().all(|key| listed.contains(key));
            Some(!expansion.violated && expansion.next.as_ref().is_some_and(closed))
        };
        let sound = self.walk(model, initial).all(|key| kept(&key) == Some(true));
        let verdicts: Vec<Option<bool>> = keys.iter().map(kept).collect();
        let by_the_rules = if verdicts.contains(&Some(false)) {
            Some(false)
        } else {
            verdicts.iter().all(Option::is_some).then_some(true)
        };
        Judgement { sound, by_the_rules }
    }

    /// Everything reachable. (The caller stops at the first state that is not listed.)
    fn walk(&self, model: ReferenceModel, initial: Vec<Key>) -> impl Iterator<Item = Key> {
        let mut seen: HashSet<Key> = initial.iter().cloned().collect();
        let mut waiting = initial;
        std::iter::from_fn(move || {
            let key = waiting.pop()?;
            let expansion = self.expand(model, &key).expect("nothing reachable is odd");
            for next in expansion.next.iter().flatten() {
                if seen.insert(next.clone()) {
                    waiting.push(next.clone());
                }
            }
            Some(key)
        })
    }

    /// What follows from a state; `None` if it is no configuration in normal form.
    fn expand(&self, model: ReferenceModel, key: &Key) -> Option<Rc<Expansion>> {
        let entry = (model, key.clone());
        if let Some(known) = self.known.borrow().get(&entry) {
            return Some(known.clone());
        }
        let config = self.config(model, key)?;
        let violated = !reference::violations(self.program, &config).is_empty();
        let next = reference::successors(self.program, model, &config, &[]);
        let next = next.iter().map(|(_, config)| self.key(config)).collect();
        let expansion = Rc::new(Expansion { violated, next });
        self.known.borrow_mut().insert(entry, expansion.clone());
        Some(expansion)
    }

    /// The listed form of a configuration; `None` if a value does not fit 64 bits.
    fn key(&self, config: &Config) -> Option<Key> {
        let mut controls = Vec::new();
        let mut values: Vec<&Int> = config.memory.iter().collect();
        for (thread, loc) in config.locs.iter().enumerate() {
            let registers = self.live(thread, loc.index()).iter();
            values.extend(registers.map(|r| &config.registers[thread][r.index()]));
            let buffers = &config.buffers[thread];
            let mut pending: Vec<&Pending> = buffers.queues.iter().flatten().collect();
            if buffers.queues.len() > 1 {
                pending.sort_by_key(|store| (store.epoch, store.variable));
            }
            let mut shape = Vec::new();
            let mut epoch = 0;
            for store in &pending {
                shape.extend((epoch..store.epoch).map(|_| None));
                shape.push(Some(store.variable.index()));
                epoch = store.epoch;
            }
            if !pending.is_empty() {
                shape.extend((epoch..buffers.epoch).map(|_| None));
            }
            values.extend(pending.iter().map(|store| &store.value));
            controls.push((loc.index(), shape));
        }
        let values = values.into_iter().map(|value| i64::try_from(value).ok()).collect::<Option<_>>()?;
        Some((config.holder.map(ThreadId::index), controls, values))
    }

    /// The configuration of a listed state; `None` if it is not in normal form.
    fn config(&self, model: ReferenceModel, (holder, controls, values): &Key) -> Option<Config> {
        let (memory, mut own) = values.split_at(self.program.variables.len());
        let mut take = |count: usize| {
            let (taken, rest) = own.split_at(count);
            own = rest;
            taken.iter().map(|value| Int::from(*value)).collect::<Vec<Int>>()
        };
        let mut config = Config {
            locs: controls.iter().map(|(loc, _)| Loc::new(*loc)).collect(),
            registers: Vec::new(),
            memory: memory.iter().map(|value| Int::from(*value)).collect(),
            buffers: Vec::new(),
            holder: holder.map(ThreadId::new),
        };
        for (thread, (location, shape)) in controls.iter().enumerate() {
            let live = self.live(thread, *location);
            let mut registers = vec![Int::ZERO; self.program.threads[thread].registers.len()];
            for (register, value) in live.iter().zip(take(live.len())) {
                registers[register.index()] = value;
            }
            config.registers.push(registers);
            let values = take(shape.iter().flatten().count());
            config.buffers.push(self.buffers(model, shape, values)?);
        }
        let holds_with_stores = holder.is_some_and(|t| !config.buffers[t].is_empty());
        (!holds_with_stores
            && self.key(&config).as_ref() == Some(&(*holder, controls.clone(), values.clone())))
        .then_some(config)
    }

    fn buffers(
        &self,
        model: ReferenceModel,
        shape: &[Option<usize>],
        values: Vec<Int>,
    ) -> Option<ReferenceBuffers> {
        let queues = match model {
            ReferenceModel::Sc => 0,
            ReferenceModel::Tso => 1,
            ReferenceModel::Pso => self.program.variables.len(),
        };
        let mut buffers = ReferenceBuffers { queues: vec![VecDeque::new(); queues], epoch: 0 };
        let mut values = values.into_iter();
        for entry in shape {
            match entry {
                None if model == ReferenceModel::Pso => buffers.epoch += 1,
                None => return None,
                Some(variable) => {
                    let (epoch, value) = (buffers.epoch, values.next()?);
                    let queue = if model == ReferenceModel::Pso { *variable } else { 0 };
                    let store = Pending { variable: VarId::new(*variable), value, epoch };
                    buffers.queues.get_mut(queue)?.push_back(store);
                }
            }
        }
        // A store fence behind nothing or behind another orders nothing: normal form has none.
        let idle = shape.first() == Some(&None) || shape.windows(2).any(|pair| pair == [None, None]);
        (!idle).then_some(buffers)
    }
}

fn is_step(taken: &ReferenceStep, fact: &Fact) -> bool {
    match (taken, fact) {
        (ReferenceStep::Edge { thread, edge, choice }, Fact::Step { thread: t, edge: e, choice: c }) => {
            (thread.index(), edge.index()) == (*t, *e) && choice == c
        }
        (ReferenceStep::Drain { thread, variable }, Fact::Drain { thread: t, variable: v }) => {
            (thread.index(), variable.index()) == (*t, *v)
        }
        _ => false,
    }
}
