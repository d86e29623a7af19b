//! The answer to a client that was admitted; what clients print if it fails.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use http::StatusCode;
use http::header::RETRY_AFTER;
use http::request::Parts;
use serde_json::Value;
use tofu_oci_types::{Platform, ProviderAddr, Version, zip_name};
use tokio::time::{Instant, timeout};

use super::answer;
use super::recent::{AskedMoment, Document, RecentDocuments};
use crate::paths::route::{ProviderRoute, RouteKind};
use crate::protocol::registry::FileLinks;
use crate::protocol::{network_mirror, registry};
use crate::{
    Admitted, Bridge, FailureReason, PackageZip, Refusal, RefusalCode, ReleaseSums, ServedAddress, ServedRelease,
};

/// How long a document may take. Clients wait 10 seconds.
pub(super) const PATIENCE: Duration = Duration::from_millis(9500);
/// When a document is sent with what is known by then.
const LATEST: Duration = Duration::from_millis(9300);

/// A request of a client that was admitted.
pub(super) struct RoutedRequest<'a> {
    pub(super) bridge: &'a Bridge,
    /// The path of the request below the base URL.
    pub(super) path: &'a str,
    pub(super) request: &'a Parts,
    pub(super) client: &'a Admitted,
    pub(super) recent: &'a RecentDocuments,
}

/// Why it has no answer.
pub(super) enum RouteFailure {
    Refusal(Refusal),
    /// The host of the address is not one that the bridge is the registry of.
    NotOwnHost,
    /// The place is slow, or packages of the release are still becoming zips.
    NotReady,
    /// An archive was asked for as JSON.
    ArchiveAsJson,
}

impl From<Refusal> for RouteFailure {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl RoutedRequest<'_> {
    pub(super) async fn answer(&self, route: &ProviderRoute) -> Result<Response, RouteFailure> {
        if route.is_of_registry() && self.bridge.settings.own_host(route.address.hostname()).is_none() {
            return Err(RouteFailure::NotOwnHost);
        }
        if let RouteKind::Archive(version, platform) = &route.kind {
            // Clients wait as long as it takes for the first byte of an archive.
            return self.archive(&route.address, version, platform).await;
        }
        let asked = AskedMoment::now(self.bridge);
        let document = timeout(PATIENCE, self.document(route)).await.unwrap_or(Err(RouteFailure::NotReady))?;
        if let Admitted::Anyone = self.client {
            self.recent.keep(self.path, &document, asked);
        }
        Ok(answer::file(document.content_type, document.text, self.bridge))
    }

    async fn archive(
        &self,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Response, RouteFailure> {
        if answer::wants_json_alone(&self.request.headers) {
            return Err(RouteFailure::ArchiveAsJson);
        }
        let release = self.bridge.catalog.release(address, version).await?;
        let zip = self.zip(&release, platform).await?;
        Ok(self.bridge.packages.answer(&self.request.method, &self.request.headers, &zip).await)
    }

    async fn document(&self, route: &ProviderRoute) -> Result<Document, RouteFailure> {
        let (bridge, address, begun) = (self.bridge, &route.address, Instant::now());
        let counted = route.kind.counted_as();
        let left = || LATEST.saturating_sub(begun.elapsed());
        let document = match &route.kind {
            RouteKind::MirrorVersions => network_mirror::versions(&*bridge.catalog.versions(address).await?),
            RouteKind::MirrorArchives(version) => {
                let release = bridge.catalog.release(address, version).await?;
                network_mirror::archives(bridge, &release, left(), |platform| self.reference(&release, platform)).await
            }
            RouteKind::Archive(..) => unreachable!("it is no document"),
            RouteKind::Versions => {
                let served = bridge.catalog.versions(address).await?;
                registry::versions(bridge, &served, left()).await
            }
            RouteKind::Download(version, platform) => {
                let release = bridge.catalog.release(address, version).await?;
                self.download(&release, platform).await?
            }
            RouteKind::Sums(version) => {
                let sums = self.sums(&*bridge.catalog.release(address, version).await?).await?;
                return Ok(Document {
                    content_type: "text/plain; charset=utf-8",
                    text: sums.text.clone(),
                    route: counted,
                });
            }
            RouteKind::SumsSignature(version) => {
                let sums = self.sums(&*bridge.catalog.release(address, version).await?).await?;
                return Ok(Document {
                    content_type: "application/octet-stream",
                    text: sums.signature.clone(),
                    route: counted,
                });
            }
        };
        Ok(Document { content_type: answer::JSON, text: document.to_string().into(), route: counted })
    }

    async fn zip(&self, release: &ServedRelease, platform: &Platform) -> Result<PackageZip, RouteFailure> {
        let package = release.packages.get(platform).ok_or_else(|| Refusal::UnknownPlatform {
            address: release.address.clone(),
            version: release.version.clone(),
            platform: platform.clone(),
        })?;
        Ok(self.bridge.packages.zip(package).await?)
    }

    async fn sums(&self, release: &ServedRelease) -> Result<Arc<ReleaseSums>, RouteFailure> {
        Ok(self.bridge.signer.sums(release, &self.bridge.packages).await?)
    }

    async fn download(&self, release: &ServedRelease, platform: &Platform) -> Result<Value, RouteFailure> {
        let zip = self.zip(release, platform).await?;
        let sums = self.sums(release).await?;
        let version = &release.version;
        let links = FileLinks {
            archive: self.url(release, RouteKind::Archive(version.clone(), platform.clone())),
            sums: self.url(release, RouteKind::Sums(version.clone())),
            signature: self.url(release, RouteKind::SumsSignature(version.clone())),
        };
        Ok(registry::download(self.bridge, release, platform, &zip, &sums, &links).await)
    }

    /// The absolute URL of a file, for a client that sends no token.
    fn url(&self, release: &ServedRelease, kind: RouteKind) -> String {
        let path = ProviderRoute { address: release.address.clone(), kind }.path();
        self.bridge.settings.base.join(&self.bridge.access.link(self.client, &path))
    }

    /// An archive as a reference that is relative to `VERSION.json`, so that clients show the user information of the mirror's
    /// URL there too.
    fn reference(&self, release: &ServedRelease, platform: &Platform) -> String {
        let kind = RouteKind::Archive(release.version.clone(), platform.clone());
        let path = ProviderRoute { address: release.address.clone(), kind }.path();
        let folder = path.len() - zip_name(&release.address, &release.version, platform).len();
        self.bridge.access.link(self.client, &path).split_off(folder)
    }

    /// The answer to a request that fails. What a client prints depends on the status alone.
    ///
    /// ```text
    /// index.json, versions 404    "no such provider"; with `direct` beside, that is asked
    /// VERSION.json 200, empty     "no package for this platform"; with `direct` beside, that is asked
    /// VERSION.json 404            fatal, as a missing version of an `oci_mirror` is to OpenTofu: for a bridge that does not give way
    /// 401, 403                    "your credentials were rejected"
    /// 409                         "unsuccessful: 409 Conflict": for what no token and no second try would change
    /// 502, 503                    "unsuccessful: 502 Bad Gateway"; never "no such provider"
    /// ```
    pub(super) fn failed(&self, route: &ProviderRoute, failure: &RouteFailure) -> Response {
        if let (RouteKind::MirrorArchives(_), RouteFailure::Refusal(refusal)) = (&route.kind, failure)
            && is_absent(refusal)
            && self.bridge.settings.gives_way
        {
            return answer::document(&network_mirror::no_archives(), self.bridge);
        }
        self.failure(&(&route.address).into(), failure)
    }

    /// The same if no status has a meaning of its own.
    pub(super) fn failure(&self, address: &ServedAddress, failure: &RouteFailure) -> Response {
        let settings = &self.bridge.settings;
        let (status, text) = match failure {
            RouteFailure::Refusal(refusal) => (refusal.status(), refusal.to_string()),
            RouteFailure::NotOwnHost => {
                (StatusCode::NOT_FOUND, settings.not_an_own_host(&address.hostname().display()))
            }
            RouteFailure::NotReady => (
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "the answer about {address} is not ready: its place is slow, or packages of it are still being made into zips; try again in a minute"
                ),
            ),
            RouteFailure::ArchiveAsJson => (
                StatusCode::NOT_ACCEPTABLE,
                match address {
                    ServedAddress::Provider(_) => {
                        "this is an archive and not JSON: VERSION.json beside it lists the archives of a version"
                    }
                    ServedAddress::Module(_) => "this is an archive and not JSON: `download` beside it is JSON",
                }
                .to_owned(),
            ),
        };
        let mut response = answer::sentence(status, &self.request.headers, &text);
        match failure {
            RouteFailure::Refusal(refusal) => refusal.note_in(&mut response),
            RouteFailure::NotOwnHost | RouteFailure::ArchiveAsJson => {
                response.extensions_mut().insert(RefusalCode("wrong-address"));
            }
            RouteFailure::NotReady => {
                response.extensions_mut().insert(RefusalCode("timeout"));
                response.extensions_mut().insert(FailureReason(text));
                answer::put(&mut response, RETRY_AFTER, "5");
            }
        }
        response
    }
}

/// Whether it does not exist, as opposed to something that cannot be had now.
fn is_absent(refusal: &Refusal) -> bool {
    refusal.status() == StatusCode::NOT_FOUND
}

#[cfg(test)]
mod tests {
    use super::*;
    use tofu_oci_trust::NoticeWriter;

    use crate::{VersionAbsence, WithdrawnVersion};

    #[test]
    fn a_version_that_was_withdrawn_says_why() {
        let reason = Some("it deletes state".to_owned());
        let withdrawn = |by| VersionAbsence::Withdrawn(WithdrawnVersion { by, reason: reason.clone() });
        assert_eq!(withdrawn(None).to_string(), "was withdrawn: it deletes state");
        let mirror = withdrawn(Some(NoticeWriter::Mirror)).to_string();
        assert_eq!(mirror, "was withdrawn by the mirror: it deletes state");
        let absence = withdrawn(Some(NoticeWriter::Publisher));
        let (address, version) =
            ("example.com/acme/zap".parse::<ProviderAddr>().unwrap().into(), "1.0.0".parse().unwrap());
        let refusal = Refusal::UnknownVersion { address, version, absence };
        let text = "example.com/acme/zap 1.0.0 was withdrawn by its publisher: it deletes state";
        assert_eq!(refusal.to_string(), text);
        assert_eq!(refusal.status(), StatusCode::NOT_FOUND);
    }
}
