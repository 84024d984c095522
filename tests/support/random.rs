//! Random programs, and how many of them tests look at.

pub use generate::random::*;
pub use generate::random::{
    ClaimAtom as Atom, ProgramShape as Shape, RandomClaim as Claim, SketchStmt as Stmt, ThreadDraft as Draft,
};

use program::{Arith, Expr, RegId};

/// How many random programs a comparison looks at, unless `FENCEWRIGHT_SEEDS` says otherwise: of 250
/// usual programs at least three notice each of the classic bugs (`tests/semantics/mutants.rs`), so
/// that a bug as plain as the rarest of those escapes 200 of them once in eleven times, and the several comparisons that
/// look at everything hardly ever. Comparisons with planted mistakes of their own look at as many.
pub fn seeds() -> u64 {
    seeds_or(200)
}

/// The same for a comparison that looks at another number of them by itself, and why is said there.
pub fn seeds_or(usual: u64) -> u64 {
    std::env::var("FENCEWRIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The value with something linear in place of what is not, and still small if it was.
pub fn linear(value: &Expr<RegId>) -> Expr<RegId> {
    let Expr::Binary(op, a, b) = value else { return value.clone() };
    let (a, b) = (linear(a), linear(b));
    match op {
        Arith::Mul => Expr::binary(Arith::Add, a, b),
        Arith::Xor => Expr::binary(Arith::Sub, 1, a),
        Arith::And => Expr::binary(Arith::Rem, a, 2),
        _ => Expr::binary(*op, a, b),
    }
}
