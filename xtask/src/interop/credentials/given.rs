//! What is given for one command, and identity tokens in the place of passwords.

use serde_json::{Value, json};
use tofu_oci_testkit::Login;

use super::site::{Guardian, HELPER, Person, Site, encoded};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{seen, text};
use crate::interop::registries::ADDRESS;
use crate::paths;
use crate::process::{Printed, ProgramRun};

const DOCKER: &str = ".docker/config.json";

pub(super) fn run(site: &Site<'_>) -> ChoreResult {
    one_command(site)?;
    match site.guardian {
        Guardian::Tokens => identity_tokens(site),
        Guardian::Passwords => Ok(()),
    }
}

/// `--username` with `--password-stdin`, and `--anonymous`.
fn one_command(site: &Site<'_>) -> ChoreResult {
    let person = site.person()?;
    let repository = site.repository("given/widget");
    let dist = text(&paths::testdata().join("dist"));
    let push = ["push", &dist, &repository, "--address", ADDRESS];
    let versions = ["versions", &repository];
    let given = |arguments: &[&str], login: &Login| {
        let run = person.tofu_oci(arguments).args(["--username", &login.username, "--password-stdin"]);
        run.input(format!("{}\n", login.password))
    };
    person.keeps_secrets(1, &given(&push, &site.wrong))?;
    person.keeps_secrets(0, &given(&push, &site.right))?;
    person.keeps_secrets(0, &given(&versions, &site.right))?.must_show("1.0.0")?;
    person.must_end(1, &versions)?;

    person.helper_store(HELPER, &format!("https://{}", site.address()), &site.right)?;
    person.write(DOCKER, json!({"credsStore": HELPER}).to_string())?;
    person.helper_calls()?;
    person.must_end(1, &["versions", &repository, "--anonymous"])?;
    person.keeps_secrets(1, &given(&versions, &site.wrong))?;
    let calls = person.helper_calls()?;
    if !calls.is_empty() {
        return Err(ChoreFailure::new(format!("a helper was asked although the command said who asks: {calls:?}")));
    }
    person.must_end(0, &versions)?;
    seen(&format!(
        "{}: --username with --password-stdin, and --anonymous, for one command; no helper is asked",
        site.name
    ));
    Ok(())
}

/// Puts a refresh token into a home folder.
type SetUp<'a> = &'a dyn Fn(&Person<'_>, &str) -> ChoreResult;

/// A refresh token in `identitytoken`, in both forms of docker's file, and in a helper under the name `<token>`.
fn identity_tokens(site: &Site<'_>) -> ChoreResult {
    let refresh = refresh_token(site)?;
    let nobody = Login::new("00000000-0000-0000-0000-000000000000", "");
    let address = site.address();
    let forms: [(&str, SetUp<'_>); 3] = [
        ("alone", &|person, token| {
            person.write(DOCKER, json!({"auths": {address: {"identitytoken": token}}}).to_string())
        }),
        ("beside a user of zeros", &|person, token| {
            let entry = json!({"auth": encoded(&nobody), "identitytoken": token});
            person.write(DOCKER, json!({"auths": {address: entry}}).to_string())
        }),
        ("from a helper", &|person, token| {
            person.helper_store(HELPER, &format!("https://{address}"), &Login::new("<token>", token))?;
            person.write(DOCKER, json!({"credsStore": HELPER}).to_string())
        }),
    ];
    for (number, (form, set_up)) in forms.iter().enumerate() {
        let repository = site.repository(&format!("identity-{number}/widget"));
        let person = site.person()?;
        set_up(&person, &refresh)?;
        person.round_trip(&repository)?;
        let posts = site.registry.token_requests().iter().filter(|request| request.method == "POST").count();
        if posts == 0 {
            return Err(ChoreFailure::new(format!(
                "identity token {form}: the token server got no refresh-token grant"
            )));
        }
        let person = site.person()?;
        set_up(&person, "refused-refresh-Pa55word")?;
        let refused = person.install_refused(&repository)?;
        must_lack(&refused, "refused-refresh-Pa55word")?;
    }
    seen(&format!(
        "{}: identity tokens, alone, beside a user of zeros and from a helper; a wrong one is refused",
        site.name
    ));
    Ok(())
}

fn must_lack(printed: &Printed, secret: &str) -> ChoreResult {
    if printed.all().contains(secret) { Err(ChoreFailure::new("a refused identity token is printed")) } else { Ok(()) }
}

/// What the token server gives a user who asks for a token that lasts.
fn refresh_token(site: &Site<'_>) -> ChoreResult<String> {
    let person = site.person()?;
    let curl = |arguments: &[&str]| -> ChoreResult<ProgramRun> {
        let run = person.tool("curl")?.args(["--silent", "--show-error"]).args(arguments);
        Ok(match site.registry.ca_file() {
            Some(file) => run.arg("--cacert").arg(file),
            None => run,
        })
    };
    let head = curl(&["--head", &format!("https://{}/v2/", site.address())])?.success()?;
    let realm = head.stdout.split("realm=\"").nth(1).and_then(|rest| rest.split('"').next());
    let realm = realm.ok_or_else(|| head.failure("the registry names no token server"))?;
    let url = format!("{realm}?service=test-registry&offline_token=true&client_id=stage");
    let user = format!("{}:{}", site.right.username, site.right.password);
    let answer = curl(&["--fail", "--user", &user, &url])?.success()?;
    let token = serde_json::from_str::<Value>(&answer.stdout)?["refresh_token"].as_str().map(str::to_owned);
    token.ok_or_else(|| ChoreFailure::new("the token server gave no refresh token"))
}
