//! Function calls, inlined.
//!
//! Arguments are values. One that is a constant or a register is used as it is if the function
//! does not assign to the parameter: no register of the caller changes during a call, except
//! the one that takes the result, and that is written last. Other arguments get a register
//! named like the parameter.

use super::globals::{Global, Inlined};
use super::thread::{Frame, Local, Lowering, Scope, Target};
use crate::Diagnostic;
use crate::fw::ast::{Expr, Name};
use crate::fw::sink::{Checked, Reported};
use crate::fw::suggest::did_you_mean;
use program::{Expr as Value, Op, RegId};

/// What a parameter stands for, and the register to give back after the call.
type Parameter = (Local, Option<(u32, RegId)>);

impl<'a> Lowering<'a, '_> {
    /// Inlines a call; the value goes into `result`, if it is wanted.
    pub fn call(&mut self, name: Name<'a>, arguments: &'a [Expr<'a>], result: Option<RegId>) -> Checked<()> {
        let globals = self.globals;
        let inlined = match globals.names.get(name.text) {
            Some((Global::Function(inlined), _)) => inlined,
            Some((Global::Broken, _)) => return Err(Reported),
            _ => return Err(self.no_function(name)),
        };
        self.work.mentioned.insert(name.text);
        self.check_call(name, inlined, arguments.len(), result.is_some())?;
        self.inline(name, inlined, arguments, result)
    }

    fn no_function(&mut self, name: Name<'a>) -> Reported {
        let functions =
            self.globals.names.iter().filter(|(_, (what, _))| matches!(what, Global::Function(_)));
        let mut functions: Vec<&str> = functions.map(|(name, _)| *name).collect();
        functions.sort_unstable();
        let hint = did_you_mean(name.text, functions);
        let hint = hint.unwrap_or_else(|| format!("declare it with `fn {}(…) {{ … }}`", name.text));
        let error = Diagnostic::error(name.span, format!("there is no function `{}`", name.text));
        self.work.sink.missing(error.hint(hint))
    }

    fn check_call(
        &mut self,
        name: Name<'a>,
        inlined: &Inlined<'a>,
        given: usize,
        value_wanted: bool,
    ) -> Checked<()> {
        let function = inlined.function;
        let error =
            |message| Diagnostic::error(name.span, message).related(function.name.span, "declared here");
        let wanted = function.parameters.len();
        if given != wanted {
            let message = format!("`{}` takes {wanted} arguments, but {given} are given", name.text);
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
        name: Name<'a>,
        inlined: &Inlined<'a>,
        arguments: &'a [Expr<'a>],
        result: Option<RegId>,
    ) -> Checked<()> {
        let function = inlined.function;
        let parameters = self.parameters(inlined, arguments)?;
        let exit = Target { loc: self.location(), section: self.section };
        let scopes = std::mem::replace(&mut self.scopes, vec![Scope::default()]);
        let frame = Frame { exit: Some((exit, result)), ..Frame::default() };
        let frame = std::mem::replace(&mut self.frame, frame);
        let (span, unchecked) = (self.span, std::mem::take(&mut self.unchecked));
        self.calls.push(name);
        for (parameter, (local, held)) in function.parameters.iter().zip(parameters) {
            self.declare(*parameter, local);
            held.into_iter().for_each(|held| self.hold(held));
        }
        self.check_labels(&function.body);
        let done = self.nested(|l| {
            l.body(&function.body);
            Ok(())
        });
        if let Some(result) = result {
            self.span = function.body.close;
            self.step(Op::Assign(result, Value::from(0)));
        }
        self.join(exit.loc);
        self.leave_scope();
        self.calls.pop();
        (self.scopes, self.frame, self.span, self.unchecked) = (scopes, frame, span, unchecked);
        done
    }

    /// Evaluates the arguments, left to right.
    fn parameters(&mut self, inlined: &Inlined<'a>, arguments: &'a [Expr<'a>]) -> Checked<Vec<Parameter>> {
        let mut locals = Vec::new();
        for ((name, assigned), argument) in
            inlined.function.parameters.iter().zip(&inlined.assigned).zip(arguments)
        {
            if !assigned && self.is_pure(argument, true)? {
                match self.value(argument)? {
                    Value::Const(value) => {
                        locals.push((Local::Constant(value), None));
                        continue;
                    }
                    Value::Leaf(register) => {
                        locals.push((Local::Register(register), None));
                        continue;
                    }
                    Value::Binary(..) => {}
                }
            }
            let (register, _) = self.acquire_unscoped(*name, true)?;
            let done = self.value_into(argument, register);
            locals.push((Local::Register(register), Some((name.span.start, register))));
            done?;
        }
        Ok(locals)
    }
}
