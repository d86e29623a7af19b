//! `login` and `logout`: docker's file and docker's helpers, written as docker writes them.
//!
//! ```text
//! login   registry, file, helper --checked first--> password --shown to the registry--> stored
//! logout  removes every key that docker has used for the registry, from the helper and from the file
//! both    which source answers for the registry from now on: this file or another one
//! ```

mod events;
mod logout;

use std::sync::Arc;

use serde::Serialize;
use tofu_oci_credentials::docker_file::{self, EditEffect};
use tofu_oci_credentials::{Credential, CredentialOrigin};
use tofu_oci_logins::{CurrentLogin, Keeper, LoginFile, RegistryName, store};
use tofu_oci_remote::{LoginCheck, NoCredentials};
use tofu_oci_store::StoreError;

use super::context::Context;
use crate::args::{LoginArgs, Timeout};
use crate::connect::{self, user_credentials};
use crate::diagnostic::{Diagnostic, source_remedy};
use crate::environment::{ReadConfig, environment};
use crate::exit::Exit;
use crate::helper_program::RealMachine;
use crate::identity::{self, PasswordFrom};
use crate::page::Page;
use crate::prompt;

pub(super) use logout::logout;

/// How helpers mark that the secret is an identity token.
const TOKEN_USER: &str = "<token>";

/// Checks a login with the registry and stores it; without a name, checks the one that is stored.
pub(super) async fn login(context: &Context, args: &LoginArgs) -> Result<(), Diagnostic> {
    let registry = RegistryName::parse(&args.registry)?;
    match &args.username {
        Some(username) => log_in(context, args, &registry, username).await,
        None => match current_login(&registry, args.network.timeout).await? {
            // As docker does.
            current if matches!(current.credential(), Ok(None)) && prompt::can_ask() => {
                let username = username(&registry).await?;
                log_in(context, args, &registry, &username).await
            }
            current => check_stored(context, args, &registry, &current).await,
        },
    }
}

/// The source that answers for the registry now.
async fn current_login(registry: &RegistryName, timeout: Timeout) -> Result<CurrentLogin, Diagnostic> {
    Ok(CurrentLogin::look(user_credentials(&ReadConfig::read(None)?, timeout), registry).await)
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
    let machine = RealMachine(args.network.timeout);
    let file = LoginFile::choose(&machine, &environment(None)?, args.auth_file.as_deref())?;
    let server = docker_file::server_key(registry.as_str());
    // What prevents the login is reported before a password is asked for.
    let keeper = file.keeper(&server)?;
    if keeper != Keeper::File && username == TOKEN_USER {
        return Err(Diagnostic::usage(format!(
            "`{TOKEN_USER}` is not an account: helpers mark identity tokens by this name"
        ))
        .hint("name the account that the token belongs to"));
    }
    let question = format!("Password of {username} at {registry}:");
    let password = identity::password_of(PasswordFrom::of(args.password_stdin), &question).await?;
    let credential = Credential::Basic { username: username.to_owned(), password: password.clone() };
    let check = check(context, args, registry, &credential)
        .await?
        .map_err(|error| refused(error, registry, Some(username)).hint("nothing was stored"))?;
    let change = store(&machine, &file, &keeper, &server, username, &password)
        .await
        .map_err(|error| Diagnostic::not_stored(error, file.shown()))?;

    let current = current_login(registry, args.network.timeout).await?;
    let helper = keeper.program();
    let stored = StoredLogin { file: file.shown(), key: &server, helper: helper.as_deref(), change: word(change) };
    if check == LoginCheck::NotAsked {
        events::note_unchecked(context, registry);
    }
    events::warn_of_capitals(context, registry);
    if helper.is_none() {
        events::warn_of_plain(context, &file);
    }
    events::warn_after_login(context, &current, registry, &file, current.after_login(&file, &credential));
    let first = |origin: &_| format!("for the repositories that it names, {origin} still comes first");
    events::note_own_logins(context, &current, first);
    let used = current.used().map(|origin| origin.to_string());
    LoginReport { registry: registry.as_str(), username: Some(username), check, stored: Some(stored), used }
        .print(context);
    Ok(())
}

async fn check_stored(
    context: &Context,
    args: &LoginArgs,
    registry: &RegistryName,
    current: &CurrentLogin,
) -> Result<(), Diagnostic> {
    let again = new_login(current, registry);
    let Some(credential) = current.credential()? else {
        return Err(Diagnostic::new(Exit::Fixable, format!("there is no login for {registry}"))
            .code("no-login")
            .hint(again));
    };
    let username = match credential {
        Credential::Basic { username, .. } => Some(username.as_str()),
        _ => None,
    };
    let used = current.used().map(|origin| origin.to_string());
    let check = check(context, args, registry, credential).await?.map_err(|error| {
        let diagnostic = refused(error, registry, username);
        match &used {
            Some(origin) => diagnostic.hint(format!("this login is that of {origin}")).hint(again),
            None => diagnostic.hint(again),
        }
    })?;
    if check == LoginCheck::NotAsked {
        events::note_unchecked(context, registry);
    }
    LoginReport { registry: registry.as_str(), username, check, stored: None, used }.print(context);
    Ok(())
}

/// The hint that replaces the current login.
fn new_login(current: &CurrentLogin, registry: &RegistryName) -> String {
    let origin = current.origin();
    if let Some(CredentialOrigin::Block { .. } | CredentialOrigin::DefaultHelper { .. }) = &origin {
        return source_remedy(origin.as_ref(), registry);
    }
    let file = current.file_to_replace().map(|file| format!(" --auth-file {file}")).unwrap_or_default();
    format!("log in with `tofu-oci login {registry} --username NAME{file}`")
}

/// The registry's answer to a login. The outer error is wrong usage.
async fn check(
    context: &Context,
    args: &LoginArgs,
    registry: &RegistryName,
    credential: &Credential,
) -> Result<Result<LoginCheck, StoreError>, Diagnostic> {
    let client = connect::client(&args.network, Arc::new(NoCredentials), None, &context.reporter)?;
    Ok(client.check_login(registry.host(), credential).await)
}

fn refused(error: StoreError, registry: &RegistryName, username: Option<&str>) -> Diagnostic {
    let (StoreError::Unauthorized { problem, .. } | StoreError::Denied { problem, .. }) = &error else {
        return Diagnostic::from(error);
    };
    let text = match username {
        Some(username) => format!("{registry} refuses the login of {username}"),
        None => format!("{registry} refuses the login that is stored"),
    };
    let mut diagnostic = Diagnostic::new(Exit::Fixable, text).cause(problem);
    diagnostic = diagnostic.code(error.credential_code().unwrap_or_else(|| error.code().to_owned()));
    diagnostic.hint("check the name and the password; many registries want an access token in the password's place")
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "login")]
struct LoginReport<'a> {
    registry: &'a str,
    username: Option<&'a str>,
    check: LoginCheck,
    stored: Option<StoredLogin<'a>>,
    used: Option<String>,
}

#[derive(Serialize)]
struct StoredLogin<'a> {
    file: &'a str,
    key: &'a str,
    helper: Option<&'a str>,
    change: &'static str,
}

fn word(change: EditEffect) -> &'static str {
    match change {
        EditEffect::Added => "added",
        EditEffect::Replaced => "replaced",
        EditEffect::Removed => "removed",
        EditEffect::Nothing => "unchanged",
    }
}

impl LoginReport<'_> {
    fn print(&self, context: &Context) {
        context.emit(self, || self.page());
    }

    fn page(&self) -> Page {
        let Self { registry, username, check, stored, used } = self;
        let whose = username.map_or_else(|| "the login".to_owned(), |username| format!("the login of {username}"));
        let mut page = Page::of(match (check, stored, username) {
            (LoginCheck::Accepted, Some(_), Some(username)) => format!("logged in to {registry} as {username}"),
            (LoginCheck::Accepted, ..) => format!("{whose} works at {registry}"),
            (LoginCheck::NotAsked, ..) => format!("{whose} at {registry} was not checked"),
        });
        match stored {
            Some(StoredLogin { file, helper: Some(helper), .. }) => {
                page.line(format_args!("  kept by {helper}, as {file} says"));
            }
            Some(StoredLogin { file, key, .. }) => page.line(format_args!("  stored in {file} as \"{key}\"")),
            None => used.iter().for_each(|used| page.line(format_args!("  it is that of {used}"))),
        }
        page
    }
}
