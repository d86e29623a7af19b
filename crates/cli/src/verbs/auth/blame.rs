//! Why access fails, and who is to blame: a file, an entry, a helper, a scope or an answer.

use tofu_oci_store::{AccessFault, StoreError};

use super::model::{Chosen, Credentials, Explanation, Outcome, Shows, Step, StepKind, Verdict};
use crate::credentials::Advice;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;

/// How it ended, in the words of the last line, and the diagnostic that follows it.
pub(super) struct Blame {
    pub(super) outcome: Outcome,
    pub(super) code: Option<String>,
    pub(super) reason: String,
    pub(super) diagnostic: Diagnostic,
}

/// Names the culprit of a failed request.
pub(super) fn blame(told: &Explanation, error: &StoreError, advice: &Advice<'_>) -> Blame {
    let code = error.credential_code();
    let known = match code.as_deref() {
        Some(code) if code.starts_with("token-server-status:4") => token_server(told, error, advice),
        Some("registry-status:401" | "registry-status:403") => registry(told, error, advice),
        Some("no-credentials-for-basic") => {
            Some((format!("the registry wants a name and a password, and {}", nothing(told)), missing(told, advice)))
        }
        Some("incomplete-basic") => Some((problem(error), login(told, advice))),
        Some(code) if code.starts_with("helper-") => Some((failure(told, error), helper(told, error))),
        Some("auth-without-colon" | "block-style-undecided" | "invalid-helper-name") => {
            Some((problem(error), said(error)))
        }
        _ => None,
    };
    let general = Diagnostic::from(error).settled();
    if let Some((reason, hints)) = known {
        let diagnostic = Diagnostic::new(Exit::Fixable, format!("{}: {reason}", told.repository));
        let diagnostic = code.iter().fold(diagnostic, Diagnostic::code);
        let diagnostic = hints.into_iter().fold(diagnostic, Diagnostic::hint);
        return Blame { outcome: Outcome::Fails, code, reason, diagnostic };
    }
    let outcome = if general.exit() == Exit::Unexpected { Outcome::NotKnown } else { Outcome::Fails };
    Blame { outcome, code, reason: problem(error), diagnostic: general }
}

/// Access was given, and nothing is there.
pub(super) fn no_such_repository(told: &Explanation) -> Blame {
    const CODE: &str = "registry-status:404";
    let reason = format!("the registry lets {} in, and has no such repository", who(&told.chosen));
    let diagnostic = Diagnostic::new(Exit::Fixable, format!("{}: {reason}", told.repository))
        .code(CODE)
        .hint("check the name; some registries say the same to those who may not read the repository")
        .hint("before a first push, ask with --push");
    Blame { outcome: Outcome::Fails, code: Some(CODE.to_owned()), reason, diagnostic }
}

/// Who was let in.
pub(super) fn who(chosen: &Chosen) -> String {
    match (&chosen.username, chosen.shows) {
        (Some(user), _) => user.clone(),
        (None, Shows::IdentityToken) => "the owner of the identity token".to_owned(),
        (None, Shows::AccessToken) => "the owner of the access token".to_owned(),
        (None, _) => "everybody".to_owned(),
    }
}

type Known = (String, Vec<String>);

fn token_server(told: &Explanation, error: &StoreError, advice: &Advice<'_>) -> Option<Known> {
    let step = told.exchanges.iter().rfind(|step| step.kind == StepKind::Token)?;
    let server = step.url.as_deref().unwrap_or("of the registry");
    let words = step.said.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
    let verb = told.action.word();
    Some(match (step.shown, &step.username) {
        (Some("password" | "identity-token"), _) if matches!(error, StoreError::Denied { .. }) => (
            format!("the token server {server} does not allow {} to {verb}{words}", who(&told.chosen)),
            ask_for_right(told, verb),
        ),
        (Some("password"), Some(user)) => {
            (format!("the token server {server} refuses the login of {user}{words}"), login(told, advice))
        }
        (Some("identity-token"), _) => {
            (format!("the token server {server} refuses the identity token{words}"), login(told, advice))
        }
        _ => (
            format!("the token server {server} gives nothing to anonymous callers, and {}{words}", nothing(told)),
            missing(told, advice),
        ),
    })
}

fn registry(told: &Explanation, error: &StoreError, advice: &Advice<'_>) -> Option<Known> {
    let verb = told.action.word();
    if let StoreError::Denied { fault: AccessFault::NoKnownScheme(_), .. } = error {
        let hint = "no login helps there; check that this is the registry you mean, or ask its operator";
        return Some((problem(error), vec![hint.to_owned()]));
    }
    if let StoreError::Unauthorized { fault: AccessFault::TokenRefused(_), .. } = error {
        let hint =
            "the registry refuses what its own token server gave: run the same command again, or ask its operator";
        return Some((problem(error), vec![hint.to_owned()]));
    }
    let step = told.exchanges.iter().rfind(|step| step.kind == StepKind::Registry)?;
    Some(match (step.shown, &step.username) {
        (Some("token"), _) => right(told, verb, advice),
        (Some("password"), Some(user)) if step.status == Some(403) => (
            format!("the registry knows {user}, who may not {verb}"),
            vec![format!("ask the owner of the repository for the right to {verb}, or log in as somebody else")],
        ),
        (Some("password"), Some(user)) => (format!("the registry refuses the login of {user}"), login(told, advice)),
        (Some("access-token"), _) => {
            let words = problem(error);
            let words = words.strip_prefix("the given credentials are refused: ").unwrap_or(&words);
            (format!("the registry refuses the access token: {words}"), login(told, advice))
        }
        _ if step.challenges.is_empty() => return None,
        _ => (format!("the registry lets nobody in without credentials, and {}", nothing(told)), missing(told, advice)),
    })
}

/// The token was given, and is worth too little.
fn right(told: &Explanation, verb: &str, advice: &Advice<'_>) -> Known {
    let token = told.exchanges.iter().rfind(|step| step.kind == StepKind::Token);
    let scopes = token.map(|step| step.scopes.join(" ")).unwrap_or_default();
    let reason = format!("the token for {scopes} does not carry the right to {verb}");
    let granted = token.and_then(|step: &Step| step.granted.as_ref()).map(|granted| {
        let granted: Vec<&str> = granted.iter().map(String::as_str).filter(|one| !one.ends_with(':')).collect();
        match granted.as_slice() {
            [] => "the token grants nothing".to_owned(),
            granted => format!("the token grants {} alone", granted.join(" ")),
        }
    });
    let mut hints: Vec<String> = granted.into_iter().collect();
    hints.extend(if told.chosen.shows == Shows::Nothing { missing(told, advice) } else { ask_for_right(told, verb) });
    (reason, hints)
}

/// The login is good.
fn ask_for_right(told: &Explanation, verb: &str) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some(source) = &told.chosen.source {
        hints.push(format!("the login is that of {source}{}", place(&told.chosen)));
    }
    let owner = who(&told.chosen);
    hints.push(format!("ask the owner of the repository to let {owner} {verb}, or log in as somebody else"));
    hints
}

/// Where the login stands that was refused, and how it is changed.
fn login(told: &Explanation, advice: &Advice<'_>) -> Vec<String> {
    let Some(source) = &told.chosen.source else { return missing(told, advice) };
    let mut hints = vec![format!("the login is that of {source}{}", place(&told.chosen))];
    match told.credentials {
        Credentials::Given => hints.push("check the name, and what --password-stdin was given".to_owned()),
        _ => hints.extend(advice.for_refused_login()),
    }
    hints
}

fn helper(told: &Explanation, error: &StoreError) -> Vec<String> {
    let Some(source) = &told.chosen.source else { return said(error) };
    let mut hints = vec![format!("the helper is named by {source}{}", place(&told.chosen))];
    hints.extend(said(error));
    hints
}

/// What the error itself advises.
fn said(error: &StoreError) -> Vec<String> {
    match error {
        StoreError::Credentials { hint: Some(hint), .. } => vec![hint.clone()],
        _ => Vec::new(),
    }
}

/// Why the helper failed; who names it is told by a hint.
fn failure(told: &Explanation, error: &StoreError) -> String {
    told.helpers.last().and_then(|run| run.reason.clone()).unwrap_or_else(|| problem(error))
}

/// Why nothing fits, and what to do.
fn missing(told: &Explanation, advice: &Advice<'_>) -> Vec<String> {
    if told.credentials == Credentials::None {
        return vec!["leave --anonymous out, so that the user's credentials are shown".to_owned()];
    }
    final_answer(told).into_iter().chain(advice.for_want_of_credentials()).collect()
}

/// A source that is not tried, because a helper that fits as closely or more closely has nothing.
fn final_answer(told: &Explanation) -> Option<String> {
    let asked = told.helpers.last().filter(|run| run.reason.is_none())?;
    let mut sources = told.files.iter().flat_map(|file| file.sources.iter().map(move |source| (file, source)));
    let (file, source) = sources.find(|(_, source)| source.verdict == Verdict::Outranked)?;
    let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
    let name = source.name();
    Some(format!("what {} says is final: {name} of {}{line} is not tried", asked.program, file.name))
}

fn nothing(told: &Explanation) -> String {
    match (told.chosen.shows, &told.chosen.source) {
        (Shows::Helper, Some(_)) => match told.helpers.last() {
            Some(run) => format!("{} has no login for it", run.program),
            None => "the helper was not asked".to_owned(),
        },
        _ => "there are no credentials for it".to_owned(),
    }
}

/// ` of FILE:LINE`, where the source stands in one.
fn place(chosen: &Chosen) -> String {
    match (&chosen.file, chosen.line) {
        (Some(file), Some(line)) => format!(" of {file}:{line}"),
        (Some(file), None) => format!(" of {file}"),
        (None, _) => String::new(),
    }
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
