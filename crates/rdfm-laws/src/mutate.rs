//! Random changes to bytes, reproducible from a seed on every machine.
//!
//! - In: a seed, an input, and tokens that are significant in the formats.
//! - Out: the input with a few bytes flipped, removed, repeated or moved, or with tokens inserted.

/// A xorshift generator. Its quality suffices for choosing mutations.
pub struct Random(u64);

impl Random {
    /// Creates a generator from any seed, including 0.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).max(1))
    }

    /// Creates a generator with a hash of the bytes as its seed, so that each input always leads to
    /// the same choices.
    pub fn from_data(data: &[u8]) -> Self {
        // FNV-1a.
        let start = 0xCBF2_9CE4_8422_2325;
        Self::new(data.iter().fold(start, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        }))
    }

    /// Returns the next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn next_below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next_bits() >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// Tokens that are significant in some format.
const TOKENS: &[&[u8]] = &[
    b"# @message\n",
    b"MESSAGE\n",
    b"@message .\n",
    b"VERSION \"1.2-messages\"\n",
    b"@version \"1.2-messages\" .\n",
    b"PREFIX a: <http://a/>\n",
    b"BASE <http://b/>\n",
    b"<http://a/b>",
    b"<>",
    b"_:b0",
    b"_:_g1",
    b"\"\"\"",
    b"'''",
    b"\"x\"@en--ltr",
    b"^^<http://www.w3.org/2001/XMLSchema#string>",
    b"<<( ",
    b" )>>",
    b"<< ",
    b" >>",
    b"{| ",
    b" |}",
    b"~",
    b"[",
    b"]",
    b"(",
    b")",
    b"{",
    b"}",
    b".",
    b";",
    b",",
    b"a:",
    b"\\u0041",
    b"\\U0010FFFF",
    b"\\uD800",
    b"\xC3\xA9",
    b"\xFF",
    b"\xEF\xBB\xBF",
    b"\0",
    b"\r",
    b"\n",
    b"\x0A\x00",
    b"\xFF\xFF\xFF\xFF\x0F",
    b"1.5e3",
    b"-.5",
    b"true",
    b" a ",
    b"GRAPH ",
];

/// Applies one to six random changes to the input.
pub fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    mutate_with(random, input, TOKENS)
}

/// Like [`mutate`], with other tokens.
pub fn mutate_with(random: &mut Random, input: &[u8], tokens: &[&[u8]]) -> Vec<u8> {
    let mut data = input.to_vec();
    for _ in 0..=random.next_below(6) {
        let index = random.next_below(data.len() + 1);
        let length = random.next_below(16).min(data.len() - index);
        match random.next_below(7) {
            0 if index < data.len() => data[index] ^= 1 << random.next_below(8),
            1 if index < data.len() => {
                data[index] = u8::try_from(random.next_below(256)).unwrap_or(0)
            }
            2 => drop(data.drain(index..index + length)),
            3 => {
                let copy = data[index..index + length].to_vec();
                let to = random.next_below(data.len() + 1);
                data.splice(to..to, copy);
            }
            4 => data.truncate(index),
            _ => {
                let token = tokens[random.next_below(tokens.len())];
                data.splice(index..index, token.iter().copied());
            }
        }
    }
    data
}
