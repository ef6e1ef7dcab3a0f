//! Rows in their usual encoding are decoded like the same rows in an unusual encoding.

use rdfm_core::codec::Parts;

use crate::jelly::model::outcome;
use crate::jelly::wire::{bytes, datatype, frame, iri, name, number, options, prefix, row, varint};
use crate::support::{Options, decoder};

/// Pseudorandom rows.
struct Random {
    state: u32,
    /// Whether some rows are damaged.
    damages: bool,
}

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        (self.state >> 8) % bound
    }

    fn one_in(&mut self, number: u32) -> bool {
        self.below(number) == 0
    }

    fn text(&mut self) -> String {
        let bound = if self.one_in(4) { 150 } else { 40 };
        let length = self.below(bound) as usize;
        let text = "x".repeat(length);
        match self.below(12) {
            0 => format!("{text}\""),
            1 => format!("ż {text}"),
            _ => text,
        }
    }

    /// An id that is nearly always defined.
    fn id(&mut self, defined: u32) -> u64 {
        u64::from(if self.damages && self.one_in(300) {
            self.below(400)
        } else {
            self.below(defined) + 1
        })
    }

    fn iri(&mut self) -> Vec<u8> {
        let (prefix, name) = (self.id(3), self.id(200));
        match self.below(9) {
            0 => number(1, prefix),
            1 | 2 => number(2, name),
            3 => Vec::new(),
            4 => [number(2, name), number(1, prefix)].concat(),
            _ => iri(prefix, name),
        }
    }

    fn literal(&mut self) -> Vec<u8> {
        let text = bytes(1, self.text());
        match self.below(4) {
            0 => [text, bytes(2, "en")].concat(),
            1 => text,
            _ => [text, number(3, self.id(2))].concat(),
        }
    }

    fn statement(&mut self, quads: bool) -> Vec<u8> {
        let mut fields = Vec::new();
        for position in 0..if quads { 4 } else { 3 } {
            let field = 4 * position;
            match self.below(9) {
                0 => fields.push(bytes(field + 2, "b")),
                1..=4 => fields.push(bytes(field + 1, self.iri())),
                5 | 6 if position == 2 => fields.push(bytes(field + 3, self.literal())),
                _ => {}
            }
        }
        if self.one_in(60) {
            fields.reverse();
        }
        if self.one_in(60) {
            fields.push(bytes(13, self.iri()));
        }
        fields.concat()
    }

    /// Returns the field number and the payload of a row.
    fn row(&mut self, quads: bool) -> (u64, Vec<u8>) {
        let kind = if quads { 3 } else { 2 };
        let (field, mut payload) = match self.below(12) {
            0..=2 => {
                let text = bytes(2, self.text());
                let id = self.id(200);
                let entry = match self.below(8) {
                    0..4 => text,
                    4..7 => [number(1, id), text].concat(),
                    _ => [text, number(1, id)].concat(),
                };
                (9, entry)
            }
            3 => (10, [number(1, self.id(3)), bytes(2, self.text())].concat()),
            _ => (kind, self.statement(quads)),
        };
        if self.damages && self.one_in(200) && !payload.is_empty() {
            let index = self.below(payload.len() as u32) as usize;
            payload[index] = self.below(256) as u8;
        }
        (field, payload)
    }
}

/// A row whose length has one byte more than necessary.
fn padded(field: u64, payload: &[u8]) -> Vec<u8> {
    let content = bytes(field, payload);
    let mut length = varint(content.len() as u64);
    *length.last_mut().unwrap() |= 0x80;
    length.push(0);
    [vec![0x0a], length, content].concat()
}

/// Removes the position from an error, because the positions differ.
fn reason(error: &str) -> &str {
    error.rsplit_once(" (").map_or(error, |(reason, _)| reason)
}

#[test]
fn usual_and_unusual_encodings_have_equal_results() {
    let (mut complete, mut failed) = (0, 0);
    for seed in 0..600 {
        let mut random = Random {
            state: seed,
            damages: seed % 2 == 0,
        };
        let quads = random.one_in(2);
        let types = [number(9, 320), number(10, 8), number(11, 8)];
        let mut usual = vec![options(if quads { 2 } else { 1 }, &types)];
        usual.extend((1..=3).map(|id| prefix(id, &format!("http://e/{id}/"))));
        usual.extend((1..=300).map(|id| name(id, &format!("n{id}"))));
        usual.extend((1..=2).map(|id| datatype(id, &format!("http://d/{id}"))));
        let first = [bytes(2, "s"), bytes(6, "p"), bytes(10, "o"), bytes(14, "g")];
        let terms = if quads { 4 } else { 3 };
        usual.push(row(if quads { 3 } else { 2 }, first[..terms].concat()));
        let mut unusual = usual.clone();
        for _ in 0..300 {
            let (field, payload) = random.row(quads);
            usual.push(row(field, &payload));
            unusual.push(padded(field, &payload));
        }
        let mut settings = match random.below(3) {
            0 => Options::with("max_message_bytes", 20_000),
            _ => Options::default(),
        };
        if random.one_in(3) {
            settings.opening.parts = Parts::Always;
        }
        let mut decoder = decoder("jelly", &settings).unwrap();
        let mut decode = |rows: &[Vec<u8>], piece: usize| {
            decoder.reset();
            let (messages, error) = outcome(&mut *decoder, &frame(rows), piece);
            (messages, error.map(|error| reason(&error).to_owned()))
        };
        let expected = decode(&unusual, usize::MAX);
        for piece in [usize::MAX, 500] {
            assert_eq!(decode(&usual, piece), expected, "seed {seed}");
        }
        match expected.1 {
            None => complete += 1,
            Some(_) => failed += 1,
        }
    }
    assert!(complete > 150 && failed > 150, "{complete}, {failed}");
}
