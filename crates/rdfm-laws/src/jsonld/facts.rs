//! What a document says of its terms, wherever it says so.
//!
//! - In: a document and the remote contexts that it may name.
//! - Out: its contexts, their definitions, and the objects that are data.
//! - Law: a name counts as defined as any of its definitions has it, in whatever context: what follows from these
//!   facts may be said of too many documents, never of too few.

use rdfm_core::formats::jsonld::options::RdfDirection;

use super::json::Json;
use super::oracle::Oracle;

/// Whether a text is a keyword, or is left out since it may become one.
pub fn has_keyword_form(text: &str) -> bool {
    let letters = text.strip_prefix('@').unwrap_or_default();
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A term's definition.
pub struct Definition<'a> {
    /// The term.
    pub name: &'a str,
    /// What its context says of it.
    pub value: &'a Json,
}

impl<'a> Definition<'a> {
    /// What it stands for.
    pub fn id(&self) -> Option<&'a str> {
        self.value
            .text()
            .or_else(|| self.value.get("@id").and_then(Json::text))
    }

    /// What it, or its reverse property, stands for.
    pub fn target(&self) -> Option<&'a str> {
        self.id()
            .or_else(|| self.value.get("@reverse").and_then(Json::text))
    }

    /// Whether it stands for nothing.
    pub fn is_null(&self) -> bool {
        *self.value == Json::Null || self.value.get("@id") == Some(&Json::Null)
    }

    /// Whether a container is among its containers.
    pub fn has_container(&self, container: &str) -> bool {
        let found = self.value.get("@container");
        found.is_some_and(|found| found.items().contains(&Json::string(container)))
    }

    /// Its `@type`.
    pub fn coercion(&self) -> Option<&'a str> {
        self.value.get("@type").and_then(Json::text)
    }

    /// Whether it has a context of its own.
    pub fn is_scoped(&self) -> bool {
        self.value.get("@context").is_some()
    }

    /// Whether it is a reverse property.
    pub fn is_reverse(&self) -> bool {
        self.value.get("@reverse").is_some()
    }
}

/// What a document says.
pub struct Facts<'a> {
    /// The document.
    pub root: &'a Json,
    /// Objects that are contexts, those of definitions and remote ones too.
    pub contexts: Vec<&'a Json>,
    /// Values of `@context`.
    pub context_values: Vec<&'a Json>,
    /// Definitions of all contexts.
    pub definitions: Vec<Definition<'a>>,
    /// Objects that are data, maps of containers too, from the outermost on; none within a JSON literal.
    pub objects: Vec<&'a Json>,
    /// Numbers that are data.
    pub numbers: Vec<&'a str>,
    /// Whether base directions are kept.
    pub directions: bool,
}

impl<'a> Facts<'a> {
    /// The facts of a document, and those of all remote contexts where it names one.
    pub fn new(root: &'a Json, oracle: &'a Oracle) -> Self {
        let remotes = &oracle.remotes;
        let mut facts = Self {
            root,
            contexts: Vec::new(),
            context_values: Vec::new(),
            definitions: Vec::new(),
            objects: Vec::new(),
            numbers: Vec::new(),
            directions: oracle.direction != RdfDirection::None,
        };
        let text = root.to_string();
        if remotes.iter().any(|(url, _)| text.contains(url)) {
            for (_, document) in remotes {
                if let Some(context) = document.get("@context") {
                    facts.context(context);
                }
            }
        }
        facts.find_contexts(root);
        facts.find_data(root);
        facts
    }

    fn find_contexts(&mut self, value: &'a Json) {
        for item in value.flat() {
            for (key, value) in item.members() {
                match key.as_str() {
                    "@context" => self.context(value),
                    "@value" => {}
                    _ => self.find_contexts(value),
                }
            }
        }
    }

    fn context(&mut self, value: &'a Json) {
        self.context_values.push(value);
        for item in value.items() {
            if let Json::Object(members) = item {
                self.contexts.push(item);
                for (name, value) in members {
                    if !has_keyword_form(name) || name == "@type" {
                        self.definitions.push(Definition { name, value });
                        if let Some(scoped) = value.get("@context") {
                            self.context(scoped);
                        }
                    }
                }
            }
        }
    }

    fn find_data(&mut self, value: &'a Json) {
        for item in value.flat() {
            match item {
                Json::Number(token) => self.numbers.push(token),
                Json::Object(members) => {
                    self.objects.push(item);
                    for (key, value) in members {
                        let literal = self.is(key, "@value") && !value.is_scalar();
                        if key != "@context" && !literal && !self.is_json(key) {
                            self.find_data(value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The definitions of a name.
    pub fn of(&self, name: &str) -> impl Iterator<Item = &Definition<'a>> {
        self.definitions
            .iter()
            .filter(move |found| found.name == name)
    }

    /// Whether a key is a keyword or somewhere an alias of it.
    pub fn is(&self, key: &str, keyword: &str) -> bool {
        key == keyword || self.of(key).any(|found| found.id() == Some(keyword))
    }

    /// Whether a name is somewhere an alias of some keyword.
    pub fn is_alias(&self, name: &str) -> bool {
        self.of(name)
            .any(|found| found.id().is_some_and(has_keyword_form))
    }

    /// Whether what stands below a key may be a JSON literal.
    pub fn is_json(&self, key: &str) -> bool {
        self.of(key).any(|found| found.coercion() == Some("@json"))
    }

    /// Whether a key may have a container.
    pub fn has_container(&self, key: &str, container: &str) -> bool {
        self.of(key).any(|found| found.has_container(container))
    }

    /// The value that an object has for a keyword.
    pub fn value(&self, object: &'a Json, keyword: &str) -> Option<&'a Json> {
        let mut members = object.members().iter();
        members
            .find(|(key, _)| self.is(key, keyword))
            .map(|(_, value)| value)
    }

    /// Whether an object has a keyword.
    pub fn has(&self, object: &'a Json, keyword: &str) -> bool {
        self.value(object, keyword).is_some()
    }

    /// Whether an object has other members than those of keywords.
    pub fn has_beside(&self, object: &Json, keywords: &[&str]) -> bool {
        object
            .members()
            .iter()
            .any(|(key, _)| !keywords.iter().any(|keyword| self.is(key, keyword)))
    }

    /// The keys and values of all data.
    pub fn members(&self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        self.objects
            .iter()
            .flat_map(|object| object.members())
            .filter(|(key, _)| key != "@context")
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The strings that are types of nodes, or keys of maps by type.
    pub fn types(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        for (key, value) in self.members() {
            if self.is(key, "@type") {
                found.extend(value.flat().into_iter().filter_map(Json::text));
            }
            if self.has_container(key, "@type") {
                found.extend(value.members().iter().map(|(key, _)| key.as_str()));
            }
        }
        found
    }

    /// Whether some context protects terms.
    pub fn has_protected(&self) -> bool {
        let protects = |found: &Json| found.get("@protected").is_some();
        self.contexts.iter().any(|context| protects(context))
            || self
                .definitions
                .iter()
                .any(|definition| protects(definition.value))
    }

    /// Whether some context may end with the node that it belongs to.
    pub fn has_unpropagated(&self) -> bool {
        self.types()
            .iter()
            .any(|name| self.of(name).any(Definition::is_scoped))
            || self
                .contexts
                .iter()
                .any(|context| context.get("@propagate") == Some(&Json::Bool(false)))
    }
}
