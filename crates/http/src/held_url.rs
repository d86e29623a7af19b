//! Where a request goes on.

use url::Url;

use crate::reach::Reach;

/// An address, and how near its host may be when a connection to it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldUrl {
    /// The address.
    pub url: Url,
    /// The nearest place where the host may be.
    pub nearest: Reach,
}

impl HeldUrl {
    /// An address that the user names: its host may be anywhere.
    pub fn anywhere(url: Url) -> Self {
        Self { url, nearest: Reach::Machine }
    }
}
