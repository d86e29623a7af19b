//! The module registry protocol: what a host publishes as `modules.v1`, and which version is chosen from it.

use serde::Deserialize;
use tofu_oci_http::{HttpAnswer, shown_url};
use tofu_oci_types::{Constraints, Hostname, ModuleAddr, Place, Version, masked, printable};
use url::Url;

use super::error::{LocationFault, ModuleError};
use super::location::ModuleLocation;
use super::version_list::ModuleVersions;
use crate::registry::Origin;
use crate::registry::members::members;
use crate::{Failure, Listing, RegistryAccess};

/// How many texts that are not versions a warning names.
const NAMED: usize = 5;

/// The registry of modules of one host.
pub struct ModuleRegistry {
    origin: Origin,
}

impl ModuleRegistry {
    /// The registry of a host, at this address. Nothing is asked yet.
    pub fn new(host: Hostname, base: Url, access: RegistryAccess) -> Self {
        Self { origin: Origin::new(host, base, access) }
    }

    /// Where it is.
    pub fn place(&self) -> &Place {
        &self.origin.place
    }

    /// Its address, without user info and arguments.
    pub fn address(&self) -> String {
        shown_url(self.origin.base())
    }

    /// The versions that it lists, ascending. Texts that are not versions are skipped with a warning, as `OpenTofu` does.
    ///
    /// # Errors
    /// [`ModuleError::UnknownModule`] for 404, [`ModuleError::Failed`] for any other answer without a list.
    pub async fn versions(&self, address: &ModuleAddr) -> Result<Listing, ModuleError> {
        let path = format!("{}/versions", address.path());
        let answer = self.origin.answer(&path, &[200]).await.map_err(|failure| self.failed(failure))?;
        let Some(answer) = answer else {
            return Err(ModuleError::UnknownModule { address: address.clone(), place: self.place().clone() });
        };
        let ModuleVersions { listing, skipped } = ModuleVersions::parse(answer.body()).map_err(|problem| {
            self.failed(Failure::BadBody(format!("{}: {}", shown_url(answer.url()), printable(&problem))))
        })?;
        if !skipped.is_empty() {
            let named: Vec<String> = skipped.iter().take(NAMED).map(|text| shown(text)).collect();
            let more = skipped.len().saturating_sub(NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let text =
                format!("{} lists versions of {address} that are none: {}{more}", self.place(), named.join(", "));
            self.origin.warn("not-a-version", text);
        }
        Ok(listing)
    }

    /// The newest version that the constraints admit. A prerelease must be named exactly.
    ///
    /// # Errors
    /// As [`ModuleRegistry::versions`], and [`ModuleError::NoMatchingVersion`].
    pub async fn choose(&self, address: &ModuleAddr, wanted: &Constraints) -> Result<Version, ModuleError> {
        let listing = self.versions(address).await?;
        match wanted.select(&listing.versions) {
            Some(version) => Ok(version.clone()),
            None => Err(ModuleError::NoMatchingVersion {
                address: address.clone(),
                place: self.place().clone(),
                wanted: wanted.clone(),
                offered: listing.versions,
            }),
        }
    }

    /// Where the package of a version is. The `location` of the body counts more than the header `X-Terraform-Get`.
    ///
    /// # Errors
    /// [`ModuleError::Location`] if tofu-oci does not fetch from there.
    ///
    /// Spec: `real-tofu-http.md` §1 (measured), "Module registry". An answer 200 with a header and a body that is not JSON is
    /// accepted, as by Terraform.
    pub async fn locate(&self, address: &ModuleAddr, version: &Version) -> Result<ModuleLocation, ModuleError> {
        let path = format!("{}/{version}/download", address.path());
        let asked = self.origin.url(&path).map_err(|failure| self.failed(failure))?;
        let answer = self.origin.answer(&path, &[200, 204]).await.map_err(|failure| self.failed(failure))?;
        let Some(answer) = answer else {
            let (address, version, place) = (address.clone(), version.clone(), self.place().clone());
            return Err(ModuleError::VersionMissing { address, version, place });
        };
        let text = location_of(&answer);
        let located = match &text {
            Some(text) => ModuleLocation::parse(text, (&asked, answer.url()), &self.origin.access.web),
            None => Err(LocationFault::Missing),
        };
        located.map_err(|fault| ModuleError::Location {
            address: address.clone(),
            version: version.clone(),
            place: self.place().clone(),
            location: shown(&masked(text.as_deref().unwrap_or_default())),
            fault,
        })
    }

    fn failed(&self, failure: Failure) -> ModuleError {
        ModuleError::Failed { place: self.place().clone(), failure }
    }
}

#[derive(Deserialize)]
struct DownloadBody {
    #[serde(default)]
    location: Option<String>,
}

/// The location that an answer names, if it names one.
fn location_of(answer: &HttpAnswer) -> Option<String> {
    let in_body = || members::<DownloadBody>(answer.body()).ok()?.location.filter(|text| !text.is_empty());
    let body = if answer.status() == 200 { in_body() } else { None };
    body.or_else(|| answer.header("x-terraform-get").filter(|text| !text.is_empty()).map(str::to_owned))
}

/// Foreign text in one line, cut to a length that a message can hold.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(200).collect();
    printable(&cut).into_owned()
}

#[cfg(test)]
mod tests;
