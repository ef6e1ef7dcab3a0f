//! Terms of a message in the batch; terms that recur are mostly stored once.
//!
//! - In: checked texts. Out: term ids.
//! - Law: what a message counts does not depend on which terms it finds again: every use is charged.

use crate::batch::BatchBuilder;
use crate::cache::{Cache, Known};
use crate::error::LimitExceeded;
use crate::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::text::chars::{self, ESCAPE};

/// Makes terms.
pub(super) struct Terms {
    cache: Cache,
    anonymous: u64,
}

/// A result that only a limit can spoil.
type Made = Result<TermId, LimitExceeded>;

impl Terms {
    pub fn new() -> Self {
        Self {
            cache: Cache::new(),
            anonymous: 0,
        }
    }

    /// Generated labels count from 0 again.
    pub fn begin_message(&mut self) {
        self.anonymous = 0;
    }

    #[inline]
    fn shared(&mut self, builder: &mut BatchBuilder, kind: TermKind, text: &[u8]) -> Made {
        builder.charge(text.len() + 16)?;
        let slot = Cache::slot(kind, text);
        let known = self.cache.get(slot);
        if known.is(builder, kind, text) {
            return Ok(known.id);
        }
        let offset = builder.append_text(text);
        let id = builder.push_term(Term {
            offset,
            length: text.len() as u32,
            aux: 0,
            split: NO_SPLIT,
            kind,
            flags: flags::PLAIN,
        });
        self.cache.set(slot, Known::new(builder, id));
        Ok(id)
    }

    /// A valid IRI.
    #[inline]
    pub fn iri(&mut self, builder: &mut BatchBuilder, text: &[u8]) -> Made {
        self.shared(builder, TermKind::Iri, text)
    }

    /// An IRI that was mostly met before: `known` remembers it.
    #[inline]
    pub fn iri_again(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        known: &mut Known,
    ) -> Made {
        if known.is(builder, TermKind::Iri, text) {
            builder.charge(text.len() + 16)?;
            return Ok(known.id);
        }
        let id = self.iri(builder, text)?;
        *known = Known::new(builder, id);
        Ok(id)
    }

    /// The blank node of a label that a user wrote, without its `_:`.
    pub fn bnode(&mut self, builder: &mut BatchBuilder, label: &[u8]) -> Made {
        if let Some(rest) = label.strip_prefix(b"_g") {
            // `_g<n>` are the labels of nodes without one.
            let text = [b"_gu", rest].concat();
            return self.shared(builder, TermKind::Bnode, &text);
        }
        self.shared(builder, TermKind::Bnode, label)
    }

    /// A new blank node.
    pub fn anonymous(&mut self, builder: &mut BatchBuilder) -> Made {
        let mut digits = [0u8; 24];
        let mut at = digits.len();
        let mut number = self.anonymous;
        self.anonymous += 1;
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        digits[at - 2..at].copy_from_slice(b"_g");
        builder.add_simple(TermKind::Bnode, &digits[at - 2..], flags::PLAIN)
    }

    /// A string; `clean` says that it holds neither quotes, backslashes nor C0 controls.
    #[inline]
    pub fn string(builder: &mut BatchBuilder, text: &[u8], clean: bool) -> Made {
        builder.add_simple(TermKind::Literal, text, plain(text, clean))
    }

    /// A string in a language.
    #[inline]
    pub fn tagged(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        clean: bool,
        tag: &[u8],
        direction: u8,
    ) -> Made {
        let language = self.shared(builder, TermKind::Language, tag)?;
        let flags = plain(text, clean) | direction;
        builder.add_with_aux(TermKind::LangLiteral, text, language.0, flags)
    }

    /// A literal of a datatype.
    #[inline]
    pub fn typed(
        &mut self,
        builder: &mut BatchBuilder,
        text: &[u8],
        clean: bool,
        datatype: &[u8],
    ) -> Made {
        if datatype == XSD_STRING {
            return Self::string(builder, text, clean);
        }
        let datatype = self.iri(builder, datatype)?;
        builder.add_with_aux(TermKind::TypedLiteral, text, datatype.0, plain(text, clean))
    }
}

#[inline]
fn plain(text: &[u8], clean: bool) -> u8 {
    let plain = if clean {
        memchr::memchr(0x7f, text).is_none()
    } else {
        !text.iter().any(|&byte| chars::is(byte, ESCAPE))
    };
    if plain { flags::PLAIN } else { 0 }
}
