//! The table that interns variable names.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::linear::Var;
use super::print::{NamedDisplay, Show, number};

/// Names of variables.
///
/// ```
/// use logic::Terms;
/// let mut terms = Terms::new();
/// let x = terms.var("x");
/// assert_eq!(terms.var("x"), x);
/// ```
#[derive(Clone, Default)]
pub struct Terms {
    names: Vec<String>,
    by_name: HashMap<String, Var, FxBuildHasher>,
}

impl Terms {
    /// An empty table.
    pub fn new() -> Terms {
        Terms::default()
    }

    /// The variable of this name, made on first use.
    pub fn var(&mut self, name: &str) -> Var {
        if let Some(var) = self.by_name.get(name) {
            return *var;
        }
        let var = Var::at(self.names.len());
        self.names.push(name.to_string());
        self.by_name.insert(name.to_string(), var);
        var
    }

    /// The variable of this name, if there is one.
    pub fn find(&self, name: &str) -> Option<Var> {
        self.by_name.get(name).copied()
    }

    /// The name of a variable; variables of another table print as `#n`.
    pub fn name(&self, var: Var) -> Option<&str> {
        self.names.get(var.index()).map(String::as_str)
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Something that prints an expression, atom or formula with names.
    pub fn show<'a, T: NamedDisplay>(&'a self, value: &'a T) -> Show<'a, T> {
        Show::new(value, |var| self.name(var).map_or_else(|| number(var), str::to_string))
    }
}
