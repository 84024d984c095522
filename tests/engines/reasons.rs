//! Why there is no answer: every reason names a line that exists, and a statement there that can
//! be the reason. All engines are asked about random programs with free choices and products.

use engine::{ENGINES, Engine, Run, engine_named};
use evidence::{MostStates, Reason, Task, Verdict};
use fastrand::Rng;
use machine::{Doubt, MODELS, model_named};
use program::{Program, Source};

fn parse(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", text).expect("our language");
    let parsed = (frontend.read)(Source::new("test.fw", text), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

/// Two or three threads, a statement per line, in which delayed stores show, choices are free and
/// products leave 64 bits.
fn random_text(seed: u64) -> String {
    let mut chance = Rng::with_seed(seed);
    let mut text = "shared x, y, z = 3;\n".to_string();
    for thread in 0..chance.usize(2..4) {
        text += &format!("thread P{thread} {{\nlet m, t;\n");
        let [mine, other] = if thread == 0 { ["x", "y"] } else { ["y", "x"] };
        text += &format!("{mine} = 1;\n");
        for _ in 0..chance.usize(1..5) {
            text += &match chance.usize(0..9) {
                0 => "m = any;\n".to_string(),
                1 => "m = any in 0..100000;\n".to_string(),
                2 => format!("t = {other};\n"),
                3 => "m = m * m + t;\n".to_string(),
                4 => "t = t * 4611686018427387904;\n".to_string(),
                5 => "if (m * m + t < 0) {\nskip;\n}\n".to_string(),
                6 => format!("{mine} = m * 3037000500;\n"),
                7 => "z = z * z;\n".to_string(),
                _ => "if (m < t) {\nassert t != 7;\n}\n".to_string(),
            };
        }
        text += &format!("t = {other};\n}}\n");
    }
    text + "finally !(P0.t == 0 && P1.t == 0 && P0.m == 7);\n"
}

/// Whether the statement that a reason names can be what it is about.
fn fits(reason: &Reason, line: &str) -> bool {
    match reason {
        Reason::Doubt(Doubt::Choice(_)) => line.contains("any"),
        Reason::Doubt(Doubt::Overflow(_) | Doubt::Fragment(_)) | Reason::NotLinear(_) => line.contains('*'),
        _ => true,
    }
}

/// Checks the reasons of an engine; says how many of them name a line.
fn check(engine: &dyn Engine, text: &str, model: &str) -> usize {
    let program = parse(text);
    let task = Task::safe(&program, model_named(model).expect("a model"));
    let answer = engine.verify(&task, &Run { monitor: &MostStates(3_000), ..Run::default() });
    let (Verdict::Unknown(reasons) | Verdict::Within(_, reasons)) = answer.verdict else { return 0 };
    let mut named = 0;
    for reason in reasons {
        let said = reason.text(&program);
        let Some((_, rest)) = said.split_once(" line ") else { continue };
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let line = digits.parse::<usize>().ok().and_then(|number| text.lines().nth(number.checked_sub(1)?));
        let line = line.unwrap_or_else(|| panic!("{}: no such line: {said}\n{text}", engine.name()));
        assert!(fits(&reason, line), "{} under {model}: {said}\n{text}", engine.name());
        named += 1;
    }
    named
}

#[test]
fn every_reason_names_a_line_that_can_be_the_reason() {
    for engine in ENGINES {
        let mut named = 0;
        for seed in 0..40 {
            let text = random_text(seed);
            named += MODELS.iter().map(|model| check(*engine, &text, model.name())).sum::<usize>();
        }
        assert!(named > 20, "{}: only {named} reasons name a line", engine.name());
    }
}

/// Edges of the program that `lazy` extends are no edges of the program that it is asked about.
#[test]
fn a_choice_after_a_delayed_store_is_named_by_its_line() {
    let quadratic = "shared x, y;
thread P { let m, t; x = 1;
m = any;
t = y; if (m * m + t < 0) { assert false; } skip; skip; }
thread Q { let t; y = 1; t = x; }";
    let compared = "shared x, y;
thread P { let m, t; x = 1;
m = any;
t = y; if (m < t) { skip; } }
thread Q { let t; y = 1; t = x; }";
    for text in [quadratic, compared] {
        for engine in ["lazy", "portfolio"] {
            check(engine_named(engine).expect("an engine"), text, "tso");
        }
    }
    assert!(check(engine_named("lazy").expect("an engine"), quadratic, "tso") > 0);
}

/// A range with more values than are tried is never taken for those that are.
#[test]
fn a_wide_range_to_start_in_proves_nothing_by_a_few_of_its_values() {
    let far = "shared x = any in 0..100000;\nthread P { let r; r = x; assert r - 5 != 77772; }";
    let later = "shared x;\nthread P { let r; r = any in 0..100000; r = r - 5; assert r != 77772; }";
    for engine in ENGINES {
        for (text, model) in [far, later].into_iter().flat_map(|t| MODELS.iter().map(move |m| (t, m))) {
            let program = parse(text);
            let task = Task::safe(&program, *model);
            let answer = engine.verify(&task, &Run { monitor: &MostStates(20_000), ..Run::default() });
            assert!(!matches!(answer.verdict, Verdict::Safe(_)), "{} on {text}", engine.name());
        }
    }
}

#[test]
fn an_initial_value_beyond_64_bits_is_the_reason_and_not_a_choice() {
    let program = parse("shared x = 18446744073709551616;\nthread P { let r; r = x; assert r > 5; }");
    for (engine, model) in [("explicit", "sc"), ("explicit", "tso"), ("lazy", "tso")] {
        let task = Task::safe(&program, model_named(model).expect("a model"));
        let answer = engine_named(engine).expect("an engine").verify(&task, &Run::default());
        let Verdict::Unknown(reasons) = answer.verdict else { panic!("{engine} computes with 64 bits") };
        let said: Vec<String> = reasons.iter().map(|reason| reason.text(&program)).collect();
        assert_eq!(
            said,
            ["the engine computes with 64 bits, and the initial value of `x` on line 1 has more"],
            "{engine}"
        );
    }
}
