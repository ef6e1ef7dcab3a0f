//! Checks the laws of tar archives on random changes to an archive. This is a short version of the
//! fuzz target for stable Rust.

use rdfm_laws::archive::{any_bytes, read};
use rdfm_laws::mutate::Random;

const BLOCK: usize = 512;

/// A ustar member with its checksum.
fn member(name: &str, kind: u8, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0; BLOCK];
    out[..name.len()].copy_from_slice(name.as_bytes());
    out[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
    out[148..156].fill(b' ');
    out[156] = kind;
    out[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = out.iter().map(|byte| u32::from(*byte)).sum();
    out[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.extend_from_slice(data);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
    out
}

fn archive() -> Vec<u8> {
    let mut out = [
        member("a.nq", b'0', b"<http://e/s> <http://e/p> '1' .\n"),
        member("pax", b'x', b"13 path=b.nq\n9 size=2\n"),
        member("x", b'0', b"22"),
        member("././@LongLink", b'L', b"long/name.ttl\0"),
        member("c.ttl", b'0', &[b'3'; 700]),
        member("d", b'2', b""),
        member("folder/", b'5', b""),
    ]
    .concat();
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

#[test]
fn the_unchanged_archive_is_valid() {
    let (members, error) = read([archive().as_slice()]);
    assert_eq!(error, None);
    let names: Vec<&str> = members.iter().map(|member| &*member.name).collect();
    assert_eq!(names, ["a.nq", "b.nq", "long/name.ttl", "d"]);
}

#[test]
fn random_changes_do_not_break_any_law() {
    let whole = archive();
    let mut random = Random::new(1);
    for seed in 0..500 {
        let mut data = whole.clone();
        for _ in 0..=random.next_below(4) {
            // Most changes are in header fields.
            let block = random.next_below(data.len() / BLOCK) * BLOCK;
            let index = match random.next_below(3) {
                0 => block + random.next_below(BLOCK),
                1 => block + 124 + random.next_below(12),
                _ => block + 156,
            };
            data[index] = random.next_bits().to_le_bytes()[0];
        }
        if random.next_below(4) == 0 {
            data.truncate(random.next_below(data.len()));
        }
        let result = std::panic::catch_unwind(|| any_bytes(&data));
        assert!(
            result.is_ok(),
            "input {seed}: a law is broken by b\"{}\"",
            data.escape_ascii()
        );
    }
}
