//! `help`: pages, verbs, rules and codes.

use crate::args::{self, HelpArgs};
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::exit::{self, Exit};
use crate::handbook::{self, HelpTopic, TOPICS, other_names, topic, topics_about};
use crate::mistake;
use crate::page::{Page, padded};
use crate::printer;
use crate::terminal;

/// The topic whose page clap writes from the options themselves.
const REGISTRY_ACCESS: (&str, &str) = (args::REGISTRY_ACCESS_TOPIC, "the options by which verbs reach a registry");

/// Prints what the words ask for.
pub(super) fn help(args: &HelpArgs) -> Result<Exit, Diagnostic> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let width = terminal::page_columns();
    let page = match words.as_slice() {
        ["json"] if args.schema => {
            printer::document(&Document::json_text(handbook::file("reference/json.schema.json")));
            return Ok(Exit::Done);
        }
        _ if args.schema => {
            return Err(Diagnostic::usage("--schema prints the schema of the JSON lines, and of nothing else")
                .hint("write it as: tofu-oci help json --schema"));
        }
        [] => list(),
        ["error"] => of_codes(),
        ["error", code] => code_page(code, width).ok_or_else(|| unknown_code(code))?,
        ["check", rule] => handbook::rule(rule, width).ok_or_else(|| unknown_rule(rule))?,
        [name] if *name == REGISTRY_ACCESS.0 => {
            printer::help(&args::registry_access().render_long_help());
            return Ok(Exit::Done);
        }
        [name] if topic(name).is_some() => {
            let text = topic(name).map(HelpTopic::text).unwrap_or_default();
            if args.markdown {
                let mut page = Page::default();
                page.block("", text);
                printer::stdout(&page);
                return Ok(Exit::Done);
            }
            handbook::page(text, width)
        }
        words => return verb(words),
    };
    printer::paged(&page);
    Ok(Exit::Done)
}

/// Everything that can be asked for.
fn list() -> Page {
    let mut page = Page::of("Usage: tofu-oci help TOPIC");
    let of = |part| {
        let topics = TOPICS.iter().filter(move |topic| topic.part() == part).map(|topic| (topic.name, topic.about));
        topics.chain((part == "reference").then_some(REGISTRY_ACCESS)).collect::<Vec<_>>()
    };
    let others = vec![
        ("VERB", "everything about a verb; `tofu-oci -h` lists them"),
        ("check RULE", "one rule of `tofu-oci check`"),
        ("error CODE", "one code of an error, a warning, a note or a finding"),
    ];
    let parts = [
        ("Start:", of("start")),
        ("How to:", of("how-to")),
        ("Concepts:", of("concepts")),
        ("Reference:", of("reference")),
        ("Also:", others),
    ];
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or_default();
    for (title, rows) in parts {
        page.gap();
        page.line(title);
        for (name, about) in rows {
            page.line(format_args!("  {}  {about}", padded(name, width)));
        }
    }
    page
}

/// How the page of a code is asked for.
fn of_codes() -> Page {
    let mut page = Page::of("Usage: tofu-oci help error CODE");
    page.gap();
    page.line(
        "CODE is the name that --json calls `code`, such as tag-not-found, with or without what follows a colon.",
    );
    page.line("All codes: tofu-oci help errors");
    page
}

/// The help of a verb, as its `--help` prints it. Upper case does not count, nor does the ending of a page.
fn verb(words: &[&str]) -> Result<Exit, Diagnostic> {
    let command = args::declared();
    let plain: Vec<String> = words.iter().map(|word| word.to_lowercase().trim_end_matches(".md").to_owned()).collect();
    let found = plain.iter().try_fold(&command, |command, word| command.find_subcommand(word));
    if found.is_none() {
        return Err(unknown_topic(words, &command));
    }
    let line = ["tofu-oci"].into_iter().chain(plain.iter().map(String::as_str)).chain(["--help"]);
    match command.clone().try_get_matches_from(line) {
        Err(shown) => Ok(exit::from_clap(&shown)),
        Ok(_) => Ok(Exit::Done),
    }
}

fn unknown_topic(words: &[&str], command: &clap::Command) -> Diagnostic {
    let name = words.join(" ");
    let diagnostic = Diagnostic::usage(format!("there is no help topic `{name}`")).code("unknown-help-topic");
    let pages = TOPICS.iter().map(|topic| topic.name).chain([REGISTRY_ACCESS.0]);
    let verbs = command.get_subcommands().map(clap::Command::get_name);
    let all: Vec<String> = pages.chain(verbs).map(str::to_owned).collect();
    let last = words.last().copied().unwrap_or_default().to_owned();
    let diagnostic = if handbook::rules().contains(&last) {
        diagnostic.hint(format!("it is a rule: tofu-oci help check {last}"))
    } else if handbook::codes().contains(&last) {
        diagnostic.hint(format!("it is a code: tofu-oci help error {last}"))
    } else {
        let about = |name: &str| -> Vec<String> {
            let shown = |topic: &HelpTopic| format!("`tofu-oci help {}`: {}", topic.name, topic.about);
            topics_about(name).into_iter().map(shown).collect()
        };
        match about(&name).into_iter().chain(mistake::instead(&name, command)).collect::<Vec<_>>().as_slice() {
            [] if mistake::nearest(&name, all.iter().map(String::as_str)).is_none() => {
                let near = mistake::nearest(&name, other_names());
                diagnostic.more_hints(near.map(about).unwrap_or_default())
            }
            [] => suggest(diagnostic, "tofu-oci help", &name, &all),
            hints => diagnostic.more_hints(hints),
        }
    };
    diagnostic.hint("all topics: tofu-oci help")
}

fn unknown_rule(rule: &str) -> Diagnostic {
    let diagnostic = Diagnostic::usage(format!("there is no rule `{rule}`")).code("unknown-help-topic");
    suggest(diagnostic, "tofu-oci help check", rule, &handbook::rules()).hint("all rules: tofu-oci help rules")
}

fn unknown_code(code: &str) -> Diagnostic {
    let diagnostic = Diagnostic::usage(format!("no page explains the code `{code}`")).code("unknown-help-topic");
    suggest(diagnostic, "tofu-oci help error", code, &handbook::codes()).hint("all codes: tofu-oci help errors")
}

/// The page of a code, or of the part before the detail that follows it: `registry-status:404`.
fn code_page(code: &str, width: usize) -> Option<Page> {
    handbook::code(code, width).or_else(|| handbook::code(code.split_once(':')?.0, width))
}

/// The command with the nearest name, if one is near.
fn suggest(diagnostic: Diagnostic, command: &str, name: &str, all: &[String]) -> Diagnostic {
    let near = mistake::nearest(name, all.iter().map(String::as_str));
    diagnostic.more_hints(near.map(|near| format!("did you mean: {command} {near}")))
}
