//! Function calls, inlined.
//!
//! Arguments are values (but see [`super::references`]). One that is a constant or a register is used as it is if the function
//! does not assign to the parameter: no register of the caller changes during a call, except
//! the one that takes the result, and that is written last, and registers that it lends. Other
//! arguments get a register named like the parameter.

use super::globals::{Global, Inlined};
use super::thread::{FwLowering, JumpScope, JumpTarget, LocalName, Scope};
use crate::Diagnostic;
use crate::fw::ast::{ExprKind, Function, FwExpr, Ident, Rvalue, Stmt, StmtKind};
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use program::{CallSite, Expr, Op, RegId, Span};
use std::sync::Arc;

/// What is set aside while a function is inlined.
struct Caller<'a> {
    scopes: Vec<Scope<'a>>,
    frame: JumpScope<'a>,
    span: Span,
    unchecked: bool,
}

/// What a parameter stands for, and the registers to give back after the call.
type Parameter<'a> = (LocalName<'a>, Vec<(u32, RegId)>);

impl<'a> FwLowering<'a, '_> {
    /// Inlines a call; the value goes into `result`, if it is wanted.
    pub fn call(
        &mut self,
        name: Ident<'a>,
        arguments: &'a [FwExpr<'a>],
        result: Option<RegId>,
        statement: bool,
    ) -> OrReported<()> {
        let globals = self.globals;
        let inlined = match globals.names.get(name.text) {
            Some((Global::Function(inlined), _)) => inlined,
            Some((Global::Broken, _)) => return Err(Reported),
            _ => return Err(self.no_function(name)),
        };
        self.work.mentioned.insert(name.text);
        self.check_call(name, inlined, arguments.len(), result.is_some())?;
        let parameters = self.parameters(inlined, arguments, statement)?;
        self.inline(name, inlined, &parameters, result)
    }

    fn no_function(&mut self, name: Ident<'a>) -> Reported {
        if !self.work.sink.wants_missing() {
            return Reported;
        }
        let functions =
            self.globals.names.iter().filter(|(_, (what, _))| matches!(what, Global::Function(_)));
        let hint = did_you_mean(name.text, functions.map(|(name, _)| *name));
        let hint = hint.unwrap_or_else(|| format!("declare it with `fn {}(…) {{ … }}`", name.text));
        let error = Diagnostic::error(name.span, format!("there is no function `{}`", name.text));
        self.work.sink.missing(error.hint(hint))
    }

    fn check_call(
        &mut self,
        name: Ident<'a>,
        inlined: &Inlined<'a>,
        given: usize,
        value_wanted: bool,
    ) -> OrReported<()> {
        let function = inlined.function;
        let error =
            |message| Diagnostic::error(name.span, message).related(function.name.span, "declared here");
        let wanted = function.parameters.len();
        if given != wanted {
            let plural = if wanted == 1 { "" } else { "s" };
            let message = format!("`{}` takes {wanted} argument{plural}, not {given}", name.text);
            return Err(self.error(error(message).hint("give one argument a parameter")));
        }
        if self.calls.iter().any(|call| call.text == name.text) {
            let chain = self.calls.iter().map(|call| call.text).chain([name.text]);
            let chain = chain.skip_while(|call| *call != name.text).collect::<Vec<_>>().join(" calls ");
            let message = format!("`{}` calls itself: {chain}", name.text);
            let hint = "functions are inlined, so they cannot be recursive; use a loop";
            return Err(self.error(error(message).hint(hint)));
        }
        if value_wanted && !inlined.gives_value {
            let message = format!("`{}` returns no value", name.text);
            return Err(self.error(error(message).hint("end it with `return e;`")));
        }
        Ok(())
    }

    fn inline(
        &mut self,
        name: Ident<'a>,
        inlined: &Inlined<'a>,
        parameters: &[Parameter<'a>],
        result: Option<RegId>,
    ) -> OrReported<()> {
        let function = inlined.function;
        let exit = JumpTarget { loc: self.location(), section: self.section };
        let frame = JumpScope { exit: Some((exit, result)), ..JumpScope::default() };
        let caller = self.enter_function(name, function, parameters, frame);
        let outer = self.builder.call.clone();
        self.builder.call = Some(Arc::new(CallSite { span: caller.span, caller: outer.clone() }));
        for (_, register) in parameters {
            register.iter().for_each(|register| self.hold(*register));
        }
        let done = self.nested(|l| {
            l.body(&function.body);
            Ok(())
        });
        if let Some(result) = result {
            self.span = function.body.close;
            self.step(Op::Assign(result, Expr::from(0)));
        }
        self.join(exit.loc);
        self.builder.call = outer;
        self.leave_function(caller);
        done
    }

    /// What a function that is only `return e;` does, as if its `e` stood in place of the call:
    /// no register takes the result, a condition branches directly, a constant stays one.
    /// `None` for other functions.
    pub fn as_expression<T>(
        &mut self,
        name: Ident<'a>,
        arguments: &'a [FwExpr<'a>],
        inner: impl FnOnce(&mut Self, &'a FwExpr<'a>) -> OrReported<T>,
    ) -> OrReported<Option<T>> {
        let globals = self.globals;
        let Some((Global::Function(inlined), _)) = globals.names.get(name.text) else { return Ok(None) };
        let [Stmt { kind: StmtKind::Return(Some(Rvalue::Value(value))), span }] =
            inlined.function.body.statements.as_slice()
        else {
            return Ok(None);
        };
        self.work.mentioned.insert(name.text);
        self.check_call(name, inlined, arguments.len(), true)?;
        let parameters = self.parameters(inlined, arguments, false)?;
        let caller = self.enter_function(name, inlined.function, &parameters, JumpScope::default());
        // The value may mention parameters, so they live as long as the caller's statement.
        self.pending.extend(parameters.into_iter().flat_map(|(_, registers)| registers));
        self.span = *span;
        let result = self.nested(|l| inner(l, value));
        self.leave_function(caller);
        result.map(Some)
    }

    fn enter_function(
        &mut self,
        name: Ident<'a>,
        function: &'a Function<'a>,
        parameters: &[Parameter<'a>],
        frame: JumpScope<'a>,
    ) -> Caller<'a> {
        let caller = Caller {
            scopes: std::mem::replace(&mut self.scopes, vec![Scope::default()]),
            frame: std::mem::replace(&mut self.frame, frame),
            span: self.span,
            unchecked: std::mem::take(&mut self.unchecked),
        };
        self.calls.push(name);
        for (parameter, (local, _)) in function.parameters.iter().zip(parameters) {
            self.declare(parameter.name, local.clone());
        }
        caller
    }

    fn leave_function(&mut self, caller: Caller<'a>) {
        self.leave_scope();
        self.calls.pop();
        self.scopes = caller.scopes;
        self.frame = caller.frame;
        self.span = caller.span;
        self.unchecked = caller.unchecked;
    }

    /// Evaluates the arguments, left to right.
    fn parameters(
        &mut self,
        inlined: &Inlined<'a>,
        arguments: &'a [FwExpr<'a>],
        statement: bool,
    ) -> OrReported<Vec<Parameter<'a>>> {
        let mut locals = Vec::new();
        let lends = arguments.iter().any(|argument| self.lends_register(argument));
        for ((parameter, assigned), argument) in
            inlined.function.parameters.iter().zip(&inlined.assigned).zip(arguments)
        {
            if parameter.reference {
                locals.push(self.reference(parameter, argument, statement)?);
                continue;
            }
            let name = parameter.name;
            let computed = matches!(argument.kind, ExprKind::Call(..)) || self.is_pure(argument, true)?;
            let value = if computed && !assigned { Some(self.value(argument)?) } else { None };
            match value {
                Some(Expr::Const(value)) => locals.push((LocalName::Constant(value), Vec::new())),
                Some(Expr::Leaf(register)) if !lends => {
                    locals.push((LocalName::Register(register), Vec::new()));
                }
                value => {
                    let (register, _) = self.acquire_unscoped(name, true)?;
                    locals.push((LocalName::Register(register), vec![(name.span.start, register)]));
                    match value {
                        Some(value) => self.step(Op::Assign(register, value)),
                        None => self.value_into(argument, register)?,
                    }
                }
            }
        }
        Ok(locals)
    }
}
