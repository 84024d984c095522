//! Declarations in functions, and initial values of local objects.

use super::initial::{CGiven, CGivenValue, CPart};
use super::thread::{CLocal, Lowerer};
use super::value::{CPlace, CSpot, Inside, Typed};
use super::world::CLowered;
use crate::c::ast::{CDeclaration, CInit, Storage};
use crate::c::types::{Type, TypeKind};
use std::rc::Rc;

impl Lowerer<'_, '_> {
    pub fn declaration(&mut self, declared: &CDeclaration) -> CLowered<()> {
        self.span = declared.span;
        let (name, token) = (&declared.name, declared.token);
        let ty = &self.type_with_length(declared)?;
        match declared.storage {
            Storage::Extern | Storage::Typedef => return Ok(()),
            Storage::Static | Storage::PerThread => {
                let owner = if declared.storage == Storage::PerThread { self.thread as u64 + 1 } else { 0 };
                let full = format!("{}.{name}", self.frame.function.name);
                let fresh = self.world.initialised.insert((owner, token, 2));
                let object = self.world.memory_object((owner, token, 2), &full, ty, self.span, token)?;
                if fresh {
                    self.world.initial_memory(object, ty, declared.init.as_ref(), token)?;
                }
                self.bind(name, CLocal::Object(object, ty.clone()));
                return Ok(());
            }
            Storage::Auto => {}
        }
        // A pointer that always points to the same needs no register.
        let fixed = ty.is_pointer() && !self.frame.assigned.contains(name);
        let value = match &declared.init {
            Some(CInit::Value(init)) if fixed => {
                let value = self.value_for(init, ty)?;
                let value = self.convert(value, ty, token)?;
                if value.value.is_fixed() {
                    self.bind(name, CLocal::Same(value));
                    return Ok(());
                }
                Some(value)
            }
            _ => None,
        };
        let object = self.local_object(name, ty, token)?;
        self.bind(name, CLocal::Object(object, ty.clone()));
        match (value, &declared.init) {
            (Some(value), _) => {
                self.assign_value(&CPlace::whole(object, ty.clone(), token), value, token)?;
            }
            (None, Some(init)) => self.initialise(object, ty, init, token)?,
            (None, None) => self.leave_open(object),
        }
        Ok(())
    }

    /// The type of what is declared; the length of an array must be known by now.
    fn type_with_length(&self, declared: &CDeclaration) -> CLowered<Type> {
        let (ty, Some(length)) = (&declared.ty, &declared.length) else { return Ok(declared.ty.clone()) };
        let TypeKind::Array(inner, None) = &*ty.kind else { return Ok(ty.clone()) };
        match self.foreseen(length).and_then(|length| u64::try_from(length.value).ok()) {
            Some(length) => {
                Ok(Type { kind: Rc::new(TypeKind::Array(inner.clone(), Some(length))), ..ty.clone() })
            }
            None => {
                let error = self.error(length.token, "the length of this array is not known");
                Err(Box::new(error.hint("it is if it only depends on what never changes")))
            }
        }
    }

    pub fn bind(&mut self, name: &Rc<str>, local: CLocal) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(Rc::clone(name), local);
        }
    }

    /// Gives an object its initial value; what a list leaves out is 0.
    pub fn initialise(&mut self, object: usize, ty: &Type, init: &CInit, token: u32) -> CLowered<()> {
        if let CInit::Value(value) = init
            && !matches!(*ty.kind, TypeKind::Array(..))
        {
            let value = self.value_for(value, ty)?;
            return self.assign_value(&CPlace::whole(object, ty.clone(), token), value, token).map(drop);
        }
        let mut given = Vec::new();
        super::initial::flatten(self.world, &CPart::whole(ty), init, token, &mut given)?;
        let types = self.world.objects[object].types.clone();
        // By cell: what it is given last.
        let mut last: Vec<Option<usize>> = vec![None; types.len()];
        let mut covered = Vec::new();
        for (index, CGiven { part, .. }) in given.iter().enumerate() {
            let cells = self.world.cells_of(object, part, token)?;
            cells.iter().for_each(|at| last[*at] = Some(index));
            covered.push(cells.len());
        }
        let mut at = 0;
        while let Some(ty) = types.get(at) {
            let (ty, value, cells) = match last[at] {
                None => (ty.clone(), Typed::constant(0, ty.clone()), 1),
                Some(index) => {
                    let CGiven { part, value } = &given[index];
                    let cells = covered[index];
                    if (at..at + cells).any(|at| last.get(at) != Some(&Some(index))) {
                        return Err(self.error(token, "initial values that overlap are not read"));
                    }
                    let value = match value {
                        CGivenValue::Expr(expr) => self.value(expr)?,
                        CGivenValue::Number(value) => Typed::constant(*value, part.ty.clone()),
                    };
                    (part.ty.clone(), value, cells)
                }
            };
            let place = CPlace { spot: CSpot::Inside(Inside::at(object, at)), ty: ty.plain(), token };
            self.assign_value(&place, value, token)?;
            at += cells;
        }
        Ok(())
    }
}
