//! Mutexes, condition variables, read-write locks, barriers, semaphores: each operation is a locked
//! step or waits for one. A condition variable may wake up at any time, so waiting for one only lets go
//! of the mutex and takes it again, and signals do nothing.

use super::graph::{At, CStep};
use super::places::{COrder, CTarget};
use super::thread::Lowerer;
use super::value::{CPlace, CSpot, Inside, Typed, combine, number};
use super::world::{CCell, CLowered};
use crate::c::ast::CExpr;
use crate::c::types::Type;
use program::{Arith, Cond, Expr as Over, Op, RegId, Relation};

/// One way through an operation: what the old value must be, what is written, where it leads.
struct CWay {
    cond: Cond<RegId>,
    new: Option<Over<RegId>>,
    to: At,
}

/// What can be taken: a mutex is 0 or the number of the thread that holds it; of a lock for readers and a writer,
/// -1 is a writer and other numbers count readers; a semaphore counts how often it can be taken.
#[derive(Clone, Copy)]
enum Taking {
    Mutex,
    Reading,
    Writing,
    Semaphore,
}

impl Lowerer<'_, '_> {
    /// Refuses mutexes that one thread may take twice, or that say so when it tries.
    fn plain_mutex(&mut self, kind: &CExpr, token: u32) -> CLowered<()> {
        let kind = self.value(kind)?.as_constant();
        if kind.is_some_and(|kind| kind & 1 == 0 && kind < 4) {
            return Ok(());
        }
        Err(self.error(token, "recursive mutexes are not read: one thread takes a mutex once"))
    }

    /// An operation on something that threads synchronise by; nothing for other names.
    pub fn synchronise(&mut self, name: &str, arguments: &[CExpr], token: u32) -> CLowered<Option<Typed>> {
        let Some(first) = arguments.first() else { return Ok(None) };
        match name {
            "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => self.take(first, Taking::Mutex)?,
            "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => self.unlock(first)?,
            "pthread_mutex_trylock" | "pthread_spin_trylock" => {
                return self.attempt(first, Taking::Mutex, (16, Cond::FALSE)).map(Some);
            }
            "mtx_trylock" => return self.attempt(first, Taking::Mutex, (1, Cond::FALSE)).map(Some),
            "pthread_mutex_timedlock" | "mtx_timedlock" if arguments.len() == 2 => {
                let late = if name.starts_with("mtx") { 4 } else { 110 };
                return self.attempt(first, Taking::Mutex, (late, Cond::TRUE)).map(Some);
            }
            "pthread_rwlock_tryrdlock" => {
                return self.attempt(first, Taking::Reading, (16, Cond::FALSE)).map(Some);
            }
            "pthread_rwlock_trywrlock" => {
                return self.attempt(first, Taking::Writing, (16, Cond::FALSE)).map(Some);
            }
            "sem_trywait" => return self.attempt(first, Taking::Semaphore, (-1, Cond::FALSE)).map(Some),
            "sem_timedwait" => return self.attempt(first, Taking::Semaphore, (-1, Cond::TRUE)).map(Some),
            "pthread_mutexattr_settype" if arguments.len() == 2 => self.plain_mutex(&arguments[1], token)?,
            "mtx_init" if arguments.len() == 2 => {
                self.plain_mutex(&arguments[1], token)?;
                self.set_free(first)?;
            }
            "pthread_mutex_init" | "pthread_spin_init" | "pthread_rwlock_init" => self.set_free(first)?,
            "pthread_cond_wait" | "cnd_wait" if arguments.len() == 2 => {
                self.unlock(&arguments[1])?;
                self.take(&arguments[1], Taking::Mutex)?;
            }
            "pthread_cond_timedwait" | "cnd_timedwait" if arguments.len() == 3 => {
                self.unlock(&arguments[1])?;
                self.take(&arguments[1], Taking::Mutex)?;
                return self.either(0, 110).map(Some);
            }
            "pthread_rwlock_rdlock" => self.take(first, Taking::Reading)?,
            "pthread_rwlock_wrlock" => self.take(first, Taking::Writing)?,
            "pthread_rwlock_unlock" => self.read_write_unlock(first)?,
            "sem_init" if arguments.len() == 3 => {
                let place = self.synchroniser(first)?;
                let value = self.value(&arguments[2])?;
                let value = self.convert(value, &Type::int(), token)?;
                let value = self.as_number(&value.value, token)?;
                self.store(&place, &value, COrder::Plain)?;
            }
            "sem_wait" => self.semaphore(first, -1)?,
            "sem_post" => self.semaphore(first, 1)?,
            "pthread_barrier_init" if arguments.len() == 3 => {
                self.barrier_init(first, &arguments[2], token)?
            }
            "pthread_barrier_wait" => return self.barrier_wait(first, token).map(Some),
            _ => return Ok(None),
        }
        Ok(Some(Typed::constant(0, Type::int())))
    }

    fn synchroniser(&mut self, argument: &CExpr) -> CLowered<CPlace> {
        let pointer = self.value(argument)?;
        self.plain_cell(pointer, argument.token)
    }

    fn set_free(&mut self, argument: &CExpr) -> CLowered<()> {
        let place = self.synchroniser(argument)?;
        self.store(&place, &number(0), COrder::Plain)
    }

    /// Reads the old value and goes one of the ways that it allows, all in one locked step.
    fn locked(&mut self, target: &CTarget, old: RegId, ways: &[CWay]) {
        if self.section > 0 {
            let next = self.place();
            self.access(target, &|cell| vec![(CStep::Op(Op::together(target.reads(cell, old))), next)]);
            for way in ways {
                self.way(next, way.cond.clone());
                match &way.new {
                    Some(new) => self.write_in_section(target, new, way.to),
                    None => self.arrow(CStep::Op(Op::Skip), way.to),
                }
            }
        } else {
            self.access(target, &|cell: CCell| {
                let step = |way: &CWay| {
                    let mut parts = target.reads(cell, old);
                    parts.push(Op::Assume(way.cond.clone()));
                    parts.extend(way.new.iter().flat_map(|new| target.writes(cell, new)));
                    (CStep::Op(Op::locked(parts)), way.to)
                };
                ways.iter().map(step).collect()
            });
        }
        self.changed(target, None);
    }

    /// The larger or smaller of the old value and another is kept; gives the old one. Where they are to
    /// be compared as unsigned numbers, a mask says how wide they are.
    pub fn keep_extreme(
        &mut self,
        place: &CPlace,
        by: &Over<RegId>,
        larger: bool,
        mask: Option<i128>,
    ) -> CLowered<Typed> {
        let relation = if larger { Relation::Lt } else { Relation::Gt };
        let unsigned = |value: Over<RegId>| match mask {
            Some(mask) => Over::binary(Arith::And, value, number(mask)),
            None => value,
        };
        let old = self.change(place, |_, old, next| {
            let changes = Cond::compare(relation, unsigned(Over::Leaf(old)), unsigned(by.clone()));
            vec![
                CWay { cond: changes.clone(), new: Some(by.clone()), to: next },
                CWay { cond: changes.negate(), new: None, to: next },
            ]
        })?;
        Ok(Typed::number(Over::Leaf(old), place.ty.plain()))
    }

    /// One locked step that goes one of the ways which the old value allows; gives the register with that.
    fn change(
        &mut self,
        place: &CPlace,
        ways: impl FnOnce(&mut Self, RegId, At) -> Vec<CWay>,
    ) -> CLowered<RegId> {
        let (target, old, next) = (self.target(place)?, self.temporary()?, self.place());
        let ways = ways(self, old, next);
        self.locked(&target, old, &ways);
        self.at = next;
        Ok(old)
    }

    /// The same of something that threads synchronise by.
    fn operate(
        &mut self,
        argument: &CExpr,
        ways: impl FnOnce(&mut Self, RegId, At) -> Vec<CWay>,
    ) -> CLowered<()> {
        let place = self.synchroniser(argument)?;
        self.change(&place, ways).map(drop)
    }

    /// When something can be taken, and what its value is then.
    fn taken(&self, what: Taking, old: RegId) -> (Cond<RegId>, Over<RegId>) {
        match what {
            Taking::Mutex => (Cond::compare(Relation::Eq, old, 0), number(self.thread as i128 + 1)),
            Taking::Reading => {
                (Cond::compare(Relation::Ge, old, 0), combine(Arith::Add, Over::Leaf(old), number(1)))
            }
            Taking::Writing => (Cond::compare(Relation::Eq, old, 0), number(-1)),
            Taking::Semaphore => {
                (Cond::compare(Relation::Gt, old, 0), combine(Arith::Sub, Over::Leaf(old), number(1)))
            }
        }
    }

    /// Takes something, once that can be had.
    fn take(&mut self, argument: &CExpr, what: Taking) -> CLowered<()> {
        self.operate(argument, |l, old, next| {
            let (cond, new) = l.taken(what, old);
            vec![CWay { cond, new: Some(new), to: next }]
        })
    }

    fn unlock(&mut self, argument: &CExpr) -> CLowered<()> {
        self.operate(argument, |l, old, next| {
            let mine = Cond::compare(Relation::Eq, old, number(l.thread as i128 + 1));
            let bad = l.mistake("a lock is released that this thread does not hold");
            vec![
                CWay { cond: mine.clone(), new: Some(number(0)), to: next },
                CWay { cond: mine.negate(), new: None, to: bad },
            ]
        })
    }

    /// Takes something if that can be had, and gives 0; else, or whenever it gives up, it gives what is said.
    fn attempt(
        &mut self,
        argument: &CExpr,
        what: Taking,
        (refused, gives_up): (i128, Cond<RegId>),
    ) -> CLowered<Typed> {
        let place = self.synchroniser(argument)?;
        let (target, old) = (self.target(&place)?, self.temporary()?);
        let (got, not, result) = (self.place(), self.place(), self.temporary()?);
        let (free, new) = self.taken(what, old);
        let ways = [
            CWay { cond: free.clone(), new: Some(new), to: got },
            CWay { cond: Cond::or([free.negate(), gives_up]), new: None, to: not },
        ];
        self.locked(&target, old, &ways);
        self.either_of([(got, 0), (not, refused)], result);
        Ok(Typed::bounded(Over::Leaf(result), Type::int(), (refused.min(0), refused.max(0))))
    }

    fn either_of(&mut self, ways: [(At, i128); 2], result: RegId) {
        let end = self.place();
        self.meet(ways.map(|(from, value)| (from, number(value))), result, end);
    }

    fn either(&mut self, a: i128, b: i128) -> CLowered<Typed> {
        let (x, y, result) = (self.place(), self.place(), self.temporary()?);
        self.arrow(CStep::Op(Op::Skip), x);
        self.arrow(CStep::Op(Op::Skip), y);
        self.either_of([(x, a), (y, b)], result);
        Ok(Typed::bounded(Over::Leaf(result), Type::int(), (a.min(b), a.max(b))))
    }

    fn read_write_unlock(&mut self, argument: &CExpr) -> CLowered<()> {
        self.operate(argument, |l, old, next| {
            let bad = l.mistake("a lock is released that nobody holds");
            let less = combine(Arith::Sub, Over::Leaf(old), number(1));
            vec![
                CWay { cond: Cond::compare(Relation::Eq, old, number(-1)), new: Some(number(0)), to: next },
                CWay { cond: Cond::compare(Relation::Gt, old, 0), new: Some(less), to: next },
                CWay { cond: Cond::compare(Relation::Eq, old, 0), new: None, to: bad },
            ]
        })
    }

    fn semaphore(&mut self, argument: &CExpr, by: i128) -> CLowered<()> {
        self.operate(argument, |_, old, next| {
            let new = combine(Arith::Add, Over::Leaf(old), number(by));
            let cond = if by < 0 { Cond::compare(Relation::Gt, old, 0) } else { Cond::TRUE };
            vec![CWay { cond, new: Some(new), to: next }]
        })
    }

    /// How many wait, how many there must be, and which round it is.
    fn barrier_cells(&mut self, argument: &CExpr) -> CLowered<[CPlace; 3]> {
        let pointer = self.value(argument)?;
        let place = self.pointee(pointer, argument.token)?;
        let CSpot::Inside(inside) = place.spot else {
            return Err(self.error(argument.token, "this barrier must be known"));
        };
        if self.world.objects[inside.object].cells.len() < 3 {
            return Err(self.error(argument.token, "this is no barrier of <pthread.h>"));
        }
        let part = |at: usize, inside: &Inside| CPlace {
            spot: CSpot::Inside(inside.plus(at)),
            ty: Type::int(),
            token: argument.token,
        };
        Ok([part(0, &inside), part(1, &inside), part(2, &inside)])
    }

    fn barrier_init(&mut self, barrier: &CExpr, count: &CExpr, token: u32) -> CLowered<()> {
        let cells = self.barrier_cells(barrier)?;
        let count = self.number_of(count, token)?;
        for (cell, value) in cells.iter().zip([number(0), count, number(0)]) {
            self.store(cell, &value, COrder::Plain)?;
        }
        Ok(())
    }

    /// The last one to come opens the barrier by starting the next round.
    fn barrier_wait(&mut self, barrier: &CExpr, token: u32) -> CLowered<Typed> {
        if self.section > 0 {
            return Err(self.error(token, "a barrier cannot be waited for in an atomic section"));
        }
        let cells = self.barrier_cells(barrier)?;
        let mut variables = Vec::new();
        for cell in &cells {
            match self.target(cell)?.only() {
                Some(CCell::Memory(variable)) => variables.push(variable),
                _ => return Err(self.error(token, "this barrier must be known, and in memory")),
            }
        }
        let [waiting, size, round] = variables[..] else {
            return Err(self.error(token, "this is no barrier"));
        };
        let (w, s, r) = (self.temporary()?, self.temporary()?, self.temporary()?);
        let result = self.temporary()?;
        let plus = |register| combine(Arith::Add, Over::Leaf(register), number(1));
        let start = || vec![Op::Load(w, waiting), Op::Load(s, size), Op::Load(r, round)];
        let (last, others, open) = (self.place(), self.place(), self.place());
        let mut opens = start();
        opens.extend([
            Op::Assume(Cond::compare(Relation::Ge, plus(w), s)),
            Op::Store(waiting, number(0)),
            Op::Store(round, plus(r)),
        ]);
        self.arrow(CStep::Op(Op::locked(opens)), last);
        let mut waits = start();
        waits.extend([Op::Assume(Cond::compare(Relation::Lt, plus(w), s)), Op::Store(waiting, plus(w))]);
        self.arrow(CStep::Op(Op::locked(waits)), others);
        self.at = others;
        let opened = vec![Op::Load(w, round), Op::Assume(Cond::compare(Relation::Ne, w, r))];
        self.arrow(CStep::Op(Op::locked(opened)), open);
        self.either_of([(last, -1), (open, 0)], result);
        Ok(Typed::bounded(Over::Leaf(result), Type::int(), (-1, 0)))
    }
}
