//! Reads Turtle and TriG logs: the grammar of [`machine`](super::machine) in the frame of
//! [`text::grammar`](crate::syntax::text::grammar).

use super::machine::Machine;
use super::terms::Terms;
use crate::codec::format::Format;
use crate::codec::{DecodeOptions, Decoder, LogHeader};
use crate::model::batch::MessageBatch;
use crate::model::builder::BatchBuilder;
use crate::syntax::text::dialect::Dialects;
use crate::syntax::text::grammar::{Fault, Grammar, Pause, Reach, TextDecoder, arena_limits};

/// A decoder of [`Format::Ttl`] or [`Format::Trig`].
///
/// # Errors
/// The base is not an absolute IRI.
pub fn decoder(format: Format, options: &DecodeOptions) -> Result<Box<dyn Decoder>, String> {
    let turtle = Turtle {
        format,
        machine: Machine::new(
            BatchBuilder::new(arena_limits(&options.limits)),
            Dialects::new(options),
            Terms::new(options.base.as_deref(), options.lenient)?,
            format == Format::Trig,
            options.parts,
        ),
        options: options.clone(),
    };
    Ok(Box::new(TextDecoder::new(turtle, options.parts)))
}

struct Turtle {
    format: Format,
    options: DecodeOptions,
    machine: Machine,
}

impl Grammar for Turtle {
    fn format(&self) -> Format {
        self.format
    }

    fn run(&mut self, text: &[u8], reach: Reach) -> Result<Pause, Box<Fault>> {
        self.machine.run(text, reach)
    }

    fn consumed(&self) -> usize {
        self.machine.pos
    }

    fn forget(&mut self, consumed: &[u8], offset: u64) {
        self.machine.blank = self.machine.is_blank(consumed);
        self.machine.pos = 0;
        self.machine.offset = offset;
    }

    fn builder(&mut self) -> &mut BatchBuilder {
        &mut self.machine.builder
    }

    fn take(&mut self) -> Option<MessageBatch> {
        self.machine.take()
    }

    fn take_part(&mut self) -> MessageBatch {
        self.machine.take_part()
    }

    fn reset(&mut self) {
        self.machine.reset(Dialects::new(&self.options));
    }

    fn locate(&mut self, line: impl Fn(u64) -> u64) {
        self.machine.dialects.locate(line);
    }

    fn header(&self, done: bool) -> LogHeader {
        let trailing_namespaces = if done {
            self.machine.builder.pending_namespaces()
        } else {
            0
        };
        LogHeader {
            trailing_namespaces,
            ..self.machine.dialects.header()
        }
    }
}
