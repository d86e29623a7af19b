//! What has to hold for paths of requests.

use crate::paths::request_path::RequestPath;
use crate::paths::route::Route;

/// Reads the path of a request, and checks what has to hold for whatever comes out: one canonical path for each route.
///
/// # Panics
/// If it does not hold.
pub fn routes(raw: &str) {
    let Ok(path) = RequestPath::parse(raw) else { return assert!(Route::parse(raw).is_err(), "{raw:?}") };
    for segment in path.segments() {
        assert!(!segment.contains(['/', '\\', '\0', '\n']) && !matches!(segment, "." | ".."), "{raw:?}");
    }
    let Ok(route) = Route::parse(raw) else { return };
    let canonical = match &route {
        Route::Discovery => return,
        Route::Provider(provider) => provider.path(),
        Route::Module(module) => module.path(),
    };
    assert!(Route::parse(&canonical).is_ok_and(|again| again == route), "{raw:?} {canonical:?}");
}
