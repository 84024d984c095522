//! Any text as `fencewright.toml`.
#![no_main]

#[path = "../../tests/languages/fuzz/any_text.rs"]
mod any_text;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(diagnostics) = fencewright::expectations(text) {
        assert!(!diagnostics.is_empty());
        diagnostics.iter().for_each(|diagnostic| any_text::check_diagnostic(text, diagnostic));
    }
});
