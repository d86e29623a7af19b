//! What the server itself answers, and what requests are counted as.

use crate::page;
use crate::paths::Route;

/// What the server itself answers.
pub(super) enum OwnRoute {
    /// `/healthz`
    Healthz,
    /// `/readyz`
    Readyz,
    /// `/metrics`
    Metrics,
}

impl OwnRoute {
    /// That of a path below the base URL.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            "/healthz" => Some(Self::Healthz),
            "/readyz" => Some(Self::Readyz),
            "/metrics" => Some(Self::Metrics),
            _ => None,
        }
    }
}

/// What the requests of a path below the base URL are counted as, one of a few.
pub(super) fn counted_as(path: &str) -> &'static str {
    match Route::parse(path) {
        _ if OwnRoute::of(path).is_some() => "health",
        Ok(route) => route.counted_as(),
        Err(_) if page::is_page(path) => "page",
        Err(_) => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_modules_were_counted_as_other_requests() {
        let (module, provider) = ("registry.acme.example/acme/net/aws", "registry.acme.example/acme/zap");
        for (path, want) in [
            ("/".to_owned(), "page"),
            (format!("/module/{module}"), "page"),
            (format!("/module/{module}/1.0.0"), "page"),
            (format!("/providers/{provider}"), "page"),
            (format!("/modules/{module}/1.0.0/download"), "module_download"),
            (format!("/mirror/{provider}/1.0.0.json"), "mirror_version"),
            (format!("/mirror/{provider}/terraform-provider-zap_1.0.0_linux_amd64.zip"), "archive"),
            ("/.well-known/terraform.json".to_owned(), "discovery"),
            ("/readyz".to_owned(), "health"),
            (format!("/mirror/{provider}/nothing"), "other"),
        ] {
            assert_eq!(counted_as(&path), want, "{path}");
        }
    }
}
