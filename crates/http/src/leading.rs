//! Where one host may lead this program: which hosts it may name.

use url::Url;

use crate::clean::host_of;
use crate::client::HttpClient;
use crate::held_url::HeldUrl;
use crate::redirect::{PlainRule, RedirectFault, next_hop};
use crate::resolver::NamedHost;

impl HttpClient {
    /// The address that a redirect of `from` names, by the rules of [`next_hop`] and [`HttpClient::held`].
    ///
    /// # Errors
    /// The rule that forbids the address.
    pub fn next_hop(&self, from: &HeldUrl, location: &str, rule: &PlainRule<'_>) -> Result<HeldUrl, RedirectFault> {
        let url = next_hop(&from.url, location, rule)?;
        self.held(from, url)
    }

    /// Where a host is that an answer of `from` names, for a program that connects to it by itself: it is looked up here first.
    pub async fn named_host(&self, from: &Url, to: &Url) -> NamedHost {
        self.resolver().named_host(from, to, self.private_hosts()).await
    }

    /// An address that an answer of `from` names. Its host must be as far away as that one or farther, unless it is the same,
    /// or the user names it in [`crate::HttpOptions::private_hosts`]. A name is held to it for each connection.
    ///
    /// # Errors
    /// [`RedirectFault::PrivateHost`] if it is known to be nearer.
    pub fn held(&self, from: &HeldUrl, url: Url) -> Result<HeldUrl, RedirectFault> {
        match self.resolver().led(from, &url, self.private_hosts()) {
            Some(nearest) => Ok(HeldUrl { url, nearest }),
            None => Err(RedirectFault::PrivateHost(host_of(&url))),
        }
    }
}
