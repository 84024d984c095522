//! Store buffering around a ring of n threads: each stores to its own variable and loads its neighbour's.
//!
//! Under SC the thread whose store comes last loads a 1 from nobody only if its neighbour stored later, and around
//! the ring that is a contradiction: not all load 0. With store buffers all do, unless every thread has a fence between
//! its store and its load; one without is enough. Each thread loads its 0 in a context of its own, so a violation
//! takes n of them.

use crate::{Family, Generated, KnownAnswer, sized};
use std::fmt::Write;

/// Which threads have a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FencedThreads {
    /// None.
    None,
    /// All but the last.
    AllButOne,
    /// All.
    All,
}

/// The family.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// How many threads.
    pub threads: usize,
    /// Which of them have a fence.
    pub fenced: FencedThreads,
}

impl Family for Ring {
    fn generate(&self) -> Result<Generated, String> {
        let n = sized("threads", self.threads, 2, 64)?;
        let mut text = format!("const N = {n};\nshared x[N];\n\n");
        for thread in 0..n {
            let fence = match self.fenced {
                FencedThreads::None => "",
                FencedThreads::AllButOne if thread + 1 == n => "",
                FencedThreads::AllButOne | FencedThreads::All => " fence;",
            };
            let next = (thread + 1) % n;
            let _ = writeln!(
                text,
                "thread P{thread} {{ let r; x[{thread}] = 1;{fence} r = x[{next}]; end: skip; }}"
            );
        }
        let all = (0..n).map(|thread| format!("P{thread}@end && P{thread}.r == 0"));
        let _ = writeln!(text, "\nnever {};", all.collect::<Vec<_>>().join(" && "));
        let safe = self.fenced == FencedThreads::All;
        let weak = |model| KnownAnswer { contexts: (!safe).then_some(n), ..KnownAnswer::new(model, safe) };
        let fences = match self.fenced {
            FencedThreads::None => "without fences",
            FencedThreads::AllButOne => "with a fence in every thread but the last",
            FencedThreads::All => "with a fence in every thread",
        };
        Ok(Generated {
            name: format!("ring{n}"),
            about: vec![format!("Store buffering around a ring of {n} threads, {fences}.")],
            expected: vec![KnownAnswer::new("sc", true), weak("tso"), weak("pso")],
            text,
        })
    }
}
