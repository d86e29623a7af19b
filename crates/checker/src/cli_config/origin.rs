//! `direct` and hosts without a registry; patterns without a host.

use std::collections::BTreeSet;

use tofu_oci_types::{Hostname, ProviderAddr};

use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding};
use crate::FindingLevel;
use tofu_oci_mapper::config::{Method, MethodKind};
use tofu_oci_mapper::region::{covered, example, full, listed, meet, merged};
use tofu_oci_mapper::{Pattern, Selector};

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    each(facts, |view| {
        let direct = view.explicit().iter().filter(|method| is_direct(method));
        let mut found: Vec<CliConfigFinding> = direct.flat_map(|direct| needs_origin(view, direct)).collect();
        found.extend(view.explicit().iter().flat_map(|method| default_host(view, method)));
        found.extend(magic(view));
        found
    })
}

fn is_direct(method: &Method) -> bool {
    matches!(method.kind, MethodKind::Direct { .. })
}

/// Top-level domains that public DNS does not have.
const NAMES_ONLY: [&str; 10] =
    ["test", "example", "invalid", "localhost", "internal", "local", "lan", "corp", "home", "home.arpa"];

/// Whether a host cannot exist in public DNS: a reserved top level, one for private networks, or a single word.
fn is_name_only(host: &Hostname) -> bool {
    let name = host.as_str().split(':').next().unwrap_or_default();
    let is_address = name.split('.').all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let ends = |top: &&str| name == *top || name.strip_suffix(*top).is_some_and(|rest| rest.ends_with('.'));
    !is_address && (!name.contains('.') || NAMES_ONLY.iter().any(ends))
}

/// Hosts that are known to have a registry.
fn is_alive(host: &Hostname) -> bool {
    ["registry.opentofu.org", "registry.terraform.io"].contains(&host.as_str())
}

/// Spec: measured on 1.10 to 1.13: a host without DNS, TLS or discovery document aborts although a mirror has the package.
fn needs_origin(view: &ReleaseView<'_>, direct: &Method) -> Vec<CliConfigFinding> {
    let (mut dead, mut perhaps): (Vec<Pattern>, Vec<Pattern>) = (Vec::new(), Vec::new());
    let mut add = |pattern: Pattern, gives_way: bool| {
        let Some(host) = pattern.hostname().filter(|host| !is_alive(host)) else { return };
        let list = match (is_name_only(host), gives_way) {
            (true, _) => &mut dead,
            (false, true) => &mut perhaps,
            // A mirror before `direct` is reported as an overlap.
            (false, false) => return,
        };
        if !list.iter().any(|known| known.covers(&pattern)) {
            list.retain(|known| !pattern.covers(known));
            list.push(pattern);
        }
    };
    let own = &direct.selector.include;
    for pattern in own.iter().flat_map(|pattern| meet(&only(pattern), &direct.selector)) {
        add(pattern, false);
    }
    for method in view.explicit().iter().filter(|method| !is_direct(method)) {
        let earlier = method.span.start < direct.span.start;
        let gives_way = matches!(method.kind, MethodKind::FilesystemMirror { .. }) || !earlier;
        let named = method.selector.include.iter().filter(|pattern| pattern.hostname().is_some());
        for pattern in named {
            let mirrored = Selector { include: vec![pattern.clone()], exclude: method.selector.exclude.clone() };
            for pattern in meet(&mirrored, &direct.selector) {
                add(pattern, gives_way);
            }
        }
    }
    for required in &view.facts.required {
        let address = &required.address;
        if !address.is_builtin() && direct.selector.select(address).is_in() && is_name_only(address.hostname()) {
            add(Pattern::exactly(address), false);
        }
    }
    let finding = |level, patterns: &[Pattern], title: String, detail: &str| {
        let hosts: BTreeSet<String> =
            patterns.iter().filter_map(|pattern| Some(pattern.hostname()?.to_string())).collect();
        let hosts = hosts.into_iter().collect::<Vec<_>>().join(", ");
        let served = patterns.iter().filter_map(example).all(|address| {
            view.explicit().iter().any(|method| !is_direct(method) && method.selector.select(&address).is_in())
        });
        let exclude = view.written(direct, "exclude", &merged(&direct.exclude, patterns));
        let serves_more = own.is_empty() || own.iter().any(|pattern| !covered(pattern, patterns));
        let instead = match (served, serves_more) {
            (false, _) => format!("a mirror that has {}, and {exclude}", listed(patterns)),
            (true, true) => exclude,
            (true, false) => "no direct at all: it is for these hosts only".to_owned(),
        };
        CliConfigFinding::new("direct-needs-origin", level, title.replace("{}", &hosts))
            .at(view.head(direct))
            .detail(detail)
            .instead(instead)
    };
    let mut found = Vec::new();
    if !dead.is_empty() {
        let title = "direct asks {}, which no public DNS knows".to_owned();
        let detail = "every listing asks the host itself, and init aborts if it does not answer, whoever else has the \
                      provider";
        found.push(finding(FindingLevel::Error, &dead, title, detail));
    }
    if !perhaps.is_empty() {
        let title = "direct asks {} too, although a mirror names it".to_owned();
        let detail = "every listing asks the host itself: init aborts where it has no registry or does not answer";
        found.push(finding(FindingLevel::Note, &perhaps, title, detail));
    }
    found
}

/// Required providers whose host names a registry, which only this program can ask.
fn magic(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let suffix = &view.facts.magic_suffix;
    let required = view.facts.required.iter().map(|required| &required.address);
    let selected = |address: &ProviderAddr| {
        let first = view.methods.list.iter().find(|method| method.selector.select(address).is_in());
        first.is_some_and(is_direct) && matches!(suffix.place(address), Ok(Some(_)))
    };
    let note = |address: &ProviderAddr| {
        CliConfigFinding::new(
            "magic-host",
            FindingLevel::Note,
            format!("only tofu-oci finds {address} in a registry by its host"),
        )
        .detail("OpenTofu asks the host itself, and init aborts")
        .instead("an oci_mirror for it too: `tofu-oci config add` writes one")
    };
    required.filter(|address| selected(address)).map(note).collect()
}

fn only(pattern: &Pattern) -> Selector {
    Selector { include: vec![pattern.clone()], exclude: Vec::new() }
}

/// Patterns of two parts in a file that names other hosts.
fn default_host(view: &ReleaseView<'_>, method: &Method) -> Vec<CliConfigFinding> {
    let default = Hostname::default_registry();
    let patterns =
        view.explicit().iter().flat_map(|method| method.selector.include.iter().chain(&method.selector.exclude));
    let named = patterns.filter_map(Pattern::hostname);
    let hosts = view.reading.config.hosts.keys();
    let required = view.facts.required.iter().map(|required| &required.address);
    let required = required.filter(|address| !address.is_builtin());
    let others: BTreeSet<&Hostname> = named.chain(hosts).chain(required.clone().map(ProviderAddr::hostname)).collect();
    let Some(other) = others.into_iter().find(|host| **host != default) else { return Vec::new() };
    let mut found = Vec::new();
    for (list, texts) in [("include", &method.include), ("exclude", &method.exclude)] {
        for text in texts.iter().filter(|text| text.split('/').count() == 2) {
            let Ok(pattern) = text.parse::<Pattern>() else { continue };
            let is_meant = |host: &Hostname, namespace: &str| {
                *host != default && pattern.namespace().is_none_or(|wanted| wanted == namespace)
            };
            let meant = required.clone().find(|address| is_meant(address.hostname(), address.namespace()));
            if pattern.namespace().is_some() && meant.is_none() {
                continue;
            }
            let other = meant.map_or(other, |address| address.hostname());
            found.push(
                CliConfigFinding::new(
                    "pattern-default-host",
                    FindingLevel::Warning,
                    format!("`{text}` is for {default} only, and not for {other}"),
                )
                .at(view.pattern(method, list, text))
                .detail(format!("a pattern of two parts means `{}`", full(&pattern)))
                .instead(format!("\"{other}/{text}\", or \"{}\" if only that host is meant", full(&pattern))),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, want: bool) {
        assert_eq!(is_name_only(&host.parse().expect("a host")), want, "{host}");
    }

    #[test]
    fn hosts_that_no_public_dns_knows() {
        for host in [
            "registry.example.test",
            "a.example",
            "mirror",
            "localhost:5000",
            "x.home.arpa",
            "tofu.corp",
            "a.b.internal",
        ] {
            check(host, true);
        }
        for host in ["registry.example.com", "127.0.0.1", "10.0.0.1:5000", "arpa.net", "localhost.net", "test.io"] {
            check(host, false);
        }
    }
}
