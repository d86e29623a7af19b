//! `git` without any login: no settings, helpers, `.netrc` or certificate of the user, and the way to the network that they say.

use std::path::PathBuf;

use tofu_oci_source::GitCommand;
use tofu_oci_types::GitTransport;
use tokio::process::Command;

/// Settings that say how a host is reached, and not who asks.
const KEPT: [&str; 10] = [
    "http.proxy",
    "http.proxyauthmethod",
    "http.proxysslcainfo",
    "http.schannelcheckrevoke",
    "http.schannelusesslcainfo",
    "http.sslbackend",
    "http.sslcainfo",
    "http.sslcapath",
    "http.sslverify",
    "http.version",
];

/// Variables that lead git to logins or settings of the user.
const UNSET: [&str; 9] = [
    "GIT_ASKPASS",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "GIT_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "XDG_CONFIG_HOME",
];

/// Of what `git config -z` lists, the settings that are kept.
pub(crate) fn kept(listed: Vec<u8>) -> Vec<(String, String)> {
    let listed = String::from_utf8(listed).unwrap_or_default();
    let settings = listed.split('\0').filter_map(|entry| entry.split_once('\n'));
    let settings = settings.filter(|(name, _)| KEPT.contains(name));
    settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Lets git find these settings alone, and no home in which it or curl looks for logins.
pub(crate) fn environment(running: &mut Command, command: &GitCommand<'_>, kept: &[(String, String)]) {
    for name in UNSET {
        running.env_remove(name);
    }
    // A commit has no file in there.
    let empty = std::path::absolute(command.dir.join(".git")).unwrap_or_else(|_| PathBuf::from("/dev/null"));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    running.env("HOME", &empty).env("USERPROFILE", &empty).env("GIT_CONFIG_NOSYSTEM", "1");
    let allowed = if command.transport == GitTransport::Http { "http:https" } else { "https" };
    running.env("GIT_ALLOW_PROTOCOL", allowed);
    // The login of the machine (Kerberos, NTLM) is one, too. A value may have the password of a proxy: no argument has it.
    let no_login = ("http.emptyAuth".to_owned(), "false".to_owned());
    let settings = kept.iter().chain([&no_login]);
    for (index, (name, value)) in settings.enumerate() {
        let in_home = value.strip_prefix("~/").and_then(|rest| Some(home.as_ref()?.join(rest)));
        running.env(format!("GIT_CONFIG_KEY_{index}"), name);
        match in_home {
            Some(path) => running.env(format!("GIT_CONFIG_VALUE_{index}"), path),
            None => running.env(format!("GIT_CONFIG_VALUE_{index}"), value),
        };
    }
    running.env("GIT_CONFIG_COUNT", (kept.len() + 1).to_string());
}
