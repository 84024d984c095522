//! Small typed indices. They are positions in the vectors of [`crate::Program`] and
//! [`crate::Thread`]; mixing up a register and a variable is a type error.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the item at this position.
            ///
            /// Builders and front ends bound the number of items far below `u32::MAX`.
            pub fn new(index: usize) -> $name {
                $name(u32::try_from(index).expect("fewer than 2^32 items"))
            }

            /// The position this id stands for.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A thread of a program.
    ThreadId
}
id! {
    /// A shared variable of a program.
    VarId
}
id! {
    /// A register of one thread.
    RegId
}
id! {
    /// A control location of one thread.
    Loc
}
id! {
    /// An edge of one thread.
    EdgeId
}
