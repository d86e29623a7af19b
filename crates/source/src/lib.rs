//! Where packages are offered: OCI repositories as provider sources.
