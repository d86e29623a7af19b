//! Files and sources, and which of them counts.

use std::cmp::Ordering;

use tofu_oci_credentials::{
    Candidate, CandidateVerdict, Choice, ChoiceError, Credential, CredentialLookup, CredentialOrigin, FileState,
    FileWarning, FoundFile, Specificity,
};
use tofu_oci_types::RepositoryRef;

use crate::access::model::{
    ChosenSource, CredentialKind, ExplainedFile, ExplainedSource, FileCondition, FileProblem, SourceVerdict,
    source_name,
};

/// A credential file with what it says. `notes` are those of all files.
pub(crate) fn file(found: &FoundFile, lookup: &CredentialLookup, notes: &[FileWarning]) -> ExplainedFile {
    let sources = sources(&found.name, lookup);
    let (state, problems) = match &found.state {
        FileState::Missing => (FileCondition::Missing, Vec::new()),
        FileState::Unreadable { reason } => (FileCondition::Unreadable, vec![FileProblem::new(None, reason.clone())]),
        FileState::TooLarge { limit } => {
            (FileCondition::Unreadable, vec![FileProblem::new(None, format!("it is larger than {} MiB", limit >> 20))])
        }
        FileState::Malformed(error) => {
            (FileCondition::Malformed, vec![FileProblem::new(error.line(), error.problem())])
        }
        FileState::Read(file) => {
            // A warning that its entry repeats is left out.
            let is_repeated = |line: Option<usize>| {
                sources.iter().any(|one| line.is_some() && one.line == line && one.verdict != SourceVerdict::Other)
            };
            let notes = notes.iter().filter(|note| note.file == found.name);
            let warnings = file.warnings().iter().chain(notes).filter(|warning| !is_repeated(warning.line));
            (
                FileCondition::Read,
                warnings.map(|warning| FileProblem::new(warning.line, warning.problem.clone())).collect(),
            )
        }
    };
    ExplainedFile {
        name: found.name.clone(),
        named_by: Some(found.because.clone()).filter(|because| because.starts_with('$')),
        known_to_opentofu: found.known_to_opentofu,
        state,
        problems,
        sources,
    }
}

/// The credential sources of one file, in its order.
pub fn sources(file: &str, lookup: &CredentialLookup) -> Vec<ExplainedSource> {
    let best = lookup.candidates.iter().filter(|one| decides(&one.verdict)).filter_map(|one| one.fit).max();
    let here = lookup.candidates.iter().filter(|one| one.origin.place().file == file);
    here.map(|one| source(one, best, &lookup.repository)).collect()
}

/// Whether a source is used, or invalid and more specific than all others.
fn decides(verdict: &CandidateVerdict) -> bool {
    matches!(verdict, CandidateVerdict::Chosen | CandidateVerdict::Broken(_))
}

fn source(candidate: &Candidate, best: Option<Specificity>, repository: &RepositoryRef) -> ExplainedSource {
    let fits = candidate.fit.map(|fit| fit_text(fit, repository)).unwrap_or_default();
    let (verdict, why, instead) = match &candidate.verdict {
        CandidateVerdict::Chosen => (SourceVerdict::Chosen, format!("chosen, {fits}"), None),
        CandidateVerdict::Outranked => {
            (SourceVerdict::Outranked, format!("{fits}, {}", outranked(candidate.fit, best)), None)
        }
        CandidateVerdict::Broken(error) => (SourceVerdict::Broken, format!("{fits}, and {}", wrong(error)), None),
        CandidateVerdict::Empty => {
            (SourceVerdict::Empty, format!("{fits}, and holds no login: docker keeps it in a helper"), None)
        }
        CandidateVerdict::LeftOut(reason) => (SourceVerdict::LeftOut, format!("left out, {reason}"), None),
        CandidateVerdict::NoMatch(None) => (SourceVerdict::Other, "it is for other repositories".to_owned(), None),
        CandidateVerdict::NoMatch(Some(near)) => {
            (SourceVerdict::NearMiss, format!("does not fit, {near}"), Some(near.instead().to_owned()))
        }
    };
    let (kind, key, helper) = parts(&candidate.origin);
    ExplainedSource {
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

/// What the registry is shown if it asks, and why.
pub(crate) fn chosen(lookup: &CredentialLookup) -> ChosenSource {
    let nothing =
        |shows, why: String| ChosenSource { shows, username: None, source: None, file: None, line: None, why };
    let from = |shows, username: Option<String>, origin: &CredentialOrigin, why: String| {
        let place = origin.place();
        ChosenSource {
            shows,
            username,
            source: Some(name(origin)),
            file: Some(place.file.clone()),
            line: place.line,
            why,
        }
    };
    match &lookup.choice {
        Choice::Anonymous => nothing(CredentialKind::Nothing, "nothing: no source fits".to_owned()),
        Choice::Credential { credential, origin } => {
            let (shows, username) = credential_of(credential);
            from(shows, username, origin, why(lookup))
        }
        Choice::Ask { origin, .. } => from(CredentialKind::Helper, None, origin, why(lookup)),
        Choice::Refused(error) => {
            let broken = lookup.candidates.iter().find(|one| matches!(one.verdict, CandidateVerdict::Broken(_)));
            match broken {
                Some(one) => {
                    from(CredentialKind::Refused, None, &one.origin, format!("cannot be used, {}", error.code()))
                }
                None => nothing(CredentialKind::Refused, error.to_string()),
            }
        }
    }
}

/// The kind of a credential, and the user's name if it has one.
pub(crate) fn credential_of(credential: &Credential) -> (CredentialKind, Option<String>) {
    match credential {
        Credential::Basic { username, .. } => (CredentialKind::Password, Some(username.clone())),
        Credential::IdentityToken(_) => (CredentialKind::IdentityToken, None),
        Credential::RegistryToken(_) => (CredentialKind::AccessToken, None),
    }
}

/// Why the chosen source counts, against those that fit too.
fn why(lookup: &CredentialLookup) -> String {
    let best = lookup.candidates.iter().find(|one| one.verdict == CandidateVerdict::Chosen).and_then(|one| one.fit);
    let others: Vec<Option<Specificity>> =
        lookup.candidates.iter().filter(|one| one.verdict == CandidateVerdict::Outranked).map(|one| one.fit).collect();
    let equal = others.contains(&best);
    match (others.is_empty(), equal) {
        (true, _) => "nothing else fits",
        (false, false) => "of all that fit it names the most",
        (false, true) => "of those that name the most it comes first",
    }
    .to_owned()
}

/// A source by its name: `auths "ghcr.io"`.
pub(crate) fn name(origin: &CredentialOrigin) -> String {
    let (kind, key, helper) = parts(origin);
    source_name(kind, key.as_deref(), helper.as_deref())
}

fn parts(origin: &CredentialOrigin) -> (&'static str, Option<String>, Option<String>) {
    match origin {
        CredentialOrigin::Block { label, .. } => ("oci_credentials", Some(label.clone()), None),
        CredentialOrigin::DefaultHelper { name, .. } => ("oci_default_credentials", None, Some(name.clone())),
        CredentialOrigin::Auth { key, .. } => ("auths", Some(key.clone()), None),
        CredentialOrigin::CredHelper { key, name, .. } => ("credHelpers", Some(key.clone()), Some(name.clone())),
        CredentialOrigin::CredsStore { name, .. } => ("credsStore", None, Some(name.clone())),
    }
}
