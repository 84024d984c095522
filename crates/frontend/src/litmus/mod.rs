//! Litmus tests for x86, as herd7 reads them: `X86` (destination first) and `X86_64`
//! (destination last).
//!
//! A test is a header, initial values, a table of threads and a question about the final
//! states. The threads become `P0`, `P1`, …, machine registers become program registers under
//! the name a herd7 user expects, locations become variables, and the question becomes the
//! program's [`program::Question`].

mod condition;
mod flags;
mod flow;
mod header;
mod insert;
mod instructions;
mod layout;
pub(crate) mod lexer;
mod lower;
mod operands;
mod question;
pub(crate) mod registers;
mod sizes;

use crate::{Diagnostic, Frontend, Options, Parsed};
use condition::{Observable, Prop, Tail};
use flow::Flow;
use header::Init;
use instructions::{Address, Code, Operand};
use layout::MemoryLayout;
use lower::{LitmusContext, Lowered};
use program::{Domain, Program, Source, Span, Variable};
use registers::{Arch, RegisterFamily};
use sizes::Sizes;
use std::collections::{BTreeSet, HashMap};

/// The registry's entry.
pub(crate) const FRONTEND: Frontend = Frontend {
    name: "litmus",
    extensions: &["litmus"],
    about: "x86 litmus tests, 32 and 64 bits, as herd7 reads them",
    definitions: crate::DefinedNames::Numbers,
    recognises,
    read,
    insert: insert::insert,
    remove: None,
    write: None,
    index: None,
    format: None,
};

/// Whether a text looks like a litmus test for a machine we know.
fn recognises(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let mut word = words.next();
    // A remark may stand in front.
    if word.is_some_and(|word| word.starts_with("(*")) {
        while word.is_some_and(|word| !word.ends_with("*)")) {
            word = words.next();
        }
        word = words.next();
    }
    matches!(word, Some("X86" | "X86_64"))
}

/// A test, before it becomes a program.
struct Test {
    arch: Arch,
    name: String,
    init: Init,
    threads: Vec<Code>,
    tail: Tail,
}

/// Reads a litmus test.
fn read(source: Source, options: &Options) -> Result<Parsed, Vec<Diagnostic>> {
    let test = parse(source.text())?;
    let mut flows = Vec::new();
    let mut errors = check_places(&test);
    for (thread, code) in test.threads.iter().enumerate() {
        match Flow::of(test.arch, thread, code, &test.init) {
            Ok(flow) => flows.push(flow),
            Err(found) => errors.extend(found),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let layout = MemoryLayout::of(&test, &flows)?;
    let (sizes, mut warnings) = Sizes::of(&test, &flows, &layout)?;
    let mut program = Program::new(test.name.clone(), source);
    add_variables(&test, &layout, &mut program);
    let lowered = add_threads(&test, &flows, &sizes, &layout)?;
    let view = question::LoweredTest {
        test: &test,
        flows: &flows,
        sizes: &sizes,
        layout: &layout,
        lowered: &lowered,
    };
    program.question = Some(view.question(options.observe_all, &mut warnings)?);
    program.threads = lowered.into_iter().map(|lowered| lowered.thread).collect();
    Parsed::of(program, warnings)
}

fn parse(text: &str) -> Result<Test, Vec<Diagnostic>> {
    let one = |error| vec![error];
    let (arch, name, start) = header::header(text).map_err(one)?;
    let tokens = lexer::tokens(text, start).map_err(one)?;
    let end = text.trim_end().len();
    let mut cursor = lexer::Cursor::new(&tokens, Span::new(end, end));
    let init = header::init(&mut cursor, arch).map_err(one)?;
    let threads = instructions::table(&mut cursor, arch)?;
    let tail = condition::tail(&mut cursor).map_err(one)?;
    Ok(Test { arch, name, init, threads, tail })
}

/// Threads that are spoken of must exist, and nothing may be given a value twice.
fn check_places(test: &Test) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut check = |thread: usize, span: Span| {
        if thread >= test.threads.len() {
            errors.push(Diagnostic::error(span, format!("there is no thread P{thread}")));
        }
    };
    test.init.registers.iter().for_each(|preset| check(preset.thread, preset.span));
    test.spots(&mut |spot, span| {
        if let Observable::Register(thread, ..) = spot {
            check(*thread, span);
        }
    });
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for location in &test.init.locations {
        if let Some(first) = seen.insert(&location.name, location.span) {
            let message = format!("the location `{}` is given a value twice", location.name);
            errors.push(Diagnostic::error(location.span, message).related(first, "first here"));
        }
    }
    let mut seen: HashMap<(usize, RegisterFamily), Span> = HashMap::new();
    for preset in &test.init.registers {
        if let Some(first) = seen.insert((preset.thread, preset.family), preset.span) {
            let message = "this register is given a value twice";
            errors.push(Diagnostic::error(preset.span, message).related(first, "first here"));
        }
    }
    errors
}

impl Test {
    /// Calls `visit` on everything the question speaks of.
    fn spots<'a>(&'a self, visit: &mut dyn FnMut(&'a Observable, Span)) {
        self.tail.listed.iter().for_each(|(spot, span)| visit(spot, *span));
        spots_of(&self.tail.filter, visit);
        spots_of(&self.tail.prop, visit);
    }

    /// Calls `visit` on the name of every location that instructions mention.
    fn symbols<'a>(&'a self, visit: &mut dyn FnMut(&'a str, Span)) {
        for instruction in self.threads.iter().flat_map(|code| &code.instructions) {
            for operand in &instruction.operands {
                if let Operand::Memory(Address { symbol: Some(name), .. }) | Operand::AddressOf(name) =
                    operand
                {
                    visit(name, instruction.span);
                }
            }
        }
    }
}

fn spots_of<'a>(prop: &'a Prop, visit: &mut dyn FnMut(&'a Observable, Span)) {
    match prop {
        Prop::Const(_) => {}
        Prop::Is(spot, _, span) => visit(spot, *span),
        Prop::Same(a, b, span) => {
            visit(a, *span);
            visit(b, *span);
        }
        Prop::Not(inner) => spots_of(inner, visit),
        Prop::And(parts) | Prop::Or(parts) => parts.iter().for_each(|part| spots_of(part, visit)),
    }
}

/// Declared locations first, then those that are only used, which start at 0.
fn add_variables(test: &Test, layout: &MemoryLayout, program: &mut Program) {
    for declared in &test.init.locations {
        let bits = layout.symbols.get(&declared.name).map_or(32, |symbol| symbol.bytes as u32 * 8);
        for (at, cell) in declared.cells.iter().enumerate() {
            let name =
                if declared.is_array { format!("{}[{at}]", declared.name) } else { declared.name.clone() };
            let initial = Domain::only(sizes::signed(cell, bits));
            program.add_variable(Variable { name, initial, span: declared.span });
        }
    }
    for (name, span) in &layout.undeclared {
        program.add_variable(Variable::new(name, *span));
    }
}

fn add_threads(
    test: &Test,
    flows: &[Flow],
    sizes: &Sizes,
    layout: &MemoryLayout,
) -> Result<Vec<Lowered>, Vec<Diagnostic>> {
    let mut observed = vec![BTreeSet::new(); test.threads.len()];
    test.spots(&mut |spot, _| {
        if let Observable::Register(thread, family, _) = spot {
            observed[*thread].insert(*family);
        }
    });
    let mut errors = Vec::new();
    let mut threads = Vec::new();
    for (thread, code) in test.threads.iter().enumerate() {
        let context = LitmusContext { arch: test.arch, layout, sizes, code, flow: &flows[thread] };
        let presets = test.init.registers.iter().filter(|preset| preset.thread == thread);
        match lower::lower(&format!("P{thread}"), &context, presets, &observed[thread]) {
            Ok(lowered) => threads.push(lowered),
            Err(found) => errors.extend(found),
        }
    }
    if errors.is_empty() { Ok(threads) } else { Err(errors) }
}
