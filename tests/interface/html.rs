//! HTML reports in a real browser: they load, step, stay within the window, are legible in light
//! and dark, usable by keyboard, and never run what stands in a program. Needs Chromium and
//! chromedriver; without them the tests say so, or fail if `FENCEWRIGHT_REQUIRE_BROWSER` is set.

use crate::cli::tool;
mod webdriver;

use serde_json::{Value, json};
use std::path::PathBuf;
use tool::{ENDLESS, Folder, MP, SB};
use webdriver::{Browser, key};

const PETERSON: &str = include_str!("../../corpus/peterson.fw");
const BAKERY: &str = include_str!("../../corpus/bakery_fenced.fw");
const LITMUS: &str = include_str!("cli/golden/litmus/SB.litmus");

/// A folder with programs in it.
fn programs() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("peterson.fw", PETERSON).write("bakery.fw", BAKERY);
    folder.write("SB.litmus", LITMUS).write("endless.fw", ENDLESS).write("broken.fw", "thread P {");
    folder
}

/// The report that a command writes.
fn report(folder: &Folder, args: &[&str]) -> PathBuf {
    let path = folder.path().join("report.html");
    let ran = folder.run(&[args, &["--quiet", "--report", "report.html"]].concat());
    assert!(path.is_file(), "{ran:?}");
    path
}

/// The number of the step that is shown, everywhere the same.
fn step(browser: &Browser) -> u64 {
    let shown = browser.script(
        "const slider = document.querySelector('input[type=range]');
         const row = document.querySelector('tr.now').dataset.row;
         const count = document.querySelector('.count').textContent.split(' ')[0];
         return [slider.value, row, count].map(Number)",
    );
    let shown: Vec<u64> = serde_json::from_value(shown.clone()).unwrap_or_else(|_| panic!("{shown}"));
    assert!(shown.iter().all(|number| *number == shown[0]), "{shown:?}");
    shown[0]
}

/// The cards of the state that is shown: their texts, blanks folded.
fn cards(browser: &Browser) -> Vec<String> {
    let cards =
        browser.script("return [...document.querySelectorAll('.card')].map((card) => card.innerText)");
    let cards: Vec<String> = serde_json::from_value(cards).expect("texts");
    cards.iter().map(|card| card.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn assert_quiet(browser: &Browser) {
    let console = browser.console();
    assert!(console.is_empty(), "{console:#?}");
}

#[test]
fn keys_buttons_slider_rows_lines_and_nodes_step() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    browser.visit(&report(&folder, &["verify", "sb.fw"]), 1280, "light");
    assert_eq!(step(&browser), 0);
    let last =
        browser.script("return Number(document.querySelector('input').max)").as_u64().expect("a number");
    assert!(last >= 4, "{last}");
    let presses = [
        (key::RIGHT, 1),
        ("j", 2),
        (key::LEFT, 1),
        ("k", 0),
        ("k", 0),
        (key::END, last),
        ("j", last),
        (key::HOME, 0),
    ];
    for (key, expected) in presses {
        browser.press(key);
        assert_eq!(step(&browser), expected, "after {key:?}");
    }
    browser.click("[data-go=last]");
    assert_eq!(step(&browser), last);
    browser.click("[data-go=back]");
    assert_eq!(step(&browser), last - 1);
    browser.click("tr[data-row='2'] td");
    assert_eq!(step(&browser), 2);
    browser.click("[data-go=first]");
    browser.click(".source .line[data-line='3'] code");
    assert_eq!(browser.text(".source .line.now .line-number"), "3");
    browser.click(".graph .event text");
    assert_eq!(browser.script("return document.querySelectorAll('.event.now').length"), json!(1));
    browser.script("document.querySelector('input').focus()");
    browser.press(key::HOME);
    browser.press(key::RIGHT);
    browser.press(key::UP);
    assert_eq!(step(&browser), 2);
    assert_quiet(&browser);
}

#[test]
fn the_state_shown_is_that_of_the_run() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    // Both stores wait while both loads read; then they drain.
    browser.visit(&report(&folder, &["verify", "sb.fw"]), 1280, "light");
    let start = cards(&browser);
    assert!(start[0].contains("P0 line 2, before: x = 1 a = 0 Buffer: empty"), "{start:?}");
    assert_eq!(start[2], "Memory x = 0 y = 0");
    browser.press("j");
    assert!(cards(&browser)[0].contains("Buffer, oldest first: x = 1"), "{:?}", cards(&browser));
    assert_eq!(cards(&browser)[2], "Memory x = 0 y = 0");
    assert_eq!(browser.text(".source .line.now .line-number"), "2");
    browser.press(key::END);
    let end = cards(&browser);
    assert_eq!(end[0], "P0 ended a = 0 Buffer: empty");
    assert_eq!(end[2], "Memory x = 1 y = 1");
    assert!(browser.text("p.now").contains("Violated: finally !(P0.a == 0 && P1.b == 0)"));
    // The same, step by step, as the report for scripts has it.
    let json = folder.run(&["verify", "--format", "json", "sb.fw"]).json();
    let trace = json[0]["trace"].as_array().expect("a violation has a trace");
    let mut memory = [0, 0];
    browser.press(key::HOME);
    for event in trace {
        browser.press("j");
        if event["event"] == "drain" {
            memory[usize::from(event["variable"] == "y")] = event["value"].as_i64().expect("a number");
        }
        assert_eq!(cards(&browser)[2], format!("Memory x = {} y = {}", memory[0], memory[1]), "{event}");
        let thread = event["thread"].as_str().expect("a name");
        assert!(browser.text("p.now").starts_with(thread), "{event}");
    }
    assert_quiet(&browser);
}

/// For every text that is shown: its contrast and its size, where one of them is too small.
const ILLEGIBLE: &str = "
const parse = (color) => {
  const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
  return { r, g, b, a };
};
const luminance = ({ r, g, b }) => {
  const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const behind = (element) => {
  const rect = element.closest('svg') && element.parentElement.querySelector('rect');
  if (rect) return parse(getComputedStyle(rect).fill);
  for (let at = element; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.a === 1) return color;
  }
  return { r: 255, g: 255, b: 255 };
};
const poor = [];
let looked = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || element.closest('script, title, .hidden-text, .skip')) continue;
  if (!element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const svg = element.closest('svg');
  const front = parse(svg ? style.fill : style.color);
  const [a, b] = [luminance(front), luminance(behind(element))].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  looked += 1;
  if (contrast < 4.5 || parseFloat(style.fontSize) < 11) {
    poor.push([walker.currentNode.data.slice(0, 40), element.className.baseVal ?? element.className, contrast, style.fontSize]);
  }
}
return [looked, poor];";

/// What reaches beyond the window.
const OVERFLOWING: &str = "
const wide = document.documentElement.scrollWidth > window.innerWidth;
const beyond = [...document.querySelectorAll('main *, header *')].filter((element) =>
  element.getBoundingClientRect().right > window.innerWidth + 1 && !element.closest('.scroll, .skip, .hidden-text'));
return [wide, beyond.map((element) => element.outerHTML.slice(0, 120))];";

/// Looks at a report in every width and colour scheme, at its start and at its end.
fn check_legible(browser: &Browser, folder: &Folder, args: &[&str]) {
    let path = report(folder, args);
    for width in [1280, 400] {
        for scheme in ["light", "dark"] {
            browser.visit(&path, width, scheme);
            for moment in [key::HOME, "j", key::END] {
                browser.press(moment);
                let overflowing = browser.script(OVERFLOWING);
                assert_eq!(overflowing, json!([false, []]), "{args:?} at {width}");
                let found = browser.script(ILLEGIBLE);
                assert!(found[0].as_u64() > Some(15), "{args:?}: {found}");
                assert_eq!(found[1], json!([]), "{args:?}, {scheme} at {width}");
            }
            let dark = browser.script("return getComputedStyle(document.body).backgroundColor");
            assert_eq!(dark == json!("rgb(250, 250, 249)"), scheme == "light", "{dark}");
        }
    }
    let fetched = browser.script("return performance.getEntriesByType('resource').length");
    assert_eq!(fetched, json!(0), "a report asks for nothing");
    assert_quiet(browser);
}

#[test]
fn violations_and_proofs_are_legible_at_every_width_and_in_both_schemes() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    check_legible(&browser, &folder, &["verify", "peterson.fw"]);
    check_legible(&browser, &folder, &["verify", "--model", "sc", "peterson.fw"]);
    check_legible(&browser, &folder, &["verify", "bakery.fw"]);
}

#[test]
fn fences_and_lists_of_answers_are_legible_at_every_width_and_in_both_schemes() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    check_legible(&browser, &folder, &["fence", "--model", "pso", "--all", "peterson.fw"]);
    let some = ["verify", "--states", "500", "--engine", "explicit", "--model", "all", "SB.litmus", "sb.fw"];
    check_legible(&browser, &folder, &[&some[..], &["endless.fw", "broken.fw"]].concat());
}

#[test]
fn robustness_is_legible_and_its_witness_steps() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    check_legible(&browser, &folder, &["robust", "sb.fw", "bakery.fw"]);
    check_legible(&browser, &folder, &["fence", "--goal", "robust", "sb.fw"]);
    assert_eq!(browser.text("p.verdict"), "fences found under TSO");
    browser.visit(&report(&folder, &["robust", "sb.fw"]), 1280, "light");
    assert_eq!(browser.text("p.verdict"), "not robust against TSO");
    assert_eq!(browser.text("p.lead"), "P0 can delay x = 1 (line 2) past a = y (line 2).");
    let cycle = browser.script("return document.querySelectorAll('.on-cycle').length");
    assert!(cycle.as_u64() >= Some(4), "{cycle}");
    // The store waits while the other thread acts; at the end everything is in memory.
    browser.press("j");
    assert!(cards(&browser)[0].contains("Buffer, oldest first: x = 1"), "{:?}", cards(&browser));
    browser.press(key::END);
    assert_eq!(cards(&browser)[2], "Memory x = 1 y = 1");
    assert_quiet(&browser);
}

#[test]
fn what_ci_did_not_expect_is_on_the_page() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    let expect = |model: &str, verdict: &str| {
        format!("[[program]]\nfile = \"sb.fw\"\nexpect = {{ {model} = \"{verdict}\" }}\n")
    };
    folder.write("fencewright.toml", expect("tso", "safe") + &expect("sc", "safe"));
    check_legible(&browser, &folder, &["ci"]);
    assert_eq!(browser.text("nav li:first-child"), "sb.fw TSO missing");
    assert_eq!(browser.text("nav li:last-child"), "sb.fw SC ok");
    let lead = browser.text("#answer-1 p.lead");
    assert!(lead.starts_with("A fence is missing under TSO: full fence after"), "{lead}");
    browser.press(key::HOME);
    browser.press("j");
    let stepped = browser.text("#answer-1 .count");
    assert!(stepped.starts_with("1 /"), "{stepped}");
    // What is as expected needs no run.
    folder.write("fencewright.toml", expect("tso", "unsafe"));
    browser.visit(&report(&folder, &["ci"]), 1280, "light");
    assert_eq!(browser.text("p.lead"), "Unsafe under TSO, as expected.");
    assert_eq!(browser.script("return document.querySelectorAll('.player').length"), json!(0));
    assert_quiet(&browser);
}

#[test]
fn every_control_is_reached_by_tab_and_shows_it() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    browser.visit(&report(&folder, &["fence", "--model", "pso", "peterson.fw"]), 1280, "light");
    let mut reached: Vec<String> = Vec::new();
    for _ in 0..40 {
        browser.press(key::TAB);
        let focus = browser.script(
            "const at = document.activeElement, style = getComputedStyle(at);
             return [at.getAttribute('aria-label') || at.textContent.trim(),
                     at === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)]",
        );
        assert_eq!(focus[1], json!(true), "the focus is not visible on {focus}");
        reached.push(focus[0].as_str().unwrap_or_default().to_string());
    }
    let place = |name: &str| reached.iter().position(|label| label.starts_with(name));
    let wanted = [
        "Skip to the answer",
        "Suggested change",
        "Source",
        "Without the store fence",
        "Without the full fence",
        "First step",
        "Step back",
        "Step on",
        "Last step",
        "Step",
        "Go to step start",
        "Happens-before graph",
        "While P0",
    ];
    for pair in wanted.windows(2) {
        assert!(place(pair[0]).is_some(), "{} is not reached: {reached:#?}", pair[0]);
        assert!(place(pair[1]).is_some(), "{} is not reached: {reached:#?}", pair[1]);
    }
    assert!(place("First step") < place("Happens-before graph"), "{reached:#?}");
    // What has the focus works by keyboard alone.
    browser.script("document.querySelector('.choice:not([hidden]) [data-go=on]').focus()");
    browser.press(key::ENTER);
    assert_eq!(step(&browser), 1);
    browser.press(key::DOWN);
    assert_eq!(step(&browser), 2);
    let unnamed = browser.script(
        "return [...document.querySelectorAll('button, input, [role=region], svg[role=img]')]
           .filter((at) => !(at.getAttribute('aria-label') || at.textContent.trim())).map((at) => at.outerHTML)",
    );
    assert_eq!(unnamed, json!([]), "controls without a name");
    assert_quiet(&browser);
}

#[test]
fn answers_and_runs_are_chosen() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    let shown = |browser: &Browser| {
        let headings = browser.script(
            "return [...document.querySelectorAll('.answer')].filter((a) => a.offsetParent).map((a) => a.getAttribute('aria-label'))",
        );
        headings
            .as_array()
            .expect("a list")
            .iter()
            .map(|h| h.as_str().unwrap_or("").to_string())
            .collect::<Vec<_>>()
    };
    browser.visit(&report(&folder, &["verify", "--model", "all", "sb.fw", "mp.fw"]), 1280, "light");
    assert_eq!(shown(&browser), ["sb.fw under SC"]);
    let table = browser.script(
        "return [...document.querySelectorAll('nav tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim().split(/\\s+/).at(-1)))",
    );
    let expected = json!([
        ["File", "SC", "TSO", "PSO"],
        ["sb.fw", "safe", "unsafe", "unsafe"],
        ["mp.fw", "safe", "safe", "unsafe"]
    ]);
    assert_eq!(table, expected, "a row for each file, a column for each model");
    browser.click("nav a[href='#answer-2']");
    // The page hears of its new address a moment after the click.
    let becomes = |expected: [&str; 1]| {
        let waiting = (0..200).take_while(|_| shown(&browser) != expected);
        waiting.for_each(|_| std::thread::sleep(std::time::Duration::from_millis(25)));
        assert_eq!(shown(&browser), expected);
    };
    becomes(["sb.fw under TSO"]);
    browser.click("nav a[href='#answer-6']");
    becomes(["mp.fw under PSO"]);
    browser.press("j");
    let stepped =
        browser.script("return document.querySelector('#answer-6 .count').textContent.split(' ')[0]");
    assert_eq!(stepped, json!("1"));
    let others =
        browser.script("return document.querySelector('#answer-2 .count').textContent.split(' ')[0]");
    assert_eq!(others, json!("0"), "only what is seen steps");
    let current = browser.script("return document.querySelector('nav a[aria-current]').textContent");
    assert_eq!(current, json!("mp.fw PSO unsafe"));
    let dark = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
    browser.devtools("Emulation.setEmulatedMedia", json!({"media": "print", "features": dark}));
    assert_eq!(shown(&browser).len(), 6, "on paper there are all answers");
    let controls = browser
        .script("return [...document.querySelectorAll('.player, nav')].filter((c) => c.offsetParent).length");
    assert_eq!(controls, json!(0), "on paper there is nothing to press");
    assert_eq!(browser.script(ILLEGIBLE)[1], json!([]), "paper is light");
    browser.devtools("Emulation.setEmulatedMedia", json!({"media": ""}));

    browser.visit(&report(&folder, &["fence", "--model", "pso", "peterson.fw"]), 1280, "light");
    let sentence = |browser: &Browser| browser.text(".choices .choice:not([hidden]) p");
    let visible = |browser: &Browser| {
        browser
            .script("return [...document.querySelectorAll('.player')].filter((p) => p.offsetParent).length")
    };
    assert_eq!(visible(&browser), json!(1));
    browser.click(".tabs button[data-choice='1']");
    assert_eq!(visible(&browser), json!(1));
    assert_eq!(
        browser.text(".tabs button[aria-pressed=true]"),
        browser.text(".tabs button[data-choice='1']")
    );
    assert!(sentence(&browser).starts_with("Violated"), "{}", sentence(&browser));
    assert_quiet(&browser);
}

#[test]
fn hostile_names_stay_text() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let attack =
        "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>\u{2028}{{script}}";
    let name = "<img src=x onerror=window.pwned=1>\"'`${1}.fw";
    let text = format!(
        "// {attack} <!-- ]]> \u{202e}\nshared x, y;\nthread P {{ let a; x = 1; a = y; }} // {attack}\n\
        thread Q {{ let b; y = 1; b = x; }}\nfinally /*{attack}*/ !(P.a == 0 && Q.b == 0);\n"
    );
    let litmus = LITMUS.replacen("SB", "SB<img/src=x/onerror=pwned=1>", 1);
    folder.write(name, &text).write("wrong.fw", format!("shared {attack};")).write("a.litmus", litmus);
    for args in
        [&["verify", name, "wrong.fw", "a.litmus"][..], &["fence", name], &["verify", "--model", "sc", name]]
    {
        browser.visit(&report(&folder, args), 1280, "light");
        browser.press("j");
        browser.press(key::END);
        let harm = browser.script(
            "return [typeof window.pwned, document.querySelectorAll('main img').length,
                     [...document.scripts].filter((s) => s.type !== 'application/json').length]",
        );
        assert_eq!(harm, json!(["undefined", 0, 1]), "{args:?}");
        let heading = browser.script("return document.querySelector('h2').textContent");
        assert_eq!(heading, json!(name));
        let line = browser.script("return document.querySelector('.source code').textContent");
        let shown = text
            .lines()
            .next()
            .expect("a line")
            .replace('\u{2028}', "\\u{2028}")
            .replace('\u{202e}', "\\u{202e}");
        assert_eq!(line, json!(shown));
        assert_quiet(&browser);
    }
}

#[test]
fn long_runs_and_long_names_stay_within_the_window() {
    let Some(browser) = Browser::open() else { return };
    let folder = Folder::new();
    let counting =
        "shared x; thread P { let r; while (r < 60) { x = r; r = r + 1; } here: skip; } never P@here;";
    let (long, other) = ("a_name_that_goes_on".repeat(6), "another_one_that_does".repeat(5));
    let names = format!(
        "shared {long}, {other};\nthread {long}_ {{ let a; {long} = 1234567890123456789; a = {other}; }}\n\
         thread Q {{ let b; {other} = -1234567890123456789; b = {long}; }}\nfinally !({long}_.a == 0 && Q.b == 0);\n"
    );
    folder.write("long.fw", counting).write("names.fw", names);
    check_legible(&browser, &folder, &["verify", "names.fw"]);
    check_legible(&browser, &folder, &["fence", "names.fw"]);
    browser.visit(&report(&folder, &["verify", "long.fw"]), 1280, "light");
    browser.press(key::END);
    assert!(step(&browser) > 60);
    let seen = browser.script(
        "const box = document.querySelector('.tall').getBoundingClientRect();
         const row = document.querySelector('tr.now').getBoundingClientRect();
         return [row.top >= box.top && row.bottom <= box.bottom + 1, document.documentElement.scrollHeight < 5000]",
    );
    assert_eq!(seen, json!([true, true]), "the current row is scrolled into view in its box");
    assert_quiet(&browser);
}

#[test]
fn what_is_known_leads_to_its_line() {
    let Some(browser) = Browser::open() else { return };
    let folder = programs();
    browser.visit(&report(&folder, &["verify", "--model", "sc", "peterson.fw"]), 1280, "light");
    // It is folded away until somebody wants it.
    let open: Value = browser.script(
        "const all = [...document.querySelectorAll('.certificate details')]; \
         const open = all.filter((one) => one.open).length; all.forEach((one) => { one.open = true; }); return open;",
    );
    assert_eq!(open, 0);
    let known: Value = browser.script(
        "return [...document.querySelectorAll('.known tr')].filter((r) => r.textContent.includes('cs:')).map((r) => r.innerText)",
    );
    let known: Vec<String> = serde_json::from_value(known).expect("texts");
    assert_eq!(known.len(), 2, "{known:?}");
    assert!(known[0].contains("P1 is never at cs") && known[1].contains("P0 is never at cs"), "{known:?}");
    browser.click(".to-line");
    assert_eq!(browser.text(".line.shown .line-number"), browser.text(".to-line"));
    assert_quiet(&browser);
}
