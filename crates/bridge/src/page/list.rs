//! The start page: what is served, and what a search finds.

use std::sync::Arc;

use maud::{Markup, html};
use tofu_oci_types::ProviderAddr;

use super::frame::PageFrame;
use super::pager::{ListPart, pager};
use super::words::{counted, foreign, prerelease, punycode};
use crate::ServedVersions;

/// What the start page lists.
pub(super) struct ProviderList<'a> {
    /// Those of this page, sorted by host, with their versions if these are at hand.
    pub(super) providers: &'a [(ProviderAddr, Option<Arc<ServedVersions>>)],
    /// Which part of what was found they are.
    pub(super) part: ListPart,
}

/// The providers that a search finds: each of its words is in the address.
pub(super) fn found(mut providers: Vec<ProviderAddr>, query: &str) -> Vec<ProviderAddr> {
    let query = query.to_lowercase();
    providers.retain(|address| {
        let text = address.to_string().to_lowercase();
        let punycode = address.hostname().as_str();
        query.split_whitespace().all(|word| text.contains(word) || punycode.contains(word))
    });
    providers.sort();
    providers
}

impl ProviderList<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let hosts = self.providers.chunk_by(|(one, _), (other, _)| one.hostname() == other.hostname());
        html! {
            h1 { "Providers" }
            (self.summary(frame))
            @for host in hosts {
                section {
                    h2.host { (foreign(&host[0].0.hostname().display())) (punycode(host[0].0.hostname())) }
                    ul.providers { @for (address, versions) in host { (provider(frame, address, versions.as_deref())) } }
                }
            }
            (pager(&self.part, |number| frame.links.search(frame.query, number)))
        }
    }

    fn summary(&self, frame: &PageFrame<'_>) -> Markup {
        let found = counted(self.part.all as u64, "provider");
        html! {
            p.summary {
                @match (self.part.all, frame.query.trim()) {
                    (0, "") => "No provider is known yet: one appears here after a client has asked for it.",
                    (0, query) => {
                        "No provider matches " b { (foreign(query)) } ". " a href=(frame.links.start()) { "Show all providers" } "."
                    }
                    (_, "") => { (found) " to install with Terraform or OpenTofu." }
                    (_, query) => {
                        (found) " for " b { (foreign(query)) } ". " a href=(frame.links.start()) { "Show all providers" } "."
                    }
                }
            }
        }
    }
}

fn provider(frame: &PageFrame<'_>, address: &ProviderAddr, versions: Option<&ServedVersions>) -> Markup {
    html! {
        li {
            a href=(frame.links.provider(address)) {
                span.namespace { (foreign(address.namespace())) "/" } (foreign(address.provider_type()))
            }
            @if let Some(versions) = versions {
                span.aside {
                    @if let Some(newest) = newest(versions) { (newest) (prerelease(newest)) ", " }
                    (counted(versions.versions.len() as u64, "version"))
                }
            }
        }
    }
}

/// The version that a client without a constraint chooses.
pub(super) fn newest(versions: &ServedVersions) -> Option<&tofu_oci_types::Version> {
    let versions = &versions.versions;
    versions.iter().rfind(|version| !version.is_prerelease()).or(versions.last())
}
