//! Parses queries into SPARQL algebra, and rejects unsupported queries.
//!
//! - In: the text of a query. Out: a [`Query`], or the position and cause of the error.
//! - Law: a query neither accesses the network nor changes anything. `NOW()` is the time when the
//!   query was parsed, and is the same for all messages.

use std::collections::HashMap;
use std::sync::LazyLock;

use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, NamedNode, NamedNodeRef, Variable};
use oxsdatatypes::DateTime;
use regex::Regex;
use spargebra::algebra::{AggregateExpression, Expression, Function, GraphPattern, QueryDataset};
use spargebra::term::TermPattern;
use spargebra::{Query as Algebra, SparqlParser};

use super::diagnosis::{diagnose, find};
use super::functions::{Calls, StringJoin, limit, limit_strings};
use super::graphs::{name_graphs, needs_graphs};
use super::message::Graphs;
use super::order::sort_by_keys;
use super::paths::{expand, match_absent_ends};
use super::stack::with_stack;
use super::template::Template;
use super::walk::{QueryPart, walk};

/// Maximum size of a query text, in bytes.
const MAX_LENGTH: usize = 16 << 20;
/// Maximum number of open brackets.
const MAX_BRACKETS: usize = 100;
/// Error text for SERVICE.
const NO_SERVICE: &str =
    "SERVICE is not supported, because queries have no network access; remove the SERVICE pattern";

/// Reason why a string cannot be evaluated as a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Description of the error.
    pub reason: String,
    /// Line and column of the error, both from 1.
    pub position: Option<(u64, u64)>,
    /// Prefix that is not declared, if this is the error.
    pub undeclared: Option<String>,
}

impl QueryError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            position: None,
            undeclared: None,
        }
    }

    pub(super) fn at(reason: impl Into<String>, position: Option<(u64, u64)>) -> Self {
        Self {
            position,
            ..Self::new(reason)
        }
    }
}

/// The kind of result of a query.
pub enum Form {
    /// Rows.
    Select,
    /// Triples created from rows.
    Construct(Template),
    /// Whether there is any row.
    Ask,
}

/// A parsed query.
pub struct Query {
    /// Kind of result.
    pub form: Form,
    /// Variables of the rows: those that SELECT selects, or those of the template of CONSTRUCT.
    pub variables: Vec<Variable>,
    /// Algebra to evaluate: SELECT or ASK.
    pub(super) algebra: Algebra,
    /// Graphs to query.
    pub(super) graphs: Graphs,
    /// Number of triple patterns and paths.
    pub(super) parts: usize,
    /// Whether a group of `GRAPH ?g` must be evaluated for each graph separately.
    pub(super) needs_graphs: bool,
    /// All uses of `GROUP_CONCAT`.
    pub(super) joins: Vec<StringJoin>,
    /// Replacement functions that the query calls.
    pub(super) calls: Calls,
    /// Whether the query has no FROM clause and any of its patterns matches the default graph.
    pub uses_default_graph: bool,
    /// Namespaces declared in the query text.
    pub prefixes: Vec<(String, String)>,
}

impl Query {
    /// Parses a query. `prefixes` contains namespaces for prefixes that the query does not declare.
    ///
    /// # Errors
    /// If the text is not a query, or the query is not supported: DESCRIBE, an update, or SERVICE.
    pub fn parse(
        text: &str,
        base: Option<&str>,
        prefixes: &[(String, String)],
        union_graphs: bool,
    ) -> Result<Self, QueryError> {
        if text.len() > MAX_LENGTH {
            return Err(QueryError::new("the query is longer than 16 MiB"));
        }
        check_brackets(text)?;
        let mut parser = SparqlParser::new();
        if let Some(base) = base {
            parser = parser
                .with_base_iri(base)
                .map_err(|error| QueryError::new(format!("invalid base IRI <{base}>: {error}")))?;
        }
        for (name, iri) in prefixes {
            parser = parser.with_prefix(name, iri).map_err(|error| {
                QueryError::new(format!("invalid namespace {name}: <{iri}>: {error}"))
            })?;
        }
        with_stack(|| Self::read(text, &parser, prefixes, union_graphs), || ()).unwrap_or_else(
            |error| {
                Err(QueryError::new(format!(
                    "cannot start a thread for the query: {error}"
                )))
            },
        )
    }

    /// Parses a query. This function must run on a deep stack, because it also drops deeply nested
    /// values.
    fn read(
        text: &str,
        parser: &SparqlParser,
        prefixes: &[(String, String)],
        union_graphs: bool,
    ) -> Result<Self, QueryError> {
        let parsed = parser.clone().parse_query(text);
        let algebra =
            parsed.map_err(|error| invalid(text, &error.to_string(), parser, prefixes))?;
        let base_iri = algebra.base_iri().cloned();
        let dataset = algebra.dataset().cloned();
        let (form, variables, mut pattern) = match algebra {
            Algebra::Select { pattern, .. } => {
                let variables = selected_variables(&pattern).to_vec();
                (Form::Select, variables, pattern)
            }
            Algebra::Ask { pattern, .. } => (Form::Ask, Vec::new(), pattern),
            Algebra::Construct {
                template, pattern, ..
            } => {
                let template = Template::new(template);
                let variables = template.variables().to_vec();
                let pattern = project(pattern, variables.clone());
                (Form::Construct(template), variables, pattern)
            }
            Algebra::Describe { .. } => {
                return Err(QueryError::new(
                    "DESCRIBE is not supported, because its result is not defined; use CONSTRUCT",
                ));
            }
        };
        let now = DateTime::now();
        let mut nodes = HashMap::new();
        let root = QueryPart::Pattern(&mut pattern);
        walk(root, 0, &mut |part| match part {
            QueryPart::Pattern(GraphPattern::Bgp { patterns }) => {
                for triple in patterns {
                    replace_blank_node(&mut triple.subject, &mut nodes);
                    replace_blank_node(&mut triple.object, &mut nodes);
                }
                Ok(())
            }
            QueryPart::Pattern(GraphPattern::Path {
                subject, object, ..
            }) => {
                replace_blank_node(subject, &mut nodes);
                replace_blank_node(object, &mut nodes);
                Ok(())
            }
            QueryPart::Pattern(GraphPattern::Service { .. }) => Err(QueryError::at(
                NO_SERVICE,
                find(text, |word| word.eq_ignore_ascii_case("SERVICE")),
            )),
            QueryPart::Expression(expression) => check_and_replace(expression, text, now),
            QueryPart::Pattern(_) | QueryPart::Path(_) => Ok(()),
        })?;
        expand(&mut pattern, nodes.len())?;
        let parts = count_parts(&mut pattern)?;
        hide_nodes(&mut pattern)?;
        let uses_default_graph = dataset.is_none() && uses_default_graph(&pattern)?;
        match_absent_ends(&mut pattern)?;
        sort_by_keys(&mut pattern)?;
        let joins = limit_strings(&mut pattern)?;
        let calls = Calls::from_pattern(&mut pattern)?;
        let needs_graphs = needs_graphs(&mut pattern)?;
        let graphs = graphs(dataset, union_graphs);
        let dataset = None;
        let algebra = match form {
            Form::Ask => Algebra::Ask {
                dataset,
                pattern,
                base_iri,
            },
            Form::Select | Form::Construct(_) => Algebra::Select {
                dataset,
                pattern,
                base_iri,
            },
        };
        Ok(Self {
            form,
            variables,
            algebra,
            graphs,
            parts,
            needs_graphs,
            joins,
            calls,
            uses_default_graph,
            prefixes: find_declared_prefixes(text),
        })
    }

    /// Returns the names of the variables.
    pub fn names(&self) -> Vec<&str> {
        self.variables.iter().map(Variable::as_str).collect()
    }

    /// Returns the pattern to evaluate.
    pub(super) fn pattern(&self) -> &GraphPattern {
        match &self.algebra {
            Algebra::Select { pattern, .. }
            | Algebra::Construct { pattern, .. }
            | Algebra::Describe { pattern, .. }
            | Algebra::Ask { pattern, .. } => pattern,
        }
    }

    /// Returns the algebra with the groups that are evaluated for each of the graphs.
    pub(super) fn for_graphs(&self, graphs: &[NamedNode]) -> Result<Algebra, QueryError> {
        let mut algebra = self.algebra.clone();
        match &mut algebra {
            Algebra::Select { pattern, .. }
            | Algebra::Construct { pattern, .. }
            | Algebra::Describe { pattern, .. }
            | Algebra::Ask { pattern, .. } => name_graphs(pattern, graphs, self.parts)?,
        }
        Ok(algebra)
    }
}

/// Replaces calls to `NOW()` by one time, and calls to functions without limits by calls to limited
/// versions. Rejects unknown functions.
fn check_and_replace(
    expression: &mut Expression,
    text: &str,
    now: DateTime,
) -> Result<(), QueryError> {
    match expression {
        Expression::FunctionCall(Function::Now, _) => *expression = Expression::Literal(now.into()),
        Expression::FunctionCall(Function::Custom(name), arguments) => {
            check_function(name, arguments.len()).map_err(|reason| {
                QueryError::at(reason, find(text, |word| is_named(word, name)))
            })?;
        }
        _ => limit(expression),
    }
    Ok(())
}

/// Returns the error for a text that is not a query. `reason` is the error of the parser.
fn invalid(
    text: &str,
    reason: &str,
    parser: &SparqlParser,
    prefixes: &[(String, String)],
) -> QueryError {
    match parser.clone().parse_update(text) {
        Ok(update) if update.operations.is_empty() => {
            QueryError::new("the text does not contain a query")
        }
        Ok(_) => QueryError::new(
            "updates are not supported; use CONSTRUCT to create messages, or rdfm patch to apply changes",
        ),
        Err(_) => {
            let in_text = find_declared_prefixes(text);
            let names = prefixes.iter().chain(&in_text).map(|(name, _)| name);
            diagnose(text, reason, parser, |prefix| {
                names.clone().any(|name| name == prefix)
            })
        }
    }
}

/// Whether any pattern of the query matches the default graph.
fn uses_default_graph(pattern: &GraphPattern) -> Result<bool, QueryError> {
    let mut outside = pattern.clone();
    let mut is_used = false;
    walk(QueryPart::Pattern(&mut outside), 0, &mut |part| {
        if let QueryPart::Pattern(pattern) = part {
            match pattern {
                GraphPattern::Graph { .. } => **pattern = GraphPattern::default(),
                GraphPattern::Bgp { patterns } => is_used |= !patterns.is_empty(),
                GraphPattern::Path { .. } => is_used = true,
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(is_used)
}

/// Returns the graphs to query.
fn graphs(dataset: Option<QueryDataset>, union_graphs: bool) -> Graphs {
    match dataset {
        Some(dataset) => Graphs::Named(dataset.default, dataset.named.unwrap_or_default()),
        None if union_graphs => Graphs::Union,
        None => Graphs::AsTheyAre,
    }
}

/// Replaces the blank nodes in a term of a pattern with variables. The evaluation order of a
/// pattern's parts depends on the names of these variables, so the names are the same in each run.
fn replace_blank_node(term: &mut TermPattern, nodes: &mut HashMap<BlankNode, Variable>) {
    match term {
        TermPattern::BlankNode(node) => {
            let next = nodes.len();
            let named = nodes.entry(node.clone());
            let variable = named.or_insert_with(|| node_variable(next));
            *term = TermPattern::Variable(variable.clone());
        }
        TermPattern::Triple(triple) => {
            replace_blank_node(&mut triple.subject, nodes);
            replace_blank_node(&mut triple.object, nodes);
        }
        TermPattern::NamedNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
    }
}

/// Returns the variable for a blank node of the query. Variable names in the query cannot contain
/// spaces.
pub(super) fn node_variable(number: usize) -> Variable {
    Variable::new_unchecked(format!("node {number}"))
}

/// Whether an aggregate is `COUNT(DISTINCT *)`.
fn is_distinct_count(aggregate: &AggregateExpression) -> bool {
    matches!(
        aggregate,
        AggregateExpression::CountSolutions { distinct: true }
    )
}

/// Projects the solutions that `COUNT(DISTINCT *)` counts to the variables of the query. Blank
/// nodes and the nodes between the parts of a path do not make solutions distinct (SPARQL 1.1,
/// section 18.3).
fn hide_nodes(pattern: &mut GraphPattern) -> Result<(), QueryError> {
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        let QueryPart::Pattern(GraphPattern::Group {
            inner,
            variables: keys,
            aggregates,
        }) = part
        else {
            return Ok(());
        };
        if aggregates.iter().any(|(_, each)| is_distinct_count(each)) {
            let mut variables = keys.clone();
            inner.on_in_scope_variable(|variable| {
                if !is_node(variable) && !variables.contains(variable) {
                    variables.push(variable.clone());
                }
            });
            **inner = GraphPattern::Project {
                inner: Box::new(std::mem::take(inner)),
                variables,
            };
        }
        Ok(())
    })
}

/// Returns the number of triple patterns and paths.
fn count_parts(pattern: &mut GraphPattern) -> Result<usize, QueryError> {
    let mut parts = 0;
    walk(QueryPart::Pattern(pattern), 0, &mut |part| {
        match part {
            QueryPart::Pattern(GraphPattern::Bgp { patterns }) => parts += patterns.len(),
            QueryPart::Pattern(GraphPattern::Path { .. }) => parts += 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Whether a variable represents a blank node of the query.
pub(super) fn is_node(variable: &Variable) -> bool {
    variable.as_str().starts_with("node ")
}

/// Whether a word of a query is an IRI, or may be a prefixed name for this IRI.
fn is_named(word: &str, name: &NamedNode) -> bool {
    let local = word.split_once(':').map(|(_, local)| local);
    word.strip_prefix('<').and_then(|iri| iri.strip_suffix('>')) == Some(name.as_str())
        || local.is_some_and(|local| !local.is_empty() && name.as_str().ends_with(local))
}

/// Rejects functions that are neither SPARQL functions nor datatype casts.
fn check_function(name: &NamedNode, arguments: usize) -> Result<(), String> {
    const CASTS: [NamedNodeRef<'_>; 17] = [
        xsd::STRING,
        xsd::BOOLEAN,
        xsd::INTEGER,
        xsd::DECIMAL,
        xsd::FLOAT,
        xsd::DOUBLE,
        xsd::DATE_TIME,
        xsd::DATE,
        xsd::TIME,
        xsd::DURATION,
        xsd::YEAR_MONTH_DURATION,
        xsd::DAY_TIME_DURATION,
        xsd::G_YEAR,
        xsd::G_YEAR_MONTH,
        xsd::G_MONTH,
        xsd::G_MONTH_DAY,
        xsd::G_DAY,
    ];
    if !CASTS.contains(&name.as_ref()) {
        return Err(format!(
            "unknown function {name}; supported functions are those of SPARQL, and casts such as xsd:double(?x)"
        ));
    }
    if arguments != 1 {
        return Err(format!(
            "the cast to {name} takes one argument, but {arguments} were given"
        ));
    }
    Ok(())
}

/// Rejects nesting that is too deep for a recursive descent parser.
fn check_brackets(text: &str) -> Result<(), QueryError> {
    let mut open: usize = 0;
    let (mut line, mut column) = (1, 0);
    for character in text.chars() {
        column += 1;
        match character {
            '(' | '{' | '[' => open += 1,
            ')' | '}' | ']' => open = open.saturating_sub(1),
            '\n' => (line, column) = (line + 1, 0),
            _ => {}
        }
        if open > MAX_BRACKETS {
            return Err(QueryError::at(
                format!("brackets are nested deeper than {MAX_BRACKETS} levels"),
                Some((line, column)),
            ));
        }
    }
    Ok(())
}

/// Returns the namespaces declared in the text of a query.
fn find_declared_prefixes(text: &str) -> Vec<(String, String)> {
    static DECLARATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let declaration =
            r"^(?is)(?:\s|#[^\n]*(?:\n|$))*(?:BASE\s*<[^>]*>|PREFIX\s+([^\s:#<]*):\s*<([^>\s]*)>)";
        Regex::new(declaration).ok()
    });
    let mut prefixes: Vec<(String, String)> = Vec::new();
    let mut rest = text;
    while let Some(declaration) = DECLARATION.as_ref().and_then(|regex| regex.captures(rest)) {
        let part = |index: usize| declaration.get(index).map(|part| part.as_str());
        if let (Some(name), Some(iri)) = (part(1), part(2))
            && NamedNode::new(iri).is_ok()
        {
            prefixes.retain(|(known, _)| known != name);
            prefixes.push((name.to_owned(), iri.to_owned()));
        }
        rest = &rest[part(0).map_or(rest.len(), str::len)..];
    }
    prefixes
}

/// Returns the variables that SELECT selects.
fn selected_variables(pattern: &GraphPattern) -> &[Variable] {
    match pattern {
        GraphPattern::Project { variables, .. } => variables,
        GraphPattern::Slice { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::OrderBy { inner, .. } => selected_variables(inner),
        _ => &[],
    }
}

/// Projects the pattern of CONSTRUCT to the variables of its template.
fn project(pattern: GraphPattern, variables: Vec<Variable>) -> GraphPattern {
    match pattern {
        GraphPattern::Project { inner, .. } => GraphPattern::Project { inner, variables },
        GraphPattern::Slice {
            inner,
            start,
            length,
        } => GraphPattern::Slice {
            inner: Box::new(project(*inner, variables)),
            start,
            length,
        },
        // REDUCED allows duplicate solutions, so it can be dropped.
        GraphPattern::Reduced { inner } => project(*inner, variables),
        other => GraphPattern::Project {
            inner: Box::new(other),
            variables,
        },
    }
}
