//! What a discovery document says, and which of its services this program knows.

use std::collections::BTreeMap;

use serde_json::Value;
use tofu_oci_http::{HttpAnswer, named_address, shown_url};
use tofu_oci_mapper::UriTemplate;
use tofu_oci_types::Hostname;
use url::Url;

use super::error::DiscoveryError;
use crate::Failure;

const OCI_PROVIDERS: &str = "oci-providers.v1";
const REGISTRY: &str = "providers.v1";
const MODULES: &str = "modules.v1";

/// The services whose values are addresses, and that `init`, `plan` and `apply` ask for.
///
/// Spec: Terraform 1.11 and `OpenTofu` 1.12, `internal/getproviders`, `internal/registry`, backends `remote` and `cloud`.
const ADDRESSED: [&str; 7] = [REGISTRY, MODULES, "state.v2", "tfe.v2", "tfe.v2.1", "tfe.v2.2", "versions.v1"];

/// The services of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Services {
    host: Hostname,
    origin: String,
    publisher: Publisher,
    values: BTreeMap<String, Value>,
}

/// Who says what the services of a host are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Publisher {
    User,
    /// A document at this address.
    Document(Url),
}

impl Services {
    /// The services that the user wrote. `origin` is the place of the `host` block, for people.
    pub fn new(host: Hostname, origin: impl Into<String>, values: BTreeMap<String, Value>) -> Self {
        Self { host, origin: origin.into(), publisher: Publisher::User, values }
    }

    /// The services of the document in an answer; its address is the one after all redirects.
    pub(super) fn of_document(host: Hostname, answer: &HttpAnswer, values: BTreeMap<String, Value>) -> Self {
        let publisher = Publisher::Document(answer.url().clone());
        Self { host, origin: shown_url(answer.url()), publisher, values }
    }

    /// Who says it.
    pub(super) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    pub fn host(&self) -> &Hostname {
        &self.host
    }

    /// Where they are written: the document's address after all redirects, without its query.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The services by name, as they are written.
    pub fn values(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    /// The known services by name, each with its address written out or its template: they mean the same elsewhere, and hold
    /// nothing that was not parsed. Unknown names, and values that no client could use, are left out.
    pub fn known(&self) -> BTreeMap<&'static str, String> {
        let address = |name: &'static str| Some((name, self.address(name).ok()??.to_string()));
        let template = || Some((OCI_PROVIDERS, self.oci_providers().ok()??.as_str().to_owned()));
        ADDRESSED.into_iter().filter_map(address).chain(template()).collect()
    }

    /// The template of `oci-providers.v1`; `None` if the host does not have this service.
    ///
    /// # Errors
    /// If the value is not a template `REGISTRY/…/{namespace}/{type}`.
    ///
    /// Spec: seed 002 (RFC), "OCI Registry as an implementation detail of `direct` installation".
    pub fn oci_providers(&self) -> Result<Option<UriTemplate>, DiscoveryError> {
        let Some(value) = self.values.get(OCI_PROVIDERS) else { return Ok(None) };
        let invalid = |problem: String| self.invalid(OCI_PROVIDERS, &problem);
        let Value::String(text) = value else {
            return Err(invalid(format!("it is {}, and must be a string", kind(value))));
        };
        UriTemplate::for_providers(text).map(Some).map_err(|error| invalid(error.to_string()))
    }

    /// The address of the provider registry protocol, as it is: no slash is added. `None` if the host does not have this
    /// service.
    ///
    /// # Errors
    /// If the value is not an address of HTTPS or HTTP without user info.
    ///
    /// Spec: `opentofu-behaviour.md` §8.3; a `host` block replaces the document at its usual address.
    pub fn registry(&self) -> Result<Option<Url>, DiscoveryError> {
        self.address(REGISTRY)
    }

    /// The address of the module registry protocol, with a slash at its end. `None` if the host does not have this
    /// service.
    ///
    /// # Errors
    /// If the value is not an address of HTTPS or HTTP without user info.
    ///
    /// Spec: `opentofu-behaviour.md` §8.3: for modules a missing slash is added.
    pub fn modules(&self) -> Result<Option<Url>, DiscoveryError> {
        let base = self.address(MODULES)?;
        Ok(base.map(|mut base| {
            if !base.path().ends_with('/') {
                base.set_path(&format!("{}/", base.path()));
            }
            base
        }))
    }

    /// The address that a service has as its value.
    fn address(&self, service: &str) -> Result<Option<Url>, DiscoveryError> {
        let Some(value) = self.values.get(service) else { return Ok(None) };
        let invalid = |problem: String| self.invalid(service, &problem);
        let Value::String(text) = value else {
            return Err(invalid(format!("it is {}, and must be a string", kind(value))));
        };
        let document = match &self.publisher {
            Publisher::Document(address) => address.clone(),
            Publisher::User => Url::parse(&format!("https://{}/.well-known/terraform.json", self.host))
                .map_err(|error| invalid(error.to_string()))?,
        };
        let mut base = named_address(&document, text).map_err(|fault| invalid(fault.to_string()))?;
        base.set_fragment(None);
        if !matches!(base.scheme(), "https" | "http") {
            return Err(invalid(format!("it is an address of {}, and must be of https or http", base.scheme())));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(invalid("it must have neither a user name nor a password".to_owned()));
        }
        Ok(Some(base))
    }

    /// Whether the host has the provider registry protocol.
    pub fn has_registry_protocol(&self) -> bool {
        self.values.contains_key(REGISTRY)
    }

    /// Versions of the provider registry protocol that the host has, by their names.
    pub(crate) fn registry_versions(&self) -> Vec<&str> {
        self.values.keys().map(String::as_str).filter(|name| name.starts_with("providers.")).collect()
    }

    /// Versions of the module registry protocol that the host has, by their names.
    pub(crate) fn module_versions(&self) -> Vec<&str> {
        self.values.keys().map(String::as_str).filter(|name| name.starts_with("modules.")).collect()
    }

    fn invalid(&self, service: &str, problem: &str) -> DiscoveryError {
        let problem = format!("the service {service} in {} is not usable: {problem}", self.origin);
        DiscoveryError { host: self.host.clone(), failure: Failure::InvalidService(problem) }
    }
}

/// What a JSON value is, for people.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
