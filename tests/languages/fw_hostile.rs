//! Texts that nobody should write: whatever they ask for, reading ends, does not panic, and says
//! what is wrong at a place that exists.

use crate::common::{check_round_trip, corpus, effort, read, rendered};
use frontend::{Diagnostic, MAX_TEXT};
use program::Span;

/// Samples that use everything the language has.
const SAMPLES: &[&str] = &[
    "const N = 2;\nshared flag[N], turn; // Peterson\nthread P(i in 0..N) {\n let tries = 0;\n loop {\n  \
     flag[i] = 1; turn = 1 - i;\n  await flag[1 - i] == 0 || turn == i;\n  cs: skip;\n  \
     tries = tries + 1; flag[i] = 0;\n }\n}\nnever P0@cs && P1@cs;\nfor i in 0..N { never P[i].tries > 9; }",
    "shared x = any, y = any in 0..3, a[3] = {1, any, 2};\nfn max(p, q) { if (p > q) { return p; } return q; }\n\
     fn other(i) { return 1 - i; }\nthread A { let r, s = x; r = max(r, y) / s; \
     while (!cas(x, 0, 1)) { fence; if (r == 7) { break; } else if (r) { continue; } else { goto out; } } \
     atomic { r = swap(x, 2); y = fetch_add(a[r], -1); } arw(y, 0, r); out: assert r != 3 && x < 2; }\n\
     thread B { for j in 0..3 { a[j] = other(j) * 2 % 5 | 1; } choose { skip; } or { stop; } or { fence store; } }\n\
     finally x == 0; predicates { x < y; A.r == 0; }",
    "shared x;\nthread P { let r, q; L0: choose { r = x; goto L1; } or { locked { r = x; assume r == 0; x = 1; }; \
     goto L1; } L1: together { r = x; }; lock; x = 2; unlock; unchecked r = r / q; \
     if (r < 0) { fail bounds x[2] at r + 1; } fail division; }\nthread Q { skip; fail; }\nnever P@L1 && !Q.r;",
];

/// Reads a text and checks what any answer must satisfy.
fn survive(text: &str) {
    match read(text) {
        Ok(parsed) => {
            check_spans(text, &parsed.warnings);
            let edges: usize = parsed.program.threads.iter().map(|thread| thread.edges().len()).sum();
            if edges < 500 {
                check_round_trip(&parsed.program);
            }
        }
        Err(errors) => {
            assert!((1..=50).contains(&errors.len()), "{} errors in\n{text}", errors.len());
            check_spans(text, &errors);
        }
    }
}

fn check_spans(text: &str, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let related = diagnostic.related.iter().map(|(span, _)| *span);
        for span in related.chain([diagnostic.span]).filter(|span| *span != Span::NONE) {
            let inside = text.get(span.start as usize..span.end as usize).is_some();
            assert!(inside, "{span:?} is no place in\n{text}\n{diagnostic:?}");
        }
        assert!(!diagnostic.message.is_empty());
    }
}

/// Cuts a text into words, numbers, blanks and single other characters.
fn pieces(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut pieces: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        match pieces.last_mut() {
            Some(piece) if last != 0 && kind(c) == last => piece.push(c),
            _ => pieces.push(c.to_string()),
        }
        last = kind(c);
    }
    pieces
}

const WORDS: &[&str] = &[
    "if",
    "else",
    "while",
    "for",
    "in",
    "let",
    "any",
    "cas",
    "swap",
    "fetch_add",
    "arw",
    "choose",
    "or",
    "atomic",
    "goto",
    "return",
    "break",
    "continue",
    "never",
    "finally",
    "thread",
    "fn",
    "shared",
    "const",
    "predicates",
    "locked",
    "together",
    "unchecked",
    "fail",
    "bounds",
    "at",
    "stop",
    "lock",
    "unlock",
    "x",
    "r",
    "P0",
    "N",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "..",
    ".",
    "@",
    "=",
    "==",
    "!",
    "-",
    "/",
    "%",
    "&",
    "|",
    "^",
    "0",
    "1",
    "99999999999999999999",
    "4096",
    "/*",
    "*/",
    "//",
    "\n",
    "é",
    "\u{1F600}",
    "\"",
    "\u{feff}",
    "#",
    "_",
];

fn mutate(pieces: &mut Vec<String>, random: &mut fastrand::Rng) {
    if pieces.is_empty() {
        pieces.push("x".into());
    }
    let at = random.usize(..pieces.len());
    let other = random.usize(..pieces.len());
    match random.usize(..7) {
        0 => drop(pieces.remove(at)),
        1 => pieces.insert(at, pieces[other].clone()),
        2 => pieces.swap(at, other),
        3 => pieces.insert(at, random.choice(WORDS).copied().unwrap_or("x").to_string()),
        4 => pieces[at] = random.choice(WORDS).copied().unwrap_or("x").to_string(),
        5 => drop(pieces.drain(at.min(other)..at.max(other).min(at.min(other) + 20))),
        _ => {
            let copy = pieces[at.min(other)..at.max(other).min(at.min(other) + 30)].to_vec();
            pieces.splice(at..at, copy);
        }
    }
}

#[test]
fn mutated_programs() {
    let mut texts: Vec<String> = SAMPLES.iter().map(|text| text.to_string()).collect();
    texts.extend(corpus().into_iter().map(|(_, text)| text));
    let cut: Vec<Vec<String>> = texts.iter().map(|text| pieces(text)).collect();
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..25_000 * effort() {
        let mut mutant = cut[random.usize(..cut.len())].clone();
        for _ in 0..1 + random.usize(..4) {
            mutate(&mut mutant, &mut random);
        }
        survive(&mutant.concat());
    }
}

#[test]
fn random_words_and_characters() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..20_000 * effort() {
        let length = random.usize(..60);
        let words = (0..length).map(|_| random.choice(WORDS).copied().unwrap_or("x"));
        survive(&words.collect::<Vec<_>>().join(" "));
        let length = random.usize(..60);
        survive(&(0..length).map(|_| random.char(..)).collect::<String>());
        let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
        survive(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn texts_cut_anywhere() {
    for text in SAMPLES {
        for (at, _) in text.char_indices() {
            survive(&text[..at]);
            survive(&text[at..]);
        }
    }
}

/// Checks that a text is refused with this message first, and little else.
fn refused(text: &str, message: &str) {
    let errors = match read(text) {
        Ok(_) => panic!("accepted, but expected: {message}"),
        Err(errors) => errors,
    };
    check_spans(text, &errors);
    let shown = rendered("", &errors[..1]);
    assert!(errors[0].message.contains(message), "expected {message}, found {shown}");
    assert!(errors.len() <= 3, "{} errors for {message}", errors.len());
}

#[test]
fn nesting() {
    let nested = |open: &str, middle: &str, close: &str, depth: usize| {
        format!("shared x;\nthread P {{ let r; {}{middle}{} }}", open.repeat(depth), close.repeat(depth))
    };
    for depth in [100, 1000, 100_000] {
        let too_deep = "nested more than 100 levels";
        refused(&nested("if (r == 0) {", "skip;", "}", depth), too_deep);
        refused(&nested("loop {", "skip;", "", depth), too_deep);
        refused(&nested("choose { atomic {", "skip;", "} }", depth), too_deep);
        refused(&format!("thread P {{ let r = {}1{}; }}", "(".repeat(depth), ")".repeat(depth)), too_deep);
        refused(&format!("thread P {{ let r = {}1; }}", "-".repeat(depth)), too_deep);
        refused(&format!("thread P {{ let r = 1; r = {}r; }}", "!".repeat(depth)), too_deep);
        refused(
            &format!("shared a[1]; thread P {{ a[{}0{}] = 1; }}", "a[".repeat(depth), "]".repeat(depth)),
            too_deep,
        );
        refused(&format!("thread P {{ skip; }} {}", "for i in 0..1 {".repeat(depth + 1)), too_deep);
        refused(&nested("unchecked ", "r = 1;", "", depth), too_deep);
    }
    survive(&nested("if (r == 0) {", "skip;", "}", 97));
    survive(&nested("if (x == 0) {", "x = 1;", "}", 97));
}

#[test]
fn long_chains() {
    for sign in ["+", "-", "*", "|"] {
        let chain = vec!["r"; 100_000].join(sign);
        refused(&format!("thread P {{ let r; r = {chain}; }}"), "operations deep");
        survive(&format!("shared r; thread P {{ r = {}; }}", vec!["r"; 390].join(sign)));
    }
    survive(&format!("shared x; thread P {{ await {}; }}", vec!["x == 1"; 10_000].join("&&")));
    survive(&format!("shared x; thread P {{ skip; }} never {};", vec!["x == 1"; 10_000].join("||")));
    survive(&format!("thread P {{ let r; if (r) {{ }} {} }}", "else if (r == 1) { }".repeat(10_000)));
    survive(&format!("thread P {{ choose {{ skip; }} {} }}", "or { skip; }".repeat(10_000)));
}

#[test]
fn functions_in_functions() {
    let deep = |k: usize| {
        let inner = if k < 29 { format!("f{}();", k + 1) } else { "skip;".to_string() };
        format!("fn f{k}() {{ let r; {}{inner}{} }}\n", "if (r == 0) {".repeat(90), "}".repeat(90))
    };
    let functions: String = (0..30).map(deep).collect();
    refused(&format!("{functions} thread P {{ f0(); }}"), "nested too deeply");
    let doubling: String = (0..40).map(|k| format!("fn f{k}() {{ f{0}(); f{0}(); }}\n", k + 1)).collect();
    refused(&format!("{doubling} fn f40() {{ skip; }} thread P {{ f0(); }}"), "grows too large");
    let sums: String =
        (0..40).map(|k| format!("fn g{k}(n) {{ return g{0}(n) + g{0}(n); }}\n", k + 1)).collect();
    refused(
        &format!("{sums} fn g40(n) {{ return n; }} thread P {{ let r; r = g0(r); }}"),
        "more than 4096 registers",
    );
}

#[test]
fn unrolling_and_arrays() {
    let large = "grows too large";
    refused("thread P { for i in 0..1000000000000000000000 { } skip; }", large);
    refused("thread P { for i in 0..1000 { for j in 0..1000 { for k in 0..1000 { l: } } } }", large);
    refused("shared a[1000]; thread P { let r; for i in 0..1000 { for j in 0..1000 { a[r] = i; } } }", large);
    let sum = vec!["a[a[r]]"; 300].join("+");
    refused(&format!("shared a[4096]; thread P {{ let r; r = {sum}; }}"), large);
    refused("thread P { for i in 0..300000 { l: skip; } } for i in 0..9000 { never P@l; }", large);
    refused("thread P { for i in 0..1000 { l: skip; } } never P@l + 1 == 2;", "stands for 1000 places");
    refused("shared a[4097]; thread P { skip; }", "more than 4096");
    refused("shared a[4000], b[97]; thread P { skip; }", "more than 4096");
    refused("shared a[99999999999999999999999]; thread P { skip; }", "more than 4096");
    refused("thread P(i in 0..99999999999999999999) { skip; }", "more than 64 threads");
    refused(
        "shared x; thread P { skip; } for i in 0..100000000 { never x == i; }",
        "more than 10000 properties",
    );
}

#[test]
fn large_texts() {
    refused(&" ".repeat(MAX_TEXT + 1), "bytes long");
    refused(&"x ".repeat(MAX_TEXT / 2), "expected a declaration");
    refused(&format!("thread P {{ {} }}", "skip;".repeat(600_000)), "grows too large");
    refused(
        &format!("thread P {{ {} }}", "if (1 == 1) { let r; }".repeat(10_000)),
        "more than 4096 registers",
    );
    refused(
        &format!("const N = {}; thread P {{ skip; }}", "9".repeat(1001)),
        "1001 digits; 1000 are the limit",
    );
    let digits = "9".repeat(1000);
    refused(&format!("const N = {digits}, M = N * N; thread P {{ skip; }}"), "more than 1000 digits");
    refused(&format!("thread P {{ let r = {digits}; r = {digits} * {digits}; }}"), "more than 1000 digits");
    survive(&format!("thread P {{ let r = -{digits}; r = r * {digits}; }}"));
    refused("\0", "NUL byte");
}

#[test]
fn many_errors_stop_at_fifty() {
    let text = format!("thread P {{ {} }}", "x = ; ".repeat(1000));
    assert_eq!(read(&text).map(|_| ()).expect_err("wrong").len(), 50);
    let unknown: String = (0..1000).map(|at| format!("unknown{at} = 1; ")).collect();
    assert_eq!(read(&format!("thread P {{ {unknown} }}")).map(|_| ()).expect_err("wrong").len(), 50);
}
