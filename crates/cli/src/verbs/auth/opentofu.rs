//! Where `OpenTofu` behaves otherwise: in what it chooses, and in how it asks.
//!
//! Spec: measured on 1.10.10, 1.12.6 and 1.13-dev.

use tofu_oci_credentials::opentofu::Prediction;
use tofu_oci_credentials::{Account, Choice, Credential};
use tofu_oci_mapper::TofuRelease;
use tofu_oci_remote::{Exchange, Ping, Shown, TokenOutcome};
use tofu_oci_store::StoreError;

use super::account::name;
use super::model::{Helper, HelperOutcome, Note};

const ALL: &[TofuRelease] = &TofuRelease::ALL;
/// The releases that ask for `/v2/` first.
const WITH_ROOT: &[TofuRelease] = &[TofuRelease::V1_10, TofuRelease::V1_12];
/// The release that sends a password to any realm.
const TRUSTING: &[TofuRelease] = &[TofuRelease::V1_10];

/// Everything that is known of what happened here.
pub(super) struct Seen<'a> {
    pub(super) account: &'a Account,
    pub(super) prediction: &'a Prediction,
    pub(super) helpers: &'a [Helper],
    pub(super) exchanges: &'a [Exchange],
    /// What `/v2/` answers.
    pub(super) root: Option<&'a Result<Ping, StoreError>>,
}

/// One line for each thing that releases do otherwise, or one that nothing is.
pub(super) fn notes(seen: &Seen<'_>) -> Vec<Note> {
    let mut notes = vec![choice(seen)];
    // Whoever shows something else, or nothing, gets other answers: they are not known here.
    if !notes[0].differs {
        notes.extend(answers(seen));
        notes.extend(root(seen));
    }
    notes
}

/// What the options stand in for is another program's business.
pub(super) fn knows_nothing_of(option: &str) -> Note {
    note(ALL, true, format!("knows nothing of {option}: it goes by its CLI configuration and the files"))
}

fn note(releases: &[TofuRelease], differs: bool, text: impl Into<String>) -> Note {
    Note { releases: releases.iter().map(ToString::to_string).collect(), differs, text: text.into() }
}

fn choice(seen: &Seen<'_>) -> Note {
    if let Some(text) = same(seen) {
        return note(ALL, false, text);
    }
    note(
        ALL,
        true,
        match seen.prediction {
            Prediction::Anonymous { because: None } => "finds no credentials, and asks anonymously".to_owned(),
            Prediction::Anonymous { because: Some(because) } => format!("asks anonymously: {because}"),
            Prediction::Basic { username, origin, .. } => {
                format!("shows the login of {username}, from {} of {}", name(origin), origin.place())
            }
            Prediction::Token { origin, .. } => {
                format!("shows the access token of {} of {}", name(origin), origin.place())
            }
            Prediction::Ask { program, server, .. } => ask(seen, program, server),
            Prediction::Refused { code, because } => format!("stops, {code}: {because}"),
            Prediction::Crash { because } => format!("crashes: {because}"),
            Prediction::Random { keys } => format!("takes one of {} at random, run by run", keys.join(" and ")),
        },
    )
}

/// What is said where the same is chosen.
fn same(seen: &Seen<'_>) -> Option<&'static str> {
    match (&seen.account.choice, seen.prediction) {
        (Choice::Anonymous, Prediction::Anonymous { .. }) => Some("asks anonymously too"),
        (
            Choice::Credential { credential: Credential::Basic { username, password }, .. },
            Prediction::Basic { username: user, password: secret, .. },
        ) if username == user && password == secret => Some("shows the same login"),
        (
            Choice::Credential { credential: Credential::RegistryToken(token), .. },
            Prediction::Token { access, .. },
        ) if token == access => Some("shows the same access token"),
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

/// What it makes of the same answers.
fn answers(seen: &Seen<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for exchange in seen.exchanges {
        match exchange {
            Exchange::Refused { code, .. } => notes.extend(refused(code)),
            Exchange::Redirected { shown_there, .. } if *shown_there == Shown::Nothing && before_token(seen) => {
                notes.push(note(ALL, true, "follows the token server's redirect without the login, and uses the anonymous token"));
            }
            Exchange::Registry { challenges, .. } => notes.extend(challenged(challenges)),
            _ => {}
        }
    }
    notes.dedup();
    let tokens = seen.exchanges.iter().any(|exchange| {
        matches!(exchange, Exchange::Token { outcome: TokenOutcome::Token { .. }, .. })
    });
    if tokens && !seen.helpers.is_empty() {
        notes.push(note(WITH_ROOT, true, "run the helper twice: they fetch a second token, for /v2/"));
    }
    notes
}

/// Whether a redirect was the token server's: no token came of it.
fn before_token(seen: &Seen<'_>) -> bool {
    seen.exchanges.iter().any(|one| matches!(one, Exchange::Refused { code, .. } if code == "token-redirect"))
}

/// What it does where a rule of ours refuses.
fn refused(code: &str) -> Vec<Note> {
    match code {
        "realm-downgrade" | "realm-private-address" => vec![
            note(TRUSTING, true, "sends the password there"),
            note(&[TofuRelease::V1_12, TofuRelease::V1_13], false, "refuse it too"),
        ],
        "realm-other-site" => vec![note(ALL, true, "sends the password there: any host name may be the token server")],
        "realm-user-info" => vec![note(ALL, true, "asks there, with the user info of the address where it has no login")],
        "token-redirect" => {
            vec![note(ALL, true, "follows the redirect without the login, and uses the anonymous token silently")]
        }
        _ => Vec::new(),
    }
}

/// It reads the first challenge of the first line alone, and breaks an unquoted realm at its colon.
fn challenged(challenges: &[String]) -> Option<Note> {
    let first = challenges.first()?;
    let scheme = first.split([' ', ',']).next().unwrap_or_default().to_ascii_lowercase();
    if !matches!(scheme.as_str(), "basic" | "bearer") {
        let later = challenges.len() > 1;
        return later.then(|| {
            note(ALL, true, format!("stops, registry-status:401: it reads the first challenge alone, and {scheme} is unknown"))
        });
    }
    let unquoted = first.to_ascii_lowercase().split("realm=").nth(1).is_some_and(|realm| realm.starts_with("http"));
    (scheme == "bearer" && unquoted)
        .then(|| note(ALL, true, "stops: it breaks the address of the token server at its colon, as it is not quoted"))
}

/// What `/v2/` does to the releases that ask for it first.
fn root(seen: &Seen<'_>) -> Option<Note> {
    let ping = seen.root?;
    let stops = |text: String| Some(note(WITH_ROOT, true, text));
    match ping {
        Err(error) => stops(format!("ask for /v2/ first, and stop: {}", problem(error))),
        Ok(ping) => match (ping.status, ping.answered) {
            (200..=299, _) | (401, Some(200..=299)) => None,
            (404, _) | (401, Some(404)) => stops("ask for /v2/ first, which is 404, and say that the provider is not found".to_owned()),
            (401, Some(status)) => stops(format!("ask for /v2/ first, which is {status} for this login too, and stop there")),
            (status, _) => stops(format!("ask for /v2/ first, which is {status}, and stop there")),
        },
    }
}

fn problem(error: &StoreError) -> String {
    error.credential_code().unwrap_or_else(|| error.to_string())
}

