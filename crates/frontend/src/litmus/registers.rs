//! x86 registers. All widths of a register are one register here; the name that reports
//! use is the widest one of the architecture, in the spelling herd7 uses.

/// Which assembler syntax and which registers a test uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// 32 bits, destination first.
    X86,
    /// 64 bits, destination last.
    X86_64,
}

/// A register of the machine, whatever part of it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterFamily(u8);

/// A register as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRegister {
    pub family: RegisterFamily,
    /// How many bits this name covers.
    pub(super) bits: u32,
    /// Whether it names the second byte (`AH`), which is not modelled.
    pub high: bool,
}

/// How many families there are.
pub(super) const FAMILIES: usize = 24;

/// The accumulator, which `CMPXCHG` compares with.
pub(super) const ACCUMULATOR: RegisterFamily = RegisterFamily(0);

/// Base names: `a` gives al, ax, eax, rax; `si` gives sil, si, esi, rsi.
const LETTERS: [&str; 4] = ["a", "b", "c", "d"];
const POINTERS: [&str; 5] = ["si", "di", "bp", "sp", "ip"];
const SEGMENTS: [&str; 6] = ["cs", "ds", "es", "fs", "gs", "ss"];

/// The register of this name, in any case.
pub fn register(word: &str) -> Option<NamedRegister> {
    let word = word.to_ascii_lowercase();
    let named =
        |family: usize, bits| Some(NamedRegister { family: RegisterFamily(family as u8), bits, high: false });
    for (at, letter) in LETTERS.iter().enumerate() {
        match word.strip_prefix('e').or(word.strip_prefix('r')).unwrap_or(&word).strip_prefix(letter) {
            Some("x") if word.starts_with('r') => return named(at, 64),
            Some("x") if word.starts_with('e') => return named(at, 32),
            Some("x") => return named(at, 16),
            Some("l") if word.len() == 2 => return named(at, 8),
            Some("h") if word.len() == 2 => {
                return Some(NamedRegister { family: RegisterFamily(at as u8), bits: 8, high: true });
            }
            _ => {}
        }
    }
    for (at, pointer) in POINTERS.iter().enumerate() {
        match word.strip_suffix(pointer) {
            Some("r") => return named(4 + at, 64),
            Some("e") => return named(4 + at, 32),
            Some("") if *pointer != "ip" => return named(4 + at, 16),
            _ if word.strip_suffix('l') == Some(pointer) && *pointer != "ip" => return named(4 + at, 8),
            _ => {}
        }
    }
    if let Some(at) = SEGMENTS.iter().position(|segment| *segment == word) {
        return named(18 + at, 16);
    }
    let number = word.strip_prefix('r')?;
    let digits = number.trim_end_matches(['b', 'w', 'd', 'l']);
    let index: usize = digits.parse().ok().filter(|index| (8..16).contains(index))?;
    let bits = match &number[digits.len()..] {
        "" => 64,
        "d" => 32,
        "w" => 16,
        "b" | "l" => 8,
        _ => return None,
    };
    named(1 + index, bits)
}

impl Arch {
    /// How many bits a register has.
    pub(super) fn bits(self) -> u32 {
        match self {
            Arch::X86 => 32,
            Arch::X86_64 => 64,
        }
    }
}

impl RegisterFamily {
    /// Its place in a table of all families.
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The name reports use.
    pub fn name(self, arch: Arch) -> String {
        let at = self.index();
        let stem = match at {
            0..4 => format!("{}x", LETTERS[at]),
            4..9 => POINTERS[at - 4].to_string(),
            9..18 => return format!("r{}", at - 1),
            _ => return SEGMENTS[at - 18].to_string(),
        };
        match arch {
            Arch::X86 => format!("E{}", stem.to_uppercase()),
            Arch::X86_64 => format!("r{stem}"),
        }
    }
}
