//! OCI JSON from and to a provider release.
