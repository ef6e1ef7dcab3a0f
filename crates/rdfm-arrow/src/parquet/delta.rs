//! Parquet's `DELTA_BINARY_PACKED` encoding, which stores the lengths of strings as differences.

/// An iterator over the encoded integers.
#[derive(Clone)]
pub struct Delta<'a> {
    bytes: &'a [u8],
    at: usize,
    miniblocks: usize,
    /// Number of values in a miniblock.
    miniblock_values: u64,
    left: u64,
    value: i64,
    first: bool,
    smallest: i64,
    /// Position of the bit widths of the current block's miniblocks, and the number of the next
    /// miniblock.
    widths: usize,
    miniblock: usize,
    /// Current miniblock: its bit width, the position of its first byte, and the number of values
    /// read.
    width: usize,
    start: usize,
    read: u64,
}

impl<'a> Delta<'a> {
    /// Creates an iterator over the integers at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut delta = Self {
            bytes,
            at: 0,
            miniblocks: 0,
            miniblock_values: 0,
            left: 0,
            value: 0,
            first: true,
            smallest: 0,
            widths: 0,
            miniblock: 0,
            width: 0,
            start: 0,
            read: 0,
        };
        let block = delta.varint()?;
        delta.miniblocks = usize::try_from(delta.varint()?).ok()?;
        delta.left = delta.varint()?;
        delta.value = delta.integer()?;
        delta.miniblock_values = block.checked_div(delta.miniblocks as u64)?;
        (delta.miniblock_values > 0 && delta.miniblock_values.is_multiple_of(8)).then_some(())?;
        delta.miniblock = delta.miniblocks;
        delta.read = delta.miniblock_values;
        Some(delta)
    }

    /// Returns the total size of the encoded integers in bytes.
    pub fn end(mut self) -> Option<usize> {
        while self.left > 0 {
            self.next()?;
        }
        Some(self.at)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Moves to the next miniblock.
    fn advance(&mut self) -> Option<()> {
        if self.miniblock == self.miniblocks {
            self.smallest = self.integer()?;
            self.widths = self.at;
            self.at = self.at.checked_add(self.miniblocks)?;
            self.miniblock = 0;
        }
        self.width = usize::from(*self.bytes.get(self.widths + self.miniblock)?);
        (self.width <= 64).then_some(())?;
        self.miniblock += 1;
        self.start = self.at;
        let bytes = usize::try_from(self.miniblock_values / 8).ok()?;
        self.at = self.at.checked_add(bytes.checked_mul(self.width)?)?;
        self.read = 0;
        (self.at <= self.bytes.len()).then_some(())
    }
}

impl Iterator for Delta<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        if self.first {
            self.first = false;
            return Some(self.value);
        }
        if self.read == self.miniblock_values {
            self.advance()?;
        }
        let mut delta: u64 = 0;
        let bit = self.read as usize * self.width;
        for number in 0..self.width {
            let at = bit + number;
            let byte = u64::from(self.bytes[self.start + at / 8]);
            delta |= (byte >> (at % 8) & 1) << number;
        }
        self.read += 1;
        let delta = self.smallest.wrapping_add(delta.cast_signed());
        self.value = self.value.wrapping_add(delta);
        Some(self.value)
    }
}
