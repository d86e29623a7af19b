//! Documents and redirects that lead to this machine or into a private network.

use super::*;

/// Where a document's redirect leads, from a host that is reached through a proxy.
async fn redirected(to_host: &str, allowed: &[String]) -> (String, usize) {
    let named = Named::start(&["a.test"], &["a.test:443"]);
    named.server.page(DOCUMENT, to(format!("https://{to_host}/there")));
    named.server.page("/there", json("{}"));
    let options = HttpOptions {
        proxies: Proxies::Fixed(named.tunnel.url()),
        private_hosts: allowed.to_vec(),
        ..options(&named.server)
    };
    let web = web_client(options);
    let discovery = HttpDiscovery::new(web, DiscoveryOptions::default());
    let got = discovery.services(&"a.test".parse().unwrap()).await;
    (
        got.map_or_else(|error| format!("{} ({})", causes(&error), error.code()), |_| "followed".to_owned()),
        named.server.requests().len(),
    )
}

#[tokio::test]
async fn a_redirect_does_not_lead_to_this_machine_or_a_private_network() {
    assert_snapshot!(redirected("127.0.0.1:9", &[]).await.0, @"the services of a.test are not usable: https://a.test/.well-known/terraform.json: its redirect to 127.0.0.1:9 is not followed: that is on this machine or in a private network (private-host)");
    for host in [
        "127.1",
        "0x7f.1:9",
        "[::ffff:127.0.0.1]",
        "localhost.",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fd00::1]",
    ] {
        let (said, requests) = redirected(host, &[]).await;
        assert!(said.ends_with("(private-host)") && requests == 1, "{host}: {said}");
    }
    let other = WebServer::start(&[]);
    other.page("/there", json("{}"));
    let said = redirected(other.address(), &[other.address().to_owned()]).await.0;
    assert!(said.ends_with("(tls)"), "it is asked, and has a certificate of its own authority: {said}");
}

/// Names of this machine, as a name service may have them.
struct AllHere;

#[async_trait]
impl tofu_oci_http::NameService for AllHere {
    async fn addresses(&self, _name: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        Ok(vec![[127, 0, 0, 1].into()])
    }
}

#[tokio::test]
async fn a_name_that_an_internet_host_named_is_not_asked_at_a_private_address() {
    let server = WebServer::start(&["a.test", "b.test"]);
    server.page(DOCUMENT, json("{}"));
    let options = HttpOptions { names: Arc::new(AllHere), ..options(&server) };
    let web = web_client(options.clone());
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let ask = async |web: &WebClient, host: &str| {
        let discovery = HttpDiscovery::new(web.clone(), DiscoveryOptions::default());
        let got = discovery.services(&format!("{host}:{port}").parse().unwrap()).await;
        got.map_or_else(
            |error| format!("{} ({})", causes(&error).replace(&port, "PORT"), error.code()),
            |_| "answered".to_owned(),
        )
    };
    let far = "https://93.184.216.34/x.json".parse().unwrap();
    assert!(web.may_name(&far, &format!("b.test:{port}")));
    assert_snapshot!(ask(&web, "b.test").await, @"the services of b.test:PORT are not usable: https://b.test:PORT/.well-known/terraform.json: b.test is at 127.0.0.1, on this machine or in a private network, and a host outside named it (private-host)");
    assert_eq!(server.requests().len(), 0);
    assert_eq!(ask(&web, "a.test").await, "answered", "no host named it");
    let allowing = web_client(HttpOptions { private_hosts: vec!["b.test".to_owned()], ..options.clone() });
    assert!(allowing.may_name(&far, &format!("b.test:{port}")));
    assert_eq!(ask(&allowing, "b.test").await, "answered");
}

#[tokio::test]
async fn a_host_of_this_machine_may_lead_to_this_machine() {
    let server = WebServer::start(&["a.test"]);
    server.page(DOCUMENT, json(r#"{"oci-providers.v1":"127.0.0.1:5000/x/{namespace}-{type}"}"#));
    let options = HttpOptions { names: Arc::new(AllHere), ..options(&server) };
    let port = server.address().rsplit_once(':').unwrap().1;
    for host in ["127.0.0.1", "localhost", "a.test"] {
        let discovery = HttpDiscovery::new(web_client(options.clone()), DiscoveryOptions::default());
        let services = discovery.services(&format!("{host}:{port}").parse().unwrap()).await.unwrap();
        assert!(discovery.admit(&services, "127.0.0.1:5000").is_ok(), "{host}");
    }
}

/// `far.test` is in the internet as well as here, so that it can be reached. `near.test` is here alone.
struct FarAndNear;

#[async_trait]
impl tofu_oci_http::NameService for FarAndNear {
    async fn addresses(&self, name: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        let here = [127, 0, 0, 1].into();
        Ok(if name == "far.test" { vec![here, [93, 184, 216, 34].into()] } else { vec![here] })
    }
}

#[tokio::test]
async fn a_host_that_a_redirect_named_was_barred_from_the_user_until_a_restart() {
    let server = WebServer::start(&["far.test", "near.test"]);
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    server.page(DOCUMENT, to(format!("https://near.test:{port}/there")));
    server.page("/there", json("{}"));
    let web = web_client(HttpOptions { names: Arc::new(FarAndNear), ..options(&server) });
    let ask = async |host: &str| {
        let discovery = HttpDiscovery::new(web.clone(), DiscoveryOptions::default());
        let got = discovery.services(&format!("{host}:{port}").parse().unwrap()).await;
        got.map_or_else(|error| error.code().to_owned(), |_| "answered".to_owned())
    };
    assert_eq!(ask("far.test").await, "private-host");
    assert_eq!(server.requests().len(), 1);
    assert_eq!(ask("near.test").await, "answered");
    assert_eq!(ask("far.test").await, "private-host");
}
