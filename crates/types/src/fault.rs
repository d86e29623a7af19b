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

/// A code, what happened, and what to do: a row of docs/errors.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRow {
    pub code: &'static str,
    pub what: &'static str,
    pub todo: &'static str,
}

/// An error with a code and advice. `#[derive(Fault)]` of `tofu-oci-fault` makes it from what stands at the variants.
pub trait Fault: std::error::Error {
    /// A stable kebab-case name of what went wrong.
    fn code(&self) -> &'static str;

    /// How the program ends because of it.
    fn end(&self) -> FaultEnd;

    /// What to do about it, a sentence each.
    fn hints(&self) -> Vec<String>;
}
