//! Terms that fill the cells of a text table, such as SPARQL results in TSV.
//!
//! - In: valid UTF-8 text that ends with the cell.
//! - Out: a term of the batch. Its size counts toward the limit of the message.
//! - Law: numbers and booleans may be abbreviated, as in Turtle. Any IRI and any language tag is
//!   accepted.

use super::lex::{Lexed, byte_at, fail_expected, skip_space};
use super::short::starts_name;
use super::statement::{StatementGrammar, StatementReader, TermPosition};
use crate::model::builder::LogBuilder;
use crate::model::record::Record;
use crate::model::term::TermId;
use crate::syntax::cache::RecentTerm;

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

    /// Reads the term of a column, from a position to the end of the text.
    #[inline]
    pub fn parse_last_term<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
        column: usize,
    ) -> Lexed<TermId> {
        self.extra = 0;
        let guess = self.begin_column(column);
        let id = match self.find_cell(builder, &text[start..], guess) {
            Some(id) => id,
            None => self.parse_unknown_cell(builder, text, start, guess)?,
        };
        self.follow_object(builder, id, guess);
        self.charge(builder, start, text.len())?;
        Ok(id)
    }

    fn parse_unknown_cell<R: Record>(
        &mut self,
        builder: &mut LogBuilder<R>,
        text: &[u8],
        start: usize,
        guess: RecentTerm,
    ) -> Lexed<TermId> {
        let mut index = skip_space(text, start);
        let is_usual = matches!(byte_at(text, index), b'<' | b'"' | b'_');
        if !is_usual && starts_name(text, index) {
            return fail_expected(
                text,
                index,
                "a full term, because prefixes cannot be declared here",
            );
        }
        let id = self.parse_term_at(builder, text, &mut index, TermPosition::Alone, guess)?;
        if skip_space(text, index) != text.len() {
            return fail_expected(text, index, "a tab or the end of the line");
        }
        Ok(id)
    }
}
