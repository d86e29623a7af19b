//! Who this run is to registries, by the arguments.

use std::io::Read as _;
use std::path::Path;

use tofu_oci_logins::{Access, one_registry};
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use crate::args::{IdentityArgs, LookupArgs};
use crate::diagnostic::Diagnostic;
use crate::ends::{End, From};
use crate::prompt;

/// The longest password, in bytes: a file that was piped in by mistake is not read to its end.
const PASSWORD_LIMIT: u64 = 64 << 10;

impl IdentityArgs {
    /// What the arguments say; a password is read from standard input. `named` are the registries that the command
    /// names. With `--username` the command must name one registry.
    pub(crate) async fn access(&self, named: &[&str], chdir: Option<&Path>) -> Result<Access, Diagnostic> {
        if self.anonymous {
            return Ok(Access::Anonymous);
        }
        let Some(username) = self.username.clone() else {
            return Ok(Access::Ambient { chdir: chdir.map(Path::to_owned) });
        };
        let registry = one_registry(named)?.to_owned();
        let question = format!("Password of {username} at {registry}:");
        let password = password_of(PasswordFrom::of(self.password_stdin), &question).await?;
        Ok(Access::As { registry, username, password })
    }

    /// Refuses these options in a command that asks no registry.
    pub(crate) fn refuse(&self, because: &str, instead: &str) -> Result<(), Diagnostic> {
        let given = match (self.anonymous, self.username.is_some()) {
            (true, _) => "--anonymous",
            (_, true) => "--username",
            _ => return Ok(()),
        };
        Err(Diagnostic::usage(format!("{given} has no meaning here: {because}")).hint(instead))
    }

    /// Refuses `--username` in a command for which only the user's files name registries.
    pub(crate) fn need_registry(&self) -> Result<(), Diagnostic> {
        if self.username.is_some() { Ok(one_registry(&[]).map(drop)?) } else { Ok(()) }
    }
}

impl LookupArgs {
    /// Whether an option says where providers are, so that an argument is the address of one.
    pub(crate) fn names_place(&self) -> bool {
        self.from.is_some() || !self.plugin_dir.is_empty()
    }

    /// Who asks for providers.
    pub(crate) async fn access(&self, identity: &IdentityArgs, chdir: Option<&Path>) -> Result<Access, Diagnostic> {
        let named = of_from(self.from.as_deref())?;
        identity.access(&named.as_deref().into_iter().collect::<Vec<_>>(), chdir).await
    }
}

/// Where the password of a login comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PasswordFrom {
    /// From whoever sits at the terminal.
    Prompt,
    /// From standard input.
    Stdin,
}

impl PasswordFrom {
    /// What the option says.
    pub(crate) fn of(from_stdin: bool) -> Self {
        if from_stdin { Self::Stdin } else { Self::Prompt }
    }
}

/// The password of a login. An interruption does not wait for it.
pub(crate) async fn password_of(from: PasswordFrom, question: &str) -> Result<Secret, Diagnostic> {
    match (from, prompt::can_ask()) {
        (PasswordFrom::Stdin, false) => secret_from_stdin("--username USER --password-stdin").await,
        (PasswordFrom::Stdin, true) => {
            Err(Diagnostic::usage("--password-stdin reads from a pipe or a file, and this is a terminal")
                .code("password")
                .hint("leave --password-stdin out to be asked for the password"))
        }
        (PasswordFrom::Prompt, false) => {
            Err(Diagnostic::usage("the password cannot be asked for: standard input is not a terminal")
                .code("password")
                .hint("give it on standard input, with --password-stdin"))
        }
        (PasswordFrom::Prompt, true) => match prompt::secret(question).await {
            Ok(password) if password.is_empty() => Err(Diagnostic::usage("the password is empty").code("password")),
            Ok(password) => Ok(password),
            Err(error) => Err(Diagnostic::usage(format!("the password cannot be read: {error}")).code("password")),
        },
    }
}

/// The password on standard input, which these options announce.
pub(crate) async fn secret_from_stdin(options: &'static str) -> Result<Secret, Diagnostic> {
    let cannot =
        |error| Diagnostic::usage(format!("the password cannot be read from standard input: {error}")).code("password");
    prompt::aside(move || password(std::io::stdin(), options)).await.map_err(cannot)?
}

/// The password: the whole input without one line break at its end.
fn password(input: impl std::io::Read, options: &str) -> Result<Secret, Diagnostic> {
    let hint = format!("such as: printf %s \"$PASSWORD\" | tofu-oci … {options}");
    let wrong = |text: &str| Err(Diagnostic::usage(text).code("password").hint(&hint));
    let mut bytes = Zeroizing::new(Vec::with_capacity(8 << 10));
    if let Err(error) = input.take(PASSWORD_LIMIT + 1).read_to_end(&mut bytes) {
        return wrong(&format!("the password cannot be read from standard input: {error}"));
    }
    if bytes.len() as u64 > PASSWORD_LIMIT {
        return wrong("standard input holds more than 64 KiB, which is not a password");
    }
    let Ok(text) = std::str::from_utf8(&bytes) else { return wrong("the password on standard input is not UTF-8") };
    let text = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
    if text.is_empty() { wrong("there is no password on standard input") } else { Ok(Secret::new(text)) }
}

pub(crate) fn of_end(end: &End) -> Option<&str> {
    match end {
        End::Registry(repository) => Some(repository.registry()),
        End::Layout(_) => None,
    }
}

/// The registry of `--from`, also of a template whose first part is written out.
pub(crate) fn of_from(text: Option<&str>) -> Result<Option<String>, Diagnostic> {
    let Some(text) = text else { return Ok(None) };
    Ok(match From::parse(text)? {
        From::One(end) => of_end(&end).map(str::to_owned),
        From::Repositories(_) => {
            let host = text.split('/').next().unwrap_or_default();
            (!host.contains(['$', '%'])).then(|| host.to_owned())
        }
        From::Layouts(_) | From::Many(_) => None,
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
    fn one_line_break_is_not_part_of_the_password() {
        check(b"pass", Ok("pass"));
        check(b"pass\n", Ok("pass"));
        check(b"pass\r\n", Ok("pass"));
        check(b" pa:ss \n\n", Ok(" pa:ss \n"));
        check(b"", Err("there is no password on standard input"));
        check(b"\n", Err("there is no password on standard input"));
        check(b"\xff", Err("the password on standard input is not UTF-8"));
        check(&vec![b'x'; (64 << 10) + 1], Err("standard input holds more than 64 KiB, which is not a password"));
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
}
