//! Why access fails, and what to do about it: a file, an entry, a helper, a scope or an answer is the cause.

use tofu_oci_logins::{Advice, Remedy};
use tofu_oci_store::{AccessFault, StoreError};

use super::model::{
    AccessExplanation, AccessOutcome, ChosenSource, CredentialKind, CredentialScope, ExchangeKind, SourceVerdict,
};

/// How an access failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFailure {
    pub outcome: AccessOutcome,
    /// The stable name of the fault.
    pub code: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// What to do; `None` if only the error itself says.
    pub advice: Option<Vec<AccessAdvice>>,
}

/// Something that helps a user whose access fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessAdvice {
    /// What the look-up of credentials advises.
    Remedy(Remedy),
    /// What the error itself advises.
    FromError(String),
    /// The login is that of this source.
    LoginOf {
        /// The source with its file and line.
        source: String,
    },
    /// The helper is named by this source.
    HelperOf {
        /// The source with its file and line.
        source: String,
    },
    TokenGrants(Vec<String>),
    /// Ask the owner of the repository for a right.
    AskOwner {
        caller: String,
        /// `pull` or `push`.
        verb: &'static str,
    },
    /// Ask the owner of the repository for a right that the registry itself denies.
    AskOwnerForRight {
        /// `pull` or `push`.
        verb: &'static str,
    },
    /// No login helps: the registry asks for an unknown scheme.
    UnknownScheme,
    /// The registry refuses what its own token server gave.
    TokenRefused,
    /// A helper's answer is final: this source is not tried.
    FinalAnswer {
        program: String,
        /// The source that is not tried.
        source: String,
    },
    /// Check the repository's name.
    CheckName,
    /// Ask with `--push` before a first push.
    AskForPush,
}

type Diagnosis = (String, Vec<AccessAdvice>);

/// Why a request failed.
pub(crate) fn diagnose(explanation: &AccessExplanation, error: &StoreError, advice: &Advice<'_>) -> AccessFailure {
    let code = error.credential_code();
    let known = match code.as_deref() {
        Some(code) if code.starts_with("token-server-status:4") => token_server(explanation, error, advice),
        Some("registry-status:401" | "registry-status:403") => registry(explanation, error, advice),
        Some("no-credentials-for-basic") => Some((
            format!("the registry wants a name and a password, and {}", lack(explanation)),
            missing(explanation, advice),
        )),
        Some("incomplete-basic") => Some((problem(error), login(explanation, advice))),
        Some(code) if code.starts_with("helper-") => {
            Some((helper_problem(explanation, error), helper(explanation, error)))
        }
        Some("auth-without-colon" | "block-style-undecided" | "invalid-helper-name") => {
            Some((problem(error), from_error(error)))
        }
        _ => None,
    };
    let outcome = match &known {
        None if error.is_transient() => AccessOutcome::NotKnown,
        _ => AccessOutcome::Fails,
    };
    match known {
        Some((reason, advice)) => AccessFailure { outcome, code, reason, advice: Some(advice) },
        None => AccessFailure { outcome, code, reason: problem(error), advice: None },
    }
}

/// The registry gave access, and has no such repository.
pub(crate) fn no_such_repository(explanation: &AccessExplanation) -> AccessFailure {
    AccessFailure {
        outcome: AccessOutcome::Fails,
        code: Some("registry-status:404".to_owned()),
        reason: format!("the registry lets {} in, and has no such repository", caller(&explanation.chosen)),
        advice: Some(vec![AccessAdvice::CheckName, AccessAdvice::AskForPush]),
    }
}

/// The caller as the registry knows it.
pub(crate) fn caller(chosen: &ChosenSource) -> String {
    match (&chosen.username, chosen.shows) {
        (Some(user), _) => user.clone(),
        (None, CredentialKind::IdentityToken) => "the owner of the identity token".to_owned(),
        (None, CredentialKind::AccessToken) => "the owner of the access token".to_owned(),
        (None, _) => "everybody".to_owned(),
    }
}

fn token_server(explanation: &AccessExplanation, error: &StoreError, advice: &Advice<'_>) -> Option<Diagnosis> {
    let step = explanation.exchanges.iter().rfind(|step| step.kind == ExchangeKind::Token)?;
    let server = step.url.as_deref().unwrap_or("of the registry");
    let words = step.refusal.as_ref().map(|words| format!(": {words}")).unwrap_or_default();
    let verb = explanation.action.word();
    Some(match (step.shown, &step.username) {
        (Some("password" | "identity-token"), _) if matches!(error, StoreError::Denied { .. }) => (
            format!("the token server {server} does not allow {} to {verb}{words}", caller(&explanation.chosen)),
            ask_for_right(explanation),
        ),
        (Some("password"), Some(user)) => {
            (format!("the token server {server} refuses the login of {user}{words}"), login(explanation, advice))
        }
        (Some("identity-token"), _) => {
            (format!("the token server {server} refuses the identity token{words}"), login(explanation, advice))
        }
        _ => (
            format!("the token server {server} gives nothing to anonymous callers, and {}{words}", lack(explanation)),
            missing(explanation, advice),
        ),
    })
}

fn registry(explanation: &AccessExplanation, error: &StoreError, advice: &Advice<'_>) -> Option<Diagnosis> {
    let verb = explanation.action.word();
    if let StoreError::Denied { fault: AccessFault::NoKnownScheme(_), .. } = error {
        return Some((problem(error), vec![AccessAdvice::UnknownScheme]));
    }
    if let StoreError::Unauthorized { fault: AccessFault::TokenRefused(_), .. } = error {
        return Some((problem(error), vec![AccessAdvice::TokenRefused]));
    }
    let step = explanation.exchanges.iter().rfind(|step| step.kind == ExchangeKind::Registry)?;
    Some(match (step.shown, &step.username) {
        (Some("token"), _) => right(explanation, advice),
        (Some("password"), Some(user)) if step.status == Some(403) => {
            (format!("the registry knows {user}, who may not {verb}"), vec![AccessAdvice::AskOwnerForRight { verb }])
        }
        (Some("password"), Some(user)) => {
            (format!("the registry refuses the login of {user}"), login(explanation, advice))
        }
        (Some("access-token"), _) => {
            let words = step.problem.clone().unwrap_or_else(|| problem(error));
            (format!("the registry refuses the access token: {words}"), login(explanation, advice))
        }
        _ if step.challenges.is_empty() => return None,
        _ => (format!("the registry demands credentials, and {}", lack(explanation)), missing(explanation, advice)),
    })
}

/// The token was given, and grants too little.
fn right(explanation: &AccessExplanation, advice: &Advice<'_>) -> Diagnosis {
    let token = explanation.exchanges.iter().rfind(|step| step.kind == ExchangeKind::Token);
    let scopes = token.map(|step| step.scopes.join(" ")).unwrap_or_default();
    let reason = format!("the token for {scopes} does not carry the right to {}", explanation.action.word());
    let granted = token
        .and_then(|step| step.granted.as_ref())
        .map(|granted| AccessAdvice::TokenGrants(granted.iter().filter(|one| !one.ends_with(':')).cloned().collect()));
    let mut all: Vec<AccessAdvice> = granted.into_iter().collect();
    all.extend(match explanation.chosen.shows {
        CredentialKind::Nothing => missing(explanation, advice),
        _ => ask_for_right(explanation),
    });
    (reason, all)
}

/// The login is valid, and lacks the right.
fn ask_for_right(explanation: &AccessExplanation) -> Vec<AccessAdvice> {
    let chosen = &explanation.chosen;
    let ask = AccessAdvice::AskOwner { caller: caller(chosen), verb: explanation.action.word() };
    chosen_source(chosen).map(|source| AccessAdvice::LoginOf { source }).into_iter().chain([ask]).collect()
}

/// The source of the login that was refused, and how to change it.
fn login(explanation: &AccessExplanation, advice: &Advice<'_>) -> Vec<AccessAdvice> {
    let Some(source) = chosen_source(&explanation.chosen) else { return missing(explanation, advice) };
    let remedies = match explanation.credentials {
        CredentialScope::Given => vec![Remedy::CheckGivenLogin],
        _ => advice.for_refused_login(),
    };
    [AccessAdvice::LoginOf { source }].into_iter().chain(remedies.into_iter().map(AccessAdvice::Remedy)).collect()
}

fn helper(explanation: &AccessExplanation, error: &StoreError) -> Vec<AccessAdvice> {
    let named = chosen_source(&explanation.chosen).map(|source| AccessAdvice::HelperOf { source });
    named.into_iter().chain(from_error(error)).collect()
}

fn from_error(error: &StoreError) -> Vec<AccessAdvice> {
    match error {
        StoreError::Credentials { hint: Some(hint), .. } => vec![AccessAdvice::FromError(hint.clone())],
        _ => Vec::new(),
    }
}

/// Why the helper failed. A hint says which source names it.
fn helper_problem(explanation: &AccessExplanation, error: &StoreError) -> String {
    explanation.helpers.last().and_then(|run| run.reason.clone()).unwrap_or_else(|| problem(error))
}

/// What to do if no source fits.
fn missing(explanation: &AccessExplanation, advice: &Advice<'_>) -> Vec<AccessAdvice> {
    if explanation.credentials == CredentialScope::None {
        return vec![AccessAdvice::Remedy(Remedy::OmitAnonymous)];
    }
    let remedies = advice.for_missing_credentials().into_iter().map(AccessAdvice::Remedy);
    final_answer(explanation).into_iter().chain(remedies).collect()
}

/// A source that is not tried, because a helper that is at least as specific has no login.
fn final_answer(explanation: &AccessExplanation) -> Option<AccessAdvice> {
    let asked = explanation.helpers.last().filter(|run| run.reason.is_none())?;
    let mut sources = explanation.files.iter().flat_map(|file| file.sources.iter().map(move |source| (file, source)));
    let (file, source) = sources.find(|(_, source)| source.verdict == SourceVerdict::Outranked)?;
    let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
    let source = format!("{} of {}{line}", source.name(), file.name);
    Some(AccessAdvice::FinalAnswer { program: asked.program.clone(), source })
}

/// What is missing.
fn lack(explanation: &AccessExplanation) -> String {
    match (explanation.chosen.shows, &explanation.chosen.source) {
        (CredentialKind::Helper, Some(_)) => match explanation.helpers.last() {
            Some(run) => format!("{} has no login for it", run.program),
            None => "the helper was not asked".to_owned(),
        },
        _ => "there are no credentials for it".to_owned(),
    }
}

/// The chosen source, with its file and line if it is in one.
fn chosen_source(chosen: &ChosenSource) -> Option<String> {
    let place = match (&chosen.file, chosen.line) {
        (Some(file), Some(line)) => format!(" of {file}:{line}"),
        (Some(file), None) => format!(" of {file}"),
        (None, _) => String::new(),
    };
    Some(format!("{}{place}", chosen.source.as_ref()?))
}

/// The text of an error without the repository in front of it.
fn problem(error: &StoreError) -> String {
    match error {
        StoreError::Credentials { problem, .. }
        | StoreError::Forbidden { problem, .. }
        | StoreError::NoToken { problem, .. }
        | StoreError::Unauthorized { problem, .. }
        | StoreError::Denied { problem, .. } => problem.clone(),
        StoreError::Unreachable { .. } => "the registry or its token server cannot be reached".to_owned(),
        other => other.to_string(),
    }
}
