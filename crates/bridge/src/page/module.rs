//! The pages of a module: its versions, and what one version takes and gives.

use maud::{Markup, html};
use tofu_oci_tfconfig::{ModuleInput, ModuleInterface, ModuleOutput, ModuleProvider};
use tofu_oci_types::{ModuleAddr, Moment, Version, human_bytes};

use super::frame::PageFrame;
use super::package_contents::{PackageContents, SkipReason};
use super::pager::{ListPart, pager};
use super::readme::readme;
use super::snippets::{ClientSetup, from_newest, from_version};
use super::words::{counted, foreign, made, prerelease, punycode};
use crate::{Refusal, ServedModule, ServedVersions};

/// A module with some of its versions.
pub(super) struct ModulePage<'a> {
    pub(super) served: &'a ServedVersions<ModuleAddr>,
    /// Why the repository does not answer now, if `served` is its earlier answer.
    pub(super) trouble: Option<Refusal>,
    pub(super) setup: ClientSetup<'a>,
    /// The versions of this page, withdrawn ones too, the newest first.
    pub(super) rows: &'a [&'a Version],
    /// Which part of all versions they are.
    pub(super) part: ListPart,
}

impl ModulePage<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let address = &self.served.address;
        let newest = self.served.newest();
        html! {
            (trail(frame, None))
            (title(address, None))
            @if let Some(trouble) = &self.trouble {
                p.notice { b { "The registry does not answer now. " } "This is what it said before: " (foreign(&trouble.to_string())) "." }
            }
            section aria-labelledby="use" {
                h2 #use { "Use it" }
                (self.setup.module_steps(address, newest.map(from_newest).as_deref()))
            }
            section aria-labelledby="versions" {
                h2 #versions { "Versions" }
                @if self.rows.is_empty() {
                    p { "This server offers no version of it." }
                } @else {
                    ul.providers { @for version in self.rows { (self.row(frame, version)) } }
                }
                (pager(&self.part, |number| frame.links.module_versions(address, number)))
            }
        }
    }

    fn row(&self, frame: &PageFrame<'_>, version: &Version) -> Markup {
        let is_withdrawn = self.served.withdrawn.contains(version);
        html! {
            li {
                @if is_withdrawn {
                    span { (version) " " span.mark.warn { "withdrawn" } }
                } @else {
                    a href=(frame.links.module_version(&self.served.address, version)) { (version) }
                    span { (prerelease(version)) (deprecated(self.served.deprecated.contains(version))) }
                }
            }
        }
    }
}

/// One version of a module.
pub(super) struct ModuleVersionPage<'a> {
    pub(super) served: &'a ServedModule,
    pub(super) setup: ClientSetup<'a>,
    /// What lies in its package.
    pub(super) look: Result<&'a PackageContents, SkipReason>,
    /// Whether its publisher has deprecated it, if that is known.
    pub(super) is_deprecated: bool,
    /// The link to the zip.
    pub(super) archive: String,
    pub(super) now: Moment,
}

impl ModuleVersionPage<'_> {
    pub(super) fn content(&self, frame: &PageFrame<'_>) -> Markup {
        let ServedModule { address, version, .. } = self.served;
        html! {
            (trail(frame, Some(address)))
            (title(address, Some(version)))
            @if self.is_deprecated { p.notice { "Its publisher has deprecated this version." } }
            (self.facts())
            section aria-labelledby="use" {
                h2 #use { "Use it" }
                (self.setup.module_steps(address, Some(&from_version(version))))
            }
            @match self.look {
                Ok(look) => (looked(look)),
                Err(SkipReason::TooLarge) => p.aside { "The package is larger than this page reads: its inputs and outputs are not shown." },
                Err(SkipReason::Damaged | SkipReason::Unread) => p.notice { "The package could not be read, so that its inputs and outputs are not shown." },
            }
        }
    }

    fn facts(&self) -> Markup {
        let served = self.served;
        let annotation = |name| served.manifest.annotations().get(name).map(String::as_str);
        html! {
            dl.facts {
                @if let Some(created) = served.manifest.created() {
                    div { dt { "Published" } dd { (made(&created, self.now)) } }
                }
                @for (name, key) in [
                    ("Source", "org.opencontainers.image.source"),
                    ("Revision", "org.opencontainers.image.revision"),
                    ("Licences", "org.opencontainers.image.licenses"),
                ] {
                    @if let Some(text) = annotation(key) { div { dt { (name) } dd { (foreign(text)) } } }
                }
                div {
                    dt { "Package" }
                    dd {
                        (human_bytes(served.manifest.package().size)) " zip"
                        @if let Ok(look) = self.look {
                            ", " (counted(look.files as u64, "file")) " of " (human_bytes(look.bytes))
                        }
                        ", " a href=(self.archive) download { "Download" }
                    }
                }
                div { dt { "Manifest" } dd { code.digest { (foreign(served.digest.as_str())) } } }
            }
        }
    }
}

fn deprecated(is_deprecated: bool) -> Markup {
    html! { @if is_deprecated { " " span.mark.warn { "deprecated" } } }
}

fn trail(frame: &PageFrame<'_>, module: Option<&ModuleAddr>) -> Markup {
    html! {
        nav.trail aria-label="Breadcrumb" {
            a href=(frame.links.start()) { "Modules" }
            @if let Some(address) = module {
                " / " a href=(frame.links.module(address)) { (foreign(&address.path())) }
            }
        }
    }
}

fn title(address: &ModuleAddr, version: Option<&Version>) -> Markup {
    html! {
        h1 {
            @match version {
                None => { span.namespace { (address.namespace()) "/" } (address.name()) },
                Some(version) => { (address.name()) " " (version) (prerelease(version)) },
            }
            " " span.mark { (address.target()) }
        }
        p.address { (address) (punycode(address.hostname())) }
    }
}

fn looked(look: &PackageContents) -> Markup {
    html! {
        @match &look.interface {
            Ok(Some(interface)) => (interfaces(interface)),
            Ok(None) => p.aside { "The root of the package has no configuration." },
            Err(fault) => p.notice { "The configuration cannot be read: " (foreign(fault)) "." },
        }
        @if let Some(text) = &look.readme {
            section aria-labelledby="readme" { h2 #readme { "README" } div.readme { (readme(text)) } }
        }
    }
}

fn interfaces(interface: &ModuleInterface) -> Markup {
    html! {
        section aria-labelledby="inputs" {
            h2 #inputs { "Inputs" }
            (table("It has no inputs.", &["Name", "Type", "Description", "Default"], &interface.inputs, input))
        }
        section aria-labelledby="outputs" {
            h2 #outputs { "Outputs" }
            (table("It has no outputs.", &["Name", "Description"], &interface.outputs, output))
        }
        section aria-labelledby="providers" {
            h2 #providers { "Providers" }
            (table("It names no providers.", &["Name", "Provider", "Versions"], &interface.providers, provider))
        }
        @if !interface.calls.is_empty() {
            section aria-labelledby="calls" {
                h2 #calls { "Modules that it calls" }
                ul { @for source in &interface.calls { li { code { (foreign(source)) } } } }
            }
        }
    }
}

fn table<T>(nothing: &str, names: &[&str], entries: &[T], row: fn(&T) -> Markup) -> Markup {
    html! {
        @if entries.is_empty() {
            p.aside { (nothing) }
        } @else {
            table role="table" {
                thead role="rowgroup" { tr role="row" { @for name in names { th scope="col" role="columnheader" { (name) } } } }
                tbody role="rowgroup" { @for entry in entries { tr role="row" { (row(entry)) } } }
            }
        }
    }
}

fn name(text: &str, is_sensitive: bool) -> Markup {
    html! {
        th.name scope="row" role="rowheader" {
            (foreign(text)) @if is_sensitive { " " span.mark { "sensitive" } }
        }
    }
}

fn described(text: Option<&str>) -> Markup {
    html! { td role="cell" data-label="Description" { @if let Some(text) = text { (foreign(text.trim())) } } }
}

/// An expression, in one line.
fn expression(text: &str) -> Markup {
    let words: Vec<&str> = text.split_whitespace().collect();
    html! { code { (foreign(&words.join(" "))) } }
}

fn input(input: &ModuleInput) -> Markup {
    html! {
        (name(&input.name, input.sensitive))
        td role="cell" data-label="Type" { @if let Some(text) = &input.type_text { (expression(text)) } }
        (described(input.description.as_deref()))
        td role="cell" data-label="Default" {
            @match &input.default { Some(text) => (expression(text)), None => b { "required" } }
        }
    }
}

fn output(output: &ModuleOutput) -> Markup {
    html! { (name(&output.name, output.sensitive)) (described(output.description.as_deref())) }
}

fn provider(provider: &ModuleProvider) -> Markup {
    html! {
        (name(&provider.local_name, false))
        td role="cell" data-label="Provider" { code { (foreign(&provider.address.to_string())) } }
        td role="cell" data-label="Versions" { (foreign(&provider.constraints.to_string())) }
    }
}
