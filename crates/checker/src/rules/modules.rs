//! Rules about a repository of modules.

use std::collections::BTreeSet;

use tofu_oci_archive::{clean_name, embedded_repository, windows_refusal};
use tofu_oci_types::{Place, Reference};

use super::catalogue::modules::{
    MODULE_ABSOLUTE_ENTRY, MODULE_ARCHIVE_NAME, MODULE_ARGUMENT_DROPPED, MODULE_ARTIFACT_TYPE, MODULE_BLOB,
    MODULE_CALL, MODULE_CALLS_ELSEWHERE, MODULE_CONFIGURATION, MODULE_DUPLICATE_ENTRY, MODULE_EMPTY, MODULE_FOLDER,
    MODULE_LATEST, MODULE_LAYERS, MODULE_LINK, MODULE_MANIFEST, MODULE_MANIFEST_TYPE, MODULE_REFUSED,
    MODULE_REPOSITORY, MODULE_SOURCE, MODULE_TAG, MODULE_UNREADABLE, MODULE_WINDOWS_NAME, MODULE_ZIP, MODULES_NOT_READ,
};
use super::once;
use super::places::Findings;
use super::tags::half_withdrawn;
use crate::Rejection;
use crate::facts::{FoundModule, ModuleContent, ModulePackageFacts};
use crate::go::ZipListing;
use crate::model::{CheckRule, Finding};
use crate::opentofu::{AskedModule, ModulePrediction};

/// Everything about one module that a source or tag names.
pub(crate) struct ModuleSubject<'a> {
    pub(crate) asked: &'a AskedModule,
    pub(crate) found: Option<&'a FoundModule>,
    pub(crate) prediction: &'a ModulePrediction,
}

/// The findings about modules, each once.
pub(crate) fn modules(subjects: &[ModuleSubject<'_>]) -> Findings {
    let mut found = Findings::new();
    for subject in subjects {
        let place = place(subject.prediction);
        for argument in &subject.asked.dropped {
            found.push(MODULE_ARGUMENT_DROPPED.at(&place, format!("OpenTofu drops the argument `{argument}`")));
        }
        if let Some(because) = subject.prediction.because
            && !is_not_judged(subject.found, because)
        {
            let rule = rule_of(because, subject.asked);
            let detail = &subject.prediction.detail;
            let said = if rule == &MODULE_REFUSED { format!("{because}: {detail}") } else { detail.clone() };
            found.push(rule.at(&place, said));
        }
        if let Some((package, digest)) = subject.found.and_then(read) {
            found.extend(contents(package, &format!("package {digest}")));
        }
        found.extend(subject.found.and_then(repository));
    }
    once(found)
}

/// The findings about the repository; `tags` are all of them, if they were asked for.
pub(crate) fn of_repository(place: &Place, tags: Option<&[String]>, found: &[FoundModule]) -> Findings {
    let mut findings = Findings::new();
    if tags.is_some_and(|tags| !tags.is_empty() && !tags.iter().any(|tag| tag == "latest")) {
        findings.push(MODULE_LATEST.at(place, "it has no tag `latest`, which a source without arguments means"));
    }
    findings.extend(found.iter().filter_map(|one| match &one.reference {
        Reference::Tag(tag) => half_withdrawn(tags?, tag, &one.manifest),
        Reference::Digest(_) => None,
    }));
    let unread: BTreeSet<&str> = found
        .iter()
        .filter_map(|one| one.package.as_ref())
        .filter(|package| matches!(package.content.as_ref(), Ok(ModuleContent::There(_))))
        .map(|package| package.descriptor.digest.as_str())
        .collect();
    if !unread.is_empty() {
        let what = if unread.len() == 1 { "package was" } else { "packages were" };
        findings.push(MODULES_NOT_READ.at(place, format!("{} {what} not looked into", unread.len())));
    }
    findings
}

fn place(prediction: &ModulePrediction) -> String {
    match (&prediction.source, &prediction.reference) {
        (Some(source), _) => source.clone(),
        (None, Some(tag)) => format!("tag {tag}"),
        (None, None) => "source".to_owned(),
    }
}

/// Whether the store did not answer, so that nothing is judged.
fn is_not_judged(found: Option<&FoundModule>, because: Rejection) -> bool {
    because == Rejection::RepositoryUnreadable && found.is_some_and(|found| !unasked(found).is_empty())
        || because == Rejection::PlainHttp
}

/// What the store did not answer for: the place, and the error.
pub(crate) fn unasked(found: &FoundModule) -> Vec<(String, tofu_oci_store::StoreError)> {
    let manifest = found.manifest.found.as_ref().err().and_then(|fault| fault.unasked());
    let package = found.package.as_ref();
    let blob = package.and_then(|package| package.content.as_ref().as_ref().err()?.unasked());
    let place = |package: &crate::facts::FoundModulePackage| format!("blob {}", package.descriptor.digest);
    let manifest = manifest.map(|error| (format!("manifest {}", found.reference), error.clone()));
    manifest.into_iter().chain(blob.zip(package).map(|(error, package)| (place(package), error.clone()))).collect()
}

fn rule_of(because: Rejection, asked: &AskedModule) -> &'static CheckRule {
    match because {
        Rejection::ArchiveArgument if asked.source.as_deref().is_some_and(|source| !source.contains("archive=")) => {
            &MODULE_ARCHIVE_NAME
        }
        Rejection::ArchiveArgument
        | Rejection::ChecksumArgument
        | Rejection::ArgumentEmpty
        | Rejection::ArgumentRepeated
        | Rejection::UnknownArgument
        | Rejection::TagMalformed
        | Rejection::DigestMalformed
        | Rejection::TagAndDigest
        | Rejection::SubdirEscapes
        | Rejection::SchemeNotOci
        | Rejection::RepositoryName => &MODULE_SOURCE,
        Rejection::TagNotFound | Rejection::DigestNotFound | Rejection::RegistryAnswer => &MODULE_TAG,
        Rejection::NotAnImageManifest => &MODULE_MANIFEST_TYPE,
        Rejection::ManifestNotJson
        | Rejection::ManifestTooLarge
        | Rejection::ManifestDigestMismatch
        | Rejection::Malformed
        | Rejection::BodyMediaTypeMissing => &MODULE_MANIFEST,
        Rejection::ArtifactType => &MODULE_ARTIFACT_TYPE,
        Rejection::NoZipLayer | Rejection::NoZipLayerOtherFormat | Rejection::SeveralZipLayers => &MODULE_LAYERS,
        Rejection::BlobNotFound | Rejection::SizeMismatch | Rejection::BlobMismatch | Rejection::DigestAlgorithm => {
            &MODULE_BLOB
        }
        Rejection::NotAZip
        | Rejection::EmptyArchive
        | Rejection::DamagedArchive
        | Rejection::UnsafeEntry
        | Rejection::EntryNotWritable => &MODULE_ZIP,
        Rejection::SubdirMissing | Rejection::SubdirAmbiguous => &MODULE_FOLDER,
        Rejection::CallEscapesPackage | Rejection::CallMissing | Rejection::CallLoop => &MODULE_CALL,
        Rejection::InvalidConfiguration => &MODULE_CONFIGURATION,
        Rejection::RepositoryUnreadable => &MODULE_UNREADABLE,
        _ => &MODULE_REFUSED,
    }
}

/// The package, if its bytes were read and are what their descriptor says.
fn read(found: &FoundModule) -> Option<(&ModulePackageFacts, &str)> {
    let package = found.package.as_ref()?;
    match package.content.as_ref() {
        Ok(ModuleContent::Read(facts)) if facts.intact => Some((facts, &package.descriptor.digest)),
        _ => None,
    }
}

/// The repository of version control in the package, as far as its names are known.
fn repository(found: &FoundModule) -> Option<Finding> {
    let package = found.package.as_ref()?;
    let entry = match package.content.as_ref() {
        Ok(ModuleContent::There(entry)) => entry.as_deref(),
        Ok(ModuleContent::Read(facts)) => {
            let items = facts.zip.as_ref().map(|zip| zip.items.as_slice()).unwrap_or_default();
            embedded_repository(items.iter().map(|item| item.name.as_str()))
        }
        Err(_) => None,
    };
    let said =
        "it is of a repository of version control, whose settings can run commands; tofu-oci refuses the package";
    let place = |entry| format!("package {}, entry `{entry}`", package.descriptor.digest);
    entry.map(|entry| MODULE_REPOSITORY.at(place(entry), said))
}

/// What installs, and surprises.
fn contents(package: &ModulePackageFacts, place: &str) -> Findings {
    let mut found = package.zip.as_ref().map_or_else(|_| Findings::new(), |zip| names(zip, place));
    if let Some(Ok(folder)) = &package.folder {
        for empty in &folder.modules.empty {
            let what = if empty.is_empty() { "the root".to_owned() } else { format!("the folder `{empty}`") };
            found.push(MODULE_EMPTY.at(place, format!("{what} of the package has no .tf or .tofu file")));
        }
        for source in &folder.modules.elsewhere {
            found.push(MODULE_CALLS_ELSEWHERE.at(place, format!("it calls {source}")));
        }
    }
    found
}

fn names(zip: &ZipListing, place: &str) -> Findings {
    let (mut found, mut seen) = (Findings::new(), BTreeSet::new());
    for item in &zip.items {
        let at = || format!("{place}, entry `{}`", item.name);
        if item.link {
            found
                .push(MODULE_LINK.at(at(), "it is a symbolic link, and becomes a file with the link's target as text"));
        }
        if item.name.starts_with('/') {
            found.push(MODULE_ABSOLUTE_ENTRY.at(at(), "its name is absolute; it is unpacked inside of the package"));
        }
        let path = clean_name(item.name.trim_start_matches('/'));
        let leads_out = item.name.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..");
        if let Some(reason) = windows_refusal(&path).filter(|_| !leads_out) {
            found.push(MODULE_WINDOWS_NAME.at(at(), reason));
        }
        if !item.directory && !seen.insert(path) {
            found.push(MODULE_DUPLICATE_ENTRY.at(at(), "the package has its path twice, and the last one counts"));
        }
    }
    found
}
