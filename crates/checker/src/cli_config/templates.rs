//! Repositories that a template makes.

use std::collections::BTreeMap;

use super::view::{ReleaseView, argument, each};
use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use crate::FindingLevel;
use tofu_oci_mapper::config::{Method, MethodKind, check_oci_mirrors};
use tofu_oci_mapper::region::example;
use tofu_oci_mapper::{MapError, NotOneToOne, Pattern, RepositoryTemplate, Selector};
use tofu_oci_types::ProviderAddr;

const ARGUMENT: &str = "repository_template";

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    each(facts, |view| {
        let mut found: Vec<CliConfigFinding> = hole(view).into_iter().collect();
        for method in view.explicit() {
            if let MethodKind::OciMirror { template } = &method.kind {
                found.extend(results(view, method, template));
            }
        }
        let all = view.reading.config.installation.iter().flat_map(|block| &block.methods);
        found.extend(all.filter_map(|method| escape(view, method)));
        found
    })
}

fn finding(
    view: &ReleaseView<'_>,
    method: &Method,
    rule: &'static str,
    level: FindingLevel,
    title: String,
) -> CliConfigFinding {
    CliConfigFinding::new(rule, level, title).at(view.place(method, ARGUMENT))
}

/// Two providers that get the same repository.
fn hole(view: &ReleaseView<'_>) -> Option<CliConfigFinding> {
    let methods = view.explicit();
    // What a template computes is not judged: OpenTofu takes it.
    let Err(meeting @ NotOneToOne::Meeting { .. }) = check_oci_mirrors(methods, &view.facts.predecessors) else {
        return None;
    };
    let method = methods.get(meeting.rule().0)?;
    Some(
        finding(view, method, "template-hole", FindingLevel::Warning, meeting.to_string())
            .detail("OpenTofu reads it without a complaint, and installs either of them out of that repository")
            .action(&meeting.instead()),
    )
}

/// The results for the providers that the files name, or for the sample that OpenTofu checks with.
fn results(view: &ReleaseView<'_>, method: &Method, template: &RepositoryTemplate) -> Vec<CliConfigFinding> {
    let include = &method.selector.include;
    let named = include.iter().filter(|pattern| pattern.provider_type().is_some()).filter_map(example);
    let required = view.facts.required.iter().map(|required| required.address.clone());
    let required = required.filter(|address| !address.is_builtin());
    let selected = |address: &ProviderAddr| method.selector.select(address).is_in();
    let real: Vec<ProviderAddr> = named.chain(required).filter(selected).collect();
    let samples = if include.is_empty() { any().into_iter().collect() } else { include.clone() };
    let samples = samples.iter().filter_map(example);
    let mut found: BTreeMap<_, CliConfigFinding> = BTreeMap::new();
    for (address, is_real) in real.into_iter().map(|real| (real, true)).chain(samples.map(|sample| (sample, false))) {
        for fault in template_findings(template, &address) {
            if is_real || fault.rule != FAILS {
                found.entry(fault.rule.clone()).or_insert_with(|| fault.at(view.place(method, ARGUMENT)));
            }
        }
    }
    found.into_values().collect()
}

const FAILS: &str = "template-fails";

/// What is wrong with the repository that a template gives for a provider; no finding has a place in a file.
pub fn template_findings(template: &RepositoryTemplate, address: &ProviderAddr) -> Vec<CliConfigFinding> {
    let error = |rule, title: String| CliConfigFinding::new(rule, FindingLevel::Error, title);
    let mut found: Vec<CliConfigFinding> = match template.apply(address) {
        Err(MapError::EmptyRepository { registry, .. }) => {
            let title = format!("the template gives `{registry}`, which names no repository");
            let detail = "OpenTofu reads it without a complaint; init then aborts for every provider of this method";
            let instead = "a path after the registry, such as ghcr.io/acme/${namespace}/${type}";
            return vec![error("template-no-repository", title).detail(detail).instead(instead)];
        }
        Err(fault) => {
            let detail = format!("OpenTofu reads it without a complaint; init then aborts for {address}");
            let instead = "a template that gives REGISTRY/PATH in lower case for it, or exclude it here";
            vec![error(FAILS, fault.to_string()).detail(detail).instead(instead)]
        }
        Ok(_) => Vec::new(),
    };
    for (rule, title, instead) in template.render(address).iter().flat_map(|text| registry(text)) {
        let detail = "OpenTofu reads it without a complaint; the name goes to the wire as it is written";
        found.push(CliConfigFinding::new(rule, FindingLevel::Warning, title).detail(detail).instead(instead));
    }
    found
}

/// What is suspicious about the registry's name in a repository address.
fn registry(text: &str) -> Vec<(&'static str, String, String)> {
    let host = text.split('/').next().unwrap_or_default();
    let mut odd = Vec::new();
    if host.chars().any(char::is_uppercase) {
        let title = format!("the registry `{host}` has capital letters");
        odd.push(("registry-upper-case", title, format!("{} in the template", host.to_lowercase())));
    }
    let name = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    if let Some((_, port)) = name.rsplit_once(':')
        && !host.starts_with("::")
        && port.parse::<u16>().is_err()
    {
        let what =
            if port.is_empty() { "an empty port".to_owned() } else { format!("no port {port}: 65535 is the last") };
        let title = format!("the registry `{host}` has {what}");
        odd.push(("registry-port", title, "a port from 1 to 65535, or none".to_owned()));
    }
    odd
}

fn any() -> Option<Pattern> {
    "*/*/*".parse().ok()
}

/// `$${`, which is a literal `${`, in a method that is read or dropped.
fn escape(view: &ReleaseView<'_>, method: &Method) -> Option<CliConfigFinding> {
    if method.kind.name() != "oci_mirror" {
        return None;
    }
    let file = view.reading.files.get(method.file?)?;
    let found = argument(&file.text, &method.span, ARGUMENT)?;
    let text = file.text.get(found.span.clone())?;
    let (offset, escape) = ["$${", "%%{"].iter().find_map(|escape| Some((text.find(escape)?, *escape)))?;
    let start = found.span.start + offset;
    let plain = escape.get(1..).unwrap_or_default();
    Some(
        CliConfigFinding::new(
            "template-escape",
            FindingLevel::Warning,
            format!("`{escape}` is a literal `{plain}`, and no symbol"),
        )
        .at(Some(FoundAt::of(file, Some(start..start + escape.len()))))
        .detail("nothing is put in its place, and no repository can have these characters")
        .instead(plain),
    )
}

/// The template of the first method that selects `address`, if that is an `oci_mirror`.
pub(super) fn first<'a>(view: &ReleaseView<'a>, address: &ProviderAddr) -> Option<&'a Method> {
    let selects = |selector: &Selector| selector.select(address).is_in();
    let first = view.methods.list.iter().find(|method| selects(&method.selector))?;
    matches!(first.kind, MethodKind::OciMirror { .. }).then_some(first)
}
