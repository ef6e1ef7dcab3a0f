//! The files of `spec-fixtures` in the formats of the core.

use std::path::{Path, PathBuf};

use rdfm_core::codec::format::Format;

/// Format, path and bytes, by path.
pub fn fixtures() -> Vec<(Format, PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec-fixtures");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root).expect("spec-fixtures is there") {
        let folder = folder.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("an entry").path();
            let suffix = path.extension().and_then(|suffix| suffix.to_str());
            let name = match suffix {
                Some("rpb") => Some("rdf-protobuf"),
                Some("rt") => Some("rdf-thrift"),
                other => other,
            };
            if let Some(format) = name.and_then(Format::by_name) {
                let data = std::fs::read(&path).expect("a file");
                found.push((format, path, data));
            }
        }
    }
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found
}
