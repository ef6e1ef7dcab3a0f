// RDF Patch in Thrift: the numbers that Apache Jena's module jena-rdfpatch reads and writes, with field names and
// comments by this project. It uses the compact protocol. A file is a sequence of rows. The terms are defined in
// rdf-binary.thrift; tests read this file after that one.

struct Patch_Header {
  1: required string name
  2: required RDF_Term value
}

// A quad to add or delete; in the default graph if G is not set.
struct Patch_Quad {
  1: required RDF_Term S
  2: required RDF_Term P
  3: required RDF_Term O
  4: optional RDF_Term G
}

// A prefix of a store or of one of its graphs; deleted if there is no IRI.
struct Patch_Prefix {
  1: optional RDF_Term graph
  2: required string prefix
  3: optional string iri
}

enum Patch_Transaction {
  TX = 0
  TC = 1
  TA = 2
  Z = 3  // end of the patch
}

union RDF_Patch_Row {
  1: Patch_Header header
  2: Patch_Quad added
  3: Patch_Quad deleted
  4: Patch_Prefix addPrefix
  5: Patch_Prefix deletePrefix
  6: Patch_Transaction transaction
}
