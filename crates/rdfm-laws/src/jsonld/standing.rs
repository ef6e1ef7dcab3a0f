//! Where the oracle is known to differ, and what the specification says of it.
//!
//! Sections are those of "JSON-LD 1.1 Processing Algorithms and API": C is Context Processing, T Create Term
//! Definition, E Expansion, V Value Expansion, N Node Map Generation, R Deserialize JSON-LD to RDF.
//!
//! - In: the facts of a document, of which the two readers say different things.
//! - Out: whether a known difference may be why.

use std::collections::HashSet;

use super::facts::{Definition, Facts, has_keyword_form};
use super::json::Json;
use super::oracle::{canonical, has_fraction};

/// A known difference.
pub struct Difference {
    /// What a document has that the oracle reads otherwise.
    pub name: &'static str,
    /// What the specification says.
    pub why: &'static str,
    /// Whether a document has it.
    pub applies: fn(&Facts<'_>) -> bool,
}

/// The first that a document has.
pub fn difference(facts: &Facts<'_>) -> Option<&'static Difference> {
    DIFFERENCES.iter().find(|found| (found.applies)(facts))
}

/// All of them, those that say most first.
pub const DIFFERENCES: &[Difference] = &[
    // --- contexts ---
    Difference {
        name: "null after protected terms, in one array of contexts",
        why: "C5.1.1: nullification is refused where the active context, which each context of the array changes, \
              has protected terms; the oracle looks at the one before the array",
        applies: |facts| {
            let several =
                |value: &&Json| value.items().len() > 1 && value.items().contains(&Json::Null);
            facts.has_protected() && facts.context_values.iter().any(several)
        },
    },
    Difference {
        name: "a term defined by one that stands for nothing",
        why: "T14.2.3: an IRI mapping that is neither a keyword nor an IRI nor a blank node identifier is an error; \
              the oracle leaves the term undefined",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                definition.id().is_some_and(|id| {
                    id != definition.name && facts.of(id).any(Definition::is_null)
                })
            })
        },
    },
    Difference {
        name: "a term defined by what is no IRI",
        why: "T13.4 and T14.2.3: an IRI mapping that is no IRI is an error; the oracle takes it",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                definition.target().is_some_and(|id| {
                    !has_keyword_form(id) && oxiri::Iri::parse(id).is_err() && !id.starts_with("_:")
                })
            })
        },
    },
    Difference {
        name: "a term that stands for the form of a keyword, and is referred to",
        why: "T13.3 and T14.2.2 leave the term as it is, neither defined nor being defined, where T1 finds a cycle that \
              there is not",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                definition
                    .target()
                    .is_some_and(|id| has_keyword_form(id) && !is_keyword(id))
            })
        },
    },
    Difference {
        name: "a relative vocabulary and no base",
        why: "C5.8.3: a vocabulary mapping is an IRI or a blank node identifier; the oracle takes anything",
        applies: |facts| {
            facts.contexts.iter().any(|context| {
                let vocabulary = context.get("@vocab").and_then(Json::text);
                vocabulary.is_some_and(|text| oxiri::Iri::parse(text).is_err())
            })
        },
    },
    Difference {
        name: "a compact IRI as a term whose prefix is a keyword",
        why: "T15.2: concatenates what then is no IRI; we refuse it",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                let prefix = definition.name.split_once(':').map(|(prefix, _)| prefix);
                prefix.is_some_and(|prefix| facts.is_alias(prefix))
            })
        },
    },
    Difference {
        name: "a term with a slash or a first colon, without @id",
        why: "T15 and T16: such a term is IRI expanded, by the vocabulary; the oracle resolves it against the base",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                (definition.name.contains('/') || definition.name.starts_with(':'))
                    && definition.id().is_none()
            })
        },
    },
    // --- numbers ---
    Difference {
        name: "an integer of 21 digits",
        why: "R, Object to RDF Conversion 11: a number below 10^21 without a fraction is an integer; \
              the oracle says so below 10^20",
        applies: |facts| numbers(facts, |number| (1e20..1e21).contains(&number.abs())),
    },
    Difference {
        name: "a number beyond doubles",
        why: "R, Object to RDF Conversion 10: the canonical form of an xsd:double; the oracle writes all exponents",
        applies: |facts| numbers(facts, f64::is_infinite),
    },
    Difference {
        name: "a fraction that is none after rounding",
        why: "R, Object to RDF Conversion 10: as above",
        applies: |facts| {
            facts.numbers.iter().any(|token| {
                let number = token.parse().map(canonical);
                let rounded = number.is_ok_and(|text| text.parse().is_ok_and(is_whole));
                has_fraction(token) && rounded
            })
        },
    },
    Difference {
        name: "an integer of more digits than a double, as xsd:double",
        why: "R, Object to RDF Conversion 10: the canonical form of an xsd:double; the oracle keeps all digits",
        applies: |facts| {
            let double = facts.definitions.iter().any(|definition| {
                definition
                    .coercion()
                    .is_some_and(|coercion| coercion.ends_with("double"))
            }) || facts.members().any(|(key, value)| {
                facts.is(key, "@type") && value.text().is_some_and(|text| text.ends_with("double"))
            });
            double && numbers(facts, |number| number.abs() > 9_007_199_254_740_992.0)
        },
    },
    // --- value objects ---
    Difference {
        name: "@value with members that a value object has not",
        why: "E15.1: all entries of the result count, and those dropped do not; for the oracle their order does",
        applies: |facts| {
            let known = [
                "@value",
                "@type",
                "@language",
                "@direction",
                "@index",
                "@context",
            ];
            objects(facts, |object| {
                facts.has(object, "@value") && facts.has_beside(object, &known)
            })
        },
    },
    Difference {
        name: "@value null with a language or a type, or in a reverse property",
        why: "E15.3: a value object without a value is null, before E15.4 and 5 look at its language and type, and before \
              E13.4.13.4 looks for values",
        applies: |facts| {
            let reverse = facts.definitions.iter().any(Definition::is_reverse)
                || facts.members().any(|(key, _)| facts.is(key, "@reverse"));
            objects(facts, |object| {
                facts.value(object, "@value") == Some(&Json::Null)
                    && (reverse || facts.has(object, "@language") || facts.has(object, "@type"))
            })
        },
    },
    Difference {
        name: "@value with a type and a direction",
        why: "E15.1: it must not contain an @type entry if it contains an @direction entry",
        applies: |facts| {
            objects(facts, |object| {
                ["@value", "@type", "@direction"]
                    .iter()
                    .all(|key| facts.has(object, key))
            })
        },
    },
    Difference {
        name: "@value with an array of types",
        why: "E15.5: the value of @type must be an IRI; the oracle takes an array of one",
        applies: |facts| {
            objects(facts, |object| {
                facts.has(object, "@value")
                    && matches!(facts.value(object, "@type"), Some(Json::Array(_)))
            })
        },
    },
    Difference {
        name: "@value with a type that stands for nothing",
        why: "E15.5: the value of @type must be an IRI; the oracle takes the value for one without a type",
        applies: |facts| {
            objects(facts, |object| {
                let found = facts.value(object, "@type").and_then(Json::text);
                facts.has(object, "@value")
                    && found.is_some_and(|text| {
                        (has_keyword_form(text) && text != "@json")
                            || facts.of(text).any(Definition::is_null)
                    })
            })
        },
    },
    // --- lists, sets and graphs ---
    Difference {
        name: "@list or @set with other members",
        why: "E16.1: the result must contain at most one other entry; keys without an IRI are not in it, and E13.4.9.1 \
              leaves out a free-floating list alone, not what stands beside it",
        applies: |facts| {
            objects(facts, |object| {
                object.members().len() > 1
                    && (facts.has(object, "@list") || facts.has(object, "@set"))
            })
        },
    },
    Difference {
        name: "@list or @set in @nest",
        why: "E16.1 and E21.1: the entries of the node and of what is nested are counted together; a node of a list \
              alone is left out; the oracle refuses both keywords in @nest",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.is(key, "@nest")
                    && value
                        .flat()
                        .into_iter()
                        .any(|item| facts.has(item, "@list") || facts.has(item, "@set"))
            })
        },
    },
    Difference {
        name: "@set of null",
        why: "E13.4.16: may mean that the entry is set to null, or not set, which leaves a node; PyLD and jsonld.js \
              leave a node",
        applies: |facts| {
            objects(facts, |object| {
                facts.value(object, "@set") == Some(&Json::Null)
            })
        },
    },
    Difference {
        name: "a list container of a set, a list or a null",
        why: "E13.11 to 13: the container applies to what is expanded, where a set is an array and a null nothing; \
              E5.2.2: an array in a list of such a term is a list",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.has_container(key, "@list")
                    && value.flat().into_iter().any(|item| {
                        facts.has(item, "@set")
                            || facts.has(item, "@list")
                            || facts.value(item, "@value") == Some(&Json::Null)
                    })
            })
        },
    },
    Difference {
        name: "a graph container of what is no node",
        why: "E13.12 and E13.8.3.7.1: each item becomes a graph object, whatever it is; the oracle looks for maps \
              whose first entry is @graph",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.has_container(key, "@graph")
                    && entries(value).into_iter().any(|item| {
                        item.is_scalar()
                            || item.members().is_empty()
                            || ["@graph", "@list", "@set", "@value"]
                                .iter()
                                .any(|keyword| facts.has(item, keyword))
                    })
            })
        },
    },
    Difference {
        name: "a JSON literal in a container",
        why: "E13.6: a term of type @json takes its value as it is, and E13.12 and 13 then apply the container",
        applies: |facts| {
            facts.definitions.iter().any(|definition| {
                definition.coercion() == Some("@json")
                    && (definition.has_container("@list") || definition.has_container("@graph"))
            })
        },
    },
    Difference {
        name: "the keys of a JSON literal beyond the basic plane",
        why: "RFC 8785 3.2.3: keys are sorted by UTF-16 code units; the oracle does so by code points",
        applies: |facts| facts.root.to_string().contains(|c| c > '\u{d7ff}'),
    },
    Difference {
        name: "@graph at the top beside @index, no types or what is nested",
        why: "the expand() method 8.1: only a map that contains only @graph is replaced by its value",
        applies: |facts| {
            facts.has(facts.root, "@graph")
                && ["@index", "@type", "@nest"]
                    .iter()
                    .any(|keyword| facts.has(facts.root, keyword))
        },
    },
    Difference {
        name: "a keyword that says nothing here",
        why: "E13.4: names no such keyword; whether it counts as an entry is not said",
        applies: |facts| {
            facts
                .members()
                .any(|(key, _)| IDLE.iter().any(|keyword| facts.is(key, keyword)))
        },
    },
    // --- maps ---
    Difference {
        name: "an array in place of a map by @id or @type",
        why: "E13.8: only a map is expanded so; an array by E13.9",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                matches!(value, Json::Array(_))
                    && (facts.has_container(key, "@id") || facts.has_container(key, "@type"))
            })
        },
    },
    Difference {
        name: "values in a map by @id or @type",
        why: "E13.8.3.7.4 and 5: add @id or @type to an item whatever it is, also to value and list objects",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                (facts.has_container(key, "@id") || facts.has_container(key, "@type"))
                    && entries(value).into_iter().any(|item| {
                        item.is_scalar()
                            || ["@value", "@list", "@set"]
                                .iter()
                                .any(|keyword| facts.has(item, keyword))
                    })
            })
        },
    },
    Difference {
        name: "values in a map by @index of a reverse property",
        why: "E13.13.4.1: a value object or list object of a reverse property is an error",
        applies: |facts| {
            facts
                .definitions
                .iter()
                .any(|definition| definition.is_reverse() && definition.has_container("@index"))
        },
    },
    Difference {
        name: "a map by a property of sets or lists",
        why: "E13.8.3.7.2: the property is added to each item; the oracle adds it to the map of @set or @list",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts
                    .of(key)
                    .any(|found| found.value.get("@index").is_some())
                    && entries(value).into_iter().any(|item| {
                        ["@list", "@set", "@value"]
                            .iter()
                            .any(|keyword| facts.has(item, keyword))
                            || item.is_scalar()
                    })
            })
        },
    },
    Difference {
        name: "a map by @type whose types have contexts",
        why: "E13.8.3.2: the type's context is that of the map's value, before its own types are looked at",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.has_container(key, "@type")
                    && value
                        .members()
                        .iter()
                        .any(|(name, _)| facts.of(name).any(Definition::is_scoped))
            })
        },
    },
    Difference {
        name: "a map by @type of relative types",
        why: "E13.8.3.4: what is added is not document relative, as entries of @type are",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.has_container(key, "@type")
                    && value
                        .members()
                        .iter()
                        .any(|(key, _)| oxiri::Iri::parse(key.as_str()).is_err())
            })
        },
    },
    Difference {
        name: "a map by @id, @type or a property whose nodes have contexts",
        why: "E13.8.3.4 and 7: what is added is expanded by the active context; by the oracle as an entry of the node",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.of(key).any(|found| {
                    found.has_container("@id")
                        || found.has_container("@type")
                        || found.value.get("@index").is_some()
                }) && entries(value)
                    .into_iter()
                    .any(|item| item.get("@context").is_some())
            })
        },
    },
    // --- nodes ---
    Difference {
        name: "two keys for one keyword",
        why: "E13.4.2: colliding keywords, other than @included and @type",
        applies: |facts| {
            objects(facts, |object| {
                KEYWORDS.iter().any(|keyword| {
                    let keys = object.members().iter();
                    keys.filter(|(key, _)| facts.is(key, keyword)).count() > 1
                })
            })
        },
    },
    Difference {
        name: "an @id of the form of a keyword",
        why: "E13.4.3.2: it expands to null, and N6.1 makes no other name",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                let found = value.flat().into_iter().filter_map(Json::text);
                let found = found.chain(value.members().iter().map(|(key, _)| key.as_str()));
                found
                    .into_iter()
                    .any(|text| has_keyword_form(text) || facts.of(text).any(Definition::is_null))
                    && (facts.is(key, "@id")
                        || facts.has_container(key, "@id")
                        || facts
                            .of(key)
                            .any(|found| matches!(found.coercion(), Some("@id" | "@vocab"))))
            })
        },
    },
    Difference {
        name: "a node with two indexes",
        why: "N6.10: conflicting indexes; the oracle reads past @index",
        applies: |facts| {
            let indexes = facts.members().flat_map(|(key, value)| {
                let of_map = facts.has_container(key, "@index");
                let keys = value.members().iter().filter(move |_| of_map);
                let keys = keys.map(|(key, _)| key.as_str());
                keys.chain(value.text().filter(|_| facts.is(key, "@index")))
            });
            indexes.collect::<HashSet<&str>>().len() > 1
        },
    },
    Difference {
        name: "@included of what is no node",
        why: "E13.4.6.3: each element of what is expanded must be a node object, and a node of nothing is null",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.is(key, "@included")
                    && value.flat().into_iter().any(|item| {
                        item.members()
                            .iter()
                            .all(|(key, value)| says_nothing(facts, key, value))
                            || [
                                "@set",
                                "@list",
                                "@graph",
                                "@value",
                                "@language",
                                "@direction",
                            ]
                            .iter()
                            .any(|keyword| facts.has(item, keyword))
                    })
            })
        },
    },
    Difference {
        name: "an alias of @type that the context of a type undoes",
        why: "E13.2: keys are expanded by the context with those of the types, E11 by the one before them",
        applies: |facts| {
            let undoes = |context: &Json, key: &str| {
                context
                    .items()
                    .iter()
                    .any(|item| *item == Json::Null || item.get(key).is_some())
            };
            objects(facts, |object| {
                object.members().iter().any(|(key, _)| {
                    let scoped = facts.definitions.iter();
                    let mut scoped = scoped.filter_map(|found| found.value.get("@context"));
                    key != "@type"
                        && facts.is(key, "@type")
                        && scoped.any(|context| undoes(context, key))
                })
            })
        },
    },
    Difference {
        name: "a string of @type @vocab whose IRI begins with a term",
        why: "V2: the string is IRI expanded; the oracle expands what comes out once more",
        applies: |facts| {
            let begins = |iri: &str| {
                let scheme = iri.split_once(':').map(|(scheme, _)| scheme);
                scheme.is_some_and(|scheme| facts.of(scheme).next().is_some())
            };
            let ids = facts.definitions.iter().filter_map(Definition::id);
            let vocabularies = facts
                .contexts
                .iter()
                .filter_map(|context| context.get("@vocab"));
            facts
                .definitions
                .iter()
                .any(|found| found.coercion() == Some("@vocab"))
                && ids.chain(vocabularies.filter_map(Json::text)).any(begins)
        },
    },
    Difference {
        name: "several types with contexts",
        why: "E11.2: each context is processed with the one before as active context; the oracle's last one wins",
        applies: |facts| {
            objects(facts, |object| {
                let types = object
                    .members()
                    .iter()
                    .filter(|(key, _)| facts.is(key, "@type"));
                let types = types
                    .flat_map(|(_, value)| value.flat())
                    .filter_map(Json::text);
                let scoped = types.filter(|name| facts.of(name).any(Definition::is_scoped));
                scoped.count() > 1
            })
        },
    },
    Difference {
        name: "@type or @context in @nest",
        why: "E11 looks at the node's own entries only; E13.1 passes over @context, in @nest too",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.is(key, "@nest")
                    && value
                        .flat()
                        .into_iter()
                        .any(|item| facts.has(item, "@type") || item.get("@context").is_some())
            })
        },
    },
    Difference {
        name: "@context in the map of @reverse",
        why: "E13.4.13.2: the map is expanded as any other, its context too",
        applies: |facts| {
            facts
                .members()
                .any(|(key, value)| facts.is(key, "@reverse") && value.get("@context").is_some())
        },
    },
    Difference {
        name: "a JSON literal as the value of a reverse property",
        why: "E13.4.13.4: a value object in @reverse is an error; the oracle reads on as if it were a node",
        applies: |facts| {
            let reversed = facts.members().any(|(key, value)| {
                facts.is(key, "@reverse")
                    && value.members().iter().any(|(key, _)| facts.is_json(key))
            });
            reversed
                || facts.definitions.iter().any(|definition| {
                    definition.is_reverse() && definition.coercion() == Some("@json")
                })
        },
    },
    Difference {
        name: "@set in a reverse property",
        why: "E13.4.13.4 and E13.13.4.1: an item that is a value object is an error, also out of a set",
        applies: |facts| {
            let sets = |value: &Json| value.flat().into_iter().any(|item| facts.has(item, "@set"));
            facts.members().any(|(key, value)| {
                (facts.of(key).any(Definition::is_reverse) && sets(value))
                    || (facts.is(key, "@reverse")
                        && value.members().iter().any(|(_, value)| sets(value)))
            })
        },
    },
    Difference {
        name: "an array within the array of @nest",
        why: "E14.2.1: what is nested must be a map; the oracle looks into arrays",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.is(key, "@nest")
                    && value
                        .items()
                        .iter()
                        .any(|item| matches!(item, Json::Array(_)))
            })
        },
    },
    Difference {
        name: "keywords in @nest",
        why: "E14: what is nested is merged into the node, so that E13.4.2 finds keywords that collide",
        applies: |facts| {
            facts.members().any(|(key, value)| {
                facts.is(key, "@nest")
                    && value
                        .flat()
                        .into_iter()
                        .any(|item| KEYWORDS.iter().any(|keyword| facts.has(item, keyword)))
            })
        },
    },
    Difference {
        name: "@language or @direction without @value",
        why: "E19: a map of @language alone is null, any other is a node; the oracle takes both for values",
        applies: |facts| {
            objects(facts, |object| {
                !facts.has(object, "@value")
                    && (facts.has(object, "@direction") || facts.has(object, "@language"))
            })
        },
    },
    // --- contexts that end with their node ---
    Difference {
        name: "a node of a name and types in a context that is not propagated",
        why: "E7: only a map of a single entry, which expands to @id, keeps the context; the oracle passes over @type, \
              @index and @context",
        applies: |facts| {
            let known = ["@id", "@type", "@index", "@context"];
            facts.has_unpropagated()
                && objects(facts, |object| {
                    facts.has(object, "@id")
                        && object.members().len() > 1
                        && !facts.has_beside(object, &known)
                })
        },
    },
    Difference {
        name: "a value in a context that is not propagated",
        why: "E7: an entry that expands to @value keeps the context, wherever in the object it stands; the oracle \
              looks at the first entry",
        applies: |facts| {
            facts.has_unpropagated() && objects(facts, |object| facts.has(object, "@value"))
        },
    },
    Difference {
        name: "a context that is not propagated, with @nest, @reverse, maps or scoped properties below",
        why: "E7 and E8: reading goes back to the previous context at every map that is a node, @reverse among them, \
              and a property's context builds on that one; E13.8.3.1: maps by @index keep the context; E14: @nest \
              does not go back",
        applies: |facts| {
            facts.has_unpropagated()
                && facts.members().any(|(key, value)| {
                    facts.is(key, "@nest")
                        || facts.is(key, "@reverse")
                        || ["@index", "@id", "@type"]
                            .iter()
                            .any(|container| facts.has_container(key, container))
                        || (!value.is_scalar() && facts.of(key).any(Definition::is_scoped))
                })
        },
    },
    // --- what may be, wherever there is such a context ---
    Difference {
        name: "a direction from a context, without a language",
        why: "V5.4: the direction counts without a language; RDF 1.2, and so the oracle, has no such literals",
        applies: |facts| {
            let defined = |found: &Json| found.get("@direction").is_some();
            facts.directions
                && (facts.contexts.iter().any(|context| defined(context))
                    || facts
                        .definitions
                        .iter()
                        .any(|definition| defined(definition.value)))
        },
    },
    Difference {
        name: "a protected term overridden for a scalar, or by a remote context of a term",
        why: "E4.2 and C5.2.6 do not pass override protected on, which E8 and T21.3 set; PyLD and jsonld.js override",
        applies: |facts| {
            facts.has_protected() && facts.definitions.iter().any(Definition::is_scoped)
        },
    },
];

/// Keywords that mean something in contexts or as values only.
const IDLE: &[&str] = &[
    "@base",
    "@container",
    "@import",
    "@json",
    "@none",
    "@prefix",
    "@propagate",
    "@protected",
    "@version",
    "@vocab",
];

const KEYWORDS: &[&str] = &[
    "@context",
    "@direction",
    "@graph",
    "@id",
    "@index",
    "@language",
    "@list",
    "@reverse",
    "@set",
    "@value",
];

/// Whether an entry leaves an object as if it had none.
fn says_nothing(facts: &Facts<'_>, key: &str, value: &Json) -> bool {
    let idle = ["@id", "@context", "@nest"];
    let look_alike = has_keyword_form(key) && !is_keyword(key);
    idle.iter().any(|keyword| facts.is(key, keyword))
        || look_alike
        || facts.of(key).any(Definition::is_null)
        || facts.value(value, "@value") == Some(&Json::Null)
}

fn is_keyword(text: &str) -> bool {
    let more = ["@included", "@nest", "@type"];
    KEYWORDS.contains(&text) || IDLE.contains(&text) || more.contains(&text)
}

fn objects<'a>(facts: &Facts<'a>, test: impl Fn(&'a Json) -> bool) -> bool {
    facts.objects.iter().any(|object| test(object))
}

fn numbers(facts: &Facts<'_>, test: impl Fn(f64) -> bool) -> bool {
    facts
        .numbers
        .iter()
        .any(|token| token.parse().is_ok_and(&test))
}

/// What a property holds, and what it would hold as a map.
fn entries(value: &Json) -> Vec<&Json> {
    let mut found = value.flat();
    found.extend(value.members().iter().flat_map(|(_, value)| value.flat()));
    found
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}
