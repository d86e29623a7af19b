//! What `-h` and `--help` show of a command, and in which order.
//!
//! The declared text after the options is everything that `--help` says beside them. `-h` shows its examples alone, and
//! one line in place of the options of registry access.

use clap::Command;
use clap::builder::Resettable;

/// The command and its verbs, with the examples before the options.
pub(super) fn examples_first(command: Command) -> Command {
    let command = command.mut_subcommands(examples_first);
    let everything = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let shown =
        Some(examples(&everything)).filter(|text| !text.is_empty()).map(|text| text.replace("\n\n", "\n").into());
    let end = last_line(&command);
    command
        .after_help(Resettable::from(shown))
        .after_long_help(everything)
        .help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}{{after-help}}\n\n{{all-args}}{end}"))
}

/// The paragraphs of examples that a text begins with.
fn examples(text: &str) -> &str {
    if !text.starts_with("Example") {
        return "";
    }
    let mut end = text.len();
    for (at, _) in text.match_indices("\n\n") {
        if !text[at + 2..].starts_with(' ') {
            end = at;
            break;
        }
    }
    &text[..end]
}

/// The last line of the help of a command.
fn last_line(command: &Command) -> &'static str {
    if command.get_arguments().any(|argument| argument.get_long() == Some("plain-http")) {
        "\n\nRegistry access: --ca-file, --plain-http, --username, --anonymous, --timeout and others;\n\
         `tofu-oci help registry-access` explains them."
    } else if command.has_subcommands() && command.get_version().is_some() {
        "\n\n`tofu-oci help VERB` prints everything about a verb; `tofu-oci help` lists the other topics."
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_end_at_the_first_paragraph_that_is_not_indented() {
        assert_eq!(examples("Examples:\n  a\n\n  b\n\n`a` does this.\n\n  c"), "Examples:\n  a\n\n  b");
        assert_eq!(examples("Example:\n  a"), "Example:\n  a");
        assert_eq!(examples("Where it looks:\n  a"), "");
    }
}
