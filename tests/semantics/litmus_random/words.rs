//! Words of 1, 2, 4 or 8 bytes, where they are in memory, and the flags of computing with them.

pub fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - 8 * width)
}

pub fn sign_bit(width: u32, value: u64) -> bool {
    value >> (8 * width - 1) & 1 == 1
}

/// The value of so many bytes as a signed number.
pub fn signed(width: u32, value: u64) -> i128 {
    let value = value & mask(width);
    i128::from(value) - if sign_bit(width, value) { i128::from(mask(width)) + 1 } else { 0 }
}

pub fn bytes_at(memory: &[u8], start: usize, width: u32) -> u64 {
    let bytes = &memory[start..start + width as usize];
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

pub fn put(memory: &mut [u8], start: usize, width: u32, value: u64) {
    memory[start..start + width as usize].copy_from_slice(&value.to_le_bytes()[..width as usize]);
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flags {
    pub zero: bool,
    pub sign: bool,
    pub carry: bool,
    pub overflow: bool,
}

impl Flags {
    pub fn of_result(width: u32, result: u64) -> Flags {
        let result = result & mask(width);
        Flags { zero: result == 0, sign: sign_bit(width, result), carry: false, overflow: false }
    }

    pub fn of_sum(width: u32, a: u64, b: u64) -> Flags {
        let sum = u128::from(a) + u128::from(b);
        let exact = signed(width, a) + signed(width, b);
        let flags = Flags::of_result(width, sum as u64);
        let overflow = exact != signed(width, sum as u64);
        Flags { carry: sum > u128::from(mask(width)), overflow, ..flags }
    }

    pub fn of_difference(width: u32, a: u64, b: u64) -> Flags {
        let difference = a.wrapping_sub(b);
        let exact = signed(width, a) - signed(width, b);
        let overflow = exact != signed(width, difference);
        Flags { carry: a < b, overflow, ..Flags::of_result(width, difference) }
    }

    pub fn hold(self, when: &str) -> bool {
        match when {
            "e" => self.zero,
            "ne" => !self.zero,
            "l" => self.sign != self.overflow,
            "ge" => self.sign == self.overflow,
            "le" => self.zero || self.sign != self.overflow,
            "g" => !self.zero && self.sign == self.overflow,
            "b" => self.carry,
            "ae" => !self.carry,
            "be" => self.carry || self.zero,
            "a" => !self.carry && !self.zero,
            "s" => self.sign,
            _ => !self.sign,
        }
    }
}
