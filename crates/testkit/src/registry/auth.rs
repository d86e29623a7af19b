//! Who may do what: Basic, or Bearer with a token endpoint that behaves like those of real registries.
//!
//! Spec: distribution 2.8, `docs/spec/auth/token.md` and `oauth.md`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Switch;
use super::query::{decode_form, values};
use crate::fault::{Answer, RequestHead};
use crate::signer::TokenSigner;

/// What a user may do once logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Nothing: a token is handed out and grants no access.
    Nothing,
    /// Read.
    Pull,
    /// Read, write and delete.
    Everything,
}

/// A user and a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The user name.
    pub username: String,
    /// The password.
    pub password: String,
    /// What the user may do (Bearer only; Basic knows no scopes).
    pub rights: Rights,
}

impl Login {
    /// A user who may do everything.
    pub fn new(username: &str, password: &str) -> Self {
        Self { username: username.to_owned(), password: password.to_owned(), rights: Rights::Everything }
    }

    /// The value of an `Authorization` header.
    pub fn basic_header(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.username, self.password)))
    }
}

/// What the token endpoint says to a caller without credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// 401.
    RefusalAnswer,
    /// A token that grants nothing.
    NothingGranted,
    /// A token that grants `pull`.
    MayPull,
}

/// Where the token endpoint is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenAddress {
    /// `/token` on the registry's own port.
    SameListener,
    /// This path on the registry's own port.
    SamePath(&'static str),
    /// `/token` on its own port (another origin).
    OwnListener,
    /// The same, called `localhost`: some clients take no IP address for a token server.
    OwnListenerByName,
    /// Whatever is put into `realm=`; nothing of ours answers there.
    Given(String),
}

impl TokenAddress {
    /// Whether the endpoint has its own port.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::OwnListener | Self::OwnListenerByName)
    }

    /// The origin of an endpoint that listens on this address of this machine.
    pub(crate) fn origin(&self, scheme: &str, address: SocketAddr) -> String {
        match self {
            Self::OwnListenerByName => format!("{scheme}://localhost:{}", address.port()),
            _ => format!("{scheme}://{address}"),
        }
    }
}

/// Under which name the token is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenField {
    /// `token` and `access_token`.
    Both,
    /// `token` only.
    Token,
    /// `access_token` only.
    AccessToken,
}

/// Token authentication. [`Bearer::new`] gives the usual case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// Who may log in.
    pub users: Vec<Login>,
    /// Callers without credentials.
    pub anonymous: Anonymous,
    /// How long a token is accepted.
    pub ttl: Duration,
    /// Whether the answer says `expires_in`.
    pub expires_in: Switch,
    /// Where the endpoint is.
    pub address: TokenAddress,
    /// The name of the token in the answer.
    pub field: TokenField,
}

impl Bearer {
    /// One user; anonymous callers are refused; tokens live 300 s; the endpoint is on the same port.
    pub fn new(user: Login) -> Self {
        Self {
            users: vec![user],
            anonymous: Anonymous::RefusalAnswer,
            ttl: Duration::from_mins(5),
            expires_in: Switch::On,
            address: TokenAddress::SameListener,
            field: TokenField::Both,
        }
    }
}

/// How a registry wants to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Everybody may do everything.
    None,
    /// HTTP Basic on every request.
    Basic(Login),
    /// Challenge, token endpoint, Bearer token.
    Bearer(Bearer),
}

/// One `type:name:actions` of a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededAccess {
    kind: String,
    name: String,
    actions: Vec<String>,
}

impl Auth {
    /// The path of the token endpoint.
    pub(crate) fn token_path(&self) -> &'static str {
        match self {
            Self::Bearer(Bearer { address: TokenAddress::SamePath(path), .. }) => path,
            _ => "/token",
        }
    }
}

impl NeededAccess {
    pub(crate) fn repository(name: &str, actions: &[&str]) -> Self {
        let actions = actions.iter().map(ToString::to_string).collect();
        Self { kind: "repository".to_owned(), name: name.to_owned(), actions }
    }

    pub(crate) fn catalog() -> Self {
        Self { kind: "registry".to_owned(), name: "catalog".to_owned(), actions: vec!["*".to_owned()] }
    }

    pub(crate) fn parse(scope: &str) -> Option<Self> {
        let (kind, rest) = scope.split_once(':')?;
        let (name, actions) = rest.rsplit_once(':')?;
        let actions = actions.split(',').filter(|action| !action.is_empty()).map(ToOwned::to_owned).collect();
        Some(Self { kind: kind.to_owned(), name: name.to_owned(), actions })
    }

    pub(crate) fn to_scope(&self) -> String {
        format!("{}:{}:{}", self.kind, self.name, self.actions.join(","))
    }

    pub(crate) fn limit(mut self, allowed: &[&str]) -> Option<Self> {
        self.actions.retain(|action| allowed.contains(&action.as_str()));
        (!self.actions.is_empty()).then_some(self)
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({"type": self.kind, "name": self.name, "actions": self.actions})
    }

    fn covers(&self, needed: &Self) -> bool {
        self.kind == needed.kind
            && self.name == needed.name
            && needed.actions.iter().all(|action| self.actions.contains(action))
    }
}

#[derive(Debug)]
struct IssuedGrant {
    access: Vec<NeededAccess>,
    expires: Instant,
}

#[derive(Debug, Default)]
struct Issued {
    serial: u64,
    tokens: HashMap<String, IssuedGrant>,
    refresh: HashMap<String, String>,
}

/// The configuration together with the tokens given out.
#[derive(Debug)]
pub(crate) struct AuthState {
    auth: Auth,
    realm: String,
    issued: Mutex<Issued>,
    signer: Option<TokenSigner>,
}

pub(crate) const SERVICE: &str = "test-registry";

impl AuthState {
    pub(crate) fn new(auth: Auth, realm: String) -> Self {
        Self { auth, realm, issued: Mutex::default(), signer: None }
    }

    /// The same, handing out signed tokens for a real registry.
    pub(crate) fn signing(mut self, signer: TokenSigner) -> Self {
        self.signer = Some(signer);
        self
    }

    pub(crate) fn token_path(&self) -> &'static str {
        self.auth.token_path()
    }

    fn issued(&self) -> MutexGuard<'_, Issued> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses every token given out so far.
    pub(crate) fn expire_tokens(&self) {
        self.issued().tokens.clear();
    }

    /// Nothing when the request may do what it needs, or the answer to give.
    pub(crate) fn check(&self, head: &RequestHead, needed: &[NeededAccess]) -> Result<(), Answer> {
        let sent = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match &self.auth {
            Auth::None => Ok(()),
            Auth::Basic(login) if sent == Some(login.basic_header().as_str()) => Ok(()),
            Auth::Basic(_) => Err(unauthorized("Basic realm=\"test\"".to_owned())),
            Auth::Bearer(_) => {
                let Some(token) = sent.and_then(|value| value.strip_prefix("Bearer ")) else {
                    return Err(self.challenge(needed, None));
                };
                let issued = self.issued();
                let Some(grant) = issued.tokens.get(token).filter(|grant| grant.expires > Instant::now()) else {
                    return Err(self.challenge(needed, Some("invalid_token")));
                };
                if needed.iter().all(|one| grant.access.iter().any(|access| access.covers(one))) {
                    return Ok(());
                }
                Err(self.challenge(needed, Some("insufficient_scope")))
            }
        }
    }

    fn challenge(&self, needed: &[NeededAccess], error: Option<&str>) -> Answer {
        let mut value = format!("Bearer realm=\"{}\",service=\"{SERVICE}\"", self.realm);
        if !needed.is_empty() {
            let scopes: Vec<String> = needed.iter().map(NeededAccess::to_scope).collect();
            value.extend([",scope=\"", &scopes.join(" "), "\""]);
        }
        if let Some(error) = error {
            value.extend([",error=\"", error, "\""]);
        }
        unauthorized(value)
    }

    /// The token endpoint: GET with Basic or nothing, POST with the password or refresh token grant.
    pub(crate) fn token(&self, head: &RequestHead, body: &[u8]) -> Answer {
        let Auth::Bearer(bearer) = &self.auth else { return Answer::text(404, "404 page not found\n") };
        let refused =
            || Answer::error(401, "UNAUTHORIZED", "bad credentials").header("WWW-Authenticate", "Basic realm=\"test\"");
        let (user, scopes, wants_refresh) = match head.method.as_str() {
            "GET" => {
                let user = match head.headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default()) {
                    None => None,
                    Some(sent) => match bearer.users.iter().find(|user| user.basic_header() == sent) {
                        Some(user) => Some(user),
                        None => return refused(),
                    },
                };
                let scopes = values(&head.query, "scope");
                (user, scopes, values(&head.query, "offline_token") == ["true"])
            }
            "POST" => {
                let form = decode_form(&String::from_utf8_lossy(body));
                let field = |name: &str| form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
                let name = match field("grant_type") {
                    Some("password") => field("username").map(ToOwned::to_owned),
                    Some("refresh_token") => self.issued().refresh.get(field("refresh_token").unwrap_or("")).cloned(),
                    _ => return Answer::error(400, "UNSUPPORTED", "unknown grant type"),
                };
                let user = bearer.users.iter().find(|user| Some(&user.username) == name.as_ref());
                let by_password = field("grant_type") == Some("password");
                match user {
                    Some(user) if !by_password || field("password") == Some(&user.password) => {
                        let scopes = field("scope").map(ToOwned::to_owned).into_iter().collect();
                        (Some(user), scopes, field("access_type") == Some("offline"))
                    }
                    _ => return refused(),
                }
            }
            _ => return Answer::error(405, "UNSUPPORTED", "GET or POST"),
        };
        let allowed: &[&str] = match (user.map(|user| user.rights), bearer.anonymous) {
            (Some(Rights::Everything), _) => &["pull", "push", "delete", "*", "metadata_read"],
            (Some(Rights::Pull), _) | (None, Anonymous::MayPull) => &["pull", "metadata_read"],
            (Some(Rights::Nothing), _) | (None, Anonymous::NothingGranted) => &[],
            (None, Anonymous::RefusalAnswer) => return refused(),
        };
        let access: Vec<NeededAccess> = scopes
            .iter()
            .flat_map(|scope| scope.split(' '))
            .filter_map(|scope| NeededAccess::parse(scope)?.limit(allowed))
            .collect();
        let token = match &self.signer {
            None => self.issue(access, bearer.ttl),
            Some(signer) => {
                let access: Vec<_> = access.iter().map(NeededAccess::to_json).collect();
                signer.sign(SERVICE, user.map_or("", |user| &user.username), &access.into(), bearer.ttl)
            }
        };
        let refresh = user.filter(|_| wants_refresh).map(|user| self.issue_refresh(&user.username));
        token_answer(bearer, &token, refresh.as_deref())
    }

    /// A token that is accepted for these scopes.
    pub(crate) fn issue(&self, access: Vec<NeededAccess>, ttl: Duration) -> String {
        let mut issued = self.issued();
        issued.serial += 1;
        let token = format!("test-token-{}", issued.serial);
        issued.tokens.insert(token.clone(), IssuedGrant { access, expires: Instant::now() + ttl });
        token
    }

    /// A refresh token of this user.
    pub(crate) fn issue_refresh(&self, username: &str) -> String {
        let mut issued = self.issued();
        issued.serial += 1;
        let token = format!("test-refresh-{}", issued.serial);
        issued.refresh.insert(token.clone(), username.to_owned());
        token
    }
}

fn token_answer(bearer: &Bearer, token: &str, refresh: Option<&str>) -> Answer {
    let mut document = serde_json::Map::new();
    if bearer.field != TokenField::AccessToken {
        document.insert("token".to_owned(), token.into());
    }
    if bearer.field != TokenField::Token {
        document.insert("access_token".to_owned(), token.into());
    }
    if bearer.expires_in == Switch::On {
        document.insert("expires_in".to_owned(), bearer.ttl.as_secs().into());
    }
    if let Some(refresh) = refresh {
        document.insert("refresh_token".to_owned(), refresh.into());
    }
    let body = serde_json::Value::Object(document).to_string();
    Answer::new(200).header("Content-Type", "application/json").body(body)
}

fn unauthorized(challenge: String) -> Answer {
    Answer::error(401, "UNAUTHORIZED", "authentication required").header("WWW-Authenticate", challenge)
}
