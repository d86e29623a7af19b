//! The answer about a module to a client that was admitted: documents, its location, its package.

use axum::response::Response;
use http::header::{AUTHORIZATION, USER_AGENT};
use http::{HeaderName, HeaderValue};
use tokio::time::timeout;

use super::answer;
use super::exchange::{PATIENCE, RouteFailure, RoutedRequest};
use crate::paths::module_route::{ModuleRoute, ModuleRouteKind};
use crate::protocol::module_registry;
use crate::{Admitted, PackageZip, ServedModule};

/// Where Terraform finds the location of a module. `OpenTofu` reads it if the body has none.
const LOCATION: HeaderName = HeaderName::from_static("x-terraform-get");

impl RoutedRequest<'_> {
    pub(super) async fn module(&self, route: &ModuleRoute) -> Result<Response, RouteFailure> {
        if let ModuleRouteKind::Archive(_) = route.kind {
            return self.module_document(route).await;
        }
        timeout(PATIENCE, self.module_document(route)).await.unwrap_or(Err(RouteFailure::NotReady))
    }

    async fn module_document(&self, route: &ModuleRoute) -> Result<Response, RouteFailure> {
        let (bridge, modules) = (self.bridge, self.bridge.catalog.modules());
        match &route.kind {
            ModuleRouteKind::Versions => {
                let served = modules.versions(&route.address).await?;
                Ok(answer::json_text(module_registry::versions(&served), bridge))
            }
            ModuleRouteKind::Download(version) => {
                let module = modules.module(&route.address, version).await?;
                let zip = bridge.packages.module_zip(&module)?;
                if self.sends_token_for_archives() && module.oci_location().is_none() {
                    // This client takes a checksum for a part of the address, and no client verifies it.
                    let archive = bridge.settings.base.join(&archive_path(&module));
                    return Ok(answer::document(&module_registry::download_with_token(&archive), bridge));
                }
                let archive = self.module_archive(&module, &zip);
                let location = module.oci_location().unwrap_or_else(|| archive.clone());
                let mut response = answer::document(&module_registry::download(&location), bridge);
                let header = HeaderValue::try_from(archive).expect("a URL is a header value");
                response.headers_mut().insert(LOCATION, header);
                Ok(response)
            }
            ModuleRouteKind::Archive(_) if answer::wants_json_alone(&self.request.headers) => {
                Err(RouteFailure::ArchiveAsJson)
            }
            ModuleRouteKind::Archive(version) => {
                let module = modules.module(&route.address, version).await?;
                let zip = bridge.packages.module_zip(&module)?;
                Ok(bridge.packages.answer(&self.request.method, &self.request.headers, &zip).await)
            }
        }
    }

    /// The absolute URL of the zip, for a client that sends no token, with the checksum that clients verify and remove.
    /// The path ends in `.zip`, so that they know how to unpack it.
    fn module_archive(&self, module: &ServedModule, zip: &PackageZip) -> String {
        let link = self.bridge.access.link(self.client, &archive_path(module));
        self.bridge.settings.base.join(&format!("{link}?checksum={}", zip.digest))
    }

    /// Whether the client shows a token, and will show it for the archive, too.
    fn sends_token_for_archives(&self) -> bool {
        let headers = &self.request.headers;
        let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        matches!(self.client, Admitted::Client(_))
            && headers.contains_key(AUTHORIZATION)
            && module_registry::knows_registry_credentials(agent)
    }
}

fn archive_path(module: &ServedModule) -> String {
    let kind = ModuleRouteKind::Archive(module.version.clone());
    ModuleRoute { address: module.address.clone(), kind }.path()
}
