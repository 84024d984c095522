//! How a sample is written for the front end: Intel order for 32 bits, AT&T order for 64.

use super::sample::{Claim, Sample};
use super::x86::{Arch, Instruction, Location, Memory, Op, Operand, Preset, Reg, Spot};
use fastrand::Rng;

const NAMES: [&str; 4] = ["x", "y", "t", "u"];

impl Sample {
    /// The name under which reports list a spot.
    pub fn name(&self, spot: Spot) -> String {
        match spot {
            Spot::Cell(location, _) if !self.test.locations[location].is_array => {
                format!("[{}]", NAMES[location])
            }
            other => self.place(other),
        }
    }

    /// A spot as `locations` takes it.
    fn place(&self, spot: Spot) -> String {
        match spot {
            Spot::Register(thread, register) => {
                let name = register_name(register, self.test.arch.bytes());
                let upper = self.test.arch == Arch::X86;
                format!("{thread}:{}", if upper { name.to_uppercase() } else { name })
            }
            Spot::Cell(location, cell) if self.test.locations[location].is_array => {
                format!("{}[{cell}]", NAMES[location])
            }
            Spot::Cell(location, _) => NAMES[location].to_string(),
        }
    }

    /// The text of the test.
    pub fn text(&self) -> String {
        let mut style = Style { rng: Rng::with_seed(self.style), sample: self };
        let arch = if self.test.arch == Arch::X86 { "X86" } else { "X86_64" };
        let mut text = format!("{arch} random{}\n{{\n", self.style);
        for (at, location) in self.test.locations.iter().enumerate() {
            text += &style.location(NAMES[at], location);
        }
        for (thread, register, preset) in &self.test.presets {
            let name = register_name(*register, self.test.arch.bytes());
            let value = match preset {
                Preset::Number(value) => value.to_string(),
                Preset::Address(location, cell) => self.place(Spot::Cell(*location, *cell)),
            };
            text += &format!(" {thread}:{name}={value};\n");
        }
        text += "}\n";
        text += &style.table();
        let listed: Vec<String> = self.listed.iter().map(|spot| self.place(*spot)).collect();
        text += &format!("locations [{}]\n", listed.join("; "));
        text + &format!("{} ({})\n", self.quantifier, style.claim(&self.claim))
    }
}

fn register_name(register: Reg, bytes: u32) -> String {
    let letter = ["a", "b", "c", "d", "si", "di"][register];
    match (register < 4, bytes) {
        (true, 1) => format!("{letter}l"),
        (true, 2) => format!("{letter}x"),
        (true, 4) => format!("e{letter}x"),
        (true, _) => format!("r{letter}x"),
        (false, 1) => format!("{letter}l"),
        (false, 2) => letter.to_string(),
        (false, 4) => format!("e{letter}"),
        (false, _) => format!("r{letter}"),
    }
}

/// How a sample is written: where the language leaves a choice, the seed chooses.
struct Style<'a> {
    rng: Rng,
    sample: &'a Sample,
}

impl Style<'_> {
    fn number(&mut self, value: i128) -> String {
        if value >= 0 && self.rng.u8(..3) == 0 { format!("{value:#x}") } else { value.to_string() }
    }

    fn location(&mut self, name: &str, location: &Location) -> String {
        let kind = location.kind.map_or(String::new(), |kind| format!("{kind} "));
        let values: Vec<String> = location.cells.iter().map(|cell| self.number(*cell)).collect();
        match location.is_array {
            true => format!(" {kind}{name}[{}]={{{}}};\n", values.len(), values.join(",")),
            false if location.cells[0] == 0 && location.kind.is_some() && self.rng.bool() => {
                format!(" {kind}{name};\n")
            }
            false => format!(" {kind}{name}={};\n", values[0]),
        }
    }

    fn table(&mut self) -> String {
        let threads = &self.sample.test.threads;
        let names: Vec<String> = (0..threads.len()).map(|at| format!("P{at}")).collect();
        let mut text = format!(" {} ;\n", names.join(" | "));
        let rows = threads.iter().map(Vec::len).max().unwrap_or(0);
        // One row more, for labels at the end.
        for row in 0..=rows {
            let cells: Vec<String> = threads.iter().map(|code| self.cell(code, row)).collect();
            text += &format!(" {} ;\n", cells.join(" | "));
        }
        text
    }

    fn cell(&mut self, code: &[Instruction], row: usize) -> String {
        let is_target = code.iter().any(|i| matches!(i.op, Op::Jump(_, target) if target == row));
        let label = if is_target { format!("L{row}: ") } else { String::new() };
        label + &code.get(row).map_or(String::new(), |instruction| self.instruction(instruction))
    }

    fn instruction(&mut self, instruction: &Instruction) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        let Instruction { op, width, locked, operands } = instruction;
        let mut name = match op {
            Op::Jump(when, target) => return format!("j{when} L{target}"),
            op => format!("{op:?}").to_lowercase(),
        };
        if operands.is_empty() {
            return name;
        }
        let has_register = operands.iter().any(|o| matches!(o, Operand::Register(_)));
        let says_size = has_register || *width == 4;
        let suffix = !says_size || (!intel && self.rng.u8(..4) > 0);
        if suffix && !intel {
            name.push(match width {
                1 => 'b',
                2 => 'w',
                4 => 'l',
                _ => 'q',
            });
        }
        let pointed = intel && suffix;
        let mut written: Vec<String> = operands.iter().map(|o| self.operand(o, *width, pointed)).collect();
        let herd_order = *op == Op::Cmpxchg && matches!(operands[0], Operand::Memory(_)) && self.rng.bool();
        if !intel && !herd_order {
            written.reverse();
        }
        let lock = if *locked { "lock " } else { "" };
        let text = format!("{lock}{name} {}", written.join(","));
        if intel && self.rng.bool() { upper_mnemonic(&text) } else { text }
    }

    fn operand(&mut self, operand: &Operand, width: u32, pointed: bool) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        match operand {
            Operand::Register(register) if intel => register_name(*register, width).to_uppercase(),
            Operand::Register(register) => format!("%{}", register_name(*register, width)),
            Operand::Immediate(value) => format!("${}", self.number(*value)),
            Operand::Memory(memory) if pointed => {
                let size = ["byte", "word", "dword", "qword"][width.trailing_zeros() as usize];
                format!("{size} ptr {}", self.memory(memory))
            }
            Operand::Memory(memory) => self.memory(memory),
        }
    }

    fn memory(&mut self, memory: &Memory) -> String {
        let intel = self.sample.test.arch == Arch::X86;
        let bytes = self.sample.test.arch.bytes();
        let by =
            |displacement: i64| if displacement == 0 { String::new() } else { format!("{displacement:+}") };
        match (memory.symbol, memory.base, memory.index) {
            (Some(location), ..) => {
                let name = NAMES[location];
                match self.rng.u8(..4) {
                    0 if !intel && memory.displacement == 0 => name.to_string(),
                    1 if !intel && memory.displacement == 0 => format!("{name}(%rip)"),
                    2 if !intel && memory.displacement == 0 => format!("({name})"),
                    _ => format!("[{name}{}]", by(memory.displacement)),
                }
            }
            (_, Some(base), None) if intel => {
                format!("[{}{}]", register_name(base, bytes), by(memory.displacement))
            }
            (_, base, index) => {
                let base = base.map_or(String::new(), |base| format!("%{}", register_name(base, bytes)));
                let index = index.map_or(String::new(), |(index, scale)| {
                    format!(",%{},{scale}", register_name(index, bytes))
                });
                let displacement = match memory.displacement {
                    0 => String::new(),
                    other => other.to_string(),
                };
                format!("{displacement}({base}{index})")
            }
        }
    }

    fn claim(&mut self, claim: &Claim) -> String {
        match claim {
            Claim::Is(Spot::Register(thread, register), bytes, value) => {
                format!("{thread}:{}={}", register_name(*register, *bytes), self.number(*value))
            }
            Claim::Is(spot, _, value) => format!("{}={}", self.sample.name(*spot), self.number(*value)),
            Claim::Not(inner) => format!("~({})", self.claim(inner)),
            Claim::Both(a, b) => format!("({} /\\ {})", self.claim(a), self.claim(b)),
            Claim::Either(a, b) => format!("({} \\/ {})", self.claim(a), self.claim(b)),
        }
    }
}

/// In capitals up to the operands.
fn upper_mnemonic(text: &str) -> String {
    let start = text.rfind(' ').filter(|_| !text.contains("ptr"));
    start.map_or_else(|| text.to_string(), |at| text[..at].to_uppercase() + &text[at..])
}
