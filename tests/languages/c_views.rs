//! Objects seen in several ways: random programs with unions, pieces of words, copies and pointers to other
//! types are compiled by `cc` and run; what they end with is then claimed of the same text. It must hold, or
//! the text must be refused or end in a limit: a claim that is violated means that bytes were mistaken.

use crate::c_language::{read_c, violated};
use crate::explore::Model;
use fastrand::Rng;
use frontend::{COptions, Overflow};
use std::io::Write;
use std::process::{Command, Stdio};

const PROGRAMS: usize = 100;

const TYPES: &str = "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n\
    union u { int i[2]; unsigned char c[8]; short s[4]; long l; struct { int a; short b; signed char d[2]; } t; };\n\
    struct both { short first; union u u; char last; };\n";

/// A member of a union.
fn member(random: &mut Rng) -> String {
    match random.usize(..8) {
        0 => format!("i[{}]", random.usize(..2)),
        1 | 2 => format!("c[{}]", random.usize(..8)),
        3 => format!("s[{}]", random.usize(..4)),
        4 => "l".to_string(),
        5 => "t.a".to_string(),
        6 => "t.b".to_string(),
        _ => format!("t.d[{}]", random.usize(..2)),
    }
}

fn statement(random: &mut Rng) -> String {
    let whole = |random: &mut Rng| ["v", "w", "x", "y.u"][random.usize(..4)];
    let (to, from) = (whole(random), whole(random));
    let value = [0, 1, -1, 258, 70_000, -40_000, 1_000_000_007][random.usize(..7)];
    match random.usize(..16) {
        0..4 => format!("{to}.{} = {value};", member(random)),
        4 => format!("{to}.{} = {from}.{};", member(random), member(random)),
        5 => format!("{to} = {from};"),
        6 => format!("{to}.t = {from}.t;"),
        7 => format!("memset(&{to}, {}, sizeof {to});", random.i32(-1..1)),
        8 => format!("memset(&{to}.t, -1, sizeof {to}.t);"),
        9 => format!("memcpy(&{to}, &{from}, sizeof {to});"),
        10 => format!("p = &{to}.i[{}]; *p = {value};", random.usize(..2)),
        11 => format!("q = &{to}.s[{}]; q++; *q = {value}; q[-1] += 3;", random.usize(..3)),
        12 => format!("{{ int *r = (int *){to}.c; r = r + 1; *r = {value}; }}"),
        13 => format!("for (int j = 0; j < 4; j++) {to}.s[j] = {from}.c[j] * 300;"),
        14 => format!("{to}.l += {from}.i[1] ^ {value};"),
        _ => format!("y.last = {from}.{}; z = y; y.u.c[{}]++;", member(random), random.usize(..8)),
    }
}

fn initial(random: &mut Rng) -> String {
    let value = random.i32(-70_000..70_000);
    match random.usize(..6) {
        0 => format!("{{ {value} }}"),
        1 => format!("{{ {{ {value}, 5 }} }}"),
        2 => format!("{{ .l = {value}00000 }}"),
        3 => "{ .s = { 1, -2, [3] = 4 } }".to_string(),
        4 => format!("{{ .t = {{ {value}, -3, {{ 7 }} }} }}"),
        _ => "{ .c = { 1, 2, 3, 250 } }".to_string(),
    }
}

/// Objects and statements, those of static lifetime first.
fn body(random: &mut Rng) -> String {
    let statics = format!(
        "static union u v = {}, w = {}; static int *p; static short *q;",
        initial(random),
        initial(random)
    );
    let locals =
        format!("union u x = {}; struct both y = {{ -9, {}, 3 }}, z = y;", initial(random), initial(random));
    let statements: Vec<String> = (0..random.usize(2..7)).map(|_| statement(random)).collect();
    format!("{statics} {locals} {}", statements.join(" "))
}

/// What is looked at in the end.
fn looked_at() -> Vec<String> {
    let mut places = vec!["y.first".to_string(), "y.last".to_string(), "z.last".to_string()];
    for object in ["v", "w", "x", "y.u", "z.u"] {
        places.extend((0..8).map(|at| format!("{object}.c[{at}]")));
        places.push(format!("{object}.l"));
        places.push(format!("{object}.t.b"));
    }
    places
}

/// What every body ends with, by line; nothing if there is no compiler.
fn observed(bodies: &[String]) -> Option<Vec<Vec<String>>> {
    let prints: String =
        looked_at().iter().map(|place| format!("printf(\"%ld \", (long){place});")).collect();
    let mut text = TYPES.to_string();
    for (at, body) in bodies.iter().enumerate() {
        text += &format!("static void f{at}(void) {{ {body} {prints} puts(\"\"); }}\n");
    }
    let calls: String = (0..bodies.len()).map(|at| format!("f{at}();")).collect();
    text += &format!("int main(void) {{ {calls} return 0; }}\n");
    let program = std::env::temp_dir().join(format!("fencewright-views-{}", std::process::id()));
    let mut command = Command::new("cc");
    command
        .args(["-xc", "-w", "-fwrapv", "-fno-strict-aliasing", "-", "-o"])
        .arg(&program)
        .stdin(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success(), "does not compile:\n{text}");
    let output = Command::new(&program).output().expect("it runs");
    let _ = std::fs::remove_file(&program);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(lines.lines().map(|line| line.split_whitespace().map(str::to_string).collect()).collect())
}

#[test]
fn bytes_are_what_the_machine_says() {
    let mut random = Rng::with_seed(1);
    let bodies: Vec<String> = (0..PROGRAMS).map(|_| body(&mut random)).collect();
    let Some(results) = observed(&bodies) else {
        eprintln!("skipped: there is no cc");
        return;
    };
    assert_eq!(results.len(), bodies.len());
    let options = COptions { overflow: Overflow::Wrap, ..COptions::default() };
    let mut decided = 0;
    for (body, values) in bodies.iter().zip(&results) {
        let claims = looked_at().into_iter().zip(values);
        let claims: Vec<String> =
            claims.map(|(place, value)| format!("assert({place} == {value});")).collect();
        let text = format!("{TYPES}int main(void) {{ {body}\n{} return 0; }}\n", claims.join("\n"));
        let Ok(parsed) = read_c(&text, options.clone()) else { continue };
        assert!(!violated(&parsed.program, Model::Sc), "{text}");
        decided += usize::from(!parsed.program.has_limits());
    }
    assert!(decided * 10 > PROGRAMS * 9, "only {decided}");
}
