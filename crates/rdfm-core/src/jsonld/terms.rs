//! Terms of a message in the batch; terms that recur are mostly stored once.
//!
//! - In: checked texts. Out: term ids.
//! - Law: what a message counts does not depend on which terms it finds again: every use is charged.

use memchr::memmem::Finder;

use crate::batch::BatchBuilder;
use crate::cache::{Cache, Known};
use crate::error::LimitExceeded;
use crate::json::{Kind, View};
use crate::term::{NO_SPLIT, Term, TermId, TermKind, XSD_STRING, flags};
use crate::text::chars::{self, ESCAPE};
use crate::text::labels::Labels;
use crate::text::write;

/// Makes terms.
pub(super) struct Terms {
    cache: Cache,
    labels: Labels,
    /// Finds what begins as generated labels do.
    alike: Finder<'static>,
}

/// A result that only a limit can spoil.
type Made = Result<TermId, LimitExceeded>;

impl Terms {
    pub fn new() -> Self {
        Self {
            cache: Cache::new(),
            labels: Labels::default(),
            alike: Finder::new(b"_:_g"),
        }
    }

    /// Generated labels count from 0 again.
    pub fn begin_message(&mut self) {
        self.labels.begin_message();
    }

    #[inline]
    fn shared(
        &mut self,
        builder: &mut BatchBuilder,
        kind: TermKind,
        text: &[u8],
        flags: u8,
    ) -> Made {
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
            flags,
        });
        self.cache.set(slot, Known::new(builder, id));
        Ok(id)
    }

    /// A valid IRI.
    #[inline]
    pub fn iri(&mut self, builder: &mut BatchBuilder, text: &[u8]) -> Made {
        self.shared(builder, TermKind::Iri, text, flags::PLAIN)
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
    #[inline]
    pub fn bnode(&mut self, builder: &mut BatchBuilder, label: &[u8]) -> Made {
        if label.starts_with(b"_g") {
            return self.odd_bnode(builder, label);
        }
        self.shared(builder, TermKind::Bnode, label, flags::PLAIN)
    }

    /// The blank node of a label that may be an escape, or like a generated one.
    fn odd_bnode(&mut self, builder: &mut BatchBuilder, label: &[u8]) -> Made {
        if let Some(said) = write::read_label(label) {
            return self.shared(builder, TermKind::Bnode, &said, 0);
        }
        let mut labels = std::mem::take(&mut self.labels);
        let label = labels.given(label);
        let made = self.shared(builder, TermKind::Bnode, label, flags::PLAIN);
        self.labels = labels;
        made
    }

    /// Takes note of all labels of a message before the first node without one: lists are written
    /// without the labels of their cells, so these are generated each time, before or behind the others.
    pub fn note_labels(&mut self, view: &View<'_>) {
        let found = |text| self.alike.find(text).is_some();
        if found(view.source) || found(view.tape.texts()) {
            self.note_each_label(view);
        }
    }

    #[cold]
    fn note_each_label(&mut self, view: &View<'_>) {
        for (index, node) in view.tape.nodes().iter().enumerate() {
            if matches!(node.kind, Kind::Key | Kind::String)
                && let Some(label) = view.text(index as u32).strip_prefix(b"_:")
            {
                self.labels.note(label);
            }
        }
    }

    /// A new blank node, of the message that a view shows.
    #[inline]
    pub fn anonymous_in(&mut self, view: &View<'_>, builder: &mut BatchBuilder) -> Made {
        if self.labels.is_unused() {
            self.note_labels(view);
        }
        self.anonymous(builder)
    }

    /// A new blank node, the message's labels being noted.
    pub fn anonymous(&mut self, builder: &mut BatchBuilder) -> Made {
        builder.add_simple(TermKind::Bnode, self.labels.generated(), flags::PLAIN)
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
        let language = self.shared(builder, TermKind::Language, tag, flags::PLAIN)?;
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
