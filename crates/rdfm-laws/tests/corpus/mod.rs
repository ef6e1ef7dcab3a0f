//! The files of `spec-fixtures` in the formats of the core.

use std::path::{Path, PathBuf};

use rdfm_core::registry::FORMATS;

/// Format name, path and bytes of each file, sorted by path.
pub fn fixtures() -> Vec<(&'static str, PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec-fixtures");
    let mut actual = Vec::new();
    for folder in std::fs::read_dir(root).expect("spec-fixtures exists") {
        let folder = folder.expect("an entry").path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(folder).expect("a folder") {
            let path = file.expect("an entry").path();
            let name = path.to_string_lossy();
            let format = FORMATS
                .into_iter()
                .find(|format| format.suffixes.iter().any(|suffix| name.ends_with(suffix)));
            if let Some(format) = format {
                let data = std::fs::read(&path).expect("a file");
                actual.push((format.name, path, data));
            }
        }
    }
    actual.sort_by(|a, b| a.1.cmp(&b.1));
    actual
}
