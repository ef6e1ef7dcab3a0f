//! The two dialects of RDF message logs in text: their delimiters and version labels.
//!
//! - In: version labels, and the delimiters between statements.
//! - Out: whether a delimiter ends a message, is an ordinary comment, or is an error.
//! - Law: the result depends only on the order of labels and delimiters, not on how the input is
//!   cut.
//!
//! The reader builds the messages. It opens a message at a statement. If [`Dialects::handle_delimiter`]
//! returns [`DelimiterEffect::Ends`], the reader ends the open message or, if none is open, adds an
//! empty one. At the end of the log, the reader ends the open message. Therefore, in both dialects,
//! a trailing delimiter adds nothing and two consecutive delimiters enclose an empty message.

use std::sync::Arc;

use crate::codec::options::{ANNOUNCED, LENIENT, READ_DIALECT};
use crate::codec::values::Values;
use crate::codec::{Dialect, LogEnd, LogHeader, Observations};
use crate::model::remedy::{Reason, Remedy};
use crate::syntax::text::look_alikes::{LookAlikes, resembles_delimiter};

/// The option to read directives in a log that is read in another dialect.
const READ_MESSAGES: Remedy = Remedy::read("dialect", "directive", "reads its messages");

/// The labels that announce a message log in the directive dialect.
pub const MESSAGE_LABELS: [&str; 3] = ["1.1-messages", "1.2-basic-messages", "1.2-messages"];

/// Whether a version label announces messages.
pub fn announces_messages(label: &str) -> bool {
    MESSAGE_LABELS.contains(&label)
}

/// Whether the text of a comment, after its `#`, matches `^\s*@message`.
#[inline]
pub fn is_comment_delimiter(comment: &[u8]) -> bool {
    let rest = comment.trim_ascii_start();
    match rest.first() {
        Some(b'@') => rest.starts_with(b"@message"),
        // Vertical tab, and white space beyond ASCII.
        Some(0x0b | 0x80..) => {
            std::str::from_utf8(rest).is_ok_and(|text| text.trim_start().starts_with("@message"))
        }
        _ => false,
    }
}

/// A delimiter between statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// A comment that satisfies [`is_comment_delimiter`].
    Comment,
    /// `MESSAGE`, or `@message .` in Turtle and TriG.
    Directive,
}

/// The effect of a delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelimiterEffect {
    /// The delimiter ends the open message, or adds an empty one if none is open.
    Ends,
    /// No effect: an ordinary comment, or a leading delimiter of the comment dialect.
    Nothing,
}

/// Options for the dialect of a log.
#[derive(Clone, Debug, Default)]
pub struct DialectOptions {
    /// The dialect, or `None` if it is to be detected.
    pub dialect: Option<Dialect>,
    /// Whether `MESSAGE` delimits messages in a log that does not announce them.
    pub lenient: bool,
    /// A version label announced outside the log.
    pub announced: Option<String>,
}

impl DialectOptions {
    /// Returns the options of a decoder.
    pub fn from_values(values: &Values) -> Self {
        Self {
            dialect: values.text(&READ_DIALECT).and_then(Dialect::from_name),
            lenient: values.is_on(&LENIENT),
            announced: values.text(&ANNOUNCED).map(str::to_owned),
        }
    }
}

/// The dialect in force in a log, and the header of the log.
#[derive(Clone, Debug)]
pub struct Dialects {
    requested: Option<Dialect>,
    lenient: bool,
    announced: bool,
    last_delimiter: Option<Delimiter>,
    /// The result of [`observed_dialect`](Self::observed_dialect) at the end of the first message.
    first: Option<Dialect>,
    header: Arc<LogHeader>,
    look_alikes: LookAlikes,
    /// Whether the log ends with content, a delimiter or neither. Set when its end is reached.
    end: Option<LogEnd>,
    rejects_delimiters: bool,
}

impl Dialects {
    /// Starts at the beginning of a log.
    pub fn new(options: &DialectOptions) -> Self {
        let mut dialects = Self {
            requested: options.dialect,
            lenient: options.lenient,
            announced: options.announced.as_deref().is_some_and(announces_messages),
            last_delimiter: None,
            first: None,
            header: LogHeader::none(),
            look_alikes: LookAlikes::default(),
            end: None,
            rejects_delimiters: false,
        };
        if let Some(label) = &options.announced {
            dialects.rebuild_header(Some(label));
        }
        dialects
    }

    /// Starts after the head of a log, with a known dialect.
    pub fn after_head(options: &DialectOptions, dialect: Dialect) -> Self {
        let mut dialects = Self::new(options);
        dialects.announced |= dialect == Dialect::Directive;
        dialects.rebuild_header(None);
        dialects
    }

    /// Handles a version label in the log. A label that announces messages applies to the rest of
    /// the log.
    pub fn handle_version(&mut self, label: &str) {
        let announces = announces_messages(label);
        let applies = announces || !self.announced;
        self.announced |= announces;
        self.rebuild_header(applies.then_some(label));
    }

    /// The dialect in force.
    #[inline]
    pub fn in_force(&self) -> Dialect {
        match self.requested {
            Some(dialect) => dialect,
            None if self.announced => Dialect::Directive,
            None => Dialect::Comment,
        }
    }

    /// Handles a delimiter. `open` is true if a message is open.
    ///
    /// # Errors
    /// If a directive is not allowed here. The reader adds the position of the delimiter's first
    /// byte to the reason.
    pub fn handle_delimiter(
        &mut self,
        delimiter: Delimiter,
        open: bool,
    ) -> Result<DelimiterEffect, Reason> {
        let before = (self.first.is_none(), self.last_delimiter, self.announced);
        let effect = self.handle(delimiter, open);
        if self.first.is_none() && effect == Ok(DelimiterEffect::Ends) {
            self.first = self.observed_dialect();
        }
        if before != (self.first.is_none(), self.last_delimiter, self.announced) {
            self.rebuild_header(None);
        }
        effect
    }

    fn handle(&mut self, delimiter: Delimiter, open: bool) -> Result<DelimiterEffect, Reason> {
        let first = self.last_delimiter.is_none() && !open;
        match (delimiter, self.in_force()) {
            (Delimiter::Comment, Dialect::Comment) => {
                self.last_delimiter = Some(delimiter);
                Ok(if first {
                    DelimiterEffect::Nothing
                } else {
                    DelimiterEffect::Ends
                })
            }
            (Delimiter::Comment, Dialect::Directive | Dialect::Plain) => {
                Ok(DelimiterEffect::Nothing)
            }
            (Delimiter::Directive, Dialect::Directive) if self.announced || self.lenient => {
                self.last_delimiter = Some(delimiter);
                Ok(DelimiterEffect::Ends)
            }
            (Delimiter::Directive, Dialect::Comment)
                if self.requested.is_none() && self.lenient =>
            {
                self.announced = true;
                self.last_delimiter = Some(delimiter);
                Ok(DelimiterEffect::Ends)
            }
            (Delimiter::Directive, Dialect::Plain) => Err(Reason::new(
                "MESSAGE in a log that is read in the plain dialect",
            )
            .with(READ_MESSAGES)),
            (Delimiter::Directive, Dialect::Comment) if self.requested.is_some() => Err(
                Reason::new("MESSAGE in a log that is read in the comment dialect")
                    .with(READ_MESSAGES),
            ),
            (Delimiter::Directive, Dialect::Comment | Dialect::Directive) => Err(Reason::new(
                "MESSAGE in a log that does not announce messages; expected VERSION \
                 \"1.2-messages\" before it",
            )
            .with(Remedy::lenient("accepts it"))
            .with(Remedy::read("announced", "1.2-messages", "announces them"))),
        }
    }

    /// Makes delimiters errors, because the log was found to have none.
    pub fn reject_delimiters(&mut self) {
        self.rejects_delimiters = true;
    }

    /// Whether delimiters are errors.
    pub fn are_delimiters_rejected(&self) -> bool {
        self.rejects_delimiters && self.in_force() != Dialect::Plain
    }

    /// Whether comments delimit messages.
    pub fn are_comments_delimiters(&self) -> bool {
        self.in_force() == Dialect::Comment
    }

    /// Whether a comment between statements looks like a delimiter but is not one in this dialect.
    /// If it is alone on its line, the caller then calls [`note`](Self::note). `complete` is true
    /// if the text is the entire comment.
    #[inline]
    pub fn resembles_delimiter(&self, comment: &[u8], complete: bool) -> bool {
        match self.in_force() {
            Dialect::Comment => {
                resembles_delimiter(comment, complete) && !is_comment_delimiter(comment)
            }
            Dialect::Directive => {
                resembles_delimiter(comment, complete) || is_comment_delimiter(comment)
            }
            Dialect::Plain => false,
        }
    }

    /// Records a comment that [resembles](Self::resembles_delimiter) a delimiter, with its offset
    /// in the log.
    pub fn note(&mut self, comment: &[u8], offset: u64, line: Option<u64>) {
        self.look_alikes.add(comment, offset, line, self.in_force());
    }

    /// Determines the missing line numbers of recorded comments.
    #[inline]
    pub fn locate(&mut self, line: impl Fn(u64) -> u64) {
        self.look_alikes.locate(line);
    }

    /// Whether a reader can continue at this delimiter after an error.
    pub fn can_resume(&mut self, delimiter: Delimiter) -> bool {
        matches!(
            self.handle_delimiter(delimiter, true),
            Ok(DelimiterEffect::Ends)
        )
    }

    /// Whether the log or an option has determined the dialect.
    pub fn is_known(&self) -> bool {
        self.requested.is_some() || self.announced || self.last_delimiter.is_some()
    }

    /// Like [`can_resume`](Self::can_resume), for readers that look for delimiters of both
    /// dialects. If the dialect is still unknown, the first delimiter determines it.
    pub fn can_resume_at_first(&mut self, delimiter: Delimiter) -> bool {
        let allows_directives = matches!(self.requested, None | Some(Dialect::Directive));
        if delimiter == Delimiter::Directive && allows_directives && self.last_delimiter.is_none() {
            self.announced = true;
        }
        self.can_resume(delimiter)
    }

    /// The dialect that the log has announced or used.
    fn observed_dialect(&self) -> Option<Dialect> {
        match self.last_delimiter {
            _ if self.announced => Some(Dialect::Directive),
            Some(Delimiter::Comment) => Some(Dialect::Comment),
            Some(Delimiter::Directive) => Some(Dialect::Directive),
            None => None,
        }
    }

    /// Header of the log. Its dialect is the dialect of the first message, so the header does not
    /// depend on how far the log has been read.
    pub fn header(&self) -> Arc<LogHeader> {
        Arc::clone(&self.header)
    }

    /// Rebuilds the header if it changed.
    fn rebuild_header(&mut self, label: Option<&str>) {
        let shown = self.observed_dialect();
        let dialect = self.first.or(shown);
        let changes_dialect = self.first.is_some_and(|first| Some(first) != shown);
        let known = &self.header;
        if known.dialect == dialect
            && known.changes_dialect == changes_dialect
            && label.is_none_or(|label| known.version_label.as_deref() == Some(label))
        {
            return;
        }
        self.header = Arc::new(LogHeader {
            dialect,
            changes_dialect,
            version_label: label.or(known.version_label.as_deref()).map(str::to_owned),
            ..LogHeader::default()
        });
    }

    /// Marks the end of the log. `open` is true if a message is open.
    pub fn end(&mut self, open: bool) {
        self.end.get_or_insert(match self.observed_dialect() {
            _ if open => LogEnd::Content,
            Some(_) => LogEnd::Delimiter,
            None => LogEnd::Start,
        });
    }

    /// Comments that look like delimiters, and how the log ends.
    pub fn observations(&self) -> Observations {
        let (look_alikes, look_alike_offsets) = self.look_alikes.positions();
        Observations {
            look_alikes,
            look_alike_offsets,
            notes: self
                .look_alikes
                .note()
                .map(Reason::from)
                .into_iter()
                .collect(),
            end: self.end,
            closed: (self.header.changes_dialect).then_some("it changes its dialect"),
            ..Observations::default()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failing unwrap is a failing test
    use super::*;

    fn dialects(dialect: Option<Dialect>, announced: Option<&str>, lenient: bool) -> Dialects {
        Dialects::new(&DialectOptions {
            dialect,
            lenient,
            announced: announced.map(str::to_owned),
        })
    }

    /// Number of statements in each message. `q` is a statement, `c` a comment, `M` a directive,
    /// and `V` and `v` are version labels that do and do not announce messages.
    fn read(mut dialects: Dialects, log: &str) -> (Vec<u32>, Option<Reason>) {
        let (mut messages, mut open) = (Vec::new(), None);
        for c in log.chars() {
            let delimiter = match c {
                'q' => {
                    *open.get_or_insert(0) += 1;
                    continue;
                }
                'V' => {
                    dialects.handle_version("1.2-messages");
                    continue;
                }
                'v' => {
                    dialects.handle_version("1.1");
                    continue;
                }
                'c' => Delimiter::Comment,
                _ => Delimiter::Directive,
            };
            match dialects.handle_delimiter(delimiter, open.is_some()) {
                Ok(DelimiterEffect::Ends) => messages.push(open.take().unwrap_or(0)),
                Ok(DelimiterEffect::Nothing) => {}
                Err(reason) => return (messages, Some(reason)),
            }
        }
        messages.extend(open);
        (messages, None)
    }

    fn good(dialects: Dialects, log: &str) -> Vec<u32> {
        let (messages, error) = read(dialects, log);
        assert_eq!(error, None, "{log}");
        messages
    }

    #[test]
    fn comments_are_delimiters_unless_messages_are_announced() {
        for (log, messages) in [
            ("", vec![]),
            ("qq", vec![2]),
            ("qcqqc", vec![1, 2]),
            ("cqcq", vec![1, 1]),
            ("ccq", vec![0, 1]),
            ("c", vec![]),
            ("cc", vec![0]),
            ("qccq", vec![1, 0, 1]),
            ("vcqcq", vec![1, 1]),
        ] {
            assert_eq!(good(dialects(None, None, false), log), messages, "{log}");
        }
    }

    #[test]
    fn directives_are_delimiters_if_messages_are_announced() {
        for (log, messages) in [
            ("V", vec![]),
            ("VM", vec![0]),
            ("VqMMM", vec![1, 0, 0]),
            ("VMqMq", vec![0, 1, 1]),
            ("VqcqM", vec![2]),
            ("VvqMq", vec![1, 1]),
        ] {
            assert_eq!(good(dialects(None, None, false), log), messages, "{log}");
            let outside = dialects(None, Some("1.2-basic-messages"), false);
            assert_eq!(good(outside, &log[1..]), messages, "{log}");
            let directive = dialects(Some(Dialect::Directive), None, false);
            assert_eq!(good(directive, log), messages, "{log}");
        }
    }

    #[test]
    fn an_unannounced_directive_is_an_error_after_the_messages_before_it() {
        let (messages, error) = read(dialects(None, None, false), "qcqMq");
        assert_eq!(messages, [1]);
        let error = error.unwrap();
        assert!(
            error.text().contains("does not announce messages"),
            "{error}"
        );
        let options: Vec<_> = error.remedies().iter().map(|r| r.option).collect();
        assert_eq!(options, ["lenient", "announced"]);
        assert!(
            read(dialects(Some(Dialect::Directive), None, false), "M")
                .1
                .is_some()
        );
        assert!(read(dialects(None, Some("1.2"), false), "M").1.is_some());
    }

    #[test]
    fn lenient_accepts_an_unannounced_directive() {
        assert_eq!(good(dialects(None, None, true), "vqMqcqMM"), [1, 2, 0]);
        let directive = dialects(Some(Dialect::Directive), None, true);
        assert_eq!(good(directive, "qcMMq"), [1, 0, 1]);
    }

    #[test]
    fn a_requested_dialect_applies_to_the_entire_log() {
        let comment = || dialects(Some(Dialect::Comment), Some("1.2-messages"), true);
        assert_eq!(good(comment(), "cqcVqcq"), [1, 1, 1]);
        assert!(read(comment(), "VM").1.is_some());
        let plain = || dialects(Some(Dialect::Plain), None, true);
        assert_eq!(good(plain(), "cqcVqcq"), [3]);
        assert!(read(plain(), "VM").1.is_some());
    }

    #[test]
    fn comments_that_begin_with_message_are_delimiters() {
        for comment in [
            "@message",
            " @message",
            "\t @messages",
            "\u{a0}@message x",
            "\u{b}@message",
        ] {
            assert!(is_comment_delimiter(comment.as_bytes()), "{comment:?}");
        }
        for comment in [
            "",
            "# @message",
            " see @message",
            "@Message",
            "@ message",
            "@messag",
            "é",
        ] {
            assert!(!is_comment_delimiter(comment.as_bytes()), "{comment:?}");
        }
        assert!(!is_comment_delimiter(b"\xff@message"));
    }

    #[test]
    fn the_header_has_the_dialect_of_the_first_message() {
        let mut state = dialects(None, None, false);
        assert_eq!(
            state.handle_delimiter(Delimiter::Comment, true),
            Ok(DelimiterEffect::Ends)
        );
        state.handle_version("1.2-messages");
        assert_eq!(state.in_force(), Dialect::Directive);
        assert_eq!(state.header().dialect, Some(Dialect::Comment));
        assert!(state.header().changes_dialect);
    }

    #[test]
    fn delimiters_and_labels_update_the_header() {
        let mut state = dialects(None, None, false);
        assert_eq!(state.header().dialect, None);
        assert_eq!(
            state.handle_delimiter(Delimiter::Comment, false),
            Ok(DelimiterEffect::Nothing)
        );
        assert_eq!(state.header().dialect, Some(Dialect::Comment));
        state.handle_version("1.1-messages");
        state.handle_version("1.1");
        assert_eq!(state.header().dialect, Some(Dialect::Directive));
        assert!(!state.header().changes_dialect);
        assert_eq!(
            state.header().version_label.as_deref(),
            Some("1.1-messages")
        );
    }
}
