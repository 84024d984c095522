//! The head of a litmus test: architecture, name, remarks, and the block of initial values.

use super::lexer::{Cursor, LitmusToken, skip_comment};
use super::registers::{Arch, RegisterFamily, register};
use crate::Diagnostic;
use program::{Int, Span};

/// Arrays longer than this are refused.
const MAX_CELLS: usize = 4096;

/// A value that is written down: a number or the address of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LitmusValue {
    Int(Int),
    /// A location and an offset in cells.
    Address(String, usize),
}

/// A location that the block of initial values mentions.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: String,
    /// Its cells; one, unless it is an array.
    pub(super) cells: Vec<Int>,
    pub(super) is_array: bool,
    /// Bytes of one cell, if a type says so.
    pub(super) bytes: Option<usize>,
    pub(super) span: Span,
}

/// The initial value of a register.
#[derive(Clone, Debug)]
pub(super) struct Preset {
    pub(super) thread: usize,
    pub(super) family: RegisterFamily,
    /// How many bits the name covers that the value is given to.
    pub(super) bits: u32,
    pub(super) value: LitmusValue,
    pub(super) span: Span,
}

/// Everything the block of initial values says.
#[derive(Clone, Debug, Default)]
pub(super) struct Init {
    pub(super) locations: Vec<Declared>,
    pub(super) registers: Vec<Preset>,
}

/// The architecture, the test's name and where the block of initial values starts.
pub(super) fn header(text: &str) -> Result<(Arch, String, usize), Diagnostic> {
    let mut at = skip_blanks(text, 0)?;
    let line_end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    let line = &text[at..line_end];
    let word_length = line.find(char::is_whitespace).unwrap_or(line.len());
    let word = &line[..word_length];
    let arch = match word {
        "X86" => Arch::X86,
        "X86_64" => Arch::X86_64,
        _ => {
            let span = Span::new(at, at + word_length);
            let message = match word {
                "" => "this text is empty".to_string(),
                _ => format!("expected the architecture `X86` or `X86_64`, found `{word}`"),
            };
            let hint = "tests for other machines are not read; a test starts like `X86 SB`";
            return Err(Diagnostic::error(span, message).hint(hint));
        }
    };
    let name = line[word_length..].trim();
    let name = name.split_once('{').map_or(name, |(name, _)| name.trim());
    let first = at;
    at += word_length;
    while at < text.len() {
        match text.as_bytes()[at] {
            b'{' => return Ok((arch, name.to_string(), at)),
            b'"' => at = skip_string(text, at)?,
            b'(' if text[at..].starts_with("(*") => at = skip_comment(text, at)?,
            _ => at += 1,
        }
    }
    let span = Span::new(first, first + word_length);
    Err(Diagnostic::error(span, "this test has no block of initial values")
        .hint("write `{ }` before the threads"))
}

fn skip_blanks(text: &str, mut at: usize) -> Result<usize, Diagnostic> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("(*") {
            return Ok(at);
        }
        at = skip_comment(text, at)?;
    }
}

fn skip_string(text: &str, start: usize) -> Result<usize, Diagnostic> {
    let end = text[start + 1..].find('"').map(|length| start + 1 + length + 1);
    end.ok_or_else(|| Diagnostic::error(Span::new(start, start + 1), "this text in quotes does not end"))
}

/// The block of initial values, from `{` to `}`.
pub(super) fn init(cursor: &mut Cursor, arch: Arch) -> Result<Init, Diagnostic> {
    cursor.expect("{")?;
    let mut init = Init::default();
    cursor.list("}", |cursor| item(cursor, arch, &mut init))?;
    Ok(init)
}

/// `[type] place [= value]`
fn item(cursor: &mut Cursor, arch: Arch, init: &mut Init) -> Result<(), Diagnostic> {
    let start = cursor.span();
    let bytes = data_type(cursor, arch)?;
    if let Some((thread, family, bits)) = register_place(cursor)? {
        let value = if cursor.sign("=") { value(cursor)? } else { LitmusValue::Int(Int::from(0)) };
        let span = cursor.since(start);
        init.registers.push(Preset { thread, family, bits, value, span });
        return Ok(());
    }
    let bracketed = cursor.sign("[");
    let (name, _) = cursor.word("a location or a register like `0:EAX`")?;
    if bracketed {
        cursor.expect("]")?;
    }
    let length = if !bracketed && cursor.sign("[") { Some(array_length(cursor)?) } else { None };
    let cells = cells(cursor, length)?;
    let (is_array, span) = (length.is_some(), cursor.since(start));
    init.locations.push(Declared { name: name.to_string(), cells, is_array, bytes, span });
    Ok(())
}

fn array_length(cursor: &mut Cursor) -> Result<usize, Diagnostic> {
    let span = cursor.span();
    let length = cursor.integer()?;
    cursor.expect("]")?;
    let length = usize::try_from(&length).ok().filter(|length| (1..=MAX_CELLS).contains(length));
    let message = format!("an array has 1 to {MAX_CELLS} cells");
    length.ok_or_else(|| Diagnostic::error(span, message))
}

fn cells(cursor: &mut Cursor, length: Option<usize>) -> Result<Vec<Int>, Diagnostic> {
    let mut cells = Vec::new();
    if cursor.sign("=") {
        let span = cursor.span();
        if length.is_some() && cursor.sign("{") {
            while !cursor.sign("}") {
                cells.push(cursor.integer()?);
                if !cursor.sign(",") && !matches!(cursor.peek(), Some(LitmusToken::Sign("}"))) {
                    return Err(cursor.unexpected("`,` or `}`"));
                }
            }
        } else {
            cells.push(match value(cursor)? {
                LitmusValue::Int(value) => value,
                LitmusValue::Address(name, _) => {
                    let message = format!("a location that holds the address of `{name}` is not supported");
                    return Err(Diagnostic::error(span, message));
                }
            });
        }
        if cells.len() > length.unwrap_or(1) {
            return Err(Diagnostic::error(cursor.since(span), "these are more values than cells"));
        }
    }
    cells.resize(length.unwrap_or(1), Int::from(0));
    Ok(cells)
}

/// A type, if one stands here; the bytes its values take.
fn data_type(cursor: &mut Cursor, arch: Arch) -> Result<Option<usize>, Diagnostic> {
    let start = cursor.span();
    let mut words = Vec::new();
    let mut is_pointer = false;
    // `int x`, `int *p`, `unsigned long x`, `uint64_t 0:rax`: a word before another place is a type.
    while let Some(LitmusToken::Word(word)) = cursor.peek() {
        let typed = match cursor.peek_at(1) {
            Some(LitmusToken::Word(_)) | Some(LitmusToken::Sign("*")) => true,
            Some(LitmusToken::Number(_)) => matches!(cursor.peek_at(2), Some(LitmusToken::Sign(":"))),
            _ => false,
        };
        if !typed {
            break;
        }
        words.push(*word);
        cursor.skip();
        while cursor.sign("*") {
            is_pointer = true;
        }
    }
    if words.is_empty() || is_pointer {
        return Ok(is_pointer.then_some(arch.bits() as usize / 8));
    }
    let unknown = || {
        Diagnostic::error(
            cursor.since(start),
            format!("the size of the type `{}` is not known", words.join(" ")),
        )
    };
    type_bytes(&words, arch).map(Some).ok_or_else(unknown)
}

/// The bytes of a type: a fixed name, or words of C in any order.
fn type_bytes(words: &[&str], arch: Arch) -> Option<usize> {
    let word = arch.bits() as usize / 8;
    if let [name] = words {
        match *name {
            "int8_t" | "uint8_t" => return Some(1),
            "int16_t" | "uint16_t" => return Some(2),
            "int32_t" | "uint32_t" | "atomic_t" => return Some(4),
            "int64_t" | "uint64_t" => return Some(8),
            "intptr_t" | "uintptr_t" => return Some(word),
            _ => {}
        }
    }
    const WORDS: [&str; 8] = ["char", "short", "int", "long", "signed", "unsigned", "volatile", "const"];
    if !words.iter().all(|word| WORDS.contains(word)) {
        return None;
    }
    let longs = words.iter().filter(|word| **word == "long").count();
    Some(match longs {
        _ if words.contains(&"char") => 1,
        _ if words.contains(&"short") => 2,
        0 => 4,
        1 => word,
        _ => 8,
    })
}

/// `0:EAX` or `P0:EAX`, if that stands here, and the bits of this name.
pub(super) fn register_place(
    cursor: &mut Cursor,
) -> Result<Option<(usize, RegisterFamily, u32)>, Diagnostic> {
    if cursor.peek_at(1) != Some(&LitmusToken::Sign(":")) {
        return Ok(None);
    }
    let start = cursor.span();
    let thread = match cursor.peek() {
        Some(LitmusToken::Number(number)) => usize::try_from(number).ok(),
        Some(LitmusToken::Word(word)) => word.strip_prefix('P').and_then(|number| number.parse().ok()),
        _ => return Ok(None),
    };
    let thread = thread.ok_or_else(|| cursor.unexpected("a thread like `0` or `P0`"))?;
    cursor.skip();
    cursor.skip();
    cursor.sign("%");
    let (word, _) = cursor.word("a register")?;
    match register(word) {
        Some(named) if !named.high => Ok(Some((thread, named.family, named.bits))),
        _ => Err(Diagnostic::error(
            cursor.since(start),
            format!("`{word}` is not a register that is modelled"),
        )),
    }
}

/// A number, or the name of a location for its address.
pub(super) fn value(cursor: &mut Cursor) -> Result<LitmusValue, Diagnostic> {
    cursor.sign("&");
    if !matches!(cursor.peek(), Some(LitmusToken::Word(_))) {
        return Ok(LitmusValue::Int(cursor.integer()?));
    }
    let (name, span) = cursor.word("a value")?;
    let cell = if cursor.sign("[") {
        let cell = cursor.integer()?;
        cursor.expect("]")?;
        usize::try_from(&cell).map_err(|_| Diagnostic::error(span, "a cell's number is not negative"))?
    } else {
        0
    };
    Ok(LitmusValue::Address(name.to_string(), cell))
}
