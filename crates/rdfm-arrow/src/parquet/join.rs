//! Joins row groups that were written as separate Parquet files into one file.
//!
//! - In: complete files with the same schema. Out: one file, as if one writer had written all row
//!   groups.
//! - Cost: the pages are not read. Memory use grows with the metadata of the row groups.

use std::ops::Range;

use super::header::{LIST, STRUCT, Thrift, ThriftError};

const MAGIC: &[u8] = b"PAR1";
/// Size in bytes of a footer's length and the magic number after it.
const TAIL: usize = 8;

/// Joins files into one. The footer is that of the first part, with the row groups of all parts.
#[derive(Debug, Default)]
pub struct Joiner {
    /// Footer of the first part, and the positions of its number of rows and its row groups.
    head: Vec<u8>,
    rows_at: Range<usize>,
    groups_at: Range<usize>,
    /// The row groups of all parts, their number, and the number of their rows.
    groups: Vec<u8>,
    count: u64,
    rows: i64,
    /// Size of the file so far in bytes.
    size: usize,
}

impl Joiner {
    /// Adds the next part. Returns the range of the part's bytes that must be written next.
    ///
    /// # Errors
    /// If the part is not a Parquet file; the error says why.
    pub fn add(&mut self, part: &[u8]) -> Result<Range<usize>, String> {
        let pages = pages(part).ok_or("not a Parquet file")?;
        let footer = &part[pages.end..part.len() - TAIL];
        let start = if self.size == 0 { 0 } else { pages.start };
        let shift = self.size.wrapping_sub(start);
        let mut copier = RowGroupCopier {
            footer,
            shift,
            ordinal: self.count,
            copied: 0,
            out: &mut self.groups,
        };
        let found = copier.footer().map_err(ThriftError::footer_error)?;
        self.count = copier.ordinal;
        self.rows = self.rows.saturating_add(found.rows);
        if self.size == 0 {
            self.head = footer.to_vec();
            (self.rows_at, self.groups_at) = (found.rows_at, found.groups_at);
        }
        self.size += pages.end - start;
        Ok(start..pages.end)
    }

    /// Returns the bytes after the last row group.
    pub fn finish(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.head.len() + self.groups.len() + 32);
        out.extend(&self.head[..self.rows_at.start]);
        integer(self.rows, &mut out);
        out.extend(&self.head[self.rows_at.end..self.groups_at.start]);
        if self.count < 15 {
            out.push((self.count as u8) << 4 | STRUCT);
        } else {
            out.push(15 << 4 | STRUCT);
            varint(self.count, &mut out);
        }
        out.extend(&self.groups);
        out.extend(&self.head[self.groups_at.end..]);
        let length = out.len() as u32;
        out.extend(length.to_le_bytes());
        out.extend(MAGIC);
        out
    }
}

/// Returns the range of the pages in a file. The footer follows them.
fn pages(file: &[u8]) -> Option<Range<usize>> {
    let rest = file.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?;
    let (rest, length) = rest.split_last_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let end = MAGIC.len() + rest.len().checked_sub(length)?;
    Some(MAGIC.len()..end)
}

/// The fields of a footer that depend on its row groups.
#[derive(Default)]
struct FooterFields {
    rows: i64,
    rows_at: Range<usize>,
    groups_at: Range<usize>,
}

/// Copies row groups and adjusts their offsets and ordinals.
struct RowGroupCopier<'a> {
    footer: &'a [u8],
    /// Number of bytes to add to offsets.
    shift: usize,
    /// Number of the next row group.
    ordinal: u64,
    /// Position in the footer up to which bytes have been copied.
    copied: usize,
    out: &'a mut Vec<u8>,
}

impl RowGroupCopier<'_> {
    /// Copies the row groups of the footer.
    fn footer(&mut self) -> Result<FooterFields, ThriftError> {
        let mut found = FooterFields::default();
        let mut thrift = Thrift::new(self.footer);
        thrift.read_struct(0, |thrift, number, type_code| {
            let start = thrift.at;
            match (number, type_code) {
                (3, _) => {
                    found.rows = thrift.number(type_code, 0)?.unwrap_or(0);
                    found.rows_at = start..thrift.at;
                }
                (4, LIST) => {
                    let (_, count) = thrift.list()?;
                    self.copied = thrift.at;
                    for _ in 0..count {
                        self.row_group(thrift)?;
                    }
                    self.copy(thrift.at);
                    found.groups_at = start..thrift.at;
                }
                _ => thrift.skip_field(type_code, 0)?,
            }
            Ok(())
        })?;
        if found.rows_at.is_empty() || found.groups_at.is_empty() {
            return Err(ThriftError::Invalid("a field is missing"));
        }
        Ok(found)
    }

    fn row_group(&mut self, thrift: &mut Thrift<'_>) -> Result<(), ThriftError> {
        thrift.read_struct(1, |thrift, number, type_code| match (number, type_code) {
            (1, LIST) => thrift.structs(|thrift| self.column(thrift)),
            (5, _) => self.offset(thrift, type_code),
            (7, _) => {
                // Ordinals have 16 bits, and writers let them overflow.
                let ordinal = i64::from((self.ordinal as u16).cast_signed());
                self.replace(thrift, type_code, |_| ordinal)
            }
            _ => thrift.skip_field(type_code, 1),
        })?;
        self.ordinal += 1;
        Ok(())
    }

    fn column(&mut self, thrift: &mut Thrift<'_>) -> Result<(), ThriftError> {
        thrift.read_struct(2, |thrift, number, type_code| match (number, type_code) {
            // Locations of the column's metadata and page indexes.
            (2 | 4 | 6, _) => self.offset(thrift, type_code),
            (3, STRUCT) => thrift.read_struct(3, |thrift, number, type_code| match number {
                // Locations of data pages, index pages, dictionary and Bloom filter.
                9 | 10 | 11 | 14 => self.offset(thrift, type_code),
                _ => thrift.skip_field(type_code, 3),
            }),
            _ => thrift.skip_field(type_code, 2),
        })
    }

    /// Adjusts a file offset. An offset of 0 means that the structure is absent.
    fn offset(&mut self, thrift: &mut Thrift<'_>, type_code: u8) -> Result<(), ThriftError> {
        let shift = self.shift;
        self.replace(thrift, type_code, |offset| match offset {
            0 => 0,
            offset => offset.wrapping_add_unsigned(shift as u64),
        })
    }

    fn replace(
        &mut self,
        thrift: &mut Thrift<'_>,
        type_code: u8,
        change: impl FnOnce(i64) -> i64,
    ) -> Result<(), ThriftError> {
        self.copy(thrift.at);
        if let Some(value) = thrift.number(type_code, 3)? {
            integer(change(value), self.out);
            self.copied = thrift.at;
        }
        Ok(())
    }

    fn copy(&mut self, end: usize) {
        self.out.extend(&self.footer[self.copied..end]);
        self.copied = end;
    }
}

fn integer(value: i64, out: &mut Vec<u8>) {
    varint(((value << 1) ^ (value >> 63)).cast_unsigned(), out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one row group that has these pages, page offset, ordinal and number of rows.
    fn file(pages: &[u8], offset: u8, ordinal: u8, rows: u8) -> Vec<u8> {
        let zigzag = |value: u8| value << 1;
        let mut group = vec![0x19, 0x1c, 0x26, 0, 0x1c];
        // The other required fields: type, encodings, path, codec, number of values and sizes.
        group.extend([0x15, 0, 0x19, 0x15, 0, 0x19, 0x18, 1, b'x', 0x15, 0]);
        group.extend([0x16, 0, 0x16, 0, 0x16, 0]);
        group.extend([0x26, zigzag(offset), 0, 0]);
        group.extend([
            0x26,
            zigzag(rows),
            0x26,
            zigzag(offset),
            0x24,
            zigzag(ordinal),
            0,
        ]);
        let mut footer = vec![0x15, 4, 0x26, zigzag(rows), 0x19, 0x1c];
        footer.extend(group);
        footer.extend([0x18, 1, b'x', 0]);
        [
            MAGIC,
            pages,
            &footer,
            &(footer.len() as u32).to_le_bytes(),
            MAGIC,
        ]
        .concat()
    }

    #[test]
    fn offsets_ordinals_and_row_counts_are_adjusted() -> Result<(), String> {
        let mut joiner = Joiner::default();
        let mut out = Vec::new();
        for pages in [&b"abc"[..], b"de", b"f"] {
            let part = file(pages, 4, 0, 10);
            let range = joiner.add(&part)?;
            out.extend_from_slice(&part[range]);
        }
        assert_eq!(out, b"PAR1abcdef");
        let footer = joiner.finish();
        let groups = super::super::column_locations(&footer)?;
        let offsets: Vec<i64> = groups.iter().map(|columns| columns[0].data).collect();
        assert_eq!(offsets, [4, 7, 9]);
        let last = file(b"f", 9, 2, 10);
        let group = &last[MAGIC.len() + 1 + 6..last.len() - TAIL - 4];
        assert!(footer.windows(group.len()).any(|bytes| bytes == group));
        assert_eq!(footer[3], 30 << 1);
        Ok(())
    }

    #[test]
    fn a_single_part_is_unchanged() -> Result<(), String> {
        let part = file(b"abc", 4, 0, 10);
        let mut joiner = Joiner::default();
        let range = joiner.add(&part)?;
        assert_eq!([&part[range], &joiner.finish()].concat(), part);
        Ok(())
    }

    #[test]
    fn truncated_and_inconsistent_files_are_rejected() {
        let part = file(b"abc", 4, 0, 10);
        for end in 0..part.len() {
            assert!(Joiner::default().add(&part[..end]).is_err());
        }
        let mut cut = part.clone();
        let at = part.len() - TAIL;
        cut[at..at + 4].copy_from_slice(&3_u32.to_le_bytes());
        assert!(Joiner::default().add(&cut).is_err());
    }
}
