//! The prediction as findings: every refusal of `OpenTofu` has one.

use std::collections::HashSet;

use tofu_oci_types::{Place, RegistryHost};

use super::catalogue::index::{
    BODY_MEDIA_TYPE, CONTENT_UNREADABLE, INDEX_ARTIFACT_TYPE, INDEX_EMPTY, INDEX_MEDIA_TYPE, MANIFEST_DIGEST,
    MANIFEST_NOT_JSON, MANIFEST_TOO_LARGE, NESTED_INDEX, NOT_AN_INDEX, PLAIN_HTTP, PLAIN_HTTP_LOOPBACK,
    PREDICTED_REFUSAL,
};
use super::catalogue::leaf::{
    DUPLICATE_PLATFORM, IMAGE_ONLY, LAYER_DIGEST_ALGORITHM, LAYER_PLATFORM, LEAF_ARTIFACT_TYPE, LEAF_MEDIA_TYPE,
    LEAF_MISSING, LEAF_WITHOUT_PLATFORM, NO_LEAVES, NO_PROVIDER_LEAF, NO_ZIP_LAYER, PLATFORM_NOT_OFFERED,
    SEVERAL_PACKAGES,
};
use super::catalogue::package::{
    BLOB_DIGEST, BLOB_MISSING, BLOB_SIZE, NO_EXECUTABLE, NOT_A_ZIP, UNSAFE_ENTRY, ZIP_EMPTY,
};
use super::catalogue::tags::{
    HALF_WITHDRAWN, NO_VERSION_TAGS, PRERELEASES_ONLY, STRAY_VERSION_TAG, TAG_UNREADABLE, VERSION_NOT_LISTED,
    VERSION_ZERO,
};
use super::subject::CheckSubject;
use crate::Rejection;
use crate::model::{CheckRule, Finding};
use crate::opentofu::RepositoryPrediction;

/// The rules that say the same as a refusal.
fn same(because: Rejection) -> Vec<&'static CheckRule> {
    match because {
        Rejection::NoVersions | Rejection::NoMatchingVersion => {
            vec![&NO_VERSION_TAGS, &PRERELEASES_ONLY, &VERSION_NOT_LISTED, &VERSION_ZERO]
        }
        Rejection::TagNotFound => vec![&STRAY_VERSION_TAG, &TAG_UNREADABLE, &HALF_WITHDRAWN],
        Rejection::NotAnIndex => vec![&NOT_AN_INDEX, &HALF_WITHDRAWN],
        Rejection::IndexMediaType => vec![&INDEX_MEDIA_TYPE, &NOT_AN_INDEX],
        Rejection::ManifestNotFound => vec![&LEAF_MISSING, &TAG_UNREADABLE, &HALF_WITHDRAWN],
        Rejection::ManifestContentType | Rejection::BodyMediaTypeMissing => vec![&BODY_MEDIA_TYPE],
        Rejection::ManifestTooLarge => vec![&MANIFEST_TOO_LARGE],
        Rejection::ManifestNotJson => vec![&MANIFEST_NOT_JSON],
        Rejection::IndexOrLeafArtifactType => vec![&INDEX_ARTIFACT_TYPE, &LEAF_ARTIFACT_TYPE, &IMAGE_ONLY],
        Rejection::NoProviderLeaf => vec![&NO_PROVIDER_LEAF, &INDEX_EMPTY, &NO_LEAVES],
        Rejection::LeafMediaType => vec![&LEAF_MEDIA_TYPE, &NESTED_INDEX],
        Rejection::LeafWithoutPlatform => vec![&LEAF_WITHOUT_PLATFORM],
        Rejection::DuplicatePlatform => vec![&DUPLICATE_PLATFORM],
        Rejection::NoZipLayer | Rejection::NoZipLayerOtherFormat => vec![&NO_ZIP_LAYER],
        Rejection::SeveralPackages => vec![&SEVERAL_PACKAGES],
        Rejection::LayerPlatform => vec![&LAYER_PLATFORM],
        Rejection::DigestAlgorithm => vec![&LAYER_DIGEST_ALGORITHM],
        Rejection::BlobNotFound => vec![&BLOB_MISSING],
        Rejection::SizeMismatch => vec![&BLOB_SIZE, &MANIFEST_DIGEST],
        Rejection::DigestMismatch => vec![&BLOB_DIGEST, &MANIFEST_DIGEST],
        Rejection::NotAZip => vec![&NOT_A_ZIP],
        Rejection::EmptyArchive => vec![&ZIP_EMPTY],
        Rejection::UnsafeEntry => vec![&UNSAFE_ENTRY],
        Rejection::RepositoryUnreadable => vec![&CONTENT_UNREADABLE, &TAG_UNREADABLE],
        Rejection::ExecutableNotFound => vec![&NO_EXECUTABLE],
        _ => vec![],
    }
}

/// Adds a finding for each predicted refusal that no error explains yet. A platform that a release does not
/// offer is a mistake only where the user named it.
pub(super) fn complete(subject: &CheckSubject<'_>, found: &mut Vec<Finding>) {
    let mut reported = KnownErrors::of(found);
    for prediction in subject.predictions {
        let Some(because) = prediction.because else { continue };
        if because == Rejection::RepositoryUnreadable && is_not_judged(subject, prediction) {
            continue;
        }
        if because == Rejection::PlatformNotOffered {
            if subject.platforms.contains(&prediction.platform) {
                found.push(not_offered(subject, prediction));
            }
            continue;
        }
        // This has a finding of its own in any case, or none.
        if matches!(because, Rejection::PlainHttp | Rejection::Malformed) {
            continue;
        }
        if !reported.speaks_of(prediction, because) {
            let finding = missing(subject, prediction, because);
            reported.add(&finding, Some(because));
            found.push(finding);
        }
    }
}

/// The finding about a registry that was read over plain HTTP.
pub(crate) fn plain_http(place: &Place) -> Finding {
    let host = place.repository().and_then(|repository| repository.registry().parse::<RegistryHost>().ok());
    let rule = if host.is_some_and(|host| host.is_loopback()) { &PLAIN_HTTP_LOOPBACK } else { &PLAIN_HTTP };
    rule.at(place, "it answers plain HTTP, and OpenTofu speaks with registries over TLS alone")
}

/// One for each platform: `repository` tells what is the same for every release of `OpenTofu` once.
fn not_offered(subject: &CheckSubject<'_>, prediction: &RepositoryPrediction) -> Finding {
    let said = format!("no entry of the index is for {}", prediction.platform);
    let finding = PLATFORM_NOT_OFFERED.at(&subject.facts.place, said).of_platform(Some(&prediction.platform));
    match &prediction.version {
        Some(version) => finding.of_version(version),
        None => finding,
    }
}

/// Whether the prediction depends on something that could not be read.
fn is_not_judged(subject: &CheckSubject<'_>, prediction: &RepositoryPrediction) -> bool {
    let release = prediction.version.as_ref().and_then(|version| subject.facts.release(version));
    release.is_some_and(|release| {
        let manifests = release.entries.iter().map(|entry| entry.leaf.manifest.found.as_ref().err());
        let parts = release.entries.iter().flat_map(|entry| entry.leaf.config.iter().chain(&entry.leaf.layers));
        let blobs = parts.map(|part| part.blob.content.as_ref().err());
        let mut faults = std::iter::once(release.index.found.as_ref().err()).chain(manifests).chain(blobs).flatten();
        faults.any(|fault| fault.unasked().is_some())
    })
}

/// The rule and version of each error; one without a version is about all of them.
struct KnownErrors {
    rules: HashSet<(&'static str, Option<String>)>,
    /// A finding for one release of `OpenTofu` counts for all.
    added: HashSet<(Rejection, Option<String>)>,
}

impl KnownErrors {
    fn of(found: &[Finding]) -> Self {
        let mut reported = Self { rules: HashSet::new(), added: HashSet::new() };
        for finding in found.iter().filter(|finding| finding.level() == crate::FindingLevel::Error) {
            reported.add(finding, None);
        }
        reported
    }

    fn add(&mut self, finding: &Finding, because: Option<Rejection>) {
        match because {
            Some(because) => drop(self.added.insert((because, finding.version.clone()))),
            None => drop(self.rules.insert((finding.rule.id, finding.version.clone()))),
        }
    }

    fn speaks_of(&self, prediction: &RepositoryPrediction, because: Rejection) -> bool {
        let version = prediction.version.as_ref().map(ToString::to_string);
        let mut rules = same(because).into_iter().map(|rule| rule.id);
        match &version {
            Some(_) => {
                self.added.contains(&(because, version.clone()))
                    || rules.any(|id| [None, version.clone()].into_iter().any(|one| self.rules.contains(&(id, one))))
            }
            // Without a version, a finding about any of them explains it.
            None => {
                self.added.iter().any(|(added, _)| *added == because)
                    || rules.any(|id| self.rules.iter().any(|(rule, _)| *rule == id))
            }
        }
    }
}

fn missing(subject: &CheckSubject<'_>, prediction: &RepositoryPrediction, because: Rejection) -> Finding {
    let (releases, platform) = (prediction.releases, &prediction.platform);
    let said = format!("{}: OpenTofu {releases} refuses it on {platform}", because.code());
    let finding = PREDICTED_REFUSAL.at(&subject.facts.place, said);
    match &prediction.version {
        Some(version) => finding.of_version(version),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingLevel;

    #[track_caller]
    fn check(place: &str, want: FindingLevel) {
        assert_eq!(plain_http(&place.parse().unwrap()).level(), want, "{place}");
    }

    #[test]
    fn a_registry_that_no_opentofu_can_use_fails_the_command_unless_it_is_on_this_machine() {
        for here in ["127.0.0.1:5000/acme/widget", "localhost:5000/acme/widget", "[::1]:5000/acme/widget"] {
            check(here, FindingLevel::Warning);
        }
        for elsewhere in ["registry.example.test:5000/acme/widget", "10.1.2.3:5000/acme/widget"] {
            check(elsewhere, FindingLevel::Error);
        }
    }
}
