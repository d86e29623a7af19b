//! Whose notice counts, and which one is in force: what the publisher says of the release later.

use tofu_oci_types::Digest;

use super::examine::Examination;
use super::votes::ExaminedNotice;
use crate::notice::heads;
use crate::{
    Action, KeyId, MadeBy, Peek, ReleaseState, StatedNotice, Subject, TrustRefusal, TrustRemark, in_force, open_bundle,
    peek_bundle,
};

impl Examination<'_> {
    /// Looks at a notice: a bundle, or a bare statement. It never vouches for the release.
    pub(super) fn notice(&mut self, origin: &Digest, bytes: &[u8]) {
        let stated = match StatedNotice::peek(bytes) {
            Ok(Some(stated)) => stated,
            Ok(None) => {
                return self.remark_once(
                    "notice-unreadable",
                    "what looks like a notice beside it is a statement of another type",
                );
            }
            Err(fault) => {
                return self.remark_once("notice-unreadable", &format!("a notice beside it cannot be read: {fault}"));
            }
        };
        if !self.facts.content().is_some_and(|content| stated.is_about_one(content, &self.trusted.predecessors)) {
            let text = match self.facts.of {
                Subject::Provider { .. } => {
                    "a notice beside it names another provider, version or index, and is ignored"
                }
                Subject::Module { .. } => "a notice beside it is about something else, and is ignored",
            };
            return self.remark_once("other-notice", text);
        }
        let key = match peek_bundle(bytes) {
            Ok(Peek { made_by: MadeBy::Certificate, .. }) => self.identity_of_notice(bytes),
            _ => open_bundle(bytes, &self.trusted.public).ok().map(|signed| signed.key),
        };
        let key = key.filter(|key| self.trusted.compromised(key, None).is_none());
        let by = key.map(|key| self.by(&key));
        self.notices.push(ExaminedNotice { origin: origin.clone(), stated, by });
    }

    /// Which identity has signed a notice. One whose ref names a version speaks of that version alone.
    fn identity_of_notice(&mut self, bytes: &[u8]) -> Option<KeyId> {
        let Some(proof) = self.prove(bytes) else {
            // It may be the one that withdraws the release.
            self.lacks_notices = true;
            return None;
        };
        let proven = proof.ok()?;
        let wanted = self.version().map(ToString::to_string);
        let (key, version) = self.trusted.identity_of(&proven, wanted.as_deref()).ok()?;
        let is_right = version.is_none() || version == wanted;
        (is_right && self.trusted.given_away(&key, &proven).is_none()).then_some(key)
    }

    /// Anyone who may write to the repository puts notices there: the first remark of a kind suffices.
    pub(super) fn remark_once(&mut self, code: &'static str, text: &str) {
        if self.remarks.iter().all(|remark| remark.code != code) {
            self.remarks.push(TrustRemark::warning(code, text.to_owned()));
        }
    }

    /// If signatures are required or remembered, those that a trusted key has signed: no other notice refuses the release, and no
    /// other one supersedes such a notice. If not, all of them.
    pub(super) fn counting_notices(&self) -> Vec<&ExaminedNotice> {
        let all_count = self.trusted.is_empty() && self.rule.unsigned.action() != Action::Refuse;
        self.notices.iter().filter(|notice| all_count || notice.by.is_some()).collect()
    }

    /// The refusal of a release that was withdrawn; what else notices say becomes a remark.
    pub(super) fn heed_notices(&mut self) -> Option<TrustRefusal> {
        let counted = self.counting_notices();
        let by =
            |digest: &Digest| counted.iter().filter(|one| one.stated.digest == *digest).find_map(|one| one.by.clone());
        let now = in_force(counted.iter().map(|notice| &notice.stated));
        let (mut refusal, mut remarks) = (None, Vec::new());
        if let Some(StatedNotice { notice, digest, .. }) = now {
            let (by, reason, writer) = (by(digest), notice.reason.clone(), notice.writer);
            match notice.state {
                ReleaseState::Available => {}
                ReleaseState::Deprecated => {
                    let by = by.unwrap_or_else(|| notice.writer.to_string());
                    remarks.extend(TrustRemark::said_by(&by, notice));
                }
                ReleaseState::Withdrawn => {
                    let replaced_by = notice.replaced_by.clone();
                    refusal = Some(TrustRefusal::Withdrawn { by, reason, writer, replaced_by });
                }
            }
        }
        let stated: Vec<&StatedNotice> = self.notices.iter().map(|notice| &notice.stated).collect();
        let uncounted = |stated: &&StatedNotice| counted.iter().all(|one| one.stated.digest != stated.digest);
        if let Some(StatedNotice { notice, .. }) = in_force(heads(&stated).into_iter().filter(uncounted))
            && notice.state != ReleaseState::Available
        {
            let text = format!(
                "a notice says that it is {}, and does not count, as no key of yours signed it: {}",
                notice.state, notice.reason
            );
            remarks.push(TrustRemark::warning("notice-not-counted", text));
        }
        self.remarks.extend(remarks);
        refusal
    }
}
