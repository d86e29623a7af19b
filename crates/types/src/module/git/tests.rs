//! Sources of git that are read, and those that never reach the program.

use super::*;
use crate::ModuleSource;

fn read(text: &str) -> Option<Result<GitModuleSource, InvalidGitModuleSource>> {
    match text.parse::<ModuleSource>() {
        Ok(ModuleSource::Other(source)) => GitModuleSource::of(&source),
        _ => None,
    }
}

#[track_caller]
fn check(text: &str, want: &str) {
    let got = match read(text) {
        None => "other".to_owned(),
        Some(Ok(source)) => source.to_string(),
        Some(Err(error)) => error.code().to_owned(),
    };
    assert_eq!(got, want, "{text}");
}

#[test]
fn sources_of_git_have_many_forms() {
    check("git::https://example.com/a.git//dns?ref=v1", "git::https://example.com/a.git//dns?ref=v1");
    check("git::https://example.com/a.git?depth=1&ref=v1&x=y", "git::https://example.com/a.git?x=***&ref=v1");
    check("github.com/acme/network", "git::https://github.com/acme/network.git");
    check("github.com/acme/network.git/a/b//c?ref=main", "git::https://github.com/acme/network.git//a/b/c?ref=main");
    check("git::github.com/acme/network", "git::https://github.com/acme/network.git");
    check("bitbucket.org/acme/network", "git::https://bitbucket.org/acme/network.git");
    check("git@example.com:acme/network.git//dns", "git::ssh://git@example.com/acme/network.git//dns");
    check("git::git@example.com:/acme/network.git", "git::ssh://git@example.com/acme/network.git");
    check("git::ssh://git@example.com:2222/a.git", "git::ssh://git@example.com:2222/a.git");
    check("git::https://u:secret@example.com/a.git", "git::https://***@example.com/a.git");
    check("git::file:///srv/a.git", "git::file:///srv/a.git");
    check("git::/srv/a.git", "git::file:///srv/a.git");
    check("git://example.com/a.git", "git::git://example.com/a.git");
    check("https://example.com/a.git", "other");
    check("hg::https://example.com/a", "other");
}

#[test]
fn what_a_shell_of_the_ssh_configuration_could_run_is_refused() {
    for host in ["$(id).example.com", "`id`.example.com", "a;id;b.example.com", "$(touch${IFS}x).example.com"] {
        check(&format!("git::ssh://git@{host}/a.git"), "git-address");
    }
    check("git::ssh://$(id)@example.com/a.git", "git-address");
    check("git::ssh://git@a_b.example.com/a.git", "git::ssh://git@a_b.example.com/a.git");
    check("git::ssh://git@[::1]/a.git", "git::ssh://git@[::1]/a.git");
}

#[test]
fn what_a_program_could_take_for_an_option_is_refused() {
    check("git::https://example.com/a.git?ref=--upload-pack=touch%20x", "git-reference");
    check("git::https://example.com/a.git?ref=-x", "git-reference");
    check("git::https://example.com/a.git?ref=a..b", "git-reference");
    check("git::https://example.com/a.git?ref=a%0ab", "git-reference");
    check("git::https://example.com/a.git?ref=HEAD%5E", "git-reference");
    check("git::ssh://-oProxyCommand=x/a.git", "git-address");
    check("git::ssh://git@-oProxyCommand=x/a.git", "git-address");
    check("git::ssh://%2DoProxyCommand=x/a.git", "git-address");
    check("git::ssh://-x@example.com/a.git", "git-address");
    check("git::ssh://git@example.com/a%0Ab.git", "git-address");
    check("git::ext::sh -c touch% /tmp/x", "git-address");
    check("git::file://example.com/a.git", "git-address");
    check("git::--upload-pack=x", "other");
    check("ssh://git@example.com/a.git", "git-address");
    check("git::https://example.com/a.git?sshkey=AAAA", "git-ssh-key");
    check("git::https://example.com/a.git?checksum=sha256:00", "git-address");
}

#[test]
fn submodules_may_be_relative() {
    let source = read("git::https://example.com/acme/network.git?ref=v1").expect("git").expect("a source");
    let of = |address: &str| {
        let commit = "0123456789012345678901234567890123456789".parse().expect("a commit");
        source.submodule(address, commit).map(|found| found.url().to_string()).map_err(|error| error.code())
    };
    assert_eq!(of("../dns.git").as_deref(), Ok("https://example.com/acme/dns.git"));
    assert_eq!(of("./dns").as_deref(), Ok("https://example.com/acme/network.git/dns"));
    assert_eq!(of("git@example.com:a/b").as_deref(), Ok("ssh://git@example.com/a/b"));
    assert_eq!(of("acme-1@example.com:a/b").as_deref(), Ok("ssh://acme-1@example.com/a/b"));
    assert_eq!(of("-x@example.com:a/b"), Err("git-address"));
    assert_eq!(of("file:///etc").as_deref(), Ok("file:///etc"));
    assert_eq!(of("ext::sh -c x"), Err("git-address"));
    assert_eq!(of("-x"), Err("git-address"));
}
