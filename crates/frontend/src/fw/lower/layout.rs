//! How arrays and structs lie in cells, one after the other.
//!
//! Nothing below the front end knows either: a declaration stands for as many variables (or registers) as it
//! has numbers, and a place in it is an offset, plus a computed index times a stride for each index that is
//! not known while reading.

use crate::Diagnostic;
use crate::fw::ast::Ident;
use program::{Domain, Expr, Op, RegId, Span, VarId};
use std::rc::Rc;

/// What a declaration consists of.
#[derive(Clone, Debug)]
pub(super) enum CellLayout<'a> {
    Number,
    /// So many of these.
    Array(usize, Rc<CellLayout<'a>>),
    Record(Rc<RecordLayout<'a>>),
}

/// The fields of a struct.
#[derive(Debug)]
pub(super) struct RecordLayout<'a> {
    pub name: &'a str,
    pub fields: Vec<RecordField<'a>>,
    /// What its numbers start with unless a variable says otherwise.
    pub initial: Vec<Domain>,
}

impl RecordLayout<'_> {
    /// What to say where somebody names a field that it does not have.
    pub fn no_field(&self, name: Ident<'_>) -> Diagnostic {
        let fields: Vec<String> = self.fields.iter().map(|field| format!("`{}`", field.name.text)).collect();
        let message = format!("the struct `{}` has no field `{}`", self.name, name.text);
        Diagnostic::error(name.span, message).hint(format!("its fields are {}", fields.join(", ")))
    }
}

/// A field and the cells before it.
#[derive(Debug)]
pub(super) struct RecordField<'a> {
    pub name: Ident<'a>,
    pub offset: usize,
    pub layout: CellLayout<'a>,
}

impl CellLayout<'_> {
    /// How many numbers it consists of.
    pub fn size(&self) -> usize {
        match self {
            CellLayout::Number => 1,
            CellLayout::Array(length, inner) => length * inner.size(),
            CellLayout::Record(record) => record.initial.len(),
        }
    }

    /// What its numbers start with if nothing is said.
    pub fn initial(&self) -> Vec<Domain> {
        match self {
            CellLayout::Number => vec![Domain::only(0)],
            CellLayout::Array(length, inner) => {
                let cell = inner.initial();
                std::iter::repeat_n(cell, *length).flatten().collect()
            }
            CellLayout::Record(record) => record.initial.clone(),
        }
    }

    /// The names of all its numbers, in order, for something with this name.
    pub fn names(&self, name: &str) -> Vec<String> {
        match self {
            CellLayout::Number => vec![name.to_string()],
            CellLayout::Array(length, inner) => {
                (0..*length).flat_map(|at| inner.names(&format!("{name}[{at}]"))).collect()
            }
            CellLayout::Record(record) => {
                let named =
                    |field: &RecordField<'_>| field.layout.names(&format!("{name}.{}", field.name.text));
                record.fields.iter().flat_map(named).collect()
            }
        }
    }
}

/// An index that is computed while the program runs.
#[derive(Clone, Debug)]
pub(super) struct CellIndex {
    pub value: Expr<RegId>,
    /// How many values it may have.
    pub length: usize,
    /// How many cells each value skips.
    pub stride: usize,
}

/// Where one number is: in shared memory or in a register of the thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum FwCell {
    Shared(VarId),
    Local(RegId),
}

impl FwCell {
    /// Reads the number into a register.
    pub fn load(self, register: RegId) -> Op {
        match self {
            FwCell::Shared(variable) => Op::Load(register, variable),
            FwCell::Local(from) => Op::Assign(register, Expr::Leaf(from)),
        }
    }

    /// Makes it this value.
    pub fn store(self, value: Expr<RegId>) -> Op {
        match self {
            FwCell::Shared(variable) => Op::Store(variable, value),
            FwCell::Local(register) => Op::Assign(register, value),
        }
    }
}

/// A place in variables or registers, down to a number or not.
#[derive(Clone, Debug)]
pub(super) struct StoredCells<'a> {
    pub name: &'a str,
    /// Those of the whole declaration, all of one kind.
    pub cells: Rc<[FwCell]>,
    pub offset: usize,
    pub indices: Vec<CellIndex>,
    pub layout: CellLayout<'a>,
    /// Of a number: where the text names it.
    pub span: Span,
}

impl<'a> StoredCells<'a> {
    /// All of a declaration.
    pub fn whole(name: &'a str, cells: Rc<[FwCell]>, layout: CellLayout<'a>) -> StoredCells<'a> {
        StoredCells { name, cells, offset: 0, indices: Vec::new(), layout, span: Span::NONE }
    }

    /// Whether it is in shared memory.
    pub fn is_shared(&self) -> bool {
        matches!(self.cells.first(), Some(FwCell::Shared(_)))
    }

    /// Goes on to the cell of this number.
    pub fn enter_cell(&mut self, at: usize, cell: &CellLayout<'a>) {
        self.offset += at * cell.size();
        self.layout = cell.clone();
    }

    /// Goes on to a field of a struct; whether it has one of this name.
    pub fn enter_field(&mut self, record: &RecordLayout<'a>, name: &str) -> bool {
        let Some(field) = record.fields.iter().find(|field| field.name.text == name) else { return false };
        self.offset += field.offset;
        self.layout = field.layout.clone();
        true
    }

    /// The only cell it can be, if it is a number.
    pub fn single(&self) -> Option<FwCell> {
        match self.layout {
            CellLayout::Number if self.indices.is_empty() => self.cells.get(self.offset).copied(),
            _ => None,
        }
    }
}
