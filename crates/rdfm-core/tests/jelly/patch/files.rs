//! Reads the fixtures and the files of Jelly-JVM, and compares the patches with the expected ones.

use std::fs;
use std::path::{Path, PathBuf};

use super::{batches, read, read_with, write};
use crate::support::Options;
use crate::support::shared_path;

/// Collects the files with a suffix in a folder and its subfolders.
fn collect_files(folder: &Path, suffix: &str, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, suffix, into);
        } else if path.to_string_lossy().ends_with(suffix) {
            into.push(path);
        }
    }
    into.sort();
}

fn patches(text: &str) -> Vec<Vec<String>> {
    let all = text.split("--- patch\n").skip(1);
    all.map(|patch| patch.lines().map(str::to_owned).collect())
        .collect()
}

fn fixtures() -> Vec<(String, Vec<u8>, Vec<Vec<String>>)> {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../spec-fixtures/jelly-patch"
    );
    let mut paths = Vec::new();
    collect_files(Path::new(folder), ".jellyp", &mut paths);
    let all = paths.iter().map(|path| {
        let expected = fs::read_to_string(path.with_extension("txt")).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, fs::read(path).unwrap(), patches(&expected))
    });
    all.collect()
}

#[test]
fn fixtures_are_read() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 25);
    for (name, log, expected) in fixtures {
        let outcome = read(&log);
        assert_eq!(outcome.error, None, "{name}");
        assert_eq!(outcome.patches, expected, "{name}");
        let parts = Options::with("batch_quads", 1).parts(true);
        assert_eq!(read_with(&parts, &log), outcome, "{name} in parts");
    }
}

#[test]
fn fixtures_round_trip_in_every_stream_type() {
    for (name, log, expected) in fixtures() {
        let decoded = batches(&Options::default(), &log);
        let parts = batches(&Options::with("batch_quads", 1).parts(true), &log);
        for stream in ["frame", "flat", "punctuated"] {
            if stream == "flat" && expected.len() > 1 {
                continue;
            }
            for (rows, name_table, prefix_table) in [(256, 4000, 150), (1, 8, 4)] {
                let options = Options::with("stream_type", stream)
                    .and("statement_type", "quads")
                    .and("generalized", true)
                    .and("rdf_star", true)
                    .and("frame_rows", rows)
                    .and("name_table", name_table)
                    .and("prefix_table", prefix_table)
                    .and("datatype_table", 2);
                let (out, dropped, error) = write(&options, &decoded);
                assert_eq!((error, dropped), (None, vec![]), "{name} {stream}");
                let reread = read(&out);
                assert_eq!(reread.error, None, "{name} {stream}");
                assert_eq!(reread.patches, expected, "{name} {stream}");
                assert_eq!(write(&options, &parts).0, out, "{name} {stream} in parts");
            }
        }
    }
}

/// The words of a line of RDF Patch. Strings may contain spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for character in line.chars() {
        if character == ' ' && !quoted {
            words.push(String::new());
            continue;
        }
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        words.last_mut().unwrap().push(character);
    }
    words
}

/// Converts a line of Jena's RDF Patch to our form; `None` for the end of a segment.
fn translated(line: &str) -> Option<String> {
    const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
    let mut words = words(line);
    if words[0] == "Z" {
        return None;
    }
    for word in &mut words[1..] {
        if let Some(label) = word.strip_prefix("<_:") {
            *word = format!("_:{}", label.strip_suffix('>').unwrap());
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            let kind = if word.contains('.') {
                "decimal"
            } else {
                "integer"
            };
            *word = format!("\"{word}\"^^<{XSD}{kind}>");
        }
    }
    match words[0].as_str() {
        "H" => words[1] = format!("\"{}\"", words[1]),
        "PA" => words[2] = format!("<{}>", words[2].trim_matches('"')),
        _ => {}
    }
    Some(words.join(" "))
}

#[test]
#[ignore = "reads suites"]
fn jelly_jvm_files_are_read() {
    let Some(folder) = shared_path("conformance") else {
        return;
    };
    let mut paths = Vec::new();
    collect_files(&folder, ".jellyp", &mut paths);
    assert!(paths.len() >= 10, "{paths:?}");
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let outcome = read(&fs::read(&path).unwrap());
        let error = match name.as_str() {
            "jellypatch-error-no-options.jellyp" => {
                "the log begins with a transaction_start row, expected the patch stream options"
            }
            "jellypatch-error-stream-type-unspecified.jellyp" => "stream type 0 is not allowed",
            _ => "",
        };
        if !error.is_empty() {
            assert!(outcome.reason().contains(error), "{name}: {outcome:?}");
            continue;
        }
        assert_eq!(outcome.error, None, "{name}");
        let expected = fs::read_to_string(path.with_extension("rdfp")).unwrap();
        let expected: Vec<String> = expected.lines().filter_map(translated).collect();
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(outcome.patches.concat(), expected, "{name}");
        let count = match name.as_str() {
            "jellypatch-frame-triples.jellyp" | "jellypatch-punctuated-small-frames.jellyp" => 2,
            _ => 1,
        };
        assert_eq!(outcome.patches.len(), count, "{name}");
    }
}
