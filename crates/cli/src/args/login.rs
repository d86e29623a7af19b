//! `login` and `logout`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error};

use super::{Network, OutputArgs, Timeout};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci login ghcr.io --username ada                      # asks for the password on a terminal
  echo \"$TOKEN\" | tofu-oci login ghcr.io --username ada --password-stdin
  tofu-oci login ghcr.io      # checks the login that is stored; without one, asks on a terminal
  tofu-oci login registry.example.com:5000 -u ada --password-stdin < password.txt \\
      --auth-file \"$XDG_RUNTIME_DIR/containers/auth.json\"    # podman's file

`login` stores what `docker login` stores. The file is $DOCKER_CONFIG/config.json, else
~/.docker/config.json, or the one that --auth-file names. If it names a credential helper for the
registry (credHelpers, else credsStore), the helper keeps the password, and the file says only that
there is one. Without a helper the password is in the file, unencrypted (base64 is not a cipher). A
new file is for its owner alone; an existing one keeps its mode, with a warning if others may read
it.

docker, podman, skopeo, crane and tofu too use a login in ~/.docker/config.json itself. docker and
crane use one in a helper. tofu asks the helper for https://HOST; a helper that keeps docker's name,
the bare HOST, does not know that, and `login` says so. skopeo 1.9 asks credHelpers and not
credsStore.

`login` asks the registry first. It does not store a login that the registry refuses, or one that it
could not check. A registry that lets everyone in cannot check a login: `login` stores it with a
note. docker.io, index.docker.io and registry-1.docker.io are one registry, stored as
https://index.docker.io/v1/, as docker does. There is no option for the password itself: others on
the machine can read the arguments of a program.

Exit codes: 0 the login works and is stored; 1 refused, or the file or helper cannot be written;
2 wrong usage, or a malformed file (it is left as it is); 3 the registry cannot be reached.")]
pub(crate) struct LoginArgs {
    /// The registry, HOST[:PORT]: the part of REGISTRY/REPOSITORY before the first slash
    #[arg(value_name = "REGISTRY")]
    pub(crate) registry: String,
    /// The account [default: the stored one, which `login` then checks and leaves as it is]
    ///
    /// If no login is stored, `login` asks for the account on a terminal.
    #[arg(short, long, value_name = "NAME", value_parser = super::identity::user())]
    pub(crate) username: Option<String>,
    /// Read the password or token from standard input
    ///
    /// tofu-oci drops one line break at its end.
    #[arg(long, requires = "username")]
    pub(crate) password_stdin: bool,
    /// Refused: others on the machine can read the arguments of a program
    #[arg(short = 'p', long = "password", hide = true, num_args = 0..=1, default_missing_value = "", value_parser = NoPassword)]
    _password: Option<String>,
    /// Store the login in this file, which has docker's form, such as podman's containers/auth.json
    #[arg(long, value_name = "FILE", requires = "username")]
    pub(crate) auth_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) network: Network,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci logout ghcr.io
  tofu-oci logout registry.example.com:5000 --auth-file \"$XDG_RUNTIME_DIR/containers/auth.json\"

Removes what `login`, `docker login` and older dockers have stored for the registry: the entries
of the file under HOST, https://HOST, http://HOST and https://HOST/v1/ (for Docker Hub, under all
its names), and what the file's credential helper keeps under them. Logins for single
repositories (HOST/PATH, as podman can make them) stay. `logout` asks no registry.

If something else would still answer for the registry, such as podman's file or an oci_credentials
block, `logout` names it and leaves it alone. Exit codes: 0 logged out, or there was no login; 1 the
file cannot be written, or the helper failed; 2 wrong usage, or a malformed file (it is left as it
is).")]
pub(crate) struct LogoutArgs {
    /// The registry, HOST[:PORT], as you gave it to `login`
    #[arg(value_name = "REGISTRY")]
    pub(crate) registry: String,
    /// Remove the login from this file, which has docker's form, such as podman's containers/auth.json
    #[arg(long, value_name = "FILE")]
    pub(crate) auth_file: Option<PathBuf>,
    /// How long to wait for a credential helper, such as 5s (plain seconds without a unit), 30 s at most
    #[arg(
        long,
        value_name = "DURATION",
        env = "TOFU_OCI_TIMEOUT",
        default_value = "2m",
        allow_negative_numbers = true
    )]
    pub(crate) timeout: Timeout,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
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
