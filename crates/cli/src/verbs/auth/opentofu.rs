//! Where `OpenTofu` behaves otherwise: in what it chooses, and in how it asks.
//!
//! Spec: measured on 1.10.10, 1.12.6 and 1.13-dev.

use tofu_oci_credentials::opentofu::{
    self, Difference, HeldCredential, Prediction, Redirect, Redirector, WireFacts, wire_differences,
};
use tofu_oci_credentials::{Choice, Credential, CredentialLookup};
use tofu_oci_remote::{Exchange, RegistryPing, TokenOutcome};
use tofu_oci_store::StoreError;

use super::account::name;
use super::model::{Action, Helper, HelperOutcome, Note, Weight};

/// All releases that were measured.
const ALL: &str = "1.10 to 1.13";

/// Everything that is known of what happened here.
pub(super) struct Seen<'a> {
    pub(super) account: &'a CredentialLookup,
    pub(super) prediction: &'a Prediction,
    pub(super) helpers: &'a [Helper],
    pub(super) exchanges: &'a [Exchange],
    /// What `/v2/` answers.
    pub(super) root: Option<&'a Result<RegistryPing, StoreError>>,
    pub(super) held: Option<HeldCredential>,
    pub(super) action: Action,
    pub(super) goes: Goes,
}

/// Whether this program went on to ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    On,
    /// Not after an error in the CLI configuration or a listed file.
    NoFurther,
    /// Not after something in the CLI configuration that `OpenTofu` passes over without a word.
    NoFurtherAlone,
}

/// One line for each thing that releases do otherwise, or one that nothing is.
pub(super) fn notes(seen: &Seen<'_>) -> Vec<Note> {
    let mut notes = vec![choice(seen)];
    // Whoever shows something else, or nothing, gets other answers: they are not known here.
    if !notes[0].differs && seen.action == Action::Pull {
        notes.extend(answers(seen));
    }
    notes
}

/// What the options stand in for is another program's business.
pub(super) fn knows_nothing_of(option: &str) -> Note {
    note(ALL, true, format!("knows nothing of {option}: it goes by its CLI configuration and the files"))
}

fn note(releases: &'static str, differs: bool, text: impl Into<String>) -> Note {
    Note { releases, differs, text: text.into(), weight: Weight::Tells }
}

fn choice(seen: &Seen<'_>) -> Note {
    if let (Goes::On, Some(text)) = (seen.goes, same(seen)) {
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
        // It does not stop at all, but what would bring it here is gone.
        Prediction::Refused { code: "config-dropped", because } => {
            format!("prints an error and goes on, and no mirror leads it here: {because}")
        }
        Prediction::Refused { code, because } => format!("stops, {code}: {because}"),
        Prediction::Crash { because } => format!("crashes: {because}"),
        Prediction::Random { keys } => format!("takes one of {} at random, run by run", keys.join(" and ")),
    };
    match (seen.goes, seen.prediction) {
        (Goes::NoFurther, Prediction::Refused { code: "config-file-error", .. }) => note(ALL, false, "stops at it too"),
        (Goes::On, _) | (_, Prediction::Crash { .. } | Prediction::Refused { .. }) => note(ALL, true, text),
        (Goes::NoFurtherAlone, _) => note(ALL, true, format!("says nothing of the error and goes on: {text}")),
        (Goes::NoFurther, _) => note(ALL, true, format!("tells of the error and goes on: {text}")),
    }
}

/// What is said where the same is chosen.
fn same(seen: &Seen<'_>) -> Option<&'static str> {
    match (&seen.account.choice, seen.prediction) {
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

/// Whether `OpenTofu` makes the same of what the helper said: one question, and no identity token.
fn plain(runs: &[Helper]) -> bool {
    let token = |run: &Helper| run.outcome == HelperOutcome::Credential && run.username.is_none();
    runs.len() <= 1 && !runs.iter().any(token)
}

fn ask(seen: &Seen<'_>, program: &str, server: &str) -> String {
    let runs = seen.helpers;
    match runs.last() {
        Some(last) if last.program == program && last.outcome == HelperOutcome::Credential => {
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

/// What it makes of the same answers, as the rules for it say.
fn answers(seen: &Seen<'_>) -> Vec<Note> {
    let facts = WireFacts {
        repository: seen.account.repository.clone(),
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
    let told = |difference: Difference| Note {
        weight: match difference.weight {
            opentofu::Weight::Aside => Weight::Aside,
            opentofu::Weight::Tells => Weight::Tells,
        },
        ..note(difference.releases, true, difference.text)
    };
    wire_differences(&facts).into_iter().map(told).collect()
}

/// The challenges of the first answer that has any.
fn challenges(exchanges: &[Exchange]) -> Vec<String> {
    let found = exchanges.iter().find_map(|exchange| match exchange {
        Exchange::Registry { status: 401, challenges, .. } => Some(challenges.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// The redirects that were met, followed or not. That of a token server shows in what it answered.
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
