//! The page of a release: its packages, their checksums, and who signed it.

use maud::{Markup, html};
use tofu_oci_docs::PageName;
use tofu_oci_source::LeafKind;
use tofu_oci_types::{Moment, PackageHash, Platform, Scheme, human_bytes};

use super::built::built_by;
use super::frame::PageFrame;
use super::opinion::ReleaseOpinion;
use super::signatures;
use super::snippets::{ClientSetup, from_version};
use super::words::{age, foreign, noticed, prerelease, punycode, sentence};
use crate::{ServedPackage, ServedRelease};

/// A release, looked into.
pub(super) struct ReleasePage<'a> {
    pub(super) served: &'a ServedRelease,
    /// Whether it has documentation.
    pub(super) documented: bool,
    pub(super) setup: ClientSetup<'a>,
    /// Who signed it and what its publisher says, if the place could be asked.
    pub(super) opinion: Option<ReleaseOpinion>,
    /// The link to the archive of a platform.
    pub(super) archive: &'a dyn Fn(&Platform) -> String,
    pub(super) now: Moment,
}

impl ReleasePage<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        let notice = self.opinion.as_ref().and_then(|opinion| opinion.notice.as_ref());
        html! {
            nav.trail aria-label="Breadcrumb" {
                a href=(frame.links.start()) { "Providers" } " / "
                a href=(frame.links.provider(address)) { (foreign(address.namespace())) "/" (foreign(address.provider_type())) }
            }
            h1 {
                (foreign(address.provider_type())) " " (version) (prerelease(version))
                (noticed(notice))
            }
            p.address { (address) (punycode(address.hostname())) }
            @if self.documented {
                p { a href=(frame.links.docs(address, version, &PageName::overview())) { "Documentation" } }
            }
            @if let Some(notice) = notice { p.notice { (sentence(&notice.text)) } }
            (self.facts())
            section aria-labelledby="use" {
                h2 #use { "Use it" }
                (self.setup.steps(address, Some(&from_version(version))))
            }
            section aria-labelledby="packages" { h2 #packages { "Packages" } (self.table()) }
        }
    }

    fn facts(&self) -> Markup {
        let served = self.served;
        html! {
            dl.facts {
                @if let Some(created) = &served.created {
                    div { dt { "Published" } dd { (age(created, self.now)) } }
                }
                @if !served.protocols.is_empty() {
                    div { dt { "Plugin protocols" } dd { (foreign(&served.protocols.join(", "))) } }
                }
                div {
                    dt { "Signed" }
                    dd {
                        @match &self.opinion {
                            Some(opinion) => (signatures::long(&opinion.signatures)),
                            None => "Unknown: the registry does not answer.",
                        }
                    }
                }
                @if let Some(built) = self.opinion.as_ref().and_then(|opinion| opinion.built.as_deref()) {
                    div { dt { "Built by" } dd { (built_by(built)) } }
                }
                @if let Some(index) = served.release.id().identity.index() {
                    div { dt { "Index" } dd { code.digest { (foreign(index.as_str())) } } }
                }
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            table role="table" {
                caption.hidden { "Packages by platform" }
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Platform", "Size", "Checksums", "Archive"] { th scope="col" role="columnheader" { (name) } }
                    }
                }
                tbody role="rowgroup" { @for (platform, package) in &self.served.packages { (self.row(platform, package)) } }
            }
        }
    }

    fn row(&self, platform: &Platform, package: &ServedPackage) -> Markup {
        html! {
            tr role="row" {
                th.name scope="row" role="rowheader" { (foreign(&platform.to_string())) }
                td.size role="cell" data-label="Size" {
                    @match (package.offer.bytes(), package.offer.kind()) {
                        (Some(bytes), Some(LeafKind::Image)) => { (human_bytes(bytes)) " of layers" },
                        (Some(bytes), _) => (human_bytes(bytes)),
                        (None, _) => span.unknown { "unknown" },
                    }
                }
                td role="cell" data-label="Checksums" { (checksums(package)) }
                td role="cell" data-label="Archive" {
                    a href=((self.archive)(platform)) download aria-label=(format!("Download the zip for {platform}")) { "Download" }
                }
            }
        }
    }
}

/// As lock files have them: `zh:` and `h1:` as far as they are known, `ch:` of a package in a repository.
fn checksums(package: &ServedPackage) -> Markup {
    let order = |hash: &&PackageHash| match hash.scheme() {
        Scheme::Zh => 0,
        Scheme::H1 => 1,
        Scheme::Ch => 2,
        Scheme::Other => 3,
    };
    let ch = package.offer.ch();
    let mut hashes: Vec<&PackageHash> = package.hashes.iter().chain(&ch).collect();
    hashes.sort_by_key(order);
    hashes.dedup();
    html! {
        @if hashes.is_empty() { span.unknown { "unknown until the package is read" } }
        @for hash in hashes { code.digest { (foreign(hash.as_str())) } }
    }
}
