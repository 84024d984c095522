//! The table of threads: rows of cells, one instruction per cell.
//!
//! Operands are put into one order (destination first) whatever the architecture writes.
//! A word without `%` in a 64-bit test is a location or a label, never a register.

use super::lexer::{Cursor, LitmusToken};
use super::registers::{ACCUMULATOR, Arch, RegisterFamily, register};
use crate::Diagnostic;
use program::{Arith, Int, Span};

/// More threads or instructions than this are refused.
const MAX_THREADS: usize = 256;
const MAX_INSTRUCTIONS: usize = 20_000;

/// When a conditional jump is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Below,
    BelowEqual,
    Above,
    AboveEqual,
    Negative,
    NotNegative,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstructionKind {
    Mov,
    Xchg,
    /// With two operands.
    Arithmetic(Arith),
    Inc,
    Dec,
    Cmp,
    Test,
    Xadd,
    Cmpxchg,
    Jump(When),
    Jmp,
    FullFence,
    StoreFence,
    /// No effect on anything modelled here.
    Nothing,
    /// Ends the thread.
    Ret,
}

/// A place in memory: `symbol + displacement + base + index * scale`, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Address {
    pub(super) symbol: Option<String>,
    pub(super) displacement: Int,
    pub(super) base: Option<RegisterFamily>,
    pub(super) index: Option<(RegisterFamily, Int)>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(RegisterFamily),
    Immediate(Int),
    /// The address of a location as a value.
    AddressOf(String),
    Memory(Address),
    /// A bare word: where a jump goes.
    Label(String),
}

/// An instruction with its operands, destination first.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) kind: InstructionKind,
    pub(super) locked: bool,
    pub(super) operands: Vec<Operand>,
    /// Operand size.
    pub(super) bits: u32,
    /// The mnemonic as written, for messages.
    pub(super) name: String,
    pub(super) span: Span,
}

/// A thread: instructions, and labels as positions among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub(super) instructions: Vec<Instruction>,
    pub(super) labels: Vec<(String, usize, Span)>,
}

/// Reads the table; every bad cell gives an error of its own.
pub(super) fn table(cursor: &mut Cursor, arch: Arch) -> Result<Vec<Code>, Vec<Diagnostic>> {
    let count = thread_row(cursor).map_err(|error| vec![error])?;
    let mut threads = vec![Code::default(); count];
    let mut errors = Vec::new();
    let mut cells = 0;
    while !at_tail(cursor) {
        let start = cursor.span();
        for column in 0.. {
            cells += 1;
            if cells > MAX_INSTRUCTIONS || errors.len() > 20 {
                errors.push(Diagnostic::error(cursor.span(), "this test is too large to go on reading it"));
                return Err(errors);
            }
            let mut unused = Code::default();
            let code = threads.get_mut(column).unwrap_or(&mut unused);
            if let Err(error) = cell(cursor, arch, code) {
                errors.push(error);
                skip_cell(cursor);
            }
            if cursor.sign("|") {
                continue;
            }
            if column + 1 != count {
                let message = format!("this row has {} cells, but there are {count} threads", column + 1);
                errors.push(Diagnostic::error(cursor.since(start), message));
            }
            if !cursor.sign(";") {
                errors.push(cursor.unexpected("`;` at the end of a row"));
                return Err(errors);
            }
            break;
        }
    }
    if errors.is_empty() { Ok(threads) } else { Err(errors) }
}

/// `P0 | P1 | … ;`
fn thread_row(cursor: &mut Cursor) -> Result<usize, Diagnostic> {
    for thread in 0.. {
        let wanted = format!("P{thread}");
        if !cursor.keyword(&wanted) {
            return Err(cursor.unexpected(&format!("the thread `{wanted}`")));
        }
        if thread >= MAX_THREADS {
            return Err(Diagnostic::error(cursor.span(), format!("more than {MAX_THREADS} threads")));
        }
        if cursor.sign(";") {
            return Ok(thread + 1);
        }
        cursor.expect("|")?;
    }
    Err(cursor.unexpected("`;`"))
}

/// Whether the rows are over: a question starts here, or nothing is left.
fn at_tail(cursor: &Cursor) -> bool {
    const STARTS: [&str; 5] = ["exists", "forall", "locations", "filter", "not"];
    match cursor.peek() {
        None => true,
        Some(LitmusToken::Sign("~" | "<<")) => true,
        Some(LitmusToken::Word(word)) => STARTS.contains(word),
        _ => false,
    }
}

fn at_cell_end(cursor: &Cursor) -> bool {
    matches!(cursor.peek(), None | Some(LitmusToken::Sign("|" | ";")))
}

fn skip_cell(cursor: &mut Cursor) {
    while !at_cell_end(cursor) {
        cursor.skip();
    }
}

/// Labels and at most one instruction.
fn cell(cursor: &mut Cursor, arch: Arch, code: &mut Code) -> Result<(), Diagnostic> {
    while cursor.peek_at(1) == Some(&LitmusToken::Sign(":")) {
        let (label, span) = cursor.word("a label")?;
        cursor.skip();
        if let Some((_, _, first)) = code.labels.iter().find(|(name, ..)| name == label) {
            let message = format!("the label `{label}` is set twice");
            return Err(Diagnostic::error(span, message).related(*first, "first set here"));
        }
        code.labels.push((label.to_string(), code.instructions.len(), span));
    }
    if at_cell_end(cursor) {
        return Ok(());
    }
    code.instructions.push(instruction(cursor, arch)?);
    if at_cell_end(cursor) { Ok(()) } else { Err(cursor.unexpected("`|` or `;` after the instruction")) }
}

fn instruction(cursor: &mut Cursor, arch: Arch) -> Result<Instruction, Diagnostic> {
    let start = cursor.span();
    let locked = cursor.keyword("lock");
    let (name, name_span) = cursor.word("an instruction")?;
    let Some((kind, suffix)) = mnemonic(name) else {
        let message = format!("the instruction `{name}` is not supported");
        return Err(Diagnostic::error(name_span, message));
    };
    if kind == InstructionKind::Nothing {
        // The operands of a long NOP mean nothing.
        skip_cell(cursor);
    }
    let mut widths = Vec::new();
    let mut operands = Vec::new();
    while !at_cell_end(cursor) {
        operands.push(operand(cursor, arch, name, &mut widths)?);
        if !cursor.sign(",") {
            break;
        }
    }
    let span = cursor.since(start);
    if arch == Arch::X86_64 {
        operands.reverse();
        att_operands(kind, &mut operands, name, span)?;
    }
    let bits = suffix.or_else(|| widths.iter().copied().min()).unwrap_or(32);
    let odd = suffix.is_some_and(|bits| widths.iter().any(|width| *width != bits));
    if odd || widths.iter().any(|width| Some(width) != widths.first()) {
        return Err(Diagnostic::error(span, format!("the operands of `{name}` have different sizes")));
    }
    if bits > arch.bits() {
        return Err(Diagnostic::error(span, format!("`{name}` uses 64 bits in a test for 32 bits")));
    }
    Ok(Instruction { kind, locked, operands, bits, name: name.to_string(), span })
}

/// What AT&T syntax writes otherwise: a bare word is memory, and `CMPXCHG` may have its memory
/// first, as herd7 reads it, or last, as assemblers do.
fn att_operands(
    kind: InstructionKind,
    operands: &mut [Operand],
    name: &str,
    span: Span,
) -> Result<(), Diagnostic> {
    if matches!(kind, InstructionKind::Jmp | InstructionKind::Jump(_)) {
        return Ok(());
    }
    for operand in &mut *operands {
        if let Operand::Label(name) = operand {
            let symbol = Some(std::mem::take(name));
            *operand = Operand::Memory(Address { symbol, ..Address::default() });
        }
    }
    match (kind, &*operands) {
        (InstructionKind::Cmpxchg, [Operand::Register(_), Operand::Memory(_)]) => operands.swap(0, 1),
        (InstructionKind::Cmpxchg, [Operand::Register(_), Operand::Register(_)]) => {
            let message =
                format!("`{name}` with two registers: assemblers and herd7 read them in different orders");
            return Err(Diagnostic::error(span, message));
        }
        _ => {}
    }
    Ok(())
}

/// What a mnemonic means, and the operand size its last letter says.
fn mnemonic(name: &str) -> Option<(InstructionKind, Option<u32>)> {
    let name = name.to_ascii_lowercase();
    if let Some(kind) = exact(&name).or_else(|| jump(&name).map(InstructionKind::Jump)) {
        return Some((kind, None));
    }
    let bits = match name.chars().last()? {
        'b' => 8,
        'w' => 16,
        'l' => 32,
        'q' => 64,
        _ => return None,
    };
    match exact(&name[..name.len() - 1])? {
        InstructionKind::FullFence | InstructionKind::StoreFence | InstructionKind::Jmp => None,
        kind => Some((kind, Some(bits))),
    }
}

fn exact(name: &str) -> Option<InstructionKind> {
    Some(match name {
        "mov" | "movabs" => InstructionKind::Mov,
        "xchg" => InstructionKind::Xchg,
        "add" => InstructionKind::Arithmetic(Arith::Add),
        "sub" => InstructionKind::Arithmetic(Arith::Sub),
        "and" => InstructionKind::Arithmetic(Arith::And),
        "or" => InstructionKind::Arithmetic(Arith::Or),
        "xor" => InstructionKind::Arithmetic(Arith::Xor),
        "inc" => InstructionKind::Inc,
        "dec" => InstructionKind::Dec,
        "cmp" => InstructionKind::Cmp,
        "test" => InstructionKind::Test,
        "xadd" => InstructionKind::Xadd,
        "cmpxchg" => InstructionKind::Cmpxchg,
        "jmp" => InstructionKind::Jmp,
        "mfence" => InstructionKind::FullFence,
        "sfence" => InstructionKind::StoreFence,
        "lfence" | "pause" | "nop" | "endbr64" | "endbr32" => InstructionKind::Nothing,
        "ret" => InstructionKind::Ret,
        _ => return None,
    })
}

fn jump(name: &str) -> Option<When> {
    Some(match name {
        "je" | "jz" => When::Equal,
        "jne" | "jnz" => When::NotEqual,
        "jl" | "jnge" => When::Less,
        "jle" | "jng" => When::LessEqual,
        "jg" | "jnle" => When::Greater,
        "jge" | "jnl" => When::GreaterEqual,
        "jb" | "jc" | "jnae" => When::Below,
        "jbe" | "jna" => When::BelowEqual,
        "ja" | "jnbe" => When::Above,
        "jae" | "jnc" | "jnb" => When::AboveEqual,
        "js" => When::Negative,
        "jns" => When::NotNegative,
        _ => return None,
    })
}

fn operand(
    cursor: &mut Cursor,
    arch: Arch,
    name: &str,
    widths: &mut Vec<u32>,
) -> Result<Operand, Diagnostic> {
    for (word, bits) in [("byte", 8), ("word", 16), ("dword", 32), ("qword", 64)] {
        if matches!(cursor.peek_at(1), Some(LitmusToken::Word(next)) if next.eq_ignore_ascii_case("ptr"))
            && cursor.keyword(word)
        {
            cursor.skip();
            widths.push(bits);
        }
    }
    if cursor.sign("$") {
        if let Some(LitmusToken::Word(word)) = cursor.peek() {
            cursor.skip();
            return Ok(Operand::AddressOf((*word).to_string()));
        }
        return Ok(Operand::Immediate(cursor.integer()?));
    }
    if cursor.sign("%") {
        return named_register(cursor, name, widths).map(Operand::Register);
    }
    let att_memory = |cursor: &mut Cursor, address| att_memory(cursor, arch, address).map(Operand::Memory);
    match (cursor.peek(), cursor.peek_at(1)) {
        (Some(LitmusToken::Sign("[")), _) => intel_memory(cursor, arch).map(Operand::Memory),
        (Some(LitmusToken::Sign("(")), _) => att_memory(cursor, Address::default()),
        (Some(LitmusToken::Word(word)), Some(LitmusToken::Sign("("))) => {
            cursor.skip();
            att_memory(cursor, Address { symbol: Some((*word).to_string()), ..Address::default() })
        }
        (Some(LitmusToken::Word(word)), _) if arch == Arch::X86 && register(word).is_some() => {
            named_register(cursor, name, widths).map(Operand::Register)
        }
        (Some(LitmusToken::Word(word)), _) => {
            cursor.skip();
            Ok(Operand::Label((*word).to_string()))
        }
        (Some(LitmusToken::Number(_)) | Some(LitmusToken::Sign("-")), _) => {
            let value = cursor.integer()?;
            match cursor.peek() {
                Some(LitmusToken::Sign("(")) => {
                    att_memory(cursor, Address { displacement: value, ..Address::default() })
                }
                _ => Ok(Operand::Immediate(value)),
            }
        }
        _ => Err(cursor.unexpected(&format!("an operand of `{name}`"))),
    }
}

fn named_register(
    cursor: &mut Cursor,
    name: &str,
    widths: &mut Vec<u32>,
) -> Result<RegisterFamily, Diagnostic> {
    let (word, span) = cursor.word("a register")?;
    match register(word) {
        Some(named) if !named.high => {
            widths.push(named.bits);
            Ok(named.family)
        }
        Some(_) => {
            let message =
                format!("`{name}` uses `{word}`, the second byte of a register, which is not modelled");
            Err(Diagnostic::error(span, message))
        }
        None => Err(Diagnostic::error(span, format!("`{word}` is not a register"))),
    }
}

/// A register as part of an address: only the whole of it holds one.
fn address_register(cursor: &mut Cursor, arch: Arch) -> Result<RegisterFamily, Diagnostic> {
    let mut widths = Vec::new();
    let start = cursor.span();
    let family = named_register(cursor, "(", &mut widths)?;
    if widths == [arch.bits()] {
        return Ok(family);
    }
    let message = format!("an address is a register of {} bits", arch.bits());
    Err(Diagnostic::error(cursor.since(start), message))
}

/// `[x]`, `[EAX]`, `[x+4]`
fn intel_memory(cursor: &mut Cursor, arch: Arch) -> Result<Address, Diagnostic> {
    cursor.expect("[")?;
    let mut address = Address::default();
    loop {
        if let Some(LitmusToken::Word(word)) = cursor.peek() {
            match register(word).filter(|named| !named.high) {
                Some(_) if address.base.is_none() => address.base = Some(address_register(cursor, arch)?),
                None if address.symbol.is_none() => {
                    address.symbol = Some((*word).to_string());
                    cursor.skip();
                }
                _ => return Err(cursor.unexpected("one location or register")),
            }
        } else {
            address.displacement += cursor.integer()?;
        }
        if cursor.sign("]") {
            return Ok(address);
        }
        if cursor.peek() != Some(&LitmusToken::Sign("-")) {
            cursor.expect("+")?;
        }
    }
}

/// `(x)`, `(%rax)`, `8(%rax,%rbx,4)`, `x(%rip)`; what stands before the parenthesis is known.
fn att_memory(cursor: &mut Cursor, arch: Arch, mut address: Address) -> Result<Address, Diagnostic> {
    cursor.expect("(")?;
    if cursor.peek() != Some(&LitmusToken::Sign(",")) {
        if cursor.sign("%") {
            address.base = Some(address_register(cursor, arch)?);
        } else if address.symbol.is_none() {
            address.symbol = Some(cursor.word("a location or a register")?.0.to_string());
        } else {
            return Err(cursor.unexpected("a register"));
        }
    }
    if cursor.sign(",") {
        cursor.expect("%")?;
        let family = address_register(cursor, arch)?;
        let scale = if cursor.sign(",") { cursor.integer()? } else { Int::from(1) };
        address.index = Some((family, scale));
    }
    cursor.expect(")")?;
    Ok(address)
}

impl Instruction {
    /// The registers it writes.
    pub(super) fn written(&self) -> Vec<RegisterFamily> {
        let register = |operand: Option<&Operand>| match operand {
            Some(Operand::Register(family)) => Some(*family),
            _ => None,
        };
        let (first, second) = (register(self.operands.first()), register(self.operands.get(1)));
        match self.kind {
            InstructionKind::Mov
            | InstructionKind::Arithmetic(_)
            | InstructionKind::Inc
            | InstructionKind::Dec => first.into_iter().collect(),
            InstructionKind::Xchg | InstructionKind::Xadd => first.into_iter().chain(second).collect(),
            InstructionKind::Cmpxchg => first.into_iter().chain([ACCUMULATOR]).collect(),
            _ => Vec::new(),
        }
    }
}
