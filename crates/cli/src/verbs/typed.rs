//! Whether an option was typed, or only its environment variable was set.

use crate::args::HostParser;

/// Whether an option was given on the command line; what its variable says is meant for every command.
pub(super) fn typed(given: Option<&str>, variable: &str) -> bool {
    given.is_some_and(|given| std::env::var(variable).ok().as_deref() != Some(given))
}

/// The same of a list of hosts. What the variable says is read as the option's values are.
pub(super) fn typed_hosts(given: &[String], variable: &str) -> bool {
    let said = std::env::var(variable).unwrap_or_default();
    !given.is_empty() && !said.split(',').map(HostParser::host).eq(given.iter().cloned().map(Some))
}
