//! With which status the bridge fails: why a client does not get what it asks for.

use std::fmt;

use http::{Response, StatusCode};
use thiserror::Error;
use tofu_oci_fault::Fault;
use tofu_oci_trust::{NoticeReason, NoticeWriter};
use tofu_oci_types::{Platform, ProviderAddr, RepositoryRef, Version, printable};

use crate::ServedAddress;

/// Why a question has no answer. It is cheap to clone: equal questions share it.
#[derive(Clone, Debug, PartialEq, Eq, Error, Fault)]
pub enum Refusal {
    /// the configuration of `serve` names no place for the provider
    #[error("{address} is not served here: no `include` of the configuration matches it, or an `exclude` does")]
    #[fault("not-served", todo = "add the provider to `include` of a place in `serve.toml`")]
    NotServed { address: ServedAddress },
    #[error("{address} was not found in the place that it is served from{}", because(*.reason))]
    #[fault(code = unknown(address))]
    UnknownAddress {
        address: ServedAddress,
        /// How the configuration takes part: a sealed mirror asks no upstream.
        reason: Option<&'static str>,
    },
    /// `serve` does not offer the version: it is unknown, withdrawn, held back or denied
    #[error("{address} {version} {absence}")]
    #[fault("version-not-found", todo = "choose a listed version; the text has the reason of a withdrawal")]
    UnknownVersion { address: ServedAddress, version: Version, absence: VersionAbsence },
    /// `serve` has the release without a package for the platform
    #[error("{address} {version} has no package for {platform}")]
    #[fault("platform-not-found", todo = "choose another platform, or ask the publisher for this one")]
    UnknownPlatform { address: ProviderAddr, version: Version, platform: Platform },
    /// the trust policy of `serve` refuses the release
    #[error("{address} {version} is not trusted: {reason}")]
    #[fault("untrusted", todo = "look at it with `tofu-oci verify`, or change the policy")]
    Untrusted { address: ServedAddress, version: Version, reason: String },
    /// Nothing signs the checksums of the release.
    #[error(
        "the checksums of {address} {version} have no signature of its publisher, and this server has no key to sign them: \
         its operator can make one with `tofu-oci serve --new-key FILE`, and name the file as `signing_key`"
    )]
    #[fault(code = "signing-key-missing")]
    NoSigningKey { address: ProviderAddr, version: Version },
    /// The place did not answer as long as a client waits.
    #[error("{address} cannot be read: {reason}")]
    #[fault(code = code)]
    Upstream {
        address: ServedAddress,
        code: &'static str,
        /// The last error as a client may read it: in one line, without secrets, and without paths and repositories of the
        /// server.
        reason: String,
        /// The same for the operator, with these; `None` if `reason` is all of it.
        detail: Option<String>,
    },
}

fn unknown(address: &ServedAddress) -> &'static str {
    match address {
        ServedAddress::Provider(_) => "provider-not-found",
        ServedAddress::Module(_) => "module-not-found",
    }
}

/// Why a version is not offered. `Display` is the verb of a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionAbsence {
    /// Its place does not have it, or the rules about what is fetched hold it back.
    NotThere,
    /// The repository of the module has no tag for it.
    NoTag,
    /// The same as [`VersionAbsence::NotThere`], and the upstream of the mirror is not asked.
    Sealed,
    /// What is there names another address. Clients read the same as for [`VersionAbsence::NotThere`]: the other
    /// address does not concern them.
    OtherAddress,
    /// It was withdrawn.
    Withdrawn(WithdrawnVersion),
}

impl fmt::Display for VersionAbsence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere | Self::OtherAddress => f.write_str(
                "is not offered: the place that it is served from does not have it, or the server's rules (`min_age`, \
                 `allow`, `deny`) hold it back",
            ),
            Self::NoTag => f.write_str("is not offered: the repository that it is served from has no tag for it"),
            Self::Sealed => {
                f.write_str("is not offered: the mirror does not have it, and is sealed, so its upstream is not asked")
            }
            Self::Withdrawn(withdrawn) => {
                f.write_str(&withdrawn.said())?;
                withdrawn.reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
            }
        }
    }
}

/// What is known of a version that was withdrawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WithdrawnVersion {
    /// Who withdrew it; `None` if no notice that was read says so.
    pub by: Option<NoticeWriter>,
    /// Why, printable.
    pub reason: Option<String>,
}

impl WithdrawnVersion {
    pub(crate) fn new(reason: Option<&NoticeReason>, by: Option<NoticeWriter>) -> Self {
        Self { by, reason: reason.map(|reason| printable(reason.as_str()).into_owned()) }
    }

    /// The verb of a sentence about the version, without the reason.
    pub(crate) fn said(&self) -> String {
        let by = self.by.map(|by| format!(" by {by}")).unwrap_or_default();
        format!("was withdrawn{by}")
    }
}

/// The text without the name of a repository. Longer names that contain it are other repositories.
fn hidden(text: &str, name: &str) -> String {
    let of_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let after = &found[name.len()..];
        let goes_on = after.starts_with(|next| of_name(next) || next == '/')
            || after.strip_prefix('.').is_some_and(|after| after.starts_with(of_name));
        shown.push_str(before);
        if goes_on || before.ends_with(|last| of_name(last) || last == '.') {
            shown.push_str(name);
        } else {
            // The sentence has the word already.
            shown.push_str(if before.ends_with("repository ") { "(hidden)" } else { "its repository" });
        }
        rest = after;
    }
    shown + rest
}

fn because(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

/// The code of a refusal, which goes with the response: the log and the metrics name it.
#[derive(Clone, Copy, Debug)]
pub struct RefusalCode(pub &'static str);

/// Why a client does not get what it asks for, which goes with the response: the log names it if the status is 5xx.
#[derive(Clone, Debug)]
pub struct FailureReason(pub String);

impl Refusal {
    /// What the operator reads: the paths and repositories of this server too.
    pub fn for_operator(&self) -> String {
        match self {
            Self::Upstream { address, detail: Some(detail), .. } => format!("{address} cannot be read: {detail}"),
            _ => self.to_string(),
        }
    }

    /// What a client is answered with.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotServed { .. }
            | Self::UnknownAddress { .. }
            | Self::UnknownVersion { .. }
            | Self::UnknownPlatform { .. } => StatusCode::NOT_FOUND,
            Self::Untrusted { .. } | Self::NoSigningKey { .. } => StatusCode::CONFLICT,
            Self::Upstream { .. } => StatusCode::BAD_GATEWAY,
        }
    }

    /// The same without the name of the repository, which clients need not know.
    pub(crate) fn without(self, repository: Option<&RepositoryRef>) -> Self {
        match (self, repository) {
            (Self::Upstream { address, code, reason, detail }, Some(repository)) => {
                let shown =
                    hidden(&reason, &repository.to_string()).replace(&format!("/v2/{}/", repository.name()), "/v2/…/");
                let detail = detail.or_else(|| (shown != reason).then_some(reason));
                Self::Upstream { address, code, reason: shown, detail }
            }
            (refusal, _) => refusal,
        }
    }

    /// Hands it to the log with the response.
    pub(crate) fn note_in<B>(&self, response: &mut Response<B>) {
        response.extensions_mut().insert(RefusalCode(self.code()));
        response.extensions_mut().insert(FailureReason(self.for_operator()));
    }
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(hidden(text, "a.test/x"), want);
    }

    #[test]
    fn what_clients_read_of_a_repository_was_no_sentence_and_garbled_others() {
        check("there is no repository a.test/x", "there is no repository (hidden)");
        check("cannot reach a.test/x: refused", "cannot reach its repository: refused");
        check("a.test/x has a.test/x:1.0.0.", "its repository has its repository:1.0.0.");
        check("oci://a.test/x. No", "oci://its repository. No");
        for other in
            ["a.test/x-other", "a.test/xy", "a.test/x/y", "a.test/x.y", "b.a.test/x", "ba.test/x", "a.test/x_y"]
        {
            check(other, other);
        }
    }
}
