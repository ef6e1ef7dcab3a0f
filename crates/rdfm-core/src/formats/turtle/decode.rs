//! Decodes Turtle and TriG logs with the grammar of [`machine`](super::machine), driven by
//! [`text::grammar`](crate::syntax::text::grammar).

use std::sync::Arc;

use super::machine::TurtleMachine;
use super::terms::LogTerms;
use crate::codec::input::{Buffer, Skipped};
use crate::codec::options::{BASE, LENIENT, limits};
use crate::codec::spec::{CodecResult, FormatSpec};
use crate::codec::values::Values;
use crate::codec::{Decoder, LogHeader, Observations, Opening, Parts};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::term::Quad;
use crate::syntax::text::dialect::{DialectOptions, Dialects};
use crate::syntax::text::grammar::{self, Grammar, GrammarError, Pause, Reach};

/// Returns a Turtle or TriG decoder.
///
/// # Errors
/// If the base is not an absolute IRI.
pub(super) fn new_decoder(
    format: &'static FormatSpec,
    values: &Values,
    opening: &Opening,
) -> CodecResult<dyn Decoder> {
    let parts = opening.parts == Parts::Always;
    let dialect_options = DialectOptions::from_values(values);
    let turtle = Turtle {
        machine: TurtleMachine::new(
            BatchBuilder::new(limits(values)),
            Dialects::new(&dialect_options),
            LogTerms::new(values.text(&BASE), values.is_on(&LENIENT))?,
            format.carries.graphs,
            parts,
        ),
        dialect_options,
    };
    Ok(grammar::decoder(format.name, turtle, parts))
}

struct Turtle {
    /// Options for the dialect.
    dialect_options: DialectOptions,
    machine: TurtleMachine,
}

impl Grammar for Turtle {
    type Record = Quad;

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        self.machine.run(text, reach)
    }

    fn consumed(&self) -> usize {
        self.machine.pos
    }

    fn forget(&mut self, consumed: &[u8], offset: u64) {
        self.machine.blank = self.machine.is_blank(consumed);
        self.machine.pos -= consumed.len();
        self.machine.offset = offset;
    }

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.machine.builder
    }

    fn begin(&self) -> Option<usize> {
        let begin = self.machine.builder.open_since()?;
        Some(begin.checked_sub(self.machine.offset)? as usize)
    }

    fn stop(&mut self, text: &[u8], follows: bool) -> bool {
        self.machine.begin_search(text, follows);
        true
    }

    fn complete(&mut self, _: &Buffer) -> u64 {
        self.machine.after_delimiter
    }

    /// Declarations before the error stay in force.
    fn discard(&mut self) {
        self.machine.builder.discard_content();
    }

    fn skip(&mut self, bytes: &[u8], finished: bool, skipped: &mut Skipped) -> bool {
        self.machine.search(bytes, finished, skipped)
    }

    fn take(&mut self) -> Option<MessageBatch> {
        self.machine.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.machine.take_part()
    }

    fn reset(&mut self) {
        self.machine.reset(Dialects::new(&self.dialect_options));
    }

    fn locate(&mut self, line: impl Fn(u64) -> u64) {
        self.machine.dialects.locate(line);
    }

    fn header(&self) -> Arc<LogHeader> {
        self.machine.dialects.header()
    }

    fn observations(&self, done: bool) -> Observations {
        let trailing_namespaces = if done {
            self.machine.builder.pending_namespaces()
        } else {
            0
        };
        Observations {
            trailing_namespaces,
            dropped_comments: self.machine.comments,
            ..self.machine.dialects.observations()
        }
    }
}
