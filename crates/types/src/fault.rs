//! What an error says beside its text: its code, its exit, and its hints.

/// How the program ends because of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEnd {
    /// The user can fix it: something is not there, is refused or does not match.
    Fixable,
    /// Wrong usage or configuration.
    Usage,
    /// The network, the machine, or a bug.
    Unexpected,
}

impl FaultEnd {
    /// The end because of something that may be different the next time, or is not.
    pub fn of_transient(is_transient: bool) -> Self {
        if is_transient { Self::Unexpected } else { Self::Fixable }
    }
}

/// A code, what happened, and what to do: a row of docs/reference/errors.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRow {
    pub code: &'static str,
    pub what: &'static str,
    pub todo: &'static str,
}

/// Stands for `tofu-oci` in an advice, where the options that say how this run reaches its places belong to the command,
/// which ends with the next backtick or with the text.
pub const RUN: &str = "\u{1}tofu-oci";

/// An error with a code and advice. `#[derive(Fault)]` of `tofu-oci-fault` makes it from what stands at the variants.
pub trait Fault {
    /// A stable kebab-case name of what went wrong.
    fn code(&self) -> &'static str;

    /// How the program ends because of it.
    fn end(&self) -> FaultEnd;

    /// Why, beside the errors below it; a text each.
    fn causes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What to do about it, a sentence each.
    fn hints(&self) -> Vec<String>;
}
