//! What `OpenTofu` does otherwise: what it chooses, and how it asks.
//!
//! Spec: measured on 1.10.10, 1.12.6 and 1.13-dev.

use tofu_oci_credentials::opentofu::{
    self, Difference, HeldCredential, Prediction, Redirect, Redirector, Severity, WireFacts, wire_differences,
};
use tofu_oci_credentials::{Choice, Credential, CredentialLookup};
use tofu_oci_remote::{AccessKind, Exchange, RegistryPing, TokenOutcome};
use tofu_oci_store::StoreError;

use super::sources::name;
use crate::access::model::{ExplainedRun, ReleaseNote, RunOutcome};

/// All releases that were measured.
const ALL: &str = "1.10 to 1.13";

/// Everything that is known of this access.
pub(crate) struct ObservedAccess<'a> {
    pub(crate) lookup: &'a CredentialLookup,
    pub(crate) prediction: &'a Prediction,
    pub(crate) helpers: &'a [ExplainedRun],
    pub(crate) exchanges: &'a [Exchange],
    /// What `/v2/` answers.
    pub(crate) root: Option<&'a Result<RegistryPing, StoreError>>,
    pub(crate) held: Option<HeldCredential>,
    pub(crate) action: AccessKind,
    pub(crate) continuation: RunProgress,
}

/// Whether this program went on to ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunProgress {
    Asked,
    /// It refused, because of an error in the CLI configuration or a listed file.
    Refused,
    /// It refused, because of something in the CLI configuration that `OpenTofu` silently ignores.
    RefusedHereAlone,
}

/// One note for each difference; a note that says so if there are none.
pub(crate) fn notes(seen: &ObservedAccess<'_>) -> Vec<ReleaseNote> {
    let mut notes = vec![choice(seen)];
    // A release that shows something else gets other answers, which are not known here.
    if !notes[0].differs && seen.action == AccessKind::Pull {
        notes.extend(answers(seen));
    }
    notes
}

/// That `OpenTofu` has no such option.
pub(crate) fn knows_nothing_of(option: &str) -> ReleaseNote {
    note(ALL, true, format!("knows nothing of {option}: it goes by its CLI configuration and the files"))
}

fn note(releases: &'static str, differs: bool, text: impl Into<String>) -> ReleaseNote {
    ReleaseNote { releases, differs, text: text.into(), weight: Severity::Tells }
}

fn choice(seen: &ObservedAccess<'_>) -> ReleaseNote {
    if let (RunProgress::Asked, Some(text)) = (seen.continuation, same(seen)) {
        return note(ALL, false, text);
    }
    let text = match seen.prediction {
        Prediction::Anonymous { because: None } => "finds no credentials, and asks anonymously".to_owned(),
        Prediction::Anonymous { because: Some(because) } => format!("asks anonymously: {because}"),
        Prediction::Basic { username, origin, .. } => {
            format!("shows the login of {username}, from {} of {}", name(origin), origin.place())
        }
        Prediction::Token { origin, .. } => {
            format!("shows the access token of {} of {}", name(origin), origin.place())
        }
        Prediction::Ask { program, server, .. } => ask(seen, program, server),
        // It does not stop, except that no mirror leads it here any more.
        Prediction::Refused { code: "config-dropped", because } => {
            format!("prints an error and goes on, and no mirror leads it here: {because}")
        }
        Prediction::Refused { code, because } => format!("stops, {code}: {because}"),
        Prediction::Crash { because } => format!("crashes: {because}"),
        Prediction::Random { keys } => format!("takes one of {} at random, run by run", keys.join(" and ")),
    };
    match (seen.continuation, seen.prediction) {
        (RunProgress::Refused, Prediction::Refused { code: "config-file-error", .. }) => {
            note(ALL, false, "stops at it too")
        }
        (RunProgress::Asked, _) | (_, Prediction::Crash { .. } | Prediction::Refused { .. }) => note(ALL, true, text),
        (RunProgress::RefusedHereAlone, _) => note(ALL, true, format!("says nothing of the error and goes on: {text}")),
        (RunProgress::Refused, _) => note(ALL, true, format!("reports the error and goes on: {text}")),
    }
}

/// The note if it chooses the same.
fn same(seen: &ObservedAccess<'_>) -> Option<&'static str> {
    match (&seen.lookup.choice, seen.prediction) {
        (Choice::Anonymous, Prediction::Anonymous { .. }) => Some("asks anonymously too"),
        (
            Choice::Credential { credential: Credential::Basic { username, password }, .. },
            Prediction::Basic { username: user, password: secret, .. },
        ) if username == user && password == secret => Some("chooses the same login"),
        (Choice::Credential { credential: Credential::RegistryToken(token), .. }, Prediction::Token { access, .. })
            if token == access =>
        {
            Some("chooses the same access token")
        }
        (Choice::Ask { call, .. }, Prediction::Ask { program, server, .. })
            if call.helper.program() == *program && call.servers.first() == Some(server) && plain(seen.helpers) =>
        {
            Some("asks the same helper the same")
        }
        (Choice::Refused(error), Prediction::Refused { code, .. }) if error.code() == *code => Some("stops at it too"),
        _ => None,
    }
}

/// Whether `OpenTofu` makes the same of the helper's answer: one question, and no identity token.
fn plain(runs: &[ExplainedRun]) -> bool {
    let token = |run: &ExplainedRun| run.outcome == RunOutcome::Credential && run.username.is_none();
    runs.len() <= 1 && !runs.iter().any(token)
}

fn ask(seen: &ObservedAccess<'_>, program: &str, server: &str) -> String {
    let runs = seen.helpers;
    match runs.last() {
        Some(last) if last.program == program && last.outcome == RunOutcome::Credential => {
            if last.username.is_none() && last.server == server {
                return "asks the same helper and stops, helper-identity-token: it takes no such token".to_owned();
            }
            if last.server != server {
                return format!("asks {program} for {server} alone, and then anonymously");
            }
            format!("asks {program} for {server}")
        }
        _ => format!("asks {program} for {server}"),
    }
}

/// What it makes of the same answers.
fn answers(seen: &ObservedAccess<'_>) -> Vec<ReleaseNote> {
    let facts = WireFacts {
        repository: seen.lookup.repository.clone(),
        challenges: challenges(seen.exchanges),
        refused: seen.exchanges.iter().find_map(|exchange| match exchange {
            Exchange::Refused { code, .. } => Some(code.clone()),
            _ => None,
        }),
        ping: seen
            .root
            .and_then(|root| root.as_ref().ok())
            .map(|ping| opentofu::Ping { status: ping.status, challenges: ping.challenges.clone() }),
        redirects: redirects(seen.exchanges),
        held: seen.held,
    };
    let note_of = |difference: Difference| ReleaseNote {
        weight: difference.weight,
        ..note(difference.releases, true, difference.text)
    };
    wire_differences(&facts).into_iter().map(note_of).collect()
}

/// The challenges of the first answer that has any.
fn challenges(exchanges: &[Exchange]) -> Vec<String> {
    let found = exchanges.iter().find_map(|exchange| match exchange {
        Exchange::Registry { status: 401, challenges, .. } => Some(challenges.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// The redirects of the conversation, followed or not.
fn redirects(exchanges: &[Exchange]) -> Vec<Redirect> {
    let mut by = Redirector::Registry;
    let mut found = Vec::new();
    for exchange in exchanges {
        match exchange {
            Exchange::Registry { .. } => by = Redirector::Registry,
            Exchange::Token { server, outcome, .. } => {
                by = Redirector::TokenServer;
                if let TokenOutcome::Elsewhere { to } = outcome {
                    found.push(Redirect { by, from: server.clone(), to: to.clone() });
                }
            }
            Exchange::Redirected { from, to, .. } if by == Redirector::Registry => {
                found.push(Redirect { by, from: from.clone(), to: to.clone() });
            }
            _ => {}
        }
    }
    found
}
