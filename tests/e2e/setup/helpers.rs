//! Credential helpers: shell scripts on the PATH.

use super::Scene;

impl Scene {
    /// Puts `docker-credential-NAME` on the PATH. Each call of it adds a line to `calls` in the home folder: its name,
    /// its argument, and its input between brackets.
    pub(crate) fn helper(&mut self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let record = format!("input=$(cat; echo .)\necho \"{name} $1 [${{input%.}}]\" >> \"$HOME/calls\"\n");
        let path = format!("bin/docker-credential-{name}");
        let path = self.context.write_home(&path, format!("#!/bin/sh\n{record}{script}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let outside = std::env::var("PATH").unwrap_or_default();
        let folder = self.context.home().join("bin");
        self.context.env("PATH", format!("{}:{outside}", folder.display()));
    }

    /// A helper that answers every question with this login.
    pub(crate) fn helper_with(&mut self, name: &str, username: &str, secret: &str) {
        let answer = serde_json::json!({"ServerURL": "x", "Username": username, "Secret": secret});
        self.helper(name, &format!("printf '%s' '{answer}'"));
    }

    /// The helpers that were called, `REGISTRY` for the registry's address; the list is emptied.
    pub(crate) fn helper_calls(&self) -> Vec<String> {
        let path = self.context.home().join("calls");
        let calls = std::fs::read_to_string(&path).unwrap_or_default();
        // The file is missing if no helper was called.
        let _ = std::fs::remove_file(&path);
        calls.lines().map(|line| line.replace(self.registry.address(), "REGISTRY")).collect()
    }
}
