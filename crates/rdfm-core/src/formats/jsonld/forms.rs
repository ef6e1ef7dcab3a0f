//! Forms of recent NDJSON-LD messages, so that later messages of the same form are read faster.
//!
//! - In: lines. Out: the form of a line, if it is among the recent ones.
//! - Cost: a comparison with each form, which usually ends early. If forms do not recur, few are
//!   created. Memory is bounded by `MAX_FORMS` templates.
//! - Gain: 1.9 times for lines of one form, 1.2 for long texts, 0.9 for a short log of many forms
//!   (`make bench-gains PATHS=forms`).
//! - Law: forms do not change the result (`rdfm-laws`).

use super::plan::Plan;
use super::reader::MessageReader;
use crate::model::builder::BatchBuilder;
use crate::model::fast_path::FastPath;
use crate::syntax::json::View;
use crate::syntax::json::survey::Survey;
use crate::syntax::json::template::Template;

/// Maximum number of forms.
const MAX_FORMS: usize = 4;
/// Score of a new form. A line of another form subtracts one; at 0 the form is dropped.
const NEW_SCORE: u32 = 16;
/// Score that a line of the form adds.
const LINE_SCORE: u32 = 8;
/// Maximum score.
const MAX_SCORE: u32 = 64;
/// Maximum number of lines between dropping a form and creating the next.
const MAX_PAUSE: u64 = 1 << 10;

/// The form of a message.
pub(super) struct Form {
    pub template: Template,
    /// `None` if messages of this form have no plan.
    pub plan: Option<Plan>,
    score: u32,
    /// Whether several lines had this form.
    recurs: bool,
}

/// Recent forms. The most recently used form comes first.
#[derive(Default)]
pub(super) struct Forms {
    list: Vec<Form>,
    /// Number of lines read.
    lines: u64,
    /// Version of the contexts.
    version: u64,
    /// Number of lines without new forms after a form is dropped.
    pause: u64,
    /// Number of the first line for which a form may be created.
    next: u64,
}

impl Forms {
    /// Returns the form of a line. Its template contains the tape of the line.
    #[inline]
    pub fn find(&mut self, line: &[u8], survey: &Survey, version: u64) -> Option<&mut Form> {
        self.lines += 1;
        if self.version != version {
            self.version = version;
            self.list.clear();
        }
        let index = self.list.iter_mut().position(|form| {
            let is_found = form.template.read(line, survey).is_some();
            form.score = if is_found {
                MAX_SCORE.min(form.score + LINE_SCORE)
            } else {
                form.score.saturating_sub(1)
            };
            is_found
        })?;
        if index > 0 {
            self.list.swap(0, index);
        }
        let form = self.list.first_mut()?;
        if !form.recurs {
            form.recurs = true;
            self.pause /= 2;
        }
        Some(form)
    }

    /// Adds the form of a message that was read.
    pub fn add(
        &mut self,
        view: &View<'_>,
        survey: &Survey,
        reader: &mut MessageReader,
        builder: &mut BatchBuilder,
    ) {
        let before = self.list.len();
        self.list.retain(|form| form.score > 0);
        if self.list.len() < before {
            self.pause = MAX_PAUSE.min(2 * self.pause + u64::from(NEW_SCORE));
            self.next = self.lines + self.pause;
        }
        let is_full = self.list.len() == MAX_FORMS;
        let waits = !FastPath::Forms.is_on()
            || is_full
            || self.lines < self.next
            || self.version != reader.version();
        if waits || !Template::is_suitable(view, survey) {
            return;
        }
        let plan = reader
            .plan(view, builder)
            .filter(|_| FastPath::Plans.is_on());
        let varies = |node| plan.as_ref().is_none_or(|plan| plan.is_variable(node));
        if let Some(template) = Template::new(view, survey, varies) {
            self.list.push(Form {
                template,
                plan,
                score: NEW_SCORE,
                recurs: false,
            });
        }
    }
}
