//! What to do where a login is refused, or where there is none: it depends on the source that counts, since a login
//! that is kept elsewhere would have no effect.

use tofu_oci_credentials::docker_file::server_key;
use tofu_oci_credentials::{Choice, CredentialLookup, FileState, HelperName, Origin, Place, Policy, Search, Verdict};

use super::unread::Unread;

/// So many entries that were perhaps meant are told; `auth explain` shows all.
const MOST_NEAR: usize = 3;

/// All that the advice depends on.
pub(crate) struct Advice<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) account: &'a CredentialLookup,
    /// What says that the usual files are not read.
    pub(crate) closed: Option<&'a Place>,
    /// Files that people expect to be read.
    pub(crate) unread: &'a [Unread],
    /// Whose login the chosen source gave, where that is known.
    pub(crate) username: Option<&'a str>,
}

impl Advice<'_> {
    /// What to do where the login that was shown is refused.
    pub(crate) fn for_refused_login(&self) -> Vec<String> {
        match self.origin() {
            Some(origin) => vec![self.change(origin, "log in again")],
            None => self.for_want_of_credentials(),
        }
    }

    /// What to do where there are no credentials: entries that were perhaps meant come first.
    pub(crate) fn for_want_of_credentials(&self) -> Vec<String> {
        let mut hints = self.near();
        hints.extend(self.broken_files());
        hints.extend(self.unread.iter().map(|unread| format!("{}: {}", unread.name, unread.told())));
        if let Some(origin) = self.origin() {
            hints.push(self.change(origin, "log in"));
            return hints;
        }
        hints.push(match (self.policy.search(), self.closed) {
            (Search::Off, Some(place)) => format!(
                "discover_ambient_credentials = false in {place} has no other file read, so that a login there has no \
                 effect: write a block oci_credentials \"{}\", or take that line out",
                self.account.repository.registry()
            ),
            (Search::Listed, Some(place)) => format!(
                "docker_style_config_files in {place} lists all files that are read, so that a login elsewhere has no \
                 effect: {}",
                match self.policy.files().first() {
                    Some(file) => format!("log in with {}", self.command(Some(&file.name))),
                    None => "add a file to it".to_owned(),
                }
            ),
            _ => format!("log in with {}", self.command(None)),
        });
        hints
    }

    /// The source that counts.
    fn origin(&self) -> Option<&Origin> {
        match &self.account.choice {
            Choice::Credential { origin, .. } | Choice::Ask { origin, .. } => Some(origin),
            Choice::Anonymous | Choice::Refused(_) => None,
        }
    }

    /// How the login of a source is changed.
    fn change(&self, origin: &Origin, verb: &str) -> String {
        let place = origin.place();
        let program = |name: &str| HelperName::parse(name).map_or_else(|_| name.to_owned(), |name| name.program());
        let server = server_key(self.account.repository.registry());
        let login = || format!("{verb} with {}", self.command(self.other_file(&place.file)));
        match (origin, &self.account.choice) {
            (Origin::Block { .. }, Choice::Ask { call, .. }) => format!(
                "give {} another login for {}, or change the block in {place}: `tofu-oci login` does neither",
                call.helper.program(),
                call.servers.join(" or ")
            ),
            (Origin::Block { .. }, _) => {
                format!("change the block in {place}: it counts more than what `tofu-oci login` writes")
            }
            (Origin::Auth { key, .. }, _) if *key == server => login(),
            (Origin::Auth { key, .. }, _) if key.contains('/') && !key.contains("://") => format!(
                "change or remove {origin}: `tofu-oci login` writes the registry's own entry, and this one is more specific"
            ),
            (Origin::Auth { .. }, _) => format!("remove {origin}, which counts more than a new one, and {}", login()),
            (Origin::CredHelper { key, name, .. }, _) if *key != server => format!(
                "give {} another login, or change {origin}: it is more specific than what `tofu-oci login` writes",
                program(name)
            ),
            (Origin::CredHelper { name, .. } | Origin::CredsStore { name, .. }, _) => {
                format!("{}: {} keeps it", login(), program(name))
            }
            (Origin::DefaultHelper { name, .. }, _) => {
                format!("give {} another login for https://{server}, or {}", program(name), login())
            }
        }
    }

    /// The file of `--auth-file`, where it is not the one that `tofu-oci login` writes to by itself.
    fn other_file<'b>(&self, name: &'b str) -> Option<&'b str> {
        let docker = |variable: &str| self.policy.files().iter().find(|file| file.because == variable);
        let own = docker("$DOCKER_CONFIG").or_else(|| docker("~/.docker"));
        // A file of the old form counts less than docker's.
        let is_own = own.is_none_or(|own| own.name == name) || name.ends_with(".dockercfg");
        (!is_own || self.policy.search() == Search::Listed).then_some(name)
    }

    fn command(&self, file: Option<&str>) -> String {
        let safe = |name: &&str| name.chars().all(|one| one.is_ascii_alphanumeric() || "._-@+".contains(one));
        let user = self.username.filter(safe).filter(|name| !name.is_empty()).unwrap_or("USER");
        let file = file.map(|file| format!(" --auth-file {file}")).unwrap_or_default();
        format!("`tofu-oci login {} --username {user}{file}`", self.account.repository.registry())
    }

    /// Entries that were perhaps meant.
    fn near(&self) -> Vec<String> {
        let hint = |origin: &Origin, verdict: &Verdict| match verdict {
            Verdict::NoMatch(Some(near)) => Some(format!("{origin} does not serve: {near}")),
            Verdict::LeftOut(problem) => Some(format!("{origin} is left out: {problem}")),
            _ => None,
        };
        let mut hints: Vec<String> =
            self.account.candidates.iter().filter_map(|one| hint(&one.origin, &one.verdict)).collect();
        let more = hints.len().saturating_sub(MOST_NEAR);
        hints.truncate(MOST_NEAR);
        if let (Some(last), 1..) = (hints.last_mut(), more) {
            last.push_str(&format!("; and {more} more"));
        }
        hints
    }

    /// Files that may hold the login, and are not understood.
    fn broken_files(&self) -> Vec<String> {
        let hint = |file: &tofu_oci_credentials::FoundFile| match &file.state {
            FileState::Malformed(error) => {
                let line = error.line().map(|line| format!(":{line}")).unwrap_or_default();
                Some(format!("mend {}{line}: {}; the login may be there", file.name, error.problem()))
            }
            FileState::Unreadable { reason } => {
                Some(format!("mend {}: it cannot be read, {reason}; the login may be there", file.name))
            }
            FileState::TooLarge { limit } => Some(format!(
                "make {} smaller: more than {} MiB are not read; the login may be there",
                file.name,
                limit >> 20
            )),
            FileState::Missing | FileState::Read(_) => None,
        };
        self.policy.files().iter().filter_map(hint).collect()
    }
}
