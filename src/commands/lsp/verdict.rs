//! Verifying in the background, and the verdict as a diagnostic.
//!
//! A violation stands at the violated property or assertion, with the run as related
//! information. A proof is shown as information at the first claim, and what it knows of every
//! place is kept for hovering.

use super::document::DocumentVersion;
use super::lines::LspRange;
use super::settings::Settings;
use super::story::story;
use crate::input::Loaded;
use crate::numbers::counted;
use engine::{ENGINES, Engine, Explicit, Finding, GapProofs, Run, ask, decide};
use evidence::{Certificate, KnownFacts, Monitor, MostStates, Reason, Task, Verdict, Violated, known_within};
use machine::{Model, SC};
use program::{Program, Question, Span};
use serde_json::{Value, json};

/// So many states are listed only to tell what holds at places.
const LISTED_STATES: usize = 200_000;

/// What verifying a text found.
#[derive(Default)]
pub struct TextVerdict {
    /// The verdict.
    pub diagnostics: Vec<Value>,
    /// Where fences may help.
    pub mendable: Option<LspRange>,
    /// What the proof knows, if there is one, and under which model.
    pub known: Option<(KnownFacts, Model)>,
}

/// Who asks, and how.
pub struct Asking<'a> {
    /// The text.
    pub reading: &'a DocumentVersion,
    /// How far to go.
    pub settings: &'a Settings,
    /// Who watches.
    pub monitor: &'a dyn Monitor,
    /// Whether the client shows related information.
    pub related: bool,
}

impl Asking<'_> {
    /// Verifies the text. `None` if it is no program.
    pub fn outcome(&self) -> Option<TextVerdict> {
        let loaded = self.reading.loaded.as_ref()?;
        let outcome = match &loaded.program.question {
            Some(question) => self.litmus(loaded, question),
            None => self.safety(&loaded.program),
        };
        Some(outcome.unwrap_or_else(|bug| self.says(first_claim(&loaded.program), 1, "error", bug)))
    }

    fn run(&self) -> Run<'_> {
        Run { monitor: self.monitor, ..Run::default() }
    }

    fn ask(&self, task: &Task<'_>) -> Result<Finding, String> {
        ask(task, ENGINES[0], &self.run()).map_err(|bug| bug.to_string())
    }

    fn model(&self) -> &'static str {
        self.settings.model.name()
    }

    /// An outcome that is one diagnostic.
    fn says(&self, span: Span, severity: u8, code: &str, message: String) -> TextVerdict {
        let range = self.reading.place(span);
        let diagnostic = json!({
            "range": range, "severity": severity, "code": code, "source": "fencewright", "message": message,
        });
        TextVerdict { diagnostics: vec![diagnostic], ..TextVerdict::default() }
    }

    fn safety(&self, program: &Program) -> Result<TextVerdict, String> {
        let task = Task::safe(program, self.settings.model);
        let found = self.ask(&task)?;
        match found.checked.verdict() {
            Verdict::Safe(certificate) => {
                let known = self.known(&task, certificate);
                let states = counted(found.statistics.states, "state");
                let message = format!("safe ({}), proved by {} with {states}", self.model(), found.engine);
                let outcome = self.says(first_claim(program), 3, "safe", message);
                Ok(TextVerdict { known, ..outcome })
            }
            Verdict::Unsafe(trace) => {
                let head = format!("unsafe ({}): {}", self.model(), trace.violation.text(program));
                let violated = found.checked.violated().ok_or("a violation without a run")?;
                Ok(self.violation(program, violated, found.why.sc_violation, head))
            }
            _ => Ok(self.unknown(first_claim(program), program, found.checked.reasons())),
        }
    }

    /// What a proof knows of every place, if there is time to find out. A proof by robustness
    /// knows nothing of places; then engines that list states are asked for a while.
    fn known(&self, task: &Task<'_>, certificate: &Certificate) -> Option<(KnownFacts, Model)> {
        let told = |certificate: &Certificate| {
            let known = known_within(task, certificate, self.monitor).ok()?;
            (!known.is_empty()).then_some((known, task.model))
        };
        let listing: [&dyn Engine; 2] = [&Explicit, &GapProofs];
        told(certificate).or_else(|| listing.iter().find_map(|engine| self.listed(task, *engine, &told)))
    }

    fn listed<T>(
        &self,
        task: &Task<'_>,
        engine: &dyn Engine,
        told: &dyn Fn(&Certificate) -> Option<T>,
    ) -> Option<T> {
        let limit = MostStates(LISTED_STATES);
        let monitor: (&dyn Monitor, &dyn Monitor) = (self.monitor, &limit);
        let found = decide(task, engine, &Run { monitor: &monitor, ..self.run() }).ok()?;
        match found.checked.verdict() {
            Verdict::Safe(certificate) => told(certificate),
            _ => None,
        }
    }

    fn unknown(&self, span: Span, program: &Program, reasons: &[Reason]) -> TextVerdict {
        let texts: Vec<String> = reasons.iter().map(|reason| reason.text(program)).collect();
        self.says(span, 3, "unknown", format!("unknown ({}): {}", self.model(), texts.join("; ")))
    }

    fn violation(
        &self,
        program: &Program,
        violated: Violated<'_>,
        under_sc: Option<bool>,
        head: String,
    ) -> TextVerdict {
        let Violated { trace, account, cause } = violated;
        let mut message = head;
        if let Some(end) = account.passed().last()
            && let Some(index) = trace.violation.index(program, |t, r| end.register(t, r))
        {
            message += &format!(", index {index}");
        }
        match (cause, under_sc) {
            (_, Some(true)) if self.model() != SC.name() => {
                message += "\nThis happens under SC as well: no fence helps.";
            }
            (Some(cause), _) => message += &format!("\n{}.", cause.text(program)),
            _ => {}
        }
        let span = trace.violation.span(program);
        let remarks = story(program, account, cause);
        if !self.related {
            remarks.iter().for_each(|remark| message += &format!("\n{}", remark.text));
        }
        let mut outcome = self.says(span, 1, "unsafe", message);
        if self.related {
            let place = |remark: &super::story::Remark| {
                let span = if remark.span.is_none() { span } else { remark.span };
                self.reading.related(self.reading.place(span), &remark.text)
            };
            outcome.diagnostics[0]["relatedInformation"] = remarks.iter().map(place).collect();
        }
        let text = &self.reading.text;
        let range = if span.is_none() { text.whole() } else { self.reading.place(span) };
        outcome.mendable = (under_sc != Some(true)).then_some(range);
        outcome
    }

    /// A litmus test: how often its condition is true; where its outcome can be observed, a run
    /// that shows it.
    fn litmus(&self, loaded: &Loaded, question: &Question) -> Result<TextVerdict, String> {
        let model = self.settings.model;
        let asked = self.ask(&Task::asked(&loaded.program, model))?;
        let Some(found) = asked.checked.outcomes() else {
            return Ok(self.unknown(question.span, &loaded.program, asked.checked.reasons()));
        };
        let (positive, all) = (found.positive(), found.finals().len());
        let seen = format!("true in {positive} of {}", counted(all, "final state"));
        let (holds, severity) = match found.holds() {
            None => return Ok(self.unknown(question.span, &loaded.program, found.missing())),
            Some(true) => ("holds", 3),
            Some(false) => ("does not hold", 1),
        };
        let head = format!("the condition {holds} ({}), {seen}", self.model());
        let program = loaded.program.clone().with_question_as_property();
        let task = Task::safe(&program, model);
        let shown = self.ask(&task)?;
        let violated = match shown.checked.verdict() {
            Verdict::Safe(certificate) => {
                let known = self.known(&task, certificate);
                let outcome = self.says(question.span, severity, "litmus", head);
                return Ok(TextVerdict { known, ..outcome });
            }
            _ => shown.checked.violated(),
        };
        let Some(violated) = violated else {
            return Ok(self.says(question.span, severity, "litmus", head));
        };
        let mut outcome = self.violation(&program, violated, shown.why.sc_violation, head);
        if severity != 1 {
            outcome.diagnostics[0]["severity"] = severity.into();
            outcome.diagnostics[0]["code"] = "observed".into();
        }
        Ok(outcome)
    }
}

/// Where a verdict about everything stands: at the first property, else the first assertion,
/// else at the top.
fn first_claim(program: &Program) -> Span {
    let properties = program.properties.iter().map(|property| property.span);
    let question = program.question.iter().map(|question| question.span);
    let failures = program.threads.iter().flat_map(|thread| {
        thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref()).map(|failure| failure.span)
    });
    let first = |spans: &mut dyn Iterator<Item = Span>| spans.filter(|span| !span.is_none()).min();
    first(&mut properties.chain(question)).or(first(&mut failures.into_iter())).unwrap_or(Span::NONE)
}
