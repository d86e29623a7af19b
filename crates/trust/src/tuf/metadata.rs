//! One signed file of a TUF repository, and whose signatures it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tofu_oci_types::Moment;

use super::canonical::canonical;
use super::error::TufError;
use super::promise::{LARGE, Promise};
use crate::{PublicKey, json};

/// The most signatures of a file, and keys of a root.
const MOST: usize = 64;

/// The roles whose keys a root names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Root,
    Timestamp,
    Snapshot,
    Targets,
}

const ROLES: [(Role, &str); 4] =
    [(Role::Root, "root"), (Role::Timestamp, "timestamp"), (Role::Snapshot, "snapshot"), (Role::Targets, "targets")];

/// A file whose signatures have not been verified, or have.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    file: &'static str,
    pub(super) version: u64,
    expires: Moment,
    signed: Value,
    /// What the signatures are over.
    message: Vec<u8>,
    /// The signatures by the ids of their keys.
    signatures: BTreeMap<String, Vec<u8>>,
}

/// The keys that a root names for each role.
#[derive(Clone, Debug)]
pub(super) struct Roles(BTreeMap<Role, RoleKeys>);

/// The ids of the keys of each role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleKeyIds {
    pub(super) root: BTreeSet<String>,
    pub(super) timestamp: BTreeSet<String>,
    pub(super) snapshot: BTreeSet<String>,
    pub(super) targets: BTreeSet<String>,
}

#[derive(Clone, Debug)]
struct RoleKeys {
    /// By id; one that this program cannot use is absent.
    keys: BTreeMap<String, PublicKey>,
    threshold: usize,
}

impl Metadata {
    pub(super) fn read(file: &'static str, kind: &str, bytes: &[u8], limit: u64) -> Result<Self, TufError> {
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
            return Err(TufError::TooLarge { file, limit });
        }
        Self::parse(file, kind, bytes).map_err(|problem| TufError::Malformed { file, problem })
    }

    fn parse(file: &'static str, kind: &str, bytes: &[u8]) -> Result<Self, String> {
        let value = json::parse(bytes)?;
        let signed = json::object(&value, "signed")?.clone();
        let found = json::text(&signed, "_type")?;
        if found != kind {
            return Err(format!("`_type` is {}, not {kind:?}", json::shown(found)));
        }
        let spec = json::text(&signed, "spec_version")?;
        if spec.split('.').next() != Some("1") {
            return Err(format!("`spec_version` is {}, not 1.0", json::shown(spec)));
        }
        let version = signed.get("version").and_then(Value::as_u64).filter(|version| *version > 0);
        let version = version.ok_or("`version` is not a number from 1")?;
        let expires = json::text(&signed, "expires")?;
        let expires = expires.parse().map_err(|_| format!("`expires` is {}, not a time", json::shown(expires)))?;
        let message = canonical(&signed).ok_or("it has a number with a fraction")?;
        let listed = json::list(&value, "signatures")?;
        if listed.len() > MOST {
            return Err(format!("it has {} signatures, and at most {MOST} are read", listed.len()));
        }
        let mut signatures = BTreeMap::new();
        for signature in listed {
            let id = json::text(signature, "keyid")?.to_owned();
            let bytes = hex(json::text(signature, "sig")?).ok_or("`sig` is not hexadecimal")?;
            if signatures.insert(id, bytes).is_some() {
                return Err("one key has signed it twice".to_owned());
            }
        }
        Ok(Self { file, version, expires, signed, message, signatures })
    }

    pub(super) fn lacks(&self, what: &str) -> TufError {
        TufError::Malformed { file: self.file, problem: format!("it does not name {what}") }
    }

    pub(super) fn demand_version(&self, wanted: u64) -> Result<(), TufError> {
        let (file, found) = (self.file, self.version);
        if found == wanted { Ok(()) } else { Err(TufError::OtherVersion { file, found, wanted }) }
    }

    pub(super) fn demand_no_rollback(&self, known: u64) -> Result<(), TufError> {
        let (file, found) = (self.file, self.version);
        if found >= known { Ok(()) } else { Err(TufError::Rollback { file, found, known }) }
    }

    pub(super) fn demand_fresh(&self, now: SystemTime) -> Result<(), TufError> {
        if Moment::from(now) < self.expires {
            return Ok(());
        }
        Err(TufError::Expired { file: self.file, at: self.expires.to_string() })
    }

    /// What it says of a file in the member `list`; `None` if it does not name the file.
    pub(super) fn promise(&self, list: &str, name: &'static str) -> Result<Option<Promise>, TufError> {
        let malformed = |problem| TufError::Malformed { file: self.file, problem };
        let listed = json::object(&self.signed, list).map_err(malformed)?;
        let promise = listed.get(name).map(Promise::read).transpose().map_err(malformed)?;
        match promise.as_ref().and_then(|promise| promise.length) {
            Some(length) if length > LARGE => Err(TufError::TooLarge { file: name, limit: LARGE }),
            _ => Ok(promise),
        }
    }
}

impl Roles {
    pub(super) fn of(root: &Metadata) -> Result<Self, TufError> {
        Self::parse(&root.signed).map_err(|problem| TufError::Malformed { file: "root.json", problem })
    }

    fn parse(signed: &Value) -> Result<Self, String> {
        let keys = json::object(signed, "keys")?.as_object().ok_or("`keys` is not an object")?;
        let roles = json::object(signed, "roles")?;
        if keys.len() > MOST {
            return Err(format!("it has {} keys, and at most {MOST} are read", keys.len()));
        }
        let mut all = BTreeMap::new();
        for (role, name) in ROLES {
            let role_of = json::object(roles, name)?;
            let threshold = role_of.get("threshold").and_then(Value::as_u64).filter(|threshold| *threshold > 0);
            let threshold = threshold.and_then(|threshold| usize::try_from(threshold).ok());
            let threshold = threshold.ok_or_else(|| format!("the threshold of {name} is not a number from 1"))?;
            let ids = json::list(role_of, "keyids")?.iter().filter_map(Value::as_str);
            let named = ids.filter_map(|id| Some((id.to_owned(), public_key(keys.get(id)?)?))).collect();
            all.insert(role, RoleKeys { keys: named, threshold });
        }
        Ok(Self(all))
    }

    pub(super) fn keys_of(&self, role: Role) -> BTreeSet<String> {
        self.0.get(&role).map(|role| role.keys.values().map(|key| key.id().to_string()).collect()).unwrap_or_default()
    }

    pub(super) fn key_ids(&self) -> RoleKeyIds {
        let [root, timestamp, snapshot, targets] = ROLES.map(|(role, _)| self.keys_of(role));
        RoleKeyIds { root, timestamp, snapshot, targets }
    }

    /// Whether enough distinct keys of a role have signed a file. One key under two ids counts once.
    pub(super) fn verify(&self, role: Role, found: &Metadata) -> Result<(), TufError> {
        let RoleKeys { keys, threshold } = self.0.get(&role).expect("every role is read");
        let signed = keys.iter().filter(|(id, key)| {
            found.signatures.get(*id).is_some_and(|signature| key.verifies(&found.message, signature))
        });
        let valid = signed.map(|(_, key)| key.id()).collect::<BTreeSet<_>>().len();
        if valid >= *threshold {
            return Ok(());
        }
        Err(TufError::Signatures { file: found.file, valid, threshold: *threshold })
    }
}

/// A key of a root: ECDSA and RSA in PEM, Ed25519 in hexadecimal.
fn public_key(key: &Value) -> Option<PublicKey> {
    let public = key.get("keyval")?.get("public")?.as_str()?;
    match key.get("keytype")?.as_str()? {
        "ecdsa" | "rsa" => PublicKey::from_pem(public.as_bytes()).ok(),
        "ed25519" => PublicKey::from_ed25519(&hex(public)?).ok(),
        _ => None,
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}
