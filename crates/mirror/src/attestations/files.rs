//! The attestations of one release, and which of them count.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use tofu_oci_fetch::{FetchError, Trust, TrustChecker, judged};
use tofu_oci_packer::{
    AttachFileRequest, AttachReport, AttachType, AttachableFiles, AttachedFile, AttachmentState, PackError, SignAddress,
};
use tofu_oci_source::{Release, ReleaseId};
use tofu_oci_store::Store;
use tofu_oci_trust::{
    BUNDLES_LIMIT, Evidence, ManualAcceptance, NoticeReason, NoticeWriter, ReleaseState, StatedNotice, TrustRefusal,
    Verdict,
};
use tofu_oci_types::{Digest, Event, Place, Platform, ProviderAddr, Reporter, Version};

use super::release::{AttestedRelease, ReleaseParts};
use super::{AttestationFile, Attestations};
use crate::MirrorError;

/// How many packages of one release are looked at a time.
const AT_ONCE: usize = 8;

/// The attestations of one release, each with its file.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttestationFiles {
    of: String,
    bundles: BTreeMap<Digest, (String, AttachedFile)>,
}

impl AttestationFiles {
    /// Reports each one that cannot be read.
    pub(crate) async fn read(
        from: Option<&Attestations>,
        id: &ReleaseId,
        reporter: &dyn Reporter,
    ) -> Result<Self, MirrorError> {
        let Some(from) = from else { return Ok(Self::default()) };
        let ReleaseId { address, version, .. } = id;
        let mut files = Self { of: format!("{address} {version}"), bundles: BTreeMap::new() };
        for AttestationFile { name, bytes } in from.read(address, version).await? {
            let texts = AttachedFile::bundle_texts(&bytes);
            if texts.is_empty() {
                files.not_carried(&name, "it is empty", reporter);
            }
            for text in texts {
                match AttachedFile::bundle(text) {
                    Ok(_) if files.bundles.len() >= BUNDLES_LIMIT => {
                        files.not_carried(&name, &format!("at most {BUNDLES_LIMIT} are read"), reporter);
                        break;
                    }
                    Ok(bundle) => {
                        files.bundles.insert(Digest::sha256(bundle.bytes()), (name.clone(), bundle));
                    }
                    Err(problem) => {
                        let other =
                            AttachType::of(text).map(|other| format!("it is not a Sigstore bundle but {other}"));
                        files.not_carried(&name, &other.unwrap_or(problem), reporter);
                    }
                }
            }
        }
        Ok(files)
    }

    /// The signed ones of these notices of a version, which lie at a place.
    pub(crate) fn of_notices(
        (address, version): (&ProviderAddr, &Version),
        place: &Place,
        notices: Vec<Evidence>,
    ) -> Self {
        let signed = notices.into_iter().filter_map(|notice| match notice {
            Evidence::Notice { bytes, .. } => AttachedFile::bundle(&bytes).ok(),
            _ => None,
        });
        let named = signed.map(|bundle| (Digest::sha256(bundle.bytes()), (place.to_string(), bundle)));
        Self { of: format!("{address} {version}"), bundles: named.take(BUNDLES_LIMIT).collect() }
    }

    /// The notices among them.
    pub(crate) fn notices(mut self) -> Self {
        self.bundles.retain(|_, (_, bundle)| bundle.is_notice());
        self
    }

    /// Whether a notice is among them.
    pub(crate) fn has_notices(&self) -> bool {
        self.bundles.values().any(|(_, bundle)| bundle.is_notice())
    }

    /// Whether a notice among them says that a release is withdrawn, for this reason.
    pub(crate) fn withdraw(&self, reason: &NoticeReason) -> bool {
        self.bundles.values().any(|(_, bundle)| withdraws(bundle, reason))
    }

    /// The release with these attestations beside it.
    pub(crate) fn beside(&self, release: Arc<dyn Release>) -> Arc<dyn Release> {
        if self.bundles.is_empty() {
            return release;
        }
        let bundles = self.bundles.iter().map(|(origin, (_, bundle))| (origin.clone(), bundle.clone()));
        Arc::new(AttestedRelease { release, bundles: bundles.collect() })
    }

    /// What they come to for a release which has them beside it. Reports those that do not count.
    pub(crate) async fn judge(
        &self,
        release: &dyn Release,
        trust: &Trust,
        reporter: &dyn Reporter,
    ) -> Result<JudgedFiles, MirrorError> {
        if self.bundles.is_empty() {
            return Ok(JudgedFiles::default());
        }
        let (parts, (verdict, _)) = (ReleaseParts::read(release).await?, judged(release, trust).await?);
        let mut judged = JudgedFiles::default();
        for (origin, (name, bundle)) in &self.bundles {
            match why_not(&verdict, &parts, origin, bundle) {
                None => judged.counting.push(bundle.clone()),
                Some(why) => self.not_carried(name, &why, reporter),
            }
        }
        if let Some(TrustRefusal::Withdrawn { reason, by, .. }) = &verdict.refusal {
            let mut notices = judged.counting.iter().filter(|bundle| withdraws(bundle, reason));
            judged.withdrawal = notices.next().map(|bundle| Withdrawal {
                reason: reason.clone(),
                signer: by.clone(),
                notice: bundle.bytes().clone(),
            });
        }
        Ok(judged)
    }

    /// Demands that a release with these attestations beside it, and each of its packages, is trusted. Gives those that count, and
    /// reports those that do not.
    pub(crate) async fn demand_trusted(
        &self,
        release: &Arc<dyn Release>,
        platforms: &[Platform],
        (checker, trust): (&TrustChecker<'_>, &Trust),
        reporter: &dyn Reporter,
    ) -> Result<Vec<AttachedFile>, MirrorError> {
        let demanded = async {
            let offers: Vec<_> = platforms.iter().map(|platform| Arc::clone(release).offer(platform)).collect();
            // First all of them: an offer that is not polled while another one is judged may hold what that needs.
            let offers: Vec<_> = futures_util::stream::iter(offers).buffered(AT_ONCE).try_collect().await?;
            for offer in &offers {
                checker.of_offer(offer).await?;
            }
            Ok::<_, MirrorError>(())
        };
        let demanded = demanded.await;
        // What does not count is reported whatever the rule says.
        let JudgedFiles { counting, withdrawal } = self.judge(&**release, trust, reporter).await?;
        demanded?;
        // A policy that demands no signature has not read the notice.
        let Some(Withdrawal { reason, signer: by, .. }) = withdrawal else { return Ok(counting) };
        let ReleaseId { address, version, place, .. } = release.id().clone();
        let writer = NoticeWriter::Publisher;
        let refusal = Box::new(TrustRefusal::Withdrawn { by, reason, writer, replaced_by: None });
        let (rule, by_hand) = (Box::new(trust.policy.rule(&address).clone()), ManualAcceptance::DoesNot);
        Err(FetchError::Untrusted { address, version, place, refusal, rule, by_hand }.into())
    }

    /// All of them, as if they counted.
    pub(crate) fn all(&self) -> JudgedFiles {
        let counting = self.bundles.values().map(|(_, bundle)| bundle.clone()).collect();
        JudgedFiles { counting, withdrawal: None }
    }

    /// Reports that the place of a release that is there takes none of those that count.
    pub(crate) fn not_taken(&self, judged: &JudgedFiles, place: &Place, reporter: &dyn Reporter) {
        for (name, _) in self.bundles.values().filter(|(_, bundle)| judged.counting.contains(bundle)) {
            reporter.event(&self.uncarried(name, &format!("{place} takes no notices")));
        }
    }

    fn uncarried(&self, name: &str, why: &str) -> Event {
        let text = format!("an attestation of {} in {name} is not carried: {why}", self.of);
        Event::warning("attestation-not-carried", text)
    }

    fn not_carried(&self, name: &str, why: &str, reporter: &dyn Reporter) {
        let hint = "only what counts by the rules of trust.toml goes along";
        reporter.event(&self.uncarried(name, why).with_hint(hint));
    }
}

/// Why a bundle does not count; `None` if it does.
fn why_not(verdict: &Verdict, parts: &ReleaseParts, origin: &Digest, bundle: &AttachedFile) -> Option<String> {
    let examined = || verdict.examined.iter().filter(|examined| examined.origin == *origin);
    if verdict.notices.contains(origin) || examined().any(|examined| examined.outcome.counts()) {
        return None;
    }
    Some(match examined().next() {
        _ if !parts.are_in(bundle) => format!("it is not about this release: it is about {}", bundle.about()),
        Some(one) => format!("it {}", one.outcome),
        None if bundle.is_notice() => "it is a notice, and no key of yours has signed it".to_owned(),
        None => "it was not judged".to_owned(),
    })
}

/// Whether a bundle is a notice that says that a release is withdrawn, for this reason.
fn withdraws(bundle: &AttachedFile, reason: &NoticeReason) -> bool {
    let stated = StatedNotice::peek(bundle.bytes()).ok().flatten();
    stated.is_some_and(|stated| stated.notice.state == ReleaseState::Withdrawn && stated.notice.reason == *reason)
}

/// What the attestations of a release come to.
#[derive(Default)]
pub(crate) struct JudgedFiles {
    /// Those that count.
    pub(crate) counting: Vec<AttachedFile>,
    /// One of them, if it withdraws the release.
    pub(crate) withdrawal: Option<Withdrawal>,
}

/// A notice that withdraws a release.
pub(crate) struct Withdrawal {
    pub(crate) reason: NoticeReason,
    /// What the policy calls the one who signed it; `None` if no signature is required.
    pub(crate) signer: Option<String>,
    /// The bundle.
    pub(crate) notice: Bytes,
}

/// An attestation that came after its release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LateAttestation {
    /// What it says, such as `https://slsa.dev/provenance/v1`.
    pub predicate_type: String,
    /// The manifest that holds it at the destination.
    pub manifest: Digest,
}

impl LateAttestation {
    /// Those of a report that the destination lacked.
    pub(crate) fn of(report: &AttachReport, files: &[AttachedFile]) -> Vec<Self> {
        let new = report.attachments.iter().zip(files).filter(|(one, _)| one.state != AttachmentState::Present);
        new.map(|(attachment, file)| {
            let predicate_type = file.peek().map(|peek| peek.statement.predicate_type.clone()).unwrap_or_default();
            Self { predicate_type, manifest: attachment.manifest.clone() }
        })
        .collect()
    }
}

/// Puts attestations beside a release that is at its destination.
pub(crate) async fn attach(
    to: &dyn Store,
    id: &ReleaseId,
    files: &[AttachedFile],
    reporter: &dyn Reporter,
) -> Result<AttachReport, PackError> {
    AttachableFiles::find(to, &request(id, files), reporter).await?.attach(to).await
}

/// What [`attach`] would do.
pub(crate) async fn plan_attach(
    to: &dyn Store,
    id: &ReleaseId,
    files: &[AttachedFile],
    reporter: &dyn Reporter,
) -> Result<AttachReport, PackError> {
    AttachableFiles::find(to, &request(id, files), reporter).await?.plan(to).await
}

fn request<'a>(id: &'a ReleaseId, files: &'a [AttachedFile]) -> AttachFileRequest<'a> {
    let address = SignAddress::Given(id.address.clone());
    AttachFileRequest { version: &id.version, address, path: Path::new("an attestation"), files }
}
