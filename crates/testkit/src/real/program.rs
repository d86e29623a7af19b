//! Which real registry runs: its program, its configuration, and how its log says where it listens.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A registry that this machine may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealProgram {
    /// registry:2: `docker-registry`, as Debian calls it, or `registry`.
    Registry2,
    /// CNCF distribution 3, installed as `distribution-registry`: its own name is that of registry:2.
    Distribution3,
    /// `zot`, over plain HTTP and without access control.
    Zot,
}

impl RealProgram {
    /// The names under which it is looked for on the `PATH`.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Registry2 => &["docker-registry", "registry"],
            Self::Distribution3 => &["distribution-registry"],
            Self::Zot => &["zot"],
        }
    }

    /// Whether one of the names is on the `PATH`.
    pub fn available(self) -> bool {
        self.path().is_some()
    }

    /// The first of its names that is on the `PATH`.
    pub(super) fn path(self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let found = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
        self.names().iter().find_map(found)
    }
}

/// zot's configuration file: everything below `data`, a port that is free, the log on standard output.
pub(super) fn zot_config(data: &Path) -> String {
    json!({
        "distSpecVersion": "1.1.1",
        "storage": {"rootDirectory": data, "gc": false},
        "http": {"address": "127.0.0.1", "port": "0"},
        "log": {"level": "info"},
    })
    .to_string()
}

/// The address in a line of a log that says where the registry listens.
pub(super) fn listening(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
        let port = rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        return Some(format!("127.0.0.1:{port}")).filter(|_| !port.is_empty());
    }
    let said: Value = serde_json::from_str(line).ok()?;
    let port = said["port"].as_u64().filter(|port| *port > 0)?;
    said["message"].as_str()?.contains("listening on kernel chosen port").then(|| format!("127.0.0.1:{port}"))
}

#[cfg(test)]
mod tests {
    use super::listening;

    #[track_caller]
    fn check(line: &str, want: Option<&str>) {
        assert_eq!(listening(line).as_deref(), want, "{line}");
    }

    #[test]
    fn each_log_says_where_it_listens() {
        check(r#"{"level":"info","msg":"listening on 127.0.0.1:34261","version":"v3.0.0"}"#, Some("127.0.0.1:34261"));
        check(r#"time="x" level=info msg="listening on 127.0.0.1:80, tls""#, Some("127.0.0.1:80"));
        let zot = r#"{"level":"info","message":"port is unspecified, listening on kernel chosen port","port":4711}"#;
        check(zot, Some("127.0.0.1:4711"));
        check(&zot.replace("4711", "0"), None);
        check(r#"{"level":"info","message":"configuration settings","port":4711}"#, None);
        check("not JSON", None);
    }
}
