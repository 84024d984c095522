//! What a client may ask about a text, and the answers.

use super::complete;
use super::document::DocumentVersion;
use super::hover::{hover, plain};
use super::lines::{LspRange, Position, TextEdit};
use super::message::ResponseError;
use super::names;
use super::server::{Client, Server};
use super::tasks::Purpose;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;

/// An answer, unless a task in the background has to find it first.
type Response = Result<Option<Value>, ResponseError>;

/// Answers a request.
pub fn answer<W: Write>(server: &mut Server<W>, id: &Value, method: &str, params: Value) -> Response {
    match method {
        "textDocument/hover" => hovered(server, &params),
        "textDocument/definition" => {
            let (reading, byte) = place(server, &params)?;
            Ok(Some(names::definition(&reading, byte).map_or(Value::Null, |range| location(&reading, range))))
        }
        "textDocument/references" => {
            let (reading, byte) = place(server, &params)?;
            let declaration = params.pointer("/context/includeDeclaration").and_then(Value::as_bool);
            let ranges = names::references(&reading, byte, declaration.unwrap_or(true));
            Ok(Some(ranges.into_iter().map(|range| location(&reading, range)).collect()))
        }
        "textDocument/documentHighlight" => {
            let (reading, byte) = place(server, &params)?;
            let ranges = names::references(&reading, byte, true);
            Ok(Some(ranges.into_iter().map(|range| json!({"range": range})).collect()))
        }
        "textDocument/documentSymbol" => {
            let reading = reading(server, &params)?;
            Ok(Some(names::symbols(&reading, server.client.tree)))
        }
        "textDocument/prepareRename" => {
            let (reading, byte) = place(server, &params)?;
            let found = names::renamable(&reading, byte);
            Ok(Some(found.map_or(Value::Null, |(range, name)| json!({"range": range, "placeholder": name}))))
        }
        "textDocument/rename" => {
            let (reading, byte) = place(server, &params)?;
            let name = params["newName"]
                .as_str()
                .ok_or_else(|| ResponseError::invalid_params("`newName` is missing"))?;
            let edits = names::rename(&reading, byte, name)?;
            Ok(Some(workspace_edit(&server.client, &reading, &edits)))
        }
        "textDocument/completion" => {
            let (reading, byte) = place(server, &params)?;
            Ok(Some(complete::completion(&reading, byte)))
        }
        "textDocument/formatting" => {
            let reading = reading(server, &params)?;
            Ok(Some(json!(formatted(&reading))))
        }
        "textDocument/codeAction" => code_action(server, id, &params),
        "codeAction/resolve" => resolve(server, id, params),
        _ => Err(ResponseError::unknown_method(method)),
    }
}

/// The change that gives a text the usual layout; none where it cannot be had.
fn formatted(reading: &DocumentVersion) -> Vec<TextEdit> {
    let old = reading.text.as_str();
    let format = reading.frontend.and_then(|frontend| frontend.format);
    match format.map(|format| format(old)) {
        Some(Ok(text)) if text != old => {
            vec![TextEdit { range: reading.text.whole(), text }]
        }
        _ => Vec::new(),
    }
}

/// The text a request is about.
fn reading<W: Write>(server: &mut Server<W>, params: &Value) -> Result<Arc<DocumentVersion>, ResponseError> {
    let uri = params.pointer("/textDocument/uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| ResponseError::invalid_params("`textDocument.uri` is missing"))?;
    open(server, uri)
}

fn open<W: Write>(server: &mut Server<W>, uri: &str) -> Result<Arc<DocumentVersion>, ResponseError> {
    let document = server.documents.get_mut(uri);
    let document = document.ok_or_else(|| ResponseError::invalid_params("this text is not open"))?;
    Ok(document.read(uri, &server.settings))
}

/// The text and the byte a request is about.
fn place<W: Write>(
    server: &mut Server<W>,
    params: &Value,
) -> Result<(Arc<DocumentVersion>, usize), ResponseError> {
    let position: Position = serde_json::from_value(params["position"].clone())
        .map_err(|error| ResponseError::invalid_params(format!("`position`: {error}")))?;
    let reading = reading(server, params)?;
    let byte = reading.text.byte(position);
    Ok((reading, byte))
}

fn location(reading: &DocumentVersion, range: LspRange) -> Value {
    json!({"uri": reading.uri, "range": range})
}

fn workspace_edit(client: &Client, reading: &DocumentVersion, edits: &[TextEdit]) -> Value {
    if client.versioned {
        let document = json!({"uri": reading.uri, "version": reading.version});
        return json!({"documentChanges": [{"textDocument": document, "edits": edits}]});
    }
    let mut changes = serde_json::Map::new();
    changes.insert(reading.uri.clone(), json!(edits));
    json!({"changes": changes})
}

fn hovered<W: Write>(server: &mut Server<W>, params: &Value) -> Response {
    let (reading, byte) = place(server, params)?;
    let outcome = server.documents.get(&reading.uri).and_then(|document| document.outcome.as_ref());
    let Some(found) = hover(&reading, outcome, byte) else { return Ok(Some(Value::Null)) };
    let contents = match server.client.markdown {
        true => json!({"kind": "markdown", "value": found.text}),
        false => json!({"kind": "plaintext", "value": plain(&found.text)}),
    };
    let mut answer = json!({"contents": contents});
    if let Some(range) = found.range {
        answer["range"] = json!(range);
    }
    Ok(Some(answer))
}

/// Offers fences where the verdict says that they may help.
fn code_action<W: Write>(server: &mut Server<W>, id: &Value, params: &Value) -> Response {
    let none = Ok(Some(json!([])));
    let reading = reading(server, params)?;
    let range: LspRange = serde_json::from_value(params["range"].clone())
        .map_err(|error| ResponseError::invalid_params(format!("`range`: {error}")))?;
    if let Some(only) = params.pointer("/context/only").and_then(Value::as_array) {
        let wanted = |kind: &Value| kind.as_str().is_some_and(|kind| ["", "quickfix"].contains(&kind));
        if !only.iter().any(wanted) {
            return none;
        }
    }
    let outcome = server.documents.get(&reading.uri).and_then(|document| document.outcome.as_ref());
    let Some((outcome, mendable)) = outcome.and_then(|o| Some((o, o.mendable?))) else { return none };
    if !mendable.touches(&range) {
        return none;
    }
    let model = server.settings.model.name();
    let action = json!({
        "title": format!("Insert the cheapest fences that prevent this ({model})"),
        "kind": "quickfix",
        "diagnostics": outcome.diagnostics,
        "isPreferred": true,
        "data": {"uri": reading.uri, "version": reading.version},
    });
    if server.client.resolve {
        return Ok(Some(json!([action])));
    }
    begin_repair(server, reading, id, action, false);
    Ok(None)
}

/// Completes a code action.
fn resolve<W: Write>(server: &mut Server<W>, id: &Value, action: Value) -> Response {
    let uri = action.pointer("/data/uri").and_then(Value::as_str);
    let uri = uri.ok_or_else(|| ResponseError::invalid_params("this code action is not ours"))?;
    let reading = open(server, uri)?;
    if action.pointer("/data/version").and_then(Value::as_i64) != Some(reading.version) {
        return Err(ResponseError::content_modified());
    }
    begin_repair(server, reading, id, action, true);
    Ok(None)
}

fn begin_repair<W: Write>(
    server: &mut Server<W>,
    reading: Arc<DocumentVersion>,
    id: &Value,
    action: Value,
    resolve: bool,
) {
    let purpose = Purpose::Repair { request: id.clone(), action, resolve };
    server.tasks.begin(reading, purpose, &server.settings, server.client.related);
}

/// The answer to the request that waited for fences.
pub fn repaired(
    client: &Client,
    reading: &DocumentVersion,
    mut action: Value,
    resolve: bool,
    edits: Result<Vec<TextEdit>, String>,
) -> Result<Value, ResponseError> {
    let Some(object) = action.as_object_mut() else { return Err(ResponseError::internal()) };
    match edits {
        Ok(edits) => {
            object.insert("edit".to_string(), workspace_edit(client, reading, &edits));
        }
        Err(why) if resolve => return Err(ResponseError::failed(why)),
        Err(why) if client.disabled => {
            object.insert("disabled".to_string(), json!({"reason": why}));
        }
        Err(_) => return Ok(json!([])),
    }
    Ok(if resolve { action } else { json!([action]) })
}
