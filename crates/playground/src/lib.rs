//! The door through which the playground's page calls fencewright: what crosses it is JSON, and everything behind
//! it is `fencewright::playground`.
//!
//! The page has to have a function `fencewrightTells`. It hears how far a question is, and, as its last words before
//! the module stops, a bug.

use fencewright::playground::{self, PageHost};
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn milliseconds() -> f64;

    #[wasm_bindgen(js_name = fencewrightTells)]
    fn tell(told: &str);
}

/// Makes bugs known; called once, when the module is there.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        let words = panic.to_string();
        // A table that does not fit into the address space is no bug: memory has ended.
        if !words.ends_with("capacity overflow") {
            tell(&json!({"bug": words}).to_string());
        }
    }));
}

/// The answer to a request, both as JSON.
#[wasm_bindgen]
pub fn answer(request: &str) -> String {
    playground::answer(request, PageHost { now: || milliseconds() / 1000.0, tell })
}
