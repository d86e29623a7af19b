//! `oci-providers.v1`: what the host `localhost:PORT` publishes, and what the program does with it.

use super::checks::{event, events, installed_from, nothing_in};
use super::user::MappingUser;
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::https::HttpsServer;
use crate::interop::lab::{Lab, seen, text};
use crate::interop::registries::PLATFORM;
use crate::registry::Guard;

/// The document of a host.
const DOCUMENT: &str = ".well-known/terraform.json";
const JSON: &str = "application/json";

/// A document that may not be followed.
struct ExpectedRefusal {
    what: &'static str,
    /// Content type and text; `None` if the host has no document.
    document: Option<(&'static str, String)>,
    code: &'static str,
}

pub(super) fn run(lab: &Lab, registry: &Guard, server: &HttpsServer, dist: &str) -> ChoreResult {
    let (host, user) = (server.host(), MappingUser::new(lab, registry)?);
    let address = format!("{host}/acme/widget");
    let repository = format!("{}/published/acme/widget", registry.address());
    lab.tofu_oci(registry, &["push", dist, &repository, "--address", &address]).success()?;

    let oci = format!("\"oci-providers.v1\": \"{}/published/{{namespace}}/{{type}}\"", registry.address());
    let old = "\"providers.v1\": \"/v1/providers/\"";
    let rule = format!("of {host}");
    server.serve(DOCUMENT, JSON, format!("{{{oci}}}"))?;
    installed_from(&user, &address, &repository, &rule)?;
    seen("oci-providers.v1, published by Python's HTTPS server, names the registry on another port: the same four");

    server.serve(DOCUMENT, "application/json; charset=utf-8", format!("{{{old}, {oci}}}"))?;
    installed_from(&user, &address, &repository, &rule)?;
    server.take_log()?;
    let project = user.project(&address)?;
    user.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]).success()?;
    if server.take_log()? != ["connection", "GET /.well-known/terraform.json 200"] {
        return Err(ChoreFailure::new("the host is not asked exactly once for its services"));
    }
    seen("beside providers.v1 it wins, and the host is asked once, for its document");

    let refused = [
        ExpectedRefusal { what: "a document that is gone", document: None, code: "no-provider-service" },
        ExpectedRefusal {
            what: "neither service",
            document: Some((JSON, "{\"modules.v1\": \"/\"}".to_owned())),
            code: "no-provider-service",
        },
        ExpectedRefusal {
            what: "text/plain",
            document: Some(("text/plain", format!("{{{oci}}}"))),
            code: "bad-content-type",
        },
        ExpectedRefusal {
            what: "text/html with JSON in it",
            document: Some(("text/html", format!("{{{oci}}}"))),
            code: "bad-content-type",
        },
        ExpectedRefusal { what: "a broken document", document: Some((JSON, format!("{{{oci}"))), code: "bad-body" },
    ];
    for ExpectedRefusal { what, document, code } in &refused {
        match document {
            Some((content_type, text)) => server.serve(DOCUMENT, content_type, text)?,
            None => server.remove(DOCUMENT)?,
        }
        refused_with(&user, &address, code).map_err(|failure| ChoreFailure::new(format!("{what}: {failure}")))?;
    }
    let codes: Vec<_> = refused.iter().map(|refused| format!("{} ({})", refused.what, refused.code)).collect();
    seen(&format!("refused, and nothing is left: {}", codes.join(", ")));
    Ok(())
}

/// `resolve` and `install` stop, and the explanation says why.
fn refused_with(user: &MappingUser<'_>, address: &str, code: &str) -> ChoreResult {
    user.run(&["resolve", address]).refused_with(1)?;
    let explained = user.run(&["resolve", address, "--explain", "--json"]).output()?;
    if event(&explained, "method")?["code"] != code {
        return Err(explained.failure(&format!("the method does not fail with {code}")));
    }
    let ours = events(&explained, "choice").into_iter().find(|choice| choice["program"] == "tofu-oci");
    if ours.is_none_or(|choice| choice["outcome"] != "stops" || choice["code"] != code) {
        return Err(explained.failure(&format!("tofu-oci does not stop with {code}")));
    }
    let project = user.project(address)?;
    user.run(&["install", "--chdir", &text(&project), "--platform", PLATFORM]).refused_with(1)?;
    nothing_in(&project)
}
