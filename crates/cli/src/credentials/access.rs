//! Who this run is to registries, by the arguments.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use tofu_oci_credentials::Secret;
use zeroize::Zeroizing;

use crate::args::{IdentityArgs, LookupArgs};
use crate::connect::{End, From};
use crate::diagnostic::Diagnostic;
use crate::prompt;

/// No password is longer; a file that was piped in by mistake is not read to its end.
const PASSWORD_LIMIT: u64 = 64 << 10;

/// Who this run is to registries.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// Whoever the user's files and helpers say, read as `OpenTofu` would in this directory.
    Ambient {
        /// Where `--chdir` says that the work is done.
        chdir: Option<PathBuf>,
    },
    /// Nobody.
    Anonymous,
    /// This user of one registry, and nobody elsewhere.
    As {
        /// The registry, as the command names it.
        registry: String,
        /// The name.
        username: String,
        /// The password, or a token in its place.
        password: Secret,
    },
}

impl IdentityArgs {
    /// What the arguments say; a password is read from standard input. `named` are the registries that the command
    /// names.
    ///
    /// # Errors
    /// With `--username`, when these are none or several, and when there is no password.
    pub(crate) async fn access(&self, named: &[&str], chdir: Option<&Path>) -> Result<Access, Diagnostic> {
        if self.anonymous {
            return Ok(Access::Anonymous);
        }
        let Some(username) = self.username.clone() else {
            return Ok(Access::Ambient { chdir: chdir.map(Path::to_owned) });
        };
        let registry = one(named)?.to_owned();
        if std::io::stdin().is_terminal() {
            return Err(Diagnostic::usage("--password-stdin reads the password from a pipe, not from a terminal")
                .hint("such as: printf %s \"$PASSWORD\" | tofu-oci … --username USER --password-stdin"));
        }
        Ok(Access::As { registry, username, password: password_from_stdin().await? })
    }

    /// Refuses these options where no registry is spoken to.
    ///
    /// # Errors
    /// When one of them is given.
    pub(crate) fn refuse(&self, because: &str, instead: &str) -> Result<(), Diagnostic> {
        let given = match (self.anonymous, self.username.is_some()) {
            (true, _) => "--anonymous",
            (_, true) => "--username",
            _ => return Ok(()),
        };
        Err(Diagnostic::usage(format!("{given} has no meaning here: {because}")).hint(instead))
    }

    /// Refuses `--username` where only the user's files say which registries are asked.
    ///
    /// # Errors
    /// When it is given.
    pub(crate) fn need_registry(&self) -> Result<(), Diagnostic> {
        if self.username.is_some() { one(&[]).map(drop) } else { Ok(()) }
    }
}

impl LookupArgs {
    /// Who asks for providers.
    ///
    /// # Errors
    /// As [`IdentityArgs::access`]; the registry is that of `--from`.
    pub(crate) async fn access(&self, identity: &IdentityArgs, chdir: Option<&Path>) -> Result<Access, Diagnostic> {
        let named = of_from(self.from.as_deref())?;
        identity.access(&named.as_deref().into_iter().collect::<Vec<_>>(), chdir).await
    }
}

/// The one registry of a command.
fn one<'a>(named: &[&'a str]) -> Result<&'a str, Diagnostic> {
    match named {
        [registry] => Ok(registry),
        [registry, others @ ..] if others.iter().all(|other| other == registry) => Ok(registry),
        [] => Err(Diagnostic::usage("--username is for one registry, and this command names none")
            .hint("name it: --from REGISTRY/REPOSITORY, or --from 'REGISTRY/${namespace}/${type}'")
            .hint("or log in once with `tofu-oci login REGISTRY --username USER`, and leave --username out")),
        [one, others @ ..] => {
            let others = others.join(" and ");
            Err(Diagnostic::usage(format!("--username is for one registry, and this command names {one} and {others}"))
                .hint("log in to each with `tofu-oci login REGISTRY --username USER`, and leave --username out"))
        }
    }
}

/// The password of a login that stands on standard input. An interruption does not wait for it.
///
/// # Errors
/// When there is none.
pub(crate) async fn password_from_stdin() -> Result<Secret, Diagnostic> {
    secret_from_stdin("--username USER --password-stdin").await
}

/// The password that stands on standard input for the sake of these options.
///
/// # Errors
/// When there is none.
pub(crate) async fn secret_from_stdin(options: &'static str) -> Result<Secret, Diagnostic> {
    let cannot = |error| Diagnostic::usage(format!("the password cannot be read from standard input: {error}"));
    prompt::aside(move || password(std::io::stdin(), options)).await.map_err(cannot)?
}

/// The password: all of the input but one line break at its end.
fn password(input: impl std::io::Read, options: &str) -> Result<Secret, Diagnostic> {
    let hint = format!("such as: printf %s \"$PASSWORD\" | tofu-oci … {options}");
    let wrong = |text: &str| Err(Diagnostic::usage(text).hint(&hint));
    let mut bytes = Zeroizing::new(Vec::with_capacity(8 << 10));
    if let Err(error) = input.take(PASSWORD_LIMIT + 1).read_to_end(&mut bytes) {
        return wrong(&format!("the password cannot be read from standard input: {error}"));
    }
    if bytes.len() as u64 > PASSWORD_LIMIT {
        return wrong("standard input holds more than 64 KiB, which is no password");
    }
    let Ok(text) = std::str::from_utf8(&bytes) else { return wrong("the password on standard input is no UTF-8") };
    let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
    if text.is_empty() { wrong("there is no password on standard input") } else { Ok(Secret::new(text)) }
}

/// The registry of an end.
pub(crate) fn of_end(end: &End) -> Option<&str> {
    match end {
        End::Registry(repository) => Some(repository.registry()),
        End::Layout(_) => None,
    }
}

/// The registry of `--from`: also of a template whose first part is written out.
fn of_from(text: Option<&str>) -> Result<Option<String>, Diagnostic> {
    let Some(text) = text else { return Ok(None) };
    Ok(match From::parse(text)? {
        From::One(end) => of_end(&end).map(str::to_owned),
        From::Repositories(_) => {
            let host = text.split('/').next().unwrap_or_default();
            (!host.contains(['$', '%'])).then(|| host.to_owned())
        }
        From::Layouts(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], want: Result<&str, &str>) {
        let got = password(input, "--password-stdin");
        let got = got.as_ref().map(Secret::expose).map_err(Diagnostic::text);
        assert_eq!(got, want);
    }

    #[test]
    fn one_line_break_is_no_part_of_the_password() {
        check(b"pass", Ok("pass"));
        check(b"pass\n", Ok("pass"));
        check(b"pass\r\n", Ok("pass"));
        check(b" pa:ss \n\n", Ok(" pa:ss \n"));
        check(b"", Err("there is no password on standard input"));
        check(b"\n", Err("there is no password on standard input"));
        check(b"\xff", Err("the password on standard input is no UTF-8"));
        check(&vec![b'x'; (64 << 10) + 1], Err("standard input holds more than 64 KiB, which is no password"));
    }

    #[track_caller]
    fn check_from(text: &str, want: Option<&str>) {
        assert_eq!(of_from(Some(text)).expect("well-formed").as_deref(), want, "{text}");
    }

    #[test]
    fn an_option_names_a_registry_by_its_first_part() {
        check_from("ghcr.io/acme/widget", Some("ghcr.io"));
        check_from("ghcr.io:5000/${namespace}/${type}", Some("ghcr.io:5000"));
        check_from("${hostname}/${namespace}/${type}", None);
        check_from("oci:layout", None);
        check_from("oci:mirror/${type}", None);
    }

    #[test]
    fn a_user_is_of_one_registry() {
        assert_eq!(one(&["a.example", "a.example"]).ok(), Some("a.example"));
        assert!(one(&["a.example", "b.example"]).is_err());
        assert!(one(&[]).is_err());
    }
}
