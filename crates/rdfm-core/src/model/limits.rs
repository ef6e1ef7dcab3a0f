//! Limits that protect memory and stack. All sizes are decoded bytes.

/// Default of `max_message_bytes`.
pub const DEFAULT_MAX_MESSAGE_BYTES: u64 = 64 << 20;

/// Limits of a decoder. Each has an option with the same name.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest message, in decoded bytes (arena, terms and quads together). Below 4 GiB.
    pub max_message_bytes: u64,
    /// Maximum nesting of triple terms, and of open brackets in Turtle and TriG.
    pub max_depth: u32,
    /// A batch ends with the message that reaches this many quads.
    pub batch_quads: usize,
    /// A batch ends with the message that reaches this many decoded bytes.
    pub batch_bytes: usize,
    /// A batch ends after this many messages.
    pub batch_messages: usize,
}

impl Default for Limits {
    /// 64 MiB per message, 64 levels; batches of 8 Ki quads, 4 MiB or 8 Ki messages.
    fn default() -> Self {
        Self {
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            max_depth: 64,
            batch_quads: 8192,
            batch_bytes: 4 << 20,
            batch_messages: 8192,
        }
    }
}
