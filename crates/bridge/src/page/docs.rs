//! The pages of a provider's documentation.

use maud::{Markup, html};
use tofu_oci_docs::{DocPage, PageKind, PageName, ProviderDocs};
use tofu_oci_types::Version;

use super::frame::PageFrame;
use super::package_contents::SkipReason;
use super::readme::{anchor_of, docs_text};
use super::words::{counted, foreign, prerelease, punycode};
use crate::ServedRelease;

/// The most versions that one can change to.
const VERSIONS: usize = 50;
/// The most pages that a search shows.
const FOUND: usize = 200;

/// One page of the documentation of a release, or what a search finds in it.
pub(super) struct DocsPage<'a> {
    pub(super) served: &'a ServedRelease,
    /// `None` if the release has none.
    pub(super) docs: Result<Option<&'a ProviderDocs>, SkipReason>,
    pub(super) name: &'a PageName,
    /// The versions of the provider, the newest first.
    pub(super) versions: &'a [&'a Version],
    /// The words of a search; empty for the page itself.
    pub(super) find: &'a str,
}

impl<'a> DocsPage<'a> {
    /// The page itself, if the release has it.
    pub(super) fn page(&self) -> Option<&'a DocPage> {
        self.docs.ok().flatten()?.page(self.name)
    }

    /// Whether there is something to show.
    pub(super) fn is_there(&self) -> bool {
        let is_start = self.name.kind() == PageKind::Overview;
        matches!(self.docs, Ok(Some(_))) && (is_start || !self.find.is_empty() || self.page().is_some())
    }

    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        html! {
            nav.trail aria-label="Breadcrumb" {
                a href=(frame.links.start()) { "Providers" } " / "
                a href=(frame.links.provider(address)) {
                    (foreign(address.namespace())) "/" (foreign(address.provider_type()))
                }
                " / " a href=(frame.links.release(address, version)) { (version) }
            }
            h1 {
                (foreign(address.provider_type())) " " (version) (prerelease(version))
                " " span.mark { "documentation" }
            }
            p.address { (address) (punycode(address.hostname())) }
            div.docs {
                div {
                    (self.versions(frame))
                    @if let Ok(Some(docs)) = self.docs { (self.search(frame)) (self.navigation(frame, docs)) }
                }
                article.readme { (self.article(frame)) }
            }
        }
    }

    fn article(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        let docs = match self.docs {
            Ok(Some(docs)) => docs,
            Ok(None) => {
                return html! {
                    p { "This version has no documentation. Its publisher adds it with " code { "push --docs" } "." }
                };
            }
            Err(SkipReason::TooLarge | SkipReason::Damaged) => {
                return html! { p.notice { "The documentation of this version is not one that this page can read." } };
            }
            Err(SkipReason::Unread) => {
                return html! { p.notice { "The documentation could not be read now. Try again in a while." } };
            }
        };
        if !self.find.is_empty() {
            return self.found(frame, docs);
        }
        let Some(page) = docs.page(self.name) else {
            return html! {
                p { "This version has no page " code { (self.name.to_string()) } ". The list beside has all pages." }
            };
        };
        let link = |link: &str| {
            let (page, place) = docs.linked(self.name, address, link)?;
            let place = place.and_then(anchor_of).map(|place| format!("#{place}")).unwrap_or_default();
            if link.starts_with('#') {
                return Some(place).filter(|place| !place.is_empty());
            }
            Some(format!("{}{place}", frame.links.docs(address, version, page)))
        };
        html! {
            @if let Some(subcategory) = &page.subcategory { p.aside { (foreign(subcategory)) } }
            (docs_text(&page.text, &link))
        }
    }

    /// What a search finds: each of its words is in the name of a page or in its title.
    fn found(&self, frame: &PageFrame<'_>, docs: &ProviderDocs) -> Markup {
        let query = self.find.to_lowercase();
        let is_found = |(name, page): &(&PageName, &DocPage)| {
            let text = format!("{name} {}", page.title.as_deref().unwrap_or_default()).to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        };
        let found: Vec<(&PageName, &DocPage)> = docs.pages().filter(is_found).collect();
        html! {
            h2 { (counted(found.len() as u64, "page")) " for “" (foreign(self.find)) "”" }
            ul {
                @for (name, page) in found.iter().take(FOUND) {
                    li {
                        (self.link(frame, name, &name.to_string()))
                        @if let Some(about) = &page.description { " " span.aside { (foreign(about)) } }
                    }
                }
            }
            @if found.len() > FOUND { p.aside { "More words find fewer pages: the first " (FOUND) " are shown." } }
        }
    }

    fn versions(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        html! {
            @if self.versions.len() > 1 {
                details {
                    summary { "Version " (version) }
                    ul {
                        @for other in self.versions.iter().take(VERSIONS) {
                            @let is_current = (*other == version).then_some("true");
                            li { a href=(frame.links.docs(address, other, self.name)) aria-current=[is_current] { (other) } }
                        }
                    }
                }
            }
        }
    }

    fn search(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        html! {
            search {
                form action=(frame.links.docs(address, version, &PageName::overview())) method="get" {
                    label.hidden for="find" { "Find a page of the documentation" }
                    input #find type="search" name="find" value=(self.find) maxlength="200"
                        placeholder="name of a page" autocomplete="off" spellcheck="false";
                    button type="submit" { "Find" }
                }
            }
        }
    }

    fn navigation(&self, frame: &PageFrame<'_>, docs: &ProviderDocs) -> Markup {
        html! {
            nav aria-label="Documentation" {
                @if docs.page(&PageName::overview()).is_some() {
                    p { (self.link(frame, &PageName::overview(), PageKind::Overview.title())) }
                }
                @for kind in PageKind::FOLDERS {
                    @let count = docs.of_kind(kind).count();
                    @if count > 0 {
                        details open[kind == self.name.kind()] {
                            summary { (kind.title()) " " span.aside { (count) } }
                            ul { @for (name, _) in docs.of_kind(kind) { li { (self.link(frame, name, name.name())) } } }
                        }
                    }
                }
            }
        }
    }

    fn link(&self, frame: &PageFrame<'_>, page: &PageName, text: &str) -> Markup {
        let ServedRelease { address, version, .. } = self.served;
        let is_current = page == self.name && self.find.is_empty();
        html! {
            a href=(frame.links.docs(address, version, page)) aria-current=[is_current.then_some("page")] {
                (foreign(text))
            }
        }
    }
}
