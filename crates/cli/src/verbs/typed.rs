//! Whether an option was typed, or only its environment variable was set; options that do not fit.

use crate::diagnostic::Diagnostic;

/// Whether an option was given on the command line; what its variable says is meant for every command.
pub(super) fn typed(given: Option<&str>, variable: &str) -> bool {
    given.is_some_and(|given| std::env::var(variable).ok().as_deref() != Some(given))
}

/// Refuses the first of these options that is given.
pub(super) fn refuse_given(
    options: &[(&str, bool)],
    because: impl FnOnce(&str) -> String,
    hint: &str,
) -> Result<(), Diagnostic> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Diagnostic::usage(because(option)).hint(hint)),
        None => Ok(()),
    }
}
