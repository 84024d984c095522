//! Names of x86 registers.

use frontend::inside::{Arch, register};

#[test]
fn all_widths_of_a_register_are_one_register() {
    let families = [
        (["al", "AX", "eax", "%rax"].as_slice(), "rax"),
        (&["sil", "si", "ESI", "RSI"], "rsi"),
        (&["r10b", "r10w", "r10d", "r10"], "r10"),
        (&["rip", "eip"], "rip"),
    ];
    for (names, canonical) in families {
        for name in names {
            let named = register(name.trim_start_matches('%')).expect(name);
            assert_eq!(named.family.name(Arch::X86_64), canonical, "{name}");
        }
    }
    assert_eq!(register("bl").map(|n| n.family.name(Arch::X86)), Some("EBX".to_string()));
    assert!(register("ah").is_some_and(|n| n.high));
    for word in ["x", "r7", "r16", "eaxx", "ex", "r", "e", "rl", "raz", "p"] {
        assert_eq!(register(word), None, "{word}");
    }
}
