//! The page of a provider: how to use it, and its versions.

use maud::{Markup, html};
use tofu_oci_docs::PageName;
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_source::ReleaseDate;
use tofu_oci_types::{Moment, Platform, Version};

use super::frame::PageFrame;
use super::opinion::ReleaseOpinion;
use super::pager::{ListPart, pager};
use super::signatures;
use super::snippets::{ClientSetup, from_newest};
use super::words::{age, foreign, noticed, platforms, prerelease, punycode};
use crate::served::newest;
use crate::{Refusal, ServedVersions, WithdrawnVersion};

/// A provider with some of its versions.
pub(super) struct ProviderPage<'a> {
    pub(super) served: &'a ServedVersions,
    /// The newest version, if it has documentation.
    pub(super) documented: Option<Version>,
    /// Why the place does not answer now, if `served` is its earlier answer.
    pub(super) trouble: Option<Refusal>,
    pub(super) setup: ClientSetup<'a>,
    /// The versions of this page, withdrawn ones too, the newest first.
    pub(super) rows: &'a [VersionRow],
    /// Which part of all versions they are.
    pub(super) part: ListPart,
    pub(super) now: Moment,
}

/// A version in the table.
#[derive(Debug)]
pub(super) struct VersionRow {
    pub(super) version: Version,
    pub(super) state: RowState,
}

/// What became of a version.
#[derive(Debug)]
pub(super) enum RowState {
    /// Clients can choose it. `None` if its documents were not read in time.
    Offered(Option<RowFacts>),
    Withdrawn(WithdrawnVersion),
}

/// What the table says of a version.
#[derive(Debug)]
pub(super) struct RowFacts {
    pub(super) created: Option<ReleaseDate>,
    pub(super) protocols: Vec<String>,
    pub(super) platforms: Vec<Platform>,
    /// `None` if the place could not be asked.
    pub(super) opinion: Option<ReleaseOpinion>,
}

impl RowFacts {
    /// Of a version that the policy refuses.
    pub(super) fn refused(code: &'static str) -> Self {
        let opinion = ReleaseOpinion { signatures: SignatureStanding::Refused { code }, notice: None, built: None };
        Self { created: None, protocols: Vec::new(), platforms: Vec::new(), opinion: Some(opinion) }
    }
}

impl ProviderPage<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let address = &self.served.address;
        let constraint = newest(&self.served.versions).map(from_newest);
        html! {
            nav.trail aria-label="Breadcrumb" { a href=(frame.links.start()) { "Providers" } }
            h1 { span.namespace { (foreign(address.namespace())) "/" } (foreign(address.provider_type())) }
            p.address { (address) (punycode(address.hostname())) }
            @if let Some(version) = &self.documented {
                p { a href=(frame.links.docs(address, version, &PageName::overview())) { "Documentation of " (version) } }
            }
            @if let Some(trouble) = &self.trouble {
                p.notice { b { "The registry does not answer now. " } "This is what it said before: " (foreign(&trouble.to_string())) "." }
            }
            @for warning in &self.served.warnings { p.notice { (foreign(warning)) } }
            section aria-labelledby="use" {
                h2 #use { "Use it" }
                (self.setup.steps(address, constraint.as_deref()))
            }
            section aria-labelledby="versions" {
                h2 #versions { "Versions" }
                @if self.rows.is_empty() {
                    p { "This server offers no version of it." }
                } @else {
                    (self.table(frame))
                    @if self.rows.iter().any(|row| matches!(row.state, RowState::Offered(None))) {
                        p.aside { "What is missing here could not be read in time. The page of the version, or this one a little later, has it." }
                    }
                }
                (pager(&self.part, |number| frame.links.versions(address, number)))
            }
        }
    }

    fn table(&self, frame: &PageFrame<'_>) -> Markup {
        html! {
            table role="table" {
                caption.hidden { "Versions, the newest first" }
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Version", "Published", "Platforms", "Protocols", "Signed by"] {
                            th scope="col" role="columnheader" { (name) }
                        }
                    }
                }
                tbody role="rowgroup" { @for row in self.rows { (self.row(frame, row)) } }
            }
        }
    }

    fn row(&self, frame: &PageFrame<'_>, row: &VersionRow) -> Markup {
        match &row.state {
            RowState::Offered(facts) => self.offered(frame, &row.version, facts.as_ref()),
            RowState::Withdrawn(withdrawn) => self.withdrawn(frame, &row.version, withdrawn),
        }
    }

    fn withdrawn(&self, frame: &PageFrame<'_>, version: &Version, withdrawn: &WithdrawnVersion) -> Markup {
        html! {
            tr role="row" {
                th.name scope="row" role="rowheader" {
                    a href=(frame.links.release(&self.served.address, version)) { (version) }
                    " " span.mark.warn { "withdrawn" @if let Some(by) = withdrawn.by { " by " (by) } }
                }
                td role="cell" colspan="4" data-label="Reason" {
                    (withdrawn.reason.as_deref().map_or("not given".to_owned(), foreign))
                }
            }
        }
    }

    fn offered(&self, frame: &PageFrame<'_>, version: &Version, facts: Option<&RowFacts>) -> Markup {
        let opinion = facts.and_then(|facts| facts.opinion.as_ref());
        let unknown = html! { span.unknown { "unknown" } };
        let or_unknown = |text: Option<Markup>| text.unwrap_or_else(|| unknown.clone());
        let protocols = |facts: &RowFacts| Some(foreign(&facts.protocols.join(", "))).filter(|text| !text.is_empty());
        html! {
            tr role="row" {
                th.name scope="row" role="rowheader" {
                    a href=(frame.links.release(&self.served.address, version)) { (version) }
                    (prerelease(version))
                    (noticed(opinion.and_then(|opinion| opinion.notice.as_ref())))
                }
                td role="cell" data-label="Published" {
                    (or_unknown(facts.and_then(|facts| facts.created.as_ref()).map(|created| age(created, self.now))))
                }
                td role="cell" data-label="Platforms" { (or_unknown(facts.map(|facts| platforms(&facts.platforms)))) }
                td role="cell" data-label="Protocols" {
                    (or_unknown(facts.and_then(protocols).map(|text| html! { (text) })))
                }
                td role="cell" data-label="Signed by" {
                    (or_unknown(opinion.map(|opinion| signatures::short(&opinion.signatures))))
                }
            }
        }
    }
}
