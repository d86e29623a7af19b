//! The attestations of one release, and which of them count.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_fetch::{FetchError, Trust, TrustChecker, judged};
use tofu_oci_packer::{
    AttachFileRequest, AttachReport, AttachableFiles, AttachedFile, AttachmentState, PackError, SignAddress,
};
use tofu_oci_source::{Release, ReleaseId};
use tofu_oci_store::Store;
use tofu_oci_trust::{BUNDLES_LIMIT, Evidence, NOTICE_PREDICATE, NoticeReason, TrustRefusal};
use tofu_oci_types::{Digest, Event, Platform, Reporter};

use super::release::AttestedRelease;
use super::{AttestationFile, Attestations};
use crate::MirrorError;

/// The attestations of one release, each with its file.
#[derive(Debug, Default)]
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
            for text in AttachedFile::bundle_texts(&bytes) {
                match AttachedFile::bundle(text) {
                    Ok(_) if files.bundles.len() >= BUNDLES_LIMIT => {
                        files.not_carried(&name, &format!("at most {BUNDLES_LIMIT} are read"), reporter);
                        break;
                    }
                    Ok(bundle) => {
                        files.bundles.insert(Digest::sha256(bundle.bytes()), (name.clone(), bundle));
                    }
                    Err(problem) => files.not_carried(&name, &problem, reporter),
                }
            }
        }
        Ok(files)
    }

    /// The release with these attestations beside it.
    pub(crate) fn beside(&self, release: Arc<dyn Release>) -> Arc<dyn Release> {
        if self.bundles.is_empty() {
            return release;
        }
        let evidence = |(origin, (_, bundle)): (&Digest, &(String, AttachedFile))| Evidence::Bundle {
            origin: origin.clone(),
            bytes: bundle.bytes().to_vec(),
        };
        Arc::new(AttestedRelease { release, evidence: self.bundles.iter().map(evidence).collect() })
    }

    /// What they come to for a release which has them beside it. Reports those that do not count.
    pub(crate) async fn judge(
        &self,
        release: &dyn Release,
        trust: &Trust,
        reporter: &dyn Reporter,
    ) -> Result<JudgedFiles, MirrorError> {
        if self.bundles.is_empty() {
            return Ok(JudgedFiles::Count(Vec::new()));
        }
        let (verdict, _) = judged(release, trust).await?;
        if let Some(TrustRefusal::Withdrawn { reason, .. }) = &verdict.refusal
            && self.bundles.values().any(|(_, bundle)| is_notice(bundle))
        {
            return Ok(JudgedFiles::Withdrawn(reason.clone()));
        }
        let mut counting = Vec::new();
        for (origin, (name, bundle)) in &self.bundles {
            let examined = || verdict.examined.iter().filter(|examined| examined.origin == *origin);
            if examined().any(|examined| examined.outcome.counts()) {
                counting.push(bundle.clone());
                continue;
            }
            let why = match examined().next() {
                Some(one) => format!("it {}", one.outcome),
                None if is_notice(bundle) => "it is a notice, and does not withdraw the release".to_owned(),
                None => "it was not judged".to_owned(),
            };
            self.not_carried(name, &why, reporter);
        }
        Ok(JudgedFiles::Count(counting))
    }

    /// Those that count for a release that is trusted.
    ///
    /// # Errors
    /// If a notice among them withdraws it: a policy that demands no signature has not read it.
    pub(crate) async fn that_count(
        &self,
        release: &dyn Release,
        trust: &Trust,
        reporter: &dyn Reporter,
    ) -> Result<Vec<AttachedFile>, MirrorError> {
        match self.judge(release, trust, reporter).await? {
            JudgedFiles::Count(files) => Ok(files),
            JudgedFiles::Withdrawn(_) => {
                let (verdict, _) = judged(release, trust).await?;
                let Some(refusal) = verdict.refusal else { return Ok(Vec::new()) };
                let ReleaseId { address, version, place, .. } = release.id().clone();
                let rule = Box::new(trust.policy.rule(&address).clone());
                let (refusal, by_hand) = (Box::new(refusal), verdict.by_hand);
                Err(FetchError::Untrusted { address, version, place, refusal, rule, by_hand }.into())
            }
        }
    }

    fn not_carried(&self, name: &str, why: &str, reporter: &dyn Reporter) {
        let text = format!("an attestation of {} in {name} is not carried: {why}", self.of);
        let hint = "only what counts by the rules of trust.toml goes along";
        reporter.event(&Event::warning("attestation-not-carried", text).with_hint(hint));
    }
}

fn is_notice(bundle: &AttachedFile) -> bool {
    bundle.peek().is_some_and(|peek| peek.statement.predicate_type == NOTICE_PREDICATE)
}

/// What the attestations of a release come to.
pub(crate) enum JudgedFiles {
    /// These count.
    Count(Vec<AttachedFile>),
    /// A notice among them withdraws the release.
    Withdrawn(NoticeReason),
}

/// The release with its attestations beside it, if the release is trusted, and those of them that count.
pub(crate) async fn trusted(
    from: Option<&Attestations>,
    release: Arc<dyn Release>,
    platforms: &[Platform],
    (checker, trust): (&TrustChecker<'_>, &Trust),
    reporter: &dyn Reporter,
) -> Result<(Arc<dyn Release>, Vec<AttachedFile>), MirrorError> {
    let found = AttestationFiles::read(from, release.id(), reporter).await?;
    let release = found.beside(release);
    for platform in platforms {
        checker.of_offer(&Arc::clone(&release).offer(platform).await?).await?;
    }
    let files = found.that_count(&*release, trust, reporter).await?;
    Ok((release, files))
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
