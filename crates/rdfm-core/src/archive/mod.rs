//! Splits a tar archive into members while it streams, without seeking or unpacking.
//!
//! - In: pieces of an archive (v7, ustar, GNU, pax). Out: its files in order; small files are not
//!   divided into parts.
//! - Cost: one copy of the data. Memory is bounded by one piece, one small member and one long
//!   name.
//! - Law: the way in which the bytes are cut changes only the parts of large members. An error is
//!   returned after all members before it, and again on later calls. Members other than regular
//!   files with a path inside the archive are rejected, and their names are reported.

mod name;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tar::{EntryType, Header};

use crate::model::error::{DecodeError, ErrorClass, Position, quote};

const BLOCK: usize = 512;
/// First words of the error if the first header is invalid.
const NOT_TAR: &str = "not a tar archive (or truncated)";
/// Members up to this size are returned in one part.
pub const MAX_WHOLE_BYTES: u64 = 1 << 20;
/// Maximum size of a long name, and of a block of pax records.
const MAX_RECORD_BYTES: u64 = 1 << 20;

/// A member, or a part of a large one.
#[derive(Debug)]
pub struct MemberPart {
    /// Name of the member if it begins here. Otherwise the bytes continue the previous member.
    pub name: Option<String>,
    /// Whether the member ends here.
    pub ended: bool,
    /// Reason why the member is rejected, or `None` if it is accepted.
    pub rejection: Option<String>,
    /// Range of the bytes in the buffer.
    range: Range<usize>,
}

/// The expected content at the current position.
enum ArchiveState {
    /// A header.
    Header,
    /// Bytes of a member that is returned in parts, then the padding of its last block.
    Member { left: u64, padding: u64 },
    /// Bytes to skip.
    Skip { left: u64 },
    /// A long name or pax records, with the padding of their last block.
    Records {
        kind: EntryType,
        size: usize,
        padding: usize,
    },
    /// A member that is returned in one part.
    Whole {
        name: String,
        size: usize,
        padding: usize,
    },
    /// Zeros up to the end of the input.
    End,
}

/// Splits an archive into members. Feed a piece, then call [`take_parts`](Self::take_parts) until
/// it returns an empty list. After the last piece, call [`finish`](Self::finish), then `take_parts` for
/// the remaining parts.
pub struct TarMembers {
    buffer: Vec<u8>,
    index: usize,
    /// Number of archive bytes before the buffer.
    before: u64,
    state: ArchiveState,
    /// Name of the current member, for errors.
    name: String,
    long_name: Option<Vec<u8>>,
    long_size: Option<u64>,
    sparse: bool,
    /// Whether the last block was all zeros.
    zeros: bool,
    finished: bool,
    failed: Option<DecodeError>,
}

impl Default for TarMembers {
    fn default() -> Self {
        Self::new()
    }
}

impl TarMembers {
    /// Starts at the beginning of an archive.
    pub fn new() -> Self {
        Self {
            buffer: Vec::new(),
            index: 0,
            before: 0,
            state: ArchiveState::Header,
            name: String::new(),
            long_name: None,
            long_size: None,
            sparse: false,
            zeros: false,
            finished: false,
            failed: None,
        }
    }

    /// Adds a piece of the archive, cut anywhere. Nothing is parsed yet. After an error, the piece
    /// is ignored.
    pub fn feed(&mut self, piece: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        self.before += self.index as u64;
        self.buffer.drain(..self.index);
        self.index = 0;
        self.buffer.extend_from_slice(piece);
    }

    /// Marks the end of the archive.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// Returns the bytes of a part. Valid until the next piece is fed.
    pub fn bytes(&self, part: &MemberPart) -> &[u8] {
        self.buffer.get(part.range.clone()).unwrap_or_default()
    }

    /// Number of buffered bytes that have not been consumed.
    pub fn left(&self) -> usize {
        self.buffer.len() - self.index
    }

    fn error(&self, class: ErrorClass, reason: String) -> DecodeError {
        DecodeError {
            format: "tar",
            class,
            reason: reason.into(),
            position: Position {
                byte_offset: Some(self.before + self.index as u64),
                ..Position::default()
            },
        }
    }

    /// Returns the buffered parts. An empty list means that more input is needed or, after
    /// [`finish`](Self::finish), that there are no more parts.
    ///
    /// # Errors
    /// If the archive is corrupt or truncated. The error is returned after all members before it,
    /// and again on later calls.
    pub fn take_parts(&mut self) -> Result<Vec<MemberPart>, DecodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let mut parts = Vec::new();
        if let Err(error) = self.fill(&mut parts) {
            self.failed = Some(error.clone());
            if parts.is_empty() {
                return Err(error);
            }
        }
        Ok(parts)
    }

    fn fill(&mut self, parts: &mut Vec<MemberPart>) -> Result<(), DecodeError> {
        loop {
            let here = self.left();
            let at_start = self.is_at_start();
            match &mut self.state {
                ArchiveState::Header if here >= BLOCK => self.read_header(parts)?,
                ArchiveState::Records { size, padding, .. } if here >= *size + *padding => {
                    self.read_records()?;
                }
                ArchiveState::Whole { size, padding, .. } if here >= *size + *padding => {
                    let range = self.index..self.index + *size;
                    self.index = range.end + *padding;
                    if let ArchiveState::Whole { name, .. } =
                        std::mem::replace(&mut self.state, ArchiveState::Header)
                    {
                        parts.push(MemberPart {
                            name: Some(name),
                            range,
                            ended: true,
                            rejection: None,
                        });
                    }
                }
                ArchiveState::Member { left, padding } if here > 0 => {
                    let size = (here as u64).min(*left);
                    *left -= size;
                    let (left, padding) = (*left, *padding);
                    let range = self.index..self.index + size as usize;
                    self.index = range.end;
                    parts.push(MemberPart {
                        name: None,
                        range,
                        ended: left == 0,
                        rejection: None,
                    });
                    if left == 0 {
                        self.state = ArchiveState::Skip { left: padding };
                    }
                }
                ArchiveState::Skip { left: 0 } => self.state = ArchiveState::Header,
                ArchiveState::Skip { left } if here > 0 => {
                    let size = (here as u64).min(*left);
                    *left -= size;
                    self.index += size as usize;
                }
                ArchiveState::End if here > 0 => {
                    if let Some(first_nonzero) =
                        self.buffer[self.index..].iter().position(|byte| *byte != 0)
                    {
                        self.index += first_nonzero;
                        return Err(self.error(
                            ErrorClass::Malformed,
                            "data after the archive's end mark; if several archives were joined, \
                             pass them separately"
                                .to_owned(),
                        ));
                    }
                    self.index = self.buffer.len();
                }
                _ if !self.finished => return Ok(()),
                ArchiveState::End => return Ok(()),
                // A single block of zeros ends the archive, as in other readers.
                ArchiveState::Header if self.zeros && here == 0 => return Ok(()),
                ArchiveState::Header if at_start && here > 0 => {
                    let reason = format!("{NOT_TAR}: only {here} of the {BLOCK} bytes of a header");
                    return Err(self.error(ErrorClass::Truncated, reason));
                }
                ArchiveState::Header => {
                    return Err(self.truncated_error("before its end mark"));
                }
                _ => {
                    let inside = format!("inside {}", quote(self.name.as_bytes()));
                    return Err(self.truncated_error(&inside));
                }
            }
        }
    }

    fn header_error(&self) -> DecodeError {
        let reason_text = "expected a member header, found other data";
        let reason = if self.is_at_start() {
            format!("{NOT_TAR}: {reason_text}")
        } else {
            format!("{reason_text}; the archive is corrupt")
        };
        self.error(ErrorClass::Malformed, reason)
    }

    /// Whether nothing has been consumed yet.
    fn is_at_start(&self) -> bool {
        self.before == 0 && self.index == 0
    }

    fn truncated_error(&self, location: &str) -> DecodeError {
        let reason =
            format!("the archive ends {location}; the file is truncated; get a complete copy");
        self.error(ErrorClass::Truncated, reason)
    }

    fn read_header(&mut self, parts: &mut Vec<MemberPart>) -> Result<(), DecodeError> {
        let block = &self.buffer[self.index..self.index + BLOCK];
        if block.iter().all(|byte| *byte == 0) {
            self.index += BLOCK;
            if self.zeros {
                self.state = ArchiveState::End;
            }
            self.zeros = true;
            return Ok(());
        }
        let header = Header::from_byte_slice(block);
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        let stored: u32 = block[148..156].iter().map(|byte| u32::from(*byte)).sum();
        if header.cksum().ok() != Some(sum - stored + 8 * 32) {
            return Err(self.header_error());
        }
        let kind = header.entry_type();
        let size = match header.entry_size() {
            Ok(size) if size < 1 << 62 => size,
            _ => {
                let reason = "the size of a member is not a number; the archive is corrupt";
                return Err(self.error(ErrorClass::Malformed, reason.to_owned()));
            }
        };
        let path = header.path_bytes().into_owned();
        self.zeros = false;
        if matches!(
            kind,
            EntryType::GNULongName
                | EntryType::GNULongLink
                | EntryType::XHeader
                | EntryType::XGlobalHeader
        ) {
            self.name = name::display_path(&path);
            if size > MAX_RECORD_BYTES {
                let reason = format!(
                    "the records before a member have {size} bytes; the limit is {MAX_RECORD_BYTES}"
                );
                return Err(self.error(ErrorClass::Limit, reason));
            }
            self.index += BLOCK;
            let padding = padding(size) as usize;
            self.state = ArchiveState::Records {
                kind,
                size: size as usize,
                padding,
            };
            return Ok(());
        }
        self.index += BLOCK;
        let path = self.long_name.take().unwrap_or(path);
        let size = self.long_size.take().unwrap_or(size);
        let sparse = std::mem::take(&mut self.sparse) || kind == EntryType::GNUSparse;
        let (name, rejection) = name::check_member(&path, kind, sparse);
        self.name.clone_from(&name);
        let folder =
            kind == EntryType::Directory || (kind == EntryType::Regular && path.ends_with(b"/"));
        let empty = folder
            || matches!(
                kind,
                EntryType::Link
                    | EntryType::Symlink
                    | EntryType::Char
                    | EntryType::Block
                    | EntryType::Fifo
            );
        let blocks = if empty { 0 } else { size + padding(size) };
        if let Some(rejection) = rejection {
            let range = self.index..self.index;
            parts.push(MemberPart {
                name: Some(name),
                range,
                ended: true,
                rejection: Some(rejection),
            });
            self.state = ArchiveState::Skip { left: blocks };
        } else if folder {
            self.state = ArchiveState::Skip { left: blocks };
        } else if size <= MAX_WHOLE_BYTES {
            let padding = padding(size) as usize;
            self.state = ArchiveState::Whole {
                name,
                size: size as usize,
                padding,
            };
        } else {
            let range = self.index..self.index;
            parts.push(MemberPart {
                name: Some(name),
                range,
                ended: false,
                rejection: None,
            });
            self.state = ArchiveState::Member {
                left: size,
                padding: padding(size),
            };
        }
        Ok(())
    }

    fn read_records(&mut self) -> Result<(), DecodeError> {
        let ArchiveState::Records {
            kind,
            size,
            padding,
        } = std::mem::replace(&mut self.state, ArchiveState::Header)
        else {
            return Ok(());
        };
        let data = &self.buffer[self.index..self.index + size];
        match kind {
            EntryType::GNULongName => {
                let end = data.iter().position(|byte| *byte == 0).unwrap_or(size);
                self.long_name = Some(data[..end].to_vec());
            }
            EntryType::XHeader => {
                let mut rest = data;
                while !rest.is_empty() {
                    let read = pax_record(rest).and_then(|(key, value, remaining)| {
                        if key == b"path" {
                            self.long_name = Some(value.to_vec());
                        } else if key == b"size" {
                            self.long_size = Some(std::str::from_utf8(value).ok()?.parse().ok()?);
                        } else if key.starts_with(b"GNU.sparse.") {
                            self.sparse = true;
                        }
                        rest = remaining;
                        Some(())
                    });
                    if read.is_none() || self.long_size.is_some_and(|size| size >= 1 << 62) {
                        let reason = "invalid pax records before a member; the archive is corrupt";
                        return Err(self.error(ErrorClass::Malformed, reason.to_owned()));
                    }
                }
            }
            // Links are rejected, so their targets are not needed. Global pax records are ignored.
            _ => {}
        }
        self.index += size + padding;
        Ok(())
    }
}

/// Returns the key and value of the first pax record, and the remaining data. Records begin with
/// their length because values may contain line feeds.
fn pax_record(data: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = data.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&data[..space]).ok()?.parse().ok()?;
    let record = data.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], &data[length..]))
}

/// Number of padding bytes after a member of this size.
const fn padding(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64) - size
}
