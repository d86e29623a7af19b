//! The start page: what is served, and what a search finds.

use maud::{Markup, html};
use tofu_oci_types::Version;

use super::frame::PageFrame;
use super::pager::{ListPart, pager};
use super::words::{counted, foreign, prerelease, punycode};
use crate::ServedAddress;
use crate::served::newest;

/// What the start page lists.
pub(super) struct ServedList<'a> {
    /// Those of this page, sorted by host, with their versions if these are at hand.
    pub(super) served: &'a [(ServedAddress, Option<Vec<Version>>)],
    /// Which part of what was found they are.
    pub(super) part: ListPart,
    /// What the server has.
    pub(super) kinds: ServedKinds,
}

/// Whether a server has providers, modules or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedKinds {
    Providers,
    Modules,
    Both,
}

impl ServedKinds {
    pub(super) fn of(providers: bool, modules: bool) -> Self {
        match (providers, modules) {
            (_, false) => Self::Providers,
            (false, true) => Self::Modules,
            (true, true) => Self::Both,
        }
    }

    /// As the title of a page.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Providers => "Providers",
            Self::Modules => "Modules",
            Self::Both => "Providers and modules",
        }
    }

    /// One of them, of any kind.
    fn one(self) -> &'static str {
        match self {
            Self::Providers => "provider",
            Self::Modules => "module",
            Self::Both => "provider or module",
        }
    }

    fn counted(self, count: u64) -> String {
        match (self, count) {
            (Self::Both, 2..) => format!("{count} providers and modules"),
            (kind, _) => counted(count, kind.one()),
        }
    }

    fn all(self) -> &'static str {
        match self {
            Self::Providers => "Show all providers",
            Self::Modules => "Show all modules",
            Self::Both => "Show all",
        }
    }
}

/// What a search finds, sorted by host: each of its words is in the address.
pub(super) fn found(mut served: Vec<ServedAddress>, query: &str) -> Vec<ServedAddress> {
    let query = query.to_lowercase();
    served.retain(|address| {
        let text = address.to_string().to_lowercase();
        let punycode = address.hostname().as_str();
        query.split_whitespace().all(|word| text.contains(word) || punycode.contains(word))
    });
    served.sort_by_cached_key(|address| {
        (address.hostname().clone(), matches!(address, ServedAddress::Module(_)), address.to_string())
    });
    served
}

impl ServedList<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let hosts = self.served.chunk_by(|(one, _), (other, _)| one.hostname() == other.hostname());
        html! {
            h1 { (self.kinds.title()) }
            (self.summary(frame))
            @for host in hosts {
                section {
                    h2.host { (foreign(&host[0].0.hostname().display())) (punycode(host[0].0.hostname())) }
                    ul.providers { @for (address, versions) in host { (entry(frame, address, versions.as_deref())) } }
                }
            }
            (pager(&self.part, |number| frame.links.search(frame.query, number)))
        }
    }

    fn summary(&self, frame: &PageFrame<'_>) -> Markup {
        let (kinds, found) = (self.kinds, self.kinds.counted(self.part.all as u64));
        html! {
            p.summary {
                @match (self.part.all, frame.query.trim()) {
                    (0, "") => { "No " (kinds.one()) " is known yet: one appears here after a client has asked for it." }
                    (0, query) => {
                        "No " (kinds.one()) " matches " b { (foreign(query)) } ". " a href=(frame.links.start()) { (kinds.all()) } "."
                    }
                    (_, "") => { (found) " to install with Terraform or OpenTofu." }
                    (_, query) => {
                        (found) " for " b { (foreign(query)) } ". " a href=(frame.links.start()) { (kinds.all()) } "."
                    }
                }
            }
        }
    }
}

fn entry(frame: &PageFrame<'_>, address: &ServedAddress, versions: Option<&[Version]>) -> Markup {
    html! {
        li {
            @match address {
                ServedAddress::Provider(address) => {
                    a href=(frame.links.provider(address)) {
                        span.namespace { (foreign(address.namespace())) "/" } (foreign(address.provider_type()))
                    }
                }
                ServedAddress::Module(address) => {
                    span {
                        a href=(frame.links.module(address)) {
                            span.namespace { (address.namespace()) "/" } (address.name()) "/" (address.target())
                        }
                        " " span.mark { "module" }
                    }
                }
            }
            @if let Some(versions) = versions {
                span.aside {
                    @if let Some(newest) = newest(versions) { (newest) (prerelease(newest)) ", " }
                    (counted(versions.len() as u64, "version"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_of_both_kinds_had_2_of_both() {
        let counted = |count| ServedKinds::Both.counted(count);
        assert_eq!((counted(1), counted(2)), ("1 provider or module".to_owned(), "2 providers and modules".to_owned()));
        assert_eq!(ServedKinds::Modules.counted(2), "2 modules");
    }
}
