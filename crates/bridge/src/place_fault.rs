//! What a failed place is said to have: the operator reads everything, clients read nothing about the files of this
//! machine and the repositories that addresses share.

use std::error::Error;
use std::io;
use std::sync::Arc;

use tofu_oci_archive::ArchiveError;
use tofu_oci_disk::LockError;
use tofu_oci_fetch::{FetchError, ModuleFetchError};
use tofu_oci_mirror::{MirrorError, ModuleMirrorError};
use tofu_oci_source::{Failure, LocationFault, ModuleError, SourceError};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::{Place, Version, printable};

use crate::{Refusal, ServedAddress};

/// The most characters of a reason.
const LONGEST: usize = 500;

/// What clients read of an internal error.
const OWN_PLACES: &str = "the server cannot use one of its places, and its access log says which";

/// What clients read if the answer may come from another host than the registry. `serve` has not verified that answer,
/// and perhaps only the server can reach that host. All such answers give this one sentence, so clients do not learn
/// which one came.
const ELSEWHERE: &str = "its repository, or a host that it names, cannot be reached or gave something else, and the access log of the \
                         server says what";

/// Why a place failed.
pub(crate) trait PlaceFault: Error {
    /// The stable name of the error.
    fn fault_code(&self) -> &'static str;

    /// What clients read instead of its text, which may name a file or folder of this machine, another address or the
    /// repository of both, or what an unverified host answered.
    fn instead(&self) -> Option<&'static str>;
}

/// The refusal of a client who asked for something whose place failed.
pub(crate) fn upstream(address: impl Into<ServedAddress>, error: &(impl PlaceFault + 'static)) -> Refusal {
    let text = one_line(error);
    let (reason, detail) = match error.instead() {
        Some(sentence) => (sentence.to_owned(), Some(text)),
        None => (text, None),
    };
    Refusal::Upstream { address: address.into(), code: error.fault_code(), reason, detail }
}

/// Whether the disk, or the part of it that the user may fill, has no room.
pub(crate) fn has_no_room(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let shared = || error.downcast_ref::<Arc<io::Error>>().map(|error| &**error);
        let kind = error.downcast_ref::<io::Error>().or_else(shared).map(io::Error::kind);
        if matches!(kind, Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)) {
            return true;
        }
        next = error.source();
    }
    false
}

/// The refusal of a client that has waited for a place that sends nothing.
pub(crate) fn stalled(address: impl Into<ServedAddress>) -> Refusal {
    let reason = "its place sends nothing".to_owned();
    Refusal::Upstream { address: address.into(), code: "timeout", reason, detail: None }
}

/// The refusal of a package that clients would unpack, although it has a repository of version control under this name.
pub(crate) fn embedded_repository(address: impl Into<ServedAddress>, version: &Version, name: String) -> Refusal {
    let reason = line(&ArchiveError::EmbeddedRepository { name }.to_string());
    Refusal::Untrusted { address: address.into(), version: version.clone(), reason }
}

/// The error with its causes. The texts of places hold no secrets: `http` and `remote` cut them out.
pub(crate) fn one_line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    line(&text)
}

/// A text that is safe in a line, cut to a bearable length.
pub(crate) fn line(text: &str) -> String {
    printable(text).chars().take(LONGEST).collect()
}

/// The same for an error of which only the place may be internal.
fn of_place(place: &Place) -> Option<&'static str> {
    is_on_disk(place).then_some(OWN_PLACES)
}

fn is_on_disk(place: &Place) -> bool {
    match place {
        Place::Layout(_) | Place::Folder(_) | Place::PluginCache(_) | Place::Bundle(_) => true,
        Place::Registry(_) | Place::Host(_) | Place::NetworkMirror(_) => false,
        Place::Method(text) => ["oci:", "static:", "bundle:"].iter().any(|kind| text.contains(kind)),
        Place::Methods(places) => places.iter().any(is_on_disk),
    }
}

impl PlaceFault for MirrorError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            Self::Source(error) => error.instead(),
            Self::Fetch(error) => error.instead(),
            Self::Store(error) => error.instead(),
            // They name another address, or the repository of both.
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for ModuleFetchError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            // The archive may be on any host that the registry names.
            Self::Module(ModuleError::Failed { .. }) | Self::Archive { .. } => Some(ELSEWHERE),
            Self::Module(error) => error.instead(),
            Self::Untrusted { place, .. } => of_place(place),
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for ModuleMirrorError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            Self::Module(error) => error.instead(),
            Self::Fetch(error) => error.instead(),
            Self::Store(error) => error.instead(),
            Self::LeavesFolder { .. } => None,
            // They name another module, or the repository of both.
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for ModuleError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            Self::Store(error) => error.instead(),
            Self::UnknownModule { place, .. }
            | Self::VersionMissing { place, .. }
            | Self::Manifest { place, .. }
            | Self::Failed { place, .. } => of_place(place),
            Self::Location { fault: LocationFault::PrivateHost { .. } | LocationFault::Invalid { .. }, .. }
            | Self::Git { .. } => Some(ELSEWHERE),
            Self::Location { .. } => None,
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for FetchError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            Self::Source(error) => error.instead(),
            // It may name what is in an archive whose digest is not known yet.
            Self::Package { place, source, .. } => of_place(place).or_else(|| source.instead()).or(Some(ELSEWHERE)),
            Self::LayerType { .. } => None,
            Self::NotTheOfferedPackage { place, .. }
            | Self::NotTheLockedPackage { place, .. }
            | Self::Untrusted { place, .. } => of_place(place),
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for SourceError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            Self::NotOffered { place, .. } | Self::Unusable { place, .. } | Self::Layout { place, .. } => {
                of_place(place)
            }
            Self::Store(error) => error.instead(),
            Self::Failed { failure: Failure::Token(_) | Failure::NoRepository(_), .. } => Some(OWN_PLACES),
            Self::Failed { place, .. } => of_place(place),
            // It names the file that has the method.
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for StoreError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        match self {
            // The words of a token server.
            Self::Denied { place, fault: AccessFault::TokenServerStatus(_), .. }
            | Self::Unauthorized { place, fault: AccessFault::TokenServerStatus(_), .. }
            | Self::NoToken { place, .. }
            // The digest of what was sent would confirm a guess.
            | Self::DigestMismatch { place, .. }
            | Self::SizeMismatch { place, .. }
            | Self::Malformed { place, .. }
            | Self::Rejected { place, crossed: true, .. }
            | Self::Unreachable { place, .. }
            | Self::Forbidden { place, .. } => of_place(place).or(Some(ELSEWHERE)),
            Self::NotFound { place, .. }
            | Self::UnknownRepository { place }
            | Self::TooLarge { place, .. }
            | Self::TooManyManifests { place, .. }
            | Self::TooDeep { place, .. }
            | Self::Denied { place, .. }
            | Self::Unauthorized { place, .. }
            | Self::Rejected { place, .. }
            | Self::RateLimited { place, .. } => of_place(place),
            Self::UnsupportedDigest { .. } => None,
            // Among them those of credentials, which name the files of logins.
            _ => Some(OWN_PLACES),
        }
    }
}

impl PlaceFault for ArchiveError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        matches!(self, Self::Io(_) | Self::Changed { .. }).then_some(OWN_PLACES)
    }
}

impl PlaceFault for LockError {
    fn fault_code(&self) -> &'static str {
        self.code()
    }

    fn instead(&self) -> Option<&'static str> {
        Some(OWN_PLACES)
    }
}

impl PlaceFault for io::Error {
    fn fault_code(&self) -> &'static str {
        "io"
    }

    fn instead(&self) -> Option<&'static str> {
        Some(OWN_PLACES)
    }
}

#[cfg(test)]
mod tests {
    use tofu_oci_disk::FileError;
    use tofu_oci_types::ProviderAddr;

    use super::*;

    #[track_caller]
    fn check(error: &(impl PlaceFault + 'static), client: &str, operator: &str) {
        let refusal = upstream("example.com/acme/zap".parse::<ProviderAddr>().unwrap(), error);
        assert_eq!((refusal.to_string().as_str(), refusal.for_operator().as_str()), (client, operator));
    }

    #[test]
    fn a_full_disk_told_clients_the_folders_of_the_server() {
        let hidden = "example.com/acme/zap cannot be read: the server cannot use one of its places, and its access log says which";
        let full = || io::Error::other("No space left on device");
        let written = "example.com/acme/zap cannot be read: cannot write /srv/zips/a.zip: No space left on device";
        check(&StoreError::io("write", "/srv/zips/a.zip", full()), hidden, written);
        let error = SourceError::from(StoreError::io("write", "/srv/zips/a.zip", full()));
        check(&MirrorError::from(error), hidden, written);
        let place = Place::Layout("/srv/oci".into());
        let damaged = StoreError::UnknownRepository { place };
        check(&damaged, hidden, "example.com/acme/zap cannot be read: there is no repository oci:/srv/oci");
        let written = "example.com/acme/zap cannot be read: cannot create /srv/zips: No space left on device";
        check(&FetchError::from(FileError::new("create", "/srv/zips", full())), hidden, written);
    }

    #[test]
    fn an_error_told_clients_the_other_provider_and_the_repository_of_both() {
        let hidden = "example.com/acme/zap cannot be read: the server cannot use one of its places, and its access log says which";
        let place: Place = "registry.example.com/m/acme-corp-zap".parse().unwrap();
        let [first, second] = ["example.com/acme-corp/zap", "example.com/acme/corp-zap"];
        let (first, second) = (Box::new(first.parse().unwrap()), Box::new(second.parse().unwrap()));
        let shared = MirrorError::SharedRepository { place, first, second };
        let written = "example.com/acme/zap cannot be read: example.com/acme-corp/zap and example.com/acme/corp-zap would both go to registry.example.com/m/acme-corp-zap";
        check(&shared, hidden, written);
    }

    #[test]
    fn what_a_registry_answers_is_for_clients_without_its_repository() {
        let place: Place = "registry.example.com/m/zap".parse().unwrap();
        let error = StoreError::UnknownRepository { place: place.clone() };
        let refusal = upstream("example.com/acme/zap".parse::<ProviderAddr>().unwrap(), &error);
        let refusal = refusal.without(place.repository());
        assert_eq!(refusal.to_string(), "example.com/acme/zap cannot be read: there is no repository (hidden)");
        let written = "example.com/acme/zap cannot be read: there is no repository registry.example.com/m/zap";
        assert_eq!(refusal.for_operator(), written);
    }

    #[test]
    fn what_the_host_of_an_address_answers_is_for_clients_too() {
        let place = Place::Host("registry.example.com".to_owned());
        let failure = Failure::Denied("registry.example.com answered 403".to_owned());
        let error = SourceError::Failed { place, failure };
        let text = format!("example.com/acme/zap cannot be read: {}", one_line(&error));
        check(&error, &text, &text);
    }
}
