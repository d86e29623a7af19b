//! What `push`, `pack` and `module push` print.

use serde::Serialize;
use tofu_oci_packer::{
    AttachmentState, ModuleContents, ModuleParts, PlannedRelease, PlatformReport, PushPlan, PushReport, ReleaseParts,
    ReplaceTag, ReplacedRelease, TagState,
};
use tofu_oci_types::{Digest, Place, ProviderAddr, Version};

use super::context::{Context, tagged};
use super::sign::attachments;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::page::{Page, counted};
use crate::report::human_bytes;

/// How many of the files that were left out are named to people.
const NAMED: usize = 10;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum PushLine<'a> {
    Pushed(Done<'a, ReleaseParts>),
    PushPlan(&'a PushPlan),
    ModulePushed(Done<'a, ModuleParts>),
    ModulePushPlan(&'a PushPlan<ModuleParts>),
}

/// A report, with what is done in its place.
#[derive(Serialize)]
pub(super) struct Done<'a, P> {
    outcome: &'static str,
    #[serde(flatten)]
    report: &'a PushReport<P>,
}

/// What is pushed, for people.
pub(super) trait Parts {
    fn name(&self, version: &Version) -> String;
    /// The digest that the tag points at, after what has it.
    fn root(&self) -> (&'static str, &Digest);
    fn content(&self) -> Page;
    /// How a configuration calls it.
    fn call(&self) -> Option<String> {
        None
    }
}

impl Parts for ReleaseParts {
    fn name(&self, version: &Version) -> String {
        format!("{} {version}", self.address)
    }

    fn root(&self) -> (&'static str, &Digest) {
        ("index", &self.index)
    }

    fn content(&self) -> Page {
        platforms(&self.platforms)
    }
}

impl Parts for PlannedRelease {
    fn name(&self, version: &Version) -> String {
        self.release.name(version)
    }

    fn root(&self) -> (&'static str, &Digest) {
        self.release.root()
    }

    fn content(&self) -> Page {
        let mut page = self.release.content();
        for item in &self.items {
            let platform = item.platform.as_ref().map(ToString::to_string).unwrap_or_default();
            let state = if item.present { "present" } else { "new" };
            let (role, digest, size) = (item.role, item.digest.as_str(), human_bytes(item.size));
            page.line(format_args!("  {state:<8} {role:<9} {platform:<16} {digest} {size:>9}"));
        }
        page
    }
}

impl Parts for ModuleParts {
    fn name(&self, version: &Version) -> String {
        format!("the module {version}")
    }

    fn root(&self) -> (&'static str, &Digest) {
        ("manifest", &self.manifest)
    }

    fn content(&self) -> Page {
        contents(&self.contents)
    }

    fn call(&self) -> Option<String> {
        self.source.as_ref().map(|source| format!("  source = \"{source}\""))
    }
}

/// What is done in a place. A directory is no registry: nothing is pushed into it.
struct PlaceWords {
    verb: &'static str,
    done: &'static str,
    send: &'static str,
    sent: &'static str,
}

fn words(place: &Place) -> PlaceWords {
    match place {
        Place::Layout(_) => PlaceWords { verb: "pack", done: "packed", send: "write", sent: "wrote" },
        _ => PlaceWords { verb: "push", done: "pushed", send: "send", sent: "sent" },
    }
}

/// Prints what a push did. `note` says where its name comes from.
pub(super) fn report<'a, P: Parts>(
    context: &Context,
    line: fn(Done<'a, P>) -> PushLine<'a>,
    report: &'a PushReport<P>,
    note: Page,
) {
    let PushReport { place, version, tag, what, transfers, .. } = report;
    let PlaceWords { done, sent, .. } = words(place);
    context.emit(&line(Done { outcome: done, report }), || {
        let (name, there) = (what.name(version), tagged(place, tag));
        let attached = report.attachments.iter().any(|attachment| attachment.state == AttachmentState::Attached);
        let mut page = Page::of(match (report.unchanged, attached) {
            (true, false) => format!("{name} is at {there} already; nothing was sent"),
            (true, true) => format!("{name} is at {there} already; what it lacked was attached"),
            (false, _) => format!("{done} {name} to {there}"),
        });
        page.append(note);
        page.append(parts(what));
        page.append(attachments(&report.attachments));
        what.call().iter().for_each(|call| page.line(call));
        if let Some(ReplacedRelease { index, notice }) = &report.replaced {
            let marked = if notice.is_some() { "marked as withdrawn" } else { "not marked as withdrawn" };
            page.line(format_args!("  replaced {index}, {marked}"));
        }
        if !report.unchanged || attached {
            let mounted =
                if transfers.mounted > 0 { format!(", {} mounted", transfers.mounted) } else { String::new() };
            let (bytes, new, present) = (human_bytes(transfers.bytes), transfers.uploaded, transfers.present);
            page.line(format_args!("  {sent} {bytes} ({new} new{mounted}, {present} present)"));
        }
        page
    });
}

/// Refuses a plan that the run would refuse: its tag names something else.
pub(super) fn demand_free(there: &str, tag_state: &TagState, replace: ReplaceTag) -> Result<(), Diagnostic> {
    match tag_state {
        TagState::Taken { .. } if replace == ReplaceTag::Refuse => {
            let text = format!("`{}` would be refused: {there} names something else already", invocation::verb());
            Err(Diagnostic::new(Exit::Fixable, text)
                .code("tag-taken")
                .hint("publish the change as another version, or move the tag with --replace-tag"))
        }
        _ => Ok(()),
    }
}

/// Prints what a push would do.
///
/// # Errors
/// If the push would be refused because the tag is taken.
pub(super) fn plan<'a, P: Parts>(
    context: &Context,
    line: fn(&'a PushPlan<P>) -> PushLine<'a>,
    plan: &'a PushPlan<P>,
    (replace, note): (ReplaceTag, Page),
) -> Result<(), Diagnostic> {
    context.emit(&line(plan), || {
        let PushPlan { place, version, tag, what, .. } = plan;
        let PlaceWords { verb, send, .. } = words(place);
        let (name, there) = (what.name(version), tagged(place, tag));
        let mut page = Page::default();
        match &plan.tag_state {
            TagState::Free => page.line(format_args!("would {verb} {name} to {there}")),
            TagState::Equal if plan.bytes_to_send == 0 => {
                page.line(format_args!("{name} is at {there} already; nothing would be sent"));
            }
            TagState::Equal => page.line(format_args!("{name} is at {there} already; what it lacks would be attached")),
            TagState::Taken { existing, of } => {
                page.line(format_args!("{there} points at {}, {existing}", other(of.as_ref())));
                page.line(match replace {
                    ReplaceTag::Replace => format!("would mark it as withdrawn, and {verb} {name} in its place"),
                    ReplaceTag::Refuse => format!("would {verb} {name} only with --replace-tag"),
                });
            }
        }
        page.append(note);
        page.append(parts(what));
        page.append(attachments(&plan.attachments));
        if plan.keyless {
            page.line("  would sign it without a key, by cosign");
        }
        what.call().iter().for_each(|call| page.line(call));
        page.line(format_args!("  would {send} {}", human_bytes(plan.bytes_to_send)));
        page
    });
    demand_free(&tagged(&plan.place, &plan.tag), &plan.tag_state, replace)
}

/// What a tag points at that is taken.
pub(super) fn other(of: Option<&ProviderAddr>) -> String {
    of.map_or_else(|| "something else".to_owned(), |of| format!("another release of {of}"))
}

fn parts(what: &impl Parts) -> Page {
    let (word, root) = what.root();
    let mut page = Page::of(format_args!("  {word} {root}"));
    page.append(what.content());
    page
}

fn platforms(platforms: &[PlatformReport]) -> Page {
    let mut page = Page::default();
    for report in platforms {
        let checksum = report.h1.as_ref().or(report.zh.as_ref()).map(ToString::to_string).unwrap_or_default();
        let (platform, size) = (report.platform.to_string(), human_bytes(report.size));
        page.line(format_args!("  {platform:<16} {size:>9}  {checksum}"));
        if let Some(small) = &report.small {
            let (size, saved) = (human_bytes(small.size), saved(small.size, report.size));
            page.line(format_args!("  {:<16} {size:>9}  small layer {}, saves {saved}", "", small.digest));
        }
        if let Some(size) = report.small_omitted {
            let (blank, saved) = ("", saved(size, report.size));
            page.line(format_args!(
                "  {blank:<16} {blank:>9}  no small layer: it would save {saved}, and less than 5 % is not worth it"
            ));
        }
    }
    page
}

/// What a small layer saves of the zip, in bytes and percent.
fn saved(small: u64, zip: u64) -> String {
    let saved = zip.saturating_sub(small);
    if saved == 0 {
        return "nothing".to_owned();
    }
    format!("{} ({} % of the zip)", human_bytes(saved), u128::from(saved) * 100 / u128::from(zip))
}

/// The zip, and what is not in it.
fn contents(contents: &ModuleContents) -> Page {
    let ModuleContents { zip, size, files, left_out, .. } = contents;
    let mut page = Page::default();
    page.line(format_args!("  zip {zip}, {}, {}", counted(*files, "file"), human_bytes(*size)));
    for file in left_out.iter().take(NAMED) {
        page.line(format_args!("  left out {}: {}", file.name, file.text));
    }
    if left_out.len() > NAMED {
        page.line(format_args!("  left out {} more; --json names them all", left_out.len() - NAMED));
    }
    page
}
