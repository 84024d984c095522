//! Runs drawn within different widths.

use super::*;
use engine::Engine;
use evidence::{Ignore, Task, check, simplify};
use machine::model_named;

const SB: &str = "shared x, y;
thread P0 { let a; x = 1; a = y; }
thread P1 { let b; y = 1; b = x; }
finally !(P0.a == 0 && P1.b == 0);";

/// Four threads, long names and long statements.
const WIDE: &str = "shared first_variable, second_variable, third_variable, fourth_variable;
thread Writer(i in 0..2) { first_variable = i + 1; second_variable = i + 1; third_variable = i + 1; }
thread Reader(i in 0..2) { let one, two; one = third_variable; two = first_variable; fourth_variable = one; }
never Reader0.one == 1 && Reader0.two == 0 && Reader1.one == 2;";

/// The shortest violation of a program, drawn within a width.
fn drawn(text: &str, model: &str, width: usize) -> String {
    let program = crate::read("test.fw", text).expect("it is a program");
    let task = Task::safe(&program, model_named(model).expect("there is such a model"));
    let answer = engine::Explicit.verify(&task, &engine::Run::default());
    let checked = check(&task, answer.verdict, &Ignore).expect("the evidence holds");
    let mut checked = simplify(&task, checked, &Ignore);
    checked.explain(&task, &Ignore);
    let run = ShownRun::of(&task, checked.violated().expect("it is unsafe"));
    anstream::adapter::strip_str(&render(&run, width)).to_string()
}

const PETERSON: &str = "shared flag[2], turn;
thread P(i in 0..2) {
    flag[i] = 1;
    turn = 1 - i;
    await flag[1 - i] == 0 || turn == i;
    cs: skip;
}
never P0@cs && P1@cs;";

#[test]
fn a_table_shows_buffers_values_drains_and_the_forbidden_step() {
    let table = drawn(SB, "tso", 100);
    let parts = ["2 x = 1", "buffer", "y read 0  ◀ not under SC", "→ x = 1 reaches memory", "a = 0"];
    for part in parts {
        assert!(table.contains(part), "`{part}` is missing:\n{table}");
    }
    assert_eq!(table.matches("not under SC").count(), 1, "{table}");
    // What reaches memory at once needs no words.
    assert_eq!(table.matches("reaches memory").count(), 1, "{table}");
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for (text, model) in [(SB, "tso"), (PETERSON, "tso"), (PETERSON, "pso"), (WIDE, "pso")] {
        for width in [40, 60, 80, 100, 120, 200] {
            let drawing = drawn(text, model, width);
            let wide = drawing.lines().find(|line| line.width() > width);
            assert_eq!(wide, None, "within {width}:\n{drawing}");
            assert!(drawing.lines().all(|line| line.trim_end() == line), "blanks at ends:\n{drawing}");
            // The violation of the wide program happens under SC as well.
            let marks = usize::from(text != WIDE);
            assert_eq!(drawing.matches("◀ not under SC").count(), marks, "within {width}:\n{drawing}");
        }
    }
}

#[test]
fn tables_break_no_words() {
    for width in 40..130 {
        for line in drawn(PETERSON, "tso", width).lines() {
            let odd = |word: &&str| ["fla", "flag[", "awai", "tur"].iter().any(|part| word == part);
            assert_eq!(line.split_whitespace().find(odd), None, "within {width}: {line}");
        }
    }
}

#[test]
fn the_layout_follows_the_width() {
    let shape = |width| {
        let drawing = drawn(PETERSON, "tso", width);
        let mut lines = drawing.lines();
        let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        match (first.contains("│ buffer"), second.contains("flag[1]"), drawing.contains('│')) {
            (_, _, false) => "list",
            (true, true, _) => "buffers and memory in columns",
            (false, true, _) => "memory in columns",
            (true, false, _) => "buffers in columns",
            (false, false, _) => "two columns of threads",
        }
    };
    assert_eq!(shape(40), "list");
    assert_eq!(shape(60), "list");
    assert_eq!(shape(80), "memory in columns");
    assert_eq!(shape(200), "buffers and memory in columns");
}

#[test]
fn local_steps_share_a_row_and_a_drain_that_follows_at_once_is_in_the_row_of_its_store() {
    let text = "shared x;
thread P { let a, b; a = 1; b = a + 1; a = b; x = a; b = x; l: skip; }
never P@l;";
    let table = drawn(text, "tso", 100);
    let numbers: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let numbers: Vec<&str> = numbers.into_iter().filter(|word| word.starts_with(char::is_numeric)).collect();
    assert_eq!(numbers, ["1-3", "4-5", "6"], "{table}");
}

#[test]
fn four_threads_with_long_names_fit_into_a_table() {
    for width in [140, 160] {
        let table = drawn(WIDE, "pso", width);
        assert!(table.contains('│'), "{table}");
    }
}

#[test]
fn a_narrow_terminal_gets_a_list_with_the_same_in_it() {
    let list = drawn(SB, "tso", 30);
    assert!(!list.contains('│'), "{list}");
    for part in [
        "P0: 2 x = 1",
        "P0 buffer: x=1",
        "◀ not under SC",
        "→ x = 1 reaches",
        "memory: x=1",
        "end P0: ended, a = 0",
    ] {
        assert!(list.contains(part), "`{part}` is missing:\n{list}");
    }
    for width in 0..30 {
        drawn(SB, "tso", width);
    }
}

#[test]
fn buffers_of_different_variables_are_apart_under_pso() {
    // Memory keeps its old values, so nothing may drain.
    let text = "shared x, y;
thread P { x = 1; y = 1; x = 2; fence store; y = 2; l: skip; }
never P@l && x == 0 && y == 0;";
    assert!(drawn(text, "pso", 100).contains("x=1, x=2 | y=1 | fence | y=2"));
    assert!(drawn(text, "tso", 100).contains("x=1, y=1, x=2, y=2"));
}
