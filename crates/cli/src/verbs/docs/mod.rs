//! `docs`.

mod model;
mod text;

use std::sync::Arc;

use tofu_oci_docs::{DocsDifference, PageName, ProviderDocs};
use tofu_oci_source::{Release, provider_docs};

use super::context::Context;
use super::show::{ReleaseQuestion, find};
use crate::args::{DocsArgs, DocsDiffArgs, DocsVerb};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::mistake::nearest;
use crate::page::Page;
use crate::subject::is_repository;
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

/// A page that is not there: the nearest one, and how all are listed.
fn no_page(docs: &ProviderDocs, text: &str, subject: &str) -> Diagnostic {
    let names: Vec<String> = docs.pages().map(|(name, _)| name.to_string()).collect();
    let short: Vec<&str> = docs.pages().map(|(name, _)| name.name()).collect();
    let near = nearest(text, names.iter().map(String::as_str)).map(str::to_owned).or_else(|| {
        let near = nearest(text, short.iter().copied())?;
        names.iter().zip(&short).find(|(_, name)| **name == near).map(|(name, _)| name.clone())
    });
    let list = invocation::command(&format!("docs {} --list", invocation::quoted(subject)));
    Diagnostic::new(Exit::Fixable, format!("the documentation has no page `{text}`"))
        .code("docs-page-not-found")
        .more_hints(near.map(|near| format!("did you mean {near}?")))
        .hint(format!("`{list}` lists all pages"))
}

async fn diff(context: &Context, args: &DocsDiffArgs) -> Result<(), Diagnostic> {
    let DocsDiffArgs { first, second, third, lookup, access, .. } = args;
    let (before, after) = match third {
        None => (first.clone(), second.clone()),
        Some(third) => {
            let mark = if first.starts_with("oci:") || is_repository(first) { ':' } else { '@' };
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
