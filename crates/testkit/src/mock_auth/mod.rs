//! A registry, its token servers and the hosts that they redirect to, under any host names, by a script.
//!
//! ```text
//! https://ANY.NAME[:PORT]/..   the program --CONNECT--> Tunnel --> one TLS listener --\
//! https://127.0.0.1:PORT/..    the program ------------------------------------------- World: script, release, arrivals
//! http://ANY.NAME[:PORT]/..    the program --GET http://..--> one plain listener -----/
//! ```
//!
//! It holds one release of a provider that can really be installed, in every repository.

mod answers;
mod arrival;
mod releases;
mod script;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub use arrival::{Arrival, ArrivalKind, ShownLogin};
pub use releases::MockReleases;
pub use script::{MockScheme, MockScript, TokenScript};

use crate::certificates::Certificates;
use crate::fault::{Computed, Fault, RequestHead, Rule};
use crate::tunnel::Tunnel;
use crate::web::WebServer;
use answers::{MockMemory, World};

/// The mock, running until it is dropped.
#[derive(Debug)]
pub struct MockAuth {
    world: Arc<World>,
    tunnel: Tunnel,
    tls: WebServer,
    plain: WebServer,
}

/// The listener of a mock that has no script yet: its port may be a word of the script.
#[derive(Debug)]
pub struct MockSite {
    tls: WebServer,
    plain: WebServer,
}

impl MockSite {
    /// Opens the listeners; the certificate must be for every name that is going to be asked.
    pub fn open(certificates: &Certificates) -> Self {
        Self { tls: WebServer::with_certificates(certificates), plain: WebServer::plain() }
    }

    /// The port of the TLS listener on 127.0.0.1.
    pub fn port(&self) -> &str {
        self.tls.address().rsplit(':').next().unwrap_or_default()
    }

    /// Begins to answer. `holds` names the provider types of repositories that hold another than the first release;
    /// `names` are the `HOST:PORT` that are reached over TLS.
    pub fn serve(
        self,
        script: MockScript,
        releases: &MockReleases,
        holds: BTreeMap<String, String>,
        names: &[String],
    ) -> MockAuth {
        let memory = Mutex::new(MockMemory::default());
        let world = Arc::new(World { script, releases: releases.clone(), holds, memory });
        for (server, scheme) in [(&self.tls, "https"), (&self.plain, "http")] {
            let world = Arc::clone(&world);
            let answer = move |head: &RequestHead, body: &[u8]| world.answer(scheme, head, body);
            server.fault(Rule::on("*", "*").then(Fault::Computed(Computed::new(answer))));
        }
        let tunnel = Tunnel::start(names.iter().map(|name| (name.as_str(), self.tls.address())));
        MockAuth { world, tunnel, tls: self.tls, plain: self.plain }
    }
}

impl MockAuth {
    /// The variables that lead a program here, for every host but 127.0.0.1.
    pub fn environment(&self) -> [(&'static str, String); 3] {
        let plain = self.plain.origin().to_owned();
        [("HTTPS_PROXY", self.tunnel.url()), ("HTTP_PROXY", plain), ("NO_PROXY", "127.0.0.1".to_owned())]
    }

    /// Everything that has arrived, in order.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.world.memory().arrivals.clone()
    }

    /// Forgets what has arrived and which tokens were given out or refused.
    pub fn forget(&self) {
        *self.world.memory() = MockMemory::default();
    }

    /// The tokens that were made up and given out.
    pub fn issued(&self) -> Vec<String> {
        self.world.memory().issued.clone()
    }

    /// Every `HOST:PORT` that was asked for by name over TLS, also those that are not here.
    pub fn asked(&self) -> Vec<String> {
        self.tunnel.asked()
    }

    /// The TLS listener's `127.0.0.1:PORT`.
    pub fn address(&self) -> &str {
        self.tls.address()
    }
}
