//! Small random programs whose integers grow without bound: counters, copies, tickets, any
//! values, stores for ever. What exploring cannot finish, and proofs can.
//!
//! `sketch(seed)` always gives the same program.

use fastrand::Rng;
use program::{
    Arith, Cond, Domain, Expr, Fence, Int, Op, Place, PropertyKind, RegId, Relation, Span, ThreadId, VarId,
    Variable,
};
use support::random::{Atom, Claim, Draft, Sketch, Stmt};

/// The program of a seed.
pub fn sketch(seed: u64) -> Sketch {
    let mut rng = Rng::with_seed(seed);
    let names = ["x", "y", "z"];
    let count = rng.usize(2..=3);
    let variables = names[..count].iter().map(|name| variable(name, &mut rng)).collect();
    let mut source = Source { rng, variables: count, registers: 0 };
    let (threads, claim) = match source.rng.u8(..10) {
        0..3 => (source.message(), None),
        3..5 => {
            let (threads, claim) = source.crossing();
            (threads, Some(claim))
        }
        _ => ((0..source.pick(&[2, 2, 2, 2, 3])).map(|_| source.thread()).collect(), None),
    };
    let mut claims = Vec::from_iter(claim);
    if claims.is_empty() && source.rng.bool() {
        claims.push(source.claim(threads.len()));
    }
    Sketch { name: format!("unbounded, seed {seed}"), variables, starts: Vec::new(), threads, claims }
}

fn variable(name: &str, rng: &mut Rng) -> Variable {
    let mut variable = Variable::new(name, Span::NONE);
    if rng.u8(..10) == 0 {
        variable.initial = Domain::All;
    }
    variable
}

/// Where chance comes from, and what may be used.
struct Source {
    rng: Rng,
    variables: usize,
    registers: usize,
}

impl Source {
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())].clone()
    }

    fn variable(&mut self) -> VarId {
        VarId::new(self.rng.usize(..self.variables))
    }

    fn register(&mut self) -> RegId {
        RegId::new(self.rng.usize(..self.registers))
    }

    fn thread(&mut self) -> Draft {
        self.registers = self.rng.usize(2..=3);
        let mut body: Vec<Stmt> = (0..self.rng.usize(1..4)).flat_map(|_| self.idiom()).collect();
        if self.rng.bool() {
            body = vec![Stmt::Forever(body)];
        } else if self.rng.u8(..6) == 0 {
            body.push(self.store_forever());
        }
        Draft { registers: self.registers, body }
    }

    /// Something that programs with counters do.
    fn idiom(&mut self) -> Vec<Stmt> {
        let (v, w) = (self.variable(), self.variable());
        let (r, s) = (self.register(), self.register());
        let step = self.pick(&[1, 1, 1, 2, -1]);
        let more = |register: RegId, by: i64| Expr::binary(Arith::Add, register, by);
        let load = |register, variable| Stmt::Do(Op::Load(register, variable));
        let store = |variable, value| Stmt::Do(Op::Store(variable, value));
        match self.rng.u8(..14) {
            0 => vec![load(r, v), store(v, more(r, step))],
            1 => vec![Stmt::Do(Op::locked(vec![Op::Load(r, v), Op::Store(v, more(r, step))]))],
            2 => vec![load(r, v), store(w, r.into())],
            3 => self.ticket(),
            4 => vec![Stmt::Do(Op::Havoc(r, Domain::All)), store(v, r.into())],
            5 | 6 => vec![load(r, v), load(s, w), Stmt::Assert(self.cond(r, s))],
            7 => vec![load(r, v), load(s, w), Stmt::If(self.cond(r, s), vec![store(v, more(s, 1))], vec![])],
            8 => vec![Stmt::Do(Op::Fence(self.pick(&[Fence::Full, Fence::Full, Fence::Store])))],
            9 => vec![load(r, v), Stmt::Assert(self.bound(r))],
            10 => vec![Stmt::Do(Op::Assign(r, more(s, step)))],
            11 => vec![load(r, v), Stmt::While(self.cond(r, s), vec![load(r, v)])],
            12 => vec![store(v, more(r, step)), load(s, w)],
            _ => vec![load(r, v), load(s, v), Stmt::Assert(self.cond(r, s))],
        }
    }

    /// A counter stored twice, and read in the opposite order: the copy that was stored first is
    /// never behind, unless stores overtake each other.
    fn message(&mut self) -> Vec<Draft> {
        self.registers = 2;
        let (first, second) = (VarId::new(0), VarId::new(1));
        let (r, s) = (RegId::new(0), RegId::new(1));
        let more = Expr::binary(Arith::Add, r, 1);
        let mut writer = vec![Stmt::Do(Op::Assign(r, more)), Stmt::Do(Op::Store(first, r.into()))];
        writer.extend(self.perhaps_fence());
        writer.push(Stmt::Do(Op::Store(second, r.into())));
        let ahead = Cond::compare(self.pick(&[Relation::Le, Relation::Le, Relation::Lt, Relation::Eq]), r, s);
        let reader = vec![Stmt::Do(Op::Load(r, second)), Stmt::Do(Op::Load(s, first)), Stmt::Assert(ahead)];
        let body = |inner: Vec<Stmt>, forever: bool| if forever { vec![Stmt::Forever(inner)] } else { inner };
        let bodies = [body(writer, self.rng.u8(..4) > 0), body(reader, self.rng.bool())];
        bodies.map(|body| Draft { registers: 2, body }).into()
    }

    /// Each thread announces a positive number and looks at the other's: one of them sees the
    /// other, unless stores are late.
    fn crossing(&mut self) -> (Vec<Draft>, Claim) {
        let (mine, seen) = (RegId::new(0), RegId::new(1));
        let mut threads = Vec::new();
        for at in 0..2 {
            let positive = Op::Assume(Cond::compare(Relation::Gt, mine, 0));
            let count = Op::Assign(mine, Expr::binary(Arith::Add, mine, 1));
            let number =
                if self.rng.bool() { vec![Op::Havoc(mine, Domain::All), positive] } else { vec![count] };
            let mut body: Vec<Stmt> = number.into_iter().map(Stmt::Do).collect();
            body.push(Stmt::Do(Op::Store(VarId::new(at), mine.into())));
            body.extend(self.perhaps_fence());
            body.push(Stmt::Do(Op::Load(seen, VarId::new(1 - at))));
            threads.push(Draft { registers: 2, body });
        }
        let saw = |thread| {
            let seen = Place::Register(ThreadId::new(thread), seen);
            Atom::Holds(Cond::compare(Relation::Ne, seen, Int::from(0)))
        };
        (threads, Claim { kind: PropertyKind::Finally, any: true, atoms: vec![saw(0), saw(1)] })
    }

    fn perhaps_fence(&mut self) -> Option<Stmt> {
        let fence = self.pick(&[None, None, Some(Fence::Full), Some(Fence::Store)]);
        fence.map(|fence| Stmt::Do(Op::Fence(fence)))
    }

    /// Takes a ticket, waits for it to be served, and serves the next.
    fn ticket(&mut self) -> Vec<Stmt> {
        let (next, serving) = (VarId::new(0), VarId::new(1));
        let (mine, now) = (RegId::new(0), RegId::new(1));
        let after = || Expr::binary(Arith::Add, mine, 1);
        vec![
            Stmt::Do(Op::locked(vec![Op::Load(mine, next), Op::Store(next, after())])),
            Stmt::Do(Op::Load(now, serving)),
            Stmt::While(Cond::compare(Relation::Ne, now, mine), vec![Stmt::Do(Op::Load(now, serving))]),
            Stmt::Do(Op::Store(serving, after())),
        ]
    }

    fn store_forever(&mut self) -> Stmt {
        let (v, r) = (self.variable(), self.register());
        let next = Expr::binary(Arith::Add, r, 1);
        Stmt::Forever(vec![Stmt::Do(Op::Store(v, r.into())), Stmt::Do(Op::Assign(r, next))])
    }

    fn cond(&mut self, r: RegId, s: RegId) -> Cond<RegId> {
        use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
        let far = Expr::binary(Arith::Add, s, self.pick(&[0, 0, 0, 1]));
        Cond::compare(self.pick(&[Le, Le, Ge, Ge, Lt, Gt, Eq, Ne]), r, far)
    }

    fn bound(&mut self, r: RegId) -> Cond<RegId> {
        let relation = self.pick(&[Relation::Ge, Relation::Ge, Relation::Le, Relation::Ne]);
        Cond::compare(relation, r, self.pick(&[0, 0, -1, 3]))
    }

    /// Something about memory, and now and then about a register.
    fn claim(&mut self, threads: usize) -> Claim {
        let kind = self.pick(&[PropertyKind::Never, PropertyKind::Never, PropertyKind::Finally]);
        let variable = Place::Memory(self.variable());
        let other: Expr<Place> = match self.rng.u8(..4) {
            0 => Place::Register(ThreadId::new(self.rng.usize(..threads)), RegId::new(0)).into(),
            1 => Place::Memory(self.variable()).into(),
            _ => Expr::from(self.pick(&[0, -1, 1])),
        };
        let relation = self.pick(&[Relation::Lt, Relation::Lt, Relation::Gt, Relation::Eq]);
        let cond = Cond::compare(relation, variable, other);
        let cond = if kind == PropertyKind::Finally { cond.negate() } else { cond };
        Claim { kind, any: false, atoms: vec![Atom::Holds(cond)] }
    }
}
