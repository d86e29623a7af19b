//! A repository of modules from its store to its findings.

use std::path::Path;

use tofu_oci_store::{ReadStore, StoreError, Transport};
use tofu_oci_types::{Reference, Reporter, RepositoryRef, Subdir, Tag};

use crate::Rejection;
use crate::facts::{Depth, FoundModule, WhatModules, read_modules, withdrawn};
use crate::go::ModuleRefusal;
use crate::model::{Finding, NotJudged};
use crate::opentofu::{AskedModule, ModulePrediction, install_module};
use crate::rules::{ModuleSubject, modules, of_repository, plain_http, unasked};

/// The largest number of tags that are looked at.
const MOST: usize = 1000;

/// What to check about a repository of modules.
#[derive(Clone, Debug)]
pub struct ModuleCheckRequest<'a> {
    pub asked: AskedModules,
    /// How deep to read.
    pub depth: Depth,
    /// Where packages are put while they are read and unpacked; an existing folder.
    pub work_dir: &'a Path,
}

/// Which modules of a repository are asked for.
#[derive(Clone, Debug)]
pub enum AskedModules {
    /// The package of every tag, at most 1000, except lists of referrers, signatures, and notices with what was withdrawn.
    EveryTag,
    /// The package of this tag.
    Tag(Tag),
    /// What a source names, which lies in this repository.
    Source(AskedModule),
}

/// A checked repository of modules.
#[derive(Debug)]
pub struct ModuleCheckReport {
    /// What `OpenTofu` makes of each module that was asked for.
    pub predictions: Vec<ModulePrediction>,
    pub findings: Vec<Finding>,
    /// What the store did not answer for; no rule judged it.
    pub not_judged: Vec<NotJudged>,
}

/// Reads modules of a repository, predicts what `OpenTofu` does with them, and applies every rule about modules.
///
/// # Errors
/// If tags are needed and cannot be listed. Wrong content is a finding; what the store does not answer for is not
/// judged.
pub async fn check_modules(
    store: &dyn ReadStore,
    request: &ModuleCheckRequest<'_>,
    reporter: &dyn Reporter,
) -> Result<ModuleCheckReport, StoreError> {
    let (asked, tags) = match &request.asked {
        AskedModules::EveryTag => {
            let tags = store.tag_texts().await?;
            let of_tags = tags.iter().filter_map(|tag| tag.parse::<Tag>().ok()).filter(|tag| !tag.is_beside());
            (of_tags.take(MOST).map(|tag| of_tag(store.repository(), tag)).collect(), Some(tags))
        }
        AskedModules::Tag(tag) => (vec![of_tag(store.repository(), tag.clone())], None),
        AskedModules::Source(asked) => (vec![asked.clone()], None),
    };
    let questions: Vec<_> = asked.iter().filter_map(|asked| asked.package.as_ref().ok()).collect();
    let references: Vec<Reference> = questions.iter().map(|question| question.reference.clone()).collect();
    let root = Subdir::root();
    let subdir = questions.first().map_or(&root, |question| &question.subdir);
    let what = WhatModules { subdir, depth: request.depth, work_dir: request.work_dir };
    let found = read_modules(store, &references, what, reporter).await;

    let mut next = found.iter();
    let found_of: Vec<Option<&FoundModule>> =
        asked.iter().map(|asked| asked.package.as_ref().ok().and_then(|_| next.next())).collect();
    let mut predictions: Vec<ModulePrediction> =
        asked.iter().zip(&found_of).map(|(asked, found)| install_module(asked, *found)).collect();
    for (prediction, asked) in predictions.iter_mut().zip(&asked) {
        if prediction.because == Some(Rejection::TagNotFound)
            && let Ok(Reference::Tag(tag)) = asked.package.as_ref().map(|package| &package.reference)
            && let Some(said) = why_missing(store, tag).await
        {
            prediction.detail = said;
        }
    }
    let plain = store.transport().await == Transport::PlainHttp;
    if plain {
        over_plain_http(&mut predictions);
    }
    let subjects: Vec<ModuleSubject<'_>> = (asked.iter().zip(&found_of).zip(&predictions))
        .map(|((asked, found), prediction)| ModuleSubject { asked, found: *found, prediction })
        .collect();
    let mut findings = modules(&subjects);
    findings.extend(of_repository(&store.place(), tags.as_deref(), &found));
    if plain {
        findings.push(plain_http(&store.place()));
    }
    let not_judged = found.iter().flat_map(|found| {
        let entry = |(place, error)| NotJudged { place, version: None, platform: None, error };
        unasked(found).into_iter().map(entry)
    });
    let not_judged = not_judged.collect();
    Ok(ModuleCheckReport { predictions, findings, not_judged })
}

/// Why a tag is not there: its version was withdrawn, or there is no such repository. `None` if that is not known.
async fn why_missing(store: &dyn ReadStore, tag: &Tag) -> Option<String> {
    if let Some(version) = tag.version()
        && let Some(said) = withdrawn(store, &version).await
    {
        return Some(said);
    }
    let tags = store.tag_texts().await;
    tags.err().filter(|error| matches!(error, StoreError::UnknownRepository { .. })).map(|error| error.to_string())
}

/// The report about a source that `OpenTofu` refuses, or whose repository does not exist: nothing is read.
pub fn refused_module(asked: &AskedModule, missing: &str) -> ModuleCheckReport {
    let because = match asked.package.as_ref().map(|package| &package.reference) {
        Ok(Reference::Digest(_)) => Rejection::DigestNotFound,
        _ => Rejection::TagNotFound,
    };
    let missing = ModuleRefusal { because, detail: missing.to_owned() };
    let refused = AskedModule { package: asked.package.clone().and(Err(missing)), ..asked.clone() };
    let prediction = install_module(&refused, None);
    let findings = modules(&[ModuleSubject { asked: &refused, found: None, prediction: &prediction }]);
    ModuleCheckReport { predictions: vec![prediction], findings, not_judged: Vec::new() }
}

/// What a source with this tag asks for.
fn of_tag(repository: Option<&RepositoryRef>, tag: Tag) -> AskedModule {
    match repository {
        Some(repository) => AskedModule::of_source(&format!("oci://{repository}?tag={tag}")).0,
        None => AskedModule::of_tag(tag),
    }
}

/// As for providers: `OpenTofu` speaks TLS alone.
fn over_plain_http(predictions: &mut [ModulePrediction]) {
    for prediction in predictions.iter_mut().filter(|prediction| prediction.installs) {
        prediction.installs = false;
        prediction.because = Some(Rejection::PlainHttp);
        prediction.unread = false;
    }
}
