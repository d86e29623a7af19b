//! `auth explain HOST`: the token for an origin registry or a network mirror. No host is asked, and a helper is.

use serde::Serialize;
use tofu_oci_logins::{Access, HostTokenOrigin};
use tofu_oci_types::Hostname;

use crate::args::AuthExplainArgs;
use crate::connect;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::page::Page;
use crate::verbs::context::Context;

#[derive(Default, Serialize)]
#[serde(tag = "event", rename = "host-token")]
struct ExplainedToken {
    host: String,
    shows: &'static str,
    source: Option<&'static str>,
    name: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    code: Option<&'static str>,
    reason: String,
}

/// The host that an argument names: `HOST[:PORT]`, or the URL of a network mirror, which ends with a slash. `None` for a
/// repository.
pub(super) fn named(text: &str) -> Option<Hostname> {
    let host = match text.strip_prefix("https://") {
        Some(rest) if rest.ends_with('/') => rest.split('/').next()?.rsplit('@').next()?,
        Some(_) => return None,
        None => text,
    };
    Hostname::with_punycode(host).ok()
}

/// Explains the token of a host. If the token cannot be had, it fails after the explanation is printed.
pub(super) async fn explain(context: &Context, args: &AuthExplainArgs, host: &Hostname) -> Result<(), Diagnostic> {
    if args.push {
        return Err(Diagnostic::usage("--push is for repositories, and a host of providers has none")
            .hint(format!("name a repository: {}/REPOSITORY", host.display())));
    }
    let access = args.access.identity.access(&[host.as_str()], None).await?;
    let Access::Ambient { chdir } = &access else {
        print(context, &ExplainedToken { reason: "the arguments say who asks".to_owned(), ..of(host) });
        return Ok(());
    };
    let config = ReadConfig::read(chdir.as_deref())?;
    let tokens = connect::user_tokens(&config, args.access.network.timeout, &context.reporter);
    let origin = tokens.origin(host);
    let found = tofu_oci_http::HostTokens::token(&tokens, host).await;
    let named = match &origin {
        None => of(host),
        Some(HostTokenOrigin::Variable(name)) => {
            ExplainedToken { source: Some("variable"), name: Some(name.clone()), ..of(host) }
        }
        Some(HostTokenOrigin::Block(place)) => {
            ExplainedToken { source: Some("credentials"), file: Some(place.file.clone()), line: place.line, ..of(host) }
        }
        Some(HostTokenOrigin::Helper { program, place }) => ExplainedToken {
            source: Some("credentials_helper"),
            name: Some(program.clone()),
            file: Some(place.file.clone()),
            line: place.line,
            ..of(host)
        },
    };
    match (found, origin) {
        (Ok(Some(_)), Some(origin)) => {
            print(context, &ExplainedToken { shows: "token", reason: format!("{origin} has it"), ..named });
            Ok(())
        }
        (Ok(_), Some(origin)) => {
            print(context, &ExplainedToken { reason: format!("{origin} decides, and has no token"), ..named });
            Ok(())
        }
        (Ok(_), None) => {
            print(context, &ExplainedToken { reason: no_token(host), ..named });
            Ok(())
        }
        (Err(error), _) => {
            print(context, &ExplainedToken { code: Some(error.code), reason: error.problem.clone(), ..named });
            Err(Diagnostic::of(Exit::Fixable, &error).code(error.code).hint(error.hint))
        }
    }
}

/// Why no place has a token for the host.
fn no_token(host: &Hostname) -> String {
    let name = host.as_str();
    if name.contains(':') {
        // OpenTofu keeps the colon in the name of the variable.
        return format!(
            "no block `credentials \"{name}\"` is there, and no shell can set a variable for a host with a port"
        );
    }
    let variable = name.replace('-', "__").replace('.', "_");
    format!("TF_TOKEN_{variable} is not set, and no credentials block names the host")
}

fn of(host: &Hostname) -> ExplainedToken {
    ExplainedToken { host: host.display(), shows: "nothing", ..ExplainedToken::default() }
}

fn print(context: &Context, token: &ExplainedToken) {
    context.emit(token, || page(token));
}

fn page(token: &ExplainedToken) -> Page {
    let mut page = Page::of(format_args!("{}, as the host of providers or of a network mirror", token.host));
    page.gap();
    let what = if token.shows == "token" { "a token" } else { "nothing" };
    page.row("", "shows", format_args!("{what}: {}", token.reason));
    if token.shows == "token" {
        page.row("", "where", "with its documents alone: never with packages, nor after a redirect to another host");
    }
    page.row("", "OpenTofu", "1.10 to 1.13: looks in the same places, in the same order");
    page.row(
        "",
        "registry",
        format_args!("for repositories, not for this: `tofu-oci auth explain {}/REPOSITORY`", token.host),
    );
    page
}
