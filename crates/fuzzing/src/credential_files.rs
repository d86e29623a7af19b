//! Credential files, the choice from them, and the answers of helpers: what is chosen is one of what was looked at,
//! lines lie in the file, both rule sets agree on which files `OpenTofu` reads, and an edit leaves a file that reads.

use tofu_oci_credentials::{
    AuthFile, CandidateVerdict, Choice, CredentialLookup, CredentialPolicy, FileKind, FileState, FoundFile, HelperName,
    HelperOutput, SearchScope, docker_file, helper_outcome, opentofu,
};
use tofu_oci_types::{RepositoryRef, Secret};

use crate::seeds;

/// The first line is a repository, the rest the file; and all of it is a helper's answer.
pub fn run(bytes: &[u8]) {
    answer(bytes);
    let (line, file) = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (&b""[..], bytes),
    };
    let repository = std::str::from_utf8(line).ok().and_then(|line| RepositoryRef::from_opentofu(line).ok());
    let fallback = || "registry.example.test:5000/a/b/c".parse().expect("a repository");
    look_up(file, &repository.unwrap_or_else(fallback));
    edit(file);
}

/// The files of each measured case below its repository, and what helpers answered.
pub fn seeds() -> Vec<Vec<u8>> {
    let table = seeds::vectors("real_tofu_credentials.json");
    let mut found = Vec::new();
    for case in table.as_array().into_iter().flatten() {
        let repository = case["repository"].as_str().unwrap_or_default();
        let files = case["files"].as_object().into_iter().flat_map(|files| files.values());
        found.extend(files.map(|file| match file.as_str() {
            Some(text) => format!("{repository}\n{text}"),
            None => format!("{repository}\n{file}"),
        }));
        let helpers = case["helpers"].as_object().into_iter().flat_map(|helpers| helpers.values());
        found.extend(
            helpers.map(|helper| helper["stdout"].as_str().map_or_else(|| helper["get"].to_string(), str::to_owned)),
        );
    }
    found.sort();
    found.dedup();
    seeds::bytes(found)
}

fn answer(bytes: &[u8]) {
    let name = HelperName::parse("fuzz").expect("a name");
    for exit in [Some(0), Some(1), None] {
        if let Err(error) = helper_outcome(&name, &HelperOutput { exit, stdout: bytes.to_vec() }) {
            let text = error.to_string();
            assert!(!text.contains('{') && !text.contains(char::is_control), "{text:?}");
        }
    }
}

fn look_up(bytes: &[u8], repository: &RepositoryRef) {
    let lines = bytes.split(|byte| *byte == b'\n').count();
    let inside = |line: Option<usize>| assert!(line.is_none_or(|line| (1..=lines).contains(&line)), "line {line:?}");
    let mut off = true;
    let state = match AuthFile::parse("a.json", bytes) {
        Ok(file) => {
            off = file.off().is_some();
            file.warnings().iter().for_each(|warning| inside(warning.line));
            FileState::Read(file)
        }
        Err(error) => {
            inside(error.line());
            FileState::Malformed(error)
        }
    };
    let file = |kind| FoundFile {
        name: "a.json".to_owned(),
        because: "~/.docker".to_owned(),
        known_to_opentofu: true,
        kind,
        state: state.clone(),
    };
    let policy = CredentialPolicy::new(
        Vec::new(),
        None,
        SearchScope::Ambient,
        vec![file(FileKind::Docker), file(FileKind::Containers)],
    );
    assert_eq!(
        policy.warnings().is_empty(),
        !off && matches!(&state, FileState::Read(file) if file.warnings().is_empty())
    );
    for note in policy.notes() {
        inside(note.line);
    }
    let account = policy.look_up(repository);
    account_is_sound(&account);
    for candidate in &account.candidates {
        inside(candidate.origin.place().line);
        assert!(!candidate.origin.to_string().contains(char::is_control));
    }
    let prediction = opentofu::predict(&policy, &[], repository);
    if off {
        assert!(matches!(&prediction, opentofu::Prediction::Anonymous { because: Some(_) }), "{prediction:?}");
    }
}

fn account_is_sound(account: &CredentialLookup) {
    let chosen: Vec<_> =
        account.candidates.iter().filter(|candidate| candidate.verdict == CandidateVerdict::Chosen).collect();
    match &account.choice {
        Choice::Anonymous => assert!(chosen.len() <= 1),
        Choice::Credential { origin, .. } => assert!(chosen.len() == 1 && chosen[0].origin == *origin),
        Choice::Ask { call, origin } => {
            assert!(chosen.len() == 1 && chosen[0].origin == *origin && !call.servers.is_empty());
        }
        Choice::Refused(error) => {
            let broken = account.candidates.iter().any(|one| one.verdict == CandidateVerdict::Broken(error.clone()));
            assert!(chosen.is_empty() && broken);
        }
    }
    if let Some(best) = chosen.first() {
        let refusable = account.candidates.iter().filter(|candidate| candidate.verdict == CandidateVerdict::Outranked);
        assert!(refusable.clone().all(|candidate| candidate.fit <= best.fit));
    }
}

fn edit(bytes: &[u8]) {
    if let Ok(edit) = docker_file::store_login(Some(bytes), "fuzz.test", "user", &Secret::new("password")) {
        assert!(AuthFile::parse("a.json", &edit.bytes).is_ok());
        let removed = docker_file::remove(&edit.bytes, &["fuzz.test"]).expect("what was written can be read");
        assert!(AuthFile::parse("a.json", &removed.bytes).is_ok());
    }
}
