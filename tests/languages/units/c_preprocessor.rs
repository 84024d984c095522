//! The preprocessor beside the machine's own: the same tokens for the same text.

use frontend::inside::{c_tokens, preprocess};
use frontend::{COptions, Loader};
use program::Source;
use std::io::Write;
use std::process::{Command, Stdio};

fn ours(text: &str, options: &COptions) -> Result<Vec<String>, String> {
    let done = preprocess(&Source::new("t.c", text), options).map_err(|error| error.message)?;
    Ok(done.tokens.iter().map(|token| token.text.to_string()).collect())
}

/// What `cc -E` makes of it, as tokens; nothing if there is no compiler.
fn theirs(text: &str) -> Option<Vec<String>> {
    let mut command = Command::new("cc");
    command.args(["-E", "-P", "-xc", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let tokens = c_tokens(&text, 0, None).ok()?;
    Some(tokens.iter().map(|token| token.text.to_string()).collect())
}

const SNIPPETS: &[&str] = &[
    "#define A 1\n#define F(x) x + A\nF(2) F (3) F\n",
    "#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)\n",
    "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\nf(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\np() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };\n",
    "#define str(s) # s\n#define xstr(s) str(s)\n#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", x ## s, x ## t)\n#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\ndebug(1, 2);\nstr(strncmp(\"abc\\0d\", \"abc\", '\\4') == 0)\nxstr(INCFILE(2).h)\nglue(HIGH, LOW);\nxglue(HIGH, LOW)\n",
    "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };\n",
    "#define e(...) f(__VA_ARGS__)\n#define n(f, a...) g(f , ## a)\ne() e(1) e(1, 2) n(\"x\") n(\"x\", 1, 2)\n",
    "#if defined(A) || (2 * 3 == 6 && !defined B)\nyes\n#elif 1\nno\n#else\nno\n#endif\n#if 0\n#if 1\nno\n#else\nno\n#endif\n#elif 0x10 == 16 && 'a' < 'b'\nyes\n#endif\n",
    "#ifdef X\n#error no\n#elif -1 > 0u\nunsigned\n#endif\n#ifndef X\n#define X\n#endif\n#ifdef X\nnow\n#endif\n",
    "#define EMPTY\n#define LPAREN (\n#define RPAREN )\n#define F(x, y) x + y\n#define ELLIP_FUNC(...) __VA_ARGS__\nELLIP_FUNC(F, LPAREN, 'a', 'b', RPAREN); EMPTY\n",
    "#define while_(c) while (c)\n#define BLOCK do { \\\n  x++; /* remark */ \\\n} while (0)\nBLOCK; while_(x < 3) BLOCK;\n",
    "__LINE__ \\\n__LINE__\n__LINE__ __COUNTER__ __COUNTER__\n",
    "#define S(x) #x\nS( a  b\"c\\n\" '\\'' ) S(/**/) S(@)\n",
    "a %:%: b <: 1 :> // x\n#define Q(x) %:x\nQ(1)\n",
];

#[test]
fn tokens_are_those_of_the_compiler() {
    for text in SNIPPETS {
        let Some(theirs) = theirs(text) else {
            eprintln!("skipped: there is no cc");
            return;
        };
        assert_eq!(ours(text, &COptions::default()), Ok(theirs), "{text}");
    }
}

#[test]
fn places_go_through_macros_and_headers() {
    let text = "#include \"h.h\"\n#define ADD(a, b) a + b\nint v = ADD(x, y);\n";
    let loader = Loader::new(|path| (path == "h.h").then(|| Ok("int x;\n".to_string())));
    let options = COptions { loader, ..COptions::default() };
    let done = preprocess(&Source::new("t.c", text), &options).map_err(|error| error.message).expect("read");
    let place = |token: &str| {
        let found = done.tokens.iter().rfind(|t| &*t.text == token).expect("there");
        &text[found.span.start as usize..found.span.end as usize]
    };
    assert_eq!((place("y"), place("+"), place("v")), ("y", "ADD(x, y)", "v"));
    let header = &done.tokens[0];
    assert!(text[header.span.start as usize..].starts_with("include \"h.h\""));
    assert_eq!(header.written.span.start, 0);
}

#[test]
fn definitions_of_the_command_line_count() {
    let options = COptions {
        defines: vec![("N".to_string(), "2 + 3".to_string()), ("M".to_string(), "1".to_string())],
        undefines: vec!["M".to_string()],
        ..COptions::default()
    };
    assert_eq!(ours("N M", &options), Ok(["2", "+", "3", "M"].map(String::from).to_vec()));
}

#[test]
fn bombs_and_circles_end_with_an_error() {
    let bomb: String = (1..40).map(|n| format!("#define a{n} a{0} a{0}\n", n - 1)).collect();
    let circle = Loader::new(|path| path.ends_with("c.h").then(|| Ok("#include \"c.h\"\n".to_string())));
    let options = COptions { loader: circle, ..COptions::default() };
    let nested = format!("#define f(x) x\n{}1{}", "f(".repeat(5000), ")".repeat(5000));
    for text in [format!("{bomb}a39"), "#include \"c.h\"\n".to_string(), nested, "#if 1\n".repeat(500)] {
        assert!(ours(&text, &options).is_err(), "{}", &text[..text.len().min(60)]);
    }
    for text in [
        "#else\n",
        "#if\n",
        "#define\n",
        "#include\n",
        "#include <no.h>\n",
        "#define f(\n",
        "#if 1/0\n#endif\n",
    ] {
        assert!(ours(text, &COptions::default()).is_err(), "{text}");
    }
}
