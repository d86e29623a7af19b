//! Logins across programs: what skopeo, buildah and crane write is used by us, what `tofu-oci login` writes is used by
//! skopeo, crane and regctl, with a file and with a helper; after `logout` no program has access any more.

use serde_json::{Value, json};
use tofu_oci_testkit::Login;

use super::pass::Vault;
use super::site::{HELPER, Person, Site};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::interop::lab::{seen, text};
use crate::process::{Printed, ProgramRun};

const DOCKER: &str = ".docker/config.json";
const PODMAN: &str = "run/containers/auth.json";

pub(super) fn run(site: &Site<'_>, vault: &Vault) -> ChoreResult {
    for tool in ["skopeo", "buildah", "crane"] {
        written_by(site, tool)?;
    }
    podman_helper(site)?;
    written_by_us(site)?;
    podman_file(site)?;
    held_by(&HeldLogin { site, helper: HELPER, member: JsonMember::CredsStore, vault: None })?;
    held_by(&HeldLogin { site, helper: "pass", member: JsonMember::CredHelpers, vault: Some(vault) })
}

/// A login with another program, in a form that all of them understand.
fn their_login(person: &Person<'_>, tool: &str, address: &str, login: &Login) -> ChoreResult<ProgramRun> {
    let words: &[&str] = if tool == "crane" { &["auth", "login"] } else { &["login"] };
    let run = person.tool(tool)?.args(words).args(["--username", &login.username, "--password-stdin", address]);
    Ok(run.input(login.password.clone()))
}

fn their_logout(person: &Person<'_>, tool: &str, address: &str) -> ChoreResult<ProgramRun> {
    let words: &[&str] = if tool == "crane" { &["auth", "logout"] } else { &["logout"] };
    Ok(person.tool(tool)?.args(words).arg(address))
}

/// Our login. The line break that `echo` writes after the password does not belong to it.
fn login(person: &Person<'_>, address: &str, login: &Login, code: i32) -> ChoreResult<Printed> {
    let run = person.tofu_oci(&["login", address, "--username", &login.username, "--password-stdin"]);
    person.keeps_secrets(code, &run.input(format!("{}\n", login.password)))
}

fn logout(person: &Person<'_>, address: &str) -> ChoreResult<Printed> {
    person.keeps_secrets(0, &person.tofu_oci_alone(&["logout", address]))
}

fn written_by(site: &Site<'_>, tool: &str) -> ChoreResult {
    let person = site.person()?;
    let repository = site.repository(&format!("login-{tool}/widget"));
    their_login(&person, tool, site.address(), &site.right)?.success()?;
    person.round_trip(&repository)?;
    their_logout(&person, tool, site.address())?.success()?;
    person.install_refused(&repository)?;
    seen(&format!("{}: the login of {tool} is ours; its logout removes it", site.name));
    Ok(())
}

/// The login of skopeo in podman's file that names a helper: kept under the bare host, and the file has no mark.
fn podman_helper(site: &Site<'_>) -> ChoreResult {
    let person = site.person()?;
    person.write(PODMAN, json!({"credHelpers": {site.address(): HELPER}}).to_string())?;
    their_login(&person, "skopeo", site.address(), &site.right)?.success()?;
    if person.read(PODMAN)?.contains("auths") {
        return Err(ChoreFailure::new(
            "skopeo left a mark of its login in podman's file: it did not when this was written",
        ));
    }
    person.round_trip(&site.repository("login-podman-helper/widget"))?;
    seen(&format!("{}: the login of skopeo that a helper of podman's file keeps is ours", site.name));
    Ok(())
}

/// The programs that use docker's file, each on its way to a manifest.
fn readers(person: &Person<'_>, repository: &str) -> ChoreResult<[ProgramRun; 2]> {
    let tagged = format!("{repository}:1.0.0");
    let crane = person.tool("crane")?.args(["manifest", &tagged]);
    let skopeo = person.tool("skopeo")?.args(["inspect", "--raw", &format!("docker://{tagged}")]);
    Ok([crane, skopeo])
}

fn everybody_reads(person: &Person<'_>, repository: &str) -> ChoreResult {
    for run in readers(person, repository)? {
        run.success()?.must_show("application/vnd.opentofu.provider")?;
    }
    Ok(())
}

fn nobody_reads(person: &Person<'_>, repository: &str) -> ChoreResult {
    for run in readers(person, repository)? {
        run.refused()?;
    }
    person.install_refused(repository)?;
    Ok(())
}

/// Our login in docker's file: byte for byte what crane (docker's own code) writes there.
fn written_by_us(site: &Site<'_>) -> ChoreResult {
    let (address, repository) = (site.address(), site.repository("login-ours/widget"));
    let (ours, theirs) = (site.person()?, site.person()?);
    login(&ours, address, &site.wrong, 1)?;
    if ours.path(DOCKER).exists() {
        return Err(ChoreFailure::new("a login that the registry refused was written"));
    }
    login(&ours, address, &site.right, 0)?.must_show(DOCKER)?;
    their_login(&theirs, "crane", address, &site.right)?.success()?;
    same(&ours, &theirs, "after the login")?;
    ours.round_trip(&repository)?;
    everybody_reads(&ours, &repository)?;
    ours.must_end(0, &["login", address])?;

    // A second login that is refused leaves the first one as it is.
    login(&ours, address, &site.wrong, 1)?;
    same(&ours, &theirs, "after a refused login")?;

    logout(&ours, address)?;
    their_logout(&theirs, "crane", address)?.success()?;
    same(&ours, &theirs, "after the logout")?;
    nobody_reads(&ours, &repository)?;
    ours.must_end(1, &["login", address])?;
    logout(&ours, address)?;
    seen(&format!(
        "{}: login writes what crane writes, skopeo and crane use it; refused logins are not written; after logout \
         nobody gets in",
        site.name
    ));
    Ok(())
}

fn same(ours: &Person<'_>, theirs: &Person<'_>, when: &str) -> ChoreResult {
    let (found, wanted) = (ours.read(DOCKER)?, theirs.read(DOCKER)?);
    if found == wanted {
        return Ok(());
    }
    Err(ChoreFailure::new(format!("{when}, config.json differs from crane's\nours:   {found:?}\ncrane's: {wanted:?}")))
}

/// Our login in podman's file.
fn podman_file(site: &Site<'_>) -> ChoreResult {
    let (address, repository) = (site.address(), site.repository("login-podman/widget"));
    let person = site.person()?;
    let file = format!("--auth-file={}", text(&person.path(PODMAN)));
    let words = ["login", address, "--username", &site.right.username, "--password-stdin", &file];
    let run = person.tofu_oci(&words).input(site.right.password.clone());
    person.keeps_secrets(0, &run)?.must_show("containers/auth.json")?;
    person.round_trip(&repository)?;
    let user = person.tool("buildah")?.args(["login", "--get-login", address]).success()?;
    user.must_show(&site.right.username)?;
    let skopeo = person.tool("skopeo")?.args(["inspect", "--raw", &format!("docker://{repository}:1.0.0")]);
    skopeo.success()?;
    let run = person.tofu_oci_alone(&["logout", address, &file]);
    person.keeps_secrets(0, &run)?;
    skopeo.refused()?;
    person.install_refused(&repository)?;
    seen(&format!(
        "{}: login --auth-file writes podman's file, buildah and skopeo use it; logout empties it",
        site.name
    ));
    Ok(())
}

/// The member of docker's file that names a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonMember {
    /// For all registries. skopeo does not know it.
    CredsStore,
    /// For one registry.
    CredHelpers,
}

/// A helper that holds logins, and what it needs.
struct HeldLogin<'a> {
    site: &'a Site<'a>,
    helper: &'a str,
    member: JsonMember,
    vault: Option<&'a Vault>,
}

impl HeldLogin<'_> {
    /// A user whose docker file names the helper.
    fn person(&self) -> ChoreResult<Person<'_>> {
        let mut person = self.site.person()?;
        if let Some(vault) = self.vault {
            vault.open_for(&mut person)?;
        }
        let (address, helper) = (self.site.address(), self.helper);
        let member = match self.member {
            JsonMember::CredsStore => format!("\"credsStore\": \"{helper}\""),
            JsonMember::CredHelpers => format!("\"credHelpers\": {{\n\t\t\"{address}\": \"{helper}\"\n\t}}"),
        };
        person.write(DOCKER, format!("{{\n\t{member}\n}}"))?;
        Ok(person)
    }

    /// Server and user of every login that the helper holds.
    fn logins(&self, person: &Person<'_>) -> ChoreResult<Value> {
        let program = format!("docker-credential-{}", self.helper);
        Ok(serde_json::from_str(&person.tool(&program)?.arg("list").success()?.stdout)?)
    }
}

/// Logins that a helper holds, with docker's mark of them in the file: ours for crane, and crane's for us.
fn held_by(held: &HeldLogin<'_>) -> ChoreResult {
    let site = held.site;
    let (address, repository) = (site.address(), site.repository(&format!("held-by-{}/widget", held.helper)));
    let theirs = held.person()?;
    their_login(&theirs, "crane", address, &site.right)?.success()?;
    theirs.helper_calls()?;
    theirs.push(&repository)?;
    if held.vault.is_none() {
        let calls = theirs.helper_calls()?;
        let wanted = [format!("get https://{address}"), format!("get {address}")];
        if calls != wanted {
            return Err(ChoreFailure::new(format!("the helper was called so: {calls:?}, expected {wanted:?}")));
        }
    }
    theirs.install(&repository)?;

    let ours = held.person()?;
    login(&ours, address, &site.wrong, 1)?;
    login(&ours, address, &site.right, 0)?.must_show(&format!("docker-credential-{}", held.helper))?;
    same(&ours, &theirs, "after the login through a helper")?;
    let wanted = json!({address: site.right.username});
    let logins = held.logins(&ours)?;
    if logins != wanted {
        return Err(ChoreFailure::new(format!("the helper holds {logins} after the login, expected {wanted}")));
    }
    ours.round_trip(&repository)?;
    match held.member {
        JsonMember::CredHelpers => everybody_reads(&ours, &repository)?,
        JsonMember::CredsStore => drop(readers(&ours, &repository)?[0].success()?),
    }
    logout(&ours, address)?;
    their_logout(&theirs, "crane", address)?.success()?;
    same(&ours, &theirs, "after the logout through a helper")?;
    let logins = held.logins(&ours)?;
    if logins != json!({}) {
        return Err(ChoreFailure::new(format!("the helper still holds {logins} after the logout")));
    }
    nobody_reads(&ours, &repository)?;
    seen(&format!(
        "{}: logins held by docker-credential-{}, crane's and ours; logout erases them",
        site.name, held.helper
    ));
    Ok(())
}
