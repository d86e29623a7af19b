//! `docker-credential-vault`: a real program that keeps logins as files, and a log of its actions.
#![cfg(unix)]

use super::Scene;

/// Keeps every login in a file of its own, named by its server.
const SCRIPT: &str = r#"
mkdir -p "$HOME/vault"
input=${input%.}
case "$1" in
store) server=$(printf '%s' "$input" | sed 's/^{"ServerURL":"\([^"]*\)".*$/\1/') ;;
*) server=$input ;;
esac
file="$HOME/vault/$(printf '%s' "$server" | tr '/:' '__')"
echo "$1 $server" >> "$HOME/vault.log"
case "$1" in
store) printf '%s' "$input" > "$file" ;;
get) if [ -f "$file" ]; then cat "$file"; else echo 'credentials not found in native keychain'; exit 1; fi ;;
erase) if [ -f "$file" ]; then rm "$file"; else echo 'credentials not found in native keychain'; exit 1; fi ;;
esac
"#;

impl Scene {
    /// Puts `docker-credential-vault` on the PATH.
    pub(crate) fn with_vault(mut self) -> Self {
        self.helper("vault", SCRIPT);
        self
    }

    /// The vault's actions since the last call, one action and server a line.
    pub(crate) fn vault_log(&self) -> String {
        let path = self.context.home().join("vault.log");
        let log = std::fs::read_to_string(&path).unwrap_or_default();
        // It is made again by the next call.
        let _ = std::fs::remove_file(path);
        log.replace(self.registry.address(), "REGISTRY")
    }

    /// A file below the home folder, with the registry's address as `REGISTRY`; empty if it is missing.
    pub(crate) fn home_text(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.context.home().join(name)).ok()?;
        Some(text.replace(self.registry.address(), "REGISTRY"))
    }
}
