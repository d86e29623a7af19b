//! The versions of a place or a provider for completion: asked for with the options of the line, within a second,
//! without a credential helper and without error messages.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use tofu_oci_disk::Waiter;
use tofu_oci_logins::Access;
use tofu_oci_source::{OciSource, Source};
use tofu_oci_types::{NoReporter, ProviderAddr, Version};

use crate::args::{self, Timeout, Verb, VersionsArgs};
use crate::connect::{Connector, ResolverSlot};
use crate::ends::End;
use crate::lookup::Finder;

/// How long a TAB may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Options of the line that would read from standard input.
const NOT_FOLLOWED: [&str; 2] = ["username", "password-stdin"];

/// What has versions.
#[derive(Clone, Copy)]
pub(super) enum VersionsOf<'a> {
    Address(&'a str),
    /// A repository or `oci:DIR`.
    Place(&'a str),
}

impl fmt::Display for VersionsOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Address(text) | Self::Place(text)) = self;
        f.write_str(text)
    }
}

/// The words of the line up to the cursor, the program's name first.
pub(super) fn typed() -> Vec<OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1).collect()
}

/// The versions, newest first; none if they do not come in time.
pub(super) fn of(subject: VersionsOf<'_>) -> Vec<Version> {
    // The first one counts, whoever chooses it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let listing = async { tokio::time::timeout(LIMIT, listed(subject)).await.ok().flatten() };
    let mut versions = runtime.block_on(listing).unwrap_or_default();
    versions.reverse();
    runtime.shutdown_background();
    versions
}

async fn listed(subject: VersionsOf<'_>) -> Option<Vec<Version>> {
    let line = TypedLine::read()?;
    let mut args = line.as_versions(subject)?;
    args.access.network.attempts = 1;
    args.access.network.timeout = Timeout(LIMIT);
    let access = if args.access.identity.anonymous { Access::Anonymous } else { Access::Ambient { chdir: None } };
    let waiter = Waiter { program: "tofu-oci".to_owned(), limit: LIMIT };
    let connector = Connector::new(&args.access.network, access, waiter, Arc::new(NoReporter), ResolverSlot::default());
    let connector = connector.without_helpers();
    let (source, address): (Arc<dyn Source>, ProviderAddr) = match subject {
        VersionsOf::Address(text) => {
            let address = text.parse().ok()?;
            let chdir = line.chdir();
            (Finder::new(&args.lookup, connector, chdir.as_deref(), &[]).ok()?.source(&address).ok()?, address)
        }
        VersionsOf::Place(text) => {
            // The answer of a repository does not depend on the address.
            let address = "registry.opentofu.org/unknown/unknown".parse().ok()?;
            (Arc::new(OciSource::new(connector.source(&End::parse(text).ok()?).ok()?)), address)
        }
    };
    Some(source.versions(&address).await.ok()?.versions.into_iter().collect())
}

/// The place that the line names: what to copy, sign or check.
pub(super) fn place_of_the_line() -> Option<String> {
    let line = TypedLine::read()?;
    ["source", "target"].iter().find_map(|name| line.values(name)?.first()?.to_str().map(str::to_owned))
}

/// The line as far as it can be read: something is always missing.
struct TypedLine {
    matches: ArgMatches,
}

impl TypedLine {
    fn read() -> Option<Self> {
        let mut matches = args::command().ignore_errors(true).try_get_matches_from(typed()).ok()?;
        while let Some((_, inner)) = matches.remove_subcommand() {
            matches = inner;
        }
        Some(Self { matches })
    }

    /// The values that were typed for an argument, by its name in the code.
    fn values(&self, name: &str) -> Option<Vec<OsString>> {
        let values = self.matches.try_get_raw(name).ok()??;
        let is_typed = self.matches.value_source(name) == Some(ValueSource::CommandLine);
        is_typed.then(|| values.map(OsString::from).collect())
    }

    fn chdir(&self) -> Option<PathBuf> {
        Some(PathBuf::from(self.values("chdir")?.first()?))
    }

    /// `versions` of this subject, with the options of the line that it takes too.
    fn as_versions(&self, subject: VersionsOf<'_>) -> Option<VersionsArgs> {
        let declared = args::command();
        let verb = declared.find_subcommand("versions")?;
        let mut words = ["tofu-oci".into(), "versions".into(), OsString::from(subject.to_string())].to_vec();
        for option in verb.get_arguments() {
            let Some(name) = option.get_long().filter(|name| !NOT_FOLLOWED.contains(name)) else { continue };
            for value in self.values(option.get_id().as_str()).into_iter().flatten() {
                words.push(format!("--{name}").into());
                if option.get_action().takes_values() {
                    words.push(value);
                }
            }
        }
        let matches = declared.try_get_matches_from(words).ok()?;
        match clap::FromArgMatches::from_arg_matches(&matches).map(|args: args::Args| args.verb) {
            Ok(Verb::Versions(args)) => Some(args),
            _ => None,
        }
    }
}
