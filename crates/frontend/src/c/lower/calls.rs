//! Calls: functions of the program are inlined, those of the library are known by name.

use super::graph::{At, CStep};
use super::places::COrder;
use super::thread::{CFrame, CLocal, Lowerer, further};
use super::value::{CPlace, CSpot, CValue, Inside, Typed, constant, number};
use super::world::{CCell, CLowered};
use crate::c::ast::{CExpr, CExprKind, CFunction};
use crate::c::limits;
use crate::c::types::Type;
use program::{CallSite, Cond, Expr as Over, FailureKind, Op, RegId, Relation};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

impl Lowerer<'_, '_> {
    /// A call; its value.
    pub fn call(&mut self, function: &CExpr, arguments: &[CExpr], token: u32) -> CLowered<Typed> {
        if let CExprKind::Name(name) = &function.kind
            && self.local(name).is_none()
            && !self.world.globals.contains_key(name)
        {
            if self.world.unit.functions.contains_key(name) {
                let values = self.arguments(arguments)?;
                return self.inline(name, values, token);
            }
            return match self.library(name, arguments, token)? {
                Some(value) => Ok(value),
                None => Err(self.unknown_function(name, token)),
            };
        }
        let called = self.value(function)?;
        match called.value {
            CValue::Function(name) => {
                let values = self.arguments(arguments)?;
                self.call_named(&name, values, token)
            }
            other => {
                let address = self.as_number(&other, token)?;
                let values = self.arguments(arguments)?;
                self.call_pointer(address, &called.ty, values, token)
            }
        }
    }

    fn unknown_function(&self, name: &str, token: u32) -> Box<crate::Diagnostic> {
        let error = self.error(token, format!("the function `{name}` has no body and is not known"));
        Box::new(error.hint(format!(
            "--pure {name} takes it for one that does nothing and gives any value; --havoc is the same by another name"
        )))
    }

    fn call_named(&mut self, name: &Rc<str>, values: Vec<Typed>, token: u32) -> CLowered<Typed> {
        if !self.world.unit.functions.contains_key(name) {
            return Err(self.error(token, format!("`{name}` cannot be called through a pointer here")));
        }
        self.inline(name, values, token)
    }

    fn arguments(&mut self, arguments: &[CExpr]) -> CLowered<Vec<Typed>> {
        let mut values = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let value = self.value(argument)?;
            let later = arguments[at + 1..].iter().any(super::expressions::has_effects);
            values.push(if later { self.keep_typed(value)? } else { value });
        }
        Ok(values)
    }

    /// A call through a pointer: one way per function it may point to.
    fn call_pointer(
        &mut self,
        address: Over<RegId>,
        ty: &Type,
        values: Vec<Typed>,
        token: u32,
    ) -> CLowered<Typed> {
        let no_function = || FailureKind::Error("a pointer is called that points to no function".to_string());
        if let Some(known) = constant(&address) {
            let Some(name) = self.world.function_at(known).cloned() else {
                self.fail(no_function());
                return Ok(Typed::number(number(0), Type::int()));
            };
            return self.call_named(&name, values, token);
        }
        let targets = self.found(&address, (self.path, token));
        let address = self.kept(address)?;
        let names: Vec<(i128, Rc<str>)> = (0..self.world.functions.len())
            .map(|at| 900_000_000 + at as i128)
            .filter(|at| targets.contains(*at))
            .filter_map(|at| Some((at, Rc::clone(self.world.function_at(at)?))))
            .collect();
        let result = self.temporary()?;
        let (from, end) = (self.at, self.place());
        let mut others = Vec::new();
        for (at, name) in names {
            others.push(Cond::compare(Relation::Ne, address.clone(), number(at)));
            self.way_if(from, &address, at);
            let value = self.call_named(&name, values.clone(), token)?;
            if !value.ty.is_void() {
                let over = self.as_number(&value.value, token)?;
                self.step(Op::Assign(result, over));
            }
            self.join(end);
            self.known.clear();
        }
        self.at = from;
        let bad = self.violation(no_function());
        self.arrow(CStep::Op(Op::Assume(Cond::and(others))), bad);
        self.at = end;
        let ty = ty.inner().cloned().unwrap_or_else(|| ty.clone());
        let ty = match &*ty.kind {
            crate::c::types::TypeKind::Function(signature) => signature.result.clone(),
            _ => Type::int(),
        };
        Ok(if ty.is_void() { Typed::nothing() } else { Typed::number(Over::Leaf(result), ty) })
    }

    /// Inlines a function of the program.
    pub fn inline(&mut self, name: &Rc<str>, values: Vec<Typed>, token: u32) -> CLowered<Typed> {
        let function = Rc::clone(&self.world.unit.functions[name]);
        if self.calls.iter().filter(|call| *call == name).count() >= limits::RECURSION {
            self.limit(format!("`{name}` calls itself, and is read {} calls deep only", limits::RECURSION));
            let ty = function.result.clone();
            return self.any_result_of(ty, token);
        }
        if values.len() < function.parameters.len() {
            return Err(self.error(token, format!("`{name}` takes {} arguments", function.parameters.len())));
        }
        let ty = function.result.clone();
        let atomic = name.starts_with("__VERIFIER_atomic");
        let span = self.span;
        let path = self.path;
        self.path = further(path, ("call", token));
        let result = match ty.is_void() {
            true => None,
            false => Some(self.result_object(&function, token)?),
        };
        let scope = self.parameters(&function, values, token)?;
        if atomic {
            self.enter_section();
        }
        let exit = self.new_exit();
        let assigned = super::assigned::of(self.world, &function);
        let frame = CFrame::of(Rc::clone(&function), exit, result, assigned);
        let outer = std::mem::replace(&mut self.frame, frame);
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let called_in = self.graph.call.clone();
        self.graph.call = Some(Arc::new(CallSite { span, caller: called_in.clone() }));
        self.calls.push(Rc::clone(name));
        let done = self.nested(token, |l| l.body(&function.body));
        self.leave_to(exit);
        self.arrive(exit);
        self.leave_scope();
        self.calls.pop();
        self.graph.call = called_in;
        self.scopes = scopes;
        self.frame = outer;
        self.path = path;
        self.span = span;
        done?;
        if atomic {
            self.leave_section();
        }
        let Some(object) = result else { return Ok(Typed::nothing()) };
        let place = CPlace { spot: CSpot::Inside(Inside::at(object, 0)), ty, token };
        let value = self.load(&place)?;
        // The result's registers are used again by the next call.
        self.keep_typed(value)
    }

    /// A result of a call that is never reached.
    fn any_result_of(&mut self, ty: Type, token: u32) -> CLowered<Typed> {
        if ty.is_void() {
            return Ok(Typed::nothing());
        }
        if ty.is_scalar() {
            return Ok(Typed::constant(0, ty));
        }
        let object = self.local_object("result", &ty, token)?;
        self.load(&CPlace { spot: CSpot::Inside(Inside::at(object, 0)), ty, token })
    }

    /// Where the result of a call goes.
    fn result_object(&mut self, function: &CFunction, token: u32) -> CLowered<usize> {
        let object = self.local_object(&format!("{}.result", function.name), &function.result, token)?;
        self.leave_open(object);
        Ok(object)
    }

    /// Binds parameters: constants that are not assigned to stay what they are.
    fn parameters(
        &mut self,
        function: &CFunction,
        values: Vec<Typed>,
        token: u32,
    ) -> CLowered<FxHashMap<Rc<str>, CLocal>> {
        let unit = self.world.unit;
        let assigned = super::assigned::of(self.world, &unit.functions[&function.name]);
        let mut scope = FxHashMap::default();
        for (at, ((name, ty), value)) in function.parameters.iter().zip(values).enumerate() {
            let Some(name) = name else { continue };
            let value = self.convert(value, ty, token)?;
            let stays = !assigned.contains(name);
            if stays && self.is_fixed(&value.value) {
                scope.insert(Rc::clone(name), CLocal::Same(value));
                continue;
            }
            if let (true, CValue::Address(inside)) = (stays, &value.value) {
                // Which element it is must not change with the index.
                let key = self.kept_for_call(inside.key.clone(), name, function.token + 1 + at as u32)?;
                let value = CValue::Address(Inside { key, ..inside.clone() });
                let value = Typed { value, ty: ty.plain(), bounds: (1, i128::MAX) };
                scope.insert(Rc::clone(name), CLocal::Same(value));
                continue;
            }
            let declared = function.token + 1 + at as u32;
            scope.insert(Rc::clone(name), self.given_object(name, ty, declared, value, token)?);
        }
        Ok(scope)
    }

    /// A parameter as an object that begins with what was given.
    fn given_object(
        &mut self,
        name: &str,
        ty: &Type,
        declared: u32,
        value: Typed,
        token: u32,
    ) -> CLowered<CLocal> {
        let object = self.local_object(name, ty, declared)?;
        let place = CPlace { spot: CSpot::Inside(Inside::at(object, 0)), ty: ty.plain(), token };
        self.assign_value(&place, value, token)?;
        Ok(CLocal::Object(object, ty.clone()))
    }

    /// Keeps a value in a register of its own for as long as a call takes.
    fn kept_for_call(&mut self, key: Over<RegId>, name: &str, token: u32) -> CLowered<Over<RegId>> {
        let object = self.local_object(&format!("{name}.index"), &Type::integer(64, true), token)?;
        let place = CPlace { spot: CSpot::Inside(Inside::at(object, 0)), ty: Type::integer(64, true), token };
        self.store(&place, &key, COrder::Plain)?;
        match self.world.objects[object].cells[0] {
            super::world::CCell::Register(register) => Ok(Over::Leaf(register)),
            super::world::CCell::Memory(_) => Ok(key),
        }
    }

    /// The argument of a thread.
    pub fn thread_parameters(&mut self, function: &Rc<CFunction>) -> CLowered<()> {
        if self.thread == 0 {
            // `argc` and `argv` are anything.
            for (at, (name, ty)) in function.parameters.iter().enumerate() {
                let Some(name) = name else { continue };
                let object = self.local_object(name, ty, function.token + 1 + at as u32)?;
                self.choose_any(object);
                if let (1, CCell::Register(register)) = (at, self.world.objects[object].cells[0]) {
                    self.argv = Some(register);
                }
                self.bind(name, CLocal::Object(object, ty.clone()));
            }
            return Ok(());
        }
        let argument = self.world.instances[self.thread - 1].argument.clone();
        let Some((Some(name), ty)) = function.parameters.first().cloned() else {
            self.step_raw(CStep::Begin(None));
            return Ok(());
        };
        let token = function.token + 1;
        let value = match argument {
            Some(value) => {
                self.step_raw(CStep::Begin(None));
                Typed { value, ty: Type::void().pointer(), bounds: (0, i128::MAX) }
            }
            None => {
                let register = self.temporary()?;
                self.step_raw(CStep::Begin(Some(register)));
                Typed::number(Over::Leaf(register), Type::void().pointer())
            }
        };
        let value = self.convert(value, &ty, token)?;
        if !self.frame.assigned.contains(&name) && self.is_fixed(&value.value) {
            self.bind(&name, CLocal::Same(value));
            return Ok(());
        }
        let object = self.given_object(&name, &ty, token, value, token)?;
        self.bind(&name, object);
        Ok(())
    }

    /// The object of a global; every thread has its own of those that are per thread.
    pub fn global_place(&mut self, object: usize, name: &Rc<str>) -> CLowered<(usize, Type)> {
        let ty = self.world.global_types[name].clone();
        let Some(declared) = self.world.per_thread.get(name).copied() else { return Ok((object, ty)) };
        let unit = self.world.unit;
        let declared = &unit.globals[declared];
        let key = (self.thread as u64 + 1, declared.token, 2);
        let fresh = self.world.initialised.insert(key);
        let full = format!("{}.{name}", self.thread_name());
        let own = self.world.memory_object(key, &full, &ty, declared.span, declared.token)?;
        if fresh {
            self.world.initial_memory(own, &ty, declared.init.as_ref(), declared.token)?;
        }
        Ok((own, ty))
    }

    pub fn enter_section(&mut self) {
        if self.section == 0 {
            self.step(Op::Lock);
        }
        self.section += 1;
    }

    pub fn leave_section(&mut self) {
        self.section = self.section.saturating_sub(1);
        if self.section == 0 {
            self.step(Op::Unlock);
        }
    }

    /// A call as a condition, where that is simpler than its value.
    pub fn call_branch(
        &mut self,
        name: &Rc<str>,
        arguments: &[CExpr],
        token: u32,
        yes: At,
        no: At,
    ) -> CLowered<Option<Option<bool>>> {
        if self.local(name).is_some() || self.world.unit.functions.contains_key(name) {
            return Ok(None);
        }
        if name.contains("nondet") && name.starts_with("__VERIFIER") || &**name == "nondet_int" {
            self.arrow(CStep::Op(Op::Skip), yes);
            self.arrow(CStep::Op(Op::Skip), no);
            return Ok(Some(None));
        }
        if &**name == "__builtin_expect" && arguments.len() == 2 {
            return self.branch(&arguments[0], yes, no).map(Some);
        }
        let Some(cas) = self.compare_exchange(name, arguments, token)? else { return Ok(None) };
        self.compare_and_swap(cas, (yes, no), token)?;
        Ok(Some(None))
    }
}
