//! Every way to hand over credentials: with the right ones a release is published, listed and installed; without them,
//! with a wrong password, or as another user, each command ends with 1.

use serde_json::json;
use tofu_oci_testkit::Login;

use super::site::{HELPER, Person, Site, encoded};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::seen;

/// A host whose credentials are of no use at the registries here.
const ELSEWHERE: &str = "elsewhere.example.test";

/// One way to hand over credentials.
struct Way {
    name: &'static str,
    /// Puts the credentials of one host into a home folder.
    set_up: fn(&mut Person<'_>, &str, &Login) -> ChoreResult,
    /// How often a helper is asked in one run of the program.
    calls: usize,
}

const WAYS: &[Way] = &[
    Way { name: "docker auths", set_up: docker_auths, calls: 0 },
    Way { name: "docker credHelpers", set_up: docker_cred_helpers, calls: 1 },
    Way { name: "docker credsStore", set_up: docker_creds_store, calls: 1 },
    Way { name: "DOCKER_CONFIG", set_up: docker_config, calls: 0 },
    Way { name: "podman's auth.json", set_up: podman_auth, calls: 0 },
    Way { name: "podman's auth.json, config folder", set_up: podman_config, calls: 0 },
    Way { name: "REGISTRY_AUTH_FILE", set_up: registry_auth_file, calls: 0 },
    Way { name: "oci_credentials, password", set_up: block_password, calls: 0 },
    Way { name: "oci_credentials, helper", set_up: block_helper, calls: 1 },
    Way { name: "oci_default_credentials, helper", set_up: block_default_helper, calls: 1 },
    Way { name: "oci_default_credentials, file", set_up: block_listed_file, calls: 0 },
];

pub(super) fn run(site: &Site<'_>) -> ChoreResult {
    for (number, way) in WAYS.iter().enumerate() {
        let repository = site.repository(&format!("way-{number}/widget"));
        let somebody = |host: &str, login: &Login| -> ChoreResult<Person<'_>> {
            let mut person = site.person()?;
            (way.set_up)(&mut person, host, login)?;
            person.helper_calls()?;
            Ok(person)
        };
        let person = somebody(site.address(), &site.right)?;
        person.push(&repository)?;
        asked(&person, way)?;
        person.must_end(0, &["versions", &repository])?.must_show("1.0.0")?;
        asked(&person, way)?;
        person.install(&repository)?;
        asked(&person, way)?;
        somebody(ELSEWHERE, &site.right)?.push_refused(&repository)?;
        somebody(site.address(), &site.wrong)?.install_refused(&repository)?;
        somebody(site.address(), &site.other)?.push_refused(&repository)?;
        seen(&format!("{}, {}: push, versions, install; not without, not with a wrong one", site.name, way.name));
    }
    Ok(())
}

/// One question a run, and no other action.
fn asked(person: &Person<'_>, way: &Way) -> ChoreResult {
    let calls = person.helper_calls()?;
    if calls.len() == way.calls && calls.iter().all(|call| call.starts_with("get https://127.0.0.1:")) {
        return Ok(());
    }
    Err(ChoreFailure::new(format!("{}: the helper was called so: {calls:?}", way.name)))
}

fn auths(host: &str, login: &Login) -> String {
    json!({"auths": {host: {"auth": encoded(login)}}}).to_string()
}

fn docker_auths(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.write(".docker/config.json", auths(host, login))
}

fn docker_cred_helpers(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.helper_store(HELPER, &format!("https://{host}"), login)?;
    person.write(".docker/config.json", json!({"credHelpers": {host: HELPER}}).to_string())
}

fn docker_creds_store(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.helper_store(HELPER, &format!("https://{host}"), login)?;
    person.write(".docker/config.json", json!({"credsStore": HELPER}).to_string())
}

fn docker_config(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.set("DOCKER_CONFIG", person.path("docker-elsewhere"));
    person.write("docker-elsewhere/config.json", auths(host, login))
}

fn podman_auth(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.write("run/containers/auth.json", auths(host, login))
}

fn podman_config(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.write(".config/containers/auth.json", auths(host, login))
}

fn registry_auth_file(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.set("REGISTRY_AUTH_FILE", person.path("logins/auth.json"));
    person.write("logins/auth.json", auths(host, login))
}

fn block_password(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    let Login { username, password, .. } = login;
    let block =
        format!("oci_credentials \"{host}\" {{\n  username = \"{username}\"\n  password = \"{password}\"\n}}\n");
    person.write(".tofurc", block)
}

fn block_helper(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.helper_store(HELPER, &format!("https://{host}"), login)?;
    let block = format!("oci_credentials \"{host}\" {{\n  docker_credentials_helper = \"{HELPER}\"\n}}\n");
    person.write(".tofurc", block)
}

fn block_default_helper(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.helper_store(HELPER, &format!("https://{host}"), login)?;
    let block = format!("oci_default_credentials {{\n  docker_credentials_helper = \"{HELPER}\"\n}}\n");
    person.write(".tofurc", block)
}

fn block_listed_file(person: &mut Person<'_>, host: &str, login: &Login) -> ChoreResult {
    person.write("logins/listed.json", auths(host, login))?;
    let block = "oci_default_credentials {\n  docker_style_config_files = [\"logins/listed.json\"]\n}\n";
    person.write(".tofurc", block)
}
