//! Errors of stores.

use tofu_oci_store::StoreError;

use super::Complaint;
use crate::exit::Exit;

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for Complaint {
    fn from(error: &StoreError) -> Self {
        let complaint = Self::of(exit(error), error);
        match error {
            StoreError::UnknownRepository { place } if place.starts_with("oci:") => complaint.hint(
                "an OCI image layout directory holds a file named oci-layout; `tofu-oci pack DIST oci:DIR` makes one",
            ),
            StoreError::UnknownRepository { .. } => {
                complaint.hint("check the name; some registries also say this to those who may not read the repository")
            }
            StoreError::Unauthorized { place, .. } => complaint
                .hint(format!("log in with `docker login {0}` or `podman login {0}`", registry(place)))
                .hint("credentials are read from DOCKER_CONFIG, ~/.docker/config.json and containers/auth.json"),
            StoreError::Denied { .. } => complaint
                .hint("the credentials are known but lack the right; pushing needs write access to the repository"),
            StoreError::Unreachable { problem, .. } if problem.contains("certificate") => {
                complaint.hint("trust a private certificate authority with --ca-file FILE")
            }
            StoreError::Unreachable { .. } => complaint
                .hint("check the host name and the network; a registry that speaks plain HTTP needs --plain-http HOST"),
            StoreError::DigestMismatch { .. } | StoreError::SizeMismatch { .. } => complaint
                .hint("the registry, or something between it and here, changed the content; nothing of it was kept"),
            StoreError::RateLimited { seconds, .. } => {
                complaint.hint(format!("try again later, or wait longer with --max-wait {seconds}"))
            }
            StoreError::ReadOnly { .. } => complaint.hint("choose a place that you may write to"),
            StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                complaint.hint("free some space and run the same command again")
            }
            StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                complaint.hint("check the permissions of the file and its folder")
            }
            _ => complaint,
        }
    }
}

fn exit(error: &StoreError) -> Exit {
    match error {
        StoreError::Unreachable { .. } | StoreError::RateLimited { .. } => Exit::Unexpected,
        StoreError::Io { source, .. } => super::io_exit(source),
        StoreError::Rejected { status, .. } if *status >= 500 || *status == 429 => Exit::Unexpected,
        _ => Exit::Fixable,
    }
}

/// The host of a place such as `ghcr.io/acme/widget`.
fn registry(place: &str) -> &str {
    place.split('/').next().unwrap_or(place)
}
