//! The findings become an explanation. Nothing is read or asked here.

use tofu_oci_credentials::opentofu::{ConfigFault, FaultEffect, HeldCredential, Prediction};
use tofu_oci_credentials::{CredentialLookup, CredentialPolicy, FilePlace, SearchScope};
use tofu_oci_logins::{Advice, CredentialRefusal, OverlookedLogin};
use tofu_oci_remote::{AccessKind, Exchange, Probe, RegistryPing};
use tofu_oci_store::StoreError;

use super::failure::{AccessFailure, caller, diagnose, no_such_repository};
use super::model::{
    AccessExplanation, AccessOutcome, ChosenSource, CredentialKind, CredentialScope, ExplainedFile, ExplainedRun,
    FileCondition, FileProblem, ReleaseNote, RunOutcome,
};
use super::opentofu::{self, ObservedAccess, RunProgress};
use super::{exchanges, sources};

/// Everything that was found out about the access to one repository.
pub struct AccessFindings<'a> {
    /// What the user wants to do.
    pub action: AccessKind,
    pub asks: Caller<'a>,
    /// The files of the CLI configuration that were looked at, with their blocks.
    pub configuration: Vec<ExplainedFile>,
    /// The files and blocks.
    pub policy: &'a CredentialPolicy,
    /// What they say about the repository.
    pub lookup: &'a CredentialLookup,
    /// The line that turns the usual files off.
    pub closed: Option<&'a FilePlace>,
    /// What exists and is not read.
    pub overlooked: &'a [OverlookedLogin],
    /// What `OpenTofu` would choose.
    pub prediction: &'a Prediction,
    /// What is wrong in the CLI configuration.
    pub faults: &'a [ConfigFault],
    /// The kind of credential that is known, shown or not.
    pub held: Option<HeldCredential>,
    /// The helpers that were asked.
    pub helpers: Vec<ExplainedRun>,
    pub exchanges: Vec<Exchange>,
    /// What `/v2/` answers, if it was asked.
    pub root: Option<Result<RegistryPing, StoreError>>,
    /// The requests for that.
    pub root_exchanges: Vec<Exchange>,
    /// How far it came.
    pub ended: ProbeOutcome<'a>,
}

/// Who asks.
#[derive(Clone, Copy)]
pub enum Caller<'a> {
    /// The user that the files name.
    Files,
    /// `--anonymous`.
    Anonymous,
    /// `--username`.
    User(&'a str),
}

/// How far it came.
pub enum ProbeOutcome<'a> {
    /// The registry was asked.
    Asked(Result<Probe, StoreError>),
    /// The CLI configuration, or a file that it lists, is wrong: nothing was asked.
    Refused(&'a CredentialRefusal),
}

/// The explanation, and the failure if access does not work. The failure of a refusal is the refusal itself.
pub fn explain(found: &AccessFindings<'_>) -> (AccessExplanation, Option<AccessFailure>) {
    let mut explanation = AccessExplanation {
        repository: found.lookup.repository.to_string(),
        action: found.action,
        credentials: credentials(found),
        files: files(found),
        chosen: chosen(found),
        exchanges: exchanges::lines(found.exchanges.iter().chain(&found.root_exchanges)),
        opentofu: notes(found),
        helpers: found.helpers.clone(),
        outcome: AccessOutcome::Works,
        code: None,
        reason: String::new(),
    };
    let advice = Advice {
        policy: found.policy,
        lookup: found.lookup,
        closed: found.closed,
        overlooked: found.overlooked,
        username: explanation.chosen.username.as_deref(),
    };
    let failure = match &found.ended {
        ProbeOutcome::Asked(Ok(Probe::Granted)) => {
            explanation.reason = lets_in(&explanation);
            return (explanation, None);
        }
        ProbeOutcome::Asked(Ok(Probe::NoSuchRepository)) => no_such_repository(&explanation),
        ProbeOutcome::Asked(Err(error)) => diagnose(&explanation, error, &advice),
        ProbeOutcome::Refused(refusal) => AccessFailure {
            outcome: AccessOutcome::Refuses,
            code: Some(refusal.code().to_owned()),
            reason: "every verb stops at the error that is shown below, before it asks a registry".to_owned(),
            advice: None,
        },
    };
    explanation.outcome = failure.outcome;
    explanation.code.clone_from(&failure.code);
    explanation.reason.clone_from(&failure.reason);
    (explanation, Some(failure))
}

fn credentials(found: &AccessFindings<'_>) -> CredentialScope {
    match (&found.asks, found.policy.search()) {
        (Caller::Anonymous, _) => CredentialScope::None,
        (Caller::User(_), _) => CredentialScope::Given,
        (Caller::Files, SearchScope::Ambient) => CredentialScope::Ambient,
        (Caller::Files, SearchScope::Listed) => CredentialScope::Listed,
        (Caller::Files, SearchScope::Off) => CredentialScope::Blocks,
    }
}

fn files(found: &AccessFindings<'_>) -> Vec<ExplainedFile> {
    let notes = found.policy.notes();
    let files = found.policy.files().iter().map(|file| sources::file(file, found.lookup, &notes));
    let unread = found.overlooked.iter().map(|overlooked| ExplainedFile {
        name: overlooked.name.clone(),
        named_by: None,
        known_to_opentofu: false,
        state: FileCondition::NotRead,
        problems: vec![FileProblem::new(None, overlooked.to_string())],
        sources: Vec::new(),
    });
    found.configuration.iter().cloned().chain(files).chain(unread).collect()
}

/// A helper chooses the user only when it is asked.
fn chosen(found: &AccessFindings<'_>) -> ChosenSource {
    let said = |source: Option<&str>, shows, username: Option<&str>, why: &str| ChosenSource {
        shows,
        username: username.map(str::to_owned),
        source: source.map(str::to_owned),
        file: None,
        line: None,
        why: why.to_owned(),
    };
    match found.asks {
        Caller::Anonymous => said(None, CredentialKind::Nothing, None, "nothing, by --anonymous"),
        Caller::User(user) => {
            said(Some("--username"), CredentialKind::Password, Some(user), "it was given for this command")
        }
        Caller::Files => {
            let gave = found.helpers.iter().find(|run| run.outcome == RunOutcome::Credential);
            let chosen = sources::chosen(found.lookup);
            match gave.map(|run| run.username.clone()) {
                Some(Some(username)) => {
                    ChosenSource { shows: CredentialKind::Password, username: Some(username), ..chosen }
                }
                Some(None) => ChosenSource { shows: CredentialKind::IdentityToken, ..chosen },
                None => chosen,
            }
        }
    }
}

fn notes(found: &AccessFindings<'_>) -> Vec<ReleaseNote> {
    match found.asks {
        Caller::Anonymous => vec![opentofu::knows_nothing_of("--anonymous")],
        Caller::User(_) => vec![opentofu::knows_nothing_of("--username")],
        Caller::Files => opentofu::notes(&ObservedAccess {
            lookup: found.lookup,
            prediction: found.prediction,
            helpers: &found.helpers,
            exchanges: &found.exchanges,
            root: found.root.as_ref(),
            held: found.held,
            action: found.action,
            continuation: match found.ended {
                ProbeOutcome::Asked(_) => RunProgress::Asked,
                ProbeOutcome::Refused(_) if passed_over(found.faults) => RunProgress::RefusedHereAlone,
                ProbeOutcome::Refused(_) => RunProgress::Refused,
            },
        }),
    }
}

/// Whether `OpenTofu` silently ignores what is wrong.
fn passed_over(faults: &[ConfigFault]) -> bool {
    !faults.is_empty() && faults.iter().all(|fault| fault.effect == FaultEffect::PassedOver)
}

/// The last line if access works.
fn lets_in(explanation: &AccessExplanation) -> String {
    let shown = explanation.exchanges.iter().any(|step| !matches!(step.shown, None | Some("nothing")));
    match (shown, explanation.chosen.shows) {
        (_, CredentialKind::Nothing) => "the registry lets everybody in".to_owned(),
        (false, _) => "the registry lets everybody in, and was shown nothing".to_owned(),
        (true, _) => format!("the registry lets {} in", caller(&explanation.chosen)),
    }
}
