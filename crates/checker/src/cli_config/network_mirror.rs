//! What a `network_mirror` cannot serve, and what of its arguments has no effect.
//!
//! Spec: measured on 1.10 to 1.13 (network mirrors; hashes of a mirror).

use std::collections::BTreeSet;

use tofu_oci_types::{Hostname, ProviderAddr};

use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding};
use crate::FindingLevel;
use tofu_oci_mapper::config::{Method, MethodKind};

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    each(facts, |view| {
        let mirrors = view.explicit().iter().filter_map(|method| match &method.kind {
            MethodKind::NetworkMirror { url, trust_all_hashes, .. } => Some((method, url.as_str(), *trust_all_hashes)),
            _ => None,
        });
        let found = mirrors.flat_map(|(method, url, trusts)| {
            [unused(view, method, url), ports(view, method), if trusts { trusted(view, method) } else { None }]
        });
        found.flatten().collect()
    })
}

/// Parts of a URL that no request has: every address is relative to it.
fn unused(view: &ReleaseView<'_>, method: &Method, url: &str) -> Option<CliConfigFinding> {
    let whole = url.split('#').next().unwrap_or_default();
    let (address, query) = whole.split_once('?').map_or((whole, None), |(address, query)| (address, Some(query)));
    let (_, rest) = address.split_once("://")?;
    let (_, last) = rest.rsplit_once('/').unwrap_or_default();
    if last.is_empty() && query.is_none() {
        return None;
    }
    // The address has no secret in it that is not shown: what stands before its @ is left out.
    let (title, detail) = if last.is_empty() {
        (
            "the query of this url is never sent".to_owned(),
            "requests go to the addresses below the url, without its query",
        )
    } else {
        (
            format!("`{last}` at the end of this url is never asked for"),
            "the addresses of a mirror are relative to its url: without a / at its end they replace the last part of it",
        )
    };
    let finding = CliConfigFinding::new("mirror-url-unused", FindingLevel::Warning, title)
        .at(view.place(method, "url"))
        .detail(detail);
    Some(if last.is_empty() {
        finding.action(
            "leave out the ? and what follows it; guard a mirror with a token or with USER:PASSWORD@ in its url",
        )
    } else {
        finding.action("write a / at the end of the url")
    })
}

/// Hosts with a port, which no address of the protocol can name.
fn ports(view: &ReleaseView<'_>, method: &Method) -> Option<CliConfigFinding> {
    let has_port = |host: &&Hostname| host.as_str().contains(':');
    let named = method.selector.include.iter().filter_map(|pattern| pattern.hostname());
    let required = view.facts.required.iter().map(|required| &required.address);
    let required = required.filter(|address| method.selector.select(address).is_in()).map(ProviderAddr::hostname);
    let hosts: BTreeSet<String> = named.chain(required).filter(has_port).map(Hostname::display).collect();
    if hosts.is_empty() {
        return None;
    }
    let hosts: Vec<String> = hosts.into_iter().collect();
    let exclude = hosts.iter().map(|host| format!("\"{host}/*/*\"")).collect::<Vec<_>>().join(", ");
    let title = format!("no network_mirror serves providers of {}: the host has a port", hosts.join(", "));
    Some(
        CliConfigFinding::new("mirror-host-port", FindingLevel::Error, title)
            .at(view.head(method))
            .detail("init takes the host in the mirror's address for the scheme of a URL, and aborts (unsupported protocol scheme)")
            .instead(format!("an oci_mirror or a filesystem_mirror for these providers, and {} here", view.written(method, "exclude", &format!("[{exclude}]")))),
    )
}

/// `trust_all_hashes` for hosts where it records nothing.
fn trusted(view: &ReleaseView<'_>, method: &Method) -> Option<CliConfigFinding> {
    let default = Hostname::default_registry();
    let others: BTreeSet<String> = match method.selector.include.as_slice() {
        [] => BTreeSet::from(["other hosts".to_owned()]),
        include => include
            .iter()
            .filter(|pattern| pattern.hostname() != Some(&default))
            .map(|pattern| pattern.hostname().map_or_else(|| "other hosts".to_owned(), Hostname::display))
            .collect(),
    };
    if others.is_empty() {
        return None;
    }
    let others = others.into_iter().collect::<Vec<_>>().join(", ");
    let title = format!("trust_all_hashes records nothing for providers of {others}");
    Some(
        CliConfigFinding::new("trust-all-hashes", FindingLevel::Warning, title)
            .at(view.place(method, "trust_all_hashes"))
            .detail(
                "all checksums of the mirror are recorded for registry.opentofu.org alone; for other hosts a package may \
                 match the checksum of any platform, and one malformed checksum of any platform ends init",
            )
            .instead("the argument into a network_mirror that includes registry.opentofu.org/*/* alone"),
    )
}
