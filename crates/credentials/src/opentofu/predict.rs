//! The choice, by `OpenTofu`'s rules.

use tofu_oci_types::{RepositoryRef, Secret};

use super::keys::specificity;
use super::{ConfigFault, FaultEffect, Prediction};
use crate::file::AuthEntry;
use crate::key::shown;
use crate::opentofu_file::{FileHelper, OpenTofuFile, Pair};
use crate::{Block, BlockStyle, CredentialOrigin, CredentialPolicy, FilePlace, FileState, FoundFile, SearchScope};

/// What `OpenTofu` would choose for a repository.
///
/// `policy` holds the sound blocks alone, the default helper where it is sound, and the files that are searched then,
/// of which those that `OpenTofu` does not look at are passed over. `config` tells what is wrong beside.
///
/// Spec: `OpenTofu` 1.12, cliconfig and ociauthconfig; measured on 1.10.10, 1.12.6 and 1.13.
pub fn predict(policy: &CredentialPolicy, config: &[ConfigFault], repository: &RepositoryRef) -> Prediction {
    if let Some(fault) = find(config, &FaultEffect::ConfigDropped) {
        return Prediction::Refused {
            code: "config-dropped",
            because: format!(
                "{}: after a syntax error the whole CLI configuration counts for nothing, mirrors too",
                fault.place
            ),
        };
    }
    if let Some(fault) = find(config, &FaultEffect::Crash) {
        return Prediction::Crash { because: format!("{}: a second oci_default_credentials block", fault.place) };
    }
    let mut search = PredictedLookup { repository, best: 0, source: PredictedSource::None, errors: Vec::new() };
    policy.blocks().iter().for_each(|block| search.block(block));
    for fault in config {
        if let FaultEffect::BlockHelperKept { label, name } = &fault.effect {
            search.block_helper(label, name, &fault.place);
        }
    }
    search.default_helper(policy, config);
    let off = match files(policy, config) {
        AmbientFiles::Wrong(because) => return Prediction::Refused { code: "config-file-error", because },
        AmbientFiles::Off(because) => Some(because),
        AmbientFiles::Good(files) => {
            for (name, reading) in files {
                search.file(name, reading);
            }
            None
        }
    };
    search.finish(off, policy)
}

fn find<'a>(config: &'a [ConfigFault], effect: &FaultEffect) -> Option<&'a ConfigFault> {
    config.iter().find(|fault| fault.effect == *effect)
}

/// The files that count.
enum AmbientFiles<'a> {
    Good(Vec<(&'a str, &'a OpenTofuFile)>),
    /// One ambient file is broken, so that none counts.
    Off(String),
    /// One of `docker_style_config_files` is broken or missing.
    Wrong(String),
}

fn files<'a>(policy: &'a CredentialPolicy, config: &[ConfigFault]) -> AmbientFiles<'a> {
    let search = match policy.search() {
        _ if find(config, &FaultEffect::DiscoveryOff).is_some() => SearchScope::Off,
        SearchScope::Listed if find(config, &FaultEffect::DefaultsInstead).is_some() => SearchScope::Ambient,
        search => search,
    };
    let mut good = Vec::new();
    if search == SearchScope::Off {
        return AmbientFiles::Good(good);
    }
    for file in policy.files().iter().filter(|file| search == SearchScope::Listed || file.known_to_opentofu) {
        match broken(file) {
            Some(problem) if search == SearchScope::Listed => return AmbientFiles::Wrong(problem),
            Some(problem) if !matches!(file.state, FileState::Missing) => {
                return AmbientFiles::Off(format!("{problem}, so no ambient file is read"));
            }
            _ => {}
        }
        if let FileState::Read(read) = &file.state {
            good.push((file.name.as_str(), &read.as_opentofu));
        }
    }
    AmbientFiles::Good(good)
}

/// What is wrong with a file, its name and line included.
fn broken(file: &FoundFile) -> Option<String> {
    let name = &file.name;
    match &file.state {
        FileState::Missing => Some(format!("{name}: there is no such file")),
        FileState::Unreadable { reason } => Some(format!("{name}: it cannot be read: {reason}")),
        // What is in it is not known.
        FileState::TooLarge { .. } => None,
        FileState::Malformed(error) => Some(match error.line() {
            Some(line) => format!("{name}:{line}: {}", error.problem()),
            None => format!("{name}: {}", error.problem()),
        }),
        FileState::Read(read) => read.as_opentofu.off().map(|off| format!("{name}:{}: {}", off.line, off.problem)),
    }
}

/// The best source so far.
enum PredictedSource {
    None,
    Basic { username: String, password: Secret, origin: CredentialOrigin },
    Token { access: Secret, origin: CredentialOrigin },
    Helper { name: String, origin: CredentialOrigin },
    Random { keys: Vec<String> },
}

struct PredictedLookup<'a> {
    repository: &'a RepositoryRef,
    /// The specificity of the best source; 0 without a source.
    best: usize,
    source: PredictedSource,
    /// Code and text of what stands in the way once a source is found, whichever it is.
    errors: Vec<(&'static str, String)>,
}

impl PredictedLookup<'_> {
    /// Takes a source that fits more closely than all before.
    fn offer(&mut self, specificity: usize, source: impl FnOnce() -> PredictedSource) {
        if specificity > self.best {
            self.best = specificity;
            self.source = source();
        }
    }

    fn block(&mut self, block: &Block) {
        let Some(specificity) = specificity(&block.label, self.repository) else { return };
        let origin = || CredentialOrigin::Block { label: shown(&block.label), place: block.place.clone() };
        match &block.style {
            BlockStyle::Basic { username, password } => self.offer(specificity, || PredictedSource::Basic {
                username: username.clone(),
                password: password.clone(),
                origin: origin(),
            }),
            BlockStyle::Token { access } => {
                self.offer(specificity, || PredictedSource::Token { access: access.clone(), origin: origin() });
            }
            BlockStyle::Helper(name) => {
                self.offer(specificity, || PredictedSource::Helper {
                    name: name.as_str().to_owned(),
                    origin: origin(),
                });
            }
            BlockStyle::Undecided { argument } => self.errors.push((
                "block-style-undecided",
                format!("{}: oci_credentials \"{}\" has an empty {argument}", block.place, shown(&block.label)),
            )),
        }
    }

    fn block_helper(&mut self, label: &str, name: &str, place: &FilePlace) {
        if let Some(specificity) = specificity(label, self.repository) {
            let origin = CredentialOrigin::Block { label: shown(label), place: place.clone() };
            self.offer(specificity, || PredictedSource::Helper { name: name.to_owned(), origin });
        }
    }

    fn default_helper(&mut self, policy: &CredentialPolicy, config: &[ConfigFault]) {
        if find(config, &FaultEffect::DefaultsInstead).is_some() {
            return;
        }
        let kept = config.iter().find_map(|fault| match &fault.effect {
            FaultEffect::DefaultHelperKept { name } => Some((name.as_str(), &fault.place)),
            _ => None,
        });
        let named = policy.default_helper().map(|default| (default.helper.as_str(), &default.place));
        if let Some((name, place)) = kept.or(named).filter(|(name, _)| !name.is_empty()) {
            let origin = CredentialOrigin::DefaultHelper { name: shown(name), place: place.clone() };
            self.offer(1, || PredictedSource::Helper { name: name.to_owned(), origin });
        }
    }

    fn file(&mut self, file: &str, reading: &OpenTofuFile) {
        let place = |line| FilePlace { file: file.to_owned(), line: Some(line) };
        let mut pairs = Vec::new();
        for (key, auth) in &reading.auths {
            let Some(specificity) = specificity(key, self.repository) else { continue };
            match &auth.pair {
                Pair::Absent => {}
                Pair::WithoutColon => self.errors.push((
                    "auth-without-colon",
                    format!("{}: the `auth` of {} has no colon", place(auth.line), shown(key)),
                )),
                Pair::Basic { username, password } => pairs.push((specificity, key, auth.line, username, password)),
            }
        }
        // Go walks through the entries in an order of its own, another one each time; the first of the closest wins.
        let closest = pairs.iter().map(|(specificity, ..)| *specificity).max().unwrap_or_default();
        pairs.retain(|(specificity, ..)| *specificity == closest);
        if let Some((_, key, line, username, password)) = pairs.first() {
            let tied = pairs.iter().any(|(.., other, secret)| (other, secret) != (username, password));
            self.offer(closest, || {
                if tied {
                    let mut keys: Vec<String> = pairs.iter().map(|(_, key, ..)| shown(key)).collect();
                    keys.sort();
                    return PredictedSource::Random { keys };
                }
                let origin = CredentialOrigin::Auth { key: shown(key), place: place(*line) };
                PredictedSource::Basic { username: (*username).clone(), password: (*password).clone(), origin }
            });
        }
        let registry = self.repository.registry();
        if let Some(FileHelper { line, name }) = reading.helpers.get(registry).filter(|helper| !helper.name.is_empty())
        {
            let origin = CredentialOrigin::CredHelper { key: shown(registry), name: shown(name), place: place(*line) };
            self.offer(2, || PredictedSource::Helper { name: name.clone(), origin });
        }
        if let Some(FileHelper { line, name }) = reading.store.as_ref().filter(|store| !store.name.is_empty()) {
            let origin = CredentialOrigin::CredsStore { name: shown(name), place: place(*line) };
            self.offer(1, || PredictedSource::Helper { name: name.clone(), origin });
        }
    }

    fn finish(self, off: Option<String>, policy: &CredentialPolicy) -> Prediction {
        let docker_io = (self.repository.registry() == "docker.io").then(|| DOCKER_IO.to_owned());
        let errors = self.errors.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ");
        if self.best == 0 {
            let passed_over = (!errors.is_empty()).then(|| format!("{errors}, and is passed over without a word"));
            let because = docker_io.or(off).or(passed_over).or_else(|| not_looked_at(policy, self.repository));
            return Prediction::Anonymous { because };
        }
        if let Some((code, _)) = self.errors.first() {
            return Prediction::Refused { code, because: errors };
        }
        if docker_io.is_some() {
            return Prediction::Anonymous { because: docker_io };
        }
        match self.source {
            PredictedSource::None => Prediction::Anonymous { because: None },
            PredictedSource::Basic { username, password, origin } if username.is_empty() && password.is_empty() => {
                Prediction::Anonymous { because: Some(format!("{origin} holds neither name nor password")) }
            }
            PredictedSource::Basic { username, password, origin } => Prediction::Basic { username, password, origin },
            PredictedSource::Token { access, origin } => Prediction::Token { access, origin },
            PredictedSource::Helper { name, origin } => Prediction::Ask {
                program: program(&name),
                server: format!("https://{}", self.repository.registry()),
                origin,
            },
            PredictedSource::Random { keys } => Prediction::Random { keys },
        }
    }
}

/// What is run: a name with a slash becomes a path from the working directory.
fn program(name: &str) -> String {
    let path = if name.contains('/') { "./" } else { "" };
    format!("{path}docker-credential-{name}").chars().filter(|character| !character.is_control()).collect()
}

const DOCKER_IO: &str = "no credential is ever sent for docker.io/...: the registry that is asked, registry-1.docker.io, \
                         has another name";

/// What has an answer and is passed over: a file that `OpenTofu` does not search, and an `identitytoken`.
fn not_looked_at(policy: &CredentialPolicy, repository: &RepositoryRef) -> Option<String> {
    policy.files().iter().find_map(|file| {
        let FileState::Read(read) = &file.state else { return None };
        if policy.search() == SearchScope::Ambient && !file.known_to_opentofu {
            let mut search = PredictedLookup { repository, best: 0, source: PredictedSource::None, errors: Vec::new() };
            search.file(&file.name, &read.as_opentofu);
            return (search.best > 0).then(|| format!("{} ({}) is not looked at", file.name, file.because));
        }
        let holds = |entry: &&AuthEntry| entry.identity.is_some() && specificity(&entry.key, repository).is_some();
        let entry = read.auths.iter().find(holds)?;
        let (name, line, key) = (&file.name, entry.line, shown(&entry.key));
        Some(format!("{name}:{line}: the `identitytoken` of {key} is not looked at"))
    })
}
