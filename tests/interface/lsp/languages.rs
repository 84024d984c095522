//! The quick fix in all four languages: applied, the program is proved.

use super::client::Client;
use serde_json::{Value, json};

const FW: &str = "shared x, y;\nthread P0 { x = 1; await y == 0; cs: skip; x = 0; }\nthread P1 { y = 1; await x == 0; cs: skip; y = 0; }\nnever P0@cs && P1@cs;\n";

const RMM: &str = "forbidden
  cs cs
data
  x = 0 : Z
  y = 0 : Z
process
registers
  $t = 0 : Z
text
L0: write: x := 1;
L1: read: $t := y;
L2: assume: $t = 0;
cs: nop;
L4: write: x := 0
process
registers
  $t = 0 : Z
text
L0: write: y := 1;
L1: read: $t := x;
L2: assume: $t = 0;
cs: nop;
L4: write: y := 0
";

const TRENCHER: &str = "thread P0
initial q0
final cs
transition q0 q1 write 1 0
transition q1 q2 read t1 1
transition q2 cs check == t1 0
end
thread P1
initial q0
final cs
transition q0 q1 write 1 1
transition q1 q2 read t1 0
transition q2 cs check == t1 0
end
";

const LITMUS: &str = "X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
~exists (0:EAX=0 /\\ 1:EAX=0)
";

fn check(name: &str, language: &str, text: &str, broken: (&str, &str), fence: &str, hovered: &str) {
    let uri = format!("file:///tests/{name}");
    let mut client = Client::usual();
    // A mistake first: every language reports it with its place.
    client.open(&uri, language, &text.replacen(broken.0, broken.1, 1));
    let wrong = client.diagnostics(&uri, |all| all.iter().any(|d| d["severity"] == 1));
    assert!(wrong.iter().all(|d| d.get("code").is_none()), "{name}: {wrong:?}");
    client.replace(&uri, text);
    let verdict = client.verdict(&uri);
    assert_eq!((&verdict["code"], &verdict["severity"]), (&json!("unsafe"), &json!(1)), "{name}: {verdict}");
    let run = verdict["relatedInformation"].as_array().expect("the run");
    assert!(run.iter().any(|r| r["message"].as_str().is_some_and(|m| m.contains("not under SC"))), "{run:?}");
    let params = json!({"textDocument": {"uri": uri}, "range": verdict["range"], "context": {}});
    let actions = client.ask("textDocument/codeAction", params).expect("an answer");
    let action = client.ask("codeAction/resolve", actions[0].clone()).expect("fences");
    let edits = action["edit"]["documentChanges"][0]["edits"].as_array().expect("edits").clone();
    client.apply(&uri, &edits);
    let fenced = client.texts[&uri].1.clone();
    assert_eq!(fenced.to_lowercase().matches(fence).count(), 2, "{fenced}");
    let verdict = client.verdict(&uri);
    assert_eq!(verdict["severity"], 3, "{name}: {verdict}");
    let message = verdict["message"].as_str().expect("a text");
    assert!(
        message.starts_with("safe (tso)") || message.starts_with("the condition holds (tso)"),
        "{message}"
    );
    let hover = client.ask("textDocument/hover", client.place(&uri, hovered)).expect("an answer");
    let known = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(known.contains("Proved under tso") && known.contains("its buffer is empty"), "{name}: {hover}");
    let symbols = json!({"textDocument": {"uri": uri}});
    let symbols = client.ask("textDocument/documentSymbol", symbols).expect("an answer");
    let names: Vec<&str> =
        symbols.as_array().expect("a list").iter().filter_map(|s| s["name"].as_str()).collect();
    assert!(names.contains(&"P0") && names.contains(&"P1"), "{name}: {names:?}");
    assert_eq!(client.leave(), 0);
}

#[test]
fn our_own() {
    check("d.fw", "fencewright", FW, ("await y", "await z"), "fence;", "await y");
}

#[test]
fn memorax() {
    check("d.rmm", "", RMM, ("read: $t", "read: $u"), "fence;", "read: $t");
}

#[test]
fn trencher() {
    check("d.txt", "trencher", TRENCHER, ("check == t1", "check =!= t1"), "mfence", "transition q1 q2");
}

#[test]
fn litmus() {
    check("SB.litmus", "litmus", LITMUS, ("MOV EAX,[y]", "MOVE EAX,[y]"), "mfence", "MOV EAX,[y]");
}

#[test]
fn an_outcome_that_is_asked_for_can_be_forbidden() {
    let uri = "file:///SB.litmus";
    let mut client = Client::usual();
    client.open(uri, "litmus", &LITMUS.replace("~exists", "exists"));
    let verdict = client.verdict(uri);
    assert_eq!((&verdict["code"], &verdict["severity"]), (&json!("observed"), &json!(3)), "{verdict}");
    let message = verdict["message"].as_str().expect("a text");
    assert!(message.starts_with("the condition holds (tso), true in 1 of 4 final states\n"), "{message}");
    let params = json!({"textDocument": {"uri": uri}, "range": verdict["range"], "context": {}});
    let actions = client.ask("textDocument/codeAction", params).expect("an answer");
    let action = client.ask("codeAction/resolve", actions[0].clone()).expect("fences");
    let edits = action["edit"]["documentChanges"][0]["edits"].as_array().expect("edits").clone();
    client.apply(uri, &edits);
    let message = client.verdict(uri)["message"].as_str().expect("a text").to_string();
    assert_eq!(message, "the condition does not hold (tso), true in 0 of 3 final states");
    assert_eq!(client.leave(), 0);
}

#[test]
fn words_of_other_languages_lead_to_their_declarations() {
    let mut client = Client::usual();
    client.open("file:///d.rmm", "", RMM);
    let text = RMM.to_string();
    let mut declared = |piece: &str| -> Value {
        let place = client.place("file:///d.rmm", piece);
        let found = client.ask("textDocument/definition", place).expect("an answer");
        found["range"]["start"]["line"].clone()
    };
    let line = |piece: &str| json!(text[..text.find(piece).expect("it is there")].matches('\n').count());
    assert_eq!(declared("x := 1"), line("x = 0"));
    assert_eq!(declared("cs cs"), line("cs: nop"));
    assert_eq!(declared("nop"), Value::Null);
    client.verdict("file:///d.rmm");
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_language_that_is_not_clear_is_said_so() {
    let mut client = Client::usual();
    client.open("file:///notes", "plaintext", "dear diary");
    let all = client.diagnostics("file:///notes", |all| !all.is_empty());
    assert_eq!(all[0]["severity"], 2);
    assert!(all[0]["message"].as_str().is_some_and(|text| text.contains("the language is not clear")));
    assert_eq!(client.leave(), 0);
}
