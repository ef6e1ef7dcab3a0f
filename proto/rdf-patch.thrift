// RDF Patch in Thrift: the numbers that Apache Jena's module jena-rdfpatch reads and writes, with our own names for the
// fields and our own comments; in the compact protocol. A file is rows, one after the other. The terms are those of
// rdf-binary.thrift, behind which the tests read this file.

struct Patch_Header {
  1: required string name
  2: required RDF_Term value
}

// Of a quad to add or to delete; without G it is in the default graph.
struct Patch_Quad {
  1: required RDF_Term S
  2: required RDF_Term P
  3: required RDF_Term O
  4: optional RDF_Term G
}

// A prefix of a store, or of one of its graphs; without an IRI it is deleted.
struct Patch_Prefix {
  1: optional RDF_Term graph
  2: required string prefix
  3: optional string iri
}

enum Patch_Transaction {
  TX = 0
  TC = 1
  TA = 2
  Z = 3  // the patch ends
}

union RDF_Patch_Row {
  1: Patch_Header header
  2: Patch_Quad added
  3: Patch_Quad deleted
  4: Patch_Prefix addPrefix
  5: Patch_Prefix deletePrefix
  6: Patch_Transaction transaction
}
