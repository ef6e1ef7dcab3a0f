//! Parquet's hybrid of run-length encoding and bit packing, which is used for levels and dictionary
//! indices.

/// An iterator over the encoded integers, up to the end of the bytes.
pub struct Runs<'a> {
    bytes: &'a [u8],
    width: u32,
    /// Number of remaining values in the current run, and their value.
    run: (u64, u32),
    /// The next bit-packed values, and the number of their bits that have been read.
    packed: &'a [u8],
    bit: usize,
    big_endian: bool,
}

impl<'a> Runs<'a> {
    /// Creates an iterator over integers of `width` bits.
    pub const fn new(bytes: &'a [u8], width: u32) -> Self {
        Self {
            bytes,
            width,
            run: (0, 0),
            packed: &[],
            bit: 0,
            big_endian: false,
        }
    }

    /// Creates an iterator over levels of the deprecated encoding, which packs bits starting with
    /// the most significant one.
    pub const fn big_endian(packed: &'a [u8], width: u32) -> Self {
        Self {
            packed,
            big_endian: true,
            ..Self::new(&[], width)
        }
    }

    fn unpack(&mut self) -> Option<u32> {
        let width = self.width as usize;
        if width == 0 || self.bit + width > self.packed.len() * 8 {
            self.packed = &[];
            return None;
        }
        let mut value = 0;
        for number in 0..width {
            let at = self.bit + number;
            let byte = u32::from(self.packed[at / 8]);
            if self.big_endian {
                value = value << 1 | (byte >> (7 - at % 8) & 1);
            } else {
                value |= (byte >> (at % 8) & 1) << number;
            }
        }
        self.bit += width;
        Some(value)
    }

    /// Moves to the next run.
    fn advance(&mut self) -> Option<()> {
        let mut head: u64 = 0;
        for shift in (0..35).step_by(7) {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            head |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                break;
            }
        }
        if head & 1 == 0 {
            let bytes = self.width.div_ceil(8) as usize;
            let (value, rest) = self.bytes.split_at_checked(bytes)?;
            self.bytes = rest;
            let mut padded = [0; 4];
            padded[..bytes].copy_from_slice(value);
            self.run = (head >> 1, u32::from_le_bytes(padded));
            return Some(());
        }
        if self.width == 0 {
            self.run = ((head >> 1) * 8, 0);
            return Some(());
        }
        // The last group may be truncated.
        let bytes = ((head >> 1) as usize).saturating_mul(self.width as usize);
        let (packed, rest) = self.bytes.split_at(bytes.min(self.bytes.len()));
        (self.packed, self.bytes, self.bit) = (packed, rest, 0);
        Some(())
    }
}

impl Iterator for Runs<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if self.run.0 > 0 {
                self.run.0 -= 1;
                return Some(self.run.1);
            }
            if !self.packed.is_empty()
                && let Some(value) = self.unpack()
            {
                return Some(value);
            }
            // No values remain, unless the width is 0, because such values need no bytes.
            if self.bytes.is_empty() {
                return (self.width == 0).then_some(0);
            }
            self.advance()?;
        }
    }
}
