// RDF Thrift: the names and numbers that Apache Jena published (https://jena.apache.org/documentation/io/rdf-binary.html),
// with comments by this project. It uses the compact protocol. The codec in rdfm-core is written by hand; tests
// read this file and compare both.

struct RDF_IRI {
  1: required string iri  // `_:label` is a blank node
}

// A name in a namespace that was declared earlier.
struct RDF_PrefixName {
  1: required string prefix
  2: required string localName
}

struct RDF_BNode {
  1: required string label
}

// xsd:string if there is neither a language nor a datatype.
struct RDF_Literal {
  1: required string lex
  2: optional string langtag
  3: optional string datatype
  4: optional RDF_PrefixName dtPrefix
  5: optional string langdir  // the base direction of the language: ltr or rtl
}

// The number value / 10^scale.
struct RDF_Decimal {
  1: required i64 value
  2: required i32 scale
}

// The next four types occur in patterns and query results, not in data.
struct RDF_VAR {
  1: required string name
}

struct RDF_ANY {}

struct RDF_UNDEF {}

struct RDF_REPEAT {}

union RDF_Term {
  1: RDF_IRI iri
  2: RDF_BNode bnode
  3: RDF_Literal literal
  4: RDF_PrefixName prefixName
  5: RDF_VAR variable
  6: RDF_ANY any
  7: RDF_UNDEF undefined
  8: RDF_REPEAT repeat
  9: RDF_Triple tripleTerm
  // Literals by value.
  10: i64 valInteger
  11: double valDouble
  12: RDF_Decimal valDecimal
}

struct RDF_Triple {
  1: required RDF_Term S
  2: required RDF_Term P
  3: required RDF_Term O
}

struct RDF_Quad {
  1: required RDF_Term S
  2: required RDF_Term P
  3: required RDF_Term O
  4: optional RDF_Term G  // if not set, the default graph
}

struct RDF_PrefixDecl {
  1: required string prefix
  2: required string uri
}

// A log is a sequence of rows, without message boundaries.
union RDF_StreamRow {
  1: RDF_PrefixDecl prefixDecl
  2: RDF_Triple triple
  3: RDF_Quad quad
}

// A result set: the variables, then one tuple per row, with UNDEF for an unbound variable.
struct RDF_VarTuple {
  1: list<RDF_VAR> vars
}

struct RDF_DataTuple {
  1: list<RDF_Term> row
}
