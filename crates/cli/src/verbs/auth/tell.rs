//! What was found becomes what is told. Nothing is read or asked here.

use tofu_oci_credentials::opentofu::{ConfigFault, FaultEffect, HeldCredential, Prediction};
use tofu_oci_credentials::{CredentialLookup, Place, Policy, Search};
use tofu_oci_remote::{Exchange, Probe, RegistryPing};
use tofu_oci_store::StoreError;

use super::blame::{self, Blame};
use super::model::{
    Action, Chosen, Credentials, Explanation, File, Helper, HelperOutcome, Outcome, Problem, Shows, State,
};
use super::opentofu::{self, Goes, Seen};
use super::{account, wire};
use crate::credentials::{Advice, Unread};
use crate::diagnostic::Diagnostic;

/// Everything that was found out about the access to one repository.
pub(super) struct Found<'a> {
    pub(super) action: Action,
    pub(super) asks: Asks<'a>,
    /// The files of the CLI configuration that were looked at, with their blocks.
    pub(super) configuration: Vec<File>,
    pub(super) policy: &'a Policy,
    pub(super) account: &'a CredentialLookup,
    /// What says that the usual files are not read.
    pub(super) closed: Option<&'a Place>,
    /// What is there, and is not read.
    pub(super) unread: &'a [Unread],
    pub(super) prediction: &'a Prediction,
    /// What is wrong in the CLI configuration.
    pub(super) faults: &'a [ConfigFault],
    /// The kind of credential that is known, shown or not.
    pub(super) held: Option<HeldCredential>,
    pub(super) helpers: Vec<Helper>,
    pub(super) exchanges: Vec<Exchange>,
    /// What `/v2/` answers, where it was asked.
    pub(super) root: Option<Result<RegistryPing, StoreError>>,
    /// The requests for that.
    pub(super) root_exchanges: Vec<Exchange>,
    pub(super) ended: Ended,
}

/// Who asks.
#[derive(Clone, Copy)]
pub(super) enum Asks<'a> {
    /// Whoever the files say.
    Files,
    /// `--anonymous`.
    Nobody,
    /// `--username`.
    User(&'a str),
}

/// How far it came.
pub(super) enum Ended {
    /// The registry was asked.
    Asked(Result<Probe, StoreError>),
    /// The CLI configuration, or a file that it lists, is wrong: nothing was asked.
    Refused(Diagnostic),
}

/// What is told, and the diagnostic to end with where access does not work.
pub(super) fn tell(found: Found<'_>) -> (Explanation, Option<Diagnostic>) {
    let mut told = Explanation {
        event: "auth",
        repository: found.account.repository.to_string(),
        action: found.action,
        credentials: credentials(&found),
        files: files(&found),
        chosen: chosen(&found),
        exchanges: wire::steps(found.exchanges.iter().chain(&found.root_exchanges)),
        opentofu: notes(&found),
        helpers: found.helpers,
        outcome: Outcome::Works,
        code: None,
        reason: String::new(),
    };
    let username = told.chosen.username.clone();
    let advice = Advice {
        policy: found.policy,
        account: found.account,
        closed: found.closed,
        unread: found.unread,
        username: username.as_deref(),
    };
    let blame = match found.ended {
        Ended::Asked(Ok(Probe::Granted)) => {
            told.reason = lets_in(&told);
            return (told, None);
        }
        Ended::Asked(Ok(Probe::NoSuchRepository)) => blame::no_such_repository(&told),
        Ended::Asked(Err(error)) => blame::blame(&told, &error, &advice),
        Ended::Refused(diagnostic) => Blame {
            outcome: Outcome::Refuses,
            code: diagnostic.stable_name().map(str::to_owned),
            reason: "every verb stops at the error that is shown below, before it asks a registry".to_owned(),
            diagnostic,
        },
    };
    told.outcome = blame.outcome;
    told.code = blame.code;
    told.reason = blame.reason;
    (told, Some(blame.diagnostic))
}

fn credentials(found: &Found<'_>) -> Credentials {
    match (&found.asks, found.policy.search()) {
        (Asks::Nobody, _) => Credentials::None,
        (Asks::User(_), _) => Credentials::Given,
        (Asks::Files, Search::Ambient) => Credentials::Ambient,
        (Asks::Files, Search::Listed) => Credentials::Listed,
        (Asks::Files, Search::Off) => Credentials::Blocks,
    }
}

fn files(found: &Found<'_>) -> Vec<File> {
    let notes = found.policy.notes();
    let files = found.policy.files().iter().map(|file| account::file(file, found.account, &notes));
    let unread = found.unread.iter().map(|unread| File {
        name: unread.name.clone(),
        named_by: None,
        known_to_opentofu: false,
        state: State::NotRead,
        problems: vec![Problem::new(None, unread.told())],
        sources: Vec::new(),
    });
    found.configuration.iter().cloned().chain(files).chain(unread).collect()
}

/// A helper chooses the user only when it is asked.
fn chosen(found: &Found<'_>) -> Chosen {
    let said = |source: Option<&str>, shows, username: Option<&str>, why: &str| Chosen {
        shows,
        username: username.map(str::to_owned),
        source: source.map(str::to_owned),
        file: None,
        line: None,
        why: why.to_owned(),
    };
    match found.asks {
        Asks::Nobody => said(None, Shows::Nothing, None, "nothing, by --anonymous"),
        Asks::User(user) => said(Some("--username"), Shows::Password, Some(user), "it was given for this command"),
        Asks::Files => {
            let gave = found.helpers.iter().find(|run| run.outcome == HelperOutcome::Credential);
            let chosen = account::chosen(found.account);
            match gave.map(|run| run.username.clone()) {
                Some(Some(username)) => Chosen { shows: Shows::Password, username: Some(username), ..chosen },
                Some(None) => Chosen { shows: Shows::IdentityToken, ..chosen },
                None => chosen,
            }
        }
    }
}

fn notes(found: &Found<'_>) -> Vec<super::model::Note> {
    match found.asks {
        Asks::Nobody => vec![opentofu::knows_nothing_of("--anonymous")],
        Asks::User(_) => vec![opentofu::knows_nothing_of("--username")],
        Asks::Files => opentofu::notes(&Seen {
            account: found.account,
            prediction: found.prediction,
            helpers: &found.helpers,
            exchanges: &found.exchanges,
            root: found.root.as_ref(),
            held: found.held,
            action: found.action,
            goes: match found.ended {
                Ended::Asked(_) => Goes::On,
                Ended::Refused(_) if passed_over(found.faults) => Goes::NoFurtherAlone,
                Ended::Refused(_) => Goes::NoFurther,
            },
        }),
    }
}

/// Whether `OpenTofu` says nothing of what is wrong.
fn passed_over(faults: &[ConfigFault]) -> bool {
    !faults.is_empty() && faults.iter().all(|fault| fault.effect == FaultEffect::PassedOver)
}

/// The last line where access works.
fn lets_in(told: &Explanation) -> String {
    let shown = told.exchanges.iter().any(|step| !matches!(step.shown, None | Some("nothing")));
    match (shown, told.chosen.shows) {
        (_, Shows::Nothing) => "the registry lets everybody in".to_owned(),
        (false, _) => "the registry lets everybody in, and was shown nothing".to_owned(),
        (true, _) => format!("the registry lets {} in", blame::who(&told.chosen)),
    }
}
