//! A small client: starts the server, sends messages, waits for what comes back, applies edits.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than any answer takes; only a server that hangs reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What came while waiting for something else.
    kept: Vec<Value>,
    next: i64,
    /// The open texts, with their versions.
    pub texts: std::collections::BTreeMap<String, (i64, String)>,
}

/// What an editor like VS Code can do.
pub fn capabilities() -> Value {
    json!({
        "window": {"workDoneProgress": true},
        "workspace": {"workspaceEdit": {"documentChanges": true}},
        "textDocument": {
            "publishDiagnostics": {"relatedInformation": true},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "codeAction": {
                "dataSupport": true, "disabledSupport": true, "resolveSupport": {"properties": ["edit"]},
            },
        },
    })
}

impl Client {
    /// Starts the server without a word.
    pub fn silent() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fencewright"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("it has a standard output"));
        let (send, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Client { child, input, messages, kept: Vec::new(), next: 0, texts: Default::default() }
    }

    /// Starts the server and says hello.
    pub fn new(capabilities: Value, options: Value) -> Client {
        let mut client = Client::silent();
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities,
            "initializationOptions": options});
        let answer = client.ask("initialize", params).expect("it starts");
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        client.tell("initialized", json!({}));
        client
    }

    /// With everything an editor can do, and short pauses.
    pub fn usual() -> Client {
        Client::new(capabilities(), json!({"pause": 1, "timeout": 100}))
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the conversation goes on");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    pub fn send_body(&mut self, body: &[u8]) {
        let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        message.extend_from_slice(body);
        self.send_bytes(&message);
    }

    pub fn send(&mut self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request and waits for its answer: the result, or the number of the error.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value, i64> {
        let id = self.request(method, params);
        self.answer(id)
    }

    pub fn answer(&mut self, id: i64) -> Result<Value, i64> {
        let message = self.wait(|message| message["id"] == id && message.get("method").is_none());
        match message.get("error") {
            None => Ok(message["result"].clone()),
            Some(error) => Err(error["code"].as_i64().expect("an error has a number")),
        }
    }

    /// The first message for which this holds, among those not taken yet.
    pub fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server says something");
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            if wanted(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    pub fn open(&mut self, uri: &str, language: &str, text: &str) {
        self.texts.insert(uri.to_string(), (1, text.to_string()));
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": item}));
    }

    /// Replaces a piece of a text, found by its words.
    pub fn edit(&mut self, uri: &str, old: &str, new: &str) {
        let text = self.texts[uri].1.clone();
        let at = text.find(old).expect("the piece is there");
        let range = json!({"start": position(&text, at), "end": position(&text, at + old.len())});
        self.change(uri, vec![json!({"range": range, "text": new})], text.replacen(old, new, 1));
    }

    /// Replaces all of a text.
    pub fn replace(&mut self, uri: &str, text: &str) {
        self.change(uri, vec![json!({"text": text})], text.to_string());
    }

    fn change(&mut self, uri: &str, changes: Vec<Value>, after: String) {
        let (version, text) = self.texts.get_mut(uri).expect("it is open");
        *version += 1;
        *text = after;
        let document = json!({"uri": uri, "version": *version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Applies the edits of a text and tells the server.
    pub fn apply(&mut self, uri: &str, edits: &[Value]) {
        let mut text = self.texts[uri].1.clone();
        let mut changes = Vec::new();
        let mut sorted: Vec<&Value> = edits.iter().collect();
        sorted.sort_by_key(|edit| std::cmp::Reverse(byte(&text, &edit["range"]["start"])));
        for edit in sorted {
            let (start, end) = (byte(&text, &edit["range"]["start"]), byte(&text, &edit["range"]["end"]));
            let new = edit["newText"].as_str().expect("an edit has a text");
            text.replace_range(start..end, new);
            changes.push(json!({"range": edit["range"], "text": new}));
        }
        self.change(uri, changes, text);
    }

    /// The diagnostics of the present version of a text, once these hold.
    pub fn diagnostics(&mut self, uri: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let version = self.texts[uri].0;
        let message = self.wait(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri
                && params["version"] == version
                && wanted(params["diagnostics"].as_array().expect("a list"))
        });
        message["params"]["diagnostics"].as_array().expect("a list").clone()
    }

    /// The verdict about the present version of a text.
    pub fn verdict(&mut self, uri: &str) -> Value {
        let is_verdict = |diagnostic: &Value| diagnostic.get("code").is_some();
        let all = self.diagnostics(uri, |all| all.iter().any(is_verdict));
        all.into_iter().find(is_verdict).expect("it was there")
    }

    /// The place of a piece of a text, as requests name it.
    pub fn place(&self, uri: &str, piece: &str) -> Value {
        let text = &self.texts[uri].1;
        let at = text.find(piece).expect("the piece is there");
        json!({"textDocument": {"uri": uri}, "position": position(text, at)})
    }

    /// What a range covers.
    pub fn covered(&self, uri: &str, range: &Value) -> String {
        let text = &self.texts[uri].1;
        text[byte(text, &range["start"])..byte(text, &range["end"])].to_string()
    }

    /// Says nothing more and waits for the end: the exit code.
    pub fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().expect("it ends").code().expect("it ended by itself")
    }

    /// Takes leave as one should: the exit code.
    pub fn leave(mut self) -> i32 {
        assert_eq!(self.ask("shutdown", Value::Null), Ok(Value::Null));
        self.tell("exit", Value::Null);
        self.child.wait().expect("it ends").code().expect("it ended by itself")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let value = line.strip_prefix("Content-Length: ").expect("standard output is for the protocol");
        length = Some(value.parse::<usize>().expect("a number"));
    }
    let mut body = vec![0; length.expect("a head has a length")];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("a body is JSON"))
}

/// A byte of a text as line and UTF-16 units. Written anew, so that it can disagree.
pub fn position(text: &str, byte: usize) -> Value {
    let before = &text[..byte];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
    json!({"line": line, "character": column})
}

pub fn byte(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().expect("a number") as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = position["character"].as_u64().expect("a number");
    let mut at = start;
    for character in text[start..].chars() {
        if units == 0 {
            break;
        }
        units -= character.len_utf16() as u64;
        at += character.len_utf8();
    }
    at
}
