//! The headers that come with us. They hold types, constants and a few declarations; what the
//! functions do is said where calls are lowered, so `atomic_load` and `assert` are no macros here and
//! their calls keep their places. Reading a program needs no compiler and no headers of the machine.

/// The headers by name, with their texts.
pub(super) const BUNDLED: &[(&str, &str)] = &[
    ("assert.h", include_str!("headers/assert.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("inttypes.h", include_str!("headers/stdint.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("string.h", include_str!("headers/string.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("time.h", include_str!("headers/time.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("stdarg.h", include_str!("headers/stdarg.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("signal.h", include_str!("headers/signal.h")),
    ("immintrin.h", include_str!("headers/immintrin.h")),
    ("x86intrin.h", include_str!("headers/immintrin.h")),
    ("emmintrin.h", include_str!("headers/immintrin.h")),
    ("xmmintrin.h", include_str!("headers/immintrin.h")),
    ("sys/types.h", include_str!("headers/unistd.h")),
    ("malloc.h", include_str!("headers/stdlib.h")),
    ("memory.h", include_str!("headers/string.h")),
    ("genmc.h", include_str!("headers/genmc.h")),
    ("dat3m.h", include_str!("headers/dat3m.h")),
    ("smack.h", include_str!("headers/smack.h")),
];

/// The text of a header.
pub(super) fn bundled(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Macros that are there from the start: those of a compiler for 64-bit x86.
pub(super) const PREDEFINED: &str = include_str!("headers/predefined.h");
