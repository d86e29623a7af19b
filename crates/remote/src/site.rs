//! Which hosts belong to one site: one of them may get a secret of another. Pure.
//!
//! ```text
//! public suffix list    govt.nz, co.uk, github.io: each name directly below is another owner
//! SHARED_CLOUDS         the same for registry clouds that the list does not have
//! KNOWN_TOKEN_SERVERS   token servers outside of the site of their registry
//! ```

use std::collections::HashSet;
use std::sync::LazyLock;

use tofu_oci_types::RegistryHost;
use url::{Host, Url};

/// The rules of the public suffix list, in punycode. `cargo xtask fixtures` writes them from the crate `psl`, which makes
/// 25 times as many bytes of them in a program.
static PUBLIC_SUFFIXES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("public_suffixes.txt").lines().collect());

/// Suffixes below which each label is another customer, and which the public suffix list (2026-11) does not have. `*`
/// matches one label.
const SHARED_CLOUDS: &[&str] = &[
    // Azure Container Registry: NAME.azurecr.io, and the clouds for the government of the USA and for China.
    "azurecr.io",
    "azurecr.us",
    "azurecr.cn",
    // JFrog Artifactory: COMPANY.jfrog.io.
    "jfrog.io",
    // Amazon ECR: ACCOUNT.dkr.ecr.REGION.amazonaws.com, its FIPS and dual-stack addresses, and those in China.
    "dkr.ecr.*.amazonaws.com",
    "dkr.ecr-fips.*.amazonaws.com",
    "dkr.ecr.*.amazonaws.com.cn",
    "dkr-ecr.*.on.aws",
    "dkr-ecr-fips.*.on.aws",
    // Tencent Container Registry: INSTANCE.tencentcloudcr.com.
    "tencentcloudcr.com",
    // IONOS: NAME.cr.REGION.ionos.com.
    "cr.*.ionos.com",
    // OVHcloud: INSTANCE.CLUSTER.REGION.container-registry.ovh.net.
    "*.*.container-registry.ovh.net",
    // NAVER Cloud: NAME.REGION.ncr.ntruss.com.
    "*.ncr.ntruss.com",
];

/// Suffixes below which each whole name is a site of its own: customers have labels at several depths.
const SHARED_AT_EVERY_DEPTH: &[&str] = &[
    // Alibaba Cloud: INSTANCE-registry.REGION.cr.aliyuncs.com, BUCKET.oss-REGION.aliyuncs.com,
    // ACCOUNT.REGION.fc.aliyuncs.com.
    "aliyuncs.com",
];

/// A token server that belongs to registries of another site.
struct KnownTokenServer {
    /// A suffix of the registry's name.
    registry: &'static str,
    /// The token server; `*` matches one label.
    server: &'static str,
}

const KNOWN_TOKEN_SERVERS: &[KnownTokenServer] = &[
    KnownTokenServer { registry: "scw.cloud", server: "api.scaleway.com" },
    KnownTokenServer { registry: "registry.redhat.io", server: "sso.redhat.com" },
    KnownTokenServer { registry: "icr.io", server: "iam.cloud.ibm.com" },
    KnownTokenServer { registry: "cr.aliyuncs.com", server: "dockerauth.*.aliyuncs.com" },
    KnownTokenServer { registry: "cr.aliyuncs.com", server: "dockerauth-ee.*.aliyuncs.com" },
    KnownTokenServer { registry: "cr.aliyuncs.com", server: "dockerauth-cn-zhangjiakou.aliyuncs.com" },
    KnownTokenServer { registry: "registry.*.aliyuncs.com", server: "dockerauth.*.aliyuncs.com" },
    KnownTokenServer { registry: "registry.*.aliyuncs.com", server: "dockerauth-cn-zhangjiakou.aliyuncs.com" },
];

/// Whether two hosts are the same, or two names below one domain that has one owner, or that belongs to one customer of
/// a cloud.
pub(crate) fn same_site(one: &Url, other: &Url) -> bool {
    let (Some(one), Some(other)) = (RegistryHost::of_url(one), RegistryHost::of_url(other)) else { return false };
    match (one.host(), other.host()) {
        (Host::Domain(one), Host::Domain(other)) => {
            one == other || site(one).is_some_and(|site_of_one| Some(site_of_one) == site(other))
        }
        (one, other) => one == other,
    }
}

/// Whether a host is the token server that is known to belong to a registry.
pub(crate) fn is_known_token_server(server: &Url, registry: &Url) -> bool {
    let (Some(server), Some(registry)) = (RegistryHost::of_url(server), RegistryHost::of_url(registry)) else {
        return false;
    };
    let (Host::Domain(server), Host::Domain(registry)) = (server.host(), registry.host()) else { return false };
    let pairs = || KNOWN_TOKEN_SERVERS.iter();
    pairs().any(|known| below(registry, known.registry).is_some() && below(server, known.server) == Some(0))
}

/// The part of a name that one owner has: the public suffix, or the longer suffix of a shared cloud, and one label more.
/// `None` for a suffix itself, and for a name of one label.
fn site(name: &str) -> Option<&str> {
    if let Some(labels) = SHARED_AT_EVERY_DEPTH.iter().find_map(|suffix| below(name, suffix)) {
        return (labels > 0).then_some(name);
    }
    let shared = SHARED_CLOUDS.iter().filter(|suffix| below(name, suffix).is_some());
    let shared = shared.map(|suffix| suffix.split('.').count()).max();
    let labels = shared.unwrap_or_else(|| public_suffix(name));
    let dots = name.rmatch_indices('.').map(|(dot, _)| dot);
    // The dot before the suffix, and the one before the customer's label.
    let before = dots.skip(labels - 1).take(2).collect::<Vec<_>>();
    let site = match before[..] {
        [] => None,
        [_] => Some(name),
        [_, start, ..] => name.get(start + 1..),
    };
    site.filter(|site| site.split('.').all(|label| !label.is_empty()))
}

/// How many labels the public suffix of a name has.
///
/// Spec: publicsuffix.org, "Format", the algorithm: an exception, else the longest rule, else one label.
fn public_suffix(name: &str) -> usize {
    let dots = name.match_indices('.').map(|(dot, _)| dot + 1);
    let suffixes = || std::iter::once(0).chain(dots.clone()).map(|start| &name[start..]);
    let labels = |suffix: &str| suffix.split('.').count();
    let has = |rule: &str| PUBLIC_SUFFIXES.contains(rule);
    if let Some(exception) = suffixes().find(|suffix| has(&format!("!{suffix}"))) {
        return labels(exception) - 1;
    }
    let is_suffix = |suffix: &&str| {
        let wild = suffix.split_once('.').is_some_and(|(_, rest)| has(&format!("*.{rest}")));
        has(suffix) || wild
    };
    suffixes().find(is_suffix).map_or(1, labels)
}

/// How many labels a name has before a suffix; `None` if it does not end in the suffix.
fn below(name: &str, suffix: &str) -> Option<usize> {
    let mut labels = name.rsplit('.');
    for wanted in suffix.rsplit('.') {
        let label = labels.next()?;
        if label != wanted && (wanted != "*" || label.is_empty()) {
            return None;
        }
    }
    Some(labels.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: Option<&str>) {
        assert_eq!(site(name), want, "{name}");
    }

    #[test]
    fn a_site_is_one_label_more_than_the_public_suffix() {
        check("auth.docker.io", Some("docker.io"));
        check("docker.io", Some("docker.io"));
        check("a.b.govt.nz", Some("b.govt.nz"));
        check("govt.nz", None);
        check("auth.sap.de", Some("sap.de"));
        check("a.one.github.io", Some("one.github.io"));
        check("bucket.s3.amazonaws.com", Some("bucket.s3.amazonaws.com"));
        check("a.b\u{fc}cher.de", Some("b\u{fc}cher.de"));
        check("a.xn--bcher-kva.de", Some("xn--bcher-kva.de"));
        check("xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn"));
        // An ending that the list does not have is one label.
        check("a.b.internal", Some("b.internal"));
        check("registry.internal", Some("registry.internal"));
        for suffix in ["registry", "com", "co.uk", "", ".", "..", ".com"] {
            check(suffix, None);
        }
    }

    #[test]
    fn a_site_is_what_the_crate_psl_says() {
        let at_every_depth = |name: &str| SHARED_AT_EVERY_DEPTH.iter().any(|suffix| below(name, suffix).is_some());
        let shared = |name: &str| SHARED_CLOUDS.iter().any(|suffix| below(name, suffix).is_some());
        for rule in PUBLIC_SUFFIXES.iter() {
            let rule = rule.trim_start_matches('!').replace('*', "wild");
            for name in [rule.clone(), format!("a.{rule}"), format!("b.a.{rule}"), format!("c.b.a.{rule}")] {
                if !shared(&name) && !at_every_depth(&name) {
                    check(&name, psl::domain_str(&name));
                }
            }
        }
    }

    #[test]
    fn each_customer_of_a_registry_cloud_is_a_site() {
        for (name, customer) in [
            ("contoso.azurecr.io", "contoso.azurecr.io"),
            ("contoso.eastus.data.azurecr.io", "data.azurecr.io"),
            ("contoso.azurecr.us", "contoso.azurecr.us"),
            ("contoso.azurecr.cn", "contoso.azurecr.cn"),
            ("a.contoso.jfrog.io", "contoso.jfrog.io"),
            ("1.dkr.ecr.eu-central-1.amazonaws.com", "1.dkr.ecr.eu-central-1.amazonaws.com"),
            ("1.dkr.ecr-fips.us-east-1.amazonaws.com", "1.dkr.ecr-fips.us-east-1.amazonaws.com"),
            ("1.dkr.ecr.cn-north-1.amazonaws.com.cn", "1.dkr.ecr.cn-north-1.amazonaws.com.cn"),
            ("1.dkr-ecr.eu-central-1.on.aws", "1.dkr-ecr.eu-central-1.on.aws"),
            ("1.dkr-ecr-fips.us-east-1.on.aws", "1.dkr-ecr-fips.us-east-1.on.aws"),
            ("x-registry.cn-hangzhou.cr.aliyuncs.com", "x-registry.cn-hangzhou.cr.aliyuncs.com"),
            ("registry.cn-hangzhou.aliyuncs.com", "registry.cn-hangzhou.aliyuncs.com"),
            ("x.tencentcloudcr.com", "x.tencentcloudcr.com"),
            ("x.cr.de-fra.ionos.com", "x.cr.de-fra.ionos.com"),
            ("x.c1.de1.container-registry.ovh.net", "x.c1.de1.container-registry.ovh.net"),
            ("x.kr.ncr.ntruss.com", "x.kr.ncr.ntruss.com"),
        ] {
            check(name, Some(customer));
        }
        check("azurecr.io", None);
        check("dkr.ecr.eu-central-1.amazonaws.com", None);
        check("notazurecr.io", Some("notazurecr.io"));
        check("azurecr.io.evil.test", Some("evil.test"));
    }

    #[test]
    fn token_servers_outside_of_the_site_are_known_by_name() {
        let check = |registry: &str, server: &str, want: bool| {
            let url = |host: &str| Url::parse(&format!("https://{host}/")).expect("a test address");
            assert_eq!(is_known_token_server(&url(server), &url(registry)), want, "{registry} and {server}");
        };
        check("rg.fr-par.scw.cloud", "api.scaleway.com", true);
        check("rg.fr-par.scw.cloud.", "api.scaleway.com.", true);
        check("rg.fr-par.scw.cloud", "evil.scaleway.com", false);
        check("rgscw.cloud", "api.scaleway.com", false);
        check("registry.redhat.io", "sso.redhat.com", true);
        check("de.icr.io", "iam.cloud.ibm.com", true);
        check("icr.io", "iam.cloud.ibm.com", true);
        check("icr.io", "evil.cloud.ibm.com", false);
        check("x-registry.cn-beijing.cr.aliyuncs.com", "dockerauth.cn-hangzhou.aliyuncs.com", true);
        check("crpi-x.cn-beijing.personal.cr.aliyuncs.com", "dockerauth.cn-hangzhou.aliyuncs.com", true);
        check("x-registry.cn-beijing.cr.aliyuncs.com", "dockerauth-ee.cn-beijing.aliyuncs.com", true);
        check("registry.cn-hangzhou.aliyuncs.com", "dockerauth.cn-hangzhou.aliyuncs.com", true);
        check("registry.cn-hangzhou.aliyuncs.com", "dockerauth.evil.cn-hangzhou.aliyuncs.com", false);
        check("x-registry.cn-beijing.cr.aliyuncs.com", "y-registry.cn-beijing.cr.aliyuncs.com", false);
        check("127.0.0.1", "api.scaleway.com", false);
    }
}
