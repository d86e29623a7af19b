//! A registry, a temp folder and the program.

#[cfg(unix)]
mod helpers;
mod hints;
#[cfg(unix)]
pub(crate) mod hostile;
pub(crate) mod keys;
pub(crate) mod logins;
pub(crate) mod release;
pub(crate) mod schema;
mod signing;
pub(crate) mod small;
pub(crate) mod stall;
pub(crate) mod state;
mod text;
mod vault;
pub(crate) mod zips;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use tofu_oci_testkit::{
    ClientCertificate, Fault, Registry, RegistryBuilder, ReleaseFolder, RequestHead, Rule, TestContext,
};

pub(crate) use state::State;
pub(crate) use text::words;

/// The address that most tests publish.
pub(crate) const WIDGET: &str = "registry.example.com/acme/widget";

/// Two platforms are enough to see that there are several.
pub(crate) const PLATFORMS: [&str; 2] = ["darwin_arm64", "linux_amd64"];

/// The stage of one test.
pub(crate) struct Scene {
    /// The temp folder and environment.
    pub(crate) context: TestContext,
    /// The registry that `REGISTRY` in a command means.
    pub(crate) registry: Registry,
}

/// What a command said, raw and ready for a snapshot.
pub(crate) struct Said {
    /// The exit code; `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output as it was.
    pub(crate) stdout: String,
    /// Standard error as it was.
    pub(crate) stderr: String,
    /// Exit code and both streams, filtered.
    pub(crate) text: String,
}

/// Copies a folder of `testdata` with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder in the work folder");
    for entry in std::fs::read_dir(from).expect("a folder of testdata") {
        let from = entry.expect("an entry of testdata").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).expect("a file in the work folder");
        }
    }
}

impl Scene {
    /// An empty folder and an empty registry that asks for no credentials.
    pub(crate) fn new() -> Self {
        Self::with(Registry::builder())
    }

    /// An empty folder and a registry of one's own.
    pub(crate) fn with(registry: RegistryBuilder) -> Self {
        let registry = registry.start();
        let mut context = TestContext::new();
        context.show_registry(&registry, "REGISTRY");
        context.filters().digests();
        Self { context, registry }
    }

    /// With `dist/`: release zips of widget 1.4.0 for two platforms.
    pub(crate) fn with_dist() -> Self {
        let scene = Self::new();
        scene.dist("dist", "1.4.0");
        scene
    }

    /// With widget 1.4.0 published at `REGISTRY/acme/widget`, and the request log empty.
    pub(crate) fn published() -> Self {
        let scene = Self::with_dist();
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
        scene.registry.clear_requests();
        scene
    }

    /// An empty folder and an empty registry that speaks TLS, trusted by the program, as `OpenTofu` needs it.
    pub(crate) fn over_tls() -> Self {
        let mut scene = Self::with(Registry::builder().tls(ClientCertificate::NotAsked));
        let authority = scene.registry.ca_pem().expect("it speaks TLS").to_owned();
        let path = scene.context.write_home("ca.pem", authority);
        scene.context.env("TOFU_OCI_CA_FILE", path.display().to_string());
        scene
    }

    /// As [`Scene::published`], over TLS.
    pub(crate) fn published_over_tls() -> Self {
        let scene = Self::over_tls();
        scene.publish("1.4.0");
        scene.registry.clear_requests();
        scene
    }

    /// Writes release zips of a version of widget to a folder.
    pub(crate) fn dist(&self, folder: &str, version: &str) {
        ReleaseFolder::new("widget", version, &PLATFORMS).write_zips(&self.path(folder));
    }

    /// Publishes a version of widget at `REGISTRY/acme/widget`.
    pub(crate) fn publish(&self, version: &str) {
        self.dist(&format!("dist-{version}"), version);
        self.run(&format!("push dist-{version} REGISTRY/acme/widget --address {WIDGET}")).success();
    }

    /// A path below the work folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.context.work().join(name)
    }

    /// The program with these arguments, not yet started. `REGISTRY` means the registry's address; words are
    /// separated by spaces, and single quotes keep them together.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = self.context.command(env!("CARGO_BIN_EXE_tofu-oci"));
        command.args(text::words(&line.replace("REGISTRY", self.registry.address())));
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, line: &str) -> Said {
        self.output(&mut self.command(line))
    }

    /// Runs a prepared command.
    pub(crate) fn output(&self, command: &mut Command) -> Said {
        let output = self.context.output(command);
        hints::check(command, &output.stderr);
        let text = text::steady(&output.snapshot());
        Said { code: output.code, stdout: output.stdout, stderr: output.stderr, text }
    }

    /// Runs the program and checks that it fails and that registry, work folder and temp folder are as before, and
    /// that nothing was written to the registry in between.
    #[track_caller]
    pub(crate) fn refuse(&self, line: &str) -> String {
        self.refuse_with(&mut self.command(line))
    }

    /// The same with a prepared command.
    #[track_caller]
    pub(crate) fn refuse_with(&self, command: &mut Command) -> String {
        let before = State::of(self);
        self.registry.clear_requests();
        let said = self.output(command);
        assert_ne!(said.code, Some(0), "{}", said.text);
        assert!(said.stderr.contains("error: "), "{}", said.text);
        assert_eq!(State::of(self), before, "something was changed:\n{}", said.text);
        let writes =
            self.conversation().into_iter().filter(|line| !line.starts_with("GET ") && !line.starts_with("HEAD "));
        assert_eq!(writes.collect::<Vec<_>>(), Vec::<String>::new(), "something was sent:\n{}", said.text);
        said.text
    }

    /// From now on the connection ends after the write of this number, from 0, has taken effect, and before everything that
    /// follows: as if the program had been killed.
    pub(crate) fn break_off_after(&self, at: usize) {
        let is_write = |head: &RequestHead| !matches!(head.method.as_str(), "GET" | "HEAD");
        let writes = AtomicUsize::new(0);
        let is_after = move |head: &RequestHead| writes.fetch_add(usize::from(is_write(head)), Ordering::Relaxed) > at;
        self.registry.fault(Rule::when(is_after).then(Fault::Disconnect));
        self.registry.fault(Rule::when(is_write).after(at).once().then(Fault::LoseAnswer));
    }

    /// Every request since the log was emptied, as `METHOD /path -> status`, digests made equal.
    pub(crate) fn conversation(&self) -> Vec<String> {
        self.registry.requests().iter().map(|request| text::steady(&request.line())).collect()
    }

    /// A file below the work folder with digests made equal.
    pub(crate) fn shown(&self, name: &str) -> String {
        text::steady(&self.context.read(name))
    }

    /// The digest that a tag of a repository points at.
    #[track_caller]
    pub(crate) fn tag(&self, repository: &str, tag: &str) -> String {
        let tags = self.registry.tags(repository);
        let found = tags.iter().find(|(name, _)| name == tag);
        found.map_or_else(|| panic!("no tag {tag} among {tags:?}"), |(_, digest)| digest.clone())
    }
}

impl Said {
    /// The same, after checking that the command went well.
    #[track_caller]
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.text);
        self
    }

    /// The JSON objects of standard output, each on a line of its own, as the schema describes them.
    #[track_caller]
    pub(crate) fn json(&self) -> Vec<serde_json::Value> {
        let parse = |line: &str| match serde_json::from_str(line) {
            Ok(value @ serde_json::Value::Object(_)) => {
                schema::check_line(&value);
                value
            }
            other => panic!("no JSON object on a line: {line} ({other:?})\n{}", self.text),
        };
        self.stdout.lines().map(parse).collect()
    }
}
