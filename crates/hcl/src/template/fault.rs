//! What can be wrong with a template.

use std::fmt;
use std::ops::Range;

/// What is wrong with a template.
///
/// Displays as what happened, in our own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFault {
    /// The heading of HCL's own message in kebab-case, such as `invalid-index`; `invalid-syntax` for what does not parse, and
    /// [`TemplateFault::NOT_SUPPORTED`].
    pub code: &'static str,
    pub message: String,
    /// What to write instead, if that is known.
    pub instead: Option<String>,
    /// The bytes of the template that are at fault.
    pub span: Range<usize>,
    /// Whether the reason is a null in place of a text.
    pub null: bool,
}

impl TemplateFault {
    /// The code of what HCL evaluates and this crate does not.
    pub const NOT_SUPPORTED: &'static str = "not-supported";

    pub(super) fn new(code: &'static str, message: impl Into<String>, span: &Range<usize>) -> Self {
        Self { code, message: message.into(), instead: None, span: span.clone(), null: false }
    }

    pub(super) fn not_supported(what: &str, span: &Range<usize>) -> Self {
        Self::new(Self::NOT_SUPPORTED, format!("tofu-oci does not evaluate {what}"), span)
    }

    pub(super) fn instead(self, instead: impl Into<String>) -> Self {
        Self { instead: Some(instead.into()), ..self }
    }
}

impl fmt::Display for TemplateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TemplateFault {}
