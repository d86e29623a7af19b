//! Whatever a registry or a token server repeats of what it was shown, nothing that comes out has it.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::TryStreamExt as _;
use tofu_oci_credentials::Credential;
use tofu_oci_http::{HttpOptions, RetryPolicy};
use tofu_oci_remote::{AccessKind, ClientOptions, Exchange, ExchangeObserver};
use tofu_oci_store::{ReadStore as _, Store as _};
use tofu_oci_types::{Descriptor, Reference, RepositoryRef, Secret};

use crate::server::{Reply, Request, Server, reply};
use crate::support::{Bench, Fixed, INDEX, bench_with, blob, index};

const PASSWORD: &str = "correct+horse/battery=";
const TOKEN: &str = "tok3n.of.lab";

/// Whatever was told, as text.
#[derive(Default)]
struct Said(Mutex<Vec<String>>);

impl Said {
    fn add(&self, what: &dyn Debug) {
        self.0.lock().unwrap().push(format!("{what:?}"));
    }
}

impl ExchangeObserver for Said {
    fn saw(&self, exchange: &Exchange) {
        self.add(exchange);
    }
}

/// What the request showed, without the scheme, and the secret inside a login.
fn shown(request: &Request) -> Vec<String> {
    let mut all = Vec::new();
    if let Some((scheme, value)) = request.header("authorization").and_then(|value| value.split_once(' ')) {
        all.push(value.to_owned());
        if scheme == "Basic" {
            let login = String::from_utf8(STANDARD.decode(value).unwrap()).unwrap();
            all.push(login.split_once(':').unwrap().1.to_owned());
        }
    }
    let body = String::from_utf8_lossy(&request.body).into_owned();
    all.extend(body.split_once("refresh_token=").map(|(_, encoded)| encoded.to_owned()));
    all
}

/// Ways to repeat a secret.
fn echoes(secret: &str) -> Vec<Reply> {
    let json = |status: u16| reply(status).error(secret, &format!("you sent {secret} and {secret}"));
    let location = |status: u16| reply(status).header("location", format!("/there/{secret}?again={secret}"));
    vec![
        json(400),
        json(401),
        json(403),
        json(404),
        json(429).header("retry-after", "99999"),
        json(500),
        reply(401).header("www-authenticate", format!("Basic realm=\"{secret}\"")),
        reply(401).header("www-authenticate", format!("Bearer realm=\"https://{secret}/\",service=\"{secret}\"")),
        reply(401).header("www-authenticate", format!("Bearer realm=\"http://{secret}@127.0.0.1/\"")),
        reply(200).header("warning", format!("299 - \"{secret}\"")).body(secret),
        reply(200).header("content-encoding", secret).body(secret),
        reply(200).header("content-type", secret).body(format!(r#"{{"mediaType":"{secret}"}}"#)),
        reply(200).header("docker-content-digest", secret).body("{}"),
        reply(200).header("link", format!("</{secret}>; rel=\"next\", <http://{secret}/>; rel=\"next\"")).body("{}"),
        location(202),
        location(307),
        reply(307).header("location", format!("http://{secret}.elsewhere.test/")),
        reply(307).header("location", format!("{secret}://elsewhere/")),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Registry,
    TokenServer,
}

/// Which of the echoes a request is for: repositories are called `x0`, `x1`, …, and so their scopes and paths.
fn number(request: &Request) -> usize {
    let text = format!("{} {}", request.target, String::from_utf8_lossy(&request.body)).replace("%3A", "/");
    let after = text.split_once("/x").map_or("", |(_, after)| after);
    let digits = after.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[tokio::test]
async fn nothing_that_was_shown_comes_out_again() {
    let logins = [
        Credential::basic("user", PASSWORD),
        Credential::IdentityToken(Secret::new(PASSWORD)),
        Credential::RegistryToken(Secret::new(PASSWORD)),
    ];
    for credential in logins {
        for who in [Who::Registry, Who::TokenServer] {
            scan(&credential, who).await;
        }
    }
}

async fn scan(credential: &Credential, who: Who) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let note = Arc::clone(&seen);
    let tokens = Server::start(move |request, _| {
        let secrets = shown(request);
        note.lock().unwrap().extend(secrets.clone());
        match (who, secrets.last()) {
            (Who::TokenServer, Some(secret)) => echoes(secret).swap_remove(number(request)),
            _ => reply(200).body(format!(r#"{{"token":"{TOKEN}","refresh_token":"{PASSWORD}2"}}"#)),
        }
    });
    let challenge = format!(r#"Bearer realm="http://{}/t""#, tokens.host());
    let note = Arc::clone(&seen);
    let server = Server::start(move |request, _| {
        let secrets = shown(request);
        note.lock().unwrap().extend(secrets.clone());
        match secrets.last() {
            None => reply(401).header("www-authenticate", challenge.clone()),
            Some(secret) => echoes(secret).swap_remove(number(request)),
        }
    });
    let said = Arc::new(Said::default());
    let retry = RetryPolicy { attempts: 2, ..RetryPolicy::default() };
    let options = ClientOptions {
        http: HttpOptions { retry, ..HttpOptions::default() },
        observer: Some(said.clone()),
        ..ClientOptions::default()
    };
    let bench = bench_with(options, Arc::new(Fixed(credential.clone())));
    for number in 0..echoes("x").len() {
        use_all(&bench, &format!("{}/x{number}", server.host()), &said).await;
    }
    said.add(&bench.client.check_login(&server.host(), credential).await);
    said.add(&bench.client.ping(&server.host()).await);
    said.add(&bench.events.0.lock().unwrap());
    let seen: BTreeSet<String> = seen.lock().unwrap().drain(..).collect();
    assert!(!seen.is_empty(), "something was shown");
    for text in said.0.lock().unwrap().iter() {
        for secret in seen.iter().map(String::as_str).chain([PASSWORD, "correct%2Bhorse", TOKEN]) {
            assert!(!text.contains(secret), "{who:?} {credential:?}: {secret} is in {text}");
        }
    }
}

/// Everything that can be done with a repository, and what comes of it.
async fn use_all(bench: &Bench, repository: &str, said: &Said) {
    let repository: RepositoryRef = repository.parse().unwrap();
    let store = bench.client.store(repository.clone());
    said.add(&store.tags().await);
    said.add(&store.resolve(&Reference::Tag("1.0.0".parse().unwrap())).await);
    said.add(&store.exists(&blob(b"x")).await);
    for descriptor in [blob(b"x"), Descriptor::of(INDEX, &index())] {
        match store.fetch(&descriptor).await {
            Ok(stream) => said.add(&stream.try_collect::<Vec<_>>().await.map(|_| ())),
            Err(error) => said.add(&error),
        }
        let bytes = if descriptor.media_type == INDEX { index() } else { "x".into() };
        let pushed = store.push(&descriptor, &bytes).await;
        if let Err(error) = &pushed {
            said.add(&error.to_string());
        }
        said.add(&pushed);
    }
    let from = format!("{}/y", repository.registry()).parse().unwrap();
    said.add(&store.mount(&blob(b"y"), &from).await);
    said.add(&store.tag(&blob(b"x"), &"1.0.0".parse().unwrap()).await);
    said.add(&store.referrers(&blob(b"x").digest).await);
    said.add(&bench.client.probe(&repository, AccessKind::Push).await);
}
