//! Detection of repeated quads in a message.
//!
//! - In: the quads of one message or part, as slots. Out: whether each quad is new.
//! - Cost: a few comparisons in a small message, otherwise a table lookup.

/// Maximum number of quads that are compared pairwise.
const MAX_PAIRWISE: usize = 8;

/// The distinct quads of the current message.
#[derive(Debug, Default)]
pub struct SeenQuads {
    quads: Vec<u128>,
    /// Hash table. The upper half of an entry is the number of the message, the lower half the
    /// number of the quad in this message, from 1.
    table: Vec<u64>,
    message: u64,
    mask: usize,
}

impl SeenQuads {
    /// Starts a message with at most `quads` quads.
    pub fn start(&mut self, quads: usize) {
        self.quads.clear();
        self.mask = 0;
        if quads > MAX_PAIRWISE {
            let size = (2 * quads).next_power_of_two();
            self.mask = size - 1;
            self.message += 1;
            if self.table.len() < size {
                self.table.resize(size, 0);
            }
        }
    }

    /// Records a quad. Returns true if it is new.
    #[inline]
    pub fn insert(&mut self, [s, p, o, g]: [u32; 4]) -> bool {
        let quad = u128::from(s) << 96 | u128::from(p) << 64 | u128::from(o) << 32 | u128::from(g);
        let new = if self.mask == 0 {
            !self.quads.contains(&quad)
        } else {
            self.insert_in_table(quad)
        };
        if new {
            self.quads.push(quad);
        }
        new
    }

    fn insert_in_table(&mut self, quad: u128) -> bool {
        let mut index = hash(quad) as usize & self.mask;
        loop {
            let entry = self.table[index];
            if entry >> 32 != self.message {
                self.table[index] = self.message << 32 | (self.quads.len() as u64 + 1);
                return true;
            }
            if self.quads[(entry & 0xFFFF_FFFF) as usize - 1] == quad {
                return false;
            }
            index = (index + 1) & self.mask;
        }
    }
}

#[inline]
fn hash(quad: u128) -> u64 {
    // Subject and predicate are in the upper half, object and graph in the lower half.
    let (upper, lower) = ((quad >> 64) as u64, quad as u64);
    let product = u128::from(upper ^ 0x9e37_79b9_7f4a_7c15)
        * u128::from(lower.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ ((product >> 64) as u64)
}
