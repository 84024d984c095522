//! What the playground's page asks and is told, without a browser: the same answers as on the command line.

use crate::cli::tool::{Folder, run};
use fencewright::playground::{PageHost, answer};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock that stands still.
const STILL: PageHost = PageHost { now: || 0.0, tell: |_| () };

fn ask(request: &Value) -> Value {
    asked_by(request, STILL)
}

fn asked_by(request: &Value, host: PageHost) -> Value {
    serde_json::from_str(&answer(&request.to_string(), host)).expect("answers are JSON")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn corpus(name: &str) -> String {
    std::fs::read_to_string(root().join("corpus").join(name)).expect("it is there")
}

fn question(what: &str, name: &str, text: &str, model: &str) -> Value {
    json!({"do": what, "name": name, "text": text, "model": model, "seconds": 60.0, "megabytes": 2000})
}

/// A program that nobody is done with.
const ENDLESS: &str = "shared x, y; thread P { loop { x = x + y; y = x * x + 1; } } \
    thread Q { loop { y = y + x; } } never x == 0 - 1;";

#[test]
fn verdicts_are_those_of_the_command_line() {
    for name in ["peterson.fw", "sb.fw", "mp.fw", "bakery_fenced.fw", "treiber_stack.fw"] {
        let file = format!("corpus/{name}");
        let native = run(root(), &["verify", "--format", "json", "--model", "all", &file], b"").json();
        assert_eq!(native.len(), 3);
        for expected in native {
            let model = expected["model"].as_str().expect("a model");
            let found = ask(&question("verify", name, &corpus(name), model));
            for field in ["verdict", "violation", "engine", "sc_violation", "trace", "cause", "prevented_by"]
            {
                assert_eq!(found["json"][field], expected[field], "{name} {model}: {field}");
            }
            assert_eq!(found["evidence"].is_string(), expected["verdict"] != "unknown", "{name} {model}");
            let html = found["html"].as_str().expect("markup");
            assert_eq!(html.contains("class=\"timeline\""), expected["verdict"] == "unsafe");
        }
    }
}

#[test]
fn evidence_from_the_page_is_accepted_by_check() {
    let found = ask(&question("verify", "mp.fw", &corpus("mp.fw"), "tso"));
    let folder = Folder::new();
    folder.write("mp.fw", corpus("mp.fw")).write("mp.txt", found["evidence"].as_str().expect("evidence"));
    folder.run(&["check", "mp.fw", "mp.txt"]).exits(0).says("safe");
}

#[test]
fn fences_are_those_of_the_command_line() {
    for (name, model) in [("peterson.fw", "tso"), ("peterson_pso.fw", "pso"), ("peterson_fenced.fw", "tso")] {
        let file = format!("corpus/{name}");
        let native = run(root(), &["fence", "--model", model, "--out", "-", &file], b"").exits(0).out;
        let found = ask(&question("fence", name, &corpus(name), model));
        match found["fenced"].as_str() {
            Some(text) => assert_eq!(text, native, "{name}"),
            None => assert_eq!(native, corpus(name), "{name}: no fence is needed"),
        }
    }
}

#[test]
fn robustness_is_told_and_drawn() {
    let found = ask(&question("robust", "sb.fw", &corpus("sb.fw"), "tso"));
    assert_eq!(found["json"]["verdict"], "not_robust");
    assert!(found["drawing"].as_str().is_some_and(|drawing| drawing.starts_with("<svg")), "{found}");
    let answers = ["tso", "pso"]
        .map(|model| ask(&question("robust", "mp.fw", &corpus("mp.fw"), model))["json"]["verdict"].clone());
    assert_eq!(answers, ["robust", "not_robust"]);
}

#[test]
fn final_states_of_a_litmus_test_are_listed() {
    let text = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 /\\ 1:EAX=0)\n";
    let outcomes = |model| {
        let found = ask(&question("verify", "sb.litmus", text, model));
        found["json"]["outcomes"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((outcomes("sc"), outcomes("tso")), (3, 4));
}

#[test]
fn limits_are_honest() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    // Every look at the clock takes a tenth of a second.
    let hasty = PageHost { now: || CALLS.fetch_add(1, Ordering::SeqCst) as f64 / 10.0, tell: |_| () };
    let late = asked_by(&question("verify", "a.fw", ENDLESS, "tso"), hasty);
    assert_eq!(late["json"]["verdict"], "unknown");
    assert!(late["text"].as_str().is_some_and(|text| text.contains("time limit")), "{late}");
    let mut narrow = question("verify", "a.fw", ENDLESS, "tso");
    narrow["megabytes"] = 1.into();
    let narrow = ask(&narrow);
    assert!(narrow["text"].as_str().is_some_and(|text| text.contains("memory limit")), "{narrow}");
}

#[test]
fn progress_is_told() {
    static TOLD: AtomicU64 = AtomicU64::new(0);
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let host = PageHost {
        now: || CALLS.fetch_add(1, Ordering::SeqCst) as f64,
        tell: |told| {
            let told: Value = serde_json::from_str(told).expect("an object");
            assert!(told["states"].is_u64() && told["phase"].is_string(), "{told}");
            TOLD.fetch_add(1, Ordering::SeqCst);
        },
    };
    asked_by(&question("verify", "a.fw", ENDLESS, "sc"), host);
    assert!(TOLD.load(Ordering::SeqCst) > 10);
}

#[test]
fn texts_are_read_while_somebody_types() {
    let read = |name: &str, text: &str| ask(&json!({"do": "read", "name": name, "text": text}));
    let wrong = read("a.fw", "/* ä🔒 */ shared x; thread P { y = 1; }");
    assert_eq!((&wrong["readable"], &wrong["diagnostics"][0]["severity"]), (&json!(false), &json!("error")));
    // Characters are counted as JavaScript counts them: the lock is two.
    assert_eq!((&wrong["diagnostics"][0]["from"], &wrong["diagnostics"][0]["to"]), (&json!(31), &json!(32)));
    assert!(
        wrong["names"].as_array().is_some_and(|names| names.iter().any(|n| n["label"] == "x")),
        "{wrong}"
    );
    let silent = read("a.fw", "shared x; thread P { x = 1; }");
    assert_eq!(silent["diagnostics"][0]["message"], "nothing is claimed of this program");
    assert_eq!(read("unclear", "???")["language"], Value::Null);
    let words = ask(&json!({"do": "words"}));
    assert!(words["keywords"].as_array().is_some_and(|words| words.len() > 20), "{words}");
}

#[test]
fn a_run_is_taken_step_by_step() {
    let taken = |steps: Value, more: Value| {
        let mut request = json!({"do": "run", "name": "sb.fw", "text": corpus("sb.fw"), "model": "tso"});
        request["steps"] = steps;
        request["surprise"] = more;
        ask(&request)
    };
    let start = taken(json!([]), Value::Null);
    assert_eq!(start["enabled"].as_array().map(Vec::len), Some(2), "{start}");
    let one = taken(json!([[0, null]]), Value::Null);
    let drains =
        one["enabled"].as_array().expect("steps").iter().filter(|step| step["drain"] == true).count();
    assert_eq!(drains, 1, "the store waits: {one}");
    assert!(taken(json!([[9, null]]), Value::Null)["error"].is_string());
    let surprise = taken(json!([[0, null]]), json!(7));
    assert_eq!(surprise, taken(json!([[0, null]]), json!(7)), "the same seed, the same surprise");
    assert!(surprise["violations"].as_array().is_some_and(|found| !found.is_empty()), "{surprise}");
    let again = taken(surprise["steps"].clone(), Value::Null);
    assert_eq!(again["violations"], surprise["violations"]);
}

#[test]
fn values_are_chosen_in_a_run() {
    let text = "shared x = any in 3..9; thread P { let r = any in 0..4; x = r; } never x == 7;";
    let run = |initial: Value, steps: Value| {
        let mut request = json!({"do": "run", "name": "a.fw", "text": text, "model": "sc"});
        request["initial"] = initial;
        request["steps"] = steps;
        ask(&request)
    };
    let start = run(json!([]), json!([]));
    assert_eq!(start["initial"][0]["name"], "x");
    assert!(run(json!([["x", "7"]]), json!([]))["violations"][0].is_string());
    assert!(run(json!([["x", "99"]]), json!([]))["error"].is_string());
    assert!(run(json!([["x", "many"]]), json!([]))["error"].is_string());
    assert!(start["enabled"][0]["choice"]["from"] == "0 to 3", "{start}");
    assert_eq!(run(json!([]), json!([[0, "2"]]))["steps"], json!([[0, "2"]]));
    assert!(run(json!([]), json!([[0, "17"]]))["error"].is_string());
}

#[test]
fn whatever_is_asked_there_is_an_answer() {
    for request in
        ["", "{}", "[]", "{\"do\":\"dance\"}", "{\"do\":\"verify\"}", "{\"do\":\"run\",\"steps\":3}"]
    {
        let answer: Value = serde_json::from_str(&answer(request, STILL)).expect("JSON");
        assert!(answer["error"].is_string(), "{request}: {answer}");
    }
    assert!(ask(&question("verify", "a.fw", "shared x;", "arm"))["error"].is_string());
    let evil = "</script><script>alert(1)</script>.fw";
    let found = ask(&question("verify", evil, "shared x; thread P { x = 1; } never x == 1; // <b>", "tso"));
    for form in ["html", "report"] {
        let markup = found[form].as_str().expect("markup");
        assert!(!markup.contains("<script>alert") && !markup.contains("// <b>"), "{markup}");
    }
    let unreadable = ask(&question("verify", "a.fw", "shared ;", "tso"));
    assert_eq!((&unreadable["word"], &unreadable["json"]["verdict"]), (&json!("error"), &json!("error")));
}
