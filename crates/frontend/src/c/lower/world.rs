//! What all threads of a round share: objects, variables, instances of threads, and what earlier
//! rounds found out.

use super::graph::{At, CSite, Graph};
use super::value::CValue;
use super::values::CValues;
use crate::Diagnostic;
use crate::c::COptions;
use crate::c::ast::{CFunction, Unit};
use crate::c::lexer::Token;
use crate::c::limits;
use crate::c::pre::CFiles;
use crate::c::types::{Type, TypeKind};
use program::{Expr, RegId, Span, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The outcome of something that ends with the first error.
pub(super) type CLowered<T> = Result<T, Box<Diagnostic>>;

/// Addresses of functions start here.
pub(super) const FIRST_FUNCTION: i128 = 900_000_000;

/// Where one scalar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CCell {
    Register(RegId),
    Memory(VarId),
}

/// Which object it is, the same in every round: the call path, the declaration, and a count.
pub(super) type CKey = (u64, u32, u32);

/// An object of the program.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub key: CKey,
    pub name: String,
    pub cells: Vec<CCell>,
    pub types: Vec<Type>,
    /// The byte each cell starts at, where that is known.
    pub bytes: Vec<Option<u64>>,
    /// The address of its first cell, if it is in memory.
    pub base: Option<i128>,
    /// Whether a pointer to it was made, so that stores through pointers may change it.
    pub pointed: bool,
}

/// The cells that an object is to have.
pub(super) struct CCells {
    pub types: Vec<Type>,
    pub names: Vec<Rc<str>>,
    /// The byte each starts at, where that is known.
    pub bytes: Vec<Option<u64>>,
}

/// A shared variable.
#[derive(Clone, Debug)]
pub(super) struct CShared {
    pub name: Rc<str>,
    pub initial: i128,
    pub range: (i128, i128),
    pub span: Span,
    /// Its address, or nothing for what we keep besides.
    pub address: Option<i128>,
}

/// A thread that is started somewhere.
pub(super) struct CInstance {
    pub function: Rc<CFunction>,
    /// What it is called with, if that is known.
    pub argument: Option<CValue>,
    pub token: u32,
    pub started: VarId,
    pub ended: VarId,
    pub given: VarId,
    pub result: VarId,
}

/// A thread that was lowered.
pub(super) struct Threaded {
    pub graph: Graph,
    pub entry: At,
    /// Which place every place has become.
    pub settled: Vec<At>,
}

impl Threaded {
    /// The place that a place has become.
    pub fn place(&self, at: At) -> At {
        self.settled.get(at).copied().unwrap_or(at)
    }
}

/// A pointer whose values are wanted: thread, place, expression and where to keep them.
pub(super) struct Probe {
    pub thread: usize,
    pub at: At,
    pub expr: Expr<RegId>,
    pub site: (u64, u32),
}

/// What is found out round by round. It only grows, and a program is only used once it has
/// stopped to.
#[derive(Default)]
pub(super) struct CFacts {
    /// Values of variables, by address.
    pub variables: FxHashMap<i128, CValues>,
    /// What is in memory, by address, when main starts the first thread.
    pub settled: FxHashMap<i128, i128>,
    /// Addresses whose contents are not known then, or are stored later.
    pub unsettled: FxHashSet<i128>,
    /// Addresses that other threads than main store to: all else is as main has left it.
    pub stored_by_others: FxHashSet<i128>,
    /// Local objects that must be in memory.
    pub in_memory: FxHashSet<CKey>,
    /// What pointers may point to.
    pub targets: FxHashMap<(u64, u32), CValues>,
    /// Objects of the heap that may be freed.
    pub freed: FxHashSet<CKey>,
    /// Objects that are looked at as something with more cells, which they are laid out as.
    refined: FxHashMap<CKey, Type>,
    /// Operations whose results wrap around.
    pub unfit: FxHashSet<CSite>,
    /// Their cells, which are the same in every round.
    laid_out: FxHashMap<CKey, Rc<CCells>>,
    /// Objects in memory, so that every round has all of them from the start.
    layouts: Vec<CLayout>,
    /// What variables start with, by address.
    initial: FxHashMap<i128, i128>,
    /// Where objects are.
    addresses: FxHashMap<CKey, i128>,
    next: i128,
}

/// An object in memory that some round has made.
#[derive(Clone)]
struct CLayout {
    key: CKey,
    name: String,
    ty: Type,
    span: Span,
    token: u32,
}

impl CFacts {
    /// The address of an object, the same in every round.
    pub fn address(&mut self, key: CKey, cells: usize) -> i128 {
        // Small numbers are easily mistaken for addresses, by people.
        *self.addresses.entry(key).or_insert_with(|| {
            let first = self.next.max(1000);
            self.next = first + cells as i128 + 1;
            first
        })
    }
}

pub(super) struct World<'u> {
    pub unit: &'u Unit,
    pub tokens: &'u [Token],
    pub files: &'u CFiles,
    pub options: &'u COptions,
    pub facts: &'u mut CFacts,
    pub objects: Vec<Object>,
    pub variables: Vec<CShared>,
    pub globals: FxHashMap<Rc<str>, usize>,
    pub global_types: FxHashMap<Rc<str>, Type>,
    /// Globals of which every thread has its own, with their declaration.
    pub per_thread: FxHashMap<Rc<str>, usize>,
    /// Objects by key: static ones, and those of calls.
    pub by_key: FxHashMap<CKey, usize>,
    pub instances: Vec<CInstance>,
    pub probes: Vec<Probe>,
    /// Whether something was learned that needs another round.
    pub again: bool,
    /// Whether an object is to be laid out as another type, so that this round is of no use.
    pub refined: bool,
    pub functions: Vec<Rc<str>>,
    /// Names that functions assign to or take the address of.
    pub assigned: FxHashMap<Rc<str>, Rc<FxHashSet<Rc<str>>>>,
    /// Static objects of functions that have got their initial value.
    pub initialised: FxHashSet<CKey>,
    /// Members of unions that were used, by union.
    pub union_members: FxHashMap<usize, Rc<str>>,
    pub size: usize,
    /// Accesses that are neither atomic nor volatile, by their statement.
    pub plain: BTreeSet<(Span, VarId)>,
    /// Of objects that may be freed: for each block whether it is.
    pub marks: BTreeMap<usize, Vec<VarId>>,
    /// Whether there are values per thread (`pthread_key_create`), which are taken down when it ends.
    pub has_keys: bool,
    /// Whether the text asserts something.
    pub asserts: bool,
    /// What is not watched, by the place from which on it matters: verdicts say that it is assumed.
    pub assumed: BTreeMap<Span, &'static str>,
}

impl World<'_> {
    pub fn error(&self, token: u32, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(match self.tokens.get(token as usize) {
            Some(token) => self.files.error(token, message),
            None => Diagnostic::error(Span::NONE, message),
        })
    }

    /// A variable that is not part of the program.
    pub fn hidden(&mut self, name: String, span: Span) -> VarId {
        let range = (0, (1i128 << 64) - 1);
        self.variables.push(CShared { name: name.into(), initial: 0, range, span, address: None });
        VarId::new(self.variables.len() - 1)
    }

    /// An object in memory, with zeros in it.
    pub fn memory_object(
        &mut self,
        key: CKey,
        name: &str,
        ty: &Type,
        span: Span,
        token: u32,
    ) -> CLowered<usize> {
        if let Some(known) = self.by_key.get(&key) {
            return Ok(*known);
        }
        if !self.facts.layouts.iter().any(|layout| layout.key == key) {
            self.again = true;
            self.facts.layouts.push(CLayout { key, name: name.to_string(), ty: ty.clone(), span, token });
        }
        let laid_out = match self.facts.laid_out.get(&key) {
            Some(known) => Rc::clone(known),
            None => Rc::new(self.layout(key, ty, name, token)?),
        };
        let CCells { types, names, bytes } = &*laid_out;
        let base = self.facts.address(key, types.len());
        let mut cells = Vec::with_capacity(types.len());
        for (at, (ty, name)) in types.iter().zip(names).enumerate() {
            let name = Rc::clone(name);
            let range = ty.range().unwrap_or((0, 0));
            let address = base + at as i128;
            let initial = self.facts.initial.get(&address).copied().unwrap_or(0);
            self.variables.push(CShared { name, initial, range, span, address: Some(address) });
            cells.push(CCell::Memory(VarId::new(self.variables.len() - 1)));
        }
        let (types, bytes) = (types.clone(), bytes.clone());
        self.facts.laid_out.insert(key, laid_out);
        Ok(self.object(Object {
            key,
            name: name.to_string(),
            cells,
            types,
            bytes,
            base: Some(base),
            pointed: false,
        }))
    }

    /// Makes all objects that earlier rounds have made.
    pub fn objects_of_earlier_rounds(&mut self) -> CLowered<()> {
        for CLayout { key, name, ty, span, token } in self.facts.layouts.clone() {
            self.memory_object(key, &name, &ty, span, token)?;
        }
        Ok(())
    }

    /// Keeps what variables start with, for the next round.
    pub fn keep_initial_values(&mut self) {
        for variable in &self.variables {
            let Some(address) = variable.address else { continue };
            if self.facts.initial.insert(address, variable.initial).unwrap_or(0) != variable.initial {
                self.again = true;
            }
        }
    }

    pub fn object(&mut self, object: Object) -> usize {
        self.by_key.insert(object.key, self.objects.len());
        self.objects.push(object);
        self.objects.len() - 1
    }

    /// Lays an object out as another type from the next round on.
    pub fn refine(&mut self, key: CKey, ty: &Type) {
        // It has more cells then, so it cannot stay where it is.
        self.facts.addresses.remove(&key);
        self.facts.laid_out.remove(&key);
        self.facts.refined.insert(key, ty.plain());
        self.refined = true;
    }

    /// The cells of an object.
    pub fn layout(&self, key: CKey, ty: &Type, name: &str, token: u32) -> CLowered<CCells> {
        let ty = self.facts.refined.get(&key).unwrap_or(ty);
        let records = &self.unit.records;
        let count = records
            .cells(ty)
            .ok_or_else(|| self.error(token, format!("the type of `{name}` is not complete")))?;
        if count > limits::CELLS as u64 || self.variables.len() as u64 + count > limits::CELLS as u64 {
            return Err(self.error(
                token,
                format!("`{name}` is too large: all objects together may have {} cells", limits::CELLS),
            ));
        }
        let (mut types, bytes): (Vec<Type>, Vec<Option<u64>>) = records.scalars(ty).into_iter().unzip();
        types.iter_mut().for_each(|part| part.volatile |= ty.volatile);
        let mut names = Vec::new();
        self.names(ty, name.to_string(), &mut names);
        names.resize(types.len(), Rc::from(name));
        Ok(CCells { types, names, bytes })
    }

    fn names(&self, ty: &Type, name: String, out: &mut Vec<Rc<str>>) {
        match &*ty.kind {
            TypeKind::Array(inner, length) => {
                (0..length.unwrap_or(0)).for_each(|at| self.names(inner, format!("{name}[{at}]"), out));
            }
            TypeKind::Record(id) => {
                let record = &self.unit.records.list[*id];
                let fields = record.fields.as_deref().unwrap_or_default();
                if record.union {
                    let widest = self.unit.records.widest(ty);
                    widest.into_iter().for_each(|field| self.names(&field.ty, name.clone(), out));
                    return;
                }
                for field in fields {
                    // Our own headers' members say nothing to a reader.
                    let inner = match field.name.as_deref() {
                        Some(field) if !field.starts_with("__fw_") || fields.len() > 1 => {
                            format!("{name}.{}", field.trim_start_matches("__fw_"))
                        }
                        _ => name.clone(),
                    };
                    self.names(&field.ty, inner, out);
                }
            }
            _ => out.push(name.into()),
        }
    }

    /// The cell of an object that has just one.
    pub fn only_cell(&self, object: usize) -> Option<CCell> {
        match self.objects[object].cells[..] {
            [cell] => Some(cell),
            _ => None,
        }
    }

    /// The object and cell at an address.
    pub fn at_address(&self, address: i128) -> Option<(usize, usize)> {
        self.objects.iter().enumerate().find_map(|(index, object)| {
            let offset = usize::try_from(address - object.base?).ok()?;
            (offset < object.cells.len()).then_some((index, offset))
        })
    }

    /// What an instance is called: its function, and a number from the second on.
    pub fn instance_name(&self, instance: usize) -> String {
        let name = &self.instances[instance].function.name;
        let before = self.instances[..instance].iter().filter(|other| other.function.name == *name).count();
        if before == 0 && &**name != "main" { name.to_string() } else { format!("{name}_{}", before + 1) }
    }

    /// Addresses stand for functions, too.
    pub fn function_address(&mut self, name: &Rc<str>) -> i128 {
        let at = self.functions.iter().position(|known| known == name).unwrap_or_else(|| {
            self.functions.push(Rc::clone(name));
            self.functions.len() - 1
        });
        FIRST_FUNCTION + at as i128
    }

    pub fn function_at(&self, address: i128) -> Option<&Rc<str>> {
        self.functions.get(usize::try_from(address - FIRST_FUNCTION).ok()?)
    }
}
