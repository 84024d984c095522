//! What the statements of `.rmm` mean, by the forbidden states that can be reached.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{Diagnostic, FRONTENDS, Options, Parsed, rmm, trencher};
use program::{Domain, Op, Program, Source};

fn try_read(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let rmm = FRONTENDS.iter().find(|f| f.name == "rmm").expect("registered");
    assert!((rmm.recognises)(text));
    (rmm.read)(Source::new("test.rmm", text), &Options::default())
}

fn read(text: &str) -> Program {
    try_read(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program
}

fn reached(program: &Program, model: Model) -> bool {
    let explorer = Explorer::new(program, model, Limits { states: 1_000_000, queue: 4, eager: false });
    let explored = explorer.run(&|state| {
        program.properties.iter().any(|p| truth(&p.cond, &|place| explorer.place(state, place)))
    });
    assert!(!explored.out_of_budget);
    explored.found
}

/// Whether the forbidden state can be reached under SC, TSO and PSO; what is written out and
/// read back must say the same.
#[track_caller]
fn check(text: &str, expected: [bool; 3]) {
    let program = read(text);
    assert_eq!(Model::ALL.map(|model| reached(&program, model)), expected, "{text}");
    let again = rmm::write(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(Model::ALL.map(|model| reached(&read(&again), model)), expected, "{again}");
    if let Ok(text) = trencher::write(&program) {
        let trencher = FRONTENDS.iter().find(|f| f.name == "trencher").expect("registered");
        let again = (trencher.read)(Source::new("test.txt", text.clone()), &Options::default());
        let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
        assert_eq!(Model::ALL.map(|model| reached(&again, model)), expected, "{text}");
    }
}

const NEVER: [bool; 3] = [false; 3];
const ALWAYS: [bool; 3] = [true; 3];

#[test]
fn what_would_leave_its_domain_waits() {
    let one = |registers: &str, text: &str| {
        format!("forbidden BAD\ndata x = 0 : [0:3]\nprocess registers {registers}\ntext {text}; BAD: nop")
    };
    check(&one("$r = 0 : [0:1]", "$r := $r + 1"), ALWAYS);
    check(&one("$r = 0 : [0:1]", "$r := $r + 1; $r := $r + 1"), NEVER);
    check(&one("$r = 3", "write: x := $r"), ALWAYS);
    check(&one("$r = 4", "write: x := $r"), NEVER);
    check(&one("$r = 4", "locked write: x := $r"), NEVER);
    check(&one("$r = 0", "cas(x,0,3)"), ALWAYS);
    check(&one("$r = 0", "cas(x,0,4)"), NEVER);
    check(&one("$r = 0", "cas(x,1,2)"), NEVER);
    check(&one("$r = 0 : [0:1]", "write: x := 2; read: $r := x"), NEVER);
    check(&one("$r = 0 : [0:1]", "write: x := 1; read: $r := x; assume: $r = 1"), ALWAYS);
    check(&one("$r = 0", "write: x := 2; read: x = $r + 2"), ALWAYS);
}

#[test]
fn registers_and_variables_may_start_anywhere() {
    let text = "forbidden BAD\ndata x = * : [0:2]\nprocess registers $r = * : [4:5] $s = * text \
                read: x = 2; assume: $r = 5; $s := 1; BAD: nop";
    check(text, ALWAYS);
    let program = read(text);
    assert_eq!(program.variables[0].initial, Domain::Range(0.into(), 2.into()));
    let havocs: Vec<&Op> =
        program.threads[0].edges().iter().map(|e| &e.op).filter(|op| matches!(op, Op::Havoc(..))).collect();
    assert_eq!(havocs.len(), 1, "`$s` is written before it is read");
}

#[test]
fn control() {
    let one = |text: &str| format!("forbidden BAD\ndata x = 0\nprocess registers $r = 0 $s = 0\ntext {text}");
    check(&one("while $r < 3 do $r := $r + 1; assume: $r = 3; BAD: nop"), ALWAYS);
    check(&one("if $r = 0 then $s := 1 else $s := 2; assume: $s != 1; BAD: nop"), NEVER);
    check(&one("if $r = 1 then goto BAD; goto L; BAD: nop; L: nop"), NEVER);
    check(&one("goto L; BAD: goto L; L: nop"), NEVER);
    check(&one("either { BAD: read: x = 1 or nop }"), ALWAYS);
    check(&one("either { read: x = 1; BAD: nop or nop }"), NEVER);
    check(&one("either { goto L or $r := 1 }; L: assume: $r = 0; BAD: nop"), ALWAYS);
    check(&one("assume: [$r = 0 || $r = 1] && not $s > 0 && true; BAD: nop"), ALWAYS);
    check(&one("L: goto L; BAD: nop"), NEVER);
}

#[test]
fn memory_by_owner_and_by_pointer() {
    let text = "forbidden * * BAD\ndata a = 7 b = 8\n\
        process data f = 10 text write: f[0] := 1; write: f[1] := 2\n\
        process data f = 11 text nop\n\
        process data f = 12 registers $p = 1 : [0:1] text read: f[0] = 10; read: f[1] = 1; read: f[my] = 2;\n\
        read: [$p] = 8; write: [$p - 1] := 5; read: a = 5; BAD: nop";
    check(text, ALWAYS);
    let program = read(text);
    let names: Vec<&str> = program.variables.iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["a", "b", "f[0]", "f[1]", "f[2]"]);
}

fn store_buffering(first: &str, middle: &str) -> String {
    format!(
        "forbidden CS CS\nmacro p(x,y) process registers $r = 0 text {first} x := 1; {middle} read: y = 0; CS: nop \
         endmacro\ndata x = 0 : [0:1] y = 0 : [0:1] z = 0\np(x,y) p(y,x)"
    )
}

#[test]
fn fences_and_locked_blocks() {
    let relaxed = [false, true, true];
    check(&store_buffering("write:", ""), relaxed);
    check(&store_buffering("write:", "ssfence; llfence;"), relaxed);
    check(&store_buffering("slocked write:", ""), relaxed);
    check(&store_buffering("write:", "locked { read: $r := z; $r := 2 or read: z = 1 };"), relaxed);
    check(&store_buffering("write:", "fence;"), NEVER);
    check(&store_buffering("locked write:", ""), NEVER);
    check(&store_buffering("syncwr:", ""), NEVER);
    check(&store_buffering("write:", "cas(z,0,0);"), NEVER);
    check(&store_buffering("write:", "locked { read: $r := z or write: z := 0 };"), NEVER);
    check(&store_buffering("write:", "locked { read: z = 0; write: z := 1; write: z := 0 };"), NEVER);
}

#[test]
fn store_fences_order_stores() {
    let message = |write: &str, middle: &str| {
        format!(
            "forbidden * BAD\ndata x = 0 y = 0\nprocess text {write} x := 1; {middle} write: y := 1\n\
             process text read: y = 1; read: x = 0; BAD: nop"
        )
    };
    check(&message("write:", ""), [false, false, true]);
    check(&message("slocked write:", ""), NEVER);
    check(&message("write:", "ssfence;"), NEVER);
}

#[test]
fn a_locked_block_is_one_step() {
    let text = "forbidden BAD *\ndata x = 0 y = 0\nprocess registers $r = 0 $s = 0\n\
        text locked { read: $r := x; read: $s := y }; assume: $r != $s; BAD: nop\n\
        process text locked { write: x := 1; write: y := 1 }";
    check(text, NEVER);
}

#[test]
fn statements_keep_their_place_even_through_macros() {
    let text = "forbidden L\nmacro at(p) [(p)-1] endmacro\nmacro wait(v) read: v = 1 endmacro\ndata x = 0\n\
                process registers $r = 1 : [1:1] text L: write: at($r) := 3; wait(at(1))";
    let program = read(text);
    let snippets: Vec<String> =
        program.threads[0].edges().iter().map(|edge| program.source.snippet(edge.span)).collect();
    assert_eq!(snippets, ["$r = 1 : [1:1]", "write: at($r) := 3", "read: v = 1"]);
}

#[track_caller]
fn refuses(text: &str, message: &str) {
    let errors = try_read(text).err().unwrap_or_default();
    assert!(errors.iter().any(|error| error.message.contains(message)), "{errors:#?}\n{text}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let one =
        |text: &str| format!("forbidden L\ndata x = 0\nprocess data f = 0 registers $r = 0 text L: {text}");
    refuses(&one("$s := 1"), "the register `$s` is not declared");
    refuses(&one("goto M"), "there is no label `M`");
    refuses(&one("nop; L: nop"), "the label `L` is set twice");
    refuses(&one("write: y := 1"), "there is no global variable `y`");
    refuses(&one("write: f := 1"), "there is no global variable `f`");
    refuses(&one("write: f[0] := 1"), "the other process of number 0 has no variable `f`");
    refuses(&one("write: [1] := 1"), "this pointer can point to no global variable");
    refuses(&one("locked { goto L }"), "a locked block holds reads");
    refuses(&one("locked { M: nop }"), "no labels inside a locked block");
    refuses(&one("bar"), "expected a statement, found `bar`");
    refuses(&one("nop;"), "expected a statement, found the end");
    refuses(&one("$r = 1"), "expected `:=`");
    refuses("forbidden M\nprocess text L: nop", "there is no label `M` in process 0");
    refuses("forbidden L L\nprocess text L: nop", "there are 2 labels here, but 1 processes");
    refuses("forbidden L\ndata x = 3 : [0:2]\nprocess text L: nop", "`x` starts outside its domain");
    refuses("forbidden L\ndata x = 0 x = 1\nprocess text L: nop", "`x` is declared twice");
    refuses("forbidden L\ndata x = 0 : [2:1]\nprocess text L: nop", "this domain is empty");
    refuses("forbidden L\nprocess(1000) text L: nop", "the number of processes");
    let several = try_read(&one("write: y := 1; goto M")).err().unwrap_or_default();
    assert_eq!(several.len(), 2);
}

#[test]
fn predicates_become_hints_and_foreign_statements_warn() {
    let text = "forbidden L *\npredicates $r = 0 ; $q < $r ; $no = 1\ndata x = 0\n\
                process registers $r = 0 $q = 0 text L: syncwr: x := 1; syncrd: $r := x; syncwr: x := 2\n\
                process registers $r = 0 text nop";
    let parsed = try_read(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(parsed.program.hints.len(), 3);
    let warnings: Vec<&str> = parsed.warnings.iter().map(|w| &*w.message).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].contains("`syncwr`") && warnings[1].contains("`syncrd`"), "{warnings:?}");
}

#[test]
fn the_writer_refuses_what_the_format_cannot_say() {
    let litmus = FRONTENDS.iter().find(|f| f.name == "litmus").expect("registered");
    let text = "X86 a\n{}\n P0 ;\n AND EAX,EBX ;\nexists x=1";
    let program = (litmus.read)(Source::new("a", text), &Options::default()).expect("readable").program;
    let messages: Vec<String> =
        rmm::write(&program).expect_err("refused").into_iter().map(|error| error.message).collect();
    assert!(messages.iter().any(|m| m.contains("final states")), "{messages:?}");
    assert!(messages.iter().any(|m| m.contains("sums and differences")), "{messages:?}");
}

#[test]
fn written_programs_keep_free_registers_and_failures() {
    let text = "forbidden BAD\nprocess registers $a = 0 $s = * text assume: $s = 3; BAD: nop";
    let program = read(text);
    assert!(program.threads[0].edges().iter().any(|edge| matches!(edge.op, Op::Havoc(_, Domain::All))));
    let written = rmm::write(&program).expect("written");
    assert!(program::same(&program, &read(&written)), "{written}");

    let mut program = Program::new("fails", Source::default());
    let mut thread = program::ThreadBuilder::new("P");
    let register = thread.register("r");
    let choice = Op::Havoc(register, Domain::Range(0.into(), 2.into()));
    let chosen = thread.step(thread.entry(), choice, program::Span::NONE);
    let two = program::Cond::compare(program::Relation::Eq, register, 2);
    let failed = thread.step(chosen, Op::Assume(two.clone()), program::Span::NONE);
    thread
        .fail(failed, program::Failure { kind: program::FailureKind::Assertion, span: program::Span::NONE });
    thread.step(chosen, Op::Assume(two.negate()), program::Span::NONE);
    program.threads.push(thread.finish().expect("valid"));
    let written = rmm::write(&program).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert!(reached(&read(&written), Model::Sc), "{written}");
}
