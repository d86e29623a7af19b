//! `SHA256SUMS`, which names archives and not the index.

use std::collections::BTreeMap;

use tofu_oci_types::{Digest, PackageHash, Platform, ZipName, zip_name};

use super::examine::{Examination, Said};
use super::votes::Vote;
use crate::openpgp::{VerifyBudget, verify_within};
use crate::verdict::ListedArchive;
use crate::{
    Action, Covers, Examined, Expired, ExpiredKeys, Flaw, KeyId, KeyStanding, Missing, OpenPgpFault, OpenPgpKey,
    OpenPgpSignature, SUMS_FILES_LIMIT, SignatureForm, SignatureOutcome, Sums, TrustRemark,
};

/// What a list says of the release that is asked for.
pub(super) enum ListedRelease {
    /// Archives under the release's file names.
    Listed(BTreeMap<Platform, PackageHash>),
    /// Archives of this provider in another version alone.
    OtherVersion(String),
    /// Archives of other providers alone.
    OtherProvider(String),
    /// No archive of a provider.
    Nothing,
}

impl ListedRelease {
    /// The archives of the release that is asked for.
    pub(super) fn listed(&self) -> Option<&BTreeMap<Platform, PackageHash>> {
        if let Self::Listed(listed) = self { Some(listed) } else { None }
    }
}

impl Examination<'_> {
    pub(super) fn sums(&mut self, origin: &Digest, text: &[u8], signatures: &[Vec<u8>], travelling: &[Vec<u8>]) {
        let blank = Examined::new(Some(SignatureForm::Sums), origin, Flaw::NoSignature);
        let sums = match Sums::parse(text) {
            Ok(sums) => sums,
            Err(error) => {
                let problem = format!("the SHA256SUMS: {error}");
                self.examined.push(Examined { outcome: Flaw::Unreadable { problem }.into(), ..blank });
                return;
            }
        };
        let listing = self.listing(&sums);
        self.too_many("signature", signatures.len(), SUMS_FILES_LIMIT);
        self.too_many("key", travelling.len(), SUMS_FILES_LIMIT);
        // They only tell whose signature it is that does not count.
        let mut strangers: Option<Vec<OpenPgpKey>> = None;
        if signatures.is_empty() {
            self.examined.push(blank.clone());
        }
        for signature in signatures.iter().take(SUMS_FILES_LIMIT) {
            match verify_within(text, signature, &self.trusted.openpgp, self.now, &mut self.work) {
                Ok(verified) => {
                    let unknown = |verified: &Result<_, _>| matches!(verified, Err(OpenPgpFault::UnknownKey { .. }));
                    let others = if verified.iter().any(unknown) {
                        let keys = strangers.get_or_insert_with(|| strangers_in(travelling, &mut self.work));
                        verify_within(text, signature, keys, self.now, &mut self.work).unwrap_or_default()
                    } else {
                        Vec::new()
                    };
                    for (nth, verified) in verified.into_iter().enumerate() {
                        let other = others.get(nth).and_then(|other| other.as_ref().ok());
                        self.sums_signature(blank.clone(), &listing, verified, other);
                    }
                }
                Err(fault) => self.sums_signature(blank.clone(), &listing, Err(fault), None),
            }
        }
    }

    fn sums_signature(
        &mut self,
        mut examined: Examined,
        listing: &ListedRelease,
        verified: Result<OpenPgpSignature, OpenPgpFault>,
        travelling: Option<&OpenPgpSignature>,
    ) {
        if let ListedRelease::Listed(zips) = listing {
            examined.zips = zips.values().cloned().collect();
        }
        match verified {
            Ok(signature) => {
                self.name(&mut examined, &signature.key);
                let compromised = self.trusted.compromised(&signature.key, Some(&signature.signed_by));
                if let Some(what) = compromised.map(str::to_owned) {
                    self.discredited.insert(signature.key.clone());
                    self.examined.push(Examined { outcome: Flaw::RevokedKey { what }.into(), ..examined });
                    return;
                }
                self.remember(listing, &examined);
                examined.outcome = self.sums_outcome(listing, &signature);
                if matches!(examined.outcome.flaw(), Some(Flaw::ExpiredKey { .. } | Flaw::RevokedKey { .. })) {
                    self.discredited.insert(signature.key.clone());
                }
                if let ListedRelease::Listed(listed) = listing
                    && examined.outcome.counts()
                {
                    self.list_vote(&examined, &signature.key, listed, SignatureForm::Sums, Said::SIGNED);
                }
            }
            Err(fault) => {
                if let OpenPgpFault::UnknownKey { issuer } = &fault {
                    examined.claimed_key = Some(issuer.clone());
                }
                if let Some(key) = key_of(&fault) {
                    self.discredit(&fault, key);
                    self.name(&mut examined, key);
                }
                examined.outcome = flaw_of(&fault, travelling, examined.claimed_key.clone()).into();
            }
        }
        self.examined.push(examined);
    }

    /// Remembers what a trusted list says of each platform.
    pub(super) fn remember(&mut self, listing: &ListedRelease, examined: &Examined) {
        let ListedRelease::Listed(listed) = listing else { return };
        for (platform, zip) in listed {
            let otherwise = examined.refusal(&Flaw::OtherPackage { file_name: self.file_name(platform) });
            self.listed.push(ListedArchive { platform: platform.clone(), zip: zip.clone(), otherwise });
        }
    }

    fn too_many(&mut self, what: &str, found: usize, limit: usize) {
        if found > limit {
            let text = format!("only {limit} of {found} {what} files beside a SHA256SUMS were looked at");
            self.remarks.push(TrustRemark::warning("too-much-evidence", text));
        }
    }

    /// The vote of a list that a trusted key or identity has signed.
    pub(super) fn list_vote(
        &mut self,
        examined: &Examined,
        key: &KeyId,
        listed: &BTreeMap<Platform, PackageHash>,
        form: SignatureForm,
        said: Said<'_>,
    ) {
        let name = self.by(key);
        if self.rule.unnamed == Action::Warn && !self.trusted.is_dedicated(key) {
            let text = format!("the list signed by {name} counts, although it does not name {}", Missing::Address);
            self.remarks.push(TrustRemark::warning("unnamed-signature", text));
        }
        if let SignatureOutcome::CountsExpired { what } = &examined.outcome {
            let text = format!("the signature by {name} counts, although {what}");
            self.remarks.push(TrustRemark::warning("expired-key", text));
        }
        self.votes.push(Vote {
            key: key.clone(),
            name,
            form,
            predicate_type: said.predicate_type.to_owned(),
            build: said.build.cloned(),
            missing: (!self.trusted.is_dedicated(key)).then_some(Missing::Address),
            covers: Covers::Zips(examined.zips.clone()),
            numbers: examined.identity.as_ref().map(|identity| identity.numbers()).unwrap_or_default(),
            listed: listed.clone(),
        });
    }

    /// What becomes of a list that a trusted key or identity has signed.
    pub(super) fn listed_outcome(&self, listing: &ListedRelease, key: &KeyId, said: Said<'_>) -> SignatureOutcome {
        let listed = match listing {
            ListedRelease::Listed(listed) => listed,
            ListedRelease::OtherVersion(named) => return self.other_version(named.clone()),
            ListedRelease::OtherProvider(named) => return self.other_provider(named.clone()),
            ListedRelease::Nothing => return Flaw::NotListed.into(),
        };
        let known = |platform: &Platform| self.facts.archives.get(platform) == listed.get(platform);
        let contradictions: Vec<_> = self.contradictions(listed).collect();
        if let Some((platform, _)) = contradictions.first().filter(|_| !listed.keys().any(known)) {
            return Flaw::OtherPackage { file_name: self.file_name(platform) }.into();
        }
        if let Some(flaw) = self.unwanted(said) {
            return flaw.into();
        }
        // Its file names have a type and a version, and neither host nor namespace.
        let missing = Missing::Address;
        match (self.trusted.is_dedicated(key), self.rule.unnamed) {
            (true, _) => SignatureOutcome::Counts,
            (false, Action::Refuse) => Flaw::Unnamed { missing }.into(),
            (false, Action::Warn | Action::Allow) => SignatureOutcome::CountsUnnamed { missing },
        }
    }

    fn sums_outcome(&self, listing: &ListedRelease, signature: &OpenPgpSignature) -> SignatureOutcome {
        let outcome = self.listed_outcome(listing, &signature.key, Said::SIGNED);
        if !outcome.counts() {
            return outcome;
        }
        let (what, refused): (_, fn(String) -> Flaw) = match &signature.standing {
            KeyStanding::Good => return outcome,
            KeyStanding::Expired { what, .. } => (expired(what), |what| Flaw::ExpiredKey { what }),
            KeyStanding::Retired { part, reason, .. } => {
                (format!("its {part} was revoked since: {reason}"), |what| Flaw::RevokedKey { what })
            }
        };
        match self.rule.expired_keys {
            ExpiredKeys::Warn => SignatureOutcome::CountsExpired { what },
            ExpiredKeys::Refuse => refused(what).into(),
        }
    }

    /// Archives of the release that the list gives another checksum.
    fn contradictions<'a>(
        &'a self,
        listed: &'a BTreeMap<Platform, PackageHash>,
    ) -> impl Iterator<Item = (&'a Platform, &'a PackageHash)> {
        self.facts.archives.iter().filter(|(platform, zip)| listed.get(platform).is_some_and(|other| other != *zip))
    }

    pub(super) fn listing(&self, sums: &Sums) -> ListedRelease {
        let Some((address, version)) = self.facts.provider() else { return ListedRelease::Nothing };
        let wanted_type = address.provider_type();
        let archives = sums.archives(wanted_type, version);
        if !archives.is_empty() {
            let listed = archives.into_iter().filter_map(|(platform, archive)| Some((platform, archive?.1.clone())));
            let listed: BTreeMap<_, _> = listed.collect();
            return if listed.is_empty() { ListedRelease::Nothing } else { ListedRelease::Listed(listed) };
        }
        let mut other = ListedRelease::Nothing;
        for archive in sums.iter().filter_map(|(name, _)| ZipName::parse(name.rsplit('/').next()?)) {
            if archive.provider_type == wanted_type {
                other = ListedRelease::OtherVersion(archive.version.to_owned());
            } else if matches!(other, ListedRelease::Nothing) {
                other = ListedRelease::OtherProvider(archive.provider_type.to_owned());
            }
        }
        other
    }

    pub(super) fn file_name(&self, platform: &Platform) -> String {
        let named = self.facts.provider().map(|(address, version)| zip_name(address, version, platform));
        named.unwrap_or_else(|| platform.to_string())
    }
}

/// The certificates that lie beside a list, each once.
fn strangers_in(files: &[Vec<u8>], work: &mut VerifyBudget) -> Vec<OpenPgpKey> {
    let mut keys = Vec::new();
    for file in files.iter().take(SUMS_FILES_LIMIT) {
        keys.extend(OpenPgpKey::parse_within(file, work));
    }
    OpenPgpKey::merged(keys)
}

fn expired(what: &Expired) -> String {
    match what {
        Expired::Key(part) => format!("its {part} has expired since"),
        Expired::Signature => "the signature itself has expired".to_owned(),
        Expired::Binding(part) => format!("what binds its {part} has expired since"),
    }
}

/// The flaw of a signature that did not verify; `claimed` is what it says about its key.
fn flaw_of(fault: &OpenPgpFault, travelling: Option<&OpenPgpSignature>, claimed: Option<String>) -> Flaw {
    let what = fault.to_string();
    match fault {
        OpenPgpFault::UnknownKey { .. } => match travelling {
            Some(signature) => Flaw::TravellingKey { key: signature.key.clone() },
            None => Flaw::UnknownKey { claimed },
        },
        OpenPgpFault::Revoked { .. } => Flaw::RevokedKey { what },
        OpenPgpFault::AfterExpiry { .. } => Flaw::ExpiredKey { what },
        OpenPgpFault::WeakDigest { .. } => Flaw::WeakDigest { what },
        _ => Flaw::BadSignature { problem: what },
    }
}

fn key_of(fault: &OpenPgpFault) -> Option<&KeyId> {
    match fault {
        OpenPgpFault::BadSignature { key }
        | OpenPgpFault::WeakKey { key, .. }
        | OpenPgpFault::Revoked { key, .. }
        | OpenPgpFault::NotBound { key, .. }
        | OpenPgpFault::NotForSigning { key, .. }
        | OpenPgpFault::BeforeKey { key, .. }
        | OpenPgpFault::Future { key, .. }
        | OpenPgpFault::AfterExpiry { key, .. } => Some(key),
        _ => None,
    }
}
