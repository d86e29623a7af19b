//! Where a mirror gets providers from.

use std::sync::Arc;

use tofu_oci_source::{Chain, InstallMethod, Link, Source};
use tofu_oci_types::{Place, ProviderAddr, masked};

use super::{Finder, Rules, no_method};
use crate::args::LookupArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;

/// How `mirror.toml` and `serve.toml` write the host of each provider.
pub(crate) const ORIGIN: &str = "direct";

/// The arguments that look in a source of these files, with `others` besides.
pub(crate) fn lookup_of(text: &str, others: &LookupArgs) -> LookupArgs {
    LookupArgs { from: Some(text.to_owned()).filter(|text| text != ORIGIN), ..others.clone() }
}

impl Finder {
    /// What opens the ends.
    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// The place or places of an address, except the one that is written to: a mirror's users have it in their files.
    pub(crate) fn upstream(
        &self,
        address: &ProviderAddr,
        written_to: Option<&Place>,
    ) -> Result<Arc<dyn Source>, Diagnostic> {
        let Rules::Configured(configured) = &*self.rules else {
            let source = self.source(address)?;
            if let Some(written_to) = written_to.filter(|place| source.place() == *place) {
                return Err(Diagnostic::usage(format!("{written_to} is both the source and the destination"))
                    .hint("name another source: --from REPOSITORY, or `sources` in mirror.toml"));
            }
            return Ok(source);
        };
        if address.is_builtin() {
            return Err(no_method(configured, address));
        }
        let mut links = self.opener(configured)?.links(configured, address);
        links.retain(|link| Some(link.source.place()) != written_to);
        if links.is_empty() {
            return Err(Diagnostic::usage(format!("no other method than the mirror itself is for {address}"))
                .code("no-upstream")
                .hint("ask its own host: sources = [\"direct\"] in mirror.toml"));
        }
        Ok(Arc::new(Chain::new(links)))
    }

    /// The host of an address, whatever the methods of the CLI configuration say. Its other settings count.
    pub(crate) fn origin(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, Diagnostic> {
        match &*self.rules {
            Rules::From { .. } => self.source(address),
            Rules::Configured(configured) => Ok(Arc::new(self.opener(configured)?.direct(configured, address))),
        }
    }
}

/// Places in order, each as it is written: one that lacks a provider or a version gives way to the next.
pub(crate) fn in_order(mut sources: Vec<(String, Arc<dyn Source>)>) -> Arc<dyn Source> {
    if sources.len() == 1 {
        return sources.remove(0).1;
    }
    let link = |(text, source): (String, _)| Link { method: InstallMethod::Direct, label: masked(&text), source };
    Arc::new(Chain::new(sources.into_iter().map(link).collect()))
}
