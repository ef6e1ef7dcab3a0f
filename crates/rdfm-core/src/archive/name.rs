//! Determines the names of archive members, and the reasons to reject some of them.
//!
//! - In: the path and the kind from a header. Out: a name, and the reason if the member is
//!   rejected.
//! - Law: only regular files with a path inside the archive are read. Folders have no content.

use tar::EntryType;

/// Returns the name of a member, and the reason if it is rejected.
pub(super) fn check_member(path: &[u8], kind: EntryType, sparse: bool) -> (String, Option<String>) {
    let path = strip_dot_slash(path);
    // Bytes that are not UTF-8 are escaped last, because a backslash is a path separator here.
    let name = String::from_utf8_lossy(path);
    let drive = name.as_bytes().get(1) == Some(&b':')
        && matches!(name.as_bytes().get(2), Some(b'/' | b'\\'));
    let description = match kind {
        EntryType::Link | EntryType::Symlink => Some("is a link"),
        EntryType::Char | EntryType::Block | EntryType::Fifo => Some("is a device or a pipe"),
        EntryType::Regular | EntryType::Continuous | EntryType::Directory if !sparse => None,
        _ if sparse => Some("is a sparse file"),
        _ => Some("is of an unknown kind"),
    };
    let description = if name.starts_with(['/', '\\']) || drive {
        Some("has an absolute path")
    } else if name.split(['/', '\\']).any(|part| part == "..") {
        Some("has a path with '..'")
    } else if name.is_empty() && kind != EntryType::Directory {
        Some("has no name")
    } else {
        description
    };
    let rejection = description.map(|description| {
        format!("rdfm does not read this member because it {description}; pack only regular files with relative paths")
    });
    (display_path(path), rejection)
}

/// Removes all leading `./` from a path.
fn strip_dot_slash(mut path: &[u8]) -> &[u8] {
    while let Some(rest) = path.strip_prefix(b"./") {
        path = rest;
    }
    path
}

/// Returns a path as text, with each byte that is not UTF-8 as `\xNN`.
pub(super) fn display_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}
