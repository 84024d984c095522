//! Program shapes, each aimed at one bug that tools of this kind had more than once.
//!
//! A shape fixes what must be there for the bug to show and leaves the rest to chance: values,
//! variables, which barrier stands between two accesses, and in what order things are read.

use super::chains::{is, read, write};
use super::{Random, SketchStmt, ThreadDraft};
use program::{Arith, Cond, Expr, Fence, Op, RegId, Relation, VarId};

/// What a random program starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramShape {
    /// Arbitrary statements.
    Mixed,
    /// Store, barrier, load on both sides: a locked operation must order like a fence.
    LockedOrders,
    /// Several stores before a fence, watched from outside: they may arrive in any order.
    FenceDrains,
    /// Threads that store to the same variable: PSO has a buffer a thread *and* variable.
    BufferKeys,
    /// Compare-and-swaps that fail: they too wait for the buffer, and the program goes on.
    FailingCas,
    /// Cells of one array: each is a variable of its own.
    ArrayCells,
    /// Something that happens only after several rounds of a loop: no round may be left out.
    LongLoops,
    /// Several assertions and properties: each has its own verdict.
    Assertions,
    /// Stores to several variables with store fences between some of them.
    Epochs,
    /// Locked sections of several steps beside threads that are not in one.
    Sections,
    /// Message passing, load buffering, 2+2W, R, S and WRC with barriers at random.
    Litmus,
}

/// Which register of a thread.
fn reg(index: usize) -> RegId {
    RegId::new(index)
}

impl ProgramShape {
    /// All shapes but `Mixed`.
    pub const ALL: [ProgramShape; 10] = [
        ProgramShape::LockedOrders,
        ProgramShape::FenceDrains,
        ProgramShape::BufferKeys,
        ProgramShape::FailingCas,
        ProgramShape::ArrayCells,
        ProgramShape::LongLoops,
        ProgramShape::Assertions,
        ProgramShape::Epochs,
        ProgramShape::Sections,
        ProgramShape::Litmus,
    ];

    /// How many shared variables a program of this shape has.
    pub(super) fn variables(self, random: &mut Random) -> usize {
        match self {
            ProgramShape::Mixed => random.pick(&[1, 2, 2, 2, 3]),
            ProgramShape::BufferKeys => random.pick(&[1, 2, 2]),
            ProgramShape::FenceDrains | ProgramShape::Epochs => random.between(2, 3),
            ProgramShape::LongLoops => random.between(1, 2),
            _ => random.pick(&[2, 2, 3]),
        }
    }

    /// The threads of a program of this shape.
    pub(super) fn threads(self, random: &mut Random) -> Vec<ThreadDraft> {
        match self {
            ProgramShape::Mixed => mixed(random),
            ProgramShape::LockedOrders => locked_orders(random),
            ProgramShape::FenceDrains => fence_drains(random),
            ProgramShape::BufferKeys => buffer_keys(random),
            ProgramShape::FailingCas => failing_cas(random),
            ProgramShape::ArrayCells => array_cells(random),
            ProgramShape::LongLoops => long_loops(random),
            ProgramShape::Assertions => assertions(random),
            ProgramShape::Epochs => epochs(random),
            ProgramShape::Sections => sections(random),
            ProgramShape::Litmus => litmus(random),
        }
    }
}

impl Random {
    fn thread(&mut self, registers: usize, make: impl FnOnce(&mut Random) -> Vec<SketchStmt>) -> ThreadDraft {
        self.registers = registers;
        ThreadDraft { registers, body: make(self) }
    }

    fn put(&mut self, variable: usize) -> SketchStmt {
        let value = self.pick(&[1, 1, 2]);
        write(variable, value)
    }

    /// What may stand between two accesses: nothing, a fence, or something locked.
    fn barrier(&mut self) -> Vec<SketchStmt> {
        let spare = RegId::new(self.registers - 1);
        let variable = self.any_variable();
        if self.chance(30) {
            return Vec::new();
        }
        vec![match self.below(8) {
            0 => self.locked_operation(),
            1 => SketchStmt::Do(Op::Fence(Fence::Full)),
            2 => SketchStmt::Do(Op::Fence(Fence::Store)),
            3 => self.cas(spare, variable, 2, 2),
            4 => self.cas(spare, variable, 0, 1),
            5 => SketchStmt::Atomic(Vec::new()),
            6 => SketchStmt::Atomic(vec![SketchStmt::Do(Op::Load(spare, variable))]),
            _ => SketchStmt::Do(Op::locked(vec![Op::Load(spare, variable)])),
        }]
    }

    /// Reads two variables, or one twice.
    fn observer(&mut self) -> ThreadDraft {
        self.thread(2, |random| {
            let first = random.below(random.variables);
            let apart = random.pick(&[0, 1, 1, 1, 2]);
            vec![read(0, first), read(1, (first + apart) % random.variables)]
        })
    }
}

fn mixed(random: &mut Random) -> Vec<ThreadDraft> {
    let (threads, least, most) = if random.chance(75) { (2, 2, 5) } else { (3, 1, 3) };
    let lengths: Vec<usize> = (0..threads).map(|_| random.between(least, most)).collect();
    lengths.into_iter().map(|length| random.draft(length)).collect()
}

fn locked_orders(random: &mut Random) -> Vec<ThreadDraft> {
    let side = |mine, other| {
        move |random: &mut Random| [vec![random.put(mine)], random.barrier(), vec![read(0, other)]].concat()
    };
    vec![random.thread(2, side(0, 1)), random.thread(2, side(1, 0))]
}

fn fence_drains(random: &mut Random) -> Vec<ThreadDraft> {
    let writer = random.thread(1, |random| {
        let mut order: Vec<usize> = (0..random.variables).collect();
        random.rng.shuffle(&mut order);
        // Not an initial value, so that it shows which stores have arrived.
        let mut body: Vec<SketchStmt> = order.iter().map(|&variable| write(variable, 3)).collect();
        if random.chance(30) {
            let again = random.below(random.variables);
            body.push(random.put(again));
        }
        let end = match random.below(4) {
            0 => random.barrier(),
            1 => vec![SketchStmt::Atomic(Vec::new())],
            _ => vec![SketchStmt::Do(Op::Fence(Fence::Full))],
        };
        body.extend(end);
        let last = random.below(random.variables);
        body.push(write(last, 0));
        body
    });
    let mut threads = vec![writer, random.observer()];
    if random.chance(20) {
        threads.push(random.observer());
    }
    threads
}

fn buffer_keys(random: &mut Random) -> Vec<ThreadDraft> {
    let count = random.pick(&[2, 2, 3]);
    let thread = |random: &mut Random, at: usize| {
        random.thread(2, |random| {
            let mut body = vec![write(0, at as i64 + 1)];
            if random.chance(30) {
                body.push(write(0, 0));
            }
            body.push(read(0, 0));
            let other = random.below(random.variables);
            match random.below(6) {
                0..3 => body.push(read(1, other)),
                3 => body.push(random.put(other)),
                4 => body.extend(random.barrier()),
                _ => {}
            }
            body
        })
    };
    (0..count).map(|at| thread(random, at)).collect()
}

fn failing_cas(random: &mut Random) -> Vec<ThreadDraft> {
    let side = |mine: usize, other: usize| {
        move |random: &mut Random| {
            let target = random.any_variable();
            let old = random.pick(&[2, 2, -1, 0]);
            let mut body = vec![write(mine, 1), random.cas(reg(1), target, old, 1), read(0, other)];
            match random.below(4) {
                0 => body.push(SketchStmt::Assert(is(1, 0))),
                1 => body.push(SketchStmt::If(is(1, 0), vec![write(other, 2)], vec![write(mine, 0)])),
                _ => {}
            }
            body
        }
    };
    vec![random.thread(2, side(0, 1)), random.thread(2, side(1, 0))]
}

fn array_cells(random: &mut Random) -> Vec<ThreadDraft> {
    let side = |mine: usize| {
        move |random: &mut Random| {
            let other = 1 - mine;
            let mut body = vec![random.put(mine)];
            match random.below(4) {
                // A computed index, as a front end lowers it.
                0 => body.push(SketchStmt::If(is(1, 0), vec![read(0, 0)], vec![read(0, 1)])),
                1 => body.extend([read(0, other), read(1, mine)]),
                2 => body.extend([random.put(other), read(0, mine)]),
                _ => body.extend([read(1, mine), read(0, other)]),
            }
            if random.chance(30) {
                body.extend(random.barrier());
            }
            body
        }
    };
    let mut threads = vec![random.thread(2, side(0)), random.thread(2, side(1))];
    if random.chance(25) {
        threads.push(random.observer());
    }
    threads
}

fn long_loops(random: &mut Random) -> Vec<ThreadDraft> {
    let looping = random.thread(2, |random| {
        let rounds = random.between(3, 6);
        let variable = random.below(random.variables);
        let inside = match random.below(3) {
            0 => read(1, variable),
            1 => {
                let value = Expr::binary(Arith::Rem, reg(0), 2);
                SketchStmt::Do(Op::Store(VarId::new(variable), value))
            }
            _ => random.put(variable),
        };
        let mut body = match random.below(4) {
            0 => vec![SketchStmt::Forever(vec![inside])],
            1 => vec![SketchStmt::Label(1000), inside, SketchStmt::Goto(1000, is(1, 0))],
            _ => vec![random.counted(reg(0), rounds, vec![inside])],
        };
        if random.chance(60) {
            body.push(SketchStmt::Assert(Cond::compare(Relation::Ne, reg(0), rounds as i64)));
        }
        body
    });
    let other = random.pick(&[1, 2]);
    vec![looping, random.draft(other)]
}

fn assertions(random: &mut Random) -> Vec<ThreadDraft> {
    let thread = |random: &mut Random| {
        random.thread(2, |random| {
            let mut body = vec![SketchStmt::Do(random.store())];
            for register in 0..random.between(1, 2) {
                let variable = random.below(random.variables);
                body.push(read(register, variable));
                body.push(SketchStmt::Assert(random.cond()));
            }
            if random.chance(40) {
                let inside = vec![SketchStmt::Assert(random.cond()), SketchStmt::Do(random.store())];
                body.push(if random.chance(50) {
                    SketchStmt::If(random.cond(), inside, Vec::new())
                } else {
                    SketchStmt::Atomic(inside)
                });
            }
            body
        })
    };
    vec![thread(random), thread(random)]
}

fn epochs(random: &mut Random) -> Vec<ThreadDraft> {
    let writer = random.thread(1, |random| {
        let mut body = Vec::new();
        for value in 1..=random.between(3, 4) {
            let variable = random.below(random.variables);
            body.push(write(variable, value as i64));
            match random.below(10) {
                0..5 => body.push(SketchStmt::Do(Op::Fence(Fence::Store))),
                5 => body.extend(vec![SketchStmt::Do(Op::Fence(Fence::Store)); 2]),
                6 => body.push(read(0, variable)),
                _ => {}
            }
        }
        if random.chance(20) {
            body.extend(random.barrier());
        }
        if random.chance(20) { vec![SketchStmt::Forever(body)] } else { body }
    });
    vec![writer, random.observer()]
}

fn sections(random: &mut Random) -> Vec<ThreadDraft> {
    let section = |random: &mut Random| {
        random.thread(2, |random| {
            let variable = random.below(random.variables);
            let sum = Expr::binary(Arith::Rem, Expr::binary(Arith::Add, reg(0), 1), 3);
            let mut inside = vec![read(0, variable), SketchStmt::Do(Op::Store(VarId::new(variable), sum))];
            if random.chance(50) {
                random.insert(&mut inside, |random| random.stmt(1, true));
            }
            let mut body = vec![SketchStmt::Atomic(inside)];
            if random.chance(40) {
                let before = random.below(random.variables);
                body.insert(0, random.put(before));
            }
            body
        })
    };
    let first = section(random);
    let second = if random.chance(40) {
        section(random)
    } else {
        let length = random.between(2, 4);
        random.draft(length)
    };
    vec![first, second]
}

/// Every access of a thread, with a barrier here and there.
fn with_barriers(random: &mut Random, accesses: Vec<SketchStmt>) -> ThreadDraft {
    random.thread(3, |random| {
        let mut body = Vec::new();
        for access in accesses {
            if !body.is_empty() && random.chance(30) {
                body.extend(random.barrier());
            }
            body.push(access);
        }
        body
    })
}

fn litmus(random: &mut Random) -> Vec<ThreadDraft> {
    let (x, y) = (0, 1);
    let threads = match random.below(7) {
        0 => vec![vec![write(x, 1), write(y, 1)], vec![read(0, y), read(1, x)]],
        1 => vec![vec![read(0, x), write(y, 1)], vec![read(0, y), write(x, 1)]],
        2 => vec![vec![write(x, 1), write(y, 2)], vec![write(y, 1), write(x, 2)]],
        3 => vec![vec![write(x, 1), write(y, 1)], vec![write(y, 2), read(0, x)]],
        4 => vec![vec![write(x, 2), write(y, 1)], vec![read(0, y), write(x, 1)]],
        5 => vec![vec![write(x, 1)], vec![read(0, x), write(y, 1)], vec![read(0, y), read(1, x)]],
        _ => vec![vec![write(x, 1)], vec![read(0, x), read(1, y)], vec![write(y, 1), read(0, x)]],
    };
    threads.into_iter().map(|accesses| with_barriers(random, accesses)).collect()
}
