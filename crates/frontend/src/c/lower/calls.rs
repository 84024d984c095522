//! Calls: functions of the program are inlined, those of the library are known by name.

use super::graph::{At, CStep};
use super::places::COrder;
use super::thread::{CFrame, CLocal, Lowerer, further};
use super::value::{CPlace, CValue, Inside, Typed, constant, number};
use super::world::{CCell, CLowered, FIRST_FUNCTION};
use crate::c::ast::{CExpr, CExprKind, CFunction};
use crate::c::limits;
use crate::c::types::Type;
use program::{CallSite, Cond, Expr as Over, FailureKind, Op, RegId, Relation};
use rustc_hash::{FxHashMap, FxHashSet};
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
        let no_function = "a pointer is called that points to no function";
        if let Some(known) = constant(&address) {
            let Some(name) = self.world.function_at(known).cloned() else {
                self.fail(FailureKind::Error(no_function.to_string()));
                return Ok(Typed::number(number(0), Type::int()));
            };
            return self.call_named(&name, values, token);
        }
        let targets = self.found(&address, (self.path, token));
        let address = self.kept(address)?;
        let names = (FIRST_FUNCTION..).zip(self.world.functions.iter().cloned());
        let names: Vec<(i128, Rc<str>)> = names.filter(|(at, _)| targets.contains(*at)).collect();
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
        let bad = self.mistake(no_function);
        self.arrow(CStep::Op(Op::Assume(Cond::and(others))), bad);
        self.at = end;
        let ty = ty.inner().unwrap_or(ty).result().cloned().unwrap_or_else(Type::int);
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
        let mut result = None;
        if !ty.is_void() {
            let object = self.local_object(&format!("{name}.result"), &ty, token)?;
            self.leave_open(object);
            result = Some(object);
        }
        let assigned = super::assigned::of(self.world, &function);
        let scope = self.parameters(&function, &assigned, values, token)?;
        if atomic {
            self.enter_section();
        }
        let exit = self.new_exit();
        let frame = CFrame::of(Rc::clone(&function), exit, result, assigned);
        let outer = std::mem::replace(&mut self.frame, frame);
        let scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let called_in = self.graph.call.clone();
        self.graph.call = Some(Arc::new(CallSite { span, caller: called_in.clone() }));
        self.calls.push(Rc::clone(name));
        self.nested(token, |l| l.body(&function.body))?;
        self.leave_to(exit);
        self.arrive(exit);
        self.leave_scope();
        self.calls.pop();
        self.graph.call = called_in;
        self.scopes = scopes;
        self.frame = outer;
        self.path = path;
        self.span = span;
        if atomic {
            self.leave_section();
        }
        let Some(object) = result else { return Ok(Typed::nothing()) };
        let value = self.load(&CPlace::whole(object, ty, token))?;
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
        self.load(&CPlace::whole(object, ty, token))
    }

    /// Binds parameters: constants that are not assigned to stay what they are.
    fn parameters(
        &mut self,
        function: &CFunction,
        assigned: &FxHashSet<Rc<str>>,
        values: Vec<Typed>,
        token: u32,
    ) -> CLowered<FxHashMap<Rc<str>, CLocal>> {
        let mut scope = FxHashMap::default();
        for (at, ((name, ty), value)) in function.parameters.iter().zip(values).enumerate() {
            let Some(name) = name else { continue };
            let (declared, stays) = (function.token + 1 + at as u32, !assigned.contains(name));
            let local = self.given(name, ty, (declared, stays), value, token)?;
            scope.insert(Rc::clone(name), local);
        }
        Ok(scope)
    }

    /// A parameter: what was given if that stays the same (`stays` says that nothing is assigned to it), or an
    /// object that begins with it.
    fn given(
        &mut self,
        name: &str,
        ty: &Type,
        (declared, stays): (u32, bool),
        value: Typed,
        token: u32,
    ) -> CLowered<CLocal> {
        let value = self.convert(value, ty, token)?;
        match &value.value {
            fixed if stays && fixed.is_fixed() => return Ok(CLocal::Same(value)),
            CValue::Address(inside) if stays => {
                // Which element it is must not change with the index.
                let key = self.kept_for_call(inside.key.clone(), name, declared)?;
                let address = CValue::Address(Inside { key, ..inside.clone() });
                return Ok(CLocal::Same(Typed::pointer(address, ty.plain())));
            }
            _ => {}
        }
        let object = self.local_object(name, ty, declared)?;
        self.assign_value(&CPlace::whole(object, ty.plain(), token), value, token)?;
        Ok(CLocal::Object(object, ty.clone()))
    }

    /// Keeps a value in a register of its own for as long as a call takes.
    fn kept_for_call(&mut self, key: Over<RegId>, name: &str, token: u32) -> CLowered<Over<RegId>> {
        let ty = Type::integer(64, true);
        let object = self.local_object(&format!("{name}.index"), &ty, token)?;
        self.store(&CPlace::whole(object, ty, token), &key, COrder::Plain)?;
        match self.world.objects[object].cells[0] {
            CCell::Register(register) => Ok(Over::Leaf(register)),
            CCell::Memory(_) => Ok(key),
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
        let stays = !self.frame.assigned.contains(&name);
        let local = self.given(&name, &ty, (token, stays), value, token)?;
        self.bind(&name, local);
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
        self.compare_and_swap(cas, (yes, no))?;
        Ok(Some(None))
    }
}
