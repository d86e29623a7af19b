//! The helpers that were asked.

use tofu_oci_credentials::opentofu::HeldCredential;
use tofu_oci_credentials::{Choice, Credential};
use tofu_oci_logins::{HelperReply, HelperRun};

use super::model::{ExplainedRun, RunOutcome};

impl From<&HelperRun> for ExplainedRun {
    fn from(run: &HelperRun) -> Self {
        let (outcome, username, reason) = match &run.reply {
            HelperReply::Login { username } => (RunOutcome::Credential, Some(username.clone()), None),
            HelperReply::IdentityToken => (RunOutcome::Credential, None, None),
            HelperReply::NotFound => (RunOutcome::NotFound, None, None),
            HelperReply::Empty => (RunOutcome::Empty, None, None),
            HelperReply::Failed(fault) => (RunOutcome::Failed, None, Some(fault.problem.clone())),
        };
        Self { program: run.helper.program(), server: run.server.clone(), outcome, username, reason }
    }
}

/// The kind of credential that this run knows, shown or not.
pub fn held_credential(choice: &Choice, runs: &[HelperRun]) -> Option<HeldCredential> {
    match choice {
        Choice::Credential { credential, .. } => Some(match credential {
            Credential::Basic { .. } => HeldCredential::Password,
            Credential::IdentityToken(_) => HeldCredential::IdentityToken,
            Credential::RegistryToken(_) => HeldCredential::RegistryToken,
        }),
        Choice::Ask { .. } => runs.iter().find_map(|run| match run.reply {
            HelperReply::Login { .. } => Some(HeldCredential::PasswordFromHelper),
            HelperReply::IdentityToken => Some(HeldCredential::IdentityTokenFromHelper),
            HelperReply::NotFound | HelperReply::Empty | HelperReply::Failed(_) => None,
        }),
        Choice::Anonymous | Choice::Refused(_) => None,
    }
}
