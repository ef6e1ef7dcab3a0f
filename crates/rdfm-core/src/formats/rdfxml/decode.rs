//! Decoder for RDF/XML logs: the grammar of [`machine`](super::machine), run by
//! [`text::grammar`](crate::syntax::text::grammar).

use std::sync::Arc;

use super::machine::RdfXmlMachine;
use super::spec::RDFXML;
use crate::codec::input::Buffer;
use crate::codec::options::{BASE, LENIENT, limits};
use crate::codec::spec::CodecResult;
use crate::codec::values::Values;
use crate::codec::{Decoder, LogHeader, Observations, Opening, Parts};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::model::term::Quad;
use crate::syntax::text::grammar::{self, Grammar, GrammarError, Pause, Reach};
use crate::syntax::xml::utf16;

/// Creates an RDF/XML decoder.
///
/// # Errors
/// If the base is not an absolute IRI.
pub(super) fn new_decoder(values: &Values, opening: &Opening) -> CodecResult<dyn Decoder> {
    let parts = opening.parts == Parts::Always;
    let builder = BatchBuilder::new(limits(values));
    let machine = RdfXmlMachine::new(builder, values.text(&BASE), values.is_on(&LENIENT), parts)?;
    let decoder = grammar::decoder(RDFXML.name, machine, parts);
    Ok(utf16::accepting(decoder))
}

impl Grammar for RdfXmlMachine {
    type Record = Quad;

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<GrammarError>> {
        self.run(text, reach == Reach::End)
    }

    fn consumed(&self) -> usize {
        self.pos
    }

    fn forget(&mut self, _: &[u8], offset: u64) {
        self.pos = 0;
        self.offset = offset;
    }

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.builder
    }

    fn complete(&mut self, _: &Buffer) -> u64 {
        RdfXmlMachine::complete(self)
    }

    fn observations(&self, _done: bool) -> Observations {
        Observations {
            closed: (self.multiline).then_some("it has a document of several lines"),
            ..Observations::default()
        }
    }

    fn header(&self) -> Arc<LogHeader> {
        Arc::clone(&self.header)
    }

    fn take(&mut self) -> Option<MessageBatch> {
        self.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.take_part()
    }

    fn reset(&mut self) {
        self.reset();
    }
}
