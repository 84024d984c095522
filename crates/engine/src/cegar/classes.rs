//! Controls up to the names of threads.
//!
//! Cubes that a renaming of threads takes to each other stand for the same states under other names, so one of them is
//! enough: whatever can happen from the one can happen, renamed, from the other. Controls are sorted into *classes*, those that renamings take
//! to each other; of a class the least control is the one in which cubes are compared. What is explored stays as it is: only
//! whether a cube is covered is asked under other names. So paths are paths, and nothing has to be renamed back.

use super::space::Control;
use machine::{Buffered, Machine, renamed_local};
use program::{Renaming, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The number of a class, and which renamings take the control to the least one of it.
pub(crate) type Class = (u32, Rc<[u32]>);

/// What a renaming makes of a thread's control.
type RenamedLocal<'p, L> = Box<dyn Fn(&Renaming, ThreadId, &L) -> Option<L> + 'p>;

/// The classes of a machine's controls.
pub(super) struct Classes<'p, M: Machine> {
    /// All renamings, the one that changes nothing first.
    group: Vec<Renaming>,
    local: RenamedLocal<'p, M::Local>,
    global: fn(&Renaming, &M::Global) -> M::Global,
    /// Where what threads share comes in the order of controls.
    rank: fn(&M::Global) -> Option<usize>,
    /// By thread and the number of its control: the number of what each renaming makes of it.
    images: FxHashMap<(ThreadId, u32), Rc<[Option<u32>]>>,
    numbers: FxHashMap<Control<M::Global>, u32>,
    known: FxHashMap<u32, Class>,
}

impl<'p> Classes<'p, Buffered<'p>> {
    /// Those of a machine with store buffers under these renamings.
    pub(super) fn new(machine: Buffered<'p>, group: Vec<Renaming>) -> Classes<'p, Buffered<'p>> {
        Classes {
            group,
            local: Box::new(move |renaming, thread, local| renamed_local(&machine, renaming, thread, local)),
            global: |renaming, holder| holder.map(|thread| renaming.thread(thread)),
            rank: |holder| holder.map(ThreadId::index),
            images: FxHashMap::default(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }
}

impl<M: Machine> Classes<'_, M> {
    /// All renamings.
    pub(super) fn group(&self) -> &[Renaming] {
        &self.group
    }

    /// The class of a control, if it is known.
    pub(super) fn known(&self, number: u32) -> Option<Class> {
        self.known.get(&number).cloned()
    }

    /// The class of a control, given what its threads' numbers stand for. The last numbers a thread's control.
    pub(super) fn class(
        &mut self,
        number: u32,
        control: &Control<M::Global>,
        shapes: &[M::Local],
        numbered: &mut dyn FnMut(ThreadId, &M::Local) -> u32,
    ) -> Class {
        for (thread, (local, shape)) in control.locals.iter().zip(shapes).enumerate() {
            let key = (ThreadId::new(thread), *local);
            if !self.images.contains_key(&key) {
                let image = |renaming: &Renaming| {
                    let new = (self.local)(renaming, key.0, shape)?;
                    Some(numbered(renaming.thread(key.0), &new))
                };
                let images = self.group.iter().map(image).collect();
                self.images.insert(key, images);
            }
        }
        let mut least: Option<Control<M::Global>> = None;
        let mut by: Vec<u32> = Vec::new();
        for element in 0..self.group.len() {
            let Some(image) = self.image(control, element) else { continue };
            let order = |known: &Control<M::Global>| {
                let shared = || (self.rank)(&image.global).cmp(&(self.rank)(&known.global));
                image.locals.cmp(&known.locals).then_with(shared)
            };
            match least.as_ref().map(order) {
                Some(std::cmp::Ordering::Greater) => continue,
                Some(std::cmp::Ordering::Equal) => {}
                _ => {
                    by.clear();
                    least = Some(image);
                }
            }
            by.push(element as u32);
        }
        // What changes nothing always has an image.
        let least = least.unwrap_or_else(|| control.clone());
        let next = self.numbers.len() as u32;
        let class = (*self.numbers.entry(least).or_insert(next), Rc::from(by));
        self.known.insert(number, class.clone());
        class
    }

    /// A control under new names.
    fn image(&self, control: &Control<M::Global>, element: usize) -> Option<Control<M::Global>> {
        let renaming = &self.group[element];
        let mut locals: SmallVec<[u32; 4]> = control.locals.clone();
        for (thread, local) in control.locals.iter().enumerate() {
            let thread = ThreadId::new(thread);
            locals[renaming.thread(thread).index()] = self.images[&(thread, *local)][element]?;
        }
        Some(Control { global: (self.global)(renaming, &control.global), locals })
    }
}
