//! Registers of one thread: one for each declaration, and temporaries for loaded values.
//!
//! A declaration keeps its register when the loop around it is unrolled or its function
//! inlined again, because copies never overlap in time; only a function that is called while
//! its own arguments are computed needs a second one. Temporaries live for one statement.

use program::{RegId, ThreadBuilder};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Which registers carry a name of the source.
#[derive(Debug, Default)]
pub(in crate::fw) struct SourceName {
    /// Declared in the thread itself.
    pub own: Vec<RegId>,
    /// Declared in functions it calls.
    pub inlined: Vec<RegId>,
    /// How many names like `r_2` were tried for it.
    copies: usize,
}

pub(super) struct RegisterPool<'a> {
    /// Names that the text declares; made-up names keep clear of them.
    declared: &'a HashSet<&'a str>,
    taken: HashSet<String>,
    /// Registers not in use, by the place of their declaration.
    free: HashMap<u32, BTreeSet<RegId>>,
    idle: BTreeSet<RegId>,
    busy: Vec<RegId>,
    temporaries: usize,
    /// How many there are.
    pub count: usize,
    pub named: HashMap<&'a str, SourceName>,
}

impl<'a> RegisterPool<'a> {
    pub fn new(declared: &'a HashSet<&'a str>) -> RegisterPool<'a> {
        RegisterPool {
            declared,
            taken: HashSet::new(),
            free: HashMap::new(),
            idle: BTreeSet::new(),
            busy: Vec::new(),
            temporaries: 0,
            count: 0,
            named: HashMap::new(),
        }
    }

    /// A register for the declaration at this place (or for a cell of it), and whether nothing used it before.
    pub fn acquire(
        &mut self,
        builder: &mut ThreadBuilder,
        declaration: u32,
        name: &'a str,
        cell: Option<&str>,
        inlined: bool,
    ) -> (RegId, bool) {
        if let Some(register) = self.free.entry(declaration).or_default().pop_first() {
            return (register, false);
        }
        let named = self.named.entry(name).or_default();
        let wanted = cell.unwrap_or(name);
        let mut distinct = wanted.to_string();
        while named.copies > 0 && self.declared.contains(distinct.as_str()) || self.taken.contains(&distinct)
        {
            named.copies += 1;
            distinct = format!("{wanted}_{}", named.copies);
        }
        named.copies = named.copies.max(1);
        self.taken.insert(distinct.clone());
        self.count += 1;
        let register = builder.register(distinct);
        let owner = if inlined { &mut named.inlined } else { &mut named.own };
        owner.push(register);
        (register, true)
    }

    /// Gives a register back when the scope of its declaration ends.
    pub fn release(&mut self, declaration: u32, register: RegId) {
        self.free.entry(declaration).or_default().insert(register);
    }

    /// A temporary, in use until [`RegisterPool::release_temporaries`].
    pub fn temporary(&mut self, builder: &mut ThreadBuilder) -> RegId {
        let register = self.idle.pop_first().unwrap_or_else(|| {
            let name = loop {
                self.temporaries += 1;
                let name = format!("t{}", self.temporaries);
                if !self.declared.contains(name.as_str()) && self.taken.insert(name.clone()) {
                    break name;
                }
            };
            self.count += 1;
            builder.register(name)
        });
        self.busy.push(register);
        register
    }

    /// How many temporaries are in use.
    pub fn mark(&self) -> usize {
        self.busy.len()
    }

    /// Gives back all temporaries taken since the mark.
    pub fn release_temporaries(&mut self, mark: usize) {
        self.idle.extend(self.busy.drain(mark..));
    }
}
