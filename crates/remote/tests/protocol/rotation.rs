//! Credentials that change while a client lives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tofu_oci_credentials::Credential;
use tofu_oci_remote::{ClientOptions, CredentialFault, CredentialProvider};
use tofu_oci_store::ReadStore as _;
use tofu_oci_types::{RepositoryRef, Secret};

use crate::server::{Server, reply};
use crate::support::{Bench, bench_with};

/// A helper: it remembers what it gave until that was refused.
struct Rotating {
    known: Mutex<Option<Credential>>,
    now: Arc<Mutex<Option<Credential>>>,
    renewals: AtomicUsize,
}

#[async_trait]
impl CredentialProvider for Rotating {
    async fn credential(&self, _repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        Ok(self.known.lock().unwrap().clone())
    }

    async fn renewed(
        &self,
        repository: &RepositoryRef,
        _refused: Option<&Credential>,
    ) -> Result<Option<Credential>, CredentialFault> {
        self.renewals.fetch_add(1, Ordering::SeqCst);
        self.known.lock().unwrap().clone_from(&self.now.lock().unwrap());
        self.credential(repository).await
    }
}

/// A client whose credential is this now, and what changes it.
fn rotating(first: Option<Credential>) -> (Bench, Arc<Mutex<Option<Credential>>>, Arc<Rotating>) {
    let now = Arc::new(Mutex::new(first.clone()));
    let provider = Rotating { known: Mutex::new(first), now: Arc::clone(&now), renewals: AtomicUsize::new(0) };
    let provider = Arc::new(provider);
    (bench_with(ClientOptions::default(), provider.clone()), now, provider)
}

/// What a registry takes now.
type Taken = Arc<Mutex<String>>;

fn is_taken(taken: &Taken, shown: Option<&str>) -> bool {
    shown == Some(taken.lock().unwrap().as_str())
}

fn basic(password: &str) -> (Credential, String) {
    let credential = Credential::basic("user", password);
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("user:{password}"));
    (credential, format!("Basic {encoded}"))
}

fn registry(taken: &Taken, challenge: String) -> Server {
    let taken = Arc::clone(taken);
    Server::start(move |request, _| {
        if is_taken(&taken, request.header("authorization")) {
            reply(200).body(r#"{"tags":[]}"#)
        } else {
            reply(401).header("www-authenticate", challenge.clone())
        }
    })
}

#[tokio::test]
async fn a_password_that_expired_was_shown_until_the_restart() {
    let (old, old_header) = basic("old");
    let (new, new_header) = basic("new");
    let taken = Taken::new(Mutex::new(old_header));
    let server = registry(&taken, "Basic".to_owned());
    let (bench, now, provider) = rotating(Some(old));
    let store = bench.store(&server);
    store.tags().await.unwrap();
    assert_eq!(provider.renewals.load(Ordering::SeqCst), 0, "a good one is not asked for again");
    *taken.lock().unwrap() = new_header;
    *now.lock().unwrap() = Some(new);
    store.tags().await.unwrap();
    store.tags().await.unwrap();
    assert_eq!(provider.renewals.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_password_that_expired_was_shown_to_the_token_server_until_the_restart() {
    let (old, old_header) = basic("old");
    let (new, new_header) = basic("new");
    let taken = Taken::new(Mutex::new(old_header.clone()));
    let known = Arc::clone(&taken);
    let tokens = Server::start(move |request, _| match request.header("authorization") {
        shown if !is_taken(&known, shown) => reply(401),
        shown if shown == Some(&old_header) => reply(200).body(r#"{"token":"old-token"}"#),
        _ => reply(200).body(r#"{"token":"new-token"}"#),
    });
    let token = Taken::new(Mutex::new("Bearer old-token".to_owned()));
    let server = registry(&token, format!(r#"Bearer realm="http://{}/t""#, tokens.host()));
    let (bench, now, provider) = rotating(Some(old));
    let store = bench.store(&server);
    store.tags().await.unwrap();
    *taken.lock().unwrap() = new_header;
    *token.lock().unwrap() = "Bearer new-token".to_owned();
    *now.lock().unwrap() = Some(new);
    let all = futures_util::future::join_all((0..4).map(|_| store.tags())).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(provider.renewals.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_configured_token_that_expired_was_shown_until_the_restart() {
    let token = |text: &str| Some(Credential::RegistryToken(Secret::new(text)));
    let taken = Taken::new(Mutex::new("Bearer old-token".to_owned()));
    let server = registry(&taken, r#"Bearer realm="http://127.0.0.1:1/t""#.to_owned());
    let (bench, now, _) = rotating(token("old-token"));
    let store = bench.store(&server);
    store.tags().await.unwrap();
    *taken.lock().unwrap() = "Bearer new-token".to_owned();
    *now.lock().unwrap() = token("new-token");
    store.tags().await.unwrap();
}

#[tokio::test]
async fn a_login_after_the_first_refusal_did_not_count() {
    let (new, new_header) = basic("new");
    let server = registry(&Taken::new(Mutex::new(new_header)), "Basic".to_owned());
    let (bench, now, _) = rotating(None);
    let store = bench.store(&server);
    store.tags().await.unwrap_err();
    *now.lock().unwrap() = Some(new);
    store.tags().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_asked_for_again_once_a_request_and_shown_no_oftener() {
    let server = registry(&Taken::new(Mutex::new(String::new())), "Basic".to_owned());
    let (bench, _, provider) = rotating(Some(basic("wrong").0));
    bench.store(&server).tags().await.unwrap_err();
    assert_eq!((server.requests().len(), provider.renewals.load(Ordering::SeqCst)), (2, 1));
}
