//! A line of help for every word of the language.

/// Words that are names elsewhere.
pub const IN_PLACE: &[&str] = &["include", "membarrier"];

/// What a word of the language means.
pub fn keyword(word: &str) -> Option<&'static str> {
    Some(match word {
        "any" => "`any`, `any in lo..hi`: any integer, or any from lo up to but not including hi",
        "arw" => "`arw(x, old, new);` waits until x is old and then stores new, in one locked step",
        "assert" => "`assert c;` it is a violation if c does not hold here",
        "assume" => {
            "`assume c;` goes on only if c holds; otherwise the thread stays here for ever. Outside threads: runs \
             start only with initial values for which c holds"
        }
        "atomic" => {
            "`atomic { … }` runs as one locked step: buffers are empty before and after, nobody interferes"
        }
        "await" => "`await c;` waits until c holds; every look at a shared variable is a load",
        "break" => "`break;` leaves the innermost loop",
        "cas" => "`cas(x, old, new)` stores new if x is old, in one locked step; 1 if it stored, else 0",
        "choose" => "`choose { … } or { … }` takes one of the branches, whichever",
        "const" => "`const N = 2;` a number known while reading; can be set from outside",
        "continue" => "`continue;` starts the next round of the innermost loop",
        "else" => "`if (c) { … } else { … }`",
        "false" => "`false` is 0",
        "fence" => {
            "`fence;` waits until all stores of the thread have reached memory; `fence store;` only keeps \
             later stores behind earlier ones"
        }
        "fetch_add" => "`fetch_add(x, d)` adds d to x in one locked step; the value before",
        "finally" => "`finally c;` c must hold when all threads have ended and all buffers are empty",
        "fn" => "`fn f(a, b) { … return e; }` is inlined where it is called",
        "for" => "`for i in lo..hi { … }` is unrolled; lo and hi are constants, hi is not reached",
        "goto" => "`goto l;` goes on at the label l of the same thread",
        "if" => "`if (c) { … } else { … }`",
        "in" => "`i in lo..hi` counts from lo up to but not including hi",
        "include" => {
            "`include \"locks.fw\";` the declarations of another text, beside this one or in a folder of -I"
        }
        "let" => "`let r = e;` a register: local to the thread, an integer of any size, 0 if nothing is said",
        "loop" => "`loop { … }` repeats for ever, until `break`",
        "membarrier" => {
            "`membarrier;` goes on when every other thread has passed a full fence, wherever it stands; a fence for the \
             caller as well"
        }
        "never" => "`never c;` c must not hold in any state that can be reached",
        "or" => "`choose { … } or { … }`",
        "predicates" => "`predicates { … }` help for provers; they never change a verdict",
        "return" => "`return e;` ends the function with the value e",
        "shared" => {
            "`shared x, y = 1, a[4], z = any;` variables that all threads read and write, 0 if nothing is said"
        }
        "skip" => "`skip;` a step that does nothing",
        "swap" => "`swap(x, v)` stores v in one locked step; the value before",
        "thread" => "`thread P { … }`, or `thread P(i in 0..2) { … }` for P0 and P1",
        "true" => "`true` is 1",
        "while" => "`while (c) { … }`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_keyword_has_its_line() {
        for word in program::KEYWORDS.iter().chain(super::IN_PLACE) {
            assert!(super::keyword(word).is_some_and(|line| line.contains(word)), "{word}");
        }
        assert_eq!(super::keyword("flag"), None);
    }
}
