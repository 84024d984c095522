//! What to try where the answer is unknown.

use evidence::{Reason, Stop};

/// One sentence for each thing that may help, the most helpful first; none twice.
pub fn what_to_try(reasons: &[Reason]) -> Vec<&'static str> {
    super::distinct(reasons.iter().flat_map(to_try).copied())
}

const SMALLER: &str = "fewer threads or smaller constants (`-D N=2`) leave fewer states";
const PREDICATES: &str =
    "`predicates { … }` in the text tells the engines that prove what the proof is about";

fn to_try(reason: &Reason) -> &'static [&'static str] {
    match reason {
        Reason::Stopped(Stop::Time) => &["give it more time with `--timeout SECONDS`", SMALLER, PREDICATES],
        Reason::Stopped(Stop::Memory) | Reason::Full => {
            &["give it more memory with `--memory MEGABYTES`", SMALLER]
        }
        Reason::Stopped(Stop::Lost) => &["start all processes again"],
        Reason::Stopped(Stop::Disk) => &["name a folder with more room with `--spill DIR`", SMALLER],
        Reason::Stopped(Stop::States) => &["allow more states, or leave out the limit"],
        Reason::BuffersBeyond(_) | Reason::Overflow(_) => &[
            "`--engine complete` (finite data) and `--engine cegar` need no bound on store buffers",
            "a `fence;` in the loop that stores keeps its buffer short",
        ],
        Reason::Doubt(_) => &["`--engine cegar` and `--engine gaps` know no bound on numbers and choices"],
        Reason::Imprecise(_) | Reason::Indistinct { .. } | Reason::Extrapolated { .. } => &[PREDICATES],
        Reason::NotLinear(_) | Reason::Unsupported(_) => &[
            "write it with sums and comparisons, or products with constants",
            "a range (`any in 0..8`) lets `--engine explicit` try all values",
        ],
        Reason::NotFinite(_) => {
            &["a range (`any in 0..8`) makes values finitely many; `--engine cegar` needs none"]
        }
        Reason::OrderMatters(_) => &["keep more stores in order with `--buffer-abstraction k=3`"],
        Reason::ContextsBeyond(_) => &["`--contexts K` looks further; the other engines know no such bound"],
        Reason::OnlyTso | Reason::CarriesNotOver | Reason::Delays(_) | Reason::DelaysBeyond(_) => {
            &["ask without `--engine`, so that all engines that fit take turns"]
        }
        Reason::Stopped(Stop::Interrupt) | Reason::NotReplayed | Reason::NotRead(_) => &[],
    }
}
