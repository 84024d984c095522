//! SHA-256 [FIPS 180-4] in base 64, as a Content-Security-Policy names the one script and the
//! one style sheet that a page may use.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes, and of
/// the square roots of the first eight.
struct Constants {
    rounds: [u32; 64],
    start: [u32; 8],
}

impl Constants {
    fn new() -> Constants {
        let primes = (2u64..).filter(|n| (2..*n).all(|divisor| n % divisor != 0));
        let (mut rounds, mut start) = ([0; 64], [0; 8]);
        for (at, prime) in primes.take(64).enumerate() {
            rounds[at] = root_fraction(prime, 3);
            if at < 8 {
                start[at] = root_fraction(prime, 2);
            }
        }
        Constants { rounds, start }
    }
}

/// The first 32 bits behind the point of a root: the largest `r` with `r^n <= p * 2^(32 n)`,
/// without what stands before the point.
fn root_fraction(prime: u64, degree: u32) -> u32 {
    let goal = u128::from(prime) << (32 * degree);
    let (mut low, mut high) = (0u128, 1u128 << 37);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(degree) <= goal {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low & 0xffff_ffff) as u32
}

/// The digest of a text.
pub fn sha256(text: &str) -> [u8; 32] {
    let constants = Constants::new();
    let mut bytes = text.as_bytes().to_vec();
    let bits = (bytes.len() as u64) * 8;
    bytes.push(0x80);
    bytes.resize((bytes.len() + 8).next_multiple_of(64) - 8, 0);
    bytes.extend_from_slice(&bits.to_be_bytes());
    let mut hash = constants.start;
    for block in bytes.chunks_exact(64) {
        compress(&mut hash, block, &constants.rounds);
    }
    let mut out = [0; 32];
    for (four, word) in out.chunks_exact_mut(4).zip(hash) {
        four.copy_from_slice(&word.to_be_bytes());
    }
    out
}

fn compress(hash: &mut [u32; 8], block: &[u8], rounds: &[u32; 64]) {
    let mut words = [0u32; 64];
    for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let small0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
        let small1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
        words[at] = words[at - 16].wrapping_add(small0).wrapping_add(words[at - 7]).wrapping_add(small1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *hash;
    for (word, round) in words.iter().zip(rounds) {
        let big1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(big1).wrapping_add(choice).wrapping_add(*round).wrapping_add(*word);
        let big0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = big0.wrapping_add(majority);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (sum, word) in hash.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(word);
    }
}

/// Bytes in base 64.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let word =
            three.iter().fold(0, |word, byte| word << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = char::from(DIGITS[word >> (18 - 6 * place) & 63]);
            out.push(if place <= three.len() { digit } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let hex: String = sha256(text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected, "{text}");
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        check(two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }

    #[test]
    fn base_64_is_padded() {
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }
}
