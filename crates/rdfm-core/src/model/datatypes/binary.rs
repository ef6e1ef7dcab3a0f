//! Lexical forms of binary data.

/// Whether a string consists of pairs of hexadecimal digits.
pub fn is_hex(text: &[u8]) -> bool {
    text.len().is_multiple_of(2) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Whether a string is Base64: groups of four characters, with at most one space between any two
/// characters. The unused bits of the last group must be zero.
pub fn is_base64(text: &[u8]) -> bool {
    let mut count = 0_usize;
    let mut padding = 0_usize;
    let mut last = 0;
    let mut space = true; // rejects a leading space
    for &byte in text {
        if byte == b' ' {
            if space {
                return false;
            }
            space = true;
            continue;
        }
        space = false;
        if byte == b'=' {
            padding += 1;
            continue;
        }
        if padding > 0 {
            return false;
        }
        last = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        count += 1;
    }
    let unused = match padding {
        0 => 0,
        1 => 0b11,
        2 => 0b1111,
        _ => return false,
    };
    (text.is_empty() || !space)
        && (count + padding).is_multiple_of(4)
        && (padding == 0 || count > 0)
        && last & unused == 0
}
