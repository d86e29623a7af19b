//! Which token server may be asked, and which may be given a secret. Pure.

use tofu_oci_http::{AddressScope, host_of, is_loopback};
use tofu_oci_store::AccessFault;
use url::{Host, Url};

use crate::hosts::UserHosts;
use crate::site::{is_known_token_server, same_site};

/// Why a token server is not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RealmRefusal {
    pub(crate) fault: AccessFault,
    pub(crate) problem: String,
}

impl RealmRefusal {
    pub(crate) fn new(fault: AccessFault, problem: impl Into<String>) -> Self {
        Self { fault, problem: problem.into() }
    }
}

/// Whether a token server may be asked, and given the registry's credential.
///
/// # Errors
/// The reason, if it may not: plain HTTP for a registry that speaks HTTPS, unless the user names the host for plain
/// HTTP and as a token server; a user info; an IP address that is neither the registry's own nor, for a registry on this
/// machine, on this machine, unless the user names it as a token server.
pub(crate) fn check_realm(realm: &Url, registry: &Url, named: &UserHosts) -> Result<(), RealmRefusal> {
    let host = host_of(realm);
    let refused = |fault, problem| Err(RealmRefusal::new(fault, problem));
    if !matches!(realm.scheme(), "http" | "https") || realm.host().is_none() {
        // If the scheme is missing, the host is read as the scheme.
        let problem = "the token server's address does not begin with https://".to_owned();
        return refused(AccessFault::RealmScheme, problem);
    }
    if !realm.username().is_empty() || realm.password().is_some() {
        let problem = format!("the token server's address on {host} carries a user info");
        return refused(AccessFault::RealmUserInfo, problem);
    }
    let trusted = named.token.contain(realm);
    if realm.scheme() == "http" && registry.scheme() != "http" && !(trusted && named.plain.contain(realm)) {
        let problem = format!("the token server {host} would be asked over plain HTTP");
        return refused(AccessFault::RealmDowngrade, problem);
    }
    let own = realm.host() == registry.host();
    if own || trusted || is_loopback(realm) && is_loopback(registry) {
        return Ok(());
    }
    let problem = format!("the token server is named by the IP address {host}, which is not the registry's");
    match realm.host() {
        Some(Host::Domain(_)) if AddressScope::of_host(realm).is_some() => {
            let problem = format!("the token server {host} is on this machine, and the registry is not");
            refused(AccessFault::RealmPrivateAddress, problem)
        }
        Some(Host::Domain(_)) | None => Ok(()),
        _ if AddressScope::of_host(realm) == Some(AddressScope::Internet) => {
            refused(AccessFault::RealmOtherSite, problem)
        }
        _ => refused(AccessFault::RealmPrivateAddress, problem),
    }
}

/// Whether a token server may be given a secret for the registry: it is the registry's own host, one of the same site,
/// the known token server of the registry, or one that the user trusts by name.
///
/// An anonymous token may be asked for anywhere: nothing is given away.
///
/// Spec: the security checklist of this project, "Bearer realm" (GHSA-xf85-363p-868w).
pub(crate) fn check_confidant(realm: &Url, registry: &Url, named: &UserHosts) -> Result<(), RealmRefusal> {
    let refused = |problem: String| Err(RealmRefusal::new(AccessFault::RealmOtherSite, problem));
    let Some(host) = realm.host_str().filter(|_| registry.host().is_some()) else {
        return refused("the token server has no host".to_owned());
    };
    let both_local = is_loopback(realm) && is_loopback(registry);
    let own = same_site(realm, registry) || is_known_token_server(realm, registry);
    if own || both_local || named.token.contain(realm) {
        return Ok(());
    }
    refused(format!("the token server {host} belongs to another site than the registry, and would get the password"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a test address")
    }

    #[track_caller]
    fn check_told(registry: &str, realm: &str, want: bool) {
        let named = UserHosts::new(&[], &["login.partner.test".to_owned(), "10.9.0.1:5001".to_owned()]);
        let registry = url(&format!("https://{registry}/"));
        assert_eq!(
            check_confidant(&url(&format!("https://{realm}/token")), &registry, &named).is_ok(),
            want,
            "{realm}"
        );
    }

    #[test]
    fn a_password_goes_to_token_servers_of_the_registrys_own_site_or_to_trusted_ones() {
        check_told("ghcr.io", "ghcr.io", true);
        check_told("registry-1.docker.io", "auth.docker.io", true);
        check_told("registry.gitlab.com", "gitlab.com", true);
        check_told("registry.digitalocean.com:443", "api.digitalocean.com", true);
        check_told("rg.fr-par.scw.cloud", "api.scaleway.com", true);
        check_told("harbor.example.co.uk", "auth.example.co.uk", true);
        check_told("harbor.example.co.uk", "evil.co.uk", false);
        check_told("harbor.example.co.uk", "co.uk", false);
        check_told("registry.example.com", "evil.test", false);
        check_told("registry.example.com", "example.com.evil.test", false);
        check_told("registry.example.com", "notexample.com", false);
        check_told("registry.example.com", "login.partner.test", true);
        check_told("registry", "auth", false);
        check_told("10.0.0.1:5000", "10.0.0.1", true);
        check_told("10.0.0.1", "10.1.0.1", false);
        check_told("10.0.0.1", "10.9.0.1:5001", true);
        check_told("10.0.0.1", "10.9.0.1:5002", false);
        check_told("[fd00::1]", "[fd00::1]", true);
        check_told("[fd00::1]", "[fd00::2]", false);
    }

    #[test]
    fn a_password_for_one_customer_of_a_shared_suffix_does_not_go_to_another() {
        for (registry, realm) in [
            ("r.govt.nz", "e.govt.nz"),
            ("registry.agency.govt.nz", "auth.other.govt.nz"),
            ("contoso.azurecr.io", "evil.azurecr.io"),
            ("contoso.jfrog.io", "evil.jfrog.io"),
            ("contoso.azurewebsites.net", "evil.azurewebsites.net"),
            ("one.github.io", "two.github.io"),
            ("one.s3.amazonaws.com", "two.s3.amazonaws.com"),
            ("one.herokuapp.com", "two.herokuapp.com"),
            ("r.pvt.k12.ma.us", "e.pvt.k12.ma.us"),
            ("a.city.kawasaki.jp", "b.other.kawasaki.jp"),
        ] {
            check_told(registry, realm, false);
            check_told(&format!("{registry}."), realm, false);
        }
        check_told("registry.sap.de", "auth.sap.de", true);
        check_told("registry.hp.com", "auth.hp.com", true);
        check_told("harbor.agency.govt.nz", "auth.agency.govt.nz", true);
    }

    #[test]
    fn real_registries_and_their_token_servers_stay_pairs() {
        for (registry, realm) in [
            ("ghcr.io", "ghcr.io"),
            ("docker.io", "auth.docker.io"),
            ("index.docker.io", "auth.docker.io"),
            ("registry.gitlab.com", "gitlab.com"),
            ("quay.io", "quay.io"),
            ("123456789012.dkr.ecr.eu-central-1.amazonaws.com", "123456789012.dkr.ecr.eu-central-1.amazonaws.com"),
            ("public.ecr.aws", "public.ecr.aws"),
            ("europe-west3-docker.pkg.dev", "europe-west3-docker.pkg.dev"),
            ("eu.gcr.io", "eu.gcr.io"),
            ("eu.gcr.io", "gcr.io"),
            ("contoso.azurecr.io", "contoso.azurecr.io"),
            ("contoso-docker.jfrog.io", "contoso-docker.jfrog.io"),
            ("registry.redhat.io", "registry.redhat.io"),
            ("registry.redhat.io", "sso.redhat.com"),
            ("registry.connect.redhat.com", "sso.redhat.com"),
            ("de.icr.io", "de.icr.io"),
            ("icr.io", "iam.cloud.ibm.com"),
            ("registry.cn-hangzhou.aliyuncs.com", "dockerauth.cn-hangzhou.aliyuncs.com"),
            ("x-registry.cn-beijing.cr.aliyuncs.com", "dockerauth-ee.cn-beijing.aliyuncs.com"),
            ("uk-london-1.ocir.io", "uk-london-1.ocir.io"),
            ("registry.fly.io", "auth.fly.io"),
            ("harbor.example.com", "harbor.example.com:8443"),
            ("registry.example.internal", "auth.example.internal"),
            ("registry", "registry"),
            ("localhost:5000", "127.0.0.1:5001"),
            ("harbor.govt.nz", "harbor.govt.nz"),
            ("co.uk", "co.uk"),
        ] {
            check_told(registry, realm, true);
            check_told(&registry.to_uppercase(), realm, true);
        }
        check_told("registry.example.com.", "registry.example.com", true);
    }

    #[test]
    fn however_a_host_is_written_its_site_is_the_same() {
        check_told("registry.example.com.", "auth.example.com", true);
        check_told("registry.example.com.", "auth.example.com.", true);
        check_told("registry.example.com.", "evil.com.", false);
        check_told("registry.example.com..", "evil.com..", false);
        check_told("registry.example.com", "AUTH.Example.COM:8443", true);
        check_told("registry.example.com", "auth%2eexample.com", true);
        check_told("registry.example.com", "example.com%2eevil.test", false);
        check_told("registry.b\u{fc}cher.test", "auth.xn--bcher-kva.test", true);
        check_told("registry.example.com", "registry.ex\u{e4}mple.com", false);
        check_told("registry.example.com", "registry.example\u{3002}com", true);
    }

    #[track_caller]
    fn check_realm_of(registry: &str, realm: &str, want: Option<&str>) {
        check_realm_named(&[], &[], (registry, realm), want);
    }

    #[track_caller]
    fn check_realm_named(plain: &[&str], token: &[&str], (registry, realm): (&str, &str), want: Option<&str>) {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let named = UserHosts::new(&owned(plain), &owned(token));
        let got = check_realm(&url(realm), &url(registry), &named).err().map(|refusal| refusal.fault.code());
        assert_eq!(got, want, "{registry} with {realm}");
    }

    #[test]
    fn realm_rules() {
        let (downgrade, private) = (Some("realm-downgrade"), Some("realm-private-address"));
        check_realm_of("https://a.test/", "https://a.test/token", None);
        check_realm_of("https://a.test/", "https://auth.a.test/token", None);
        check_realm_of("https://a.test/", "http://a.test/token", downgrade);
        check_realm_of("http://a.test/", "http://b.test/token", None);
        check_realm_of("http://a.test/", "https://b.test/token", None);
        check_realm_of("https://a.test/", "https://u@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "https://:p@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "ftp://a.test/", Some("realm-scheme"));
        check_realm_of("https://a.test/", "a.test:5001/token", Some("realm-scheme"));
        check_realm_of("https://a.test/", "data:text/plain,x", Some("realm-scheme"));
        for address in
            ["10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "127.1", "224.0.0.1"]
        {
            check_realm_of("https://a.test/", &format!("https://{address}/token"), private);
        }
        for address in ["fd00::1", "fe80::1", "::1", "::", "::ffff:10.0.0.1", "fd00:ec2::254", "ff02::1"] {
            check_realm_of("https://a.test/", &format!("https://[{address}]/token"), private);
        }
        check_realm_of("https://a.test/", "https://2130706433/token", private);
        check_realm_of("https://a.test/", "https://0x7f.1/token", private);
        check_realm_of("https://a.test/", "https://localhost/token", private);
        check_realm_of("https://a.test/", "https://LOCALHOST:5001/token", private);
        check_realm_of("https://a.test/", "https://x.localhost./token", private);
        for odd in [
            "%6c%6fcalhost",
            "\u{24db}ocalhost",
            "localhost.",
            "127\u{3002}0\u{3002}0\u{3002}1",
            "127.0.0.1.",
            "1%32%37.1",
        ] {
            check_realm_of("https://a.test/", &format!("https://{odd}/token"), private);
        }
        check_realm_of("https://a.test/", "https:\\\\127.0.0.1\\token", private);
        check_realm_of("https://a.test/", "https://u%40b@a.test/token", Some("realm-user-info"));
        check_realm_of("https://a.test/", "https://93.184.216.34/token", Some("realm-other-site"));
        check_realm_of("https://a.test/", "https://[2606:4700::1111]/token", Some("realm-other-site"));
        check_realm_of("https://10.0.0.1/", "https://10.0.0.1:8080/token", None);
        check_realm_of("https://10.0.0.1/", "https://10.0.0.2/token", private);
        check_realm_of("https://127.0.0.1:5000/", "https://127.0.0.1:5000/token", None);
        check_realm_of("https://127.0.0.1:5000/", "https://127.0.0.1:5001/token", None);
        check_realm_of("http://127.0.0.1:5000/", "http://localhost:5001/token", None);
        check_realm_of("https://localhost:5000/", "http://localhost:5001/token", downgrade);
        check_realm_of("https://localhost:5000/", "https://10.0.0.1/token", private);
    }

    #[test]
    fn a_named_token_server_may_be_anywhere() {
        let (downgrade, private) = (Some("realm-downgrade"), Some("realm-private-address"));
        let check = |token: &str, realm: &str, want| {
            check_realm_named(&[], &[token], ("https://a.test/", realm), want);
        };
        for host in ["localhost", "127.0.0.1", "[::1]", "10.0.0.1", "192.168.1.1", "[fd00::1]", "93.184.216.34"] {
            check(host, &format!("https://{host}/token"), None);
            check(host, &format!("https://{host}:5001/token"), None);
            check(&format!("{host}:5001"), &format!("https://{host}:5001/token"), None);
            check(host, &format!("http://{host}:5001/token"), downgrade);
            check(host, &format!("https://u:p@{host}/token"), Some("realm-user-info"));
            let plain_registry = ("http://a.test/", format!("http://{host}:5001/token"));
            check_realm_named(&[], &[host], (plain_registry.0, &plain_registry.1), None);
        }
        check("127.0.0.1:5001", "https://127.0.0.1:5002/token", private);
        check("127.0.0.1", "https://localhost/token", private);
        check("10.0.0.1", "https://10.0.0.2/token", private);
    }

    #[test]
    fn plain_http_for_a_password_needs_both_names() {
        let pair = ("https://a.test/", "http://localhost:5001/token");
        check_realm_named(&["localhost"], &["localhost"], pair, None);
        check_realm_named(&["localhost:5001"], &["localhost:5001"], pair, None);
        check_realm_named(&["localhost"], &[], pair, Some("realm-downgrade"));
        check_realm_named(&["localhost:5002"], &["localhost"], pair, Some("realm-downgrade"));
    }
}
