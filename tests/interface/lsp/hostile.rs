//! Messages that no client should send. Each is refused as the protocol says, and the conversation
//! goes on.

use super::client::{Client, capabilities};
use serde_json::{Value, json};

const URI: &str = "file:///a.fw";
const TEXT: &str = "shared x;\nthread P { x = 1; }\nnever x == 2;\n";

/// The server still answers.
fn is_alive(client: &mut Client) {
    client.open(URI, "fencewright", TEXT);
    let place = client.place(URI, "never");
    let hover = client.ask("textDocument/hover", place).expect("an answer");
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("`never c;`")), "{hover}");
}

#[test]
fn what_is_no_message_gets_an_error() {
    let mut client = Client::usual();
    let deep = "[".repeat(200_000);
    let cases: [(&[u8], i64); 8] = [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe\0", -32700),
        (deep.as_bytes(), -32700),
        (b"[]", -32600),
        (b"null", -32600),
        (br#"{"jsonrpc":"1.0","method":"x"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":[],"method":"x"}"#, -32600),
    ];
    for (body, code) in cases {
        client.send_body(body);
        let answer = client.wait(|message| message.get("error").is_some());
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)));
    }
    for head in ["nonsense\r\n\r\n", "Content-Length: many\r\n\r\n", "Content-Length: -5\r\n\r\n"] {
        client.send_bytes(head.as_bytes());
        let answer = client.wait(|message| message.get("error").is_some());
        assert_eq!(answer["error"]["code"], -32600);
    }
    is_alive(&mut client);
    assert_eq!(client.leave(), 0);
}

#[test]
fn the_order_of_things_is_kept() {
    let mut client = Client::silent();
    let hover = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}});
    assert_eq!(client.ask("textDocument/hover", hover.clone()), Err(-32002));
    assert_eq!(client.ask("shutdown", Value::Null), Err(-32002));
    client.open(URI, "fencewright", TEXT);
    assert_eq!(client.ask("initialize", json!([1])), Err(-32602));
    assert!(client.ask("initialize", json!({"capabilities": 3})).is_ok());
    assert_eq!(client.ask("initialize", json!({})), Err(-32600));
    assert_eq!(client.ask("textDocument/hover", hover.clone()), Err(-32602), "opened too early");
    assert_eq!(client.ask("no/such/method", Value::Null), Err(-32601));
    assert_eq!(client.ask("$/none", Value::Null), Err(-32601));
    assert_eq!(client.ask("shutdown", Value::Null), Ok(Value::Null));
    assert_eq!(client.ask("textDocument/hover", hover), Err(-32600));
    assert_eq!(client.ask("shutdown", Value::Null), Err(-32600));
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 0);
}

#[test]
fn leaving_without_a_word_is_noticed() {
    let mut client = Client::usual();
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 1);
    assert_eq!(Client::usual().end(), 1);
    let mut client = Client::silent();
    client.tell("exit", Value::Null);
    assert_eq!(client.end(), 1);
    let mut client = Client::usual();
    assert_eq!(client.ask("shutdown", Value::Null), Ok(Value::Null));
    assert_eq!(client.end(), 0);
}

const METHODS: [&str; 9] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/codeAction",
    "codeAction/resolve",
];

const NOTIFICATIONS: [&str; 6] = [
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didSave",
    "textDocument/didClose",
    "workspace/didChangeConfiguration",
    "$/cancelRequest",
];

fn odd_values() -> Vec<Value> {
    let document = json!({"uri": URI, "version": "x"});
    let far = json!({"line": u32::MAX, "character": u32::MAX});
    vec![
        Value::Null,
        json!(1),
        json!("x"),
        json!([[]]),
        json!({}),
        json!({"textDocument": 3}),
        json!({"textDocument": {"uri": 3}}),
        json!({"textDocument": {"uri": "file:///not/open"}}),
        json!({"textDocument": document}),
        json!({"textDocument": document, "position": {"line": -1, "character": 0}}),
        json!({"textDocument": document, "position": {"line": 1e30, "character": 0.5}}),
        json!({"textDocument": document, "position": far}),
        json!({"textDocument": document, "position": far, "newName": ["x"]}),
        json!({"textDocument": document, "position": {"line": 0, "character": 8}, "newName": "\u{0}"}),
        json!({"textDocument": document, "range": {"start": far, "end": {"line": 0, "character": 0}}}),
        json!({"textDocument": document, "range": [], "context": {"only": [1, {}]}}),
        json!({"textDocument": document, "contentChanges": 3}),
        json!({"textDocument": document, "contentChanges": [{"text": 3}]}),
        json!({"textDocument": document, "contentChanges": [{"range": 3, "text": "x"}]}),
        json!({"textDocument": document, "contentChanges": [{"range": {"start": far, "end": far}, "text": ""}]}),
        json!({"settings": 3}),
        json!({"settings": {"fencewright": {"model": [], "timeout": {}, "define": [3]}}}),
        json!({"data": {"uri": URI}}),
        json!({"data": {"uri": URI, "version": u64::MAX}}),
        json!({"id": {}}),
    ]
}

#[test]
fn odd_parameters_are_refused_or_harmless() {
    let mut client = Client::usual();
    client.open(URI, "fencewright", TEXT);
    for params in odd_values() {
        for method in METHODS {
            if let Err(code) = client.ask(method, params.clone()) {
                assert!([-32602, -32803, -32801].contains(&code), "{method} {params}: {code}");
            }
        }
        for method in NOTIFICATIONS {
            client.tell(method, params.clone());
        }
        client.open(URI, "fencewright", TEXT);
    }
    is_alive(&mut client);
    assert_eq!(client.leave(), 0);
}

#[test]
fn positions_everywhere_have_answers() {
    let mut client = Client::usual();
    let text = "// 😀 ä\r\nshared x;\rthread P { x = 1; l: goto l; }\n\nnever P@l && x == 2;";
    client.open(URI, "fencewright", text);
    for line in 0..7 {
        for character in 0..34 {
            let position = json!({"line": line, "character": character});
            let params = json!({"textDocument": {"uri": URI}, "position": position, "newName": "fresh"});
            for method in &METHODS[..6] {
                client.ask(method, params.clone()).expect("an answer");
            }
        }
    }
    assert_eq!(client.leave(), 0);
}

#[test]
fn large_and_strange_texts_are_refused_in_words() {
    let mut client = Client::new(capabilities(), json!({"pause": 1, "timeout": 1, "states": 1000}));
    let long_line = format!("shared x; thread P {{ x = {}1; }}", "1 + ".repeat(300_000));
    let nested = format!("shared x; thread P {{ {} }}", "if (x == 1) { ".repeat(50_000));
    let large = " ".repeat(17 << 20);
    for text in ["", "\0", "\u{feff}", "thread", &long_line, &nested, &large] {
        client.open(URI, "fencewright", text);
        let all = client.diagnostics(URI, |all| !all.is_empty());
        assert!(all.iter().any(|d| d["severity"] == 1), "{all:?}");
        let place = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 20}});
        for method in &METHODS[..6] {
            client.ask(method, place.clone()).expect("an answer");
        }
        client.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    }
    is_alive(&mut client);
    assert_eq!(client.leave(), 0);
}

/// Messages with bytes changed, cut and repeated: whatever comes, the server answers afterwards.
#[test]
fn broken_messages_do_not_end_the_conversation() {
    let mut chance = fastrand::Rng::with_seed(7);
    let mut client = Client::usual();
    let document = json!({"uri": URI, "version": 1, "languageId": "fencewright", "text": TEXT});
    let good = [
        json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}),
        json!({"jsonrpc": "2.0", "id": "a", "method": "textDocument/hover",
            "params": {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 11}}}),
        json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": URI, "version": 2},
            "contentChanges": [{"range": {"start": {"line": 0, "character": 1},
                "end": {"line": 1, "character": 5}}, "text": "x"}]}}),
        json!({"jsonrpc": "2.0", "id": "b", "method": "textDocument/codeAction", "params": {
            "textDocument": {"uri": URI}, "context": {"diagnostics": []},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}}),
    ];
    for _ in 0..500 {
        let mut body = chance.choice(&good).expect("there are some").to_string().into_bytes();
        for _ in 0..chance.usize(0..4) {
            let at = chance.usize(0..body.len());
            match chance.u8(0..3) {
                0 => body[at] = chance.u8(..),
                1 => body.truncate(at.max(1)),
                _ => body.extend_from_within(at..),
            }
        }
        client.send_body(&body);
    }
    is_alive(&mut client);
    assert_eq!(client.leave(), 0);
}
