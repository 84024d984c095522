//! A violating run as remarks at the places it passes.
//!
//! Steps of one thread that follow each other and belong to one statement are one remark. A
//! drain is told where its store stands.

use crate::report::{Effect, Step, describe_all, mentions};
use evidence::{Cause, Checked};
use machine::Trace;
use program::{Program, Span, VarId};

/// Longer runs are cut.
const LONGEST: usize = 100;

/// A remark at a place.
pub struct Remark {
    /// Where.
    pub span: Span,
    /// What happens.
    pub text: String,
}

/// The run of a violation, remark by remark.
pub fn story(program: &Program, trace: &Trace, checked: &Checked, cause: Option<&Cause>) -> Vec<Remark> {
    let steps = describe_all(program, &trace.steps, checked.run());
    let mut teller =
        Teller { program, pending: vec![Vec::new(); program.threads.len()], remarks: Vec::new() };
    let mut last: Option<&Step> = None;
    for (at, step) in steps.iter().enumerate() {
        let forbidden = cause.is_some_and(|cause| cause.step == at);
        let goes_on = last
            .is_some_and(|last| last.thread == step.thread && last.span == step.span && !step.span.is_none());
        teller.tell(step, goes_on, forbidden);
        last = Some(step);
    }
    let mut remarks = teller.remarks;
    for (at, remark) in remarks.iter_mut().enumerate() {
        remark.text.insert_str(0, &format!("{}. ", at + 1));
    }
    if remarks.len() > LONGEST {
        let more = remarks.len() - LONGEST;
        remarks.truncate(LONGEST);
        remarks.push(Remark { span: Span::NONE, text: format!("… and {more} more steps") });
    }
    remarks
}

struct Teller<'a> {
    program: &'a Program,
    /// Each thread's stores on their way to memory, with their statements.
    pending: Vec<Vec<(VarId, Span)>>,
    remarks: Vec<Remark>,
}

impl Teller<'_> {
    fn tell(&mut self, step: &Step, goes_on: bool, forbidden: bool) {
        let thread = &self.program.thread(step.thread).name;
        let mark = if forbidden { " ◀ not under SC" } else { "" };
        if let Some(Effect::Drain(variable, value)) = step.effects.first() {
            let name = &self.program.variable(*variable).name;
            let pending = &mut self.pending[step.thread.index()];
            let store = pending.iter().position(|(pending, _)| pending == variable);
            let span = store.map_or(Span::NONE, |at| pending.remove(at).1);
            let text = format!("{thread}: {name} = {value} reaches memory{mark}");
            self.remarks.push(Remark { span, text });
            return;
        }
        let mut effects: Vec<String> = Vec::new();
        for effect in &step.effects {
            if let Effect::Store(variable, _, true) = effect {
                self.pending[step.thread.index()].push((*variable, step.span));
            }
            effects.extend(self.effect(step, effect));
        }
        let effects = effects.join(", ");
        match self.remarks.last_mut() {
            Some(remark) if goes_on => {
                if !effects.is_empty() {
                    remark.text += &format!("; {effects}");
                }
                remark.text += mark;
            }
            _ => {
                let colon = if effects.is_empty() { "" } else { ": " };
                let text = format!("{thread}: {}{colon}{effects}{mark}", step.text);
                self.remarks.push(Remark { span: step.span, text });
            }
        }
    }

    fn effect(&self, step: &Step, effect: &Effect) -> Option<String> {
        let name = |variable: &VarId| &self.program.variable(*variable).name;
        match effect {
            Effect::Load(variable, value, own) => {
                let from = if *own { " from its own buffer" } else { "" };
                Some(format!("reads {} = {value}{from}", name(variable)))
            }
            Effect::Store(variable, value, true) => {
                Some(format!("{} = {value} goes to its buffer", name(variable)))
            }
            Effect::Store(variable, value, false) => Some(format!("{} = {value} in memory", name(variable))),
            Effect::Choose(_, value) => Some(format!("chooses {value}")),
            Effect::Assign(register, value) => {
                let register = &self.program.thread(step.thread).registers[register.index()];
                // Registers of the front end's own making mean nothing to the reader.
                mentions(&step.text, register).then(|| format!("{register} = {value}"))
            }
            Effect::Drain(..) => None,
        }
    }
}
