//! Connections for requests that will come soon.

use url::Url;

use crate::client::HttpClient;

impl HttpClient {
    /// Makes connections for so many requests to this origin that will soon go out at once. It waits for nothing and
    /// sends nothing; a request that comes takes one that is there or on its way. One that no request has taken after
    /// 5 seconds is not used.
    pub fn connect_ahead(&self, url: &Url, count: usize) {
        self.connections.make_ahead(url, count, self.resolver());
    }

    /// Forgets the connections to this origin that were made ahead and that no request has taken.
    pub fn forget_ahead(&self, url: &Url) {
        self.connections.forget_ahead(url);
    }
}
