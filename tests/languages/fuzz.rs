//! Broken texts in every language: a message with a place in the text, never a panic.
//!
//! Seeds are mutated with a fixed random seed, so that a failure repeats. Where the public
//! corpora lie beside the checkout, some of their files are seeds as well.

mod any_text;

use any_text::{check_diagnostic, check_text};
use fastrand::Rng;
use frontend::{FRONTENDS, Frontend, Options, rmm, trencher};
use program::Source;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

const LITMUS: &[&str] = &[
    "X86 SB\n\"Fre PodWR\"\nCom=Fr Fr\n{ x=0; int y=1; 0:EAX=2; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n\
     L: CMP EAX,[y] | LOCK XADD [x],EBX ;\n JNE L | MFENCE ;\nlocations [x;]\nfilter true\nexists (0:EAX=0 /\\ ~(x=1))\n<< r >>",
    "X86_64 A\n{ int64_t t[2]={1,-1}; 0:rax=t; 0:rbx=1; }\n P0 ;\n movq 8(%rax),%rcx ;\n lock cmpxchgq %rdx,(x) ;\n\
     xchgl (y),%edx ;\n testb $1,%al ;\n jae E ;\n E: ret ;\nforall (0:rcx=-1 => x=0 \\/ false)",
];

const RMM: &[&str] = &[
    "/* c */ forbidden CS * ; * CS\npredicates $r = 0 && [$r < 2 || true]\ndata x = 0 : [0:3] y = * : [0:1] z = *\n\
     macro inc(v,k) read: $r := v; cas(v,$r,$r+(k)) endmacro\nprocess(2)\ndata f = 0 : [0:1]\nregisters $r = * : [0:2]\n\
     $q = -1\ntext\nL0: write: f[my] := 1; inc(x,1); read: f[0] = 0;\nif $r = 1 then goto L0 else { nop; slocked write: y := 1 };\n\
     while $q != 3 do $q := $q + 1;\neither { read: [$r] = 0 or locked { read: x = 1; write: x := 0 } or fence };\n\
     CS: locked write: x := 0; ssfence; llfence; syncwr: y := 0; syncrd: $r := y; assume: not $r > 1; goto L0",
];

const TRENCHER: &[&str] =
    &["# c\nthread a\ninitial q0\nfinal q3\ntransition q0 q1 write + 1 r 0\ntransition q1 q2 read r + r 1\n\
     transition q2 q3 check && == r 0 ! < r 2\ntransition q3 q0 lock\ntransition q0 q3 unlock\n\
     transition q3 q3 local r == r * 2 & r 1\nend\nthread b\ninitial s\nfinal s\ntransition s t mfence\n\
     transition t s noop\ntransition s s local d / 4 d\ntransition s t write d % d 3\nend\n"];

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    "|",
    ",",
    ":",
    ":=",
    "=",
    "$",
    "%",
    "*",
    "(*",
    "*)",
    "/*",
    "*/",
    "#",
    "é",
    "∀",
    "\u{0}",
    "0x",
    "99999999999999999999999999999",
    "-1",
    "LOCK ",
    "MOV EAX,[x]",
    "JMP L",
    "P2",
    "exists",
    "~",
    "\\/",
    "/\\",
    "forbidden",
    "process(9)",
    "process",
    "macro m(a) a a endmacro",
    "m(m(x))",
    "either {",
    "or",
    "goto L0",
    "locked {",
    "[$r]",
    "$r",
    "data",
    "thread",
    "end",
    "initial",
    "transition q0 q1",
    "lock",
    "+ + + ",
    "== ",
    "! ",
    "q9",
    "\n",
    " ",
];

fn seeds(folder: &str, ending: &str, built_in: &[&str]) -> Vec<String> {
    let mut seeds: Vec<String> = built_in.iter().map(|seed| (*seed).to_string()).collect();
    let mut folders: Vec<PathBuf> = support::corpora(folder).into_iter().collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    let step = files.len() / 40 + 1;
    seeds.extend(files.iter().step_by(step).filter_map(|file| std::fs::read_to_string(file).ok()));
    seeds
}

fn boundary(text: &str, rng: &mut Rng) -> usize {
    let mut at = rng.usize(..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn mutate(seed: &str, other: &str, rng: &mut Rng) -> String {
    let mut text = seed.to_string();
    for _ in 0..rng.usize(1..6) {
        let (a, b) = (boundary(&text, rng), boundary(&text, rng));
        let (low, high) = (a.min(b), a.max(b).min(a.min(b) + 60));
        let high = (low..=high).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(low);
        match rng.u8(0..6) {
            0 => text.replace_range(low..high, ""),
            1 => {
                let copy = text[low..high].to_string();
                text.insert_str(a, &copy);
            }
            2 | 3 => text.insert_str(a, rng.choice(PIECES).unwrap_or(&"")),
            4 => text.truncate(if rng.u8(0..8) == 0 { a } else { text.len() }),
            _ => {
                let from = boundary(other, rng);
                let to = (from..=other.len().min(from + 40)).rev().find(|at| other.is_char_boundary(*at));
                text.insert_str(a, &other[from..to.unwrap_or(from)]);
            }
        }
    }
    text
}

fn fuzz(name: &str, seeds: &[String], rounds: usize) {
    let frontend: &Frontend = FRONTENDS.iter().find(|f| f.name == name).expect("registered");
    let mut rng = Rng::with_seed(0x5eed);
    let mut accepted = 0;
    for round in 0..rounds {
        let seed = rng.choice(seeds).expect("seeds");
        let other = rng.choice(seeds).expect("seeds");
        let text = if round < seeds.len() { seeds[round].clone() } else { mutate(seed, other, &mut rng) };
        let result = catch_unwind(AssertUnwindSafe(|| check_text(frontend, &text, round % 2 == 0)));
        match result {
            Ok(read) => accepted += usize::from(read),
            Err(_) => panic!("round {round} of {name} with this text:\n{text}"),
        }
    }
    eprintln!("{name}: {accepted} of {rounds} texts accepted");
    assert!(accepted > 0 && accepted < rounds, "the mutations are too weak or too strong");
}

#[test]
fn broken_litmus_tests() {
    fuzz("litmus", &seeds("litmus-x86", "litmus", LITMUS), 12_000);
}

#[test]
fn broken_rmm() {
    fuzz("rmm", &seeds("memorax", "rmm", RMM), 12_000);
}

#[test]
fn broken_trencher() {
    fuzz("trencher", &seeds("trencher", "txt", TRENCHER), 8_000);
}

/// Texts made to hurt: deep, long, and growing.
#[test]
fn hostile_texts_are_refused_or_read_quickly() {
    let deep = 100_000;
    let texts = [
        ("litmus", format!("X86 a\n{{}}\n P0 ;\n NOP ;\nexists {}x=1", "(".repeat(deep))),
        ("litmus", format!("X86 a\n{{}}\n P0 ;\n NOP ;\nexists {}x=1", "~ ".repeat(deep))),
        ("litmus", format!("X86 a\n{{}}\n P0 ;\n NOP ;\nexists x=1{}", " => x=1".repeat(deep))),
        ("litmus", format!("X86 a\n{{}}\n P0 ;\n NOP ;\nexists x=1{}", " /\\ x=1".repeat(deep))),
        ("litmus", format!("X86 a\n{{}}\n P0 ;\n{}forall true", " MOV [x],EAX ;\n".repeat(deep))),
        ("litmus", format!("X86 {}", "(*".repeat(deep))),
        ("litmus", format!("X86 a\n{{ int t[{}]; }}\n P0 ;\n NOP ;\nforall true", "9".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess text L: {}nop", "{".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess text L: {}nop", "while true do ".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess registers $r = 0 text L: $r := {}1", "-".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess registers $r = 0 text L: $r := 1{}", "+$r".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess registers $r = 0 text L: assume: {}true", "not ".repeat(deep))),
        ("rmm", format!("forbidden L\nprocess text L: nop{}", "; nop".repeat(deep))),
        (
            "rmm",
            format!(
                "forbidden L\nprocess text L: locked {{ nop{} }}",
                "; either { nop or nop }".repeat(deep)
            ),
        ),
        ("trencher", format!("thread a initial q transition q q local r {}1 end", "! ".repeat(deep))),
        ("trencher", format!("thread a initial q transition q q local r {} end", "+ r ".repeat(deep))),
        (
            "trencher",
            format!(
                "thread a initial q transition q q local r {} {} end",
                "== r ".repeat(150),
                "r ".repeat(150)
            ),
        ),
        (
            "trencher",
            (0..19_000).rev().fold("thread a initial q0 ".to_string(), |text, at| {
                text + &format!("transition q{at} q{} write {at} {at} ", at + 1)
            }) + "end",
        ),
    ];
    for (name, text) in texts {
        let frontend = FRONTENDS.iter().find(|f| f.name == name).expect("registered");
        match (frontend.read)(Source::new("hostile", text.clone()), &Options::default()) {
            Ok(parsed) => {
                assert_eq!(parsed.program.validate(), Ok(()));
                let _ = (
                    program::print(&parsed.program),
                    rmm::write(&parsed.program),
                    trencher::write(&parsed.program),
                );
            }
            Err(errors) => errors.iter().for_each(|error| check_diagnostic(&text, error)),
        }
    }
}
