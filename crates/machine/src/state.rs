//! States as steppers see them, and those that a run may start in.

/// A state: interned control and the values of all slots.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The shared control.
    pub global: u32,
    /// Every thread's control.
    pub locals: Vec<u32>,
    /// Memory, then every thread's slots.
    pub values: Vec<i64>,
}

impl Clone for State {
    fn clone(&self) -> State {
        State { global: self.global, locals: self.locals.clone(), values: self.values.clone() }
    }

    /// Copies into the memory that is there.
    fn clone_from(&mut self, from: &State) {
        self.global = from.global;
        self.locals.clone_from(&from.locals);
        self.values.clone_from(&from.values);
    }
}

/// The states a run may start in, one after the other.
#[derive(Clone, Debug)]
pub struct InitialStates(Starts);

#[derive(Clone, Debug)]
enum Starts {
    /// Every variable takes each of its values, the last variable changing fastest.
    Product {
        first: State,
        choices: Vec<Vec<i64>>,
        count: usize,
        next: usize,
    },
    Listed(std::vec::IntoIter<State>),
}

impl From<Vec<State>> for InitialStates {
    fn from(states: Vec<State>) -> InitialStates {
        InitialStates(Starts::Listed(states.into_iter()))
    }
}

impl Iterator for InitialStates {
    type Item = State;

    fn next(&mut self) -> Option<State> {
        let (first, choices, count, next) = match &mut self.0 {
            Starts::Listed(states) => return states.next(),
            Starts::Product { first, choices, count, next } => (first, choices, count, next),
        };
        if *next >= *count {
            return None;
        }
        let mut rest = *next;
        *next += 1;
        let mut state = first.clone();
        for (value, choices) in state.values.iter_mut().zip(choices).rev() {
            *value = choices[rest % choices.len()];
            rest /= choices.len();
        }
        Some(state)
    }
}

impl InitialStates {
    /// Every variable takes each of its values, the last variable changing fastest. There are so many.
    pub(crate) fn product(first: State, choices: Vec<Vec<i64>>, count: usize) -> InitialStates {
        InitialStates(Starts::Product { first, choices, count, next: 0 })
    }
}
