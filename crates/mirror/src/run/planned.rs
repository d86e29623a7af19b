//! What a run would do.

use std::sync::Arc;

use futures_util::StreamExt as _;
use tofu_oci_fetch::TrustChecker;
use tofu_oci_packer::AttachmentState;
use tofu_oci_source::{Release, Source};
use tofu_oci_types::{Counter, ProviderAddr, Reporter, Version};

use super::{MirrorJob, MirrorLine, PROVIDERS, failed, withdrawn_or};
use crate::attestations::{JudgedFiles, plan_attach};
use crate::destination::PlatformFill;
use crate::plan::{MirrorAction, MirrorOutcome};
use crate::provider_state::ProviderState;
use crate::transfer::size_of_copy;
use crate::{LateAttestation, MirrorError};

impl MirrorJob<'_> {
    /// What a run would do, with the bytes that it would send. Nothing is written.
    pub async fn plan(&self, reporter: &dyn Reporter) -> Vec<MirrorLine> {
        let count = Counter::new(reporter, "providers", self.providers.len());
        let checker = TrustChecker::new(self.trust, reporter);
        let planned = self.providers.iter().map(async |(address, from)| {
            let lines = self.plan_provider(address, &**from, &checker, reporter).await;
            count.done();
            lines
        });
        let planned: Vec<_> = planned.collect();
        let lines: Vec<Vec<MirrorLine>> = futures_util::stream::iter(planned).buffered(PROVIDERS).collect().await;
        lines.into_iter().flatten().collect()
    }

    async fn plan_provider(
        &self,
        address: &ProviderAddr,
        from: &dyn Source,
        checker: &TrustChecker<'_>,
        reporter: &dyn Reporter,
    ) -> Vec<MirrorLine> {
        let mut look = match self.question(address, from, reporter).look().await {
            Ok(look) => look,
            Err(error) => return vec![failed(address, error)],
        };
        let mut lines = Vec::with_capacity(look.outcomes.len());
        for (version, outcome) in std::mem::take(&mut look.outcomes) {
            let outcome = match (outcome, &version) {
                (Ok(outcome), Some(version)) => {
                    self.planned((address, version), outcome, &look, checker, reporter).await
                }
                (outcome, _) => outcome,
            };
            lines.push(MirrorLine { address: address.clone(), version, outcome });
        }
        lines
    }

    /// The outcome with what it would send, if a run would not refuse it.
    async fn planned(
        &self,
        (address, version): (&ProviderAddr, &Version),
        outcome: MirrorOutcome,
        look: &ProviderState,
        checker: &TrustChecker<'_>,
        reporter: &dyn Reporter,
    ) -> Result<MirrorOutcome, MirrorError> {
        if let Some(JudgedFiles { counting: files, .. }) = look.attestations.get(version) {
            let Some(store) = self.destination.store(address)? else { return Ok(outcome) };
            let id = self.destination.source(address)?.release(address, version).await?.id().clone();
            let report = plan_attach(&*store, &id, files, reporter).await?;
            let new = report.attachments.iter().filter(|one| one.state == AttachmentState::Missing);
            let bytes = Some(new.map(|one| one.bytes).sum());
            return Ok(MirrorOutcome { bytes, attestations: LateAttestation::of(&report, files), ..outcome });
        }
        let Some(release) = look.releases.get(version) else { return Ok(outcome) };
        if matches!(outcome.action, MirrorAction::Add | MirrorAction::Widen { .. }) {
            let (platforms, how) = (&outcome.platforms, (checker, self.trust));
            let files = look.files.get(version).map(|files| (files, files.beside(Arc::clone(release))));
            if let Some((files, release)) = files
                && let Err(error) = files.demand_trusted(&release, platforms, how, reporter).await
            {
                return withdrawn_or(error);
            }
        }
        self.measured(outcome, release, reporter).await
    }

    /// The outcome with the bytes that it would send.
    async fn measured(
        &self,
        outcome: MirrorOutcome,
        release: &Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<MirrorOutcome, MirrorError> {
        // Only a tree takes single packages out of a repository.
        if let (MirrorAction::Add, PlatformFill::Mirrored, Some(from)) =
            (&outcome.action, self.destination.platform_fill(), release.store())
        {
            let bytes = size_of_copy(&**release, &*from, &outcome.platforms, reporter).await?;
            return Ok(MirrorOutcome { bytes, ..outcome });
        }
        let mut bytes = Some(0_u64);
        for platform in outcome.moving() {
            let offer = Arc::clone(release).offer(platform).await?;
            for part in offer.package.parts() {
                let size = offer.release.size(part).await?;
                bytes = bytes.zip(size).map(|(sum, size)| sum.saturating_add(size));
            }
        }
        Ok(MirrorOutcome { bytes, ..outcome })
    }
}
