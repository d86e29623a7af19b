//! `auth explain` about access that works and access that does not: exit code, stable code, and the cause that it names.

use serde_json::{Value, json};
use tofu_oci_testkit::Login;

use super::site::{Guardian, Person, Site, encoded};
use crate::failure::{ChoreResult, Doing};
use crate::interop::lab::seen;

const DOCKER: &str = ".docker/config.json";
const PODMAN: &str = "run/containers/auth.json";

/// A question to `auth explain`, and what its answer must contain.
struct ExplainCase {
    name: &'static str,
    set_up: fn(&Site<'_>, &Person<'_>) -> ChoreResult,
    arguments: &'static [&'static str],
    exit: i32,
    outcome: &'static str,
    /// The stable code; `None` on success.
    code: Option<&'static str>,
    /// What the text has to name.
    names: &'static [&'static str],
}

impl ExplainCase {
    const fn new(name: &'static str, set_up: fn(&Site<'_>, &Person<'_>) -> ChoreResult, exit: i32) -> Self {
        let outcome = match exit {
            0 => "works",
            2 => "refuses",
            3 => "not-known",
            _ => "fails",
        };
        Self { name, set_up, arguments: &[], exit, outcome, code: None, names: &[] }
    }

    const fn push(self) -> Self {
        Self { arguments: &["--push"], ..self }
    }

    const fn code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    const fn names(self, names: &'static [&'static str]) -> Self {
        Self { names, ..self }
    }
}

/// Cases of every registry.
const EVERYWHERE: &[ExplainCase] = &[
    ExplainCase::new("a right login", right, 0).names(&["~/.docker/config.json", "tester"]),
    ExplainCase::new("a right login, for a push", right, 0).push().names(&["~/.docker/config.json"]),
    ExplainCase::new("no login at all", empty, 1).names(&["~/.docker/config.json"]),
    ExplainCase::new("a wrong password", wrong, 1).names(&["~/.docker/config.json", "tester", "401"]),
    ExplainCase::new("a helper that is missing", missing_helper, 1)
        .code("helper-not-found")
        .names(&["docker-credential-absent", "~/.docker/config.json"]),
    ExplainCase::new("a malformed file beside a right login", malformed_beside_right, 0).names(&[
        "containers/auth.json",
        "malformed",
        "line 3",
        "OpenTofu",
    ]),
    ExplainCase::new("a malformed file alone", malformed, 1).names(&["containers/auth.json", "malformed", "line 3"]),
    ExplainCase::new("a key with a scheme", scheme, 1)
        .names(&["a key is no URL: write 127.0.0.1:", "~/.docker/config.json:1"]),
    ExplainCase::new("an auth without a colon", no_colon, 1)
        .code("auth-without-colon")
        .names(&["~/.docker/config.json"]),
    ExplainCase::new("a wrong block", wrong_block, 2).code("block-basic-needs-both").names(&["~/.tofurc"]),
];

/// Cases of a registry whose token server knows what each user may do.
const WITH_TOKENS: &[ExplainCase] = &[
    ExplainCase::new("somebody who may read", reader, 0).names(&["reader"]),
    ExplainCase::new("somebody who may read only, for a push", reader, 1).push().names(&["pull,push", "reader"]),
    ExplainCase::new("somebody who may do nothing", other, 1).names(&[":pull", "somebody-else"]),
];

/// Cases of a registry that knows only its users' passwords.
const WITH_PASSWORDS: &[ExplainCase] = &[ExplainCase::new("somebody whom it does not know", other, 1).names(&[
    "somebody-else",
    "401",
    "~/.docker/config.json",
])];

pub(super) fn run(site: &Site<'_>) -> ChoreResult {
    let repository = site.repository("explained/widget");
    let publisher = site.person()?;
    right(site, &publisher)?;
    publisher.push(&repository)?;
    let own = match site.guardian {
        Guardian::Tokens => WITH_TOKENS,
        Guardian::Passwords => WITH_PASSWORDS,
    };
    for case in EVERYWHERE.iter().chain(own) {
        let person = site.person()?;
        (case.set_up)(site, &person)?;
        check(&person, case, &repository).doing(|| format!("auth explain, {}, {}", site.name, case.name))?;
    }
    // Nothing listens there.
    let person = site.person()?;
    let absent = ExplainCase::new("a registry that is not there", empty, 3).names(&["127.0.0.1:1"]);
    check(&person, &absent, "127.0.0.1:1/explained/widget")?;
    seen(&format!(
        "{}: auth explain tells {} cases apart, by exit code and by name",
        site.name,
        EVERYWHERE.len() + own.len() + 1
    ));
    Ok(())
}

fn check(person: &Person<'_>, case: &ExplainCase, repository: &str) -> ChoreResult {
    let words = ["auth", "explain", repository];
    let words: Vec<&str> = words.iter().chain(case.arguments).copied().collect();
    let text = person.must_end(case.exit, &words)?;
    for name in case.names {
        // Long lines are broken between words.
        if !text.all().split_whitespace().collect::<Vec<_>>().join(" ").contains(name) {
            return Err(text.failure(&format!("the explanation does not name `{name}`")));
        }
    }
    let printed = person.must_end(case.exit, &[words.as_slice(), &["--json"]].concat())?;
    let lines = printed.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>();
    let outcome = lines.iter().find(|line| line["event"] == "auth").map(|line| &line["outcome"]);
    // An error that stops every verb has its own code there.
    let code = lines.iter().find_map(|line| line["code"].as_str());
    if outcome.is_none_or(|outcome| outcome != case.outcome) || case.code.is_some_and(|wanted| code != Some(wanted)) {
        let wanted = format!("outcome {}, code {:?}", case.outcome, case.code);
        return Err(printed.failure(&format!("the explanation lacks {wanted}")));
    }
    // An unreachable registry is not a matter of credentials.
    let explained = lines.iter().find(|line| line["event"] == "auth").and_then(|line| line["code"].as_str());
    let named = if matches!(case.exit, 1 | 2) { code.is_some() } else { explained.is_none() };
    if !named {
        return Err(printed.failure("a code belongs to what credentials make fail, and to nothing else"));
    }
    Ok(())
}

fn auths(host: &str, login: &Login) -> String {
    json!({"auths": {host: {"auth": encoded(login)}}}).to_string()
}

fn empty(_: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, "{}")
}

fn right(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, auths(site.address(), &site.right))
}

fn wrong(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, auths(site.address(), &site.wrong))
}

fn other(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, auths(site.address(), &site.other))
}

fn reader(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, auths(site.address(), &site.reader))
}

fn missing_helper(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, json!({"credHelpers": {site.address(): "absent"}}).to_string())
}

fn malformed(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    let auth = encoded(&site.right);
    person.write(PODMAN, format!("{{\n  \"auths\": {{\"{}\": {{\"auth\": \"{auth}\"}}}},\n}}\n", site.address()))
}

fn malformed_beside_right(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    malformed(site, person)?;
    right(site, person)
}

fn scheme(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, auths(&format!("https://{}", site.address()), &site.right))
}

fn no_colon(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    person.write(DOCKER, json!({"auths": {site.address(): {"auth": "dGVzdGVy"}}}).to_string())
}

fn wrong_block(site: &Site<'_>, person: &Person<'_>) -> ChoreResult {
    right(site, person)?;
    person.write(".tofurc", format!("oci_credentials \"{}\" {{\n  username = \"tester\"\n}}\n", site.address()))
}
