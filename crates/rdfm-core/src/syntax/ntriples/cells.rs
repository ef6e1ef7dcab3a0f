//! Terms that fill the cells of a text table, such as SPARQL results in TSV.
//!
//! - In: valid UTF-8 text that ends with the cell.
//! - Out: a term of the batch. Its size counts toward the limit of the message.
//! - Law: numbers and booleans may be abbreviated, as in Turtle. Any IRI and any language tag is
//!   accepted.

use super::lex::{Lexed, byte_at, fail_expected, skip_space};
use super::short::starts_name;
use super::statement::{StatementGrammar, StatementReader};
use crate::model::builder::LogBuilder;
use crate::model::record::Record;
use crate::model::term::TermId;

impl StatementReader {
    /// Creates a reader of cells.
    pub fn of_cells(max_depth: u32) -> Self {
        Self::new(StatementGrammar {
            graphs: false,
            generalized: true,
            lenient: true,
            max_depth,
            single_terms: true,
            abbreviations: true,
        })
    }

    /// Reads the term from a position to the end of the text.
    #[inline]
    pub fn parse_last_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
    ) -> Lexed<TermId> {
        self.extra = 0;
        // In patches, `<_:label>` is a blank node; in results, it is an IRI.
        let cell = &text[start..];
        self.grammar.abbreviations = memchr::memmem::find(cell, b"<_:").is_none();
        let index = skip_space(text, start);
        if byte_at(text, index) != b'_' && starts_name(text, index) {
            return fail_expected(
                text,
                index,
                "a full term, because prefixes cannot be declared here",
            );
        }
        let (end, id) = self.parse_lone_term(builder, text, index)?;
        if skip_space(text, end) != text.len() {
            return fail_expected(text, end, "a tab or the end of the line");
        }
        self.charge(builder, start, text.len())?;
        Ok(id)
    }
}
