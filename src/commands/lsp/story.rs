//! A violating run as remarks at the places it passes.
//!
//! Steps of one thread that follow each other and belong to one statement are one remark. A
//! drain is told where its store stands.

use crate::report::{ShownStep, describe_all, mentions};
use evidence::Cause;
use machine::{Account, Action};
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
pub fn story(program: &Program, account: &Account, cause: Option<&Cause>) -> Vec<Remark> {
    let steps = describe_all(program, account);
    let mut teller = StoryTeller { program, remarks: Vec::new() };
    let mut last: Option<&ShownStep<'_>> = None;
    for (at, step) in steps.iter().enumerate() {
        let forbidden = cause.is_some_and(|cause| cause.step == at);
        let goes_on = last.is_some_and(|last| step.continues(last));
        let store = step.drained.map(|store| steps[store].span);
        teller.tell(step, store, goes_on, forbidden);
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

struct StoryTeller<'a> {
    program: &'a Program,
    remarks: Vec<Remark>,
}

impl StoryTeller<'_> {
    fn tell(&mut self, step: &ShownStep<'_>, store: Option<Span>, goes_on: bool, forbidden: bool) {
        let thread = &self.program.thread(step.thread).name;
        let mark = if forbidden { " ◀ not under SC" } else { "" };
        if let Some(Action::Drain(variable, value, _)) = step.actions.first() {
            let name = &self.program.variable(*variable).name;
            let span = store.unwrap_or(Span::NONE);
            let text = format!("{thread}: {name} = {value} reaches memory{mark}");
            self.remarks.push(Remark { span, text });
            return;
        }
        let effects = step.actions.iter().filter_map(|effect| self.effect(step, effect));
        let effects = effects.collect::<Vec<String>>().join(", ");
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

    fn effect(&self, step: &ShownStep<'_>, effect: &Action) -> Option<String> {
        let name = |variable: &VarId| &self.program.variable(*variable).name;
        match effect {
            Action::Load(variable, value, from) => {
                let from = if from.is_own_buffer() { " from its own buffer" } else { "" };
                Some(format!("reads {} = {value}{from}", name(variable)))
            }
            Action::Store(variable, value, true) => {
                Some(format!("{} = {value} goes to its buffer", name(variable)))
            }
            Action::Store(variable, value, false) => Some(format!("{} = {value} in memory", name(variable))),
            Action::Choose(_, value) => Some(format!("chooses {value}")),
            Action::Assign(register, value) => {
                let register = &self.program.thread(step.thread).registers[register.index()];
                // Registers of the front end's own making mean nothing to the reader.
                mentions(&step.text, register).then(|| format!("{register} = {value}"))
            }
            Action::Drain(..) => None,
        }
    }
}
