//! No text is too strange for the C front end: it is read, or refused with what is wrong.

use crate::c_language::{HOLD, read_c, two_threads, whole};
use frontend::COptions;
use std::collections::BTreeSet;

#[test]
fn hostile_texts_are_refused() {
    let deep = format!("int main(void) {{ return {}1{}; }}", "(".repeat(20_000), ")".repeat(20_000));
    let blocks = format!("int main(void) {{ {} {} }}", "{".repeat(20_000), "}".repeat(20_000));
    let pointers = format!("int {}p; int main(void) {{ return 0; }}", "(*".repeat(20_000));
    let sums = format!("int main(void) {{ return 1{}; }}", "+x".repeat(50_000));
    let ifs = format!("int main(void) {{ {} ; }}", "if (1) ; else ".repeat(20_000));
    let large = "int a[1000000000]; int main(void) { return a[0]; }".to_string();
    for text in [deep, blocks, pointers, sums, ifs, large] {
        assert!(read_c(&text, COptions::default()).is_err(), "{}", &text[..text.len().min(60)]);
    }
}

/// Every word that the lowering of C knows, as a function with too few, the right or too many arguments.
#[test]
fn calls_with_any_number_of_arguments_never_panic() {
    let folder = support::root().join("crates/frontend/src/c/lower");
    let mut words = BTreeSet::new();
    for file in std::fs::read_dir(folder).expect("the sources are there") {
        let text = std::fs::read_to_string(file.expect("an entry").path()).expect("readable");
        let is_name = |word: &&str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        words.extend(text.split('"').skip(1).filter(is_name).map(str::to_string));
    }
    assert!(words.contains("sync_lock_release") && words.len() > 200, "{}", words.len());
    for name in words.iter().flat_map(|word| [word.clone(), format!("__{word}")]) {
        for count in 0..6 {
            let call = format!("{name}({})", vec!["&x"; count].join(", "));
            let _ = read_c(&format!("int x; int main(void) {{ {call}; return 0; }}"), COptions::default());
        }
    }
}

#[test]
fn truncated_and_mutated_texts_never_panic() {
    let mut seeds: Vec<String> = vec![whole(HOLD[3]), whole(HOLD[4])];
    seeds.push(two_threads(
        "atomic_int x; pthread_mutex_t m;",
        "pthread_mutex_lock(&m); x++;",
        "int e = 0; atomic_compare_exchange_weak(&x, &e, 1);",
        "a < 3",
    ));
    let mut random = fastrand::Rng::with_seed(5);
    let pieces = [
        "(",
        ")",
        "{",
        "}",
        ";",
        "*",
        "&",
        "=",
        "#",
        "\"",
        "int ",
        "x",
        "1",
        ",",
        "\\\n",
        "if (",
        "struct s ",
        "[",
        "/*",
        "'",
    ];
    for seed in &seeds {
        for cut in (0..seed.len()).step_by(3).filter(|at| seed.is_char_boundary(*at)) {
            let _ = read_c(&seed[..cut], COptions::default());
        }
        for _ in 0..300 {
            let mut text = seed.clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(0..text.len());
                let end = (at + random.usize(0..6)).min(text.len());
                text.replace_range(at..end, pieces[random.usize(0..pieces.len())]);
            }
            if let Err(errors) = read_c(&text, COptions::default()) {
                assert!(!errors.is_empty());
            }
        }
    }
}
