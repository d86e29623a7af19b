//! What every verb works with.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_disk::Waiter;
use tofu_oci_logins::Access;
use tofu_oci_tfconfig::ConfigFolder;
use tofu_oci_types::{Event, Place, Reporter, Tag};

use super::stop::Stop;
use crate::args::{ConfigTestsArgs, Global, Network, OutputArgs, RegistryAccess};
use crate::connect::{Connector, ResolverSlot};
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::ends::End;
use crate::identity;
use crate::invocation;
use crate::page::Page;
use crate::printer;
use crate::report::{self, JsonLines};

/// The options, reporter and handles of one run.
pub(crate) struct Context {
    /// The verb, for other programs that wait for this one.
    verb: &'static str,
    json: bool,
    pub(crate) quiet: bool,
    pub(crate) reporter: Arc<dyn Reporter>,
    /// What this run knows of credentials, once a registry is spoken to.
    pub(crate) resolver: ResolverSlot,
    /// For a verb that has to clean up before it ends.
    pub(crate) stop: Arc<Stop>,
}

impl Context {
    pub(super) fn new(
        verb: &'static str,
        global: &Global,
        output: &OutputArgs,
        resolver: &ResolverSlot,
        stop: &Arc<Stop>,
    ) -> Self {
        let reporter = report::reporter(output.json, global);
        let (resolver, stop) = (Arc::clone(resolver), Arc::clone(stop));
        Self { verb, json: output.json, quiet: global.quiet, reporter, resolver, stop }
    }

    /// Prints a report: its JSON line, or its page for people.
    pub(crate) fn emit(&self, line: &impl Serialize, page: impl FnOnce() -> Page) {
        self.emit_all(|lines| lines.add(line), page);
    }

    /// The same of a report with several lines.
    pub(crate) fn emit_all(&self, lines: impl FnOnce(&JsonLines), page: impl FnOnce() -> Page) {
        if self.json { lines(&JsonLines) } else { printer::stdout(&page()) }
    }

    /// The same of a long page, through the user's pager.
    pub(crate) fn emit_paged(&self, line: &impl Serialize, page: impl FnOnce() -> Page) {
        if self.json { JsonLines.add(line) } else { printer::paged(&page()) }
    }

    /// The same of a report whose other form is for programs, too.
    pub(crate) fn emit_document(&self, line: &impl Serialize, document: impl FnOnce() -> Document) {
        printer::document(&if self.json { Document::json_line(line) } else { document() });
    }

    /// What went wrong with one of several; after a refused access with the credentials that were shown.
    pub(crate) fn explained(&self, error: impl Into<Diagnostic>) -> Diagnostic {
        error.into().explain_credentials(self.resolver.get().map(AsRef::as_ref))
    }

    /// Reports what went wrong with one of several, and the verb goes on.
    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        self.explained(diagnostic).print(self.json);
    }

    /// Says something beside a report, on stderr: to people who have not asked for quiet.
    pub(crate) fn say(&self, page: &Page) {
        if !self.json && !self.quiet {
            printer::stderr(page);
        }
    }

    /// How this run waits for files that other programs work on.
    pub(crate) fn waiter(&self, network: &Network) -> Waiter {
        Waiter { program: format!("tofu-oci {}", self.verb), limit: network.timeout.0 }
    }

    /// What opens these ends, as the user of the arguments. `chdir` is the directory whose CLI configuration says who asks.
    pub(crate) async fn reach(
        &self,
        access: &RegistryAccess,
        ends: &[&End],
        chdir: Option<&Path>,
    ) -> Result<Connector, Diagnostic> {
        let registries: Vec<&str> = ends.iter().copied().filter_map(identity::of_end).collect();
        Ok(self.connector(&access.network, access.identity.access(&registries, chdir).await?))
    }

    /// What opens ends, for whom `access` says.
    pub(crate) fn connector(&self, network: &Network, access: Access) -> Connector {
        let waiter = self.waiter(network);
        Connector::new(network, access, waiter, Arc::clone(&self.reporter), Arc::clone(&self.resolver))
    }
}

/// A tag of a place. `oci:DIR:TAG` would be taken for a directory of that name.
pub(crate) fn tagged(place: &Place, tag: &Tag) -> String {
    if matches!(place, Place::Layout(_)) { format!("{place} (tag {tag})") } else { format!("{place}:{tag}") }
}

/// Refuses what an option names, if it is not a directory.
pub(crate) fn demand_directory(dir: &Path, option: &str) -> Result<(), Diagnostic> {
    if dir.is_dir() {
        return Ok(());
    }
    if dir.is_file() {
        let folder = dir.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Err(Diagnostic::usage(format!("{} is a file, not a directory", dir.display()))
            .hint(format!("name its directory: {option} {}", invocation::quoted(&folder.to_string_lossy()))));
    }
    Err(Diagnostic::usage(format!("there is no directory {}", dir.display()))
        .hint(format!("{option} names the directory that holds the configuration and its lock file")))
}

/// The configuration in a directory, as the environment and the arguments complete it.
pub(crate) fn config_folder(context: &Context, dir: &Path, tests: &ConfigTestsArgs) -> ConfigFolder {
    let tests = tests.folder();
    if let Some(missing) = tests.filter(|tests| *tests != Path::new("tests") && !dir.join(tests).exists()) {
        let text = format!("there is no folder {} with tests", dir.join(missing).display());
        let hint = "--test-directory names it, seen from the folder of the configuration";
        context.reporter.event(&Event::warning("missing-test-directory", text).with_hint(hint));
    }
    ConfigFolder {
        dir: dir.to_owned(),
        data_dir: data_dir(dir),
        tests: tests.map(Path::to_owned),
        variables: std::env::vars_os().filter_map(|(name, value)| variable(&name, value)).collect(),
        workspace: std::env::var("TF_WORKSPACE").ok(),
    }
}

/// The variable of the configuration that a variable of the environment sets.
fn variable(name: &OsStr, value: OsString) -> Option<(String, String)> {
    Some((name.to_str()?.strip_prefix("TF_VAR_")?.to_owned(), value.into_string().ok()?))
}

/// `.terraform` of the directory, or what `TF_DATA_DIR` says, relative to the directory.
pub(crate) fn data_dir(dir: &Path) -> PathBuf {
    match std::env::var_os("TF_DATA_DIR").filter(|value| !value.is_empty()) {
        Some(data_dir) => dir.join(data_dir),
        None => dir.join(".terraform"),
    }
}
