//! The names under which programs keep files that stay out of a module's package: one table.
//!
//! Sources: the documentation of each program about its files; GitHub's templates for ignore files (Terraform, and those of
//! the languages and tools below `Global`); the file rules of gitleaks, trufflehog and git-secrets.

use super::left_out::LeftOutReason;
use crate::embedded::is_repository;

/// Names in lower case, as the ends of paths: `*` is any text without a slash, and a `/` at the end means a folder.
/// An ignore file can take them back.
#[rustfmt::skip]
const TABLE: &[(LeftOutReason, &[&str])] = &[
    // OpenTofu, Terraform and Terragrunt
    (LeftOutReason::State, &["tfplan.*", "plan.out", "*.plan.out", "*.tfplan.*", "*.tfplan-*", "*.tfstate.*", "*.tfstate-*"]),
    (LeftOutReason::CliConfig, &["*.tofurc", "*.terraformrc", "*.tfrc", "*.tfrc.json", ".terraform.d/"]),
    (LeftOutReason::Credentials, &[
        "*.tfbackend",
        // keys and key stores
        "*.key", "*.p12", "*.pfx", "*.pkcs12", "*.p8", "*.pvk", "*.jks", "*.jceks", "*.bcfks", "*.keystore", "*.kdb", "*.kdbx",
        "*.ppk", "*.agekey", "*.snk", "*.keychain", "*.keychain-db", "*.ovpn", "wg0.conf", "wg1.conf", "wg-*.conf", "wireguard.conf",
        "*.mobileprovision", "*.keytab",
        "secring.*", "private-keys-v1.d/", ".gnupg/", ".password-store/", "age/keys.txt",
        // ssh
        "deploy_key", ".ssh/", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*", "*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*-rsa",
        "*-ed25519", "ssh_host_*_key", ".vagrant/",
        // environments
        ".env", ".env.*", "*.env", ".envrc", ".envrc.*", ".direnv/",
        // logins of hosts
        ".netrc", "_netrc", "netrc", ".authinfo", "*.htpasswd", "htpasswd", ".htdigest", ".wgetrc", ".curlrc", "_curlrc", ".git-credentials",
        ".config/git/credentials", ".config/gh/", ".github-token", ".gitlab-token", ".config/glab-cli/", ".config/hub", ".ftpconfig", "sftp-config.json", ".msmtprc",
        ".smbcredentials",
        // registries and package managers
        ".npmrc", ".yarnrc.yml", "nuget.config", ".pypirc", "pip.conf", ".gradle/gradle.properties", ".dockercfg", ".dockerconfigjson", ".docker/config.json",
        "containers/auth.json", "auth.json",
        ".helm/repository/", ".config/helm/", ".gem/credentials", ".bundle/config", ".cargo/credentials", ".cargo/credentials.toml",
        ".m2/settings.xml", ".m2/settings-security.xml", ".composer/", ".jfrog/", ".oras/",
        // clouds and clusters
        ".aws/", ".azure/", "accesstokens.json", "azureprofile.json", ".oci/", "oci_api_key", ".gcloud/", ".config/gcloud/", "gcloud/credentials.db", "application_default_credentials.json",
        "service-account.json", "service_account.json", "serviceaccount.json", "sa-key*.json", "client_secret*.json", "client-secret.json",
        "*firebase-adminsdk*.json",
        "accesskeys.csv", "*_accesskeys.csv", "rootkey.csv", ".boto", ".s3cfg", ".passwd-s3fs", ".bluemix/", ".doctl/",
        ".config/doctl/", ".config/hcloud/", ".config/linode-cli", ".fly/", ".cloudflared/", ".kube/", "kubeconfig", "kubeconfig.*",
        "kubeconfig-*", "kubeconfig_*", "kube_config_*.yml", "kube_config_*.yaml", "*.kubeconfig", "*-kubeconfig", "*_kubeconfig", "talosconfig", "*.talosconfig",
        ".databrickscfg", ".snowsql/", ".dbt/", ".kaggle/", ".sentryclirc", ".config/infracost/", "rclone.conf", ".config/rclone/",
        ".config/op/", "ngrok.yml", ".pulumi/", ".chef/",
        // databases
        ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".dbshell",
        // vaults
        ".vault-token", "vault.token", ".consul-token", ".nomad-token", ".vault_pass", ".vault_pass.*", ".vault-pass", ".vault-pass.*", ".vault_password", "vault_pass.txt",
        "vault-password.txt", "vault_password.txt", ".ansible_vault", ".bitwarden/", "vault-init.json", "unseal-keys.json",
        // plain words
        "credentials", "creds.json", "credentials.json", "credentials.yml", "credentials.yaml", "credentials.csv", "credentials.ini",
        "credentials.toml", "credentials.txt", ".credentials", "passwords.txt", "password.txt", "passwd.txt", ".password", ".passwd",
        "secrets.txt", "secret.txt", ".secrets", ".secrets/", ".secret", "token.txt", ".token", "apikey.txt", "api_key.txt",
        // what was typed
        ".*_history", ".histfile", ".zhistory",
    ]),
    (LeftOutReason::Variables, &["*.tfvars", "*.tfvars.json"]),
];

/// What a module has of its own: code, texts, templates, public keys.
const OWN: [&str; 14] = [
    ".tf",
    ".tofu",
    ".tf.json",
    ".tofu.json",
    ".hcl",
    ".md",
    ".pub",
    ".tpl",
    ".tftpl",
    ".tmpl",
    ".j2",
    ".rego",
    ".sh",
    ".py",
];

/// Words in the names of files that show what another one looks like.
const EXAMPLES: [&str; 8] = ["example", "examples", "sample", "samples", "template", "templates", "dist", "public"];

/// Folders of a module whose files are for whoever tries it. Values of variables there are part of it, except in files that
/// are read without being named.
const TRIALS: [&str; 7] = ["example", "examples", "sample", "samples", "test", "tests", "fixtures"];

/// The names of files for keys that may be public as well, or no keys: what is in them decides.
const KEY_FILES: [&str; 12] = [
    "*.pem",
    "*.asc",
    "*.gpg",
    "*.pgp",
    "*.crt",
    "*.cer",
    "*.cert",
    "*.der",
    "*.pk8",
    "service-account*.json",
    "service_account*.json",
    "serviceaccount*.json",
];

/// Marks of copies that editors and people make.
#[rustfmt::skip]
const COPIES: &[&str] = &[
    "~", "#", ".bak", ".bak1", ".bak2", "-bak", "_bak", ".backup", "-backup", "_backup", ".old", "-old", "_old", ".orig", ".save", ".tmp",
    ".copy", " copy", ".disabled", ".1", ".2", ".swp", ".swo",
];

/// A path in lower case, and without the marks that make its last part a copy of another file.
pub(super) struct UsualName {
    path: String,
    /// The same without the dot that vim puts before the name of a swap file, if it may be one: `.env.swp` is of `.env` or `env`.
    undotted: Option<Box<Self>>,
}

impl UsualName {
    pub(super) fn of(path: &str) -> Self {
        let mut path = path.to_lowercase();
        let folder = path.rfind('/').map_or(0, |slash| slash + 1);
        let is_swap = path[folder..].starts_with('.') && [".swp", ".swo"].iter().any(|end| path.ends_with(end));
        if path[folder..].starts_with(['#', '~']) {
            path.remove(folder);
        }
        while let Some(mark) = COPIES.iter().find(|mark| path[folder..].len() > mark.len() && path.ends_with(**mark)) {
            path.truncate(path.len() - mark.len());
        }
        let undotted =
            is_swap.then(|| Self::of(&format!("{}{}", &path[..folder], path[folder..].trim_start_matches('.'))));
        Self { path, undotted: undotted.map(Box::new) }
    }

    /// Its last part.
    pub(super) fn last(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Why a file or folder of this name stays out; `None` if it is packed.
    pub(super) fn reason(&self, is_folder: bool) -> Option<LeftOutReason> {
        // `.env.sh` is for a shell, not for the module.
        let is_own = !self.last().starts_with('.') && OWN.iter().any(|end| self.path.ends_with(end));
        if !is_folder && (is_own || self.is_example()) {
            return None;
        }
        let last = self.last();
        let is_match = |pattern: &str| {
            let (pattern, is_of_folders) = pattern.strip_suffix('/').map_or((pattern, false), |folder| (folder, true));
            is_folder == is_of_folders
                && if pattern.contains('/') { matches_end(pattern, &self.path) } else { matches_part(pattern, last) }
        };
        let Some((reason, _)) = TABLE.iter().find(|(_, patterns)| patterns.iter().any(|pattern| is_match(pattern)))
        else {
            return self.undotted.as_ref()?.reason(is_folder);
        };
        (*reason != LeftOutReason::Variables || !self.is_for_trials()).then(|| reason.clone())
    }

    /// Whether the name says that the file is for a key, which may be a public one.
    pub(super) fn may_be_a_key(&self) -> bool {
        KEY_FILES.iter().any(|pattern| matches_part(pattern, self.last()))
    }

    fn is_example(&self) -> bool {
        self.last().split(|character: char| !character.is_alphanumeric()).any(|word| EXAMPLES.contains(&word))
    }

    /// Whether a file of variables is one of an example or a test, that a command must name.
    fn is_for_trials(&self) -> bool {
        let last = self.last();
        let stem = last.trim_end_matches(".json").trim_end_matches(".tfvars");
        let secret = ["secret", "credential", "password", "token", "private"];
        let is_read = stem == "terraform"
            || stem.rsplit('.').next() == Some("auto")
            || secret.iter().any(|word| stem.contains(word));
        !is_read && self.path.split('/').rev().skip(1).any(|folder| TRIALS.contains(&folder))
    }
}

/// Why a file or folder of this path never goes into a package, whatever the ignore file says: by its own name, or by that of a
/// folder above it.
pub(super) fn never_packed(path: &str, is_folder: bool) -> Option<LeftOutReason> {
    let (above, last) = path.rsplit_once('/').map_or((None, path), |(above, last)| (Some(above), last));
    let above = above.into_iter().flat_map(|above| above.split('/')).find_map(|part| never_named(part, true));
    above.or_else(|| never_named(last, is_folder))
}

fn never_named(part: &str, is_folder: bool) -> Option<LeftOutReason> {
    let name = UsualName::of(part);
    std::iter::successors(Some(&name), |name| name.undotted.as_deref()).find_map(|name| match name.last() {
        ".terraform" | ".terragrunt-cache" => Some(LeftOutReason::WorkingData),
        "terraform.tfstate.d" if is_folder => Some(LeftOutReason::State),
        _ if is_repository(part) => Some(LeftOutReason::VersionControl),
        // A folder is only called so: `modules/remote.tfstate`.
        _ if is_folder => None,
        ".tofurc" | ".terraformrc" | "tofu.rc" | "terraform.rc" | "credentials.tfrc.json" => {
            Some(LeftOutReason::CliConfig)
        }
        "tfplan" => Some(LeftOutReason::State),
        name if name.ends_with(".tfplan") || is_state(name) => Some(LeftOutReason::State),
        name if name.strip_prefix("crash.").is_some_and(|rest| rest.rsplit('.').next() == Some("log")) => {
            Some(LeftOutReason::CrashLog)
        }
        _ => None,
    })
}

/// Whether OpenTofu writes a state under this name, which lacks `.backup` already, or the lock of one.
fn is_state(name: &str) -> bool {
    let after = name.rsplit_once(".tfstate").map(|(_, after)| after);
    after.is_some_and(|after| {
        matches!(after, "" | ".lock.info") || after.strip_prefix('.').is_some_and(|time| time.parse::<u64>().is_ok())
    })
}

/// Whether the last parts of a path are as a pattern of several parts says.
fn matches_end(pattern: &str, path: &str) -> bool {
    let parts = pattern.matches('/').count() + 1;
    let start = path.rmatch_indices('/').nth(parts - 1).map_or(0, |(slash, _)| slash + 1);
    let (mut wanted, mut found) = (pattern.split('/'), path[start..].split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (Some(wanted), Some(found)) if matches_part(wanted, found) => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// Whether the first piece of the pattern begins the text, the last one ends it, and those between follow each other.
fn matches_part(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').map_or((None, rest), |(between, last)| (Some(between), last));
    for piece in between.into_iter().flat_map(|between| between.split('*')) {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests;
