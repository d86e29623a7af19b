//! `docs`.

mod model;
mod text;

use std::sync::Arc;

use tofu_oci_docs::{DocsDifference, PageKind, PageName, ProviderDocs};
use tofu_oci_source::{Release, provider_docs};
use tofu_oci_types::{ReleaseName, Version};

use super::context::Context;
use super::show::{ReleaseQuestion, find};
use super::versions::{self, SubjectKind};
use crate::args::{DocsArgs, DocsDiffArgs, DocsVerb};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::mistake::nearest;
use crate::page::Page;
use model::{DocsEntry, DocsLine};

/// Prints a page, the list of pages, or what came and went.
pub(crate) async fn docs(context: &Context, args: &DocsArgs) -> Result<(), Diagnostic> {
    if let Some(DocsVerb::Diff(args)) = &args.verb {
        return diff(context, args).await;
    }
    let DocsArgs { lookup, access, .. } = args;
    let subject = args.subject.as_deref().unwrap_or_default();
    let (release, docs) = read(context, &ReleaseQuestion { subject, lookup, access, chdir: None }).await?;
    let id = release.id();
    let overview = PageName::overview();
    let wanted = match &args.page {
        Some(text) => docs.meant(text, id.address.provider_type()).ok_or_else(|| no_page(&docs, text, subject))?,
        None => &overview,
    };
    let Some(page) = docs.page(wanted).filter(|_| !args.list) else {
        let entries: Vec<DocsEntry<'_>> = docs.pages().map(|(name, page)| DocsEntry::of(name, page)).collect();
        context.emit_all(|lines| lines.add_all(&entries), || text::list(&docs));
        return Ok(());
    };
    let line = DocsLine::Page { address: &id.address, version: &id.version, page: DocsEntry::of(wanted, page).full() };
    context.emit_paged(&line, || text::page(page));
    Ok(())
}

async fn read(
    context: &Context,
    question: &ReleaseQuestion<'_>,
) -> Result<(Arc<dyn Release>, ProviderDocs), Diagnostic> {
    let release = find(context, question).await?.release;
    let docs = provider_docs(&*release).await?;
    Ok((release, docs))
}

/// The page whose name is nearest, first among those of the kind whose folder is nearest.
fn near<'a>(docs: &'a ProviderDocs, text: &str) -> Option<&'a PageName> {
    let text = text.to_ascii_lowercase();
    let (folder, name) = text.rsplit_once('/').map_or((None, &*text), |(folder, name)| (Some(folder), name));
    let name = name.split('.').next().unwrap_or_default();
    let kind = folder.and_then(|folder| match folder {
        "r" => Some(PageKind::Resource),
        "d" => Some(PageKind::DataSource),
        folder => {
            let near = nearest(folder, PageKind::FOLDERS.into_iter().map(PageKind::folder))?;
            PageKind::FOLDERS.into_iter().find(|kind| kind.folder() == near)
        }
    });
    let of = |kind: Option<PageKind>| {
        let all = || docs.pages().map(|(name, _)| name).filter(|page| kind.is_none_or(|kind| kind == page.kind()));
        let near = nearest(name, all().map(PageName::name))?;
        all().find(|page| page.name() == near)
    };
    of(kind).or_else(|| of(None))
}

/// A page that is not there: the nearest one, and how all are listed.
fn no_page(docs: &ProviderDocs, text: &str, subject: &str) -> Diagnostic {
    let near = near(docs, text);
    let list = invocation::command(&format!("docs {} --list", invocation::quoted(subject)));
    Diagnostic::new(Exit::Fixable, format!("the documentation has no page `{text}`"))
        .code("docs-page-not-found")
        .more_hints(near.map(|near| format!("did you mean {near}?")))
        .hint(format!("`{list}` lists all pages"))
}

async fn diff(context: &Context, args: &DocsDiffArgs) -> Result<(), Diagnostic> {
    let DocsDiffArgs { first, second, third, lookup, access, .. } = args;
    let (before, after) = match third {
        None => {
            let is_version = |text: &str| text.parse::<Version>().is_ok();
            if is_version(second) {
                let name = match crate::subject::read(first)? {
                    ReleaseName::Provider { address, .. } => address.to_string(),
                    ReleaseName::Repository { repository, .. } => repository.to_string(),
                    ReleaseName::Layout { dir, .. } => format!("oci:{}", dir.display()),
                    ReleaseName::Whole(text) => text,
                };
                let line = format!("docs diff {} OLD NEW", invocation::quoted(&name));
                return Err(Diagnostic::usage("`docs diff` compares two versions, and one is named")
                    .hint(format!("name both: {}", invocation::with_all_options(&line))));
            }
            (first.clone(), second.clone())
        }
        Some(third) => {
            let found = versions::subject(context, first, lookup, false, access).await?;
            let mark = if found.named == SubjectKind::Repository { ':' } else { '@' };
            (format!("{first}{mark}{second}"), format!("{first}{mark}{third}"))
        }
    };
    let question = |subject| ReleaseQuestion { subject, lookup, access, chdir: None };
    let (from, before) = read(context, &question(&before)).await?;
    let (to, after) = read(context, &question(&after)).await?;
    let difference = DocsDifference::between(&before, &after);
    let (from, to) = (from.id(), to.id());
    let line = DocsLine::Diff { address: &to.address, from: &from.version, to: &to.version, difference: &difference };
    context.emit(&line, || {
        if difference.is_empty() {
            return Page::of(format_args!("no page or argument came or went from {} to {}", from.version, to.version));
        }
        text::difference(&difference)
    });
    Ok(())
}
