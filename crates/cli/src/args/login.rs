//! `login` and `logout`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error};

use super::{Network, Output};

/// Arguments of `login`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci login ghcr.io --username ada                      # asks for the password on a terminal
  echo \"$TOKEN\" | tofu-oci login ghcr.io --username ada --password-stdin
  tofu-oci login ghcr.io      # checks the login that is stored; without one, asks on a terminal
  tofu-oci login registry.example.com:5000 -u ada --password-stdin < password.txt \\
      --auth-file \"$XDG_RUNTIME_DIR/containers/auth.json\"    # podman's file

What is stored, and where, is what `docker login` stores. The file is $DOCKER_CONFIG/config.json,
else ~/.docker/config.json, or the one that --auth-file names. Where it names a credential helper
for the registry (credHelpers, else credsStore), the helper keeps the password, and the file says
only that there is one. Without a helper the password stands in the file in the clear (base64 is
no cipher). A new file is for its owner alone; one that is there keeps its mode, with a warning
where others may read it.

A login in ~/.docker/config.json itself is used by docker, podman, skopeo, crane and tofu too. One
in a helper is used by docker and crane. tofu asks the helper for https://HOST, and helpers that
keep docker's name, the bare HOST, do not know that: login says so where it is the case. skopeo
1.9 asks credHelpers and not credsStore.

The registry is asked first. A login that it refuses is not stored, and neither is one that it
could not be asked about. A registry that lets everybody in cannot check a login: it is stored
with a note. docker.io, index.docker.io and registry-1.docker.io are one registry, stored as
https://index.docker.io/v1/, as docker does. There is no option for the password itself: others
on the machine can read the arguments of a program.

Exit codes: 0 the login works and is stored; 1 refused, or the file or helper cannot be written;
2 wrong usage, or a malformed file (it is left as it is); 3 the registry cannot be reached.")]
pub(crate) struct LoginArgs {
    /// The registry: HOST[:PORT], as repositories of it begin
    #[arg(value_name = "REGISTRY")]
    pub(crate) registry: String,
    /// The account. Without it the login that is stored is checked, and nothing is written; where there is none, the
    /// account is asked for on a terminal
    #[arg(short, long, value_name = "NAME", value_parser = super::identity::user())]
    pub(crate) username: Option<String>,
    /// Read the password, or a token in its place, from standard input; one line break at its end is cut
    #[arg(long, requires = "username")]
    pub(crate) password_stdin: bool,
    /// Refused: others on the machine can read the arguments of a program
    #[arg(short = 'p', long = "password", hide = true, num_args = 0..=1, default_missing_value = "", value_parser = NoPassword)]
    _password: Option<String>,
    /// Store it in this file, of docker's form, such as podman's containers/auth.json
    #[arg(long, value_name = "FILE", requires = "username")]
    pub(crate) auth_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Arguments of `logout`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci logout ghcr.io
  tofu-oci logout registry.example.com:5000 --auth-file \"$XDG_RUNTIME_DIR/containers/auth.json\"

Removes what `login`, `docker login` and older dockers have stored for the registry: the entries
of the file under HOST, https://HOST, http://HOST and https://HOST/v1/ (for Docker Hub, under all
its names), and what the file's credential helper keeps under them. Logins for single
repositories (HOST/PATH, as podman can make them) stay. No registry is asked.

Whatever else would still answer for the registry, such as podman's file or an oci_credentials
block, is named and left alone. Exit codes: 0 logged out, or there was no login; 1 the file cannot
be written, or the helper failed; 2 wrong usage, or a malformed file (it is left as it is).")]
pub(crate) struct LogoutArgs {
    /// The registry: HOST[:PORT], as it was given to login
    #[arg(value_name = "REGISTRY")]
    pub(crate) registry: String,
    /// Remove it from this file, of docker's form, such as podman's containers/auth.json
    #[arg(long, value_name = "FILE")]
    pub(crate) auth_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Refuses a password on the command line, and repeats nothing of it.
#[derive(Clone, Copy, Debug)]
struct NoPassword;

impl TypedValueParser for NoPassword {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, _: &OsStr) -> Result<String, Error> {
        const TEXT: &str = "there is no option for the password itself: others on the machine can read it\n\nhint: \
                            use --password-stdin, such as: printf %s \"$PASSWORD\" | tofu-oci login REGISTRY \
                            --username NAME --password-stdin\n";
        Err(Error::raw(ErrorKind::ValueValidation, TEXT).with_cmd(command))
    }
}
