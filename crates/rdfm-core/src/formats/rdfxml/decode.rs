//! Reads RDF/XML logs: the grammar of [`machine`](super::machine) in the frame of
//! [`text::grammar`](crate::syntax::text::grammar).

use super::machine::Machine;
use crate::codec::format::Format;
use crate::codec::{DecodeOptions, Decoder, LogHeader};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::syntax::text::grammar::{Fault, Grammar, Pause, Reach, TextDecoder, arena_limits};

/// A decoder of RDF/XML.
///
/// # Errors
/// The base is not an absolute IRI.
pub fn decoder(options: &DecodeOptions) -> Result<Box<dyn Decoder>, String> {
    let builder = BatchBuilder::new(arena_limits(&options.limits));
    let machine = Machine::new(builder, options)?;
    Ok(Box::new(TextDecoder::new(machine, options.parts)))
}

impl Grammar for Machine {
    fn format(&self) -> Format {
        Format::RdfXml
    }

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<Fault>> {
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

    fn take(&mut self) -> Option<MessageBatch> {
        self.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.take_part()
    }

    fn reset(&mut self) {
        self.reset();
    }

    fn header(&self, _done: bool) -> LogHeader {
        LogHeader::default()
    }
}
