//! The table that interns variable names and shares equal atoms.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::atom::Atom;
use super::linear::Var;
use super::print::{NamedDisplay, Show};

/// Names of variables, and one copy of every atom shown to it.
///
/// ```
/// use logic::{Atom, Terms};
/// let mut terms = Terms::new();
/// let x = terms.var("x");
/// assert_eq!(terms.var("x"), x);
/// let first = terms.share(Atom::le(x, 3));
/// let second = terms.share(Atom::lt(x, 4));
/// assert!(first.same(&second));
/// ```
#[derive(Clone, Default)]
pub struct Terms {
    names: Vec<String>,
    by_name: HashMap<String, Var, FxBuildHasher>,
    atoms: HashSet<Atom, FxBuildHasher>,
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

    /// The one shared copy of an atom.
    pub fn share(&mut self, atom: Atom) -> Atom {
        self.atoms.get_or_insert_with(&atom, Atom::clone).clone()
    }

    /// Something that prints an expression, atom or formula with names.
    pub fn show<'a, T: NamedDisplay>(&'a self, value: &'a T) -> Show<'a, T> {
        Show::new(Some(self), value)
    }
}
