//! Advice where the state of a release could not be changed.

use tofu_oci_packer::StateError;
use tofu_oci_store::StoreError;
use tofu_oci_types::{Place, Tag, versions_in_words};

use super::Diagnostic;
use crate::invocation;

/// What makes a withdrawn version available again.
pub(crate) fn brings_back(release: &str) -> String {
    format!(
        "`{}` brings it back, with --sign-key KEY if its notice is signed",
        invocation::command(&format!("withdraw {release} --undo"))
    )
}

impl Diagnostic {
    /// The same with what helps against it.
    pub(super) fn state_hint(self, error: &StateError) -> Self {
        match error {
            StateError::Withdrawn { place, tag, offered, .. } => {
                self.hint(versions_in_words("it has", offered)).hint(brings_back(&release(place, tag)))
            }
            StateError::NotWithdrawn { left, source, .. } => {
                let diagnostic = self.more_hints(Self::from(&**source).hints);
                if left.is_empty() {
                    return diagnostic.hint("what this run had written was taken back");
                }
                let left = left.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                diagnostic.hint(format!("this run wrote and could not take back: {left}"))
            }
            _ => self,
        }
    }

    /// What to do where a registry deletes nothing.
    pub(super) fn tag_stays_hint(self, error: &StoreError) -> Self {
        let StoreError::TagStays { place, tag, .. } = error else { return self };
        self.hint(format!(
            "to warn those who choose the version instead: `{}`",
            invocation::command_about_place(&format!("deprecate {} --message TEXT", release(place, tag)))
        ))
    }
}

/// How an argument names a release.
fn release(place: &Place, tag: &Tag) -> String {
    invocation::quoted(&format!("{place}:{tag}"))
}
