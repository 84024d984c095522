//! Any text as `litmus`.
#![no_main]

#[path = "../../tests/languages/fuzz/any_text.rs"]
mod any_text;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let frontend = frontend::FRONTENDS.iter().find(|frontend| frontend.name == "litmus");
    any_text::check_text(frontend.expect("registered"), text, text.len() % 2 == 0);
});
