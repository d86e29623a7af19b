//! Whether an option was typed, or only its environment variable was set.

/// Whether an option was given on the command line; what its variable says is meant for every command.
pub(super) fn typed(given: Option<&str>, variable: &str) -> bool {
    given.is_some_and(|given| std::env::var(variable).ok().as_deref() != Some(given))
}
