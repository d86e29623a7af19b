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
            let instead = if problem.code.starts_with("missing-") { general(problem, file) } else { instead };
            return (title.to_owned(), instead.to_owned());
        }
    }
    (message.to_owned(), general(problem, file).to_owned())
}

fn general(problem: &Problem, file: Option<&ConfigFile>) -> &'static str {
    match problem.code.as_str() {
        "hcl1-parse" if in_directive(problem, file) => {
            "\\\" in place of each quote inside %{ }; inside ${ } it stands bare"
        }
        "hcl1-parse" if problem.message.contains("already set") => {
            "each argument once; of a list, all in one pair of brackets"
        }
        "hcl1-parse" => "NAME = VALUE in a line of its own, or NAME { … }",
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
