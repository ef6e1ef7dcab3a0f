//! The laws of reading tar archives.
//!
//! - Pieces: cutting an archive differently changes neither the members nor the error. The error is
//!   repeated on later calls.
//! - Memory: at most a small member or a block of records is buffered, regardless of headers and of
//!   the rest of the archive.

use rdfm_core::archive::{MAX_WHOLE_BYTES, TarMembers};
use rdfm_core::model::error::DecodeError;

use crate::mutate::Random;

const BLOCK: usize = 512;
/// Number and size of additional blocks of zeros. Together they are larger than a small member.
const MORE_BLOCKS: usize = 20;
const MORE_BYTES: usize = 1 << 16;

/// A member of an archive.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the member.
    pub name: String,
    /// The bytes of all its parts.
    pub bytes: Vec<u8>,
    /// Whether the member is complete.
    pub ended: bool,
    /// The reason why the member was rejected, or `None`.
    pub rejection: Option<String>,
}

/// Applies every law to the bytes, and to the bytes with corrected checksums, so that more blocks
/// are valid headers.
pub fn any_bytes(data: &[u8]) {
    let mut random = Random::from_data(data);
    for data in [data.to_vec(), with_checksums(data)] {
        let sizes = [1, 7, BLOCK - 1, BLOCK, BLOCK + 1];
        pieces(&data, sizes[random.next_below(sizes.len())]);
        let mut cuts = Vec::new();
        let mut remaining = data.as_slice();
        while !remaining.is_empty() {
            let (piece, rest) =
                remaining.split_at(1 + random.next_below(remaining.len().min(2 * BLOCK)));
            cuts.push(piece);
            remaining = rest;
        }
        assert_eq!(read(cuts), read([data.as_slice()]), "cut anywhere");
        // This law takes as long as all others together, so only some inputs are checked.
        if random.next_below(8) == 0 {
            buffering_is_bounded(&data);
        }
    }
}

/// Reading in pieces of the given size equals reading in one piece.
pub fn pieces(data: &[u8], size: usize) {
    let cut = read(data.chunks(size));
    assert_eq!(cut, read([data]), "in pieces of {size} bytes");
}

/// At most a small member is buffered, even if the archive continues.
fn buffering_is_bounded(data: &[u8]) {
    let mut reader = Reader::default();
    reader.feed(data);
    let zeros = vec![0; MORE_BYTES];
    for _ in 0..MORE_BLOCKS {
        reader.feed(&zeros);
    }
}

/// Reads an archive in pieces. Returns its members, and the error if there is one.
pub fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Member>, Option<DecodeError>) {
    let mut reader = Reader::default();
    for piece in pieces {
        reader.feed(piece);
    }
    reader.members.finish();
    reader.take();
    (reader.read_members, reader.error)
}

/// A reader and its results so far.
#[derive(Default)]
struct Reader {
    members: TarMembers,
    read_members: Vec<Member>,
    error: Option<DecodeError>,
}

impl Reader {
    fn feed(&mut self, piece: &[u8]) {
        self.members.feed(piece);
        self.take();
        let buffered = self.members.left();
        assert!(
            self.error.is_some() || (buffered as u64) < MAX_WHOLE_BYTES + BLOCK as u64,
            "{buffered} bytes are buffered"
        );
    }

    fn take(&mut self) {
        while self.error.is_none() {
            match self.members.take_parts() {
                Ok(parts) if parts.is_empty() => return,
                Ok(parts) => {
                    for part in parts {
                        let bytes = self.members.bytes(&part).to_vec();
                        if let Some(name) = part.name {
                            self.read_members.push(Member {
                                name,
                                bytes,
                                ended: part.ended,
                                rejection: part.rejection,
                            });
                        } else {
                            let last = self
                                .read_members
                                .last_mut()
                                .expect("the bytes belong to a member");
                            assert!(!last.ended, "bytes after the end of a member");
                            last.bytes.extend(bytes);
                            last.ended = part.ended;
                        }
                    }
                }
                Err(error) => {
                    assert_eq!(self.members.take_parts().err().as_ref(), Some(&error));
                    self.error = Some(error);
                }
            }
        }
    }
}

/// Writes a valid checksum into each block that is not all zeros. Without it, most changes to a
/// header would cause the same error.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let (blocks, _) = data.as_chunks_mut::<BLOCK>();
    for block in blocks {
        if block.iter().any(|byte| *byte != 0) {
            block[148..156].fill(b' ');
            let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
            block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
    data
}
