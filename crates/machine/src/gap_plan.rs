//! What the gap abstraction must know of a program: which steps are of the kind it handles
//! ([`crate::Gaps`]), with which offsets, and how large the window has to be.

use num_traits::{Signed, ToPrimitive, Zero};
use program::{
    Arith, BitSum, Cond, Domain, EdgeId, Expr, Fence, Int, LinearExpr, Op, Place, Program, RegId, Span,
    ThreadId, VarId,
};

/// How a step is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepPlan {
    /// Copies, adds and compares with offsets up to this.
    Offset(i64),
    /// Chooses any value of a domain.
    Choice,
    /// Computes something else: exact while all that it reads lies in the window.
    Exact,
}

/// Plans for all edges, and what they need.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    edges: Vec<Vec<StepPlan>>,
    /// What each edge reads.
    reads: Vec<Vec<ReadPlaces>>,
    /// Whether normal forms tell which initial values go together.
    pub(crate) tells_starts: bool,
    /// The smallest window that will do.
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// The smallest precision that will do.
    pub(crate) precision: i64,
    /// What gaps must be exact modulo of, so that remainders are known.
    pub(crate) modulus: i64,
}

/// The registers and variables that an operation reads.
pub(crate) type ReadPlaces = (Vec<RegId>, Vec<VarId>);

/// A program the abstraction cannot handle, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The offending step or property.
    pub span: Span,
}

impl Plans {
    pub(crate) fn of(program: &Program) -> Result<Plans, Unsupported> {
        let mut needs = Needs { low: 0, high: 0, offset: 0, inside: 0, modulus: 1 };
        for variable in &program.variables {
            needs.domain(&variable.initial).ok_or(Unsupported { span: variable.span })?;
        }
        let mut edges = Vec::new();
        for thread in &program.threads {
            let plan = |edge: &program::Edge| needs.op(&edge.op).ok_or(Unsupported { span: edge.span });
            edges.push(thread.edges().iter().map(plan).collect::<Result<_, _>>()?);
        }
        let (mut precision, mut tells_starts) = (0, true);
        for start in &program.starts {
            match needs.property(&start.cond) {
                Some(offset) => precision = precision.max(offset),
                None => tells_starts = false,
            }
        }
        for property in &program.properties {
            let offset = needs.property(&property.cond).ok_or(Unsupported { span: property.span })?;
            precision = precision.max(offset);
        }
        let (low, high) = (needs.low - needs.offset, needs.high + needs.offset);
        let reads =
            program.threads.iter().map(|thread| thread.edges().iter().map(|edge| inputs(&edge.op)).collect());
        Ok(Plans {
            edges,
            reads: reads.collect(),
            tells_starts,
            low,
            high,
            precision,
            modulus: needs.modulus,
        })
    }

    /// What an edge reads.
    pub(crate) fn reads(&self, thread: ThreadId, edge: EdgeId) -> &ReadPlaces {
        &self.reads[thread.index()][edge.index()]
    }

    pub(crate) fn at(&self, thread: ThreadId, edge: EdgeId) -> &StepPlan {
        &self.edges[thread.index()][edge.index()]
    }
}

/// The constants and offsets met so far. Everything is kept far from the ends of 64 bits.
struct Needs {
    low: i64,
    high: i64,
    offset: i64,
    /// Offsets inside the remainders of the step at hand.
    inside: i64,
    modulus: i64,
}

/// A leaf, or a remainder, whose value a normal form tells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term<L> {
    Leaf(L),
    /// A number below this bound in size, told apart by where it stands.
    Known(usize),
}

const LARGEST: i64 = 1 << 40;

impl Needs {
    fn constant(&mut self, value: &Int) -> Option<()> {
        let value = value.to_i64().filter(|v| (-LARGEST..LARGEST).contains(v))?;
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        Some(())
    }

    fn domain(&mut self, domain: &Domain) -> Option<()> {
        if let Domain::Range(low, high) = domain {
            self.constant(low)?;
            self.constant(high)?;
        }
        Some(())
    }

    fn op(&mut self, op: &Op) -> Option<StepPlan> {
        let plan = match op {
            Op::Havoc(_, domain) => {
                self.domain(domain)?;
                StepPlan::Choice
            }
            plain => {
                let mut total = Some(0i64);
                plain.for_each_part(&mut |part| {
                    total = total.zip(self.part(part)).map(|(sum, offset)| sum.saturating_add(offset));
                });
                match total {
                    Some(offset) if offset < LARGEST => StepPlan::Offset(offset),
                    _ => StepPlan::Exact,
                }
            }
        };
        if let StepPlan::Offset(offset) = plan {
            self.reach(offset)?;
        }
        Some(plan)
    }

    /// Takes note of a step's offset: in the margin of the window, sums keep their sign.
    fn reach(&mut self, offset: i64) -> Option<()> {
        let whole = offset.checked_add(std::mem::take(&mut self.inside)).filter(|o| *o < LARGEST)?;
        self.offset = self.offset.max(whole);
        Some(())
    }

    /// The offset of an operation, if it only copies, adds constants and compares.
    fn part(&mut self, part: &Op) -> Option<i64> {
        match part {
            Op::Assign(_, value) | Op::Store(_, value) => self.value(value),
            Op::Assume(cond) => self.cond(cond, &|_| false),
            Op::Skip | Op::Load(..) | Op::Lock | Op::Unlock => Some(0),
            Op::Fence(Fence::Full | Fence::Store) => Some(0),
            Op::Havoc(..) | Op::Block { .. } => None,
        }
    }

    fn value<L: Ord + Clone>(&mut self, value: &Expr<L>) -> Option<i64> {
        let (linear, known) = self.linear(value, &|_| false)?;
        let unit = linear.terms.values().all(|c| *c == Int::from(1));
        let constant = linear.constant.abs().to_i64()?.checked_add(known)?;
        match linear.terms.len() {
            0 => self.span(constant).map(|()| 0),
            1 if unit => Some(constant),
            _ => None,
        }
    }

    /// The largest offset in a condition. Leaves that `no_data` tells are truth values.
    fn cond<L: Ord + Clone>(&mut self, cond: &Cond<L>, no_data: &dyn Fn(&L) -> bool) -> Option<i64> {
        match cond {
            Cond::Const(_) => Some(0),
            Cond::And(parts) | Cond::Or(parts) => {
                parts.iter().try_fold(0, |most: i64, part| Some(most.max(self.cond(part, no_data)?)))
            }
            Cond::Compare(_, a, b) => {
                let ((mut difference, a), (b, more)) = (self.linear(a, no_data)?, self.linear(b, no_data)?);
                difference.add_scaled(&b, &Int::from(-1));
                self.difference(&difference, a.checked_add(more)?)
            }
        }
    }

    /// `x - y + c` compared with 0 has offset `c`; `x + c` needs the constant `-c` in the window.
    /// Known numbers add to `c`.
    fn difference<L>(&mut self, difference: &LinearExpr<L>, known: i64) -> Option<i64> {
        let constant = difference.constant.abs().to_i64()?.checked_add(known)?;
        let coefficients: Vec<&Int> = difference.terms.values().collect();
        match coefficients.as_slice() {
            [] => Some(0),
            [one] if one.abs() == Int::from(1) => self.span(constant).map(|()| 0),
            [a, b] if (*a + *b == Int::ZERO) && a.abs() == Int::from(1) => {
                Some(constant).filter(|c| *c < LARGEST)
            }
            _ => None,
        }
    }

    /// Sees to it that the window reaches this far from 0.
    fn span(&mut self, size: i64) -> Option<()> {
        self.constant(&Int::from(size))?;
        self.constant(&Int::from(-size))
    }

    /// The data in an expression as a linear one, and how large the rest of it may be: truth
    /// values, and remainders of data plus a constant, which are the same in all states that a
    /// normal form stands for.
    fn linear<L: Ord + Clone>(
        &mut self,
        expr: &Expr<L>,
        no_data: &dyn Fn(&L) -> bool,
    ) -> Option<(LinearExpr<L>, i64)> {
        let mut bounds = Vec::new();
        let terms = self.terms(expr, no_data, &mut bounds)?;
        let whole = terms.linear()?;
        let mut data = LinearExpr::constant(whole.constant);
        let mut known = 0i64;
        for (term, coefficient) in whole.terms {
            match term {
                Term::Leaf(leaf) => drop(data.terms.insert(leaf, coefficient)),
                Term::Known(at) => {
                    let size = coefficient.abs().to_i64()?.checked_mul(bounds[at])?;
                    known = known.checked_add(size)?;
                }
            }
        }
        (known < LARGEST).then_some((data, known))
    }

    fn terms<L: Ord + Clone>(
        &mut self,
        expr: &Expr<L>,
        no_data: &dyn Fn(&L) -> bool,
        bounds: &mut Vec<i64>,
    ) -> Option<Expr<Term<L>>> {
        let mut known = |bound: i64| {
            bounds.push(bound);
            Expr::Leaf(Term::Known(bounds.len() - 1))
        };
        Some(match expr {
            Expr::Const(value) => Expr::Const(value.clone()),
            Expr::Leaf(leaf) if no_data(leaf) => known(1),
            Expr::Leaf(leaf) => Expr::Leaf(Term::Leaf(leaf.clone())),
            Expr::Binary(Arith::Rem, of, by) if by.as_const().is_some() => {
                let by = by.as_const()?.abs();
                known(self.rest(of, &by)?)
            }
            Expr::Binary(op @ (Arith::And | Arith::Or | Arith::Xor), a, b)
                if a.as_const().is_some() != b.as_const().is_some() =>
            {
                let (of, by) = if b.as_const().is_some() { (a, b) } else { (b, a) };
                let bits = BitSum::of(*op, by.as_const()?)?;
                let mut sum = Expr::Const(bits.plus);
                for (factor, size) in bits.rests {
                    let rest = known(self.rest(of, &size)?);
                    sum = Expr::binary(Arith::Add, sum, Expr::binary(Arith::Mul, factor, rest));
                }
                if bits.times.is_zero() {
                    return Some(sum);
                }
                let whole = self.terms(of, no_data, bounds)?;
                Expr::binary(Arith::Add, sum, Expr::binary(Arith::Mul, bits.times, whole))
            }
            Expr::Binary(op, a, b) => {
                Expr::binary(*op, self.terms(a, no_data, bounds)?, self.terms(b, no_data, bounds)?)
            }
        })
    }

    /// What data plus a constant leaves when divided, whichever way that rounds: how large it is at most.
    fn rest<L: Ord + Clone>(&mut self, of: &Expr<L>, by: &Int) -> Option<i64> {
        let by = by.to_i64().filter(|by| (1..1 << 20).contains(by))?;
        let offset = self.value(of)?;
        self.inside = self.inside.saturating_add(offset);
        self.modulus = self.modulus.checked_mul(by / gcd(self.modulus, by)).filter(|m| *m < 1 << 20)?;
        Some(by)
    }

    fn property(&mut self, cond: &Cond<Place>) -> Option<i64> {
        let offset = self.cond(cond, &|place| matches!(place, Place::At(..) | Place::Drained(_)))?;
        self.reach(offset)?;
        Some(offset)
    }
}

/// What an operation reads.
fn inputs(op: &Op) -> ReadPlaces {
    let (mut registers, mut variables) = (Vec::new(), Vec::new());
    op.for_each_part(&mut |part| {
        part.for_each_read(&mut |register| registers.push(*register));
        if let Op::Load(_, variable) = part {
            variables.push(*variable);
        }
    });
    (registers, variables)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
