//! Parquet page headers, and column locations from a footer. Both are structs in Thrift's compact
//! protocol.
//!
//! - In: bytes that start with a header, or a footer. Out: the header, or `None` if it is
//!   truncated; the columns of each row group.

/// Maximum nesting depth of structs and lists.
const MAX_DEPTH: u32 = 16;

/// Maximum number of elements in a schema. pyarrow needs about 1.5 kB for each.
const MAX_ELEMENTS: u64 = 100_000;

/// Sizes in bytes of the smallest row group and the smallest column in a footer. pyarrow needs many
/// times the memory.
const MIN_ROW_GROUP: usize = 7;
const MIN_COLUMN: usize = 24;

/// Thrift type codes of fields.
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Values, preceded by levels.
    Data,
    /// Values, preceded by uncompressed levels.
    DataV2,
    /// Dictionary entries that values refer to.
    Dictionary,
    /// Any page without values.
    Other,
}

/// A page header.
#[derive(Clone, Debug)]
pub struct Page {
    /// Kind of the page.
    pub kind: PageKind,
    /// Size of the header in bytes.
    pub header: usize,
    /// Size of the page in the file in bytes, without the header.
    pub compressed: usize,
    /// Size of the decompressed page in bytes.
    pub size: usize,
    /// Number of values including nulls, or of dictionary entries.
    pub values: u32,
    /// Encoding of the values.
    pub encoding: u32,
    /// Encoding of the repetition levels, or in a [`PageKind::DataV2`] their size in bytes.
    pub repetition: u32,
    /// Encoding of the definition levels, or in a [`PageKind::DataV2`] their size in bytes.
    pub definition: u32,
    /// Whether the values of a [`PageKind::DataV2`] are compressed.
    pub is_compressed: bool,
}

impl Page {
    /// Returns the size in bytes of the largest buffer for the page. The decoder allocates it before
    /// it reads the page.
    pub const fn open_bytes(&self) -> u64 {
        let (compressed, size) = (self.compressed as u64, self.size as u64);
        if compressed > size { compressed } else { size }
    }

    /// Returns the size in bytes of the leading levels, which are never compressed.
    pub const fn levels(&self) -> usize {
        match self.kind {
            PageKind::DataV2 => self.repetition as usize + self.definition as usize,
            _ => 0,
        }
    }
}

/// Reads the header at the start of `bytes`. Returns `None` if the header is truncated.
///
/// # Errors
/// If the bytes are not a header; the error says why.
pub fn page(bytes: &[u8]) -> Result<Option<Page>, String> {
    let mut thrift = Thrift::new(bytes);
    match thrift.page() {
        Ok(page) => Ok(Some(page)),
        Err(ThriftError::End) => Ok(None),
        Err(ThriftError::Invalid(reason)) => Err(format!("invalid page header: {reason}")),
    }
}

/// Location of a column in a row group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnLocation {
    /// Number of values including nulls.
    pub values: i64,
    /// Number of the compression codec in the Parquet format.
    pub codec: i64,
    /// Size of all pages in the file in bytes.
    pub compressed: i64,
    /// Offset of the first data page.
    pub data: i64,
    /// Offset of the dictionary page.
    pub dictionary: Option<i64>,
}

/// Reads the columns of each row group from the footer of a file.
///
/// # Errors
/// If the bytes are not a footer; the error says why.
pub fn column_locations(footer: &[u8]) -> Result<Vec<Vec<ColumnLocation>>, String> {
    Thrift::new(footer)
        .column_locations()
        .map_err(ThriftError::footer_error)
}

/// Reason why reading ended early.
pub(super) enum ThriftError {
    End,
    Invalid(&'static str),
}

impl ThriftError {
    /// Returns the text of an error in a footer.
    pub(super) fn footer_error(self) -> String {
        match self {
            Self::End => "invalid footer: it is truncated".to_owned(),
            Self::Invalid(reason) => format!("invalid footer: {reason}"),
        }
    }
}

/// Integers of a struct, by field number. Booleans are 0 and 1.
type Fields = [Option<i64>; 10];

/// A reader of Thrift structs.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    /// Position of the next byte.
    pub(super) at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn page(&mut self) -> Result<Page, ThriftError> {
        let mut page_fields: Fields = [None; 10];
        let mut kind_fields: [Fields; 10] = [[None; 10]; 10];
        self.fields(&mut page_fields, Some(&mut kind_fields), 0)?;
        let need = |value: Option<i64>| {
            let value = value.ok_or(ThriftError::Invalid("a field is missing"))?;
            u32::try_from(value).map_err(|_| ThriftError::Invalid("a number is negative"))
        };
        let (kind, fields) = match page_fields[1] {
            Some(0) => (PageKind::Data, &kind_fields[5]),
            Some(2) => (PageKind::Dictionary, &kind_fields[7]),
            Some(3) => (PageKind::DataV2, &kind_fields[8]),
            Some(_) => (PageKind::Other, &kind_fields[6]),
            None => return Err(ThriftError::Invalid("a field is missing")),
        };
        let mut page = Page {
            kind,
            header: self.at,
            size: need(page_fields[2])? as usize,
            compressed: need(page_fields[3])? as usize,
            values: 0,
            encoding: 0,
            repetition: 0,
            definition: 0,
            is_compressed: true,
        };
        if kind != PageKind::Other {
            page.values = need(fields[1])?;
        }
        match kind {
            PageKind::Data => {
                page.encoding = need(fields[2])?;
                page.definition = need(fields[3])?;
                page.repetition = need(fields[4])?;
            }
            PageKind::DataV2 => {
                page.encoding = need(fields[4])?;
                page.definition = need(fields[5])?;
                page.repetition = need(fields[6])?;
                page.is_compressed = fields[7] != Some(0);
                if page.levels() > page.size.min(page.compressed) {
                    return Err(ThriftError::Invalid(
                        "the levels of a page are larger than the page",
                    ));
                }
            }
            PageKind::Dictionary | PageKind::Other => {}
        }
        Ok(page)
    }

    fn byte(&mut self) -> Result<u8, ThriftError> {
        let byte = self.bytes.get(self.at).copied().ok_or(ThriftError::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, ThriftError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(ThriftError::Invalid("a number is too long"))
    }

    fn integer(&mut self) -> Result<i64, ThriftError> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn skip_bytes(&mut self, count: u64) -> Result<(), ThriftError> {
        let count =
            usize::try_from(count).map_err(|_| ThriftError::Invalid("a length is too large"))?;
        self.at = self
            .at
            .checked_add(count)
            .ok_or(ThriftError::Invalid("a length is too large"))?;
        if self.at > self.bytes.len() {
            return Err(ThriftError::End);
        }
        Ok(())
    }

    fn fields(
        &mut self,
        found: &mut Fields,
        mut inner: Option<&mut [Fields; 10]>,
        depth: u32,
    ) -> Result<(), ThriftError> {
        self.read_struct(depth, |thrift, number, type_code| {
            let at = usize::try_from(number).ok().filter(|at| *at < 10);
            if type_code == STRUCT {
                let mut spare: Fields = [None; 10];
                let inner = inner.as_mut().zip(at).map(|(inner, at)| &mut inner[at]);
                return thrift.fields(inner.unwrap_or(&mut spare), None, depth + 1);
            }
            if let (Some(at), Some(value)) = (at, thrift.number(type_code, depth)?) {
                found[at] = Some(value);
            }
            Ok(())
        })
    }

    fn column_locations(&mut self) -> Result<Vec<Vec<ColumnLocation>>, ThriftError> {
        let mut groups = Vec::new();
        self.read_struct(0, |thrift, number, type_code| {
            if number == 2 && type_code == LIST {
                let start = thrift.at;
                if thrift.list()?.1 > MAX_ELEMENTS {
                    return Err(ThriftError::Invalid("the schema has too many columns"));
                }
                thrift.at = start;
            }
            if number != 4 || type_code != LIST {
                return thrift.skip_field(type_code, 0);
            }
            thrift.structs(|thrift| {
                let start = thrift.at;
                let mut columns = Vec::new();
                thrift.read_struct(1, |thrift, number, type_code| {
                    if number != 1 || type_code != LIST {
                        return thrift.skip_field(type_code, 1);
                    }
                    thrift.structs(|thrift| {
                        let start = thrift.at;
                        columns.push(thrift.location()?);
                        thrift.check_size(start, MIN_COLUMN)
                    })
                })?;
                groups.push(columns);
                thrift.check_size(start, MIN_ROW_GROUP)
            })
        })?;
        Ok(groups)
    }

    /// Checks that a struct has at least the size of its required fields.
    fn check_size(&self, start: usize, min: usize) -> Result<(), ThriftError> {
        if self.at - start < min {
            return Err(ThriftError::Invalid("a required field is missing"));
        }
        Ok(())
    }

    fn location(&mut self) -> Result<ColumnLocation, ThriftError> {
        let mut location = ColumnLocation::default();
        self.read_struct(2, |thrift, number, type_code| {
            if number != 3 || type_code != STRUCT {
                return thrift.skip_field(type_code, 2);
            }
            thrift.read_struct(3, |thrift, number, type_code| {
                let Some(value) = thrift.number(type_code, 3)? else {
                    return Ok(());
                };
                match number {
                    4 => location.codec = value,
                    5 => location.values = value,
                    7 => location.compressed = value,
                    9 => location.data = value,
                    11 => location.dictionary = Some(value),
                    _ => {}
                }
                Ok(())
            })
        })?;
        Ok(location)
    }

    /// Reads a list of structs by calling `each` for every struct.
    pub(super) fn structs(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        let (type_code, count) = self.list()?;
        if type_code != STRUCT && count > 0 {
            return Err(ThriftError::Invalid("a list does not contain structs"));
        }
        for _ in 0..count {
            each(self)?;
        }
        Ok(())
    }

    /// Reads a struct by calling `read` with the number and type of each field. `read` must read
    /// the field's value.
    pub(super) fn read_struct(
        &mut self,
        depth: u32,
        mut read: impl FnMut(&mut Self, i64, u8) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        if depth > MAX_DEPTH {
            return Err(ThriftError::Invalid("structs are nested too deeply"));
        }
        let mut number: i64 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                0 => self.integer()?,
                delta => number.saturating_add(i64::from(delta)),
            };
            read(self, number, head & 15)?;
        }
    }

    /// Reads the value of a numeric field, or skips the value of any other field.
    pub(super) fn number(&mut self, type_code: u8, depth: u32) -> Result<Option<i64>, ThriftError> {
        Ok(Some(match type_code {
            1 => 1,
            2 => 0,
            3 => i64::from(self.byte()?),
            4..=6 => self.integer()?,
            _ => {
                self.skip(type_code, depth)?;
                return Ok(None);
            }
        }))
    }

    pub(super) fn skip_field(&mut self, type_code: u8, depth: u32) -> Result<(), ThriftError> {
        self.number(type_code, depth).map(drop)
    }

    pub(super) fn list(&mut self) -> Result<(u8, u64), ThriftError> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        Ok((head & 15, count))
    }

    /// Skips a value of the given type, encoded as in a list.
    fn skip(&mut self, type_code: u8, depth: u32) -> Result<(), ThriftError> {
        if depth > MAX_DEPTH {
            return Err(ThriftError::Invalid("structs are nested too deeply"));
        }
        match type_code {
            1..=3 => self.skip_bytes(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip_bytes(8),
            8 => {
                let length = self.varint()?;
                self.skip_bytes(length)
            }
            LIST | 10 => {
                let (type_code, count) = self.list()?;
                for _ in 0..count {
                    self.skip(type_code, depth + 1)?;
                }
                Ok(())
            }
            STRUCT => self.read_struct(depth + 1, |thrift, _, type_code| {
                thrift.skip_field(type_code, depth + 1)
            }),
            _ => Err(ThriftError::Invalid("a field has an unknown type")),
        }
    }
}
