//! What the cells of a declaration start with: a value for all, or a list that has the declaration's form.
//!
//! A list may hold `for i in lo..hi: …`, which stands for one entry per number, so that it follows the
//! constants that lengths depend on.

use super::LoweringState;
use super::layout::CellLayout;
use crate::Diagnostic;
use crate::fw::ast::{FwDeclaration, Initial, Rvalue};
use crate::fw::constants::{ConstantLookup, evaluate};
use crate::fw::sink::{OrReported, Reported};
use program::{Int, Span};

/// The counters around an entry, outermost first.
type Counters<'a> = Vec<(&'a str, Int)>;

/// What one cell starts with.
#[derive(Clone)]
pub(super) struct CellStart<'a> {
    pub source: &'a Rvalue<'a>,
    pub counters: Counters<'a>,
}

/// The value of a counter, if it is one of these.
pub(super) fn counter(counters: &Counters<'_>, name: &str) -> Option<ConstantLookup> {
    let found = counters.iter().rev().find(|(counter, _)| *counter == name);
    found.map(|(_, value)| ConstantLookup::Constant(value.clone()))
}

/// What each number of a declaration starts with; nothing where nothing is said.
pub(super) fn spread<'a>(
    declared: &'a FwDeclaration<'a>,
    layout: &CellLayout<'a>,
    known: &dyn Fn(&str) -> ConstantLookup,
    work: &mut LoweringState<'a>,
) -> OrReported<Vec<Option<CellStart<'a>>>> {
    let mut spreading = Spreading { name: declared.name.text, known, work, starts: Vec::new() };
    spreading.place(layout, &declared.initial, &Vec::new(), declared.span)?;
    Ok(spreading.starts)
}

struct Spreading<'a, 'w> {
    name: &'a str,
    known: &'w dyn Fn(&str) -> ConstantLookup,
    work: &'w mut LoweringState<'a>,
    starts: Vec<Option<CellStart<'a>>>,
}

impl<'a> Spreading<'a, '_> {
    fn place(
        &mut self,
        layout: &CellLayout<'a>,
        initial: &'a Initial<'a>,
        counters: &Counters<'a>,
        span: Span,
    ) -> OrReported<()> {
        match initial {
            Initial::Zero => self.starts.extend(std::iter::repeat_n(None, layout.size())),
            Initial::Same(source) => {
                if has_records(layout) {
                    let message = format!("`{}` is a struct and cannot start with one value", self.name);
                    return Err(self.error(span, message, "give one value per field, in braces"));
                }
                let start = CellStart { source, counters: counters.clone() };
                self.starts.extend(std::iter::repeat_n(Some(start), layout.size()));
            }
            Initial::List(list, span) => return self.list(layout, list, counters, *span),
            Initial::For(_) => {
                return Err(self.error(
                    span,
                    "`for` stands inside braces here",
                    "write `{for i in 0..N: i}`",
                ));
            }
        }
        Ok(())
    }

    fn list(
        &mut self,
        layout: &CellLayout<'a>,
        list: &'a [Initial<'a>],
        counters: &Counters<'a>,
        span: Span,
    ) -> OrReported<()> {
        let entries = self.entries(list, counters)?;
        let found = entries.len();
        let parts: Vec<CellLayout<'a>> = match layout {
            CellLayout::Number => {
                let message = format!("`{}` is not an array and starts with one value", self.name);
                return Err(self.error(span, message, "leave out the braces"));
            }
            CellLayout::Array(length, inner) => vec![(**inner).clone(); *length],
            CellLayout::Record(record) => record.fields.iter().map(|field| field.layout.clone()).collect(),
        };
        if found != parts.len() {
            let (what, parts) = match layout {
                CellLayout::Record(_) => ("struct", format!("{} fields", parts.len())),
                _ => ("array", format!("{} cells", parts.len())),
            };
            let message = format!("the {what} has {parts}, but {found} values are given");
            let hint = match layout {
                CellLayout::Record(_) => "give one value per field",
                _ => "give one value per cell, one value without braces for all, or `{for i in 0..N: …}`",
            };
            return Err(self.error(span, message, hint));
        }
        for ((initial, counters), part) in entries.into_iter().zip(parts) {
            self.place(&part, initial, &counters, span)?;
        }
        Ok(())
    }

    /// The entries of a list, with those that `for` stands for.
    fn entries(
        &mut self,
        list: &'a [Initial<'a>],
        counters: &Counters<'a>,
    ) -> OrReported<Vec<(&'a Initial<'a>, Counters<'a>)>> {
        let mut entries = Vec::new();
        for initial in list {
            let Initial::For(repeated) = initial else {
                entries.push((initial, counters.clone()));
                continue;
            };
            let (range, inner) = &**repeated;
            let known = |name: &str| counter(counters, name).unwrap_or_else(|| (self.known)(name));
            let mut bound = |expr| evaluate(expr, &known).map_err(|fault| self.work.report(fault));
            let (mut value, high) = (bound(&range.low)?, bound(&range.high)?);
            while value < high {
                self.work.spend(1, range.name.span)?;
                let mut inside = counters.clone();
                inside.push((range.name.text, value.clone()));
                entries.push((inner, inside));
                value += 1;
            }
        }
        Ok(entries)
    }

    fn error(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Reported {
        self.work.sink.error(Diagnostic::error(span, message).hint(hint))
    }
}

fn has_records(layout: &CellLayout<'_>) -> bool {
    match layout {
        CellLayout::Number => false,
        CellLayout::Array(_, inner) => has_records(inner),
        CellLayout::Record(_) => true,
    }
}
