//! Functions of the library, known by name: claims, choices, threads, and what does nothing here.

use super::graph::CStep;
use super::places::COrder;
use super::thread::{Lowerer, further};
use super::value::{CPlace, CSpot, CValue, Inside, Typed, constant, number};
use super::world::{CInstance, CLowered};
use crate::c::ast::CExpr;
use crate::c::limits;
use crate::c::types::{Type, TypeKind};
use program::{Cond, Domain, Expr as Over, FailureKind, Int, Op, RegId, Relation};

/// Functions without any effect that matters here; they give any value of their type, or 0.
const IGNORED: &[&str] = &[
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "putchar",
    "fflush",
    "perror",
    "putc",
    "fputs",
    "fputc",
    "sched_yield",
    "usleep",
    "sleep",
    "nanosleep",
    "pthread_yield",
    "thrd_yield",
    "srand",
    "srandom",
    "pthread_detach",
    "thrd_detach",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize",
    "pthread_attr_setguardsize",
    "pthread_attr_setscope",
    "pthread_attr_setinheritsched",
    "pthread_attr_setschedpolicy",
    "pthread_attr_setschedparam",
    "pthread_setconcurrency",
    "pthread_mutexattr_init",
    "pthread_mutexattr_destroy",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_condattr_setclock",
    "pthread_rwlockattr_init",
    "pthread_rwlockattr_destroy",
    "pthread_barrierattr_init",
    "pthread_barrierattr_destroy",
    "pthread_mutex_destroy",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_rwlock_destroy",
    "pthread_spin_destroy",
    "pthread_barrier_destroy",
    "sem_destroy",
    "cnd_init",
    "cnd_destroy",
    "cnd_signal",
    "cnd_broadcast",
    "mtx_destroy",
    "__ESBMC_yield",
    "__VERIFIER_loop_bound",
    "__VERIFIER_make_interleaving",
    "__builtin_ia32_pause",
    "_mm_pause",
    "__builtin_prefetch",
    "setbuf",
    "setvbuf",
    "fclose",
    "alarm",
    "signal",
    "__CPROVER_loop_bound",
    "thrd_sleep",
    "pthread_setname_np",
];

/// What is assumed of memory without an initial value.
pub(super) const WRITTEN_FIRST: &str = "memory is written before it is read";

impl Lowerer<'_, '_> {
    /// A call of a library function; nothing if it is none.
    pub fn library(&mut self, name: &str, arguments: &[CExpr], token: u32) -> CLowered<Option<Typed>> {
        if let Some(value) = self.atomic(name, arguments, token)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.synchronise(name, arguments, token)? {
            return Ok(Some(value));
        }
        if name.starts_with("__VERIFIER_nondet_")
            || matches!(name, "nondet_int" | "nondet_uint" | "nondet_bool")
        {
            return self.any_value(name, token).map(Some);
        }
        let zero = || Typed::constant(0, Type::int());
        Ok(Some(match (name, arguments.len()) {
            ("assert" | "__VERIFIER_assert" | "__CPROVER_assert" | "__ESBMC_assert", 1..) => {
                self.assertion(&arguments[0])?;
                Typed::nothing()
            }
            (
                "__VERIFIER_assume" | "__CPROVER_assume" | "__ESBMC_assume" | "__builtin_assume" | "assume",
                1,
            ) => {
                self.assumption(&arguments[0])?;
                Typed::nothing()
            }
            ("__VERIFIER_error" | "reach_error" | "__assert_fail" | "__assert" | "__VERIFIER_fail", _) => {
                self.fail(FailureKind::Assertion);
                Typed::nothing()
            }
            (
                "abort"
                | "exit"
                | "_Exit"
                | "_exit"
                | "quick_exit"
                | "__builtin_unreachable"
                | "__builtin_trap",
                _,
            ) => {
                arguments.iter().try_for_each(|argument| self.value(argument).map(|_| ()))?;
                self.block_here();
                Typed::nothing()
            }
            ("__VERIFIER_atomic_begin" | "__ESBMC_atomic_begin" | "__CPROVER_atomic_begin", 0) => {
                self.enter_section();
                Typed::nothing()
            }
            ("__VERIFIER_atomic_end" | "__ESBMC_atomic_end" | "__CPROVER_atomic_end", 0) => {
                self.leave_section();
                Typed::nothing()
            }
            ("scanf", 1..) => self.scanned(&[], &arguments[1..])?,
            ("sprintf" | "vsprintf", 2..) | ("snprintf" | "vsnprintf", 3..) => {
                self.printed(&arguments[0], &arguments[1..], token)?
            }
            ("sscanf" | "fscanf", 2..) => self.scanned(&arguments[..1], &arguments[2..])?,
            ("pthread_create", 4) => {
                self.create(&arguments[0], &arguments[2], &arguments[3], token)?;
                zero()
            }
            ("thrd_create", 3) => {
                self.create(&arguments[0], &arguments[1], &arguments[2], token)?;
                zero()
            }
            ("pthread_join" | "thrd_join", 2) => {
                self.await_end(&arguments[0], &arguments[1], token)?;
                zero()
            }
            ("pthread_exit" | "thrd_exit", 1) => {
                self.exit_thread(&arguments[0], token)?;
                Typed::nothing()
            }
            ("pthread_self" | "thrd_current", 0) => {
                Typed::constant(self.thread as i128, Type::integer(64, false))
            }
            ("pthread_equal" | "thrd_equal", 2) => {
                let (a, b) = self.operands(&arguments[0], &arguments[1])?;
                let cond = self.comparison(Relation::Eq, a, b, token)?;
                Typed::truth(self.truth(cond)?)
            }
            ("__builtin_expect", 2) => {
                let value = self.value(&arguments[0])?;
                self.value(&arguments[1])?;
                value
            }
            ("abs" | "labs", 1) => {
                let value = self.value(&arguments[0])?;
                return self.absolute(value, token).map(Some);
            }
            ("rand" | "random", 0) => self.any_in(Type::int(), 0, i128::from(i32::MAX))?,
            ("malloc" | "calloc" | "__VERIFIER_malloc", 1 | 2) => self.allocate(name, arguments, token)?,
            ("free", 1) => {
                self.free(&arguments[0], token)?;
                Typed::nothing()
            }
            ("memset", 3) => self.set_memory(arguments, token)?,
            ("memcpy" | "memmove", 3) => self.copy_memory(arguments, token)?,
            _ if IGNORED.contains(&name) => {
                for argument in arguments {
                    if !matches!(argument.kind, crate::c::ast::CExprKind::Text(_)) {
                        self.ignored_argument(argument)?;
                    }
                }
                zero()
            }
            _ if self.world.options.pure.iter().any(|pure| pure == name) => {
                arguments.iter().try_for_each(|argument| self.ignored_argument(argument))?;
                self.any_result(name)?
            }
            _ => return Ok(None),
        }))
    }

    /// An argument of a function that does nothing: only its effects matter.
    fn ignored_argument(&mut self, argument: &CExpr) -> CLowered<()> {
        if super::expressions::has_effects(argument) { self.value(argument).map(|_| ()) } else { Ok(()) }
    }

    fn any_result(&mut self, name: &str) -> CLowered<Typed> {
        let result = self.world.unit.declared.get(name).and_then(Type::result);
        let ty = result.map_or_else(Type::int, Type::plain);
        match ty.range() {
            Some((low, high)) => self.any_in(ty, low, high),
            None => Ok(Typed::nothing()),
        }
    }

    fn any_value(&mut self, name: &str, token: u32) -> CLowered<Typed> {
        let word = name.rsplit_once("nondet_").map_or("int", |(_, word)| word);
        let ty = match word {
            "bool" | "_Bool" => Type::new(TypeKind::Bool),
            "char" => Type::integer(8, true),
            "uchar" | "u8" => Type::integer(8, false),
            "short" => Type::integer(16, true),
            "ushort" => Type::integer(16, false),
            "int" => Type::int(),
            "uint" | "unsigned" | "unsigned_int" | "u32" => Type::integer(32, false),
            "long" | "longlong" | "loff_t" => Type::integer(64, true),
            "ulong" | "ulonglong" | "size_t" => Type::integer(64, false),
            _ => return Err(self.error(token, format!("`{name}` is not known"))),
        };
        let (low, high) = ty.range().unwrap_or((0, 0));
        self.any_in(ty, low, high)
    }

    /// Input may be anything.
    fn scanned(&mut self, from: &[CExpr], to: &[CExpr]) -> CLowered<Typed> {
        from.iter().try_for_each(|argument| self.value(argument).map(|_| ()))?;
        for argument in to {
            let pointer = self.value(argument)?;
            let place = self.pointee(pointer, argument.token)?;
            let Some((low, high)) = place.ty.range() else {
                return Err(self.error(argument.token, "only integers are read by `scanf`"));
            };
            self.store_any(&place, low, high)?;
        }
        self.any_in(Type::int(), -1, to.len() as i128)
    }

    /// What is printed into an array is not looked at: it may hold any characters then.
    fn printed(&mut self, to: &CExpr, rest: &[CExpr], token: u32) -> CLowered<Typed> {
        rest.iter().try_for_each(|argument| self.ignored_argument(argument))?;
        let array = self.value(to)?;
        let (CValue::Address(inside), Some(ty)) = (&array.value, array.ty.inner().cloned()) else {
            return Err(self.error(token, "the array that is printed into must be known"));
        };
        let (low, high) = ty.range().unwrap_or((0, 0));
        let length = self.world.objects[inside.object].cells.len().min(inside.within.1);
        let first = inside.only().unwrap_or(inside.within.0);
        for at in first..length {
            let spot = CSpot::Inside(Inside::at(inside.object, at));
            self.store_any(&CPlace { spot, ty: ty.clone(), token }, low, high)?;
        }
        self.any_in(Type::int(), 0, i128::from(i32::MAX))
    }

    fn any_in(&mut self, ty: Type, low: i128, high: i128) -> CLowered<Typed> {
        let register = self.temporary()?;
        self.step(Op::Havoc(register, Domain::Range(Int::from(low), Int::from(high))));
        Ok(Typed::bounded(Over::Leaf(register), ty, (low, high)))
    }

    fn store_any(&mut self, place: &CPlace, low: i128, high: i128) -> CLowered<()> {
        let value = self.any_in(place.ty.plain(), low, high)?;
        let value = self.as_number(&value.value, place.token)?;
        self.store(place, &value, COrder::Plain)
    }

    fn absolute(&mut self, value: Typed, token: u32) -> CLowered<Typed> {
        let value = self.keep_typed(value)?;
        let over = self.as_number(&value.value, token)?;
        let negative = self.negated(value.clone(), false, token)?;
        let negative = self.as_number(&negative.value, token)?;
        let register = self.temporary()?;
        let (yes, no, end) = (self.place(), self.place(), self.place());
        self.fork(Cond::compare(Relation::Lt, over.clone(), 0), yes, no);
        self.meet([(yes, negative), (no, over)], register, end);
        Ok(Typed::number(Over::Leaf(register), value.ty.promoted()))
    }

    fn assertion(&mut self, cond: &CExpr) -> CLowered<()> {
        self.world.asserts = true;
        let (good, bad) = (self.place(), self.place());
        let failure = program::Failure { kind: FailureKind::Assertion, span: self.span };
        let decided = self.branch(cond, good, bad)?;
        if decided == Some(false) {
            self.at = bad;
            self.fail(FailureKind::Assertion);
            return Ok(());
        }
        if decided.is_none() {
            self.graph.failures.insert(bad, failure);
        }
        self.at = good;
        Ok(())
    }

    fn assumption(&mut self, cond: &CExpr) -> CLowered<()> {
        let (good, bad) = (self.place(), self.place());
        let decided = self.branch(cond, good, bad)?;
        if decided != Some(true) {
            self.at = bad;
            self.block_here();
        }
        self.at = good;
        Ok(())
    }

    /// Starts a thread.
    fn create(&mut self, handle: &CExpr, function: &CExpr, argument: &CExpr, token: u32) -> CLowered<()> {
        if self.section > 0 {
            return Err(self.error(token, "threads cannot be started in an atomic section here"));
        }
        let started = self.value(function)?;
        let name = match &started.value {
            CValue::Function(name) => name.clone(),
            CValue::Number(over) => match constant(over).and_then(|at| self.world.function_at(at)) {
                Some(name) => name.clone(),
                None => return Err(self.error(token, "the function of a thread must be known")),
            },
            _ => return Err(self.error(token, "a thread needs a function")),
        };
        let Some(function) = self.world.unit.functions.get(&name).cloned() else {
            return Err(self.error(token, format!("`{name}` has no body")));
        };
        if self.world.instances.len() >= limits::THREADS {
            return Err(self.error(token, format!("there are more than {} threads", limits::THREADS)));
        }
        let given = self.value(argument)?;
        let mut value = given.value;
        if let CValue::Address(_) = value
            && !self.world.is_shareable(&value)
        {
            value = CValue::Number(self.as_number(&value, token)?);
        }
        let shareable = self.world.is_shareable(&value);
        let runtime = if shareable { None } else { Some(self.as_number(&value, token)?) };
        let count = self.world.instances.len() + 1;
        let span = self.span;
        let mut hidden = |what: &str| self.world.hidden(format!("{what}_{count}"), span);
        let (started, ended) = (hidden("started"), hidden("ended"));
        let (given, result) = (hidden("argument"), hidden("result"));
        let argument = shareable.then_some(value);
        self.world.instances.push(CInstance { function, argument, token, started, ended, given, result });
        self.store_handle(handle, count as i128, token)?;
        self.becomes_shared();
        self.step_raw(CStep::Start(count - 1, runtime));
        Ok(())
    }

    /// Keeps the number of a thread where the program wants it.
    fn store_handle(&mut self, handle: &CExpr, value: i128, token: u32) -> CLowered<()> {
        let pointer = self.value(handle)?;
        if pointer.as_constant() == Some(0) {
            return Ok(());
        }
        let place = self.plain_cell(pointer, token)?;
        self.store(&place, &number(value), COrder::Plain)
    }

    /// Waits until a thread has ended.
    fn await_end(&mut self, handle: &CExpr, result: &CExpr, token: u32) -> CLowered<()> {
        if self.section > 0 {
            return Err(self.error(token, "threads cannot be awaited in an atomic section here"));
        }
        let over = self.number_of(handle, token)?;
        let target = self.value(result)?;
        let wanted = target.as_constant() != Some(0);
        let known = constant(&over);
        let over = self.kept(over)?;
        let (from, end) = (self.at, self.place());
        let mut others = Vec::new();
        for instance in 0..self.world.instances.len() {
            if known.is_some_and(|known| known != instance as i128 + 1) {
                continue;
            }
            let cond = Cond::compare(Relation::Eq, over.clone(), number(instance as i128 + 1));
            others.push(cond.clone().negate());
            self.way_unless_clear(from, cond);
            self.step_raw(CStep::Join(instance));
            if wanted {
                let register = self.temporary()?;
                let variable = self.world.instances[instance].result;
                self.step(Op::Load(register, variable));
                self.store_result(target.clone(), register, token)?;
            }
            self.join(end);
        }
        if known.is_none() || others.is_empty() {
            // No such thread: the call fails at once.
            self.graph.arrow(from, CStep::Op(Op::Assume(Cond::and(others))), end, self.span);
        }
        self.at = end;
        Ok(())
    }

    fn store_result(&mut self, target: Typed, register: RegId, token: u32) -> CLowered<()> {
        let place = self.pointee(target, token)?;
        if place.ty.is_scalar() {
            return self.store(&place, &Over::Leaf(register), COrder::Plain);
        }
        // Many pass a `void *` to some number, which takes as much of the result as fits.
        let ty = match &place.spot {
            CSpot::Inside(inside) => {
                let types = &self.world.objects[inside.object].types;
                inside.only().and_then(|at| types.get(at)).map_or_else(|| Type::void().pointer(), Type::plain)
            }
            CSpot::At(_) => Type::void().pointer(),
        };
        let value = Typed::number(Over::Leaf(register), Type::integer(64, true));
        let value = self.convert(value, &ty, token)?;
        let value = self.as_number(&value.value, token)?;
        self.store(&CPlace { ty, ..place }, &value, COrder::Plain)
    }

    /// Ends this thread from wherever we are.
    fn exit_thread(&mut self, value: &CExpr, token: u32) -> CLowered<()> {
        let value = self.value(value)?;
        if self.thread > 0 {
            let over = self.as_number(&value.value, token)?;
            let place = self.thread_result(token);
            self.store(&place, &over, COrder::Plain)?;
        }
        self.leave_to(0);
        Ok(())
    }

    fn thread_result(&self, token: u32) -> CPlace {
        let key = further(further(self.thread as u64, "thread"), "result");
        let object = self.world.by_key.get(&(key, 0, 0)).copied().unwrap_or(0);
        CPlace::whole(object, Type::integer(64, true), token)
    }
}
