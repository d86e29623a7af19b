//! `module`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use tofu_oci_types::Version;

use super::names::strict_version;
use super::{
    ModuleLockArgs, ModuleMirrorArgs, ModulePullArgs, ModuleVersionsArgs, OutputArgs, RegistryAccess, SignerArgs,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module push network ghcr.io/acme/network --version 1.4.0
  tofu-oci module versions oci://ghcr.io/acme/network
  tofu-oci module pull 'oci://ghcr.io/acme/network?tag=1.4.0' network
  tofu-oci module lock --check

A module is one package in an OCI repository, which OpenTofu 1.10 and later install:
  source = \"oci://ghcr.io/acme/network?tag=1.4.0\"")]
pub(crate) struct ModuleArgs {
    #[command(subcommand)]
    pub(crate) verb: ModuleVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModuleVerb {
    /// Publish a folder with a module to an OCI repository
    Push(Box<ModulePushArgs>),
    /// Fetch a module from an OCI repository or a module registry into a folder, verified
    Pull(Box<ModulePullArgs>),
    /// Pin the oci:// modules of a configuration to digests, and keep the pins fresh
    Lock(Box<ModuleLockArgs>),
    /// List the versions of a module in an OCI repository or a module registry
    Versions(Box<ModuleVersionsArgs>),
    /// Bring modules, and the modules that they call, into your own OCI repositories
    Mirror(Box<ModuleMirrorArgs>),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci module push network ghcr.io/acme/network --version 1.4.0
  tofu-oci module push network ghcr.io/acme/network:1.4.0 --sign-key cosign.key --licenses MPL-2.0
  tofu-oci module push . 127.0.0.1:5000/acme/network --version 1.4.0 --dry-run

The version gets its one canonical tag (1.4.0; a + becomes _). The same files give the same bytes on
every machine: pushing them again changes nothing and ends with 0. State files, .terraform, .git,
files of variables and those with secrets' usual names stay out, and so does what .tofuignore or
.terraformignore names. A file with a private key or a token in it is refused. See `tofu-oci help module-publishing`.")]
pub(crate) struct ModulePushArgs {
    /// The folder with the module
    ///
    /// It becomes the root of the package. A configuration calls a folder in it with //FOLDER.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Where to publish: REGISTRY/REPOSITORY, or oci:DIR for an OCI image layout directory
    #[arg(value_name = "REPOSITORY")]
    pub(crate) destination: String,
    /// The version, if REPOSITORY does not contain it
    #[arg(long, value_name = "V", value_parser = strict_version)]
    pub(crate) version: Option<Version>,
    /// Where the source lies: a URL, for the annotation org.opencontainers.image.source
    #[arg(long, value_name = "URL", value_parser = annotation_text, help_heading = "Annotations")]
    pub(crate) source: Option<String>,
    /// The revision of the source, for the annotation org.opencontainers.image.revision
    #[arg(long, value_name = "REVISION", value_parser = annotation_text, help_heading = "Annotations")]
    pub(crate) revision: Option<String>,
    /// The licences as an SPDX expression, for the annotation org.opencontainers.image.licenses
    #[arg(long, hide_short_help = true, value_name = "SPDX", value_parser = annotation_text, help_heading = "Annotations")]
    pub(crate) licenses: Option<String>,
    /// Another annotation of the manifest (repeatable)
    #[arg(long = "annotation", value_name = "KEY=VALUE", value_parser = annotation, help_heading = "Annotations")]
    pub(crate) annotations: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) signer: SignerArgs,
    /// Publish files that OpenTofu could not read
    ///
    /// Otherwise `module push` refuses syntax errors, and calls of modules that are not in the package: outside of DIR, or
    /// left out of it.
    #[arg(long)]
    pub(crate) skip_checks: bool,
    /// Move the tag if it names another module already
    #[arg(long)]
    pub(crate) replace_tag: bool,
    /// Print what would be written and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) access: RegistryAccess,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A value for people: one line.
fn annotation_text(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        _ if text.chars().any(char::is_control) => Err("it has a control character".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// `KEY=VALUE`.
fn annotation(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as org.opencontainers.image.vendor=Acme")?;
    if key.is_empty() || key.chars().any(|one| one.is_whitespace() || one.is_control()) {
        return Err("the key is empty, or has a space in it".to_owned());
    }
    Ok((key.to_owned(), annotation_text(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<(&str, &str), &str>) {
        let got = annotation(text);
        let got = got.as_ref().map(|(key, value)| (key.as_str(), value.as_str()));
        assert_eq!(got.map_err(String::as_str), want, "{text:?}");
    }

    #[test]
    fn an_annotation_is_a_key_and_a_value_of_one_line() {
        check("a.b=c=d", Ok(("a.b", "c=d")));
        check("a=", Err("it is empty"));
        check("a=x\u{1b}[2J", Err("it has a control character"));
        check("a b=c", Err("the key is empty, or has a space in it"));
        check("=c", Err("the key is empty, or has a space in it"));
        check("a", Err("write KEY=VALUE, such as org.opencontainers.image.vendor=Acme"));
    }
}
