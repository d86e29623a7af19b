//! In which order a release is deprecated, and no longer.

use tofu_oci_store::Store;

use super::look::StatePlan;
use super::model::StateReport;
use crate::{AttachmentState, PackError, put_notice};

impl StatePlan<'_> {
    pub(super) async fn deprecate(mut self, store: &dyn Store) -> Result<StateReport, PackError> {
        let notice = put_notice(store, &self.notice(self.report.state, &self.request.reason)).await?;
        let tag = self.report.state_tag.clone();
        let is_marked = self.marked.as_ref() == Some(&notice.manifest.digest);
        if !is_marked {
            self.point(store, &notice.manifest, &tag, self.marked.as_ref()).await?;
        }
        self.report.notice = Some(notice.manifest.digest);
        self.report.unchanged = is_marked && notice.attachment.state == AttachmentState::Present;
        Ok(self.report)
    }
}
