//! Which package a call of a module is pinned to.
//!
//! ```text
//! ?tag=T          the package that T names now                                     -> Pinned
//! ?digest=D # T   T still names D -> Kept; T moved -> refused, or accepted          -> Moved
//! ?digest=D       the version whose tag names D                                    -> Noted
//! upgrade         the newest release that the constraint admits                    -> Upgraded
//! each package: its manifest is read, it is a module, the trust policy accepts it; nothing is downloaded
//! ```

mod error;
mod model;
mod pinner;
mod repositories;

#[cfg(test)]
mod tests;

use futures_util::StreamExt as _;
use tofu_oci_types::{Counter, Reporter};

pub use error::ModulePinError;
pub use model::{ModulePin, ModulePinChange, ModulePinOptions, ModulePinRequest, MovedTags, PinRemark};
pub use repositories::ModuleRepositories;

use pinner::Pinner;

/// How many calls are worked on at once.
const AT_ONCE: usize = 8;

/// The package of each call, in the order of the requests. Equal questions about a repository are asked once, also those of
/// several runs with the same `repositories`.
pub async fn pin_modules(
    requests: &[ModulePinRequest],
    repositories: &ModuleRepositories,
    options: &ModulePinOptions<'_>,
    reporter: &dyn Reporter,
) -> Vec<Result<ModulePin, ModulePinError>> {
    let count = Counter::new(reporter, "looking at modules", requests.len());
    let pinner = Pinner { repositories, options, reporter };
    let (pinner, count) = (&pinner, &count);
    let work = requests.iter().map(|request| async move {
        let pin = pinner.pin(request).await;
        count.done();
        pin
    });
    futures_util::stream::iter(work).buffered(AT_ONCE).collect().await
}
