//! What is not packed, and why.

use std::fmt;

/// What follows `id_` in the name of an ssh key.
const SSH_KEYS: [&str; 6] = ["rsa", "dsa", "ecdsa", "ecdsa_sk", "ed25519", "ed25519_sk"];

/// A file or a folder that does not go into a module's package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its name, relative to the module's folder, with a slash at the end of a folder: then it stands for all that is in it.
    pub name: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why a file does not go into a module's package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LeftOutReason {
    /// The history of a version control system.
    VersionControl,
    /// What `tofu init` has put there.
    WorkingData,
    /// A state or a plan: it holds secrets in clear text.
    State,
    /// A CLI configuration, which may hold tokens.
    CliConfig,
    /// A log of a crash, which may hold secrets.
    CrashLog,
    /// Values of variables, in a file whose name is usual for those of one user or for secrets.
    Variables,
    /// Passwords, tokens or private keys, by the usual name of such a file, or by the text in it.
    Credentials,
    /// A line of the ignore file.
    Ignored {
        /// The number of the line, from 1.
        line: usize,
    },
}

impl LeftOutReason {
    /// A stable kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::VersionControl => "version-control",
            Self::WorkingData => "working-data",
            Self::State => "state",
            Self::CliConfig => "cli-config",
            Self::CrashLog => "crash-log",
            Self::Variables => "variables",
            Self::Credentials => "credentials",
            Self::Ignored { .. } => "ignored",
        }
    }

    /// Why a file or folder of this name never goes into a package, whatever the ignore file says.
    pub(super) fn of_part(part: &str) -> Option<Self> {
        let has_end = |ends: &[&str]| ends.iter().any(|end| part.ends_with(end));
        match part {
            ".git" | ".hg" | ".svn" => Some(Self::VersionControl),
            ".terraform" => Some(Self::WorkingData),
            ".tofurc" | ".terraformrc" | "tofu.rc" | "terraform.rc" | "credentials.tfrc.json" => Some(Self::CliConfig),
            "tfplan" => Some(Self::State),
            _ if part.contains(".tfstate") || has_end(&[".tfplan"]) => Some(Self::State),
            _ if part.starts_with("crash.") && has_end(&[".log"]) => Some(Self::CrashLog),
            _ => None,
        }
    }

    /// Whether a file or folder of this name holds passwords, tokens or private keys, as far as its name tells. Examples of
    /// them, such as `.env.example`, do not.
    pub(super) fn is_of_credentials(part: &str, is_folder: bool) -> bool {
        if is_folder {
            return part == ".aws";
        }
        let is_example = ["example", "sample", "template", "dist"].iter().any(|end| part.ends_with(&format!(".{end}")));
        let is_key = part.strip_prefix("id_").is_some_and(|kind| SSH_KEYS.contains(&kind));
        match part {
            ".env" | ".netrc" | "_netrc" | "credentials" => true,
            _ if part.starts_with(".env.") => !is_example,
            _ => is_key,
        }
    }

    /// Whether a file of this name is looked into for a private key.
    pub(super) fn may_be_a_key(part: &str) -> bool {
        part.to_ascii_lowercase().ends_with(".pem")
    }

    /// Whether a file of this name holds values that are one user's own or secret, as far as its name tells.
    pub(super) fn is_of_variables(part: &str) -> bool {
        let Some(stem) = part.strip_suffix(".tfvars").or_else(|| part.strip_suffix(".tfvars.json")) else {
            return false;
        };
        let stem = stem.to_ascii_lowercase();
        let secret = ["secret", "credential", "password", "token", "private"];
        stem == "terraform" || stem.strip_suffix(".auto").is_some() || secret.iter().any(|word| stem.contains(word))
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VersionControl => "version control",
            Self::WorkingData => "working data of `tofu init`",
            Self::State => "a state or plan, which holds secrets",
            Self::CliConfig => "a CLI configuration, which may hold tokens",
            Self::CrashLog => "a crash log, which may hold secrets",
            Self::Variables => "values of variables, which may be secret",
            Self::Credentials => "passwords, tokens or private keys",
            Self::Ignored { line } => return write!(f, "line {line} of the ignore file"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: &str, want: Option<&str>) {
        let variables = LeftOutReason::is_of_variables(part).then_some(LeftOutReason::Variables);
        let credentials = LeftOutReason::is_of_credentials(part, part == ".aws").then_some(LeftOutReason::Credentials);
        let found = LeftOutReason::of_part(part).or(variables).or(credentials);
        assert_eq!(found.as_ref().map(LeftOutReason::code), want, "{part}");
    }

    #[test]
    fn names_that_stay_at_home() {
        check(".git", Some("version-control"));
        check(".terraform", Some("working-data"));
        check("terraform.tfstate", Some("state"));
        check("terraform.tfstate.1700000000.backup", Some("state"));
        check(".terraform.tfstate.lock.info", Some("state"));
        check("plan.tfplan", Some("state"));
        check("tfplan", Some("state"));
        check("crash.log", Some("crash-log"));
        check("crash.20260301.log", Some("crash-log"));
        check("terraform.rc", Some("cli-config"));
        check("terraform.tfvars", Some("variables"));
        check("terraform.tfvars.json", Some("variables"));
        check("prod.auto.tfvars", Some("variables"));
        check("Secrets.tfvars", Some("variables"));
        check("db-password.tfvars.json", Some("variables"));
        for part in [".env", ".env.production", ".netrc", "id_rsa", "id_ed25519", ".aws", "credentials"] {
            check(part, Some("credentials"));
        }
    }

    #[test]
    fn names_that_are_packed() {
        for part in
            [".gitignore", "main.tf", ".terraform.lock.hcl", "eu.tfvars", "terraform.tf", "tfstate.tf", "crash.tf"]
        {
            check(part, None);
        }
        for part in [".env.example", ".envrc", "id_rsa.pub", "credentials.tf", "ca.pem"] {
            check(part, None);
        }
    }
}
