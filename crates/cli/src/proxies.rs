//! The proxies of this process.

use tofu_oci_http::EnvironmentProxies;

/// Those that the environment names.
pub(crate) fn by_environment() -> EnvironmentProxies {
    EnvironmentProxies::read(|name| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))
}
