//! What `-h` and `--help` show of a command, and in which order.
//!
//! The declared text after the options is everything that `--help` says beside them. `-h` shows its examples alone, and
//! one line in place of the options of registry access.

use clap::Command;
use clap::builder::Resettable;

use crate::page::padded;
use crate::terminal;

/// What people come for, and the verbs that do it.
pub(crate) const GROUPS: [(&str, &[&str]); 5] = [
    ("Publish", &["push", "pack", "copy", "module", "sign", "attach", "withdraw", "deprecate"]),
    ("Install", &["install", "lock", "run", "providers"]),
    ("Look", &["versions", "show", "docs", "verify", "check", "outdated", "resolve"]),
    ("Keep", &["mirror", "bundle", "serve", "cache"]),
    ("Operate", &["login", "logout", "auth", "trust", "config", "completions", "man", "version", "help"]),
];

/// The command and those of its verbs that are wanted, with the examples before the options.
pub(super) fn examples_first(command: Command, is_wanted: &dyn Fn(&Command) -> bool) -> Command {
    let command = command.mut_subcommands(|verb| if is_wanted(&verb) { examples_first(verb, is_wanted) } else { verb });
    let everything = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let shown =
        Some(examples(&everything)).filter(|text| !text.is_empty()).map(|text| text.replace("\n\n", "\n").into());
    let end = last_line(&command);
    let groups = groups(&command);
    let header = *command.get_styles().get_header();
    let options = if groups.is_empty() {
        "{all-args}".to_owned()
    } else {
        format!("{groups}{header}Output:{header:#}\n{{options}}")
    };
    command
        .after_help(Resettable::from(shown))
        .after_long_help(everything)
        .help_template(format!("{{about}}\n\n{{usage-heading}} {{usage}}{{after-help}}\n\n{options}{end}"))
}

/// The verbs of the program by what they are for; empty for a verb.
fn groups(command: &Command) -> String {
    if command.get_version().is_none() {
        return String::new();
    }
    let (header, name) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let column = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max().unwrap_or_default();
    let (mut text, columns) = (String::new(), terminal::page_columns());
    for (title, verbs) in GROUPS {
        text += &format!("{header}{title}:{header:#}\n");
        for verb in verbs.iter().filter_map(|verb| command.find_subcommand(verb)) {
            let lead = format!("  {name}{}{name:#}  ", padded(verb.get_name(), column));
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let mut used = column + 4;
            text += &lead;
            for (nth, word) in about.split(' ').enumerate() {
                let is_full = used + 1 + word.len() > columns;
                let gap = if is_full { format!("\n{}", " ".repeat(column + 4)) } else { " ".repeat(nth.min(1)) };
                used = if is_full { column + 4 } else { used + gap.len() } + word.len();
                text += &gap;
                text += word;
            }
            text += "\n";
        }
    }
    text
}

/// The paragraphs of examples that a text begins with.
pub(crate) fn examples(text: &str) -> &str {
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
    fn each_verb_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let command = crate::args::declared();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    #[test]
    fn the_examples_end_at_the_first_paragraph_that_is_not_indented() {
        assert_eq!(examples("Examples:\n  a\n\n  b\n\n`a` does this.\n\n  c"), "Examples:\n  a\n\n  b");
        assert_eq!(examples("Example:\n  a"), "Example:\n  a");
        assert_eq!(examples("Where it looks:\n  a"), "");
    }
}
