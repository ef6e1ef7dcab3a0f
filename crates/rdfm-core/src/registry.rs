//! Where to get the codecs of each format: the one file that knows them all.

use crate::codec::format::Format;
use crate::codec::sniff::Sniff;
use crate::codec::{DecodeOptions, Decoder, EncodeOptions, Encoder};
use crate::formats::nquads::LineDecoder;
use crate::formats::{jelly, jsonld, nquads, rdf_binary, rdfxml, turtle};

impl Format {
    /// Tells from the head of a log whether it is of the format, given whether the head is complete; see
    /// [`Sniff`]. N-Quads stands for N-Triples and TriG for Turtle, since they read all of it.
    pub fn sniff(self) -> Option<fn(&[u8], bool) -> Sniff> {
        match self {
            Self::Nt | Self::Ttl => None,
            Self::Nq => Some(nquads::sniff::sniff),
            Self::Trig => Some(turtle::sniff::sniff),
            Self::Jelly => Some(jelly::sniff::sniff),
            Self::RdfProtobuf => Some(rdf_binary::sniff::protobuf),
            Self::RdfThrift => Some(rdf_binary::sniff::thrift),
            Self::RdfXml => Some(rdfxml::sniff::sniff),
            Self::Ndjsonld => Some(jsonld::sniff::lines),
            Self::Jsonld => Some(jsonld::sniff::document),
            Self::Yamlld => Some(jsonld::sniff::yaml),
        }
    }

    /// A decoder.
    ///
    /// # Errors
    /// An option does not fit; the text says which.
    pub fn decoder(self, options: &DecodeOptions) -> Result<Box<dyn Decoder>, String> {
        match self {
            Self::Nt => Ok(Box::new(LineDecoder::ntriples(options))),
            Self::Nq => Ok(Box::new(LineDecoder::nquads(options))),
            Self::Jelly => Ok(Box::new(jelly::decode::JellyDecoder::new(options))),
            Self::RdfProtobuf | Self::RdfThrift => Ok(Box::new(
                rdf_binary::decode::BinaryDecoder::new(self, options),
            )),
            Self::RdfXml => rdfxml::decode::decoder(options),
            Self::Ndjsonld => Ok(Box::new(jsonld::lines::NdjsonDecoder::new(options)?)),
            Self::Jsonld => Ok(Box::new(jsonld::document::DocumentDecoder::new(options)?)),
            Self::Yamlld => Ok(Box::new(jsonld::yaml::decode::YamlDecoder::new(options)?)),
            Self::Ttl | Self::Trig => turtle::decode::decoder(self, options),
        }
    }

    /// An encoder.
    ///
    /// # Errors
    /// An option does not fit; the text says which.
    pub fn encoder(self, options: &EncodeOptions) -> Result<Box<dyn Encoder>, String> {
        match self {
            Self::Nt | Self::Nq => nquads::encode::encoder(self, options),
            Self::Ttl | Self::Trig => turtle::encode::encoder(self, options),
            Self::Ndjsonld | Self::Jsonld | Self::Yamlld => jsonld::encode::encoder(self, options),
            Self::Jelly => Ok(Box::new(jelly::encode::JellyEncoder::new(options)?)),
            Self::RdfProtobuf | Self::RdfThrift => rdf_binary::encode::encoder(self, options),
            Self::RdfXml => Ok(Box::new(rdfxml::encode::RdfXmlEncoder::new(options))),
        }
    }
}
