//! Types of C, as 64-bit x86 has them: how many bytes, which values, and how many *cells*. A cell
//! is what one scalar occupies, whatever its size; objects are rows of cells, because nothing below
//! a front end knows bytes.

use std::rc::Rc;

/// A type with its qualifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub kind: Rc<TypeKind>,
    pub atomic: bool,
    pub volatile: bool,
}

/// The kinds of types.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypeKind {
    Void,
    Bool,
    Int {
        bits: u8,
        signed: bool,
    },
    Float(u8),
    Pointer(Type),
    /// With its length, if that is known.
    Array(Type, Option<u64>),
    Function(Signature),
    /// A structure or union, by its number.
    Record(usize),
}

/// What a function takes and gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub result: Type,
    pub parameters: Vec<(Option<Rc<str>>, Type)>,
}

/// A member of a structure or union.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: Option<Rc<str>>,
    pub ty: Type,
    /// The width of a bit-field.
    pub bits: Option<u8>,
}

/// A member and where it lies in its structure or union.
#[derive(Debug)]
pub(super) struct CMember {
    pub name: Option<Rc<str>>,
    /// The cell where it starts and, if that is known, the byte.
    pub cell: u64,
    pub byte: Option<u64>,
    pub ty: Type,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(super) struct CRecord {
    pub union: bool,
    /// Its members, once they are known.
    pub fields: Option<Vec<Field>>,
}

/// All structures and unions of a text.
#[derive(Debug, Default)]
pub(super) struct CRecords {
    pub list: Vec<CRecord>,
}

impl Type {
    pub fn new(kind: TypeKind) -> Type {
        Type { kind: Rc::new(kind), atomic: false, volatile: false }
    }

    pub fn int() -> Type {
        Type::integer(32, true)
    }

    pub fn integer(bits: u8, signed: bool) -> Type {
        Type::new(TypeKind::Int { bits, signed })
    }

    pub fn void() -> Type {
        Type::new(TypeKind::Void)
    }

    pub fn pointer(self) -> Type {
        Type::new(TypeKind::Pointer(self))
    }

    /// The type without qualifiers.
    pub fn plain(&self) -> Type {
        Type { kind: Rc::clone(&self.kind), atomic: false, volatile: false }
    }

    pub fn is_void(&self) -> bool {
        *self.kind == TypeKind::Void
    }

    pub fn is_pointer(&self) -> bool {
        matches!(*self.kind, TypeKind::Pointer(_))
    }

    pub fn is_integer(&self) -> bool {
        matches!(*self.kind, TypeKind::Int { .. } | TypeKind::Bool)
    }

    pub fn is_scalar(&self) -> bool {
        self.is_pointer() || self.is_integer() || matches!(*self.kind, TypeKind::Float(_))
    }

    pub fn is_function(&self) -> bool {
        matches!(*self.kind, TypeKind::Function(_))
    }

    /// What a function gives.
    pub fn result(&self) -> Option<&Type> {
        match &*self.kind {
            TypeKind::Function(signature) => Some(&signature.result),
            _ => None,
        }
    }

    /// What a pointer points to or an array holds.
    pub fn inner(&self) -> Option<&Type> {
        match &*self.kind {
            TypeKind::Pointer(inner) | TypeKind::Array(inner, _) => Some(inner),
            _ => None,
        }
    }

    /// The type as a value: arrays and functions become pointers.
    pub fn decayed(&self) -> Type {
        match &*self.kind {
            TypeKind::Array(inner, _) => inner.clone().pointer(),
            TypeKind::Function(_) => self.plain().pointer(),
            _ => self.plain(),
        }
    }

    /// The least and greatest value, for integers and pointers.
    pub fn range(&self) -> Option<(i128, i128)> {
        match *self.kind {
            TypeKind::Bool => Some((0, 1)),
            TypeKind::Int { bits, signed: true } => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
            TypeKind::Int { bits, signed: false } => Some((0, (1i128 << bits) - 1)),
            TypeKind::Pointer(_) => Some((0, (1i128 << 64) - 1)),
            _ => None,
        }
    }

    /// The size of a scalar.
    pub fn bits(&self) -> u32 {
        match *self.kind {
            TypeKind::Int { bits, .. } => u32::from(bits),
            TypeKind::Bool => 8,
            TypeKind::Float(bytes) => u32::from(bytes) * 8,
            _ => 64,
        }
    }

    /// Integers narrower than `int` become that before anything is computed.
    pub fn promoted(&self) -> Type {
        match *self.kind {
            TypeKind::Bool => Type::int(),
            TypeKind::Int { bits, .. } if bits < 32 => Type::int(),
            _ => self.plain(),
        }
    }

    /// The type in which two integers are combined.
    pub fn common(a: &Type, b: &Type) -> Type {
        let (a, b) = (a.promoted(), b.promoted());
        match (&*a.kind, &*b.kind) {
            (TypeKind::Int { bits: x, signed: s }, TypeKind::Int { bits: y, signed: t }) => {
                let bits = *x.max(y);
                // An unsigned operand that is as wide makes the result unsigned.
                let unsigned = !s && *x == bits || !t && *y == bits;
                Type::integer(bits, !unsigned)
            }
            (TypeKind::Int { .. }, _) => b,
            _ => a,
        }
    }
}

impl CRecords {
    pub fn fields(&self, ty: &Type) -> Option<&[Field]> {
        match *ty.kind {
            TypeKind::Record(id) => self.list.get(id)?.fields.as_deref(),
            _ => None,
        }
    }

    pub fn is_union(&self, ty: &Type) -> bool {
        matches!(*ty.kind, TypeKind::Record(id) if self.list.get(id).is_some_and(|record| record.union))
    }

    /// How many cells an object of the type has; `None` if that is not known.
    pub fn cells(&self, ty: &Type) -> Option<u64> {
        match &*ty.kind {
            TypeKind::Void => Some(1),
            TypeKind::Function(_) => None,
            TypeKind::Array(inner, length) => self.cells(inner)?.checked_mul((*length)?),
            TypeKind::Record(_) => {
                let mut sizes = self.fields(ty)?.iter().map(|field| self.cells(&field.ty));
                match self.is_union(ty) {
                    true => sizes.try_fold(0, |most, size| Some(most.max(size?))),
                    false => sizes.try_fold(0u64, |sum, size| sum.checked_add(size?)),
                }
            }
            _ => Some(1),
        }
    }

    /// Whether an object of the type has arrays in it.
    pub fn holds_arrays(&self, ty: &Type) -> bool {
        match &*ty.kind {
            TypeKind::Array(..) => true,
            _ => self.fields(ty).is_some_and(|fields| fields.iter().any(|f| self.holds_arrays(&f.ty))),
        }
    }

    /// The first of a union's members with most cells, which are the union's.
    pub fn widest(&self, ty: &Type) -> Option<&Field> {
        self.fields(ty)?.iter().rev().max_by_key(|field| self.cells(&field.ty))
    }

    /// The type of every cell and the byte it starts at.
    /// Bit-fields are at no byte, and where they are packed to, so what follows them is not known.
    pub fn scalars(&self, ty: &Type) -> Vec<(Type, Option<u64>)> {
        let mut scalars = Vec::new();
        self.for_each_scalar(ty, Some(0), &mut |ty, byte| scalars.push((ty, byte)));
        scalars
    }

    /// Calls `visit` with the same, bytes counted from `start`.
    fn for_each_scalar(&self, ty: &Type, start: Option<u64>, visit: &mut dyn FnMut(Type, Option<u64>)) {
        match &*ty.kind {
            TypeKind::Array(inner, length) => {
                let size = self.size(inner).map(|(size, _)| size);
                for at in 0..length.unwrap_or(0) {
                    let start = start.zip(size).map(|(start, size)| start + at * size);
                    self.for_each_scalar(inner, start, visit);
                }
            }
            TypeKind::Record(_) if self.is_union(ty) => {
                let widest = self.widest(ty);
                widest.into_iter().for_each(|field| self.for_each_scalar(&field.ty, start, visit));
            }
            TypeKind::Record(_) => {
                for member in self.members(ty) {
                    let start = start.zip(member.byte).map(|(start, at)| start + at);
                    let volatile = ty.volatile || member.ty.volatile;
                    self.for_each_scalar(&Type { volatile, ..member.ty }, start, visit);
                }
            }
            _ => visit(ty.clone(), start),
        }
    }

    /// The members of a structure or union, and where they lie in it. Where a bit-field lies is not known.
    pub fn members(&self, ty: &Type) -> Vec<CMember> {
        let union = self.is_union(ty);
        let (mut cell, mut end) = (0, Some(0u64));
        let mut members = Vec::new();
        for field in self.fields(ty).unwrap_or_default() {
            let ty = match (field.bits, &*field.ty.kind) {
                (Some(bits), TypeKind::Int { signed, .. }) => Type::integer(bits.max(1), *signed),
                _ => field.ty.clone(),
            };
            let sizes = self.size(&field.ty).filter(|_| field.bits.is_none());
            let byte = end.zip(sizes).map(|(end, (_, align))| end.next_multiple_of(align.max(1)));
            let cells = self.cells(&field.ty).unwrap_or(1);
            members.push(CMember { name: field.name.clone(), cell, byte, ty });
            if !union {
                cell += cells;
                end = byte.zip(sizes).map(|(start, (size, _))| start + size);
            }
        }
        members
    }

    /// A member by name, as a part of the whole. Members of members without a name count as their own.
    pub fn member(&self, ty: &Type, name: &str) -> Option<CMember> {
        self.members(ty).into_iter().find_map(|member| {
            if member.name.is_some() {
                return Some(member).filter(|member| member.name.as_deref() == Some(name));
            }
            let inner = self.member(&member.ty, name)?;
            let byte = member.byte.zip(inner.byte).map(|(start, at)| start + at);
            Some(CMember { cell: member.cell + inner.cell, byte, ..inner })
        })
    }

    /// Bytes and alignment.
    pub fn size(&self, ty: &Type) -> Option<(u64, u64)> {
        Some(match &*ty.kind {
            TypeKind::Void | TypeKind::Function(_) => (1, 1),
            TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float(_) | TypeKind::Pointer(_) => {
                let bytes = u64::from(ty.bits()).div_ceil(8);
                (bytes, bytes)
            }
            TypeKind::Array(inner, length) => {
                let (size, align) = self.size(inner)?;
                (size.checked_mul((*length)?)?, align)
            }
            TypeKind::Record(_) => {
                let (mut end, mut align) = (0u64, 1u64);
                for field in self.fields(ty)? {
                    let (size, wanted) = self.size(&field.ty)?;
                    align = align.max(wanted);
                    let start = if self.is_union(ty) { 0 } else { end.next_multiple_of(wanted.max(1)) };
                    end = end.max(start.checked_add(size)?);
                }
                (end.next_multiple_of(align), align)
            }
        })
    }
}
