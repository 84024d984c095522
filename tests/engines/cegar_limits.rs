//! The engine `cegar` at its limits: whoever stops it gets an honest answer, what is not linear is
//! named, and large inputs take neither all memory nor the right answer away.

use support::corpus as data;

use engine::{Cegar, Engine, Run};
use evidence::{Checked, Ignore, Monitor, MostStates, Progress, Reason, Stop, Task, Verdict, check};
use machine::{MODELS, Model, SC, TSO, model_named};
use program::{Program, Source};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

fn program(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "test", text).expect("known");
    let read = (frontend.read)(Source::new("test", text.to_string()), &Default::default());
    read.unwrap_or_else(|faults| panic!("{faults:?}\n{text}")).program
}

fn verify(program: &Program, model: Model, monitor: &dyn Monitor) -> Checked {
    let task = Task::safe(program, model);
    let answer = Cegar.verify(&task, &Run { monitor, ..Run::default() });
    check(&task, answer.verdict, &Ignore).unwrap_or_else(|why| panic!("{}: {why}", program.name))
}

fn word(checked: &Checked) -> &'static str {
    checked.verdict().word()
}

/// Stops at this call.
struct StopsAt(AtomicUsize);

impl Monitor for StopsAt {
    fn observe(&self, _: &Progress) -> Result<(), Stop> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 0 { Err(Stop::Interrupt) } else { Ok(()) }
    }
}

fn stopped(checked: &Checked) -> Option<Stop> {
    match checked.verdict() {
        Verdict::Unknown(reasons) => match reasons.as_slice() {
            [Reason::Stopped(stop)] => Some(*stop),
            other => panic!("{other:?}"),
        },
        _ => None,
    }
}

#[test]
fn whoever_stops_it_at_once_gets_no_answer() {
    for path in data::corpus() {
        let program = data::read(&path, &Default::default());
        for model in MODELS.iter().copied() {
            let found = verify(&program, model, &StopsAt(AtomicUsize::new(0)));
            assert_eq!(stopped(&found), Some(Stop::Interrupt), "{}", path.display());
            let found = verify(&program, model, &MostStates(0));
            assert_eq!(stopped(&found), Some(Stop::States), "{}", path.display());
        }
    }
}

#[test]
fn whoever_stops_it_later_gets_none_or_the_right_one() {
    let expected = |case: &data::Case, found: &Checked| match stopped(found) {
        Some(_) => false,
        None => {
            assert_eq!(word(found), case.truth());
            true
        }
    };
    let (mut answered, mut none) = (0, 0);
    for name in ["peterson", "peterson_fenced", "ticket_lock", "bakery", "seqlock", "alternating_bit"] {
        let path = data::corpus().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
        let path = path.expect("part of the corpus");
        for case in data::expected(&path).case.iter().filter(|case| case.engine == "cegar") {
            let program = data::read(&path, &case.define);
            let model = model_named(&case.model).expect("known");
            for limit in [1, 2, 3, 5, 8, 13, 21, 34] {
                let mut count = |found: &Checked| {
                    let counter = if expected(case, found) { &mut answered } else { &mut none };
                    *counter += 1;
                };
                count(&verify(&program, model, &StopsAt(AtomicUsize::new(limit))));
                count(&verify(&program, model, &MostStates(limit * limit * limit)));
            }
        }
    }
    assert!(answered > 50 && none > 50, "{answered} answered, {none} not");
}

/// A search without end stops where it is told to.
#[test]
fn what_diverges_ends_at_the_limit() {
    // The writer looks at what the reader writes, so it cannot wait for its stores; they pile up, and the order of stores
    // to different variables counts.
    let program = program(
        "shared v, w, stop; thread W { let k, s; loop { s = stop; k = k + 1; v = k; w = k; } } \
         thread R { let a, b; loop { a = w; b = v; assert a <= b; stop = a; } }",
    );
    for limit in [100, 1_000, 5_000] {
        let found = verify(&program, TSO, &MostStates(limit));
        assert_eq!(stopped(&found), Some(Stop::States));
    }
}

/// The reason, as a sentence, why there is no answer.
fn reason(text: &str, model: Model) -> String {
    let program = program(text);
    let found = verify(&program, model, &MostStates(2_000));
    match found.verdict() {
        Verdict::Unknown(reasons) => reasons[0].text(&program),
        other => panic!("{other:?}: {text}"),
    }
}

fn names_the_line(text: &str, snippet: &str, line: usize) {
    for model in MODELS.iter().copied() {
        let reason = reason(text, model);
        let place = format!("on line {line}");
        assert!(
            reason.contains("linear") && reason.contains(snippet) && reason.ends_with(&place),
            "{reason}"
        );
    }
}

#[test]
fn what_is_not_linear_is_named_with_its_line() {
    names_the_line("shared x, y;\nthread P { let r = any, s = any;\nx = r * s; }", "r * s", 3);
    names_the_line("shared x;\nthread P { let r = any, s = any;\nassert r * s >= 0; }", "r * s", 3);
    names_the_line("shared x;\nthread P {\nlet r = any, s = any; x = r & s; }", "r & s", 3);
    names_the_line("shared x;\nthread P {\nlet r = any; x = 7 / (r * 2 + 1); }", "7 / (r * 2 + 1)", 3);
    names_the_line("shared x, y;\nthread P {\nx = 1; }\nnever x * y > 0;", "x * y", 4);
    names_the_line("shared x, y;\nthread P {\nx = 1; }\nnever x > 1;\nnever x * y > 0;", "x * y", 5);
    names_the_line("shared x, y;\nthread P {\nx = 1; }\nfinally x == 1;\nfinally x * y == 0;", "x * y", 5);
}

#[test]
fn what_is_never_reached_need_not_be_linear() {
    let program = program("shared x; thread P { let r = x, s = x; if (r > 0) { x = r * s; } }\nnever x > 0;");
    for model in MODELS.iter().copied() {
        assert_eq!(word(&verify(&program, model, &MostStates(1_000))), "safe");
    }
}

/// `many("r{} != 0", 3, " && ")` is `r0 != 0 && r1 != 0 && r2 != 0`.
fn many(pattern: &str, count: usize, between: &str) -> String {
    (0..count).map(|at| pattern.replace("{}", &at.to_string())).collect::<Vec<_>>().join(between)
}

#[test]
fn guards_of_a_million_cases_are_refused() {
    let registers = many("r{} = any", 24, ", ");
    let wide = [
        many("r{} != 0", 24, " && "),
        many("(r{} == 0 || r{} == 5)", 24, " && "),
        format!("{} == 100", many("r{} / 2", 24, " + ")),
        format!("({}) == ({})", many("r{} / 2", 8, " + "), many("r{} / 3", 8, " + ")),
        format!("{} == 1", many("(r{} % 2) * 3", 24, " - ")),
    ];
    for guard in wide {
        let text =
            format!("shared x;\nthread P {{ let {registers};\nassume {guard}; x = 1; }}\nnever x > 1;");
        names_the_line(&text, "r0", 3);
    }
    let cells = many("a[{}] != 0", 24, " && ");
    names_the_line(&format!("shared a[24];\nthread P {{ a[0] = 1; }}\nnever {cells};"), "a[0]", 3);
}

#[test]
fn deep_conditions_are_decided() {
    let mut guard = "r >= 0".to_string();
    for depth in 0..60 {
        guard = if depth % 2 == 0 { format!("({guard} && r <= {depth})") } else { format!("!({guard})") };
    }
    let program =
        program(&format!("shared x; thread P {{ let r = any; assume {guard}; x = 1; }} never x > 1;"));
    for model in MODELS.iter().copied() {
        let found = verify(&program, model, &MostStates(2_000));
        assert_ne!(word(&found), "unsafe");
    }
}

/// That a copy equals what it was copied from has to be learned like everything else.
#[test]
fn copies_are_known_to_be_equal() {
    let safe = [
        "shared x; thread P { let r, s; r = x; s = r; assert s == r; } thread Q { x = 1; }",
        "shared x = any, y; thread P { let r; y = x; r = y; assert r == x; }",
        "shared x; thread P { let r = any, s; loop { x = r; s = x; assert s == r; r = s; } }",
    ];
    for text in safe {
        for model in MODELS.iter().copied() {
            assert_eq!(word(&verify(&program(text), model, &MostStates(1_000))), "safe", "{text}");
        }
    }
    let wrong = "shared x; thread P { let r = any, s; x = r; s = x; assert s == r; } thread Q { x = 1; }";
    for model in MODELS.iter().copied() {
        assert_eq!(word(&verify(&program(wrong), model, &MostStates(1_000))), "unsafe");
    }
}

/// A sum of slots of one kind has as many instances as there are ways to choose the slots.
#[test]
fn sums_of_many_cells_do_not_take_all_memory() {
    let sum = many("a[{}]", 8, " + ");
    let text = |wrong: usize| {
        format!(
            "shared a[8], go; thread P {{ for i in 0..8 {{ a[i] = 1; }} fence; go = 1; }}
             thread Q {{ let s; await go == 1; s = {sum}; assert s == {}; }}",
            8 + wrong
        )
    };
    assert_eq!(word(&verify(&program(&text(0)), SC, &Ignore)), "safe");
    for model in MODELS.iter().copied() {
        assert_eq!(word(&verify(&program(&text(1)), model, &Ignore)), "unsafe", "{}", model.name());
    }
    let stores = many("a[{}] = 1", 8, "; ");
    let text = format!("shared a[8]; thread P(i in 0..2) {{ loop {{ {stores}; }} }} never {sum} > 8;");
    for model in MODELS.iter().copied() {
        assert_ne!(word(&verify(&program(&text), model, &MostStates(500))), "unsafe");
    }
}

/// More variables than the matrix of bounds has rows.
#[test]
fn hundreds_of_variables_are_told_apart() {
    const COUNT: usize = 300;
    let mut text = format!("shared {};\nthread P {{ let r;\n", many("x{}", COUNT, ", "));
    text.push_str("x0 = any in 0..10;\n");
    for at in 1..COUNT {
        writeln!(text, "x{at} = x{};", at - 1).expect("memory");
    }
    let last = COUNT - 1;
    for (bound, expected) in [(9, "safe"), (8, "unsafe")] {
        let program = program(&format!("{text}r = x{last}; assert r <= {bound}; }}"));
        assert_eq!(word(&verify(&program, SC, &Ignore)), expected);
    }
    let program = program(&format!("{text}r = x{last}; assert r == x0; }}"));
    assert_eq!(word(&verify(&program, SC, &MostStates(20_000))), "safe");
}
