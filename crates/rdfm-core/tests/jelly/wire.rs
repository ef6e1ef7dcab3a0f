//! Hand-made Jelly: fields, rows and frames as bytes.

pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A varint field.
pub fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A string, bytes or message field.
pub fn bytes(field: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    [
        varint(field << 3 | 2),
        varint(payload.len() as u64),
        payload.to_vec(),
    ]
    .concat()
}

/// A row with one field.
pub fn row(field: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    bytes(1, bytes(field, payload))
}

/// A frame with its length prefix.
pub fn frame(fields: &[Vec<u8>]) -> Vec<u8> {
    let payload = fields.concat();
    [varint(payload.len() as u64), payload].concat()
}

/// A stream options row with the given physical type, and added or replaced fields.
pub fn options(physical: u64, more: &[Vec<u8>]) -> Vec<u8> {
    let fields = [
        number(2, physical),
        number(9, 16),
        number(10, 4),
        number(11, 4),
        number(15, 1),
    ];
    row(1, [fields.concat(), more.concat()].concat())
}

pub fn name(id: u64, text: &str) -> Vec<u8> {
    row(9, [number(1, id), bytes(2, text)].concat())
}

pub fn prefix(id: u64, text: &str) -> Vec<u8> {
    row(10, [number(1, id), bytes(2, text)].concat())
}

pub fn datatype(id: u64, text: &str) -> Vec<u8> {
    row(11, [number(1, id), bytes(2, text)].concat())
}

pub fn iri(prefix: u64, name: u64) -> Vec<u8> {
    [number(1, prefix), number(2, name)].concat()
}

/// A triple row of blank nodes.
pub fn blank_nodes(s: &str, p: &str, o: &str) -> Vec<u8> {
    row(2, [bytes(2, s), bytes(6, p), bytes(10, o)].concat())
}
