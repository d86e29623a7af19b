//! `login` and `logout`: docker's file and docker's helpers, written as docker writes them.
//!
//! ```text
//! login   registry, file, helper --looked at before anything is asked--> password --shown to the registry--> stored
//! logout  every key that docker has used for the registry, from the helper and from the file
//! both    standing: who answers for the registry from now on, this file or another source
//! ```

mod logout;
mod registry;
mod standing;
mod target;

use serde::Serialize;
use tofu_oci_credentials::Credential;
use tofu_oci_credentials::docker_file::{self, Change};
use tofu_oci_remote::LoginCheck;
use tofu_oci_store::StoreError;
use tofu_oci_types::{Event, Secret};

use super::Context;
use crate::args::LoginArgs;
use crate::connect;
use crate::credentials::CredentialResolver;
use crate::credentials::access;
use crate::credentials::helper::{self, HelperFault};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::page::Page;
use crate::report::json_line;
use crate::{printer, prompt};

pub(super) use logout::logout;
use registry::RegistryName;
use standing::Standing;
use target::{Keeper, Target};

/// How helpers mark that the secret is an identity token.
const TOKEN_USER: &str = "<token>";

/// Checks a login with the registry and stores it; without a name, checks the one that is stored.
pub(super) async fn login(context: &Context, args: &LoginArgs) -> Result<(), Diagnostic> {
    let registry = RegistryName::parse(&args.registry)?;
    match &args.username {
        Some(username) => log_in(context, args, &registry, username).await,
        None => match Standing::look(&registry).await? {
            // As docker does.
            standing if standing.is_empty() && prompt::can_ask() => {
                let username = username(&registry).await?;
                log_in(context, args, &registry, &username).await
            }
            standing => check_stored(context, args, &registry, &standing).await,
        },
    }
}

/// Asks for the name of the account.
async fn username(registry: &RegistryName) -> Result<String, Diagnostic> {
    let wrong = |text: &str| Err(Diagnostic::usage(text).hint("nothing was stored"));
    let answer = prompt::line(&format!("User name at {registry}:")).await;
    let answer = answer.map_err(|error| Diagnostic::usage(format!("the user name cannot be read: {error}")))?;
    match answer.trim() {
        "" => wrong("the user name is empty"),
        name if name.contains(':') => wrong("a name with a colon in it cannot be sent"),
        name => Ok(name.to_owned()),
    }
}

async fn log_in(
    context: &Context,
    args: &LoginArgs,
    registry: &RegistryName,
    username: &str,
) -> Result<(), Diagnostic> {
    let target = Target::choose(args.auth_file.as_deref())?;
    let server = docker_file::server_key(registry.as_str());
    // What stands in the way is told before a password is asked for.
    let keeper = target.keeper(&server)?;
    if keeper != Keeper::File && username == TOKEN_USER {
        return Err(Diagnostic::usage(format!(
            "`{TOKEN_USER}` is no account: helpers mark identity tokens by this name"
        ))
        .hint("name the account that the token belongs to"));
    }
    let password = password(args, registry, username).await?;
    let credential = Credential::Basic { username: username.to_owned(), password: password.clone() };
    let check = check(context, args, registry, &credential)
        .await?
        .map_err(|error| refused(error, registry, Some(username)).hint("nothing was stored"))?;
    let change = store(&target, &keeper, &server, username, &password).await?;

    let standing = Standing::look(registry).await?;
    let helper = keeper.program();
    let stored = Stored { file: target.shown(), key: &server, helper: helper.as_deref(), change: word(change) };
    if check == LoginCheck::NotAsked {
        note_unchecked(context, registry);
    }
    warn_of_capitals(context, registry);
    if helper.is_none() {
        warn_of_plain(context, &target);
    }
    standing.warn_after_login(context, registry, &target, &credential);
    standing.note_of_repositories(context, registry);
    Report { registry, username: Some(username), check, stored: Some(stored), used: standing.used() }.print(context);
    Ok(())
}

async fn check_stored(
    context: &Context,
    args: &LoginArgs,
    registry: &RegistryName,
    standing: &Standing,
) -> Result<(), Diagnostic> {
    let again = standing.log_in(registry);
    let Some(credential) = standing.credential()? else {
        return Err(Diagnostic::new(Exit::Fixable, format!("there is no login for {registry}")).hint(again));
    };
    let username = match credential {
        Credential::Basic { username, .. } => Some(username.as_str()),
        _ => None,
    };
    let origin = standing.used();
    let check = check(context, args, registry, credential).await?.map_err(|error| {
        let diagnostic = refused(error, registry, username);
        match &origin {
            Some(origin) => diagnostic.hint(format!("this login is that of {origin}")).hint(again),
            None => diagnostic.hint(again),
        }
    })?;
    if check == LoginCheck::NotAsked {
        note_unchecked(context, registry);
    }
    Report { registry, username, check, stored: None, used: origin.clone() }.print(context);
    Ok(())
}

/// What the registry says to a login. The outer error is one of wrong usage.
async fn check(
    context: &Context,
    args: &LoginArgs,
    registry: &RegistryName,
    credential: &Credential,
) -> Result<Result<LoginCheck, StoreError>, Diagnostic> {
    let nobody = std::sync::Arc::new(CredentialResolver::anonymous());
    let client = connect::client(&args.network, nobody, None, &context.reporter)?;
    Ok(client.check_login(registry.host(), credential).await)
}

/// The error of a check.
fn refused(error: StoreError, registry: &RegistryName, username: Option<&str>) -> Diagnostic {
    let (StoreError::Unauthorized { problem, .. } | StoreError::Denied { problem, .. }) = &error else {
        return Diagnostic::from(error);
    };
    let text = match username {
        Some(username) => format!("{registry} refuses the login of {username}"),
        None => format!("{registry} refuses the login that is stored"),
    };
    let mut diagnostic = Diagnostic::new(Exit::Fixable, text).cause(problem);
    diagnostic = match error.credential_code() {
        Some(code) => diagnostic.code(code),
        None => diagnostic,
    };
    diagnostic.hint("check the name and the password; many registries want an access token in the password's place")
}

async fn password(args: &LoginArgs, registry: &RegistryName, username: &str) -> Result<Secret, Diagnostic> {
    let cannot = |error: std::io::Error| Diagnostic::usage(format!("the password cannot be read: {error}"));
    match (args.password_stdin, prompt::can_ask()) {
        (true, true) => Err(Diagnostic::usage("--password-stdin reads from a pipe or a file, and this is a terminal")
            .hint("leave --password-stdin out to be asked for the password")),
        (true, false) => access::password_from_stdin().await,
        (false, false) => Err(Diagnostic::usage("the password cannot be asked for: standard input is not a terminal")
            .hint("give it on standard input, with --password-stdin")),
        (false, true) => {
            let question = format!("Password of {username} at {registry}:");
            let password = prompt::secret(&question).await.map_err(cannot)?;
            if password.is_empty() {
                return Err(Diagnostic::usage("the password is empty").hint("nothing was stored"));
            }
            Ok(password)
        }
    }
}

/// Hands the login to its keeper. The file is known to be writable before a helper is told anything.
async fn store(
    target: &Target,
    keeper: &Keeper,
    server: &str,
    username: &str,
    password: &Secret,
) -> Result<Change, Diagnostic> {
    let staging = target.stage()?;
    let Keeper::Helper(name) = keeper else {
        return staging.write(|bytes| docker_file::store_login(bytes, server, username, password));
    };
    helper::run_store(name, server, username, password)
        .await
        .map_err(|fault| helper_failed(fault, target).hint("nothing was stored"))?;
    staging.write(|bytes| docker_file::store_mark(bytes, server)).map_err(|diagnostic| {
        diagnostic.hint(format!("{} has the login all the same; run the same command again", name.program()))
    })
}

fn helper_failed(fault: HelperFault, target: &Target) -> Diagnostic {
    let named = format!("the helper is named in {}", target.shown());
    Diagnostic::new(Exit::Fixable, fault.problem).code(fault.code).cause(named).hint(fault.hint)
}

fn note_unchecked(context: &Context, registry: &RegistryName) {
    let text = format!("{registry} lets everybody in, so that the login could not be checked");
    context.reporter.event(&Event::note("login-not-checked", text));
}

fn warn_of_capitals(context: &Context, registry: &RegistryName) {
    let Some(small) = registry.in_small_letters() else { return };
    let text = format!("this login is for repositories that are written {registry}/… alone, in these letters");
    let hint = format!("names of registries are compared byte for byte: `tofu-oci login {small}` is for {small}/…");
    context.reporter.event(&Event::warning("capital-letters", text).with_hint(hint));
}

fn warn_of_plain(context: &Context, target: &Target) {
    let file = target.shown();
    let text = format!("the password is not encrypted in {file}");
    let hint = "a credential helper keeps it safer: name one as \"credsStore\" in the file, and log in again";
    context.reporter.event(&Event::warning("plain-password", text).with_hint(hint));
    if target.is_shared() {
        let text = format!("others than its owner may read {file}");
        context.reporter.event(&Event::warning("shared-file", text).with_hint(format!("chmod 600 {file}")));
    }
}

/// What `login` did.
struct Report<'a> {
    registry: &'a RegistryName,
    username: Option<&'a str>,
    check: LoginCheck,
    stored: Option<Stored<'a>>,
    used: Option<String>,
}

#[derive(Serialize)]
struct Stored<'a> {
    file: &'a str,
    key: &'a str,
    helper: Option<&'a str>,
    change: &'static str,
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Replaced => "replaced",
        Change::Removed => "removed",
        Change::Nothing => "unchanged",
    }
}

impl Report<'_> {
    fn print(&self, context: &Context) {
        if context.json {
            return self.print_json();
        }
        let Self { registry, username, check, stored, used } = self;
        let whose = username.map_or_else(|| "the login".to_owned(), |username| format!("the login of {username}"));
        let mut page = Page::of(match (check, stored, username) {
            (LoginCheck::Accepted, Some(_), Some(username)) => format!("logged in to {registry} as {username}"),
            (LoginCheck::Accepted, ..) => format!("{whose} works at {registry}"),
            (LoginCheck::NotAsked, ..) => format!("{whose} at {registry} was not checked"),
        });
        match stored {
            Some(Stored { file, helper: Some(helper), .. }) => {
                page.line(format_args!("  kept by {helper}, as {file} says"));
            }
            Some(Stored { file, key, .. }) => page.line(format_args!("  stored in {file} as \"{key}\"")),
            None => used.iter().for_each(|used| page.line(format_args!("  it is that of {used}"))),
        }
        printer::stdout(&page);
    }

    fn print_json(&self) {
        #[derive(Serialize)]
        struct Line<'a> {
            event: &'static str,
            registry: &'a str,
            username: Option<&'a str>,
            check: &'static str,
            stored: Option<&'a Stored<'a>>,
            used: Option<&'a str>,
        }
        let check = match self.check {
            LoginCheck::Accepted => "accepted",
            LoginCheck::NotAsked => "not-asked",
        };
        json_line(&Line {
            event: "login",
            registry: self.registry.as_str(),
            username: self.username,
            check,
            stored: self.stored.as_ref(),
            used: self.used.as_deref(),
        });
    }
}
