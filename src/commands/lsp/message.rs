//! Messages: requests, notifications and answers, and what can be wrong with them.

use serde_json::{Value, json};

/// A message that arrived.
#[derive(Debug, PartialEq)]
pub enum Message {
    /// Wants an answer.
    Request {
        /// Goes back with the answer.
        id: Value,
        /// What is wanted.
        method: String,
        /// With what.
        params: Value,
    },
    /// Wants none.
    Notification {
        /// What happened.
        method: String,
        /// With what.
        params: Value,
    },
    /// An answer to a request of ours; whether it is no error.
    Answer {
        /// Our request.
        id: Value,
        /// Whether it succeeded.
        ok: bool,
    },
}

/// Why there is no answer but an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseError {
    /// A number from the protocol.
    pub code: i64,
    /// In words.
    pub message: String,
}

impl ResponseError {
    fn new(code: i64, message: impl Into<String>) -> ResponseError {
        ResponseError { code, message: message.into() }
    }

    /// The text is no JSON.
    pub fn parse(message: impl Into<String>) -> ResponseError {
        ResponseError::new(-32700, message)
    }

    /// The JSON is no request, or comes at the wrong time.
    pub fn invalid_request(message: impl Into<String>) -> ResponseError {
        ResponseError::new(-32600, message)
    }

    /// Nobody knows such a request.
    pub fn unknown_method(method: &str) -> ResponseError {
        ResponseError::new(-32601, format!("there is no method `{method}`"))
    }

    /// The request lacks something.
    pub fn invalid_params(message: impl Into<String>) -> ResponseError {
        ResponseError::new(-32602, message)
    }

    /// A bug of ours.
    pub fn internal() -> ResponseError {
        ResponseError::new(-32603, "this is a bug in fencewright, please report it")
    }

    /// `initialize` comes first.
    pub fn not_initialized() -> ResponseError {
        ResponseError::new(-32002, "`initialize` must come first")
    }

    /// The client does not want the answer any more.
    pub fn cancelled() -> ResponseError {
        ResponseError::new(-32800, "cancelled")
    }

    /// The text has changed since.
    pub fn content_modified() -> ResponseError {
        ResponseError::new(-32801, "the text has changed")
    }

    /// It was right to ask, but there is no answer.
    pub fn failed(message: impl Into<String>) -> ResponseError {
        ResponseError::new(-32803, message)
    }
}

/// Reads a message; an error comes with the id it answers.
pub fn parse(body: &[u8]) -> Result<Message, (Value, ResponseError)> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| (Value::Null, ResponseError::parse(error.to_string())))?;
    let Value::Object(mut object) = value else {
        return Err((Value::Null, ResponseError::invalid_request("a message is an object")));
    };
    let id = object.remove("id");
    let known_id = id.as_ref().filter(|id| id.is_i64() || id.is_u64() || id.is_string());
    let wrong =
        |message: &str| (known_id.cloned().unwrap_or_default(), ResponseError::invalid_request(message));
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("`jsonrpc` must be \"2.0\""));
    }
    let params = object.remove("params").unwrap_or_default();
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(wrong("`method` must be a text")),
        None if object.contains_key("result") || object.contains_key("error") => {
            let ok = !object.contains_key("error");
            return Ok(Message::Answer { id: id.unwrap_or_default(), ok });
        }
        None => return Err(wrong("`method` is missing")),
    };
    match (&id, known_id) {
        (None, _) => Ok(Message::Notification { method, params }),
        (Some(_), Some(known)) => Ok(Message::Request { id: known.clone(), method, params }),
        (Some(_), None) => Err(wrong("`id` must be an integer or a text")),
    }
}

/// The answer to a request.
pub fn answer(id: Value, result: Result<Value, ResponseError>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(ResponseError { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}

/// A notification to the client.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A request to the client.
pub fn request(id: String, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = |text: &str| parse(text.as_bytes()).expect("a message");
        let request = Message::Request { id: json!(1), method: "a".into(), params: json!([2]) };
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[2]}"#), request);
        let notification = Message::Notification { method: "a".into(), params: Value::Null };
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"a"}"#), notification);
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"x","result":null}"#),
            Message::Answer { id: json!("x"), ok: true }
        );
    }

    #[test]
    fn nonsense_gets_the_right_error_and_id() {
        let check = |text: &str, id: Value, code: i64| {
            let (found, fault) = parse(text.as_bytes()).expect_err(text);
            assert_eq!((found, fault.code), (id, code), "{text}");
        };
        check("{", Value::Null, -32700);
        check("\u{0}", Value::Null, -32700);
        check(&"[".repeat(100_000), Value::Null, -32700);
        check("[]", Value::Null, -32600);
        check("1", Value::Null, -32600);
        check(r#"{"id":7,"method":"a"}"#, json!(7), -32600);
        check(r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600);
        check(r#"{"jsonrpc":"2.0","id":7,"method":3}"#, json!(7), -32600);
        check(r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, Value::Null, -32600);
        check(r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, Value::Null, -32600);
    }
}
