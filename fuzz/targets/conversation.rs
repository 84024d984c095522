//! Conversations with the language server. An input is a list of messages, one a line; each is put
//! into a frame after a proper greeting. An input that starts with a frame is taken as it is.
//!
//! Nothing is verified: that takes time of its own, and other tests see to it.
#![no_main]

const GREETING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{"textDocument":
{"documentSymbol":{"hierarchicalDocumentSymbolSupport":true},"hover":{"contentFormat":["markdown"]}}},
"initializationOptions":{"verify":false}}}"#;

fn framed(message: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{message}", message.len())
}

/// Whether a message may start work in the background.
fn starts_work(message: &str) -> bool {
    ["didChangeConfiguration", "codeAction"].iter().any(|method| message.contains(method))
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut input = framed(GREETING);
    if text.starts_with("Content-Length") {
        input += text;
    } else {
        text.lines().filter(|line| !starts_work(line)).for_each(|line| input += &framed(line));
    }
    if starts_work(&input) {
        return;
    }
    fencewright::conversation(input.as_bytes()).expect("memory can be read and written");
});
