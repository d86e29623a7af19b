//! Which services a host offers: `https://HOST/.well-known/terraform.json`.
//!
//! ```text
//! ask --host block--> Services                                   no request
//!     --known-------> Services                                   once for each host in a process
//!     --asked now---> the answer to the request under way        failures are not kept
//!     --------------> GET, redirects, status, media type, size, JSON object
//! ```

mod discover;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod http;
mod services;

pub use self::discover::Discover;
pub use self::error::DiscoveryError;
pub(crate) use self::http::check_media_type;
pub use self::http::{DiscoveryOptions, HttpDiscovery};
pub use self::services::Services;
