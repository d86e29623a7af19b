//! A registry as a store: the OCI distribution protocol over HTTP.
