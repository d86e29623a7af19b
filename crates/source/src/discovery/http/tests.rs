use std::sync::Arc;

use insta::assert_snapshot;
use tofu_oci_http::{Clock, HttpClient, HttpOptions, Proxies};
use tofu_oci_testkit::{Answer, Fault, Gate, Length, Rule, Tunnel, WebServer};
use tofu_oci_types::NoReporter;

use super::*;
use crate::error::causes;

const DOCUMENT: &str = "/.well-known/terraform.json";

fn json(body: &str) -> Answer {
    Answer::new(200).header("Content-Type", "application/json").body(body.to_owned())
}

/// Never waits.
struct NoWait;

#[async_trait]
impl Clock for NoWait {
    fn now(&self) -> std::time::SystemTime {
        std::time::SystemTime::UNIX_EPOCH
    }

    async fn sleep(&self, _time: Duration) {}
}

fn options(server: &WebServer) -> HttpOptions {
    HttpOptions {
        ca_certificates: server.ca_pem().map(|pem| pem.as_bytes().to_vec()).into_iter().collect(),
        proxies: Proxies::Direct,
        clock: Arc::new(NoWait),
        ..HttpOptions::default()
    }
}

fn web_client(options: HttpOptions) -> WebClient {
    WebClient::new(HttpClient::new(options, Arc::new(NoReporter)).unwrap())
}

fn discovery(server: &WebServer) -> HttpDiscovery {
    HttpDiscovery::new(web_client(options(server)), DiscoveryOptions::default())
}

fn host(server: &WebServer) -> Hostname {
    server.address().parse().unwrap()
}

async fn ask(server: &WebServer) -> Answered {
    discovery(server).services(&host(server)).await
}

type Answered = Result<Services, DiscoveryError>;

/// Code and text of the result of one document.
async fn check(rule: Rule, want: &str) {
    check_tries(rule, want, 1).await;
}

async fn check_tries(rule: Rule, want: &str, tries: usize) {
    let server = WebServer::start(&[]);
    server.fault(rule);
    let got = match ask(&server).await {
        Ok(services) => format!("{:?}", services.values()),
        Err(error) => format!("{}: {}", error.code(), error.failure),
    };
    assert_eq!(got.replace(server.address(), "HOST"), want);
    assert_eq!(server.requests().len(), tries, "{want}");
}

fn get() -> Rule {
    Rule::on("GET", DOCUMENT)
}

fn answers(answer: Answer) -> Rule {
    get().then(Fault::Answer(answer))
}

#[tokio::test]
async fn a_document_names_services() {
    let server = WebServer::start(&[]);
    server.page(DOCUMENT, json(r#"{"oci-providers.v1":"ghcr.io/x/{type}","providers.v1":"/p/","n":1}"#));
    let services = ask(&server).await.unwrap();
    assert_eq!(services.oci_providers().unwrap().unwrap().as_str(), "ghcr.io/x/{type}");
    assert!(services.has_registry_protocol());
    assert_eq!(services.origin(), format!("{}{DOCUMENT}", server.origin()));
    let asked = server.requests();
    assert_eq!(asked[0].header("accept"), Some("application/json"));
    assert_eq!(asked[0].header("authorization"), None);
    assert!(asked[0].header("user-agent").unwrap().starts_with("tofu-oci/"));
}

#[tokio::test]
async fn answers_that_are_documents() {
    check(answers(json("{}")), "{}").await;
    check(answers(json("null")), "{}").await;
    check(answers(json(" {\"a\": \"b\"}\n")), r#"{"a": String("b")}"#).await;
    let with = |media_type| Answer::new(200).header("Content-Type", media_type).body("{}");
    check(answers(with("application/json; charset=utf-8")), "{}").await;
    check(answers(with("Application/JSON;charset=UTF-8")), "{}").await;
    check(answers(Answer::text(404, "no")), "{}").await;
}

#[tokio::test]
async fn answers_that_are_none() {
    let url = "https://HOST/.well-known/terraform.json";
    check_tries(answers(Answer::text(500, "no")), &format!("server-error: {url} answered 500"), 5).await;
    check(answers(Answer::text(401, "no")), &format!("unauthorized: {url} answered 401")).await;
    check(answers(Answer::text(403, "no")), &format!("denied: {url} answered 403")).await;
    check_tries(answers(Answer::text(429, "no")), &format!("too-many-requests: {url} answered 429"), 5).await;
    check(answers(Answer::new(204)), &format!("bad-status: {url} answered 204")).await;
    check(answers(Answer::new(304)), &format!("bad-status: {url} answered 304")).await;
    check(answers(Answer::new(302)), &format!("bad-status: {url} answered 302")).await;
    let html = Answer::new(200).header("Content-Type", "text/html").body("<html>");
    check(answers(html), &format!("bad-content-type: {url} is `text/html`, and must be application/json")).await;
    let untyped = Answer::new(200).body("{}");
    check(answers(untyped), &format!("bad-content-type: {url} does not say that it is application/json")).await;
    check(answers(json("[]")), &format!("bad-body: {url}: it is an array, and must be a JSON object")).await;
    check(answers(json("\"x\"")), &format!("bad-body: {url}: it is a string, and must be a JSON object")).await;
    let problem = "it is not JSON: EOF while parsing an object at line 1 column 1";
    check(answers(json("{")), &format!("bad-body: {url}: {problem}")).await;
}

#[tokio::test]
async fn documents_have_a_limit() {
    let exact = format!("{{{}}}", " ".repeat(1024 * 1024 - 2));
    check(answers(json(&exact)), "{}").await;
    let want = "bad-body: https://HOST/.well-known/terraform.json: its answer is larger than 1048576 bytes";
    check(answers(json(&format!("{exact} "))), want).await;
    for length in [Length::Declared, Length::Chunked] {
        let flood = Fault::Flood { bytes: 1024 * 1024 + 1, length };
        check(answers(json("")).then(flood), want).await;
    }
}

#[tokio::test]
async fn a_broken_connection_is_one() {
    let code = async |rule: Rule| {
        let server = WebServer::start(&[]);
        server.fault(rule);
        ask(&server).await.unwrap_err().code()
    };
    assert_eq!(code(get().then(Fault::Disconnect)).await, "connection-lost");
    assert_eq!(code(answers(json(r#"{"providers.v1":"/"}"#)).then(Fault::CutBody(5))).await, "connection-lost");
}

#[tokio::test]
async fn a_document_that_fails_once_for_a_passing_reason_is_asked_for_again() {
    let slower = Answer::text(429, "no").header("Retry-After", "1");
    let page = json(r#"{"providers.v1":"/"}"#);
    let cut = answers(page.clone()).then(Fault::CutBody(5));
    let answer = |status| answers(Answer::text(status, "no"));
    for rule in [answers(slower), answer(408), answer(503), get().then(Fault::Disconnect), cut] {
        let server = WebServer::start(&[]);
        server.fault(rule.clone());
        assert!(ask(&server).await.is_err(), "it never ends");
        server.clear();
        server.fault(rule.once());
        server.page(DOCUMENT, page.clone());
        assert!(ask(&server).await.unwrap().has_registry_protocol());
    }
}

#[tokio::test]
async fn silence_has_an_end() {
    let gate = Gate::closed();
    for rule in [get().then(Fault::Hang), answers(json("{}")).then(Fault::HoldBody { bytes: 1, gate: gate.clone() })] {
        let server = WebServer::start(&[]);
        server.fault(rule);
        let short = DiscoveryOptions { timeout: std::time::Duration::from_millis(300), ..DiscoveryOptions::default() };
        let discovery = HttpDiscovery::new(web_client(options(&server)), short);
        assert_eq!(discovery.services(&host(&server)).await.unwrap_err().code(), "timeout");
    }
}

fn to(location: impl Into<String>) -> Answer {
    Answer::new(302).header("Location", location)
}

#[tokio::test]
async fn redirects_are_followed_up_to_ten() {
    let server = WebServer::start(&[]);
    server.page(DOCUMENT, to("/1"));
    for nth in 1..10 {
        server.page(&format!("/{nth}"), to(format!("{}?x=secret", nth + 1)));
    }
    server.page("/10", json(r#"{"providers.v1":"/"}"#));
    let services = ask(&server).await.unwrap();
    assert_eq!(services.origin(), format!("{}/10", server.origin()), "the last address, without its query");
    assert_eq!(server.requests().len(), 11);

    server.clear();
    server.page("*", to(DOCUMENT));
    let error = ask(&server).await.unwrap_err();
    let text = causes(&error).replace(server.address(), "HOST");
    assert_snapshot!(text, @"the services of HOST are not usable: https://HOST/.well-known/terraform.json: it redirects more than 10 times");
    assert_eq!((error.code(), server.requests().len()), ("bad-redirect", 22));
}

#[tokio::test]
async fn a_redirect_never_leads_to_plain_http() {
    let plain = WebServer::plain();
    plain.page("*", json("{}"));
    let server = WebServer::start(&[]);
    server.page(DOCUMENT, to(format!("{}/x?token=secret", plain.origin())));
    let error = ask(&server).await.unwrap_err();
    assert_eq!((error.code(), plain.requests().len()), ("bad-redirect", 0));
    assert!(!causes(&error).contains("secret"), "{error}");
}

#[tokio::test]
async fn plain_http_is_spoken_where_it_is_allowed_and_nowhere_else() {
    let plain = WebServer::plain();
    plain.page("*", json("{}"));
    assert_eq!(ask(&plain).await.unwrap_err().code(), "tls", "not even on this machine");
    let options = HttpOptions { plain_http: vec![plain.address().to_owned()], ..options_without_ca() };
    let discovery = HttpDiscovery::new(web_client(options.clone()), DiscoveryOptions::default());
    assert!(discovery.services(&host(&plain)).await.is_ok());
}

fn options_without_ca() -> HttpOptions {
    HttpOptions { proxies: Proxies::Direct, ..HttpOptions::default() }
}

#[tokio::test]
async fn faults_of_the_network_have_names() {
    let server = WebServer::start(&[]);
    let untrusting = HttpDiscovery::new(web_client(options_without_ca()), DiscoveryOptions::default());
    let error = untrusting.services(&host(&server)).await.unwrap_err();
    assert_eq!(error.code(), "tls");
    let address = host(&server);
    drop(server);
    assert_eq!(untrusting.services(&address).await.unwrap_err().code(), "connection-refused");
    let unknown = "nobody.invalid".parse().unwrap();
    assert_eq!(untrusting.services(&unknown).await.unwrap_err().code(), "dns");
}

#[tokio::test]
async fn many_who_ask_at_once_share_one_request() {
    let server = WebServer::start(&[]);
    let gate = Gate::closed();
    server.fault(get().once().then(Fault::Hold(gate.clone())).then(Fault::Answer(json(r#"{"a":"b"}"#))));
    let discovery = Arc::new(discovery(&server));
    let asks: Vec<_> = (0..8)
        .map(|_| {
            let (discovery, host) = (Arc::clone(&discovery), host(&server));
            tokio::spawn(async move { discovery.services(&host).await })
        })
        .collect();
    tokio::task::yield_now().await;
    gate.open();
    for ask in asks {
        assert_eq!(ask.await.unwrap().unwrap().values().len(), 1);
    }
    assert_eq!(discovery.services(&host(&server)).await.unwrap().values().len(), 1);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_failure_is_shared_and_not_kept() {
    let server = WebServer::start(&[]);
    let gate = Gate::closed();
    server.fault(get().once().then(Fault::Hold(gate.clone())).then(Fault::Answer(Answer::new(403))));
    server.page(DOCUMENT, json("{}"));
    let discovery = discovery(&server);
    let host = host(&server);
    let open = async {
        tokio::task::yield_now().await;
        gate.open();
    };
    let (first, second, ()) = tokio::join!(discovery.services(&host), discovery.services(&host), open);
    assert_eq!((first.unwrap_err().code(), second.unwrap_err().code()), ("denied", "denied"));
    assert_eq!(server.requests().len(), 1);
    assert!(discovery.services(&host).await.is_ok());
    assert!(discovery.services(&host).await.is_ok());
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn one_who_goes_away_takes_nobody_along() {
    let server = WebServer::start(&[]);
    let gate = Gate::closed();
    server.fault(get().then(Fault::Hold(gate.clone())).then(Fault::Answer(json("{}"))));
    let (discovery, host) = (discovery(&server), host(&server));
    let mut first = Box::pin(discovery.services(&host));
    let mut second = Box::pin(discovery.services(&host));
    assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
    drop(first);
    gate.open();
    assert!(second.await.is_ok());
    assert_eq!(server.requests().len(), 1);
}

/// Names lead to the server through a proxy.
struct Named {
    server: WebServer,
    tunnel: Tunnel,
}

impl Named {
    fn start(certified: &[&str], asked: &[&str]) -> Self {
        let server = WebServer::start(certified);
        let tunnel = Tunnel::start(asked.iter().map(|host| (*host, server.address())));
        Self { server, tunnel }
    }

    fn discovery(&self, options_of: DiscoveryOptions) -> HttpDiscovery {
        let options = HttpOptions { proxies: Proxies::Fixed(self.tunnel.url()), ..options(&self.server) };
        HttpDiscovery::new(web_client(options.clone()), options_of)
    }
}

#[tokio::test]
async fn hosts_are_asked_by_their_punycode_and_port() {
    let certified = ["xn--80akhbyknj4f.test", "registry.example.test"];
    let named = Named::start(&certified, &["xn--80akhbyknj4f.test:443", "registry.example.test:8443"]);
    named.server.page(DOCUMENT, json("{}"));
    let discovery = named.discovery(DiscoveryOptions::default());
    discovery.services(&"ИСПЫТАНИЕ.test".parse().unwrap()).await.unwrap();
    let services = discovery.services(&"registry.example.test:8443".parse().unwrap()).await.unwrap();
    assert_eq!(services.origin(), "https://registry.example.test:8443/.well-known/terraform.json");
    assert_eq!(named.tunnel.asked(), ["xn--80akhbyknj4f.test:443", "registry.example.test:8443"]);
    let asked: Vec<_> = named.server.requests().iter().map(|one| one.header("host").unwrap().to_owned()).collect();
    assert_eq!(asked, ["xn--80akhbyknj4f.test", "registry.example.test:8443"]);
}

#[tokio::test]
async fn a_token_stays_with_its_host() {
    let named = Named::start(&["a.test", "b.test"], &["a.test:443", "b.test:443"]);
    named.server.page(DOCUMENT, to("/moved"));
    named.server.page("/moved", to("https://b.test/there"));
    named.server.page("/there", to("https://a.test/back"));
    named.server.page("/back", json("{}"));
    let tokens = BTreeMap::from([("a.test".parse().unwrap(), Secret::new("secret-word"))]);
    let options = DiscoveryOptions { tokens: Arc::new(tokens), ..DiscoveryOptions::default() };
    named.discovery(options).services(&"a.test".parse().unwrap()).await.unwrap();
    let shown: Vec<_> = named.server.requests().iter().map(|one| one.header("authorization").is_some()).collect();
    assert_eq!(shown, [true, true, false, false]);
    assert_eq!(named.server.requests()[0].header("authorization"), Some("Bearer secret-word"));
}

#[tokio::test]
async fn hosts_whose_services_are_written_down_are_not_asked() {
    let server = WebServer::start(&[]);
    let host = host(&server);
    let values = [("providers.v1".to_owned(), "https://x.test/".into())].into();
    let given = Services::new(host.clone(), "the host block", values);
    let options_of = DiscoveryOptions { overrides: [(host.clone(), given.clone())].into(), ..Default::default() };
    let discovery = HttpDiscovery::new(web_client(options(&server)), options_of);
    assert_eq!(discovery.services(&host).await.unwrap(), given);
    assert!(server.requests().is_empty());
}

fn template(value: &str) -> String {
    let values = serde_json::from_str(&format!(r#"{{"oci-providers.v1":{value}}}"#)).unwrap();
    let services = Services::new("example.com".parse().unwrap(), "https://example.com/x.json", values);
    match services.oci_providers() {
        Ok(template) => template.unwrap().to_string(),
        Err(error) => format!("{} ({})", causes(&error), error.code()),
    }
}

#[test]
fn values_that_are_no_template_are_refused() {
    assert_snapshot!(template(r#""ghcr.io/{namespace}/{type}""#), @"ghcr.io/{namespace}/{type}");
    assert_snapshot!(template("1"), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: it is a number, and must be a string (invalid-service)");
    assert_snapshot!(template("null"), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: it is null, and must be a string (invalid-service)");
    assert_snapshot!(template(r#""""#), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: the template is empty (invalid-service)");
    assert_snapshot!(template(r#""/v1/{type}""#), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: `/v1/{type}` is not a template for repositories: it begins without a registry, and a repository is written REGISTRY/NAME, at column 1 (invalid-service)");
    assert_snapshot!(template(r#""https://ghcr.io/{type}""#), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: `https://ghcr.io/{type}` is not a template for repositories: `https://` begins a URL, and a repository is written without, as REGISTRY/NAME, at column 1 (invalid-service)");
    assert_snapshot!(template(r#""ghcr.io/{name}""#), @"the services of example.com are not usable: the service oci-providers.v1 in https://example.com/x.json is not usable: `ghcr.io/{name}` is not a template for repositories: `name` is nothing that an address has: write {namespace} or {type}, at column 10 (invalid-service)");
}

mod private;
