//! What a network mirror is asked.

use std::sync::Arc;
use std::time::Duration;

use tofu_oci_http::shown_url;
use tofu_oci_http::{
    HostTokens, HttpAnswer, Protection, WebClient, WebError, WebFault, WebRequest, host_of, same_origin,
};
use tofu_oci_layout::MAX_DOCUMENT;
use tofu_oci_types::{Hostname, Place, ProviderAddr, Secret};
use url::{ParseError, Url};

use crate::discovery::check_media_type;
use crate::{Failure, NotOffered, SourceError};

/// How a network mirror is asked.
#[derive(Clone)]
pub struct MirrorAccess {
    /// The connections for documents.
    pub web: WebClient,
    /// The connections for archives.
    pub downloads: WebClient,
    /// The tokens of hosts. The mirror's own host gets its token with the requests for documents.
    pub tokens: Arc<dyn HostTokens>,
    /// How long each try of a document may take; `--timeout` scales it.
    pub timeout: Duration,
    /// Which checksums an archive may match.
    pub checksums: MirrorChecksums,
}

/// Which of the checksums in a `VERSION.json` an archive may match: one match is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorChecksums {
    /// Those of its platform.
    OfPlatform,
    /// Those of any platform: `trust_all_hashes = true`.
    OfAnyPlatform,
}

/// One network mirror.
pub(super) struct Mirror {
    pub(super) access: MirrorAccess,
    pub(super) place: Place,
    /// Its address. The user info is sent as Basic to this origin.
    base: Url,
}

impl Mirror {
    pub(super) fn new(url: &str, access: MirrorAccess) -> Result<Self, Failure> {
        let place = Place::NetworkMirror(url.to_owned());
        let failed = |problem: &str| Failure::InvalidMirrorAddress(format!("its address is invalid: {problem}"));
        let base = Url::parse(url).map_err(|error| failed(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(failed("it must begin with https://"));
        }
        Ok(Self { access, place, base })
    }

    /// A document of a provider; `None` for 404.
    ///
    /// The path replaces everything after the last `/` of the mirror's address, query included.
    pub(super) async fn document(&self, address: &ProviderAddr, file: &str) -> Result<Option<HttpAnswer>, SourceError> {
        let host = address.hostname();
        if host.as_str().contains(':') {
            let problem = format!("the protocol of network mirrors has no address for providers of {}", host.display());
            return Err(self.failed(Failure::HostWithPort(problem)));
        }
        let path = format!("{host}/{}/{}/{file}", address.namespace(), address.provider_type());
        let url = self.base.join(&path).map_err(|error| {
            self.failed(Failure::InvalidMirrorAddress(format!("its address cannot be followed by {path}: {error}")))
        })?;
        let token = self.token().await?;
        let (accept, limit) = ("application/json", MAX_DOCUMENT);
        let request = WebRequest { url, accept, token: token.as_ref(), timeout: self.access.timeout, limit };
        let is_document = |answer: &HttpAnswer| answer.status() == 200 && check_media_type(answer, "").is_ok();
        let answer = self.access.web.get(&request, is_document).await;
        let answer = answer.map_err(|error| self.failed(of_mirror(Failure::from(&error))))?;
        let shown = shown_url(answer.url());
        match answer.status() {
            200 => check_media_type(&answer, &shown).map_err(|failure| self.failed(failure))?,
            404 => return Ok(None),
            status => return Err(self.failed(of_mirror(Failure::of_status(status, &shown)))),
        }
        Ok(Some(answer))
    }

    /// Plain HTTP would show the token to the whole way.
    async fn token(&self) -> Result<Option<Secret>, SourceError> {
        match Hostname::with_punycode(&host_of(&self.base)) {
            Ok(host) if self.base.scheme() == "https" => {
                self.access.tokens.token(&host).await.map_err(|error| self.failed(error.into()))
            }
            _ => Ok(None),
        }
    }

    /// The address of an archive that the document at `from` names. A relative one on the mirror itself keeps the mirror's
    /// user info; the document leads nowhere where a redirect would not.
    pub(super) fn archive(&self, from: &Url, text: &str, protection: Protection) -> Result<Url, Failure> {
        let mut url = self.access.downloads.named_by(from, text, protection).map_err(|error| not_followed(&error))?;
        let is_relative = Url::parse(text) == Err(ParseError::RelativeUrlWithoutBase);
        if is_relative && same_origin(&url, &self.base) {
            // An address with a host takes any user info.
            let _ = url.set_username(self.base.username()).and_then(|()| url.set_password(self.base.password()));
        }
        Ok(url)
    }

    /// An error of this mirror.
    pub(super) fn failed(&self, failure: Failure) -> SourceError {
        SourceError::Failed { place: self.place.clone(), failure }
    }

    pub(super) fn not_offered(&self, address: &ProviderAddr, what: NotOffered) -> SourceError {
        SourceError::NotOffered { address: address.clone(), place: self.place.clone(), what }
    }
}

/// Why the address of an archive is not used.
fn not_followed(error: &WebError) -> Failure {
    match &error.fault {
        WebFault::Redirect(fault) => {
            Failure::BadRedirect(format!("{}: the address of the archive is not used: {fault}", error.url))
        }
        WebFault::PrivateHost(host) => {
            let problem = format!("{} leads to {host}, which is on this machine or in a private network", error.url);
            Failure::PrivateHost { host: host.clone(), problem }
        }
        _ => Failure::from(error),
    }
}

/// `OpenTofu` takes a mirror's 403 as 401.
///
/// Spec: `opentofu-behaviour.md` §8.6.
fn of_mirror(failure: Failure) -> Failure {
    match failure {
        Failure::Denied(text) => Failure::Unauthorized(text),
        other => other,
    }
}
