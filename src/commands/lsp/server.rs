//! The conversation: who may say what when, open texts, and what the client is told unasked.

use super::document::Document;
use super::lines::LspRange;
use super::message::{self, Message, ResponseError, answer, notification};
use super::settings::Settings;
use super::tasks::{BackgroundTask, Purpose, TaskResult, TaskVisibility, Tasks};
use super::wire::{self, Incoming};
use super::{ServerEvent, requests};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// What comes after an event.
pub enum Next {
    /// The next event.
    Go,
    /// The end; whether the client said `shutdown` before.
    Exit(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServerPhase {
    /// `initialize` has not come yet.
    New,
    Serving,
    /// `shutdown` was said; only `exit` may follow.
    Down,
}

/// What the client can do.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Shows related information of diagnostics.
    pub related: bool,
    /// Shows progress.
    pub progress: bool,
    /// Shows Markdown when hovering.
    pub markdown: bool,
    /// Shows an outline as a tree.
    pub tree: bool,
    /// Completes code actions later.
    pub resolve: bool,
    /// Shows why a code action cannot be taken.
    pub disabled: bool,
    /// Takes edits of certain versions of a text.
    pub versioned: bool,
}

impl Client {
    fn read(capabilities: &Value) -> Client {
        let flag = |path: &str| capabilities.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let lists = |path: &str, word: &str| {
            let list = capabilities.pointer(path).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(word)))
        };
        Client {
            related: flag("/textDocument/publishDiagnostics/relatedInformation"),
            progress: flag("/window/workDoneProgress"),
            markdown: lists("/textDocument/hover/contentFormat", "markdown"),
            tree: flag("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            resolve: lists("/textDocument/codeAction/resolveSupport/properties", "edit")
                && flag("/textDocument/codeAction/dataSupport"),
            disabled: flag("/textDocument/codeAction/disabledSupport"),
            versioned: flag("/workspace/workspaceEdit/documentChanges"),
        }
    }
}

/// A conversation with one client.
pub struct Server<W> {
    out: W,
    phase: ServerPhase,
    /// What the client can do.
    pub client: Client,
    /// What the client has set.
    pub settings: Settings,
    /// Open texts by address.
    pub documents: BTreeMap<String, Document>,
    /// What goes on in the background.
    pub tasks: Tasks,
}

impl<W: Write> Server<W> {
    /// A server that waits for `initialize`.
    pub fn new(events: Sender<ServerEvent>, out: W) -> Server<W> {
        Server {
            out,
            phase: ServerPhase::New,
            client: Client::default(),
            settings: Settings::default(),
            documents: BTreeMap::new(),
            tasks: Tasks::new(events),
        }
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        wire::write(&mut self.out, message)
    }

    fn tell(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&notification(method, params))
    }

    /// Writes something into the client's log.
    fn log(&mut self, text: &str) -> io::Result<()> {
        self.tell("window/logMessage", json!({"type": 2, "message": text}))
    }

    /// Does what an event asks for.
    pub fn handle(&mut self, event: ServerEvent) -> io::Result<Next> {
        match event {
            ServerEvent::Closed => return Ok(Next::Exit(self.phase == ServerPhase::Down)),
            ServerEvent::Progress(number, text) => self.progress(number, &text)?,
            ServerEvent::Done(number, done) => self.done(number, done)?,
            ServerEvent::Frame(Incoming::Broken(why)) => {
                self.send(&answer(Value::Null, Err(ResponseError::invalid_request(why))))?;
            }
            ServerEvent::Frame(Incoming::Body(body)) => match message::parse(&body) {
                Err((id, fault)) => self.send(&answer(id, Err(fault)))?,
                Ok(Message::Request { id, method, params }) => self.request(id, &method, params)?,
                Ok(Message::Notification { method, .. }) if method == "exit" => {
                    return Ok(Next::Exit(self.phase == ServerPhase::Down));
                }
                Ok(Message::Notification { method, params }) => self.notified(&method, &params)?,
                Ok(Message::Answer { id, ok }) => self.answered(&id, ok)?,
            },
        }
        Ok(Next::Go)
    }

    fn request(&mut self, id: Value, method: &str, params: Value) -> io::Result<()> {
        let result = match (self.phase, method) {
            (ServerPhase::New, "initialize") => self.initialize(&params).map(Some),
            (ServerPhase::New, _) => Err(ResponseError::not_initialized()),
            (ServerPhase::Serving, "initialize") => {
                Err(ResponseError::invalid_request("`initialize` comes only once"))
            }
            (ServerPhase::Serving, "shutdown") => {
                self.cancel(|_| true, &ResponseError::cancelled())?;
                self.phase = ServerPhase::Down;
                Ok(Some(Value::Null))
            }
            (ServerPhase::Down, _) => {
                Err(ResponseError::invalid_request("after `shutdown` only `exit` may follow"))
            }
            (ServerPhase::Serving, _) => {
                let answered = AssertUnwindSafe(|| requests::answer(self, &id, method, params));
                catch_unwind(answered).unwrap_or_else(|_| Err(ResponseError::internal()))
            }
        };
        match result.transpose() {
            Some(result) => self.send(&answer(id, result)),
            None => Ok(()),
        }
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, ResponseError> {
        if !params.is_object() {
            return Err(ResponseError::invalid_params("`initialize` needs an object"));
        }
        self.client = Client::read(&params["capabilities"]);
        self.phase = ServerPhase::Serving;
        let complaints = self.set(&params["initializationOptions"]);
        // Nothing was sent yet, so a client that is gone is noticed with the answer.
        let _ = self.complain(&complaints);
        Ok(json!({
            "serverInfo": {"name": "fencewright", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentHighlightProvider": true,
                "documentSymbolProvider": true,
                "completionProvider": {"triggerCharacters": ["@", "."]},
                "documentFormattingProvider": true,
                "renameProvider": {"prepareProvider": true},
                "codeActionProvider": {"codeActionKinds": ["quickfix"], "resolveProvider": true},
            },
        }))
    }

    fn set(&mut self, value: &Value) -> Vec<String> {
        let (settings, complaints) = Settings::read(value);
        self.settings = settings;
        complaints
    }

    fn complain(&mut self, complaints: &[String]) -> io::Result<()> {
        for complaint in complaints {
            self.tell(
                "window/showMessage",
                json!({"type": 2, "message": format!("fencewright: {complaint}")}),
            )?;
        }
        Ok(())
    }

    fn notified(&mut self, method: &str, params: &Value) -> io::Result<()> {
        if self.phase != ServerPhase::Serving {
            return Ok(());
        }
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_string);
        let understood = match (method, uri) {
            ("textDocument/didOpen", Some(uri)) => self.open(uri, &params["textDocument"])?,
            ("textDocument/didChange", Some(uri)) => self.change(&uri, params)?,
            ("textDocument/didSave", Some(uri)) => self.saved(&uri),
            ("textDocument/didClose", Some(uri)) => self.close(&uri)?,
            ("workspace/didChangeConfiguration", _) => self.configure(&params["settings"])?,
            ("$/cancelRequest", _) => {
                let id = &params["id"];
                let waits = |task: &BackgroundTask| matches!(&task.purpose, Purpose::Repair { request, .. } if request == id);
                self.cancel(waits, &ResponseError::cancelled())?;
                true
            }
            (method, None) => !method.starts_with("textDocument/"),
            _ => true,
        };
        if understood { Ok(()) } else { self.log(&format!("`{method}` was not understood")) }
    }

    fn open(&mut self, uri: String, item: &Value) -> io::Result<bool> {
        let Some(text) = item["text"].as_str() else { return Ok(false) };
        let version = item["version"].as_i64().unwrap_or_default();
        let language = item["languageId"].as_str().unwrap_or_default().to_string();
        self.cancel_about(&uri)?;
        let mut document = Document::new(version, text.to_string(), language);
        document.due = self.settings.verify.then(Instant::now);
        self.documents.insert(uri, document);
        Ok(true)
    }

    /// Replaces pieces of a text, or all of it, one change after the other.
    fn change(&mut self, uri: &str, params: &Value) -> io::Result<bool> {
        let Some(changes) = params["contentChanges"].as_array() else { return Ok(false) };
        let Some(document) = self.documents.get_mut(uri) else { return Ok(false) };
        let mut text = document.text.clone();
        for change in changes {
            let range = match change.get("range").filter(|range| !range.is_null()) {
                None => None,
                Some(range) => match serde_json::from_value::<LspRange>(range.clone()) {
                    Ok(range) => Some(range),
                    Err(_) => return Ok(false),
                },
            };
            let Some(piece) = change["text"].as_str() else { return Ok(false) };
            text = text.replaced(range, piece);
        }
        let version = params.pointer("/textDocument/version").and_then(Value::as_i64);
        document.version = version.unwrap_or(document.version + 1);
        document.text = text;
        document.forget();
        document.due = self.settings.verify.then(|| Instant::now() + self.settings.pause);
        self.cancel_about(uri)?;
        Ok(true)
    }

    /// A text was saved: if it waits to be verified, it need not wait any longer.
    fn saved(&mut self, uri: &str) -> bool {
        let Some(document) = self.documents.get_mut(uri) else { return false };
        document.due = document.due.map(|_| Instant::now());
        true
    }

    fn close(&mut self, uri: &str) -> io::Result<bool> {
        self.cancel_about(uri)?;
        if self.documents.remove(uri).is_none() {
            return Ok(false);
        }
        self.tell("textDocument/publishDiagnostics", json!({"uri": uri, "diagnostics": []}))?;
        Ok(true)
    }

    fn configure(&mut self, settings: &Value) -> io::Result<bool> {
        let ours = settings.get("fencewright").unwrap_or(settings);
        if ours.is_null() {
            return Ok(true);
        }
        let complaints = self.set(ours);
        self.complain(&complaints)?;
        self.cancel(|_| true, &ResponseError::content_modified())?;
        for document in self.documents.values_mut() {
            document.forget();
            document.due = self.settings.verify.then(Instant::now);
        }
        Ok(true)
    }

    /// When something is due; texts that were not looked at yet are looked at before.
    pub fn due(&self) -> Option<Instant> {
        self.documents.values().filter_map(|document| document.due).min()
    }

    /// What is done while no message waits: texts are read, the client hears what is wrong with
    /// them, and verifying begins where it is due.
    pub fn idle(&mut self) -> io::Result<()> {
        let settings = self.settings.clone();
        let unpublished = self.documents.iter().filter(|(_, document)| !document.published);
        let unpublished: Vec<String> = unpublished.map(|(uri, _)| uri.clone()).collect();
        for uri in &unpublished {
            self.publish(uri)?;
        }
        let now = Instant::now();
        for (uri, document) in &mut self.documents {
            if document.due.is_some_and(|due| due <= now) {
                document.due = None;
                let read = catch_unwind(AssertUnwindSafe(|| document.read(uri, &settings)));
                if let Ok(reading) = read
                    && reading.loaded.is_some()
                {
                    self.tasks.begin(reading, Purpose::Verify, &settings, self.client.related);
                }
            }
        }
        Ok(())
    }

    /// Tells the client what is known to be wrong with a text.
    fn publish(&mut self, uri: &str) -> io::Result<()> {
        let related = self.client.related;
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        document.published = true;
        let read = catch_unwind(AssertUnwindSafe(|| document.read(uri, &self.settings).problems(related)));
        let mut diagnostics = read.unwrap_or_default();
        diagnostics.extend(document.outcome.iter().flat_map(|outcome| outcome.diagnostics.iter().cloned()));
        let version = document.version;
        let params = json!({"uri": uri, "version": version, "diagnostics": diagnostics});
        self.tell("textDocument/publishDiagnostics", params)
    }

    /// Stops everything about a text.
    fn cancel_about(&mut self, uri: &str) -> io::Result<()> {
        self.cancel(|task| task.reading.uri == uri, &ResponseError::content_modified())
    }

    /// Stops tasks; who waits for one hears why.
    fn cancel(&mut self, which: impl FnMut(&BackgroundTask) -> bool, why: &ResponseError) -> io::Result<()> {
        for (number, task) in self.tasks.cancel(which) {
            self.hide(number, &task)?;
            if let Purpose::Repair { request, .. } = task.purpose {
                self.send(&answer(request, Err(why.clone())))?;
            }
        }
        Ok(())
    }

    fn done(&mut self, number: u64, done: TaskResult) -> io::Result<()> {
        let Some(task) = self.tasks.finish(number) else { return Ok(()) };
        self.hide(number, &task)?;
        let uri = task.reading.uri.clone();
        match (task.purpose, done) {
            (Purpose::Verify, TaskResult::Verified(outcome)) => {
                let Some(document) = self.documents.get_mut(&uri) else { return Ok(()) };
                let current = document.reading.as_ref().is_some_and(|now| Arc::ptr_eq(now, &task.reading));
                if current {
                    document.outcome = outcome;
                    self.publish(&uri)?;
                }
                Ok(())
            }
            (Purpose::Repair { request, action, resolve }, TaskResult::Repaired(edits)) => {
                let result = requests::repaired(&self.client, &task.reading, action, resolve, edits);
                self.send(&answer(request, result))
            }
            (Purpose::Repair { request, .. }, _) => {
                self.send(&answer(request, Err(ResponseError::internal())))
            }
            (Purpose::Verify, _) => self.log("this is a bug in fencewright: verifying ended early"),
        }
    }

    /// A task tells how far it is. The first time, the client is asked whether it may be shown.
    fn progress(&mut self, number: u64, text: &str) -> io::Result<()> {
        let wanted = self.client.progress;
        let Some(task) = self.tasks.get_mut(number).filter(|_| wanted) else { return Ok(()) };
        match task.shown {
            TaskVisibility::No => {
                task.shown = TaskVisibility::Asked;
                let params = json!({"token": token(number)});
                self.send(&message::request(token(number), "window/workDoneProgress/create", params))
            }
            TaskVisibility::Asked => Ok(()),
            TaskVisibility::Yes => self.show(number, json!({"kind": "report", "message": text})),
        }
    }

    /// The client answers whether a task may be shown.
    fn answered(&mut self, id: &Value, ok: bool) -> io::Result<()> {
        let number = id.as_str().and_then(|id| id.strip_prefix(TOKEN)?.parse().ok());
        let Some(number) = number else { return Ok(()) };
        let Some(task) = self.tasks.get_mut(number) else { return Ok(()) };
        if !ok || task.shown != TaskVisibility::Asked {
            return Ok(());
        }
        task.shown = TaskVisibility::Yes;
        let title = if task.purpose == Purpose::Verify { "Verifying" } else { "Looking for fences" };
        self.show(number, json!({"kind": "begin", "title": title, "cancellable": false}))
    }

    fn show(&mut self, number: u64, value: Value) -> io::Result<()> {
        self.tell("$/progress", json!({"token": token(number), "value": value}))
    }

    /// Ends the progress of a task that is shown.
    fn hide(&mut self, number: u64, task: &BackgroundTask) -> io::Result<()> {
        if task.shown == TaskVisibility::Yes { self.show(number, json!({"kind": "end"})) } else { Ok(()) }
    }
}

const TOKEN: &str = "fencewright/";

fn token(number: u64) -> String {
    format!("{TOKEN}{number}")
}
