//! What the gap abstraction must know of a program: which steps are of the kind it handles
//! ([`crate::Gaps`]), with which offsets, and how large the window has to be.

use num_traits::{Signed, ToPrimitive};
use program::{
    Cond, Domain, EdgeId, Expr, Fence, Int, Linear, Op, Place, Program, RegId, Span, ThreadId, VarId,
};

/// How a step is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Copies, adds and compares with offsets up to this.
    Offset(i64),
    /// Chooses any value of a domain.
    Choice,
    /// Computes something else: exact while all of these lie in the window.
    Exact(Vec<RegId>, Vec<VarId>),
}

/// Plans for all edges, and what they need.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    edges: Vec<Vec<Plan>>,
    /// The smallest window that will do.
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// The smallest precision that will do.
    pub(crate) precision: i64,
}

/// A program the abstraction cannot handle, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The offending step or property.
    pub span: Span,
}

impl Plans {
    pub(crate) fn of(program: &Program) -> Result<Plans, Unsupported> {
        let mut needs = Needs { low: 0, high: 0, offset: 0 };
        for variable in &program.variables {
            needs.domain(&variable.initial).ok_or(Unsupported { span: variable.span })?;
        }
        let mut edges = Vec::new();
        for thread in &program.threads {
            let plan = |edge: &program::Edge| needs.op(&edge.op).ok_or(Unsupported { span: edge.span });
            edges.push(thread.edges().iter().map(plan).collect::<Result<_, _>>()?);
        }
        let mut precision = 0;
        for property in &program.properties {
            let offset = needs.property(&property.cond).ok_or(Unsupported { span: property.span })?;
            precision = precision.max(offset);
        }
        let (low, high) = (needs.low - needs.offset, needs.high + needs.offset);
        Ok(Plans { edges, low, high, precision })
    }

    pub(crate) fn at(&self, thread: ThreadId, edge: EdgeId) -> &Plan {
        &self.edges[thread.index()][edge.index()]
    }
}

/// The constants and offsets met so far. Everything is kept far from the ends of 64 bits.
struct Needs {
    low: i64,
    high: i64,
    offset: i64,
}

const LARGEST: i64 = 1 << 40;

impl Needs {
    fn constant(&mut self, value: &Int) -> Option<()> {
        let value = value.to_i64().filter(|v| v.abs() < LARGEST)?;
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

    fn op(&mut self, op: &Op) -> Option<Plan> {
        let plan = match op {
            Op::Havoc(_, domain) => {
                self.domain(domain)?;
                Plan::Choice
            }
            plain => {
                let mut total = Some(0i64);
                plain.for_each_part(&mut |part| {
                    total = total.zip(self.part(part)).map(|(sum, offset)| sum.saturating_add(offset));
                });
                match total {
                    Some(offset) if offset < LARGEST => Plan::Offset(offset),
                    _ => inputs(plain),
                }
            }
        };
        if let Plan::Offset(offset) = plan {
            self.offset = self.offset.max(offset);
        }
        Some(plan)
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
        let linear = value.linear()?;
        let unit = linear.terms.values().all(|c| *c == Int::from(1));
        match linear.terms.len() {
            0 => self.constant(&linear.constant).map(|()| 0),
            1 if unit => linear.constant.abs().to_i64(),
            _ => None,
        }
    }

    /// The largest offset in a condition. Leaves that `known` tells are no data.
    fn cond<L: Ord + Clone>(&mut self, cond: &Cond<L>, known: &dyn Fn(&L) -> bool) -> Option<i64> {
        match cond {
            Cond::Const(_) => Some(0),
            Cond::And(parts) | Cond::Or(parts) => {
                parts.iter().try_fold(0, |most: i64, part| Some(most.max(self.cond(part, known)?)))
            }
            Cond::Compare(_, a, b) => {
                let mut data = false;
                cond.for_each_leaf(&mut |leaf| data |= !known(leaf));
                if !data {
                    return Some(0);
                }
                let mut difference: Linear<L> = a.linear()?;
                difference.add_scaled(&b.linear()?, &Int::from(-1));
                self.difference(&difference)
            }
        }
    }

    /// `x - y + c` compared with 0 has offset `c`; `x + c` needs the constant `-c` in the window.
    fn difference<L>(&mut self, difference: &Linear<L>) -> Option<i64> {
        let constant = &difference.constant;
        let coefficients: Vec<&Int> = difference.terms.values().collect();
        match coefficients.as_slice() {
            [] => Some(0),
            [one] if **one == Int::from(1) => self.constant(&-constant).map(|()| 0),
            [one] if **one == Int::from(-1) => self.constant(constant).map(|()| 0),
            [a, b] if (*a + *b == Int::ZERO) && a.abs() == Int::from(1) => {
                constant.abs().to_i64().filter(|c| *c < LARGEST)
            }
            _ => None,
        }
    }

    fn property(&mut self, cond: &Cond<Place>) -> Option<i64> {
        self.cond(cond, &|place| matches!(place, Place::At(..)))
    }
}

/// What an operation reads, if it has to be computed exactly.
fn inputs(op: &Op) -> Plan {
    let (mut registers, mut variables) = (Vec::new(), Vec::new());
    op.for_each_part(&mut |part| {
        part.for_each_read(&mut |register| registers.push(*register));
        if let Op::Load(_, variable) = part {
            variables.push(*variable);
        }
    });
    Plan::Exact(registers, variables)
}
