#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use super::*;

/// For each member: its name, its bytes, whether it ended, and the reason if it is rejected. The
/// second field is the error that ended reading, if any.
type Outcome = (
    Vec<(String, Vec<u8>, bool, Option<String>)>,
    Option<DecodeError>,
);

/// Collects all available parts, or those before an error.
fn take(members: &mut TarMembers, (members_read, error): &mut Outcome) {
    while error.is_none() {
        match members.take_parts() {
            Ok(parts) if parts.is_empty() => return,
            Ok(parts) => {
                for part in &parts {
                    let bytes = members.bytes(part);
                    match (&part.name, members_read.last_mut()) {
                        (Some(name), _) => {
                            let rejection = part.rejection.clone();
                            members_read.push((
                                name.clone(),
                                bytes.to_vec(),
                                part.ended,
                                rejection,
                            ));
                        }
                        (None, Some(last)) => {
                            last.1.extend_from_slice(bytes);
                            last.2 = part.ended;
                        }
                        (None, None) => panic!("bytes before the first member"),
                    }
                }
            }
            Err(found_error) => {
                assert_eq!(
                    members.take_parts().err().as_ref(),
                    Some(&found_error),
                    "the error is repeated"
                );
                *error = Some(found_error);
            }
        }
    }
}

fn in_pieces(data: &[u8], size: usize) -> Outcome {
    let mut outcome = Outcome::default();
    let mut members = TarMembers::new();
    for piece in data.chunks(size) {
        members.feed(piece);
        take(&mut members, &mut outcome);
    }
    members.finish();
    take(&mut members, &mut outcome);
    outcome
}

/// Reads an archive in one piece and in small pieces, and checks that the results are equal.
fn read(data: &[u8]) -> Outcome {
    let whole = in_pieces(data, data.len().max(1));
    for size in [1, 511, 512, 513, 4000] {
        assert_eq!(in_pieces(data, size), whole, "in pieces of {size} bytes");
    }
    whole
}

/// A header block of a member.
fn header(name: &str, kind: u8, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(EntryType::new(kind));
    header.set_size(size);
    header.set_cksum();
    header
}

/// A member: its header, its bytes, and zeros up to the next block.
fn member(name: &str, kind: u8, data: &[u8]) -> Vec<u8> {
    let mut out = header(name, kind, data.len() as u64).as_bytes().to_vec();
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    out
}

/// An archive with these members and an end mark.
fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    let mut out = members.concat();
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

/// A pax record. Its length includes its own digits.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let digits = (1..4)
        .find(|digits| (rest.len() + digits).to_string().len() == *digits)
        .unwrap_or(1);
    format!("{}{rest}", rest.len() + digits)
}

fn plain(name: &str, data: &[u8]) -> (String, Vec<u8>, bool, Option<String>) {
    (name.to_owned(), data.to_vec(), true, None)
}

#[track_caller]
fn fails(data: &[u8], class: ErrorClass, reason: &str, offset: u64) -> usize {
    let (actual, error) = read(data);
    let error = error.expect("an error");
    assert_eq!(error.class, class, "{error}");
    assert!(error.reason.text().contains(reason), "{error}");
    assert_eq!(error.position.byte_offset, Some(offset), "{error}");
    actual.len()
}

#[test]
fn files_are_returned_in_order_without_folders() {
    let data = archive(&[
        member("./a.nq", b'0', b"1"),
        member("x/", b'5', b""),
        member("old/", b'\0', b""),
        member("x/b.nq", b'\0', &[b'2'; 512]),
        member("empty.nq", b'7', b""),
    ]);
    let expected = vec![
        plain("a.nq", b"1"),
        plain("x/b.nq", &[b'2'; 512]),
        plain("empty.nq", b""),
    ];
    assert_eq!(read(&data), (expected, None));
    assert_eq!(read(&archive(&[])), (Vec::new(), None));
}

#[test]
fn a_single_block_of_zeros_ends_the_archive() {
    let mut data = archive(&[member("a.nq", b'0', b"1")]);
    data.truncate(data.len() - BLOCK);
    assert_eq!(read(&data), (vec![plain("a.nq", b"1")], None));
}

#[test]
fn long_names_and_records_apply_only_to_the_next_member() {
    let long = "y".repeat(700);
    let pax = record("path", &format!("é{long}")) + &record("size", "3");
    let data = archive(&[
        member("././@LongLink", b'L', format!("{long}\0").as_bytes()),
        member("a.nq", b'0', b"1"),
        member("pax", b'x', pax.as_bytes()),
        // The size in the records overrides the header.
        [
            header("b.nq", b'0', 0).as_bytes().as_slice(),
            b"222",
            &[0; 509],
        ]
        .concat(),
        member("global", b'g', record("path", "of-nobody").as_bytes()),
        member("c.nq", b'0', b"3"),
    ]);
    let expected = vec![
        plain(&long, b"1"),
        plain(&format!("é{long}"), b"222"),
        plain("c.nq", b"3"),
    ];
    assert_eq!(read(&data), (expected, None));
}

#[test]
fn links_devices_and_unsafe_paths_are_rejected_and_skipped() {
    let sparse = record("GNU.sparse.major", "1");
    for (before, name, kind, data, what) in [
        ("", "b.nq", b'2', "", "is a link"),
        ("", "b.nq", b'1', "", "is a link"),
        ("", "b.nq", b'3', "", "is a device or a pipe"),
        ("", "b.nq", b'6', "", "is a device or a pipe"),
        ("", "b.nq", b'S', "2", "is a sparse file"),
        (&*sparse, "b.nq", b'0', "2", "is a sparse file"),
        ("", "b.nq", b'Z', "2", "is of an unknown kind"),
        ("", "/b.nq", b'0', "2", "has an absolute path"),
        ("", "C:\\b.nq", b'0', "2", "has an absolute path"),
        ("", "x\\..\\b.nq", b'0', "2", "has a path with '..'"),
        ("", "../b", b'5', "", "has a path with '..'"),
        ("", "", b'0', "2", "has no name"),
    ] {
        let mut members = vec![member("a.nq", b'0', b"1")];
        if !before.is_empty() {
            members.push(member("pax", b'x', before.as_bytes()));
        }
        members.push(member(name, kind, data.as_bytes()));
        members.push(member("c.nq", b'0', b"3"));
        let (actual, error) = read(&archive(&members));
        assert_eq!(error, None, "{name}");
        assert_eq!(actual.len(), 3, "{name}");
        assert_eq!(actual[0], plain("a.nq", b"1"));
        assert_eq!(actual[2], plain("c.nq", b"3"));
        let (shown, bytes, ended, rejection) = &actual[1];
        assert_eq!(shown, name.trim_start_matches("./"));
        assert!(bytes.is_empty() && *ended);
        let rejection = rejection.as_ref().expect("a rejection");
        assert!(rejection.contains(what), "{name}: {rejection}");
    }
}

#[test]
fn a_large_member_is_returned_in_parts_in_constant_memory() {
    let large: Vec<u8> = (0..5_000_000_u32).map(|index| index as u8).collect();
    let small = vec![b'7'; MAX_WHOLE_BYTES as usize];
    let data = archive(&[
        member("large.nq", b'0', &large),
        member("small.nq", b'0', &small),
    ]);
    let expected = vec![plain("large.nq", &large), plain("small.nq", &small)];
    for size in [100_000, data.len()] {
        assert_eq!(in_pieces(&data, size), (expected.clone(), None));
    }
    let (mut members, mut outcome) = (TarMembers::new(), Outcome::default());
    for piece in data.chunks(100_000) {
        members.feed(piece);
        take(&mut members, &mut outcome);
        assert!(members.left() < small.len() + BLOCK);
        assert!(members.buffer.len() < small.len() + BLOCK + 100_000);
    }
}

#[test]
fn complete_members_of_a_truncated_archive_precede_the_error() {
    let data = archive(&[
        member("a.nq", b'0', &[b'1'; 600]),
        member("b.nq", b'0', &[b'2'; 600]),
    ]);
    let (all, _) = read(&data);
    for length in 0..data.len() - 2 * BLOCK {
        let (actual, error) = in_pieces(&data[..length], 700);
        assert_eq!(actual, all[..length / 1536], "{length} bytes");
        let error = error.expect("an error");
        assert_eq!(error.class, ErrorClass::Truncated);
        assert!(error.reason.text().contains("truncated"), "{error}");
    }
    let cut = &data[..512 + 600];
    fails(cut, ErrorClass::Truncated, "inside 'a.nq'", 512);
    fails(
        &data[..1536],
        ErrorClass::Truncated,
        "before its end mark",
        1536,
    );
    fails(
        &data[..300],
        ErrorClass::Truncated,
        "only 300 of the 512 bytes",
        0,
    );
}

#[test]
fn non_archives_joined_archives_and_corrupt_headers_are_errors() {
    let noise = vec![b'x'; 700];
    fails(&noise, ErrorClass::Malformed, "not a tar archive", 0);
    let one = archive(&[member("a.nq", b'0', b"1")]);
    let joined = [one.clone(), one.clone()].concat();
    let offset = one.len() as u64;
    let after = "data after the archive's end mark";
    assert_eq!(fails(&joined, ErrorClass::Malformed, after, offset), 1);
    for place in [0, 100, 130, 148, 156, 260, 500] {
        let mut corrupt = [member("a.nq", b'0', b"1"), member("b.nq", b'0', b"2")].concat();
        corrupt[1024 + place] ^= 0x15;
        let reason = "the archive is corrupt";
        assert_eq!(fails(&corrupt, ErrorClass::Malformed, reason, 1024), 1);
    }
}

#[test]
fn declared_sizes_do_not_allocate_memory() {
    for kind in [b'L', b'x', b'g', b'K'] {
        let large = header("a.nq", kind, 1 << 21);
        let reason = "the limit is 1048576";
        fails(large.as_bytes(), ErrorClass::Limit, reason, 0);
    }
    let endless = [
        header("a.nq", b'0', 1 << 60).as_bytes().as_slice(),
        &[1; 1000],
    ]
    .concat();
    let actual = fails(&endless, ErrorClass::Truncated, "inside 'a.nq'", 1512);
    assert_eq!(actual, 1, "the available part");
    let huge = header("a.nq", b'0', 1 << 62);
    let reason = "the size of a member is not a number";
    fails(huge.as_bytes(), ErrorClass::Malformed, reason, 0);
    for records in [
        record("size", "x"),
        record("size", &(1_u64 << 62).to_string()),
        "99 path=a\n".to_owned(),
        "0 path=a\n".to_owned(),
        "8 path=a\n".to_owned(),
        "10 path=ab".to_owned(),
        "7 path\n".to_owned(),
    ] {
        let data = archive(&[member("pax", b'x', records.as_bytes())]);
        let reason = "invalid pax records before a member";
        fails(&data, ErrorClass::Malformed, reason, 512);
    }
}

#[test]
fn record_values_may_contain_any_bytes() {
    let name = "a\n9 = \n=é.nq";
    let records = record("comment", "\n\n") + &record("path", name) + &record("size", "1");
    let data = archive(&[
        member("pax", b'x', records.as_bytes()),
        member("a.nq", b'0', b"1"),
    ]);
    assert_eq!(read(&data), (vec![plain(name, b"1")], None));
}

#[test]
fn nothing_is_kept_after_an_error() {
    let mut members = TarMembers::new();
    members.feed(&[b'x'; 512]);
    let error = members.take_parts().expect_err("no archive");
    for _ in 0..10 {
        members.feed(&[b'x'; 512]);
    }
    assert_eq!(members.buffer.len(), 512);
    assert_eq!(members.take_parts().err(), Some(error));
}
