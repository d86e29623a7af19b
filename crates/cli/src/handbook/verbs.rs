//! The page about all verbs, written from their declared arguments, in the groups of `-h`.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::markdown::{PageBlock, blocks};
use super::topics::{HelpTopic, topic};
use crate::args::{self, examples};

const HEAD: &str = "# Verbs\n\n\
    <!-- `cargo xtask fixtures` writes this page from the declared arguments. -->\n\n\
    Every verb, in the groups of `tofu-oci -h`. `tofu-oci help VERB` prints the same about one. An option may stand before the \
    verb, and counts more than its variable. [exit-codes.md](exit-codes.md) says what the exit codes mean, \
    [environment.md](environment.md) lists all variables.\n";

const HEAD_OF_ACCESS: &str = "## Options of registry access\n\nVerbs that take these options say so below.\n\n";

/// The page as Markdown.
pub(super) fn page() -> String {
    let (mut program, mut access) = (args::declared(), args::registry_access());
    program.build();
    access.build();
    let access: Vec<&Arg> = access.get_arguments().collect();
    let common: Vec<&Arg> = program.get_arguments().filter(|arg| arg.get_long() != Some("version")).collect();
    let mut text = HEAD.to_owned();
    let _ = write!(text, "\n## Options of every verb\n\n{}\n{HEAD_OF_ACCESS}{}", table(&common), table(&access));
    for (title, verbs) in args::GROUPS {
        let _ = write!(text, "\n## {title}\n");
        for verb in verbs.iter().filter_map(|verb| program.find_subcommand(verb)) {
            section(&mut text, "", verb, access.len());
        }
    }
    text
}

/// What the page says about a verb, and about the verbs below it.
fn section(text: &mut String, parent: &str, verb: &Command, all_access: usize) {
    let name = format!("{parent}{}", verb.get_name());
    let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n### `tofu-oci {name}`\n\n{}. {}\n", prose(&about), more(&name));
    let everything = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let shown = examples(&everything);
    let usage = verb.clone().render_usage().to_string();
    let _ = write!(text, "\n{}", block(usage.trim_start_matches("Usage: ").trim()));
    if let Some((_, lines)) = shown.split_once('\n') {
        let _ = write!(text, "\nExamples:\n\n{}", block(lines));
    }
    for part in everything[shown.len()..].split("\n\n").map(str::trim_end).filter(|part| !part.is_empty()) {
        // Lines that are laid out stay so.
        let said = if part.contains("\n  ") { block(part) } else { prose(&part.replace('\n', " ")) + "\n" };
        let _ = write!(text, "\n{said}");
    }
    let others = ["Output", args::REGISTRY_ACCESS].map(Some);
    let own: Vec<&Arg> = verb.get_arguments().filter(|arg| !others.contains(&arg.get_help_heading())).collect();
    let of_access = verb.get_arguments().filter(|arg| arg.get_help_heading() == others[1]).count();
    if !own.is_empty() {
        let _ = write!(text, "\n{}", table(&own));
    }
    if of_access > 0 {
        let some = if of_access < all_access { ", except those that say who logs in" } else { "" };
        let _ = write!(text, "\nAlso the [options of registry access](#options-of-registry-access){some}.\n");
    }
    if verb.get_arguments().any(|arg| arg.get_long() == Some("json")) {
        let _ = write!(text, "\n`--json` prints JSON lines ([json.md](json.md#events-by-verb)): {}.\n", events(&name));
    }
    for below in verb.get_subcommands() {
        section(text, &format!("{name} "), below, all_access);
    }
}

/// How-to pages and concepts, and the verbs that they are about: `module` alone stands for those without a page of their own.
const PAGES: &[(&str, &[&str])] = &[
    ("publishing", &["push", "pack", "copy", "sign"]),
    ("keyless", &["attach"]),
    ("provider-docs", &["docs"]),
    ("withdrawing", &["withdraw", "deprecate"]),
    ("module-publishing", &["module push"]),
    ("module-fetching", &["module pull", "module versions"]),
    ("module-pinning", &["module lock"]),
    ("module-mirroring", &["module mirror"]),
    ("modules", &["module"]),
    ("installing", &["install", "providers", "versions", "show", "outdated"]),
    ("locking", &["lock"]),
    ("running", &["run"]),
    ("verifying", &["verify"]),
    ("checking", &["check"]),
    ("configuration", &["resolve", "config"]),
    ("mirroring", &["mirror"]),
    ("bundles", &["bundle"]),
    ("serving", &["serve"]),
    ("caching", &["cache"]),
    ("trust", &["trust"]),
    ("credentials", &["login", "logout", "auth"]),
    ("getting", &["completions", "man", "version", "help"]),
];

/// The link to the page that says how the verb is used.
fn more(name: &str) -> String {
    let of = |name: &str| PAGES.iter().find(|(_, verbs)| verbs.contains(&name));
    let page = of(name).or_else(|| of(name.split(' ').next()?)).and_then(|(page, _)| topic(page));
    let title = |text: &'static str| text.lines().next().unwrap_or_default().trim_start_matches("# ");
    page.map(|page| format!("See [{}](../{}).", title(page.text()), page.file)).unwrap_or_default()
}

/// The events that the page about JSON names for the verb, or for the one above it.
fn events(name: &str) -> String {
    let json = blocks(topic("json").map(HelpTopic::text).unwrap_or_default());
    let tables = json.iter().filter_map(|block| if let PageBlock::Table(rows) = block { Some(rows) } else { None });
    let rows: Vec<_> = tables.filter(|rows| rows[0][0] == "verb").flatten().collect();
    let of = |name: &str| rows.iter().find(|row| row[0].split(", ").any(|one| one.trim_matches('`') == name));
    of(name).or_else(|| of(name.split(' ').next()?)).map(|row| row[1].to_owned()).unwrap_or_default()
}

/// Lines of a terminal as they are laid out.
fn block(lines: &str) -> String {
    let indent = if lines.starts_with("  ") { "  " } else { "" };
    let lines = lines.lines().map(|line| format!("{}\n", line.strip_prefix(indent).unwrap_or(line)));
    format!("```text\n{}```\n", lines.collect::<String>())
}

/// Arguments by their place, then options.
fn table(arguments: &[&Arg]) -> String {
    let mut text = "| argument or option | what it does |\n|---|---|\n".to_owned();
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = arguments.iter().partition(|arg| arg.is_positional());
    for arg in positional.iter().chain(&options).filter(|arg| !arg.is_hide_set()) {
        let short = arg.get_short().map(|letter| format!("-{letter}, ")).unwrap_or_default();
        let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
        let mut parts: Vec<String> = help.split("\n\n").map(|part| prose(&part.replace('\n', " "))).collect();
        if arg.get_action().takes_values() {
            let values: Vec<String> =
                arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
            let defaults = arg.get_default_values().iter().map(|value| format!("`{}`", value.display()));
            parts.extend((!values.is_empty()).then(|| format!("Values: {}", values.join(", "))));
            parts.extend(defaults.map(|value| format!("Default: {value}")));
            parts.extend(arg.get_env().map(|name| format!("Variable: `{}`", name.display())));
        }
        let said = parts.join(". ").replace(".. ", ". ").replace(":. ", ": ");
        let row = format!("`{short}{arg}`\n{}.", said.trim_end_matches('.')).replace('|', "\\|").replace('\n', " | ");
        let _ = writeln!(text, "| {row} |");
    }
    text
}

/// A text of a terminal as Markdown: what would be a mark there is code.
fn prose(text: &str) -> String {
    let text = match text.split_once("[default: ") {
        Some((before, default)) => format!("{before}(default: {}", default.replacen(']', ")", 1)),
        None => text.to_owned(),
    };
    let marked = |word: &str| {
        let inner = word.trim_matches(['(', ')', ',', '.', ';', ':']);
        let is_mark = inner.starts_with("--") || inner.contains(['*', '<', '|', '{', '[']);
        if is_mark { word.replacen(inner, &format!("`{inner}`"), 1) } else { word.to_owned() }
    };
    let pieces = text.split('`').enumerate().map(|(nth, piece)| match nth % 2 {
        0 => piece.split(' ').map(marked).collect::<Vec<_>>().join(" "),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join("`")
}
