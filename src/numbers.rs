//! Numbers as people read them.

pub use evidence::{counted, grouped};

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

/// Bytes in whole megabytes, rounded up.
pub fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_short() {
        let cases = [(7, "7"), (1234, "1.23k"), (45_678, "45.7k"), (123_456_789, "123M")];
        for (number, expected) in cases {
            assert_eq!(short(number), expected);
        }
    }
}
