//! What can be wrong with a template.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The first fault of a template, with the others.
///
/// Displays as what happened, in our own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFault {
    /// The heading of HCL's own message in kebab-case, such as `invalid-index` or `function-calls-not-allowed`.
    pub code: String,
    pub message: String,
    /// What to write instead, if that is known.
    pub instead: Option<Cow<'static, str>>,
    /// The bytes of the template that are at fault.
    pub span: Range<usize>,
    /// Whether the reason is a null in place of a text.
    pub null: bool,
    /// The other faults that HCL reports, in its order. Theirs are empty.
    pub also: Vec<TemplateFault>,
}

impl TemplateFault {
    /// A fault without others.
    pub(crate) fn new(code: &str, wording: impl Into<Wording>, span: Range<usize>) -> Self {
        let Wording { message, instead } = wording.into();
        Self { code: code.to_owned(), message, instead, span, null: false, also: Vec::new() }
    }

    /// The first of `faults` with the others beside it; `None` if there is none.
    pub(crate) fn first(faults: Vec<Self>) -> Option<Self> {
        let mut faults = faults.into_iter();
        let mut first = faults.next()?;
        first.also = faults.collect();
        Some(first)
    }

    /// This fault and those beside it, each by itself.
    pub fn each(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.also)
    }
}

impl fmt::Display for TemplateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TemplateFault {}

/// The text of a fault: a message, perhaps with what to write instead.
pub(crate) struct Wording {
    message: String,
    instead: Option<Cow<'static, str>>,
}

impl From<&str> for Wording {
    fn from(message: &str) -> Self {
        Self { message: message.to_owned(), instead: None }
    }
}

impl From<String> for Wording {
    fn from(message: String) -> Self {
        Self { message, instead: None }
    }
}

impl<M: Into<String>, I: Into<Cow<'static, str>>> From<(M, I)> for Wording {
    fn from((message, instead): (M, I)) -> Self {
        Self { message: message.into(), instead: Some(instead.into()) }
    }
}
