//! Whole conversations: typing, mending, asking, verifying, cancelling.

use super::client::{Client, capabilities};
use serde_json::{Value, json};

const URI: &str = "file:///programs/peterson.fw";

const PETERSON: &str = "\
// Peterson — 😀 two threads
const N = 2;
shared flag[N], turn;
thread P(i in 0..N) {
    loop {
        flag[i] = 1;
        turn = 1 - i;
        await flag[1 - i] == 0 || turn == i;
        cs: skip;
        flag[i] = 0;
    }
}
never P0@cs && P1@cs;
";

/// More states than anybody can list: work without end.
const ENDLESS: &str = "\
shared x, y;
thread P(i in 0..6) { let n; while (n < 1000) { n = n + i + 1; x = n * n; y = x; } }
never x == 0 - 1;
";

fn message(diagnostic: &Value) -> &str {
    diagnostic["message"].as_str().expect("a text")
}

#[test]
fn from_a_typing_mistake_to_a_proof() {
    let mut client = Client::usual();
    // A mistake, with its range in UTF-16 and what is related.
    client.open(URI, "fencewright", &PETERSON.replace("turn = 1", "/*😀*/ trun = 1"));
    let wrong = client.diagnostics(URI, |all| !all.is_empty());
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!((&wrong[0]["severity"], &wrong[0]["source"]), (&json!(1), &json!("fencewright")));
    assert_eq!(client.covered(URI, &wrong[0]["range"]), "trun");
    assert_eq!(wrong[0]["range"]["start"], json!({"line": 6, "character": 15}));
    assert!(message(&wrong[0]).contains("`trun` is not declared"), "{wrong:?}");
    assert!(message(&wrong[0]).contains("help: did you mean `turn`?"), "{wrong:?}");

    // Mended: the verdict comes by itself, at the property, with the run.
    client.edit(URI, "/*😀*/ trun", "turn");
    let verdict = client.verdict(URI);
    assert_eq!((&verdict["code"], &verdict["severity"]), (&json!("unsafe"), &json!(1)));
    assert_eq!(client.covered(URI, &verdict["range"]), "never P0@cs && P1@cs");
    assert!(message(&verdict).starts_with("unsafe (tso): never P0@cs && P1@cs\n"), "{verdict}");
    assert!(message(&verdict).contains("was still in its buffer when"), "{verdict}");
    let run = verdict["relatedInformation"].as_array().expect("the run");
    let texts: Vec<&str> = run.iter().map(message).collect();
    assert!(texts[0].starts_with("1. P"), "{texts:?}");
    assert_eq!(texts.iter().filter(|text| text.contains("◀ not under SC")).count(), 1, "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("goes to its buffer")), "{texts:?}");
    let first = client.covered(URI, &run[0]["location"]["range"]);
    assert_eq!((first.as_str(), &run[0]["location"]["uri"]), ("flag[i] = 1", &json!(URI)));

    // The quick fix, found when it is wanted.
    let range = verdict["range"].clone();
    let params = json!({"textDocument": {"uri": URI}, "range": range, "context": {"diagnostics": [verdict]}});
    let actions = client.ask("textDocument/codeAction", params).expect("an answer");
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
    assert_eq!((&actions[0]["kind"], actions[0].get("edit")), (&json!("quickfix"), None));
    let action = client.ask("codeAction/resolve", actions[0].clone()).expect("fences");
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": URI, "version": 2}));
    client.apply(URI, change["edits"].as_array().expect("edits"));
    assert_eq!(client.texts[URI].1, PETERSON.replace("turn = 1 - i;", "turn = 1 - i; fence;"));

    // Applied: proved, and hovering tells what the proof knows.
    let verdict = client.verdict(URI);
    assert_eq!((&verdict["code"], &verdict["severity"]), (&json!("safe"), &json!(3)));
    assert!(message(&verdict).starts_with("safe (tso), proved by explicit with "), "{verdict}");
    let hover = client.ask("textDocument/hover", client.place(URI, "skip")).expect("an answer");
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert_eq!(hover["contents"]["kind"], "markdown");
    for part in [
        "`skip;` a step that does nothing",
        "Proved under tso",
        "**P0**\n- flag\\[0\\] is 1\n- flag\\[1\\] and turn are 0 or 1\n- its buffer is empty\n- P1 is never at cs",
        "**P1**\n- flag\\[0\\] and turn are 0 or 1\n- flag\\[1\\] is 1",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn names_lead_to_their_declarations() {
    let mut client = Client::new(capabilities(), json!({"verify": false}));
    client.open(URI, "fencewright", PETERSON);
    let text = PETERSON;
    let mut declared = |piece: &str| {
        let found = client.ask("textDocument/definition", client.place(URI, piece)).expect("an answer");
        found.get("range").map(|range| super::client::byte(text, &range["start"]))
    };
    assert_eq!(declared("cs && P1"), text.find("cs: skip"));
    assert_eq!(declared("turn == i"), text.find("turn;"));
    assert_eq!(declared("N) {"), text.find("N = 2"));
    assert_eq!(declared("i] = 0"), text.find("i in"));
    assert_eq!(declared("P1@cs"), text.find("P(i"));
    assert_eq!(declared("skip"), None);

    let mut hovered = |piece: &str| {
        let found = client.ask("textDocument/hover", client.place(URI, piece)).expect("an answer");
        found["contents"]["value"].as_str().unwrap_or_default().to_string()
    };
    assert_eq!(hovered("N) {"), "```fencewright\nconst N = 2\n```\na constant, value 2");
    assert_eq!(hovered("flag[1 "), "```fencewright\nshared flag[N]\n```\na shared variable");
    assert!(hovered("await").starts_with("`await c;` waits until c holds"));
    assert_eq!(hovered("Peterson"), "", "a comment");

    let references = client.ask("textDocument/references", client.place(URI, "turn;")).expect("an answer");
    assert_eq!(references.as_array().map(Vec::len), Some(3), "{references}");
    let mut without = client.place(URI, "turn;");
    without["context"] = json!({"includeDeclaration": false});
    let references = client.ask("textDocument/references", without).expect("an answer");
    assert_eq!(references.as_array().map(Vec::len), Some(2), "{references}");
    let marked = client.ask("textDocument/documentHighlight", client.place(URI, "cs: ")).expect("an answer");
    assert_eq!(marked.as_array().map(Vec::len), Some(3), "{marked}");
    assert_eq!(client.leave(), 0);
}

#[test]
fn renaming_changes_every_place_or_nothing() {
    let mut client = Client::new(capabilities(), json!({"verify": false}));
    client.open(URI, "fencewright", PETERSON);
    let prepared = client.ask("textDocument/prepareRename", client.place(URI, "P0@cs")).expect("an answer");
    assert_eq!(
        (&prepared["placeholder"], client.covered(URI, &prepared["range"])),
        (&json!("P"), "P".into())
    );
    let skip = client.ask("textDocument/prepareRename", client.place(URI, "skip"));
    assert_eq!(skip, Ok(Value::Null));
    let rename = |client: &mut Client, piece: &str, name: &str| {
        let mut params = client.place(URI, piece);
        params["newName"] = json!(name);
        client.ask("textDocument/rename", params)
    };
    for wrong in ["", "1x", "a b", "loop", "turn", "ä"] {
        assert_eq!(rename(&mut client, "flag[N]", wrong), Err(-32803), "{wrong}");
    }
    for (piece, old, new) in
        [("P0@cs", "P", "Worker"), ("cs: ", "cs", "critical"), ("flag[N]", "flag", "wants")]
    {
        let edit = rename(&mut client, piece, new).expect("it can be renamed");
        let edits = edit["documentChanges"][0]["edits"].as_array().expect("edits").clone();
        let before = client.texts[URI].1.clone();
        client.apply(URI, &edits);
        let text = &client.texts[URI].1;
        let count = |text: &str, word: &str| {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.filter(|w| w.trim_end_matches(['0', '1']) == word).count()
        };
        assert_eq!(count(text, old), 0, "{text}");
        assert_eq!(count(text, new), count(&before, old), "{text}");
        assert_eq!(client.diagnostics(URI, |_| true), Vec::<Value>::new());
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn the_outline_is_a_tree_or_a_list() {
    let mut client = Client::new(capabilities(), json!({"verify": false}));
    client.open(URI, "fencewright", PETERSON);
    let document = json!({"textDocument": {"uri": URI}});
    let tree = client.ask("textDocument/documentSymbol", document.clone()).expect("an answer");
    let names: Vec<&str> =
        tree.as_array().expect("a list").iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(names, ["N", "flag", "turn", "P"]);
    assert_eq!(tree[3]["children"][0]["name"], "cs");
    assert_eq!(tree[3]["detail"], "thread P(i in 0..N)");
    assert_eq!(client.leave(), 0);

    let mut plain = Client::new(json!({}), json!({"verify": false}));
    plain.open(URI, "fencewright", PETERSON);
    let list = plain.ask("textDocument/documentSymbol", document).expect("an answer");
    assert_eq!(list.as_array().map(Vec::len), Some(5), "{list}");
    assert_eq!((&list[4]["name"], &list[4]["containerName"]), (&json!("cs"), &json!("P")));
    assert_eq!(plain.leave(), 0);
}

#[test]
fn a_simple_client_gets_everything_as_plain_text_and_at_once() {
    let mut client = Client::new(json!({}), json!({"pause": 1, "model": "pso"}));
    client.open("untitled:one", "plaintext", "shared d, f;\nthread W { d = 1; f = 1; }\nthread R { let a, b; a = f; b = d; }\nfinally !(R.a == 1 && R.b == 0);\n");
    let verdict = client.verdict("untitled:one");
    assert!(message(&verdict).starts_with("unsafe (pso)"), "{verdict}");
    assert!(message(&verdict).contains("\n1. W: d = 1"), "the run is in the message: {verdict}");
    assert_eq!(verdict.get("relatedInformation"), None);
    let params = json!({"textDocument": {"uri": "untitled:one"}, "range": verdict["range"],
        "context": {"diagnostics": [], "only": ["quickfix"]}});
    let actions = client.ask("textDocument/codeAction", params).expect("an answer");
    let edits = actions[0]["edit"]["changes"]["untitled:one"].as_array().expect("edits").clone();
    client.apply("untitled:one", &edits);
    assert!(client.texts["untitled:one"].1.contains("d = 1; fence store; f = 1;"), "{:?}", client.texts);
    assert!(message(&client.verdict("untitled:one")).starts_with("safe (pso)"));
    let hover = client.ask("textDocument/hover", client.place("untitled:one", "b = d")).expect("an answer");
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let text = hover["contents"]["value"].as_str().expect("a text");
    assert!(text.contains("let b\na register, local to its thread"), "{text}");
    assert!(
        text.contains("R\n- d and f are 0 or 1\n- a is 0 or 1\n- b is 0\n- its buffer is empty"),
        "{text}"
    );
    assert_eq!(client.leave(), 0);
}

#[test]
fn an_edit_cancels_and_progress_is_shown_meanwhile() {
    let mut client =
        Client::new(capabilities(), json!({"pause": 1, "timeout": 1000, "states": 1_000_000_000}));
    client.open(URI, "fencewright", ENDLESS);
    let create = client.wait(|message| message["method"] == "window/workDoneProgress/create");
    client.send(&json!({"jsonrpc": "2.0", "id": create["id"], "result": null}));
    let token = create["params"]["token"].clone();
    let progress = |kind: &'static str| {
        let token = token.clone();
        move |message: &Value| {
            message["method"] == "$/progress"
                && message["params"]["token"] == token
                && message["params"]["value"]["kind"] == kind
        }
    };
    let begin = client.wait(progress("begin"));
    assert_eq!(begin["params"]["value"]["title"], "Verifying");
    let report = client.wait(progress("report"));
    let text = report["params"]["value"]["message"].as_str().expect("a text").to_string();
    assert!(text.contains(" states, "), "{text}");
    client.replace(URI, "shared x;\nthread P { x = 1; }\nnever x == 2;\n");
    client.wait(progress("end"));
    assert!(message(&client.verdict(URI)).starts_with("safe (tso)"));
    assert_eq!(client.leave(), 0);
}

#[test]
fn what_fits_is_offered_and_texts_are_laid_out() {
    let mut client = Client::new(capabilities(), json!({"verify": false}));
    let text = "struct S { left, right }\nshared S pair;   shared x;\n\
                fn touch(p) { x = p; }\nthread P { let seen=pair.left; here: seen = x; }\nnever P@here && P.seen == 1;\n";
    client.open(URI, "fencewright", text);
    let mut offered = |piece: &str| -> Vec<String> {
        let found = client.ask("textDocument/completion", client.place(URI, piece)).expect("an answer");
        let list = found.as_array().expect("a list").iter();
        list.map(|item| item["label"].as_str().expect("a name").to_string()).collect()
    };
    assert_eq!(offered("here &&"), ["here"]);
    assert_eq!(offered("seen == 1"), ["left", "right", "seen"]);
    let anywhere = offered("seen = x");
    for (name, there) in
        [("seen", true), ("touch", true), ("x", true), ("await", true), ("p", false), ("left", false)]
    {
        assert_eq!(anywhere.contains(&name.to_string()), there, "{name}: {anywhere:?}");
    }
    let edits =
        client.ask("textDocument/formatting", json!({"textDocument": {"uri": URI}})).expect("an answer");
    let formatted = edits[0]["newText"].as_str().expect("a text");
    assert!(formatted.contains("thread P { let seen = pair.left; here: seen = x; }\n"), "{formatted}");
}

#[test]
fn requests_that_wait_can_be_cancelled() {
    let mut client =
        Client::new(capabilities(), json!({"verify": false, "timeout": 1000, "states": 1_000_000_000}));
    client.open(URI, "fencewright", ENDLESS);
    let action = |version: i64| json!({"title": "x", "data": {"uri": URI, "version": version}});
    let first = client.request("codeAction/resolve", action(1));
    client.tell("$/cancelRequest", json!({"id": first}));
    assert_eq!(client.answer(first), Err(-32800));
    let second = client.request("codeAction/resolve", action(1));
    client.edit(URI, "n + i", "n - i");
    assert_eq!(client.answer(second), Err(-32801));
    assert_eq!(client.ask("codeAction/resolve", action(1)), Err(-32801), "an old version");
    let third = client.request("codeAction/resolve", action(2));
    assert_eq!(client.ask("shutdown", Value::Null), Ok(Value::Null));
    assert_eq!(client.answer(third), Err(-32800));
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 0);
}

#[test]
fn limits_end_in_unknown_and_sc_in_no_offer() {
    let mut client = Client::new(capabilities(), json!({"pause": 1, "states": 500}));
    client.open(URI, "fencewright", ENDLESS);
    let verdict = client.verdict(URI);
    assert_eq!((&verdict["code"], &verdict["severity"]), (&json!("unknown"), &json!(3)));
    assert!(message(&verdict).contains("the limit on states was reached"), "{verdict}");
    client.replace(URI, "shared x;\nthread P(i in 0..2) { let r = x; x = r + 1; }\nfinally x == 2;\n");
    let verdict = client.verdict(URI);
    assert!(message(&verdict).ends_with("This happens under SC as well: no fence helps."), "{verdict}");
    let params =
        json!({"textDocument": {"uri": URI}, "range": verdict["range"], "context": {"diagnostics": []}});
    assert_eq!(client.ask("textDocument/codeAction", params), Ok(json!([])));
    let action = json!({"title": "x", "data": {"uri": URI, "version": 2}});
    assert_eq!(client.ask("codeAction/resolve", action), Err(-32803));
    client.replace(URI, "shared a[2];\nthread P { let i = 2; assert i == 2; a[i] = 1; }\n");
    let verdict = client.verdict(URI);
    assert!(message(&verdict).contains("index out of bounds of a[2], index 2"), "{verdict}");
    assert!(client.covered(URI, &verdict["range"]).contains("a[i]"), "{verdict}");
    assert_eq!(client.leave(), 0);
}

/// Whichever engine proves it, hovering tells what holds of numbers without a bound.
#[test]
fn proofs_over_unbounded_numbers_tell_order() {
    let mut client = Client::usual();
    let text = "\
shared next, serving;
thread T(i in 0..2) {
    let mine;
    loop {
        mine = fetch_add(next, 1);
        await serving == mine;
        cs: skip;
        serving = mine + 1;
    }
}
never T0@cs && T1@cs;
";
    client.open(URI, "fencewright", text);
    assert_eq!(client.verdict(URI)["code"], "safe");
    let hover = client.ask("textDocument/hover", client.place(URI, "skip")).expect("an answer");
    let known = hover["contents"]["value"].as_str().expect("a text");
    for part in ["**T0**", "- serving == mine", "- mine \\< next", "- T1 is never at cs"] {
        assert!(known.contains(part), "{part} in {known}");
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn settings_decide_and_can_change() {
    let mut client =
        Client::new(capabilities(), json!({"pause": 1, "model": "sc", "define": {"N": 3}, "nonsense": 1}));
    let complaint = client.wait(|message| message["method"] == "window/showMessage");
    assert!(complaint["params"]["message"].as_str().is_some_and(|text| text.contains("`nonsense`")));
    client.open(URI, "fencewright", "const N = 1;\nshared x;\nthread P { x = N; }\nnever x == 3;\n");
    assert!(message(&client.verdict(URI)).starts_with("unsafe (sc)"));
    let hover = client.ask("textDocument/hover", client.place(URI, "N = 1")).expect("an answer");
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.ends_with("value 3")), "{hover}");
    let settings = json!({"settings": {"fencewright": {"pause": 1, "model": "pso"}}});
    client.tell("workspace/didChangeConfiguration", settings);
    assert!(message(&client.verdict(URI)).starts_with("safe (pso)"));
    assert_eq!(client.leave(), 0);
}

#[test]
fn saving_does_not_wait_for_the_pause_and_closing_clears() {
    let mut client = Client::new(capabilities(), json!({"pause": 60_000}));
    client.open(URI, "fencewright", "shared x;\nthread P { x = 1; }\nnever x == 2;\n");
    assert_eq!(client.verdict(URI)["code"], "safe");
    client.edit(URI, "x == 2", "x == 1");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": URI}}));
    assert_eq!(client.verdict(URI)["code"], "unsafe");
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let cleared = client.wait(|message| {
        message["params"]["uri"] == URI
            && message["params"]["diagnostics"] == json!([])
            && message["params"].get("version").is_none()
    });
    assert_eq!(cleared["method"], "textDocument/publishDiagnostics");
    let gone = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}});
    assert_eq!(client.ask("textDocument/hover", gone), Err(-32602));
    assert_eq!(client.leave(), 0);
}

#[test]
fn the_same_conversation_has_the_same_answers() {
    let run = || {
        let mut client = Client::usual();
        client.open(URI, "fencewright", PETERSON);
        let verdict = client.verdict(URI);
        let params = json!({"textDocument": {"uri": URI}, "range": verdict["range"], "context": {}});
        let actions = client.ask("textDocument/codeAction", params).expect("an answer");
        let action = client.ask("codeAction/resolve", actions[0].clone()).expect("fences");
        (verdict, action)
    };
    assert_eq!(run(), run());
}
