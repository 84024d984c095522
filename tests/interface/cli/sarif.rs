//! `--format sarif`: against the standard's schema, and against what code scanning asks for.

use super::formats::all_runs;
use super::robust::COUNTING;
use super::tool::{Folder, MP, Ran, SB, run};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn cargo(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes text")
}

/// The standard's schema, from the sources of the crate that ships it: it is not ours to copy.
fn standard() -> jsonschema::Validator {
    let platform = ["--filter-platform", "wasm32-unknown-unknown"];
    let output = cargo(&[["metadata", "--locked"], ["--format-version", "1"], platform].concat());
    let metadata: Value = serde_json::from_str(&output).expect("cargo knows its packages");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let package = packages.iter().find(|package| package["name"] == "serde-sarif").expect("it is one");
    let manifest = Path::new(package["manifest_path"].as_str().expect("it has a path"));
    let text =
        std::fs::read(manifest.with_file_name("src").join("schema.json")).expect("it ships the schema");
    let mut schema: Value = serde_json::from_slice(&text).expect("the schema is JSON");
    assert_eq!(schema["additionalProperties"], false, "this schema is a strict one");
    // The pattern for languages has a bracket too many and is no regular expression.
    for of in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][of]["properties"]["language"];
        language.as_object_mut().expect("there is a language").remove("pattern");
    }
    jsonschema::draft7::new(&schema).expect("the schema is one")
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn results(document: &Value) -> &Vec<Value> {
    document["runs"][0]["results"].as_array().expect("there is a list of results")
}

/// What code scanning wants of a place.
fn check_place(place: &Value) {
    let physical = &place["physicalLocation"];
    let uri = physical["artifactLocation"]["uri"].as_str().expect("a place has a file");
    assert!(!uri.is_empty() && !uri.contains([' ', '<', '"', '\\', ':']), "{uri}");
    let region = &physical["region"];
    let number = |name: &str| region[name].as_u64();
    assert!(number("startLine").is_some_and(|line| line >= 1), "{place}");
    if let (Some(start), Some(end)) = (number("startColumn"), number("endColumn")) {
        let lines = (number("startLine"), number("endLine"));
        assert!(start >= 1 && (lines.0 < lines.1 || start <= end), "{place}");
    }
}

fn check_document(name: &str, document: &Value) {
    assert_eq!(document["version"], "2.1.0");
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(1), "{name}");
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    let mut fingerprints = BTreeSet::new();
    for result in results(document) {
        let rule = &rules[result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"], "{name}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap_or("")), "{name}");
        assert!(!result["message"]["text"].as_str().expect("a message").is_empty(), "{name}");
        result["locations"].as_array().expect("locations").iter().for_each(check_place);
        for flow in result["codeFlows"].as_array().into_iter().flatten() {
            let steps = flow["threadFlows"][0]["locations"].as_array().expect("steps");
            assert!(!steps.is_empty());
            steps.iter().for_each(|step| check_place(&step["location"]));
        }
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let fingerprint = &result["partialFingerprints"]["primaryLocationLineHash"];
        assert!(fingerprints.insert(format!("{place} {fingerprint}")), "{name}: twice the same: {result}");
    }
    for rule in rules {
        for field in ["id", "name"] {
            assert!(rule[field].is_string(), "{rule}");
        }
        for field in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[field]["text"].is_string(), "{rule}");
        }
    }
}

#[test]
fn every_document_follows_the_standard() {
    let standard = standard();
    let mut seen = BTreeSet::new();
    for (name, ran) in all_runs("sarif") {
        let document = document(&ran);
        let errors: Vec<String> = standard
            .iter_errors(&document)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        check_document(&name, &document);
        let invocation = &document["runs"][0]["invocations"][0];
        assert_eq!(invocation["exitCode"], ran.code, "{name}");
        seen.extend(results(&document).iter().map(|result| result["ruleId"].to_string()));
    }
    for rule in [1, 2, 3, 4, 5, 6, 7, 9] {
        assert!(seen.contains(&format!("\"FW{rule:03}\"")), "no run had a result of rule {rule}: {seen:?}");
    }
}

#[test]
fn a_violation_stands_at_its_claim_with_its_steps() {
    let folder = Folder::new();
    folder.write("locks/sb.fw", SB);
    let ran = folder.run(&["verify", "--format", "sarif", "./locks/sb.fw"]).exits(1);
    let document = document(&ran);
    let [result] = &results(&document)[..] else { panic!("one result: {document}") };
    assert_eq!(result["ruleId"], "FW001");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "locks/sb.fw");
    assert_eq!(place["region"]["startLine"], 4);
    assert_eq!(place["region"]["startColumn"], 1);
    let text = result["message"]["text"].as_str().expect("a text");
    assert!(text.starts_with("unsafe under TSO: finally !(P0.a == 0 && P1.b == 0). "), "{text}");
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    let line = |at: usize| &steps[at]["location"]["physicalLocation"]["region"]["startLine"];
    let said = |at: usize| steps[at]["location"]["message"]["text"].as_str().unwrap_or_default();
    let drain = (0..steps.len()).find(|at| said(*at).contains("x = 1 reaches memory")).expect("x drains");
    assert_eq!(*line(drain), 2, "a drain stands where its store does");
    let orders: Vec<u64> = steps.iter().filter_map(|step| step["executionOrder"].as_u64()).collect();
    assert_eq!(orders, (1..=steps.len() as u64).collect::<Vec<_>>());
}

#[test]
fn columns_count_utf16_units() {
    let folder = Folder::new();
    folder.write("wide.fw", "shared x; /* 𝔸𝔹 */ thread P { y = 1; }\n");
    let document = document(&folder.run(&["verify", "--format", "sarif", "wide.fw"]).exits(2));
    assert_eq!(document["runs"][0]["columnKind"], "utf16CodeUnits");
    let text = "shared x; /* 𝔸𝔹 */ thread P { ";
    let region = &results(&document)[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startColumn"], text.encode_utf16().count() + 1);
}

#[test]
fn fixes_write_the_fences() {
    let folder = Folder::new();
    folder.write("sb.fw", SB);
    let document = document(&folder.run(&["fence", "--format", "sarif", "sb.fw"]).exits(0));
    let mut lines: Vec<String> = SB.lines().map(str::to_string).collect();
    assert_eq!(results(&document).len(), 2);
    for result in results(&document) {
        assert_eq!(result["ruleId"], "FW003");
        let change = &result["fixes"][0]["artifactChanges"][0];
        assert_eq!(change["artifactLocation"]["uri"], "sb.fw");
        let replacement = &change["replacements"][0];
        let region = &replacement["deletedRegion"];
        let number = |name: &str| region[name].as_u64().expect("a number") as usize;
        assert_eq!(number("startLine"), number("endLine"));
        let range = number("startColumn") - 1..number("endColumn") - 1;
        let text = replacement["insertedContent"]["text"].as_str().expect("a text");
        lines[number("startLine") - 1].replace_range(range, text);
    }
    let fenced = folder.run(&["fence", "--out", "-", "sb.fw"]).exits(0).out;
    assert_eq!(lines.join("\n") + "\n", fenced);
}

#[test]
fn what_is_not_robust_stands_at_the_store_that_is_delayed() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("counting.fw", COUNTING);
    let args = ["robust", "--format", "sarif", "--states", "500", "sb.fw", "mp.fw", "counting.fw"];
    let found = document(&folder.run(&args).exits(1));
    let [delayed, unknown] = &results(&found)[..] else { panic!("what is robust gives none: {found}") };
    assert_eq!((&delayed["ruleId"], &delayed["level"]), (&"FW009".into(), &"warning".into()));
    let place = &delayed["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "sb.fw");
    assert_eq!(place["region"]["startLine"], 2);
    let text = delayed["message"]["text"].as_str().expect("a text");
    assert!(text.starts_with("not robust against TSO: P0 can delay `x = 1` (line 2) past"), "{text}");
    let steps = delayed["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    assert_eq!(steps.len(), 6, "the whole run: {delayed}");
    assert_eq!(unknown["ruleId"], "FW005");
    // A witness is the same result, whoever found it.
    folder.run(&["robust", "--evidence", "proofs", "sb.fw"]).exits(1);
    let args = ["check", "--format", "sarif", "sb.fw", "proofs/sb.tso.witness.txt"];
    let checked = document(&folder.run(&args).exits(0));
    assert_eq!(results(&checked)[0]["partialFingerprints"], delayed["partialFingerprints"]);
}

#[test]
fn fences_for_robustness_are_needed_fences() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP);
    let fence = |file: &str| {
        document(&folder.run(&["fence", "--goal", "robust", "--format", "sarif", file]).exits(0))
    };
    let found = fence("sb.fw");
    let lines: Vec<&Value> = results(&found)
        .iter()
        .map(|result| &result["locations"][0]["physicalLocation"]["region"]["startLine"])
        .collect();
    assert_eq!(lines, [2, 3]);
    for result in results(&found) {
        assert_eq!(result["ruleId"], "FW003");
        let text = result["message"]["text"].as_str().expect("a text");
        assert!(text.starts_with("needed for robustness against TSO: "), "{text}");
    }
    assert_eq!(results(&fence("mp.fw")).len(), 0);
}

#[test]
fn one_document_whatever_the_number_of_files_and_threads() {
    let folder = Folder::new();
    for number in 0..20 {
        folder.write(&format!("{number:02}.fw"), if number % 3 == 0 { MP } else { SB });
    }
    let verify = |threads: &str| {
        folder.run(&["verify", "--format", "sarif", "--model", "all", "-j", threads, "."]).exits(1)
    };
    let one = verify("1");
    assert_eq!(one, verify("7"));
    let document = document(&one);
    // Twice (TSO, PSO) for store buffering, once (PSO) for message passing.
    assert_eq!(results(&document).len(), 2 * 13 + 7);
}

#[test]
fn fingerprints_stay_when_lines_move() {
    let folder = Folder::new();
    let fingerprints = |text: &str| {
        folder.write("sb.fw", text);
        let ran = folder.run(&["verify", "--format", "sarif", "--model", "all", "sb.fw"]).exits(1);
        let print = |result: &Value| result["partialFingerprints"]["primaryLocationLineHash"].to_string();
        results(&document(&ran)).iter().map(print).collect::<Vec<_>>()
    };
    let before = fingerprints(SB);
    assert_eq!(before.len(), 2);
    assert_ne!(before[0], before[1], "TSO and PSO are different problems");
    assert_eq!(before, fingerprints(&format!("// A remark.\n\n{SB}")));
    assert_ne!(before, fingerprints(&SB.replace("finally !(P0.a == 0", "finally !(P0.a != 1")));
}

#[test]
fn ci_reports_what_is_not_expected() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP);
    let rules = |config: &str, code: i32| {
        folder.write("fencewright.toml", config);
        let document = document(&folder.run(&["ci", "--format", "sarif"]).exits(code));
        let rule = |result: &Value| result["ruleId"].as_str().unwrap_or_default().to_string();
        (results(&document).iter().map(rule).collect::<Vec<_>>(), document)
    };
    assert_eq!(rules("[[program]]\nfile = \"sb.fw\"\nexpect = \"unsafe\"\n", 0).0, [""; 0]);
    assert_eq!(rules("[[program]]\nfile = \"sb.fw\"\n", 1).0, ["FW001", "FW003"]);
    let (found, document) = rules("[[program]]\nfile = \"mp.fw\"\nexpect = \"unsafe\"\n", 1);
    assert_eq!(found, ["FW008"]);
    let related = &results(&document)[0]["relatedLocations"][0]["physicalLocation"];
    assert_eq!(related["artifactLocation"]["uri"], "fencewright.toml");
    assert_eq!(related["region"]["startLine"], 2);
    let (found, document) = rules("[[program]]\nfiel = \"mp.fw\"\n", 2);
    assert_eq!(found, ["FW006"]);
    let place = &results(&document)[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "fencewright.toml");
    assert_eq!(place["region"]["startLine"], 2);
}

#[test]
fn what_cannot_be_read_is_a_notification() {
    let folder = Folder::new();
    folder.write("sb.fw", SB);
    let ran = folder.run(&["verify", "--format", "sarif", "no.fw", "sb.fw"]).exits(2);
    let found = document(&ran);
    let invocation = &found["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let text = &invocation["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(text, "no.fw: there is no such file");
    assert_eq!(results(&found).len(), 1);
    // A command that cannot even start still gives a document.
    folder.write("file", "");
    let ran = folder.run(&["verify", "--format", "sarif", "--evidence", "file", "sb.fw"]).exits(2);
    let found = document(&ran);
    let text =
        found["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].to_string();
    assert!(text.contains("cannot write"), "{text}");
}

#[test]
fn a_program_on_standard_output_leaves_the_document_for_standard_error() {
    let folder = Folder::new();
    let args = ["fence", "--format", "sarif", "--out", "-", "-"];
    let ran = run(folder.path(), &args, SB.as_bytes()).exits(0);
    assert!(ran.out.starts_with("shared x, y;"), "{ran:?}");
    let document: Value = serde_json::from_str(&ran.err).expect("a document");
    assert_eq!(results(&document).len(), 2);
}
