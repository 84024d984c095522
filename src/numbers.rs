//! Numbers as people read them.

/// 1234567 as `1,234,567`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// 1234567 as `1.23M`: three digits where few columns are left.
pub fn short(number: usize) -> String {
    let value = number as f64;
    let (scaled, unit) = match number {
        0..1_000 => return number.to_string(),
        1_000..1_000_000 => (value / 1e3, "k"),
        1_000_000..1_000_000_000 => (value / 1e6, "M"),
        _ => (value / 1e9, "G"),
    };
    let digits = match scaled {
        s if s < 10.0 => 2,
        s if s < 100.0 => 1,
        _ => 0,
    };
    format!("{scaled:.digits$}{unit}")
}

/// A count with its noun: `1 state`, `2 states`.
pub fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

/// Bytes in whole megabytes, rounded up.
pub fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (123456, "123,456"), (1234567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        let cases = [(7, "7"), (1234, "1.23k"), (45_678, "45.7k"), (123_456_789, "123M")];
        for (number, expected) in cases {
            assert_eq!(short(number), expected);
        }
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(2000, "step"), "2,000 steps");
    }
}
