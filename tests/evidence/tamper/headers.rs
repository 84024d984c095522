//! The first line of every kind of evidence: no field of it is decoration.
//!
//! Each field is changed, taken away and doubled. Whatever is changed, evidence is rejected; with
//! one exception: another model may be claimed, and then the claim is about that model and true.

use super::subjects::{LARGE, check_bytes, corpus_program, written};
use engine::{Cegar, Engine, Explicit, FinalStates, GapProofs, Lazy, Robust, Run};
use evidence::{Claim, FileError, Form, Goal, Task, Verdict, fingerprint};
use frontend::Options;
use machine::{MODELS, TSO};
use program::{Program, Source};
use serde_json::{Value, json};

const KINDS: [&str; 8] =
    ["trace", "closed-set", "gap-set", "cube-set", "witness", "robust", "robust-set", "outcomes"];

/// Counts for ever, with a fence so that buffers do not grow; the text alone does not say that it
/// is robust.
const COUNTING: &str = "shared x, y; thread P { let a; loop { x = x + 1; fence; a = y; } }
    thread Q { let b, c; y = 1; b = x; c = x; assert c >= b; }";

/// Safe under TSO, though not robust: both stores show late, and the property does not mind.
const DELAYS: &str = "shared x, y;
    thread P { let a; x = 1; a = y; p: skip; }
    thread Q { let b; y = 1; b = x; q: skip; }
    never P@p && Q@q && (P.a == 2 || Q.b == 2);";

/// Asks for final states.
const LITMUS: &str = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n\
    MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

/// A file of one kind.
struct Sample {
    kind: &'static str,
    program: Program,
    text: Vec<u8>,
    json: Vec<u8>,
}

fn corpus(name: &str) -> Program {
    corpus_program(&support::root().join("corpus").join(name))
}

fn parse(name: &str, text: &str) -> Program {
    let frontend = frontend::choose(None, name, text).expect("a known language");
    (frontend.read)(Source::new(name, text), &Options::default()).expect("a program").program
}

/// What an engine says of a program, in both forms.
fn answered(kind: &'static str, program: Program, engine: &dyn Engine) -> Sample {
    sample(kind, program, Goal::Safe, engine)
}

fn sample(kind: &'static str, program: Program, goal: Goal, engine: &dyn Engine) -> Sample {
    let task = Task { program: &program, model: TSO, goal };
    let verdict = engine.verify(&task, &Run::default()).verdict;
    let (text, json) = (written(&task, &verdict, Form::Text), written(&task, &verdict, Form::Json));
    Sample { kind, text, json, program }
}

/// A file of every kind.
fn samples() -> Vec<Sample> {
    let samples = vec![
        answered("trace", corpus("peterson.fw"), &Explicit),
        answered("closed-set", corpus("peterson_fenced.fw"), &Explicit),
        answered("gap-set", parse("counting.fw", COUNTING), &GapProofs),
        answered("cube-set", corpus("peterson_fenced.fw"), &Cegar),
        sample("witness", corpus("peterson.fw"), Goal::Robust, &Robust::default()),
        sample("robust", corpus("peterson_fenced.fw"), Goal::Robust, &Robust::default()),
        answered("robust-set", parse("delays.fw", DELAYS), &Lazy),
        sample("outcomes", parse("sb.litmus", LITMUS), Goal::FinalStates, &FinalStates),
    ];
    let kinds: Vec<&str> = samples.iter().map(|sample| sample.kind).collect();
    assert_eq!(kinds, KINDS);
    samples
}

/// The file with another first line.
fn with_head(file: &[u8], head: &str) -> Vec<u8> {
    let body = file.iter().position(|byte| *byte == b'\n').expect("several lines");
    [head.as_bytes(), &file[body..]].concat()
}

fn words(file: &[u8]) -> Vec<String> {
    let line = file.split(|byte| *byte == b'\n').next().expect("a line");
    let line = std::str::from_utf8(line).expect("text");
    line.split(' ').map(str::to_string).collect()
}

fn object(file: &[u8]) -> Value {
    let line = file.split(|byte| *byte == b'\n').next().expect("a line");
    serde_json::from_slice(line).expect("JSON")
}

impl Sample {
    /// Both forms with the field of the head changed.
    fn changed(&self, field: &str, value: &Value) -> [Result<Claim, FileError>; 2] {
        let at = ["", "version", "kind", "model", "program"].iter().position(|name| *name == field);
        let mut head = words(&self.text);
        head[at.expect("a field")] = value.as_str().map_or(value.to_string(), str::to_string);
        let text = with_head(&self.text, &head.join(" "));
        let mut head = object(&self.json);
        head["evidence"][field] = value.clone();
        [text, with_head(&self.json, &head.to_string())].map(|file| check_bytes(&self.program, &file, LARGE))
    }
}

fn model_of(claim: &Claim) -> &'static str {
    match claim {
        Claim::Safe(model, _) | Claim::Unsafe(model, ..) | Claim::Within(model, ..) => model.name(),
        Claim::Robust(model, _) | Claim::NotRobust(model, _) | Claim::Outcomes(model, _) => model.name(),
    }
}

#[test]
fn samples_are_evidence_of_their_kind() {
    for sample in samples() {
        assert_eq!(words(&sample.text)[2], sample.kind);
        for file in [&sample.text, &sample.json] {
            let claim = check_bytes(&sample.program, file, LARGE);
            assert_eq!(claim.as_ref().map(model_of).ok(), Some("tso"), "{}: {claim:?}", sample.kind);
        }
    }
}

#[test]
fn another_version_kind_or_program_is_rejected() {
    let other = fingerprint(&corpus("dekker.fw"));
    for sample in samples() {
        let kinds = KINDS.iter().filter(|kind| **kind != sample.kind).map(|kind| ("kind", json!(kind)));
        let more = [
            ("version", json!(0)),
            ("version", json!(2)),
            ("version", json!(-1)),
            ("kind", json!("")),
            ("kind", json!("set")),
            ("model", json!("")),
            ("model", json!("TSO")),
            ("model", json!("arm")),
            ("program", json!("")),
            ("program", json!("0")),
            ("program", json!(other)),
        ];
        for (field, value) in kinds.chain(more) {
            for claim in sample.changed(field, &value) {
                assert!(claim.is_err(), "{} with {field} {value}: {claim:?}", sample.kind);
            }
        }
    }
}

#[test]
fn a_claim_is_about_the_model_of_the_header() {
    for sample in samples() {
        for model in MODELS.iter().filter(|model| **model != TSO) {
            for claim in sample.changed("model", &json!(model.name())) {
                let what = format!("{} as {}: {claim:?}", sample.kind, model.name());
                let Ok(claim) = claim else { continue };
                assert_eq!(model_of(&claim), model.name(), "{what}");
                // What is accepted must be true.
                let task = Task::robust(&sample.program, *model);
                let answer = || Robust::default().verify(&task, &Run::default()).verdict;
                match claim {
                    Claim::Robust(..) => assert!(matches!(answer(), Verdict::Robust(_)), "{what}"),
                    Claim::NotRobust(..) => assert!(matches!(answer(), Verdict::NotRobust(_)), "{what}"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn fields_are_neither_left_out_nor_added() {
    for sample in samples() {
        let head = words(&sample.text);
        for at in 1..head.len() {
            let left_out = [&head[..at], &head[at + 1..]].concat();
            let doubled = [&head[..=at], &head[at..]].concat();
            for head in [left_out, doubled] {
                let file = with_head(&sample.text, &head.join(" "));
                assert!(check_bytes(&sample.program, &file, LARGE).is_err(), "{}: {head:?}", sample.kind);
            }
        }
        let head = object(&sample.json);
        let mut heads = Vec::new();
        for field in ["version", "kind", "model", "program"] {
            let mut left_out = head.clone();
            left_out["evidence"].as_object_mut().expect("an object").remove(field);
            heads.push(left_out);
        }
        let mut added = head.clone();
        added["evidence"]["proves"] = json!("everything");
        let mut beside = head;
        beside["proves"] = json!("everything");
        for head in heads.into_iter().chain([added, beside]) {
            let file = with_head(&sample.json, &head.to_string());
            assert!(check_bytes(&sample.program, &file, LARGE).is_err(), "{}: {head}", sample.kind);
        }
    }
}
