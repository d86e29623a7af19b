//! `config snippet`.

use std::error::Error as _;

use serde::Serialize;
use tofu_oci_checker::cli_config::template_findings;
use tofu_oci_mapper::config::{
    self, CliConfigReading, Environment, HclSyntax, Installation, Method, MethodKind, WrittenMethod, check_oci_mirrors,
    is_read_back, new_methods, read_snippet, write_methods,
};
use tofu_oci_mapper::region::example;
use tofu_oci_mapper::{NotOneToOne, Pattern, RepositoryTemplate, TemplateError};
use tofu_oci_types::{Event, Predecessors, TextPosition, TofuRelease, printable};

use crate::args::ConfigSnippetArgs;
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::ends::template_instead;
use crate::environment::{RealFiles, environment};
use crate::excerpt::excerpt;
use crate::invocation;
use crate::verbs::context::Context;

#[derive(Serialize)]
#[serde(tag = "event", rename = "snippet")]
struct Snippet<'a> {
    form: HclSyntax,
    text: &'a str,
}

/// Prints a `provider_installation` in which one method alone is for every address.
pub(crate) fn snippet(context: &Context, args: &ConfigSnippetArgs) -> Result<(), Diagnostic> {
    let pattern = pattern("config snippet", &args.sent.pattern, &args.sent.template)?;
    let template = template(&args.sent.template, &pattern, &args.sent.pattern)?;
    let environment = environment(None)?;
    let reading = config::read(&environment, &RealFiles, TofuRelease::V1_13);
    let sound = reading.errors().next().is_none();
    let there = reading.config.installation.as_ref().filter(|_| sound);
    let mut notes = Vec::new();
    let wanted = wanted(args, &pattern, there, &mut notes);
    let form = if args.json_form { HclSyntax::Json } else { HclSyntax::Native };
    let text = write_methods(&wanted, form);
    if !is_read_back(&text, &wanted) {
        return Err(match form {
            HclSyntax::Native => {
                Diagnostic::usage(format!("`{}` cannot be written as a string of this file", template.as_str()))
                    .hint("add --json-form, and keep the blocks in a file of their own that ends in .tfrc.json")
            }
            HclSyntax::Json => Diagnostic::usage("the JSON form cannot keep the methods in their order")
                .hint("in JSON methods of one kind stand together; omit --json-form"),
        });
    }
    context.emit_document(&Snippet { form, text: &text }, || match form {
        HclSyntax::Native => Document::lines(&text),
        HclSyntax::Json => Document::json_text(&text),
    });
    if !sound {
        let text = "the CLI configuration has an error, so what it says was left out of account";
        let warning = Event::warning("configuration-left-out", text);
        context.reporter.event(&warning.with_hint("run `tofu-oci config check` first"));
    }
    warn_of_bare_host(context, &args.sent.template);
    let written = read_snippet(&text, TofuRelease::V1_13).config.installation;
    let methods = written.as_ref().map(|written| written.methods.as_slice()).unwrap_or_default();
    warn_of_meeting(context, methods, &args.predecessors.all());
    if written.as_ref().is_some_and(overlapping) {
        notes.push(
            "a mirror excludes a part of what it includes, and a later method takes more than that part; `tofu-oci config check` says where"
                .to_owned(),
        );
    }
    notes.extend(advice(&environment, &reading, there, sound, form));
    for note in notes {
        context.reporter.event(&Event::note("snippet", note));
    }
    Ok(())
}

/// Warns of a template whose first part no registry is called.
pub(super) fn warn_of_bare_host(context: &Context, template: &str) {
    if let Some((registry, _)) = template.split_once('/').filter(|(registry, _)| is_no_host(registry)) {
        let text = format!("`{registry}` is taken for the registry's host name");
        let hint = format!("write REGISTRY/PATH, such as ghcr.io/{template}");
        context.reporter.event(&Event::warning("bare-host", text).with_hint(hint));
    }
}

/// Warns of templates that lead two providers to one repository.
pub(super) fn warn_of_meeting(context: &Context, methods: &[Method], predecessors: &Predecessors) {
    if let Err(meeting @ NotOneToOne::Meeting { .. }) = check_oci_mirrors(methods, predecessors) {
        let warning = Event::warning("template-hole", meeting.to_string());
        context.reporter.event(&warning.with_hint(meeting.instead()));
    }
}

/// Whether the name has neither a dot nor a port, as no registry is named.
fn is_no_host(registry: &str) -> bool {
    registry != "localhost" && !registry.contains(['.', ':', '$', '%'])
}

/// Whether a later method is for providers that an earlier mirror already takes.
fn overlapping(there: &Installation) -> bool {
    let methods = there.methods.iter().enumerate();
    methods
        .filter(|(_, method)| matches!(method.kind, MethodKind::OciMirror { .. } | MethodKind::NetworkMirror { .. }))
        .any(|(at, first)| there.methods.iter().skip(at + 1).any(|later| first.selector.overlaps(&later.selector)))
}

/// The pattern that a verb got first; `second` is what it got then.
pub(super) fn pattern(verb: &str, text: &str, second: &str) -> Result<Pattern, Diagnostic> {
    let is_registry = |place: &str| is_container_registry(place.split('/').next().unwrap_or_default());
    let is_swapped = second.contains('*')
        || text.contains("${")
        || is_registry(text) && second.contains('/') && !is_registry(second);
    if is_swapped && second.parse::<Pattern>().is_ok() {
        let text = format!("`{verb}` takes the pattern of providers first, and then the repository");
        return Err(Diagnostic::usage(text).hint(invocation::with_first(second)));
    }
    text.parse().and_then(Pattern::for_opentofu).map_err(|error: tofu_oci_mapper::InvalidPattern| {
        Diagnostic::usage(error.to_string())
            .excerpt(excerpt("ADDR-PATTERN", text, &(0..text.len())))
            .hint("write HOST/NAMESPACE/TYPE, HOST/NAMESPACE/*, HOST/*/* or */*/*; without a HOST it is registry.opentofu.org")
    })
}

/// Whether the host is known for images, and is no origin of providers.
fn is_container_registry(host: &str) -> bool {
    ["ghcr.io", "docker.io", "quay.io", "public.ecr.aws", "registry.gitlab.com"].contains(&host)
        || [".azurecr.io", ".amazonaws.com", ".pkg.dev"].iter().any(|end| host.ends_with(end))
}

/// The template, after the checks that `OpenTofu` makes and those of `config check`; the error has every fault.
pub(super) fn template(template: &str, pattern: &Pattern, typed: &String) -> Result<RepositoryTemplate, Diagnostic> {
    let read = sound_template(template, typed)?;
    let found = example(pattern).map(|address| template_findings(&read, &address)).unwrap_or_default();
    match found.into_iter().next() {
        None => Ok(read),
        Some(finding) => Err(Diagnostic::usage(finding.title)
            .excerpt(excerpt("REPOSITORY-TEMPLATE", template, &(0..template.len())))
            .more_hints(finding.instead)),
    }
}

fn sound_template(template: &str, pattern: &String) -> Result<RepositoryTemplate, Diagnostic> {
    RepositoryTemplate::check(template, std::slice::from_ref(pattern)).map_err(|errors| {
        let shown = |error: &TemplateError| excerpt("REPOSITORY-TEMPLATE", template, &error.span());
        let (first, others) = errors.split_first().expect("a template that is refused has an error");
        let others = others.iter().map(|error| format!("\n{}\n{}", printable(&error.to_string()), shown(error)));
        let diagnostic = Diagnostic::usage(first.to_string()).excerpt(shown(first) + &others.collect::<String>());
        if let [error @ TemplateError::NotARepository { .. }] = errors.as_slice() {
            let hint = match error.without_scheme() {
                Some(_) => &template_instead(error),
                None => "write REGISTRY/PATH in lower case, without a scheme, a tag and a digest, such as ghcr.io/acme/${type}",
            };
            return diagnostic.more_causes(error.source().map(ToString::to_string)).hint(hint);
        }
        errors
            .iter()
            .fold(diagnostic, |diagnostic, error| diagnostic.hint(error.instead()))
            .hint(
                "the symbols are ${hostname}, ${namespace} and ${type}; what the pattern leaves open must be mentioned",
            )
            .hint("quote pattern and template for your shell: 'ghcr.io/acme/${namespace}/${type}'")
    })
}

/// The new method, then the existing ones without what the new one is for.
fn wanted(
    args: &ConfigSnippetArgs,
    pattern: &Pattern,
    there: Option<&Installation>,
    notes: &mut Vec<String>,
) -> Vec<WrittenMethod> {
    let mut wanted = new_methods(pattern, &args.sent.template);
    let Some(there) = there else {
        if pattern.hostname().is_none() {
            notes
                .push("every provider is looked for in OCI, so that `direct` would be for none and is left out".into());
        }
        return wanted;
    };
    wanted.truncate(1);
    if let Some(overrides) = WrittenMethod::of_overrides(there) {
        wanted.insert(0, overrides);
    }
    let mut taken = vec![(args.sent.pattern.clone(), pattern.clone())];
    for method in &there.methods {
        let include = &method.selector.include;
        let covered = |other: &Pattern| taken.iter().any(|(_, taken)| taken.covers(other));
        let all_taken = taken.iter().any(|(_, taken)| taken.hostname().is_none());
        if all_taken || (!include.is_empty() && include.iter().all(covered)) {
            notes.push(format!("{} is left out: it would be for no provider any more", method.label()));
            continue;
        }
        let mut exclude = method.exclude.clone();
        for (text, taken) in &taken {
            let meets = include.is_empty() || include.iter().any(|other| other.overlaps(taken));
            if meets && !method.selector.exclude.iter().any(|other| other.covers(taken)) && !exclude.contains(text) {
                exclude.push(text.clone());
            }
        }
        if exclude.len() > method.exclude.len() + 1 {
            notes.push(format!("{} now excludes what a mirror before it is for", method.label()));
        }
        wanted.extend(WrittenMethod::of(method).map(|method| method.excluding(exclude)));
        taken.extend(taken_by(method));
    }
    wanted
}

/// The patterns, as written and as read, that a mirror takes from later methods. It omits a pattern of which the mirror
/// excludes a part: a later method may be meant for that part.
fn taken_by(method: &Method) -> Vec<(String, Pattern)> {
    if !matches!(method.kind, MethodKind::OciMirror { .. } | MethodKind::NetworkMirror { .. }) {
        return Vec::new();
    }
    let all = [("*/*/*".to_owned(), "*/*/*".parse().ok())];
    let include: Vec<(String, Option<Pattern>)> = if method.include.is_empty() {
        all.into()
    } else {
        method.include.iter().map(|text| (text.clone(), text.parse().ok())).collect()
    };
    let whole = |pattern: &Pattern| !method.selector.exclude.iter().any(|other| other.overlaps(pattern));
    include.into_iter().filter_map(|(text, pattern)| Some((text, pattern.filter(whole)?))).collect()
}

/// What the first block changes.
pub(super) const IMPLICIT_FOLDERS: &str = "with a provider_installation, OpenTofu no longer looks into terraform.d/plugins and the other implicit folders; add a filesystem_mirror for one that you need";

/// Where to put the snippet, and what it changes.
fn advice(
    environment: &Environment,
    reading: &CliConfigReading,
    there: Option<&Installation>,
    sound: bool,
    form: HclSyntax,
) -> Vec<String> {
    let mut notes = Vec::new();
    let file = |index: usize| reading.files.get(index);
    if !sound {
        // A warning has said it.
    } else if let Some(there) = there {
        let line = file(there.file).map_or(1, |file| TextPosition::of(&file.text, there.span.start).line);
        let path = file(there.file).map(|file| file.path.display().to_string()).unwrap_or_default();
        notes.push(format!(
            "put it in place of the provider_installation at {path}:{line}: OpenTofu uses the first one alone. Its other methods are repeated here with the exclude that keeps them apart"
        ));
        let json = file(there.file).is_some_and(|file| file.text.trim_start().starts_with('{'));
        match (json, form) {
            (true, HclSyntax::Native) => notes.push(format!("{path} is JSON: add --json-form")),
            (false, HclSyntax::Json) => notes.push(format!("{path} is not JSON: omit --json-form")),
            _ => {}
        }
    } else if let Some(main) = &reading.located.main {
        let path = main.path.display();
        match (main.exists, form) {
            (true, HclSyntax::Native) => {
                notes.push(format!("add it to {path}, which has no provider_installation yet"));
            }
            (false, HclSyntax::Native) => notes.push(format!("write it to {path}, which is not there yet")),
            (_, HclSyntax::Json) => match &environment.home {
                Some(home) => notes.push(format!(
                    "write it to a file of its own, such as {}: the name must end in .tfrc.json",
                    home.join(".terraform.d").join("oci.tfrc.json").display()
                )),
                None => notes.push("write it to a file of its own whose name ends in .tfrc.json".to_owned()),
            },
        }
        notes.push(IMPLICIT_FOLDERS.to_owned());
    }
    notes.push("Terraform has no oci_mirror, and prints an error where it reads the file (~/.terraformrc, ~/.terraform.d); for Terraform, `tofu-oci install --vendor` puts providers where it looks".to_owned());
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn a_pattern_that_is_none_is_wrong_usage() {
        assert_eq!(pattern("config snippet", "a/*b/c", "").map_err(|diagnostic| diagnostic.exit()), Err(Exit::Usage));
    }
}
