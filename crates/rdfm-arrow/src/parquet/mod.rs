//! Bounds the size of Parquet columns before they are decoded, and joins row groups into files
//! ([`Joiner`]).
//!
//! - In: page headers, and decompressed pages if the headers are not sufficient. Out: bounds on the
//!   decoded size of the column, and of aligned groups of 1, 2, 4 … rows.
//! - Cost: headers are read in place; scanning a page takes a few nanoseconds per value. Memory use
//!   does not grow with the declared number of values or rows.
//! - Law: the decoded size of a batch of rows never exceeds the bound, regardless of what the file
//!   declares.

mod delta;
mod header;
mod join;
mod runs;
mod windows;

use self::delta::Delta;
pub use self::header::{Page, PageKind, column_locations, page};
pub use self::join::Joiner;
use self::runs::Runs;
use self::windows::{LEVELS, Windows};

/// Memory overhead of a value in bytes, in addition to its text: levels, offset, validity.
const OVERHEAD: u64 = 16;

const PLAIN: u32 = 0;
const PLAIN_DICTIONARY: u32 = 2;
const BIT_PACKED: u32 = 4;
const DELTA_BYTE_ARRAY: u32 = 7;
const RLE_DICTIONARY: u32 = 8;

/// The shape of a column's values.
#[derive(Clone, Copy, Debug)]
pub struct Leaf {
    /// Highest definition level, which is the level of non-null values.
    pub max_definition: u32,
    /// Highest repetition level; 0 for columns without lists.
    pub max_repetition: u32,
    /// Size of each value in bytes, or `None` for strings.
    pub width: Option<u64>,
}

/// The pages of one column in a row group.
#[derive(Debug)]
pub struct Chunk {
    leaf: Leaf,
    pages: Vec<(u64, Page)>,
    dictionary: Option<(u64, Page)>,
    /// Lengths of the dictionary entries, after a scan of the dictionary.
    lengths: Option<Vec<u32>>,
    /// Decoded size in bytes of the pages that expand, after a scan of these pages.
    expanded: Option<u64>,
    values: u64,
    seen: u64,
    largest: u64,
    /// Maximum size of a row in bytes.
    limit: u64,
    windows: Windows,
    row: u64,
    row_bytes: u64,
    open: bool,
    too_large: Option<u64>,
}

impl Chunk {
    /// Creates a chunk with `values` declared values and rows of at most `limit` bytes.
    pub fn new(leaf: Leaf, values: u64, limit: u64) -> Self {
        Self {
            leaf,
            pages: Vec::new(),
            dictionary: None,
            lengths: None,
            expanded: None,
            values,
            seen: 0,
            largest: 0,
            limit,
            windows: Windows::default(),
            row: 0,
            row_bytes: 0,
            open: false,
            too_large: None,
        }
    }

    /// Whether all pages have been added.
    pub const fn is_complete(&self) -> bool {
        self.seen >= self.values
    }

    /// Adds the page whose header starts at this offset in the file.
    ///
    /// # Errors
    /// If the header is inconsistent; the error says why.
    pub fn add(&mut self, offset: u64, page: Page) -> Result<(), String> {
        let at = offset + page.header as u64;
        match page.kind {
            PageKind::Dictionary => {
                // The decoder reserves memory for the entries before it reads them.
                if u64::from(page.values) * self.leaf.width.unwrap_or(4) > page.size as u64 {
                    return Err(format!(
                        "a dictionary of {} bytes declares {} entries",
                        page.size, page.values
                    ));
                }
                self.dictionary = Some((at, page));
            }
            PageKind::Data | PageKind::DataV2 => {
                self.seen += u64::from(page.values);
                let mut open = page.open_bytes();
                if !matches!(page.encoding, PLAIN | PLAIN_DICTIONARY | RLE_DICTIONARY) {
                    // The decoder reads all lengths of a page at once.
                    open += 8 * u64::from(page.values);
                }
                self.largest = self.largest.max(open);
                self.pages.push((at, page));
            }
            PageKind::Other => {}
        }
        Ok(())
    }

    /// Returns the total size in bytes of the pages that are in memory at the same time.
    pub fn page_bytes(&self) -> u64 {
        let dictionary = self.dictionary.as_ref().map_or(0, |(_, page)| {
            2 * page.open_bytes() + 16 * u64::from(page.values)
        });
        self.largest + dictionary
    }

    /// Returns an upper bound on the total size of all rows in bytes.
    pub fn bound(&self) -> u64 {
        let overhead = self.seen.saturating_mul(OVERHEAD);
        if let Some(width) = self.leaf.width {
            return overhead.saturating_add(self.seen.saturating_mul(width));
        }
        let longest = match (&self.lengths, &self.dictionary) {
            (Some(lengths), _) => u64::from(lengths.iter().copied().max().unwrap_or(0)),
            (None, Some((_, page))) => page.size as u64,
            (None, None) => 0,
        };
        let text_bytes = |page: &Page| {
            let values = u64::from(page.values);
            match page.encoding {
                _ if self.expanded.is_some() && expands(page) => 0,
                PLAIN_DICTIONARY | RLE_DICTIONARY => values.saturating_mul(longest),
                DELTA_BYTE_ARRAY => values.saturating_mul(page.size as u64),
                _ => page.size as u64,
            }
        };
        let texts = self.pages.iter().map(|(_, page)| text_bytes(page));
        texts
            .fold(overhead, u64::saturating_add)
            .saturating_add(self.expanded.unwrap_or(0))
    }

    /// Returns the dictionary page and the offset of its bytes, or `None` if no dictionary needs to
    /// be scanned.
    pub const fn dictionary(&self) -> Option<&(u64, Page)> {
        match (&self.lengths, self.leaf.width) {
            (None, None) => self.dictionary.as_ref(),
            _ => None,
        }
    }

    /// Returns the data pages and the offsets of their bytes.
    pub fn pages(&self) -> &[(u64, Page)] {
        &self.pages
    }

    /// Whether the values of a page may be larger than the page.
    pub fn expands(&self, page: usize) -> bool {
        self.leaf.width.is_none() && expands(&self.pages[page].1)
    }

    /// Whether a page must be scanned to count its rows.
    pub fn needs_scan(&self, page: usize) -> bool {
        self.leaf.max_repetition > 0 || self.expands(page)
    }

    /// Reads the lengths of the dictionary entries.
    ///
    /// # Errors
    /// If the dictionary ends early.
    pub fn scan_dictionary(&mut self, bytes: &[u8]) -> Result<(), String> {
        let count = self.dictionary.as_ref().map_or(0, |(_, page)| page.values);
        let mut texts = Plain(bytes);
        let lengths: Option<Vec<u32>> = (0..count).map(|_| texts.next()).collect();
        self.lengths = Some(lengths.ok_or("a dictionary ends early")?);
        Ok(())
    }

    /// Starts a scan of the pages in order.
    pub fn begin(&mut self) {
        self.windows = Windows::default();
        (self.row, self.row_bytes, self.open) = (0, 0, false);
        self.expanded = Some(0);
        self.too_large = None;
    }

    /// Counts the rows of a page that does not have to be read, because it has no lists and does
    /// not expand.
    pub fn skip_page(&mut self, page: usize) {
        let page = &self.pages[page].1;
        let (values, width) = (u64::from(page.values), self.leaf.width);
        let (row_bytes, shared_bytes) = width.map_or((0, page.size as u64), |width| (width, 0));
        let row_bytes = row_bytes.saturating_add(OVERHEAD);
        self.windows
            .spread(self.row, values, row_bytes, shared_bytes);
        self.row += values;
    }

    /// Scans a page. If a row is too large, the scan ends and the result is false.
    ///
    /// # Errors
    /// If the page is truncated, or refers to entries that are not in the dictionary.
    pub fn scan(&mut self, page: usize, bytes: &[u8]) -> Result<bool, String> {
        let page = self.pages[page].1.clone();
        let early = || "a page is truncated".to_owned();
        let (repetitions, definitions, values) = self.parts(&page, bytes).ok_or_else(early)?;
        let (mut repetitions, mut definitions) = (repetitions, definitions);
        let lengths = self.lengths.take().unwrap_or_default();
        let mut texts = match self.leaf.width {
            Some(width) => PageTexts::Fixed(width),
            None => PageTexts::new(page.encoding, values, &lengths).ok_or_else(early)?,
        };
        let mut expanded = 0;
        let mut done = Ok(true);
        for _ in 0..page.values {
            let level = repetitions.as_mut().map_or(Some(0), Iterator::next);
            let defined = definitions.as_mut();
            let defined = defined.map_or(Some(self.leaf.max_definition), Iterator::next);
            let (Some(level), Some(defined)) = (level, defined) else {
                done = Err(early());
                break;
            };
            let text = if defined == self.leaf.max_definition {
                texts.next()
            } else {
                Some(0)
            };
            let Some(text) = text else {
                done = Err(early());
                break;
            };
            expanded += text;
            if level == 0 {
                self.end_row();
                self.open = true;
            }
            self.row_bytes += text + OVERHEAD;
            if self.row_bytes > self.limit {
                self.too_large = Some(self.row);
                done = Ok(false);
                break;
            }
        }
        self.expanded = Some(self.expanded.unwrap_or(0).saturating_add(expanded));
        self.lengths = Some(lengths);
        if self.leaf.max_repetition == 0 && matches!(done, Ok(true)) {
            self.end_row();
        }
        done
    }

    /// Ends the scan.
    pub fn finish(&mut self) {
        if self.too_large.is_none() {
            self.end_row();
        }
    }

    /// Returns the maximum size in bytes of aligned groups of 1, 2, 4 … scanned rows.
    pub fn windows(&self) -> [u64; LEVELS] {
        self.windows.largest()
    }

    /// Returns the index of the row that is too large, if any.
    pub const fn too_large(&self) -> Option<u64> {
        self.too_large
    }

    fn end_row(&mut self) {
        if self.open {
            self.windows.add(self.row, self.row_bytes);
            self.row += 1;
            (self.row_bytes, self.open) = (0, false);
        }
    }

    /// Splits a page into repetition levels, definition levels and values.
    #[allow(clippy::type_complexity, reason = "three parts of one page")]
    fn parts<'a>(
        &self,
        page: &Page,
        bytes: &'a [u8],
    ) -> Option<(Option<Runs<'a>>, Option<Runs<'a>>, &'a [u8])> {
        let mut rest = bytes;
        let mut levels = |max: u32, encoding: u32, length: usize| {
            if page.kind == PageKind::DataV2 {
                let (levels, after) = rest.split_at_checked(length)?;
                rest = after;
                return Some((max > 0).then(|| Runs::new(levels, width(max))));
            }
            if max == 0 {
                return Some(None);
            }
            let length = if encoding == BIT_PACKED {
                (page.values as usize * width(max) as usize).div_ceil(8)
            } else {
                let (length, after) = rest.split_first_chunk::<4>()?;
                rest = after;
                u32::from_le_bytes(*length) as usize
            };
            let (levels, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(Some(if encoding == BIT_PACKED {
                Runs::big_endian(levels, width(max))
            } else {
                Runs::new(levels, width(max))
            }))
        };
        let (encoding, length) = (page.repetition, page.repetition as usize);
        let repetitions = levels(self.leaf.max_repetition, encoding, length)?;
        let (encoding, length) = (page.definition, page.definition as usize);
        let definitions = levels(self.leaf.max_definition, encoding, length)?;
        Some((repetitions, definitions, rest))
    }
}

const fn expands(page: &Page) -> bool {
    matches!(
        page.encoding,
        PLAIN_DICTIONARY | RLE_DICTIONARY | DELTA_BYTE_ARRAY
    )
}

/// Returns the number of bits per level.
const fn width(max: u32) -> u32 {
    u32::BITS - max.leading_zeros()
}

/// An iterator over the lengths of length-prefixed strings.
struct Plain<'a>(&'a [u8]);

impl Iterator for Plain<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        self.0 = rest.get(length as usize..)?;
        Some(length)
    }
}

/// An iterator over the lengths of a page's values.
enum PageTexts<'a> {
    Fixed(u64),
    Plain(Plain<'a>),
    Dictionary(Runs<'a>, &'a [u32]),
    Lengths(Delta<'a>),
    Prefixes(Delta<'a>, Delta<'a>),
    /// A page without strings, or with an encoding that does not apply to strings.
    Nothing,
}

impl<'a> PageTexts<'a> {
    fn new(encoding: u32, bytes: &'a [u8], lengths: &'a [u32]) -> Option<Self> {
        // A page of nulls may have an empty values section.
        if bytes.is_empty() {
            return Some(Self::Nothing);
        }
        Some(match encoding {
            PLAIN => Self::Plain(Plain(bytes)),
            PLAIN_DICTIONARY | RLE_DICTIONARY => {
                let (width, indices) = bytes.split_first()?;
                Self::Dictionary(Runs::new(indices, u32::from(*width).min(32)), lengths)
            }
            DELTA_BYTE_ARRAY => {
                let prefixes = Delta::new(bytes)?;
                let after = prefixes.clone().end()?;
                Self::Prefixes(prefixes, Delta::new(bytes.get(after..)?)?)
            }
            _ => Self::Lengths(Delta::new(bytes)?),
        })
    }

    fn next(&mut self) -> Option<u64> {
        match self {
            Self::Fixed(width) => Some(*width),
            Self::Plain(texts) => texts.next().map(u64::from),
            Self::Dictionary(runs, lengths) => {
                let index = runs.next()?;
                lengths.get(index as usize).copied().map(u64::from)
            }
            Self::Lengths(lengths) => lengths.next()?.try_into().ok(),
            Self::Prefixes(prefixes, suffixes) => {
                let length = prefixes.next()?.checked_add(suffixes.next()?)?;
                length.try_into().ok()
            }
            Self::Nothing => None,
        }
    }
}
