//! What to write in place of a fault of the reading, where the fault itself does not say.

use super::view::is_json;
use crate::config::{ConfigFile, Problem};

/// The sentence of a problem, and what to write instead.
pub(super) fn of(problem: &Problem, file: Option<&ConfigFile>) -> (String, String) {
    let message = problem.message.as_str();
    if problem.code == "two-blocks"
        && file.is_some_and(|file| is_json(file) && file.text.matches("\"provider_installation\"").count() == 1)
    {
        let title = "the methods of this provider_installation are taken for blocks of their own".to_owned();
        return (title, "every method as a list: \"direct\": [{ … }]".to_owned());
    }
    if let Some(instead) = &problem.instead {
        return (message.to_owned(), instead.clone());
    }
    for mark in ["; write ", ": write "] {
        if let Some((title, instead)) = message.rsplit_once(mark) {
            // Of a symbol that is missing, the sentence only says `it`.
            let instead = if problem.code.starts_with("missing-") { general(problem) } else { instead };
            return (title.to_owned(), instead.to_owned());
        }
    }
    (message.to_owned(), if problem.code == "hcl1-parse" { syntax(problem, file) } else { general(problem) }.to_owned())
}

/// What to write where HCL cannot go on.
fn syntax(problem: &Problem, file: Option<&ConfigFile>) -> &'static str {
    let says = |part: &str| problem.message.contains(part);
    let json = file.is_some_and(|file| file.text.trim_start().starts_with('{'));
    match () {
        () if in_directive(problem, file) => "\\\" in place of each quote inside %{ }; inside ${ } it stands bare",
        () if says("already set") => "each argument once; of a list, all in one pair of brackets",
        () if says("byte order mark") => "the file as UTF-8 without a byte order mark",
        // Of other bytes, PowerShell's `>` is the usual writer.
        () if says("no UTF-8") => "the file as UTF-8; PowerShell 5 writes UTF-16 unless told `-Encoding ascii`",
        () if says("double quotes") => "\"…\", in plain double quotes",
        () if says("not closed") || says("no closing") || says("has no end") => "the closing part where it belongs",
        () if says("comma is missing") => "a comma between the items of a list",
        () if says("digit") || says("number") => "a number in decimal digits without a leading 0, or a text in quotes",
        () if says("`<<`") || says("behind `<<") => "<<END, then the text, then END on a line of its own",
        () if says("closes nothing") || says("cannot stand") || says("can stand") || says("leave the argument out") => {
            "the same without it"
        }
        () if json => "\"NAME\": VALUE, with commas between and none at the end",
        () => "NAME = VALUE in a line of its own, or NAME { … }",
    }
}

fn general(problem: &Problem) -> &'static str {
    match problem.code.as_str() {
        "missing-hostname" => "${hostname} into the template, or an include of one single host",
        "missing-namespace" => "${namespace} into the template, or an include of one single namespace",
        "missing-type" => "${type} into the template, or an include of one single provider",
        "invalid-repository-address" => {
            "REGISTRY/PATH in lower case, without scheme, tag and digest, such as ghcr.io/acme/${namespace}/${type}"
        }
        "hcl:function-calls-not-allowed" => {
            "the template without functions: only ${hostname}, ${namespace} and ${type}"
        }
        "hcl:invalid-character" => "quotes inside ${ } without a backslash (in JSON with one)",
        "not-a-string" | "null-result" => "a template that always gives a text",
        code if code.starts_with("hcl:") => "plain text with ${hostname}, ${namespace} and ${type}",
        "include-pattern" | "exclude-pattern" => "HOST/NAMESPACE/TYPE, each of them a name, or * from the right",
        _ => "it as docs/configuration.md says, or leave it out",
    }
}

/// Whether a place is behind `%{` in its line, where bare quotes end the text.
fn in_directive(problem: &Problem, file: Option<&ConfigFile>) -> bool {
    let before = file.zip(problem.span.as_ref()).and_then(|(file, span)| file.text.get(..span.start));
    before.and_then(|before| before.rsplit('\n').next()).is_some_and(|line| line.contains("%{"))
}
