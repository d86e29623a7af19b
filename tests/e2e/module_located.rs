//! Locations that a registry of modules names where others read what comes: no login is shown there.
#![cfg(unix)]

use tofu_oci_testkit::{Answer, LoggedRequest};

use crate::module_mirror::{HOST, Upstream};
use crate::setup::Scene;
use crate::setup::logins::basic;

/// A registry of modules whose version 1.4.0 of `acme/network/aws` lies in a repository that only ada can read.
pub(crate) fn private() -> Upstream {
    let scene = Scene::with(basic());
    scene.log_in("--quiet");
    scene.context.write("net/main.tf", "# private\n");
    scene.run("module push net REGISTRY/secret/net --version 1.4.0").success();
    let mut upstream = Upstream::before(scene);
    let location = format!("oci://{}/secret/net?tag=1.4.0", upstream.scene.registry.address());
    upstream.located("network", "1.4.0", &location);
    upstream.list();
    upstream.scene.registry.clear_requests();
    upstream
}

pub(crate) fn shows_login(request: &LoggedRequest) -> bool {
    request.headers.iter().any(|(name, _)| name == "authorization")
}

#[test]
fn a_registry_of_modules_made_mirror_copy_a_repository_that_the_login_reads() {
    let upstream = private();
    let said = upstream.mirror(&format!("{HOST}/acme/network/aws"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains("demands a login"), "{}", said.text);
    assert!(said.text.contains("--as ADDR"), "{}", said.text);
    let asked = upstream.scene.registry.requests_to("*", "/v2/secret/*");
    assert!(!asked.is_empty() && !asked.iter().any(shows_login), "{asked:?}");
    assert!(upstream.scene.registry.tags("mirror/acme/network-aws").is_empty());
    // Whoever names it shows the login, and so does a user who fetches for themself.
    upstream.scene.run(&format!("module pull {HOST}/acme/network/aws out")).success();
    upstream.mirror(&format!("'oci://REGISTRY/secret/net?tag=1.4.0' --as {HOST}/acme/network/aws")).success();
}

#[test]
fn a_registry_of_modules_made_mirror_read_git_with_the_logins_of_the_user() {
    let mut upstream = Upstream::start();
    let port = upstream.web.origin().rsplit(':').next().expect("a port").to_owned();
    upstream.located("network", "1.4.0", &format!("git::https://127.0.0.1:{port}/a.git?ref=v1"));
    upstream.located("ssh", "1.4.0", "git::ssh://git@127.0.0.1:1/a.git?ref=v1");
    upstream.list();
    let challenge = Answer::new(401).header("WWW-Authenticate", "Basic realm=\"git\"");
    upstream.web.page("/a.git/info/refs", challenge);
    let context = &upstream.scene.context;
    context.write_home(".netrc", "machine 127.0.0.1 login ada password hunter2\n");
    let ca = upstream.scene.path("ca.pem");
    let helper = "!f() { echo username=ada; echo password=hunter2; }; f";
    let settings = format!(
        "[http]\n\tsslCAInfo = {}\n\textraHeader = \"Authorization: Basic YTpi\"\n[credential]\n\thelper = \"{helper}\"\n",
        ca.display()
    );
    context.write_home(".gitconfig", settings);
    let asked = |upstream: &Upstream| -> Vec<LoggedRequest> {
        upstream.web.requests().into_iter().filter(|request| request.path.starts_with("/a.git")).collect()
    };
    let said = upstream.mirror(&format!("{HOST}/acme/network/aws"));
    assert!(said.code == Some(1) && said.text.contains("demands a login"), "{}", said.text);
    let seen = asked(&upstream);
    assert!(!seen.is_empty() && !seen.iter().any(shows_login), "{seen:?}\n{}", said.text);
    let said = upstream.mirror(&format!("{HOST}/acme/ssh/aws"));
    assert!(said.code == Some(1) && said.text.contains("demands a login"), "{}", said.text);
    // The same settings are those of a user who fetches for themself.
    upstream.scene.run(&format!("module pull {HOST}/acme/network/aws out"));
    assert!(asked(&upstream).iter().any(shows_login));
}
