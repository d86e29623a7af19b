//! What is said of a release or module when the tag of its version moves.

use tofu_oci_source::{notices, withdrawal};
use tofu_oci_store::{ReadStore, Store};
use tofu_oci_trust::{NoticeWriter, PrivateKey, ReleaseState, VersionOf};
use tofu_oci_types::{Descriptor, Digest, Event, Reference, Reporter, Tag, Version};

use crate::found::resolve;
use crate::{
    NoticeReport, NoticeRequest, PackError, ReplacedRelease, SignError, WithdrawnVersion, can_be_ended, put_notice,
};

const STAYED: &str = "its tag did not move";
const PUBLISHED_AGAIN: &str = "it was published again";

/// The version whose tag may move, and who says so.
#[derive(Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) reporter: &'a dyn Reporter,
    pub(crate) of: &'a VersionOf,
    pub(crate) version: &'a Version,
    /// Who signs the notices; `None` for notices without a signature.
    pub(crate) key: Option<&'a PrivateKey>,
}

impl Replacement<'_> {
    /// Takes back what notices say of the manifest that is being published, if it was withdrawn or replaced before.
    pub(crate) async fn revive(&self, manifest: &Descriptor) -> Result<(), PackError> {
        let found = notices(self.store, manifest).await?;
        let content = self.of.content(&manifest.digest, self.version);
        let about: Vec<_> = found.iter().filter(|notice| notice.is_about(content)).collect();
        if can_be_ended(ReleaseState::Withdrawn, &about, self.key) {
            self.say(manifest, ReleaseState::Available, PUBLISHED_AGAIN, None).await?;
        }
        Ok(())
    }

    /// Says that the manifest whose tag is about to move was withdrawn: whoever puts it back under the tag must not have it
    /// taken for this version. A registry that takes no notice causes a warning.
    pub(crate) async fn mark(&self, replaced: &Descriptor, by: &Descriptor) -> Result<ReplacedRelease, PackError> {
        let replaced = self.by_sha256(replaced).await?;
        let (kind, moved) = match self.of {
            VersionOf::Provider { .. } => ("release", "its tag moved to another release"),
            VersionOf::Module => ("module", "its tag moved to another package"),
        };
        let said = self.say(&replaced, ReleaseState::Withdrawn, moved, Some(by.digest.clone())).await;
        let notice = match said {
            Ok(report) => Some(report.attachment.manifest),
            Err(PackError::Sign(error)) if takes_no_notice(&error) => {
                let text = format!("the replaced {kind} cannot be marked as withdrawn: {error}");
                self.reporter.event(&Event::warning("replaced-not-marked", text).with_hint(format!(
                    "whoever may write there can put {} back under the tag, and its signature counts; publish the change as a new version instead",
                    replaced.digest
                )));
                None
            }
            Err(error) => return Err(error),
        };
        Ok(ReplacedRelease { index: replaced.digest, notice })
    }

    /// Takes back that a manifest was withdrawn, if its tag still points at it.
    pub(crate) async fn unmark(&self, replaced: &Descriptor, tag: &Tag) {
        let still = async {
            let now = resolve(self.store, &Reference::Tag(tag.clone())).await?;
            if now.is_none_or(|now| now.digest != replaced.digest) {
                return Ok(None);
            }
            let replaced = self.by_sha256(replaced).await?;
            self.say(&replaced, ReleaseState::Available, STAYED, None).await.map(Some)
        };
        let (digest, place) = (&replaced.digest, self.store.place());
        self.reporter.event(&match still.await {
            Ok(Some(_)) => Event::note(
                "notice-taken-back",
                format!("the tag {tag} did not move; {digest} is not marked as withdrawn any more"),
            ),
            Ok(None) => return,
            Err(error) => Event::warning(
                "notice-left",
                format!("the tag {tag} did not move, and {digest} in {place} stays marked as withdrawn: {error}"),
            )
            .with_hint("run the same command again; or push what the tag named before again with --replace-tag"),
        });
    }

    async fn say(
        &self,
        manifest: &Descriptor,
        state: ReleaseState,
        reason: &str,
        replaced_by: Option<Digest>,
    ) -> Result<NoticeReport, PackError> {
        let request = NoticeRequest {
            index: manifest,
            subject: self.of.content(&manifest.digest, self.version),
            state,
            ends: ReleaseState::Withdrawn,
            reason: reason.parse().expect("a reason of this module is one line"),
            writer: NoticeWriter::Publisher,
            replaced_by,
            key: self.key,
            signed: None,
        };
        put_notice(self.store, &request).await
    }

    /// The manifest by its SHA-256, which notices use whatever algorithm the registry uses.
    async fn by_sha256(&self, manifest: &Descriptor) -> Result<Descriptor, PackError> {
        if manifest.digest.algorithm_name() == "sha256" {
            return Ok(manifest.clone());
        }
        let (found, bytes) = self.store.manifest(&Reference::Digest(manifest.digest.clone())).await?;
        Ok(Descriptor { digest: Digest::sha256(&bytes), ..found })
    }
}

/// Whether the registry lacks what a notice needs, as opposed to a failure that a second run may not have.
fn takes_no_notice(error: &SignError) -> bool {
    matches!(
        error,
        SignError::Refused { .. }
            | SignError::TagRefused { .. }
            | SignError::NotListed { .. }
            | SignError::NotGivenBack { .. }
    )
}

/// The error of a push of a version that was withdrawn, with the reason if it can be read.
pub(crate) async fn withdrawn(store: &dyn ReadStore, tag: Tag, of: &VersionOf, version: &Version) -> PackError {
    let reason = withdrawal(store, of, version).await.map(|notice| notice.reason);
    let (place, version) = (store.place(), version.clone());
    PackError::Withdrawn(Box::new(WithdrawnVersion { place, version, tag, reason }))
}
