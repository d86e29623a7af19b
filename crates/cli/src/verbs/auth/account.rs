//! Files and sources, and which of them counts.

use std::cmp::Ordering;

use tofu_oci_credentials::{
    Candidate, Choice, ChoiceError, Credential, CredentialLookup, FileState, FileWarning, FoundFile, Origin,
    Specificity, Verdict as Judged,
};
use tofu_oci_types::RepositoryRef;

use super::model::{Chosen, File, Problem, Shows, Source, State, Verdict};

/// A credential file with what it says. `notes` are those of all files.
pub(super) fn file(found: &FoundFile, account: &CredentialLookup, notes: &[FileWarning]) -> File {
    let sources = sources(&found.name, account);
    let (state, problems) = match &found.state {
        FileState::Missing => (State::Missing, Vec::new()),
        FileState::Unreadable { reason } => (State::Unreadable, vec![Problem::new(None, reason.clone())]),
        FileState::TooLarge { limit } => {
            (State::Unreadable, vec![Problem::new(None, format!("it is larger than {} MiB", limit >> 20))])
        }
        FileState::Malformed(error) => (State::Malformed, vec![Problem::new(error.line(), error.problem())]),
        FileState::Read(file) => {
            // What is told of an entry itself is not told again.
            let told = |line: Option<usize>| {
                sources.iter().any(|one| line.is_some() && one.line == line && one.verdict != Verdict::Other)
            };
            let notes = notes.iter().filter(|note| note.file == found.name);
            let warnings = file.warnings().iter().chain(notes).filter(|warning| !told(warning.line));
            (State::Read, warnings.map(|warning| Problem::new(warning.line, warning.problem.clone())).collect())
        }
    };
    File {
        name: found.name.clone(),
        named_by: Some(found.because.clone()).filter(|because| because.starts_with('$')),
        known_to_opentofu: found.known_to_opentofu,
        state,
        problems,
        sources,
    }
}

/// Everything of one file that speaks of credentials, in its order.
pub(super) fn sources(file: &str, account: &CredentialLookup) -> Vec<Source> {
    let best = account.candidates.iter().filter(|one| decides(&one.verdict)).filter_map(|one| one.fit).max();
    let here = account.candidates.iter().filter(|one| one.origin.place().file == file);
    here.map(|one| source(one, best, &account.repository)).collect()
}

/// Whether a source is used, or stands in the way of all others.
fn decides(verdict: &Judged) -> bool {
    matches!(verdict, Judged::Chosen | Judged::Broken(_))
}

fn source(candidate: &Candidate, best: Option<Specificity>, repository: &RepositoryRef) -> Source {
    let fits = candidate.fit.map(|fit| fit_text(fit, repository)).unwrap_or_default();
    let (verdict, why, instead) = match &candidate.verdict {
        Judged::Chosen => (Verdict::Chosen, format!("chosen, {fits}"), None),
        Judged::Outranked => (Verdict::Outranked, format!("{fits}, {}", outranked(candidate.fit, best)), None),
        Judged::Broken(error) => (Verdict::Broken, format!("{fits}, and {}", wrong(error)), None),
        Judged::Empty => (Verdict::Empty, format!("{fits}, and holds no login: docker keeps it in a helper"), None),
        Judged::LeftOut(reason) => (Verdict::LeftOut, format!("left out, {reason}"), None),
        Judged::NoMatch(None) => (Verdict::Other, "it is for other repositories".to_owned(), None),
        Judged::NoMatch(Some(near)) => {
            (Verdict::NearMiss, format!("does not fit, {near}"), Some(near.instead().to_owned()))
        }
    };
    let (kind, key, helper) = parts(&candidate.origin);
    Source {
        kind,
        key,
        helper,
        line: candidate.origin.place().line,
        specificity: candidate.fit.map(Specificity::specificity),
        verdict,
        why,
        instead,
    }
}

/// What is wrong with a source, without its name.
fn wrong(error: &ChoiceError) -> String {
    match error {
        ChoiceError::AuthWithoutColon { .. } => "its `auth` has no colon between username and password".to_owned(),
        ChoiceError::StyleUndecided { argument, .. } => format!("its {argument} is empty"),
        ChoiceError::InvalidHelperName { name, .. } => format!("no helper can be called `{name}`"),
        other => other.to_string(),
    }
}

/// How closely a source fits, in words.
fn fit_text(fit: Specificity, repository: &RepositoryRef) -> String {
    let segments = repository.name().split('/').count();
    match fit {
        Specificity::Store => "it serves every registry".to_owned(),
        Specificity::Registry => "it names the registry".to_owned(),
        Specificity::Path(count) if count >= segments => "it names this very repository".to_owned(),
        Specificity::Path(1) => "it names the registry and the first part of the path".to_owned(),
        Specificity::Path(count) => format!("it names the registry and the first {count} parts of the path"),
    }
}

fn outranked(fit: Option<Specificity>, best: Option<Specificity>) -> &'static str {
    match fit.cmp(&best) {
        Ordering::Less => "and another one names more",
        Ordering::Equal => "as another one does that comes first",
        Ordering::Greater => "and does not count",
    }
}

/// What is shown once the registry asks, and why that.
pub(super) fn chosen(account: &CredentialLookup) -> Chosen {
    let nothing = |shows, why: String| Chosen { shows, username: None, source: None, file: None, line: None, why };
    let from = |shows, username: Option<String>, origin: &Origin, why: String| {
        let place = origin.place();
        Chosen { shows, username, source: Some(name(origin)), file: Some(place.file.clone()), line: place.line, why }
    };
    match &account.choice {
        Choice::Anonymous => nothing(Shows::Nothing, "nothing: no source fits".to_owned()),
        Choice::Credential { credential, origin } => {
            let (shows, username) = credential_of(credential);
            from(shows, username, origin, why(account))
        }
        Choice::Ask { origin, .. } => from(Shows::Helper, None, origin, why(account)),
        Choice::Refused(error) => {
            let broken = account.candidates.iter().find(|one| matches!(one.verdict, Judged::Broken(_)));
            match broken {
                Some(one) => from(Shows::Refused, None, &one.origin, format!("cannot be used, {}", error.code())),
                None => nothing(Shows::Refused, error.to_string()),
            }
        }
    }
}

/// The kind of a credential, and the user's name where it has one.
pub(super) fn credential_of(credential: &Credential) -> (Shows, Option<String>) {
    match credential {
        Credential::Basic { username, .. } => (Shows::Password, Some(username.clone())),
        Credential::IdentityToken(_) => (Shows::IdentityToken, None),
        Credential::RegistryToken(_) => (Shows::AccessToken, None),
    }
}

/// Why the chosen source counts, against those that fit too.
fn why(account: &CredentialLookup) -> String {
    let best = account.candidates.iter().find(|one| one.verdict == Judged::Chosen).and_then(|one| one.fit);
    let others: Vec<Option<Specificity>> =
        account.candidates.iter().filter(|one| one.verdict == Judged::Outranked).map(|one| one.fit).collect();
    let equal = others.contains(&best);
    match (others.is_empty(), equal) {
        (true, _) => "nothing else fits",
        (false, false) => "of all that fit it names the most",
        (false, true) => "of those that name the most it comes first",
    }
    .to_owned()
}

/// A source by its name: `auths "ghcr.io"`.
pub(super) fn name(origin: &Origin) -> String {
    let (kind, key, helper) = parts(origin);
    super::model::source_name(kind, key.as_deref(), helper.as_deref())
}

fn parts(origin: &Origin) -> (&'static str, Option<String>, Option<String>) {
    match origin {
        Origin::Block { label, .. } => ("oci_credentials", Some(label.clone()), None),
        Origin::DefaultHelper { name, .. } => ("oci_default_credentials", None, Some(name.clone())),
        Origin::Auth { key, .. } => ("auths", Some(key.clone()), None),
        Origin::CredHelper { key, name, .. } => ("credHelpers", Some(key.clone()), Some(name.clone())),
        Origin::CredsStore { name, .. } => ("credsStore", None, Some(name.clone())),
    }
}

impl Problem {
    pub(super) fn new(line: Option<usize>, problem: String) -> Self {
        Self { line, text: problem, opentofu: None }
    }
}
