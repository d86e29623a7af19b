//! What a case's word for a fault is in the types of the sources.

use tofu_oci_source::{Failure, SourceError};
use tofu_oci_store::NetworkFault;

/// The error of a server that fails so when it is asked at this stage.
pub(super) fn failed(place: &str, stage: &str, word: &str) -> SourceError {
    let said = || format!("{stage}: {word}");
    let network = |fault| Failure::Network { fault, problem: said() };
    let failure = match word {
        "dns" => network(NetworkFault::Dns),
        "tls" => network(NetworkFault::Tls),
        "refused" => network(NetworkFault::Refused),
        "timeout" => network(NetworkFault::TimedOut),
        "reset" | "cut" => network(NetworkFault::Lost),
        "html" => Failure::BadContentType(said()),
        "broken-json" | "bad-version" | "empty" => Failure::BadBody(said()),
        "no-service" => Failure::NoProviderService(said()),
        status => match status.split('-').find_map(|part| part.parse::<u16>().ok()) {
            Some(404) if stage == "discovery" => Failure::NoProviderService(said()),
            Some(404) if stage == "archive" => Failure::PackageMissing(said()),
            // Both protocols take a refusal for a question of who asks.
            Some(401 | 403) => Failure::Unauthorized(said()),
            Some(429) => Failure::TooManyRequests(said()),
            Some(500..) => Failure::ServerError(said()),
            Some(_) => Failure::BadStatus(said()),
            None => panic!("a fault that nobody knows: {word}"),
        },
    };
    SourceError::Failed { place: place.to_owned(), failure }
}

/// The error of a package whose published checksums or signature are not its own.
pub(super) fn not_authentic(place: &str, what: &str) -> SourceError {
    SourceError::Failed { place: place.to_owned(), failure: Failure::NotAuthentic(what.to_owned()) }
}

/// The error of a mirror's folder that is not there.
pub(super) fn no_folder(place: &str) -> SourceError {
    SourceError::Failed { place: place.to_owned(), failure: Failure::FolderMissing(place.to_owned()) }
}
