//! `--format json` and its published schema.

use super::formats::{all_runs, varied};
use super::tool::Folder;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PUBLISHED: &str = include_str!("../../../docs/schema/fencewright-1.json");
const DESCRIBED: &str = include_str!("../../../docs/cli.md");

/// Objects whose fields are names of the program or of columns, not ours.
const OTHERS_NAMES: [&str; 3] = ["initial", "outcomes", "row"];

/// Every answer that commands have.
const ANSWERS: [&str; 27] = [
    "bench",
    "check error",
    "check not_robust",
    "check robust",
    "check safe",
    "check unknown",
    "check unsafe",
    "ci",
    "ci error",
    "fence error",
    "fence robust",
    "fence safe",
    "fence unknown",
    "fence unsafe",
    "list",
    "outcome",
    "plan",
    "robust error",
    "robust not_robust",
    "robust robust",
    "robust unknown",
    "run",
    "run error",
    "verify error",
    "verify safe",
    "verify unknown",
    "verify unsafe",
];

fn schema() -> Validator {
    let schema: Value = serde_json::from_str(PUBLISHED).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("no schema: {error}"));
    jsonschema::draft202012::new(&schema).expect("the schema is one")
}

fn wrong(schema: &Validator, line: &Value) -> Option<String> {
    let errors: Vec<String> =
        schema.iter_errors(line).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

#[test]
fn every_line_of_every_command_follows_it() {
    let schema = schema();
    let mut answers = BTreeSet::new();
    for (name, ran) in all_runs("json") {
        for line in ran.json() {
            if let Some(errors) = wrong(&schema, &line) {
                panic!("{name}\n{errors}\n{line}");
            }
            let mut keys = BTreeSet::new();
            our_names(&line, &mut keys);
            for key in keys {
                assert!(PUBLISHED.contains(&format!("\"{key}\"")), "{name}: `{key}` is not in the schema");
                let described = [format!("`{key}`"), format!(".{key}`")];
                assert!(described.iter().any(|text| DESCRIBED.contains(text)), "{name}: what is `{key}`?");
            }
            let word = |field: &str| line[field].as_str().unwrap_or_default().to_string();
            answers.insert(format!("{} {}", word("command"), word("verdict")).trim().to_string());
        }
    }
    assert_eq!(answers.iter().map(String::as_str).collect::<Vec<_>>(), ANSWERS);
}

#[test]
fn programs_made_to_order_follow_it() {
    let (schema, folder) = (schema(), Folder::new());
    for what in ["ring", "dlcs", "intersection", "random"] {
        let ran = folder.run(&["generate", what, "--format", "json"]);
        for line in ran.json() {
            assert_eq!(wrong(&schema, &line), None, "{line}");
            assert!(line["text"].as_str().is_some_and(|text| text.contains("thread")), "{line}");
        }
    }
}

/// The names of all fields that we gave, at any depth.
fn our_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                names.insert(key.clone());
                if !OTHERS_NAMES.contains(&key.as_str()) {
                    our_names(inner, names);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| our_names(inner, names)),
        _ => {}
    }
}

/// Lines with as many different fields as there are.
fn samples() -> Vec<Value> {
    let folder = varied();
    let mut lines = Vec::new();
    for args in [
        &["verify", "sb.fw"][..],
        &["verify", "mp.fw"],
        &["verify", "sb.litmus"],
        &["verify", "--outcomes", "sb.litmus"],
        &["verify", "broken.fw"],
        &["verify", "--engine", "explicit", "--states", "10", "endless.fw"],
        &["fence", "--all", "sb.fw"],
        &["check", "sb.fw", "proofs/sb.tso.trace.txt"],
        &["check", "mp.fw", "proofs/mp.tso.closed.txt"],
        &["check", "sb.fw", "proofs/sb.tso.witness.txt"],
        &["check", "mp.fw", "proofs/mp.tso.robust.txt"],
        &["check", "sb.litmus", "proofs/sb.tso.outcomes.txt"],
        &["check", "fenced.fw", "proofs/fenced.tso.cubes.txt"],
        &["verify", "--engine", "cegar", "endless.fw"],
        &["robust", "sb.fw"],
        &["robust", "--evidence", "more", "mp.fw"],
        &["robust", "--states", "500", "counting.fw"],
        &["robust", "broken.fw"],
        &["fence", "race.fw"],
        &["fence", "--goal", "robust", "--all", "--points", "all", "sb.fw"],
        &["fence", "--goal", "robust", "--states", "500", "counting.fw"],
        &["fence", "--goal", "robust", "broken.fw"],
        &["verify", "--explain-plan", "endless.fw"],
        &["verify", "--explain-plan", "sb.litmus"],
        &["bench"],
        &["bench", "--timeout", "0", "--corpora", "none", "robust"],
        &["run", "sb.fw"],
    ] {
        lines.extend(folder.run(&[args, &["--format", "json"]].concat()).json());
    }
    folder.write("fencewright.toml", "[[program]]\nfile = \"sb.fw\"\n");
    lines.extend(folder.run(&["ci", "--format", "json"]).json());
    lines
}

/// Every field of the line and of the first object in each list, as JSON pointers.
fn fields(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                found.push(pointer.clone());
                fields(inner, &pointer, found);
            }
        }
        Value::Array(list) => {
            if let Some(first) = list.first() {
                fields(first, &format!("{pointer}/0"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn a_wrong_type_anywhere_is_noticed() {
    let schema = schema();
    for line in samples() {
        let mut found = Vec::new();
        fields(&line, "", &mut found);
        for pointer in found {
            let mut broken = line.clone();
            *broken.pointer_mut(&pointer).expect("it is there") = json!([{"of": ["no", "type"]}]);
            assert!(wrong(&schema, &broken).is_some(), "{pointer} may be anything in {line}");
        }
    }
}

#[test]
fn a_missing_field_is_noticed() {
    let schema = schema();
    for line in samples() {
        for key in line.as_object().expect("an object").keys() {
            // Without it, a line is one of another kind that has fewer fields.
            if key == "condition" {
                continue;
            }
            let mut broken = line.clone();
            broken.as_object_mut().expect("an object").remove(key);
            assert!(wrong(&schema, &broken).is_some(), "`{key}` may be missing in {line}");
        }
        let mut without = line.clone();
        if let Some(step) = without.pointer_mut("/trace/0").and_then(Value::as_object_mut) {
            step.remove("event");
            assert!(wrong(&schema, &without).is_some(), "a step needs an event: {line}");
        }
    }
}

#[test]
fn contradictions_are_noticed_and_added_fields_are_not() {
    let schema = schema();
    for line in samples() {
        let mut more = line.clone();
        more["added_later"] = json!({"any": "thing"});
        if let Some(step) = more.pointer_mut("/trace/0") {
            step["added_later"] = json!(1);
        }
        assert_eq!(wrong(&schema, &more), None);
        for (field, value) in [
            ("schema", json!("fencewright/2")),
            ("command", json!("verfy")),
            ("verdict", json!("perhaps")),
            ("model", json!("arm")),
        ] {
            if line.get(field).is_some() {
                let mut broken = line.clone();
                broken[field] = value;
                assert!(wrong(&schema, &broken).is_some(), "{broken}");
            }
        }
        for (field, value) in contradictions(&line) {
            let mut broken = line.clone();
            broken[field] = value;
            assert!(wrong(&schema, &broken).is_some(), "`{field}` does not fit the rest: {broken}");
        }
    }
}

/// Values of fields that are right elsewhere, but not in a line like this one.
fn contradictions(line: &Value) -> Vec<(&'static str, Value)> {
    let word = |field: &str| line[field].as_str().unwrap_or_default();
    let mut wrong = Vec::new();
    match (word("command"), word("verdict")) {
        (_, "unsafe") if line.get("condition").is_none() => wrong.push(("violation", Value::Null)),
        ("verify", verdict) => {
            wrong.push(("verdict", json!("robust")));
            if verdict == "safe" {
                let fence = json!({"thread": "P", "line": 1, "after": "x = 1", "kind": "full", "place": 0});
                wrong.push(("prevented_by", json!([fence])));
            }
        }
        ("check", _) if line.get("condition").is_some() => {
            wrong.extend([("holds", Value::Null), ("complete", json!(false))]);
        }
        ("check", "robust") => wrong.extend([("model", json!("pso")), ("verdict", json!("not_robust"))]),
        ("robust", "robust") => wrong.extend([("checked", json!(false)), ("verdict", json!("safe"))]),
        (_, "not_robust") => wrong.extend([("witness", Value::Null), ("model", json!("sc"))]),
        ("fence", "robust") => {
            wrong.extend([("goal", json!("safe")), ("safety", Value::Null), ("checked", json!(false))]);
        }
        ("fence", "safe") => wrong.extend([("goal", json!("robust")), ("verdict", json!("robust"))]),
        _ => {}
    }
    wrong
}

#[test]
fn a_run_names_the_fence_that_prevents_it() {
    let folder = varied();
    let prevented = |args: &[&str]| {
        let ran = folder.run(&[&["verify", "--format", "json"], args].concat()).exits(1);
        ran.json().remove(0)["prevented_by"].clone()
    };
    let fence = prevented(&["sb.fw"]);
    let [fence] = &fence.as_array().expect("there is one")[..] else { panic!("in one thread: {fence}") };
    assert_eq!((&fence["kind"], &fence["place"]), (&json!("full"), &json!(0)));
    // What the text report says in words.
    let text = folder.run(&["verify", "sb.fw"]).exits(1);
    let after = fence["after"].as_str().expect("a statement");
    text.says(&format!("A full fence after `{after}` (line {}) prevents this run.", fence["line"]));
    assert_eq!(prevented(&["--model", "pso", "mp.fw"])[0]["kind"], "store");
    // Where SC fails too, none helps.
    assert_eq!(prevented(&["race.fw"]), Value::Null);
    assert_eq!(prevented(&["--model", "sc", "race.fw"]), Value::Null);
}

#[test]
fn the_command_prints_the_published_schema() {
    let ran = Folder::new().run(&["schema"]).exits(0);
    assert_eq!(ran.out, PUBLISHED);
}
