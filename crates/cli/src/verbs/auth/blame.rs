//! Why access fails, and who is to blame: a file, an entry, a helper, a scope or an answer.

use tofu_oci_store::StoreError;

use super::model::{
    Action, Chosen, Credentials, Explanation, File, Outcome, Shows, Source, State, Step, StepKind, Verdict,
};
use crate::complaint::Complaint;
use crate::exit::Exit;

/// The specificity of a source that is for all of a registry.
const FOR_REGISTRY: usize = 2;

/// How it ended, in the words of the last line, and the complaint that follows it.
pub(super) struct Blame {
    pub(super) outcome: Outcome,
    pub(super) code: Option<String>,
    pub(super) reason: String,
    pub(super) complaint: Complaint,
}

/// Names the culprit of a failed request.
pub(super) fn blame(told: &Explanation, error: &StoreError) -> Blame {
    let code = error.credential_code();
    let known = match code.as_deref() {
        Some(code) if code.starts_with("token-server-status:4") => token_server(told),
        Some("registry-status:401" | "registry-status:403") => registry(told),
        Some("no-credentials-for-basic") => {
            Some((format!("the registry wants a name and a password, and {}", nothing(told)), missing(told)))
        }
        Some("incomplete-basic") => {
            Some(("a name and a password are needed, and one of them is empty".to_owned(), login(told)))
        }
        Some(code) if code.starts_with("helper-") => Some((failure(told, error), helper(told, code))),
        Some("auth-without-colon" | "block-style-undecided" | "invalid-helper-name") => {
            Some((problem(error), broken(told)))
        }
        _ => None,
    };
    let general = Complaint::from(error).settled();
    if let Some((reason, hints)) = known {
        let complaint = Complaint::new(Exit::Fixable, format!("{}: {reason}", told.repository));
        let complaint = code.iter().fold(complaint, Complaint::code);
        let complaint = hints.into_iter().fold(complaint, Complaint::hint);
        return Blame { outcome: Outcome::Fails, code, reason, complaint };
    }
    let outcome = if general.exit() == Exit::Unexpected { Outcome::NotKnown } else { Outcome::Fails };
    Blame { outcome, code, reason: problem(error), complaint: general }
}

/// Access was given, and nothing is there.
pub(super) fn no_such_repository(told: &Explanation) -> Blame {
    const CODE: &str = "registry-status:404";
    let reason = format!("the registry lets {} in, and has no such repository", who(&told.chosen));
    let complaint = Complaint::new(Exit::Fixable, format!("{}: {reason}", told.repository))
        .code(CODE)
        .hint("check the name; some registries say the same to those who may not read the repository")
        .hint("before a first push, ask with --push");
    Blame { outcome: Outcome::Fails, code: Some(CODE.to_owned()), reason, complaint }
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

fn token_server(told: &Explanation) -> Option<Known> {
    let step = told.exchanges.iter().rfind(|step| step.kind == StepKind::Token)?;
    let server = step.url.as_deref().unwrap_or("of the registry");
    Some(match (step.shown, &step.username) {
        (Some("password"), Some(user)) => {
            (format!("the token server {server} refuses the login of {user}"), login(told))
        }
        (Some("identity-token"), _) => (format!("the token server {server} refuses the identity token"), login(told)),
        _ => (
            format!("the token server {server} gives nothing to anonymous callers, and {}", nothing(told)),
            missing(told),
        ),
    })
}

fn registry(told: &Explanation) -> Option<Known> {
    let step = told.exchanges.iter().rfind(|step| step.kind == StepKind::Registry)?;
    let verb = told.action.word();
    Some(match (step.shown, &step.username) {
        (Some("token"), _) => right(told, verb),
        (Some("password"), Some(user)) if step.status == Some(403) => (
            format!("the registry knows {user}, who may not {verb}"),
            vec![format!("ask the owner of the repository for the right to {verb}, or log in as somebody else")],
        ),
        (Some("password"), Some(user)) => (format!("the registry refuses the login of {user}"), login(told)),
        (Some("access-token"), _) => ("the registry refuses the access token".to_owned(), login(told)),
        _ if step.challenges.is_empty() => return None,
        _ => (format!("the registry lets nobody in without credentials, and {}", nothing(told)), missing(told)),
    })
}

/// The token was given, and is worth too little.
fn right(told: &Explanation, verb: &str) -> Known {
    let token = told.exchanges.iter().rfind(|step| step.kind == StepKind::Token);
    let scopes = token.map(|step| step.scopes.join(" ")).unwrap_or_default();
    let owner = told.chosen.username.clone().unwrap_or_else(|| "anonymous callers".to_owned());
    let reason = format!("the token for {scopes} does not carry the right to {verb}");
    let granted = token.and_then(|step: &Step| step.granted.as_ref()).map(|granted| match granted.as_slice() {
        [] => "the token grants nothing".to_owned(),
        granted => format!("the token grants {} alone", granted.join(" ")),
    });
    let mut hints: Vec<String> = granted.into_iter().collect();
    if let Some(source) = &told.chosen.source {
        hints.push(format!("the login is that of {source}{}", place(&told.chosen)));
    }
    hints.push(match told.chosen.shows {
        Shows::Nothing => format!("{owner} may not {verb}; {}", log_in(told)),
        _ => format!("ask the owner of the repository to let {owner} {verb}, or log in as somebody else"),
    });
    (reason, hints)
}

/// Where the login stands that was refused.
fn login(told: &Explanation) -> Vec<String> {
    let Some(source) = &told.chosen.source else { return missing(told) };
    let mut hints = vec![format!("the login is that of {source}{}", place(&told.chosen))];
    hints.extend(again(told));
    hints
}

/// What puts another login in the place of the chosen one; nothing where that stands in the CLI configuration.
fn again(told: &Explanation) -> Option<String> {
    let chosen = |file: &File| file.sources.iter().position(|source| source.verdict == Verdict::Chosen);
    let (file, source) = told.files.iter().find_map(|file| Some((file, &file.sources[chosen(file)?])))?;
    if source.kind.starts_with("oci_") {
        return None;
    }
    if source.specificity > Some(FOR_REGISTRY) {
        return Some("correct it there: `tofu-oci login` stores logins for whole registries".to_owned());
    }
    // What is stored in docker's own file comes before what is in the older one, and behind podman's.
    let own = told.credentials == Credentials::Ambient
        && file.named_by.as_deref() != Some("$REGISTRY_AUTH_FILE")
        && !file.name.ends_with("auth.json");
    let file = if own { String::new() } else { format!(" --auth-file {}", file.name) };
    let user = told.chosen.username.as_deref().unwrap_or("NAME");
    Some(format!("log in again with `tofu-oci login {} --username {user}{file}`", host(&told.repository)))
}

fn helper(told: &Explanation, code: &str) -> Vec<String> {
    let Some(source) = &told.chosen.source else { return Vec::new() };
    let named = format!("the helper is named by {source}{}", place(&told.chosen));
    let mend = match (code, told.helpers.last()) {
        ("helper-not-found" | "helper-not-found-desktop", _) => {
            "put the program on the PATH, or take its name out of that file".to_owned()
        }
        (_, Some(run)) => format!("try it by hand: printf %s {} | {} get", run.server, run.program),
        (_, None) => log_in(told),
    };
    vec![named, mend]
}

/// Why the helper failed; who names it is told by a hint.
fn failure(told: &Explanation, error: &StoreError) -> String {
    told.helpers.last().and_then(|run| run.reason.clone()).unwrap_or_else(|| problem(error))
}

fn broken(told: &Explanation) -> Vec<String> {
    vec![match told.chosen.file {
        Some(_) => format!("mend it{}, or take it out", place(&told.chosen).replacen(" of", " in", 1)),
        None => log_in(told),
    }]
}

/// Why nothing fits: near misses first, then files that are left out.
fn missing(told: &Explanation) -> Vec<String> {
    if told.credentials == Credentials::None {
        return vec!["leave --anonymous out, so that the user's credentials are shown".to_owned()];
    }
    let mut hints = Vec::new();
    for file in &told.files {
        let near = |source: &&Source| source.verdict == Verdict::NearMiss;
        for source in file.sources.iter().filter(near) {
            let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
            hints.push(format!("{} of {}{line} {}", source.name(), file.name, source.why));
        }
        for source in file.sources.iter().filter(|source| source.verdict == Verdict::LeftOut) {
            let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
            hints.push(format!("{} of {}{line} is left out: {}", source.name(), file.name, source.why));
        }
        if matches!(file.state, State::Malformed | State::Unreadable) {
            hints.push(format!("{} is left out; mend it if the login is there", file.name));
        }
    }
    hints.extend(final_answer(told));
    if hints.is_empty() || told.action == Action::Push {
        hints.push(log_in(told));
    }
    hints
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

fn log_in(told: &Explanation) -> String {
    format!("log in with `tofu-oci login {} --username NAME`", host(&told.repository))
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

fn host(repository: &str) -> &str {
    repository.split('/').next().unwrap_or(repository)
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
