//! `fence --relax`: which of the program's own fences are needed?
//!
//! Fences that the text can do without are taken out, and the cheapest part of them that suffices comes
//! back. The text without the others is read again, and handed out if it means what was proved.

use super::text::read_back;
use super::{ELSEWHERE, Fencing};
use crate::input::Loaded;
use crate::limits::Watch;
use crate::report::{Fenced, WithoutFences};
use crate::session::Told;
use engine::{FenceAnswer, FencePoint, RelaxedProgram, keep_fences};
use evidence::Task;
use program::{Op, Program, Span, Strength, same_but_skips};
use std::collections::BTreeSet;

/// Why nothing is written where a release orders nothing.
const RELEASES: &str =
    "with --pso-release plain a release store orders nothing, so a seq_cst store cannot become one";

impl Fencing<'_> {
    /// Asks, reports and writes.
    pub fn relax(
        &self,
        told: &mut Told,
        loaded: &Loaded,
        task: &Task<'_>,
        watch: &Watch<'_>,
    ) -> Result<Option<String>, String> {
        let (args, engine, run) = (self.args, self.args.exploring.engine(), self.args.exploring.run(watch));
        let (places, fixed) = removable(loaded, task.program)?;
        let relaxed = RelaxedProgram::of(task.program, &places, task.model, &args.cost);
        let stripped = Task { program: &relaxed.program, ..*task };
        let found = keep_fences(&stripped, relaxed.fences.clone(), engine, &self.options(), &run);
        let found = found.map_err(|bug| bug.to_string())?;
        let files = self.record(loaded, &stripped, &found.answer, run);
        let (mut text, mut gone) = (None, Vec::new());
        if let FenceAnswer::Placed(placed) = &found.answer {
            let kept: BTreeSet<(Span, Strength)> =
                placed.fences.iter().map(|fence| (fence.point.span, fence.point.strength)).collect();
            gone = relaxed.fences.clone();
            gone.retain(|point| !kept.contains(&(point.span, point.strength)));
            let wanted = args.out.is_some() || self.session.has_page();
            let written = || match loaded.options.c.plain_release && task.model.reorders_stores() {
                true => Err(RELEASES.to_string()),
                false => without(loaded, task.program, &gone),
            };
            text = wanted.then(|| written().map_err(|why| format!("{why}; {ELSEWHERE}")));
        }
        let before = relaxed.fences.iter().map(|point| point.cost).sum();
        let fenced = Fenced {
            seconds: watch.elapsed().as_secs_f64(),
            peak: watch.peak(),
            evidence: &files,
            text: text.as_ref(),
            relaxed: Some(WithoutFences { gone: &gone, before, fixed: &fixed }),
            ..Fenced::about(loaded, stripped, &found)
        };
        self.say(told, &fenced);
        Ok(self.wanted(text))
    }
}

/// The places of fences that the text can do without, and of those that are not edited, with the reason.
type OwnFences = (BTreeSet<Span>, Vec<(Span, String)>);

fn removable(loaded: &Loaded, program: &Program) -> Result<OwnFences, String> {
    let Some(remove) = loaded.frontend.remove else {
        return Err(format!("fences cannot be taken out of a text in `{}`", loaded.frontend.name));
    };
    let text = loaded.program.source.main();
    let (mut removable, mut fixed) = (BTreeSet::new(), Vec::new());
    for place in program.written_fences() {
        match remove(text, &[place]) {
            Ok(_) => drop(removable.insert(place)),
            Err(why) => fixed.push((place, why.message)),
        }
    }
    Ok((removable, fixed))
}

/// The text without these fences, or why there is none.
fn without(loaded: &Loaded, program: &Program, gone: &[FencePoint]) -> Result<String, String> {
    let places: Vec<Span> = gone.iter().map(|point| point.span).collect();
    let remove = loaded.frontend.remove.ok_or("fences cannot be taken out")?;
    let text = remove(loaded.program.source.main(), &places);
    let text = text.map_err(|error| format!("{}: {}", loaded.name, error.message))?;
    let is_gone = |op: &Op, span: Span| {
        gone.iter().any(|point| {
            matches!((op, point.strength), (Op::Fence(a), Strength::Fence(b)) if *a == b)
                && point.span == span
        })
    };
    let wanted = program.without_steps(&is_gone);
    read_back(loaded, text, |program| same_but_skips(program, &wanted)).ok_or_else(|| {
        format!("{}: these fences cannot be taken out so that the text means just that", loaded.name)
    })
}
