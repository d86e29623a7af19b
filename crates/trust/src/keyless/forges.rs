//! Hosts of repositories, and who vouches for their workflows.

/// Who vouches for the workflows of a host.
pub(super) fn issuer_of(host: &str) -> Option<&'static str> {
    match host.to_ascii_lowercase().as_str() {
        "github.com" => Some("https://token.actions.githubusercontent.com"),
        "gitlab.com" => Some("https://gitlab.com"),
        _ => None,
    }
}
