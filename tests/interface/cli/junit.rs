//! `--format junit`: XML that parses, with counts that are right.

use super::formats::{all_runs, varied};
use super::robust::COUNTING;
use super::tool::{ENDLESS, Folder, MP, Ran, SB};
use roxmltree::{Document, Node};

fn number(node: Node<'_, '_>, name: &str) -> usize {
    let text = node.attribute(name).unwrap_or_else(|| panic!("`{name}` is missing: {node:?}"));
    text.parse().unwrap_or_else(|_| panic!("{name}={text}"))
}

fn elements<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> Vec<Node<'a, 'i>> {
    node.children().filter(|child| child.has_tag_name(name)).collect()
}

/// Fails unless this is a document as build servers read it; returns its test cases as
/// (file, name, how it ended).
fn check_document(name: &str, ran: &Ran) -> Vec<(String, String, String)> {
    let document = Document::parse(&ran.out).unwrap_or_else(|error| panic!("{name}: {error}: {ran:?}"));
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"), "{name}");
    let mut found = Vec::new();
    let counted = ["tests", "failures", "errors", "skipped"];
    let mut sums = [0; 4];
    for suite in elements(root, "testsuite") {
        let cases = elements(suite, "testcase");
        let with = |tag| cases.iter().filter(|case| !elements(**case, tag).is_empty()).count();
        let here = [cases.len(), with("failure"), with("error"), with("skipped")];
        assert_eq!(counted.map(|count| number(suite, count)), here, "{name}");
        for at in 0..4 {
            sums[at] += here[at];
        }
        for case in cases {
            assert_eq!(case.attribute("classname"), suite.attribute("name"), "{name}");
            let seconds: f64 = case.attribute("time").and_then(|time| time.parse().ok()).expect("a time");
            assert!(seconds >= 0.0);
            let ends: Vec<&str> = ["failure", "error", "skipped"]
                .into_iter()
                .filter(|tag| {
                    let all = elements(case, tag);
                    all.iter().for_each(|end| assert!(end.attribute("message").is_some(), "{name}"));
                    !all.is_empty()
                })
                .collect();
            assert!(ends.len() <= 1, "{name}");
            let text = |name| case.attribute(name).expect("it has a name").to_string();
            found.push((text("classname"), text("name"), ends.first().unwrap_or(&"passed").to_string()));
        }
    }
    assert_eq!(counted.map(|count| number(root, count)), sums, "{name}");
    found
}

#[test]
fn every_document_has_the_form() {
    for (name, ran) in all_runs("junit") {
        let cases = check_document(&name, &ran);
        let ended = |end: &str| cases.iter().any(|case| case.2 == end);
        let worst = match (ended("error"), ended("failure"), ended("skipped")) {
            (true, ..) => 2,
            (_, true, _) => 1,
            (_, _, true) => 3,
            _ => 0,
        };
        // A warning is no end of a test case, but with `--strict` it is one of the command.
        let warned = name.contains("--strict") && (worst, ran.code) == (0, 3);
        assert!(ran.code == worst || warned, "{name}: {} instead of {worst}, {cases:?}", ran.code);
    }
}

#[test]
fn verdicts_are_ends_of_test_cases() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("endless.fw", ENDLESS).write("broken.fw", "shared");
    let args = ["verify", "--format", "junit", "--engine", "explicit", "--states", "1000"];
    let files = ["sb.fw", "mp.fw", "endless.fw", "broken.fw"];
    let ran = folder.run(&[&args[..], &files].concat()).exits(2);
    let expected = [
        ("sb.fw", "tso", "failure"),
        ("mp.fw", "tso", "passed"),
        ("endless.fw", "tso", "skipped"),
        ("broken.fw", "verify", "error"),
    ];
    let expected = expected.map(|(file, name, end)| (file.to_string(), name.to_string(), end.to_string()));
    assert_eq!(check_document("", &ran), expected);
    let document = Document::parse(&ran.out).expect("it parses");
    let text = |tag: &str| {
        let node = document.descendants().find(|node| node.has_tag_name(tag)).expect("there is one");
        (
            node.attribute("message").unwrap_or_default().to_string(),
            node.text().unwrap_or_default().to_string(),
        )
    };
    assert_eq!(text("failure").0, "finally !(P0.a == 0 && P1.b == 0)");
    assert_eq!(text("skipped").0, "the limit on states was reached");
    assert!(text("system-out").1.contains("reaches memory"), "the trace can be read: {ran:?}");
}

#[test]
fn robustness_is_a_test_case_of_its_own() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("counting.fw", COUNTING).write("broken.fw", "shared");
    let ended = |args: &[&str], code: i32| {
        let ran = folder.run(&[args, &["--format", "junit", "--states", "500"]].concat()).exits(code);
        (check_document("", &ran), ran.out)
    };
    let expected = |rows: &[(&str, &str, &str)]| {
        let row =
            |(file, name, end): &(&str, &str, &str)| (file.to_string(), name.to_string(), end.to_string());
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let (cases, out) = ended(&["robust", "sb.fw", "mp.fw", "counting.fw", "broken.fw"], 2);
    let rows = [
        ("sb.fw", "tso robust", "failure"),
        ("mp.fw", "tso robust", "passed"),
        ("counting.fw", "tso robust", "skipped"),
        ("broken.fw", "robust", "error"),
    ];
    assert_eq!(cases, expected(&rows));
    let document = Document::parse(&out).expect("it parses");
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).expect("there is one");
    assert_eq!(failure.attribute("type"), Some("not_robust"));
    let message = failure.attribute("message").unwrap_or_default();
    assert!(message.starts_with("P0 can delay `x = 1` (line 2) past"), "{message}");
    let (cases, out) = ended(&["fence", "--goal", "robust", "sb.fw"], 0);
    assert_eq!(cases, expected(&[("sb.fw", "tso robust fences", "passed")]));
    assert!(out.contains("makes it robust against TSO"), "{out}");
    let (cases, _) = ended(&["fence", "--goal", "robust", "counting.fw"], 3);
    assert_eq!(cases, expected(&[("counting.fw", "tso robust fences", "skipped")]));
}

#[test]
fn names_and_texts_that_are_no_xml_are_escaped() {
    let folder = varied();
    let name = "a <b> & \"c\" [d](e).fw";
    let ran = folder.run(&["verify", "--format", "junit", name, "control.fw"]).exits(2);
    let cases = check_document("", &ran);
    assert_eq!(cases[0], (name.to_string(), "tso".to_string(), "failure".to_string()));
    assert!(!ran.out.contains(['\u{0}', '\u{1}', '\u{1b}']), "{ran:?}");
    let odd = "line\nbreak\t<x>.fw";
    folder.write(odd, SB);
    let ran = folder.run(&["verify", "--format", "junit", odd]).exits(1);
    assert_eq!(check_document("", &ran)[0].0, odd);
}
