//! Plans for messages with the same keys as an earlier message, and therefore the same steps.
//!
//! - In: the tape of a message that was read. Out: its [`Plan`], for tapes that differ only in the
//!   text of values.
//! - Cost: no key is looked up, and no object is classified.
//! - Gain: 1.1 to 1.5 times (`make bench-gains PATHS=plans`).
//! - Law: the steps create the quads, terms and errors of [`Walk::value`], in the same order. A
//!   plan is valid while the contexts of the log do not change.
//!
//! References, values with a fixed type, and nodes that contain only properties and types have
//! their own steps. If a property has any other value, one step processes all its values as if
//! there were no plan.

use super::context::Meaning;
use super::definition::{Coercion, Containers};
use super::error::Read;
use super::keyword::Keyword;
use super::shape::ObjectShape;
use super::walk::{ActiveProperty, DROPPED, ObjectEntry, RelativeTo, Walk};
use crate::model::term::TermId;
use crate::syntax::json::JsonKind;

/// Maximum number of steps.
const MAX_STEPS: usize = 1 << 10;

/// The steps of a message.
#[derive(Debug, Default)]
pub struct Plan {
    /// Version of the contexts for which the plan is valid.
    pub(super) version: u64,
    context: u32,
    steps: Vec<Step>,
    /// Nodes of the tape whose text must not change, in ascending order.
    fixed: Vec<u32>,
    /// Number of named subjects.
    named: u32,
    /// The subjects of the current message.
    subjects: Vec<TermId>,
}

impl Plan {
    /// Whether the text of a node may differ in a message with this plan.
    pub fn is_variable(&self, node: u32) -> bool {
        self.fixed.binary_search(&node).is_err()
    }
}

/// A step. Subjects are numbered in the order in which they are named.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Names the root. `id` is the node of its name, or 0.
    Root { id: u32 },
    /// Names a node that is the value of a property.
    Node { of: SubjectProperty, id: u32 },
    /// Adds the types of a subject.
    Types { subject: u32, value: u32 },
    /// Adds a reference.
    Reference { of: SubjectProperty, id: u32 },
    /// Adds a value whose datatype is cached as a property of the context.
    Typed {
        of: SubjectProperty,
        value: u32,
        datatype: u32,
    },
    /// Adds all values of a property.
    Values { of: SubjectProperty, value: u32 },
}

/// A subject, and a property in the context.
#[derive(Clone, Copy, Debug)]
struct SubjectProperty {
    subject: u32,
    property: u32,
}

impl Walk<'_> {
    /// Creates a plan for a message that was read in this context. Returns `None` if no plan can
    /// describe the message.
    pub fn plan(&mut self, context: u32) -> Option<Plan> {
        let state = &self.contexts.get(context).state;
        let is_simple = !state.has_scoped && state.previous.is_none();
        if !is_simple || self.view.tape.has_contexts() || self.view.kind(0) != JsonKind::Object {
            return None;
        }
        let mut plan = Plan {
            context,
            ..Plan::default()
        };
        let dropped = self.dropped.clone();
        let is_planned = self.plan_node(0, None, &mut plan);
        *self.dropped = dropped;
        plan.fixed.sort_unstable();
        matches!(is_planned, Ok(true)).then_some(plan)
    }

    /// Adds the steps of a node. Returns false if the node contains anything but properties and
    /// types.
    fn plan_node(
        &mut self,
        object: u32,
        of: Option<SubjectProperty>,
        plan: &mut Plan,
    ) -> Read<bool> {
        let dropped = self.dropped.count;
        let shape = self.find_shape(object, plan.context)?;
        let subject = plan.named;
        plan.named += 1;
        plan.steps.push(match of {
            None => Step::Root { id: shape.id },
            Some(of) => Step::Node { of, id: shape.id },
        });
        let mut is_planned = is_plain_node(&shape) && self.dropped.count == dropped;
        for index in shape.from..shape.to {
            let Some(&ObjectEntry { meaning, value, .. }) = self.entries.get(index) else {
                break;
            };
            is_planned &= plan.steps.len() < MAX_STEPS;
            match meaning {
                _ if !is_planned => break,
                Meaning::Property(property) => {
                    let of = SubjectProperty { subject, property };
                    self.plan_property(of, value, plan)?;
                }
                Meaning::Keyword(Keyword::Type) => plan.steps.push(Step::Types { subject, value }),
                _ => is_planned = false,
            }
        }
        self.entries.truncate(shape.from);
        Ok(is_planned)
    }

    /// Adds the steps of a property.
    fn plan_property(&mut self, of: SubjectProperty, value: u32, plan: &mut Plan) -> Read<()> {
        let (steps, named) = (plan.steps.len(), plan.named);
        if !self.plan_values(of, value, plan)? {
            plan.steps.truncate(steps);
            plan.named = named;
            plan.steps.push(Step::Values { of, value });
        }
        Ok(())
    }

    /// Adds a step for each value of a property. Returns false if that is not possible.
    fn plan_values(&mut self, of: SubjectProperty, value: u32, plan: &mut Plan) -> Read<bool> {
        let property = self.contexts.property(plan.context, of.property);
        let is_simple = property.definition.as_ref().is_none_or(|definition| {
            !definition.reverse
                && definition.scoped.is_none()
                && definition.coercion != Coercion::Json
                && definition.containers.has_only(Containers::SET)
        });
        if !property.is_iri || !is_simple {
            return Ok(false);
        }
        let view = self.view;
        if view.kind(value) != JsonKind::Array {
            return self.plan_value(of, value, plan);
        }
        for item in view.items(value) {
            if !self.plan_value(of, item, plan)? {
                return Ok(false);
            }
        }
        // An empty array still adds the predicate to the batch.
        Ok(view.items(value).next().is_some())
    }

    /// Adds the steps of a value. Returns false if the value cannot have its own steps.
    fn plan_value(&mut self, of: SubjectProperty, value: u32, plan: &mut Plan) -> Read<bool> {
        let view = self.view;
        if view.kind(value) != JsonKind::Object {
            return Ok(false);
        }
        let mut means = |key: u32, keyword: Keyword| {
            self.contexts.find_meaning(plan.context, view.text(key)) == Meaning::Keyword(keyword)
        };
        let mut keys = view.keys(value);
        match (keys.next(), keys.next(), keys.next()) {
            (None, ..) => Ok(false),
            (Some(key), None, _) if means(key, Keyword::Id) => {
                plan.steps.push(Step::Reference { of, id: key + 1 });
                Ok(view.kind(key + 1) == JsonKind::String)
            }
            (Some(first), Some(second), None)
                if means(first, Keyword::Value) && means(second, Keyword::Type) =>
            {
                Ok(self.plan_typed(of, first + 1, second + 1, plan))
            }
            _ => self.plan_node(value, Some(of), plan),
        }
    }

    /// Adds the step of a value with a type. Returns false if the datatype is not cached
    /// in the context.
    fn plan_typed(&mut self, of: SubjectProperty, value: u32, kind: u32, plan: &mut Plan) -> bool {
        let view = self.view;
        let unusual = [JsonKind::Object, JsonKind::Array, JsonKind::Null];
        if unusual.contains(&view.kind(value)) || view.kind(kind) != JsonKind::String {
            return false;
        }
        let Some(datatype) = self.find_cached_datatype(kind, plan.context) else {
            return false;
        };
        plan.fixed.push(kind);
        plan.steps.push(Step::Typed {
            of,
            value,
            datatype,
        });
        true
    }

    /// Processes a message according to its plan.
    pub fn follow(&mut self, plan: &mut Plan) -> Read<()> {
        let (context, graph) = (plan.context, TermId::DEFAULT_GRAPH);
        let subjects = &mut plan.subjects;
        subjects.clear();
        for step in &plan.steps {
            match *step {
                Step::Root { id } => {
                    let id = self.add_subject(id, context)?;
                    subjects.push(id);
                }
                Step::Node { of, id } => {
                    let (subject, predicate) =
                        self.add_subject_and_predicate(of, context, subjects)?;
                    self.contexts.check_work()?;
                    let id = self.add_subject(id, context)?;
                    subjects.push(id);
                    self.add_quad(subject, predicate, id, graph)?;
                }
                Step::Types { subject, value } => {
                    self.add_types(subject_of(subject, subjects), value, context, graph)?;
                }
                Step::Reference { of, id } => {
                    let (subject, predicate) =
                        self.add_subject_and_predicate(of, context, subjects)?;
                    let id = self.add_subject(id, context)?;
                    self.add_quad(subject, predicate, id, graph)?;
                }
                Step::Typed {
                    of,
                    value,
                    datatype,
                } => {
                    let (subject, predicate) =
                        self.add_subject_and_predicate(of, context, subjects)?;
                    let term = self.add_with_datatype(value, datatype, context)?;
                    self.add_quad(subject, predicate, term, graph)?;
                }
                Step::Values { of, value } => {
                    let property = ActiveProperty::from_cache(context, of.property);
                    let subject = subject_of(of.subject, subjects);
                    self.walk_property(subject, property, value, graph)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a node, or a blank node if `id` is 0.
    #[inline]
    fn add_subject(&mut self, id: u32, context: u32) -> Read<TermId> {
        if id == 0 {
            return self.add_anonymous();
        }
        self.add_name_of_node(id, context, RelativeTo::Base, "the @id")
    }

    /// Returns the terms of the subject and the property of a step.
    #[inline]
    fn add_subject_and_predicate(
        &mut self,
        of: SubjectProperty,
        context: u32,
        subjects: &[TermId],
    ) -> Read<(TermId, TermId)> {
        let property = self.contexts.property_mut(context, of.property);
        let predicate = self.terms.add_property(self.builder, property)?;
        Ok((subject_of(of.subject, subjects), predicate))
    }
}

#[inline]
fn subject_of(subject: u32, subjects: &[TermId]) -> TermId {
    subjects.get(subject as usize).copied().unwrap_or(DROPPED)
}

/// Whether an object contains only an `@id`, types and properties.
fn is_plain_node(shape: &ObjectShape) -> bool {
    let others = [
        shape.value,
        shape.language,
        shape.direction,
        shape.index,
        shape.list,
        shape.set,
        shape.graph,
    ];
    others == [0; 7] && !shape.included && !shape.reverse
}
