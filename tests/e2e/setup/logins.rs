//! The user ada, and registries that only she can use.

use tofu_oci_testkit::{Auth, Bearer, Login, Registry, RegistryBuilder};

/// Her password; it is in no output.
pub(crate) const PASSWORD: &str = "correct-horse-battery";

/// Name and password.
pub(crate) fn ada() -> Login {
    Login::new("ada", PASSWORD)
}

/// What `auth` of an entry holds.
pub(crate) fn encoded(login: &Login) -> String {
    login.basic_header().replace("Basic ", "")
}

/// A registry that asks for name and password.
pub(crate) fn basic() -> RegistryBuilder {
    Registry::builder().auth(Auth::Basic(ada()))
}

/// A registry with a token server.
pub(crate) fn bearer() -> RegistryBuilder {
    Registry::builder().auth(Auth::Bearer(Bearer::new(ada())))
}
