//! Numbers and characters as C writes them.

/// An integer and what its suffix says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    pub value: u64,
    pub unsigned: bool,
    pub long: bool,
    /// Written in decimal, so that it does not become unsigned by itself.
    pub decimal: bool,
}

/// An integer, or why it is none.
pub fn number(text: &str) -> Result<Literal, &'static str> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (&lower[2..], 16),
        [b'0', b'b', ..] => (&lower[2..], 2),
        [b'0', _, ..] => (&lower[1..], 8),
        _ => (&lower[..], 10),
    };
    let end = digits.find(|c: char| !c.is_digit(if radix == 8 { 10 } else { radix })).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let floating = suffix.starts_with(['.', 'e', 'p', 'f']);
    if floating {
        return Err("floating-point numbers are not read");
    }
    let (unsigned, long) = match suffix {
        "" => (false, false),
        "u" => (true, false),
        "l" | "ll" => (false, true),
        "ul" | "ull" | "lu" | "llu" => (true, true),
        _ => return Err("this is no number"),
    };
    let digits = if digits.is_empty() && radix == 8 { "0" } else { digits };
    if digits.is_empty() || digits.chars().any(|c| !c.is_digit(radix)) {
        return Err("this is no number");
    }
    let value = u64::from_str_radix(digits, radix).map_err(|_| "this number does not fit into 64 bits")?;
    Ok(Literal { value, unsigned, long, decimal: radix == 10 })
}

/// The value of a character constant.
pub fn character(text: &str) -> Option<i64> {
    let start = text.find('\'')?;
    let inside = text.get(start + 1..text.len().checked_sub(1)?)?;
    let values = characters(inside)?;
    match values.as_slice() {
        [] => None,
        [one] if start == 0 && *one < 256 => Some(i64::from(*one as u8 as i8)),
        [one] => Some(i64::from(*one)),
        more => Some(i64::from(more.iter().fold(0u32, |sum, c| (sum << 8) | (c & 255)) as i32)),
    }
}

/// The characters of a string, without its quotes.
pub fn string(text: &str) -> Option<Vec<u32>> {
    let start = text.find('"')?;
    characters(text.get(start + 1..text.len().checked_sub(1)?)?)
}

fn characters(inside: &str) -> Option<Vec<u32>> {
    let mut values = Vec::new();
    let mut rest = inside.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            values.push(u32::from(c));
            continue;
        }
        values.push(match rest.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            'x' => {
                let mut value = 0u32;
                while let Some(digit) = rest.peek().and_then(|c| c.to_digit(16)) {
                    value = value.checked_mul(16)?.checked_add(digit)?;
                    rest.next();
                }
                value
            }
            first if first.is_digit(8) => {
                let mut value = first.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|c| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                value
            }
            kind @ ('u' | 'U') => {
                let mut value = 0u32;
                for _ in 0..if kind == 'u' { 4 } else { 8 } {
                    value = value.checked_mul(16)?.checked_add(rest.next()?.to_digit(16)?)?;
                }
                value
            }
            other => u32::from(other),
        });
    }
    Some(values)
}
