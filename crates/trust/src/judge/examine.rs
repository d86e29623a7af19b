//! What a signature must be about: each piece of evidence, examined by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Version};

use super::trusted_keys::TrustedKeys;
use super::votes::{ExaminedNotice, Vote};
use crate::bundle::claimed_key;
use crate::openpgp::VerifyBudget;
use crate::slsa::{OtherBuild, PROVENANCE_V0_2, is_provenance};
use crate::verdict::ListedArchive;
use crate::{
    Action, Archives, Build, Covers, Evidence, Examined, Flaw, KeyId, MadeBy, Missing, NOTICE_PREDICATE, Name,
    OpenPgpFault, PROVENANCE_PREDICATE, Peek, ReleaseFacts, SIGN_PREDICATE, SignatureFault, SignatureForm,
    SignatureOutcome, Signed, Statement, StatementSubject, Subject, TrustRemark, TrustRule, open_bundle,
    open_cosign_tag, peek_bundle, peek_cosign_tag,
};

/// What was looked at so far.
pub(super) struct Examination<'a> {
    pub(super) rule: &'a TrustRule,
    pub(super) trusted: &'a TrustedKeys,
    pub(super) facts: &'a ReleaseFacts<'a>,
    pub(super) now: SystemTime,
    pub(super) examined: Vec<Examined>,
    /// The signatures that count.
    pub(super) votes: Vec<Vote>,
    /// What the publisher says of the release later.
    pub(super) notices: Vec<ExaminedNotice>,
    /// Whether there are more of them than were read.
    pub(super) lacks_notices: bool,
    /// What trusted lists say of the platforms of this release.
    pub(super) listed: Vec<ListedArchive>,
    /// How many bundles with certificates were looked at.
    pub(super) proofs: usize,
    /// Why the first of those that are about this release was not proven.
    pub(super) unproven: Option<Flaw>,
    /// The work that is left for signatures and keys of strangers.
    pub(super) work: VerifyBudget,
    pub(super) remarks: Vec<TrustRemark>,
    /// Keys that would not count any more, whatever they had signed.
    pub(super) discredited: BTreeSet<KeyId>,
}

/// What a statement says of the release.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    /// The type that it counts as.
    pub(super) predicate_type: &'a str,
    /// How the release was built, of what counts as provenance.
    pub(super) build: Option<&'a Build>,
}

impl<'a> Said<'a> {
    /// That it is signed.
    pub(super) const SIGNED: Said<'static> = Said { predicate_type: SIGN_PREDICATE, build: None };

    pub(super) fn of(statement: &'a Statement) -> Self {
        let build = statement.build.as_ref().filter(|_| is_provenance(&statement.predicate_type));
        Self { predicate_type: &statement.predicate_type, build }
    }
}

/// What a signature names, compared with what was asked for.
enum Naming {
    Right,
    Unnamed(Missing),
    OtherProvider(String),
    OtherVersion(String),
}

impl<'a> Examination<'a> {
    pub(super) fn new(
        rule: &'a TrustRule,
        trusted: &'a TrustedKeys,
        facts: &'a ReleaseFacts<'a>,
        now: SystemTime,
    ) -> Self {
        let (examined, votes, listed, remarks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (work, discredited) = (VerifyBudget::default(), BTreeSet::new());
        let (notices, lacks_notices, proofs) = (Vec::new(), false, 0);
        Self {
            rule,
            trusted,
            facts,
            now,
            examined,
            votes,
            notices,
            lacks_notices,
            listed,
            proofs,
            work,
            remarks,
            discredited,
            unproven: None,
        }
    }

    pub(super) fn look_at(&mut self, piece: &Evidence) {
        let keys = &self.trusted.public;
        match piece {
            Evidence::Bundle { origin, bytes } => match peek_bundle(bytes).ok() {
                // Also one that the rule's `predicate_types` name is no signature.
                Some(peek) if peek.statement.predicate_type == NOTICE_PREDICATE => self.notice(origin, bytes),
                Some(Peek { made_by: MadeBy::Certificate, .. }) => self.keyless(origin, bytes),
                peek => {
                    let blank = Examined::new(Some(SignatureForm::Bundle), origin, Flaw::UnknownKey { claimed: None });
                    self.signature(blank, open_bundle(bytes, keys), peek.as_ref());
                }
            },
            Evidence::CosignTag { origin, payload, signature } => {
                let blank = Examined::new(Some(SignatureForm::CosignTag), origin, Flaw::UnknownKey { claimed: None });
                self.signature(
                    blank,
                    open_cosign_tag(payload, signature, keys),
                    peek_cosign_tag(payload).ok().as_ref(),
                );
            }
            Evidence::Sums { origin, sums, signatures, keys } => self.sums(origin, sums, signatures, keys),
            Evidence::Notice { origin, bytes } => self.notice(origin, bytes),
            Evidence::UnreadNotices { origin, problem } | Evidence::Unreadable { origin, problem } => {
                self.lacks_notices |= matches!(piece, Evidence::UnreadNotices { .. });
                self.examined.push(Examined::new(None, origin, Flaw::Unreadable { problem: problem.clone() }));
            }
        }
    }

    fn signature(&mut self, mut examined: Examined, opened: Result<Signed, SignatureFault>, peek: Option<&Peek>) {
        examined.claimed_key = peek.and_then(Peek::hint).map(claimed_key);
        match opened {
            Ok(mut signed) => {
                self.describe(&mut examined, &signed.statement);
                signed.statement.predicate_type = self.read_type(signed.statement.predicate_type);
                self.name(&mut examined, &signed.key);
                examined.outcome = match self.trusted.compromised(&signed.key, None).map(str::to_owned) {
                    Some(what) => {
                        self.discredited.insert(signed.key.clone());
                        Flaw::RevokedKey { what }.into()
                    }
                    None => self.outcome_by_key(&signed.statement),
                };
                if examined.outcome.counts() {
                    self.vote(&examined, &signed);
                }
            }
            Err(fault) => {
                if let Some(peek) = peek {
                    self.describe(&mut examined, &peek.statement);
                }
                if let SignatureFault::BadSignature { key } = &fault {
                    self.name(&mut examined, key);
                }
                let flaw = match fault {
                    SignatureFault::UnknownKey { .. } => Flaw::UnknownKey { claimed: examined.claimed_key.clone() },
                    fault => Flaw::BadSignature { problem: fault.to_string() },
                };
                examined.outcome = flaw.into();
            }
        }
        self.examined.push(examined);
    }

    pub(super) fn vote(&mut self, examined: &Examined, signed: &Signed) {
        self.vote_for(examined, signed, BTreeMap::new());
    }

    /// A vote for archives of platforms; for the index if `listed` is empty.
    pub(super) fn vote_for(&mut self, examined: &Examined, signed: &Signed, listed: BTreeMap<Platform, PackageHash>) {
        let name = self.by(&signed.key);
        let said = Said::of(&signed.statement);
        let missing = match &examined.outcome {
            SignatureOutcome::CountsUnnamed { missing } => Some(*missing),
            _ => None,
        };
        self.remark_unnamed(&name, missing);
        self.votes.push(Vote {
            key: signed.key.clone(),
            name,
            form: signed.form,
            predicate_type: said.predicate_type.to_owned(),
            build: said.build.cloned(),
            missing,
            covers: if listed.is_empty() { Covers::Index } else { Covers::Zips(listed.values().cloned().collect()) },
            numbers: examined.identity.as_ref().map(|identity| identity.numbers()).unwrap_or_default(),
            listed,
        });
    }

    /// What people should know of a signature that counts without a name.
    pub(super) fn remark_unnamed(&mut self, by: &str, missing: Option<Missing>) {
        if let (Some(missing), Action::Warn) = (missing, self.rule.unnamed) {
            let text = format!("the signature by {by} counts, although it does not name {missing}");
            self.remarks.push(TrustRemark::warning("unnamed-signature", text));
        }
    }

    pub(super) fn is_about_index(&self, subject: &StatementSubject) -> bool {
        self.facts.identity.index().is_some_and(|index| subject.digest.as_ref() == Some(index))
    }

    /// The outcome of a statement that a trusted key has signed.
    pub(super) fn outcome(&self, statement: &Statement) -> SignatureOutcome {
        // A statement may name one index twice, under two names. The right name is enough.
        self.outcome_by(statement, |subject| self.is_about_index(subject), 0)
    }

    /// The same by a static key, which must sign the index: the zips that it names do not say whose release they are in.
    fn outcome_by_key(&self, statement: &Statement) -> SignatureOutcome {
        let outcome = self.outcome(statement);
        let is_other = matches!(outcome.flaw(), Some(Flaw::OtherIndex { .. }));
        match is_other.then(|| self.part_of_release(statement)).flatten() {
            Some(platform) => Flaw::NotTheIndex { file_name: self.file_name(platform) }.into(),
            None => outcome,
        }
    }

    /// The platform whose archive or manifest a statement is about.
    fn part_of_release(&self, statement: &Statement) -> Option<&Platform> {
        let named = |zip: &PackageHash| {
            statement
                .subjects
                .iter()
                .any(|subject| subject.digest.as_ref().and_then(PackageHash::zh).as_ref() == Some(zip))
        };
        let zip = self.facts.archives.iter().find(|(_, zip)| named(zip)).map(|(platform, _)| platform);
        let Archives::Read { leaves, .. } = self.facts.archives else { return zip };
        zip.or_else(|| leaves.iter().find(|(_, leaf)| statement.names(&leaf.digest)).map(|(platform, _)| platform))
    }

    /// The same of a statement about the manifests of platforms: each of them must be named rightly.
    pub(super) fn outcome_of_leaves(&self, statement: &Statement, leaves: &BTreeSet<Digest>) -> SignatureOutcome {
        let is_leaf =
            |subject: &StatementSubject| subject.digest.as_ref().is_some_and(|digest| leaves.contains(digest));
        self.outcome_by(statement, is_leaf, 4)
    }

    /// By the subjects that are `about` the release. A wrong name is worse than none.
    fn outcome_by(
        &self,
        statement: &Statement,
        about: impl Fn(&StatementSubject) -> bool,
        rank_of_right: u8,
    ) -> SignatureOutcome {
        let about = statement.subjects.iter().filter(|subject| about(subject));
        let rank = |naming: &Naming| match naming {
            Naming::Right => rank_of_right,
            Naming::OtherProvider(_) => 1,
            Naming::OtherVersion(_) => 2,
            Naming::Unnamed(_) => 3,
        };
        let Some(naming) = about.map(|subject| self.naming(subject)).min_by_key(rank) else {
            let signed = statement.subjects.first().and_then(|subject| subject.digest.clone());
            return Flaw::OtherIndex { signed }.into();
        };
        match naming {
            Naming::OtherProvider(named) => return self.other_provider(named),
            Naming::OtherVersion(named) => return self.other_version(named),
            Naming::Right | Naming::Unnamed(_) => {}
        }
        if let Some(flaw) = self.unwanted(Said::of(statement)) {
            return flaw.into();
        }
        match naming {
            Naming::Unnamed(missing) if self.rule.unnamed == Action::Refuse => Flaw::Unnamed { missing }.into(),
            Naming::Unnamed(missing) => SignatureOutcome::CountsUnnamed { missing },
            _ => SignatureOutcome::Counts,
        }
    }

    /// Why a statement is not one that the rule demands.
    pub(super) fn unwanted(&self, Said { predicate_type, build }: Said<'_>) -> Option<Flaw> {
        if !self.rule.predicate_types.iter().any(|wanted| wanted == predicate_type) {
            return Some(Flaw::PredicateType { found: predicate_type.to_owned() });
        }
        let OtherBuild { member, found, wanted } = self.rule.build.as_ref()?.differs(build?)?;
        Some(Flaw::OtherBuild { member, found, wanted })
    }

    /// The type that a statement counts as: older provenance says the same, if the rule demands a build.
    pub(super) fn read_type(&self, found: String) -> String {
        let is_older = self.rule.build.is_some() && found == PROVENANCE_V0_2;
        if is_older { PROVENANCE_PREDICATE.to_owned() } else { found }
    }

    pub(super) fn other_provider(&self, named: String) -> SignatureOutcome {
        let wanted = self.facts.provider().map_or_else(|| "a module".to_owned(), |(address, _)| address.to_string());
        Flaw::OtherProvider { named, wanted }.into()
    }

    pub(super) fn other_version(&self, named: String) -> SignatureOutcome {
        match self.version() {
            Some(version) => Flaw::OtherVersion { named, wanted: Box::new(version.clone()) }.into(),
            None => self.other_provider(named),
        }
    }

    /// The version that a signature may name.
    pub(super) fn version(&self) -> Option<&Version> {
        match self.facts.of {
            Subject::Provider { version, .. } => Some(version),
            Subject::Module { wanted, claimed } => wanted.or(claimed),
        }
    }

    fn naming(&self, subject: &StatementSubject) -> Naming {
        let same = |address: &ProviderAddr| {
            self.facts.provider().is_some_and(|(wanted, _)| self.trusted.predecessors.same_provider(address, wanted))
        };
        let address = match &subject.address {
            Name::Is(address) if !same(address) => return Naming::OtherProvider(address.to_string()),
            Name::Invalid(text) => return Naming::OtherProvider(text.clone()),
            Name::Is(_) => Some(()),
            Name::Absent => None,
        };
        let version = match &subject.version {
            Name::Is(version) if Some(version) != self.version() => return Naming::OtherVersion(version.to_string()),
            Name::Invalid(text) => return Naming::OtherVersion(text.clone()),
            Name::Is(_) => Some(()),
            Name::Absent => None,
        };
        match (address, version) {
            _ if self.facts.provider().is_none() => Naming::Right,
            (Some(()), Some(())) => Naming::Right,
            (None, Some(())) => Naming::Unnamed(Missing::Address),
            (Some(()), None) => Naming::Unnamed(Missing::Version),
            (None, None) => Naming::Unnamed(Missing::Both),
        }
    }

    /// What the statement says of this index, or of whatever it is about.
    pub(super) fn describe(&self, examined: &mut Examined, statement: &Statement) {
        fn text<T: ToString>(name: &Name<T>) -> Option<String> {
            match name {
                Name::Absent => None,
                Name::Is(name) => Some(name.to_string()),
                Name::Invalid(text) => Some(text.clone()),
            }
        }
        let subjects = &statement.subjects;
        let about = |subject: &&StatementSubject| self.is_about_index(subject);
        let right = subjects.iter().filter(about).find(|subject| matches!(self.naming(subject), Naming::Right));
        if let Some(subject) = right.or_else(|| subjects.iter().find(about)).or(subjects.first()) {
            examined.address = text(&subject.address);
            examined.version = text(&subject.version);
            examined.note.clone_from(&subject.note);
        }
        examined.predicate_type = Some(statement.predicate_type.clone());
    }

    /// Remembers a key that would not count any more. One that has only not made this signature stays what it is.
    pub(super) fn discredit(&mut self, fault: &OpenPgpFault, key: &KeyId) {
        if matches!(
            fault,
            OpenPgpFault::WeakKey { .. }
                | OpenPgpFault::Revoked { .. }
                | OpenPgpFault::NotBound { .. }
                | OpenPgpFault::NotForSigning { .. }
                | OpenPgpFault::AfterExpiry { .. }
        ) {
            self.discredited.insert(key.clone());
        }
    }

    pub(super) fn name(&self, examined: &mut Examined, key: &KeyId) {
        examined.key_name = self.trusted.name(key).map(str::to_owned);
        examined.key = Some(key.clone());
    }

    /// What a key is called in messages.
    pub(super) fn by(&self, key: &KeyId) -> String {
        self.trusted.name(key).map_or_else(|| key.to_string(), str::to_owned)
    }
}
