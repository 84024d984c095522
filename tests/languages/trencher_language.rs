//! What the instructions of Trencher's format mean, by whether all threads can end together.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{Diagnostic, FRONTENDS, Options, Parsed, trencher};
use program::{FailureKind, Op, Program, Source, same};

fn try_read(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let frontend = FRONTENDS.iter().find(|f| f.name == "trencher").expect("registered");
    (frontend.read)(Source::new("test.txt", text), &Options::default())
}

fn read(text: &str) -> Program {
    try_read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

/// Threads given as instructions in a row; `!` goes back to the first state instead.
fn threads(threads: &[&[&str]]) -> String {
    let thread = |(at, code): (usize, &&[&str])| {
        let transition = |(q, instruction): (usize, &&str)| match instruction.strip_prefix("back ") {
            Some(instruction) => format!("transition q{q} q0 {instruction}\n"),
            None => format!("transition q{q} q{} {instruction}\n", q + 1),
        };
        let transitions: String = code.iter().enumerate().map(transition).collect();
        format!("thread t{at}\ninitial q0\nfinal q{}\n{transitions}end\n", code.len())
    };
    threads.iter().enumerate().map(thread).collect()
}

#[track_caller]
fn check_text(text: &str, expected: [bool; 3]) {
    let program = read(text);
    let reached = |model| {
        let explorer = Explorer::new(&program, model, Limits { states: 1_000_000, queue: 4, eager: false });
        let goal = &program.properties[0].cond;
        let explored = explorer.run(&|state| truth(goal, &|place| explorer.place(state, place)));
        assert!(!explored.out_of_budget);
        explored.found
    };
    assert_eq!(Model::ALL.map(reached), expected, "{text}");
    if program.threads.iter().all(|t| t.locs().all(|loc| t.location(loc).failure.is_none())) {
        let again = trencher::write(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
        assert!(same(&program, &read(&again)), "{text}\n{again}");
    }
}

#[track_caller]
fn check(code: &[&[&str]], expected: [bool; 3]) {
    check_text(&threads(code), expected);
}

const NEVER: [bool; 3] = [false; 3];
const ALWAYS: [bool; 3] = [true; 3];

#[test]
fn expressions() {
    for (expression, expected) in [
        ("1", true),
        ("0", false),
        ("r", false),
        ("! r", true),
        ("== 1 1", true),
        ("!= + 1 2 3", false),
        ("< - 1 2 0", true),
        ("<= * 2 3 5", false),
        ("> & 6 3 1", true),
        (">= / 7 2 4", false),
        ("&& 2 == % 7 4 3", true),
        ("|| 0 r", false),
        ("== 1 == 2 2", true),
        ("== + == 1 1 == 2 3 1", true),
        ("-1", true),
        ("! ! 5", true),
    ] {
        let goal = if expected { ALWAYS } else { NEVER };
        check(&[&[&format!("check {expression}")]], goal);
        check(
            &[&["local s 1", &format!("local t {expression}"), "check == t 1"]],
            match expression {
                // As a value an arithmetic expression is itself, not a truth value.
                "-1" => NEVER,
                _ => goal,
            },
        );
    }
}

#[test]
fn memory_is_one_array_with_computed_addresses() {
    check(&[&["write 5 3", "local p 2", "read r + p 1", "check == r 5"]], ALWAYS);
    check(&[&["read p 0", "write 7 + p 10", "read r 11", "check == r 7"], &["write 1 0"]], ALWAYS);
    check(&[&["read p 0", "write 7 + p 10", "read r 12", "check == r 7"], &["write 1 0"]], NEVER);
    check(&[&["read r -1", "check == r 0"]], ALWAYS);
    let program = read(&threads(&[&["read p 0", "read r + p 10"], &["write 1 0"]]));
    let names: Vec<&str> = program.variables.iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["mem[0]", "mem[10]", "mem[11]"]);
}

#[test]
fn checks_narrow_addresses() {
    let text = "thread t\ninitial q\ntransition q q local i + i 1\ntransition q a check < i 3\nend";
    assert!(try_read(text).is_ok(), "a counter that is no address is fine");
    let message = |text: &str| try_read(text).err().map(|errors| errors[0].message.clone());
    let bad = "thread t\ninitial q\ntransition q q local i + i 1\ntransition q a write 1 i\nend";
    assert_eq!(message(bad).as_deref(), Some("the addresses this uses cannot be bounded"));
    let good = "thread t\ninitial q\nfinal e\ntransition q p check < i 3\ntransition p q local i + i 1\n\
                transition q a check == i 3\ntransition a b write 9 i\ntransition b c read r 3\ntransition c e check == r 9\nend";
    check_text(good, ALWAYS);
}

#[test]
fn stores_are_buffered_and_fences_and_locks_drain() {
    let code = |middle: &[&str]| {
        let side = |mine: &str, other: &str| {
            let first = [format!("write 1 {mine}")];
            let last = [format!("read r {other}"), "check == r 0".to_string()];
            let middle = middle.iter().map(|m| (*m).to_string());
            first.into_iter().chain(middle).chain(last).collect::<Vec<_>>()
        };
        let (a, b) = (side("0", "1"), side("1", "0"));
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(|s| &**s).collect(), b.iter().map(|s| &**s).collect());
        threads(&[&a, &b])
    };
    check_text(&code(&[]), [false, true, true]);
    check_text(&code(&["noop"]), [false, true, true]);
    check_text(&code(&["mfence"]), NEVER);
    check_text(&code(&["lock", "unlock"]), NEVER);
}

#[test]
fn locked_sections_exclude_and_may_be_left_with_the_lock() {
    let add: &[&str] = &["lock", "read r 0", "write + r 1 0", "unlock"];
    let wait: &[&str] = &["read a 0", "check == a 1", "read a 0", "check == a 1", "read b 1", "check b"];
    check(&[add, add, &["read r 0", "check == r 2"]], ALWAYS);
    check(&[&["lock", "read r 0", "write + r 1 0"], wait], NEVER);
    check(&[&["unlock"]], NEVER);
    check(&[&["lock", "lock"]], NEVER);
    let text = "thread t\ninitial a\nfinal c\ntransition a b lock\ntransition b a check 1\ntransition a c unlock\nend";
    check_text(text, ALWAYS);
}

#[test]
fn dividing_by_zero_fails() {
    let program = read(&threads(&[&["read d 0", "local r / 4 d", "check == r 2"], &["write 2 0"]]));
    let thread = &program.threads[0];
    let failures: Vec<_> = thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref()).collect();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].kind, FailureKind::Division);
    check(&[&["read d 0", "local r / 4 d", "check == r 2"], &["write 2 0"]], ALWAYS);
}

#[test]
fn what_cannot_be_read_is_named() {
    let refuses = |text: &str, message: &str| {
        let errors = try_read(text).err().unwrap_or_default();
        assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:#?}\n{text}");
    };
    refuses("", "there are no threads");
    refuses("program x", "expected `thread`, found `program`");
    refuses("thread a\nend", "the thread `a` has no initial state");
    refuses("thread a initial q end thread a initial q end", "two threads named `a`");
    let many: String = (0..257).map(|at| format!("thread t{at} initial q end ")).collect();
    refuses(&many, "there are more than 256 threads");
    refuses("thread a initial q transition q q jump", "there is no instruction `jump`");
    refuses("thread a initial q transition q q read 1 0 end", "expected a register, found `1`");
    refuses("thread a initial q transition q q check 1x end", "`1x` is neither a number nor a register");
    refuses("thread a initial q transition q q check + 1", "expected an expression, found the end");
}

#[test]
fn what_cannot_be_written_is_named() {
    let fw = FRONTENDS.iter().find(|f| f.name == "fw").expect("registered");
    for (sign, message) in [("|", "a bitwise `or`"), ("^", "a bitwise exclusive `or`")] {
        let text = format!("shared x; thread P {{ let a, b; a = x; b = x; x = a {sign} b; }}");
        let program = (fw.read)(Source::new("a.fw", text), &Options::default()).expect("readable").program;
        let errors = trencher::write(&program).expect_err("there is no such sign");
        assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:#?}");
    }
}

#[test]
fn texts_are_recognised_and_written_blocks_wait() {
    let choose = |file: &str, text: &str| frontend::choose(None, file, text).map(|f| f.name);
    assert_eq!(choose("a", "# c\nthread t\ninitial q\nend"), Some("trencher"));
    assert_eq!(choose("a", "forbidden L\nprocess text L: nop"), Some("rmm"));
    assert_eq!(choose("a", "X86 SB\n{}"), Some("litmus"));
    assert_eq!(choose("a.txt", ""), Some("trencher"));
    let rmm = FRONTENDS.iter().find(|f| f.name == "rmm").expect("registered");
    let text = "forbidden A B\ndata x = 0\nprocess text write: x := 1; A: nop\nprocess text cas(x,1,2); read: x = 2; B: nop";
    let program = (rmm.read)(Source::new("a", text), &Options::default()).expect("readable").program;
    let written = trencher::write(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let again = read(&written);
    assert!(again.threads[1].edges().iter().all(|edge| !matches!(edge.op, Op::Block { .. })));
    assert_eq!(written.lines().filter(|line| line.ends_with("unlock")).count(), 2, "{written}");
}
