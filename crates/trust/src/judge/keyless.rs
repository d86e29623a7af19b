//! Bundles with certificates: who is proven to have signed, whether a rule names them, and what they signed.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use tofu_oci_types::{Digest, Moment, PackageHash, Platform};

use super::examine::{Examination, Said};
use super::sums::ListedRelease;
use crate::keyless::{KeylessFault, Proven, ROOTS_DATE, RootName, prove};
use crate::{
    Archives, BUNDLES_LIMIT, Examined, Flaw, KeyId, Name, PROVENANCE_PREDICATE, ReadLeaf, SIGN_PREDICATE,
    SignatureForm, Signed, Statement, peek_bundle,
};

/// When the built-in roots were taken.
static ROOTS_TAKEN: LazyLock<Moment> =
    LazyLock::new(|| format!("{ROOTS_DATE}T00:00:00Z").parse().expect("the date of the roots is one"));

/// From then on a newer root may be missing.
const ROOTS_OLD: Duration = Duration::from_hours(24 * 365);

impl Examination<'_> {
    pub(super) fn keyless(&mut self, origin: &Digest, bytes: &[u8]) {
        let mut examined = Examined::new(Some(SignatureForm::Bundle), origin, Flaw::NoSignature);
        let Some(found) = self.prove(bytes) else { return };
        match found {
            Ok(proven) => {
                self.describe(&mut examined, &proven.statement);
                examined.identity = Some(Box::new(proven.identity.clone()));
                let wanted = self.version().map(ToString::to_string);
                match self.trusted.identity_of(&proven, wanted.as_deref()) {
                    Ok((key, version)) => {
                        if let Some(flaw) = self.trusted.given_away(&key, &proven) {
                            self.name(&mut examined, &key);
                            examined.outcome = flaw.into();
                            self.examined.push(examined);
                            return;
                        }
                        let root = proven.roots.first().cloned();
                        self.by_identity(&mut examined, proven, &key, version);
                        if examined.outcome.counts() {
                            self.remark_old_root(&key, root.as_ref());
                        }
                        if let Some(&Flaw::Unnamed { missing }) = examined.outcome.flaw() {
                            examined.outcome = Flaw::UnnamedIdentity { missing }.into();
                        }
                    }
                    Err(flaw) => examined.outcome = flaw.into(),
                }
            }
            Err(fault) => {
                if let Ok(peek) = peek_bundle(bytes) {
                    self.describe(&mut examined, &peek.statement);
                    if self.unproven.is_none() && self.is_about_release(&peek.statement) {
                        self.unproven = Some(Flaw::NotProven { problem: fault.to_string() });
                    }
                }
                examined.outcome = Flaw::NotProven { problem: fault.to_string() }.into();
            }
        }
        self.examined.push(examined);
    }

    /// Who has made a bundle with a certificate; `None` after so many that no further one is looked at.
    pub(super) fn prove(&mut self, bytes: &[u8]) -> Option<Result<Proven, KeylessFault>> {
        if self.proofs == BUNDLES_LIMIT {
            let text = format!("only {BUNDLES_LIMIT} bundles with certificates were looked at");
            self.remark_once("too-much-evidence", &text);
            return None;
        }
        self.proofs += 1;
        Some(prove(bytes, &self.trusted.roots(), self.now))
    }

    /// What a trusted identity has signed. It names neither provider nor version: the rule may give the one, the ref the other.
    fn by_identity(&mut self, examined: &mut Examined, proven: Proven, key: &KeyId, version: Option<String>) {
        self.name(examined, key);
        let mut statement = proven.statement;
        statement.predicate_type = self.counted_type(statement.predicate_type, proven.identity.is_release);
        let about_index = statement.subjects.iter().any(|subject| self.is_about_index(subject));
        let listing = statement.files().filter(|_| !about_index).map(|sums| self.listing(&sums));
        if let Some(listing) = listing.filter(|listing| !matches!(listing, ListedRelease::Nothing)) {
            return self.lists(examined, &statement, &listing, key, version);
        }
        let wanted = self.version().map(ToString::to_string);
        let address = self.facts.provider().map(|(address, _)| address).filter(|_| self.trusted.is_exact(key));
        for subject in &mut statement.subjects {
            if let (Name::Absent, Some(address)) = (&subject.address, address) {
                subject.address = Name::Is(address.clone());
            }
            // A version that the ref names is said, whatever the statement says.
            if let Some(version) = version.as_ref().filter(|_| wanted.is_some())
                && (subject.version == Name::Absent || wanted.as_ref() != Some(version))
            {
                subject.version = Name::written(version);
            }
        }
        let leaves = if about_index { BTreeMap::new() } else { self.leaves(&statement) };
        let is_other = leaves.is_empty() && !about_index;
        let other = || self.misplaced(&statement).or_else(|| self.other_file_names(&statement));
        if let Some(flaw) = is_other.then(other).flatten() {
            examined.outcome = flaw.into();
        } else if leaves.is_empty() {
            examined.outcome = self.outcome(&statement);
        } else {
            let named = leaves.values().map(|(leaf, _)| leaf.clone()).collect();
            examined.outcome = self.outcome_of_leaves(&statement, &named);
        }
        if examined.outcome.counts() {
            let listed = leaves.into_iter().map(|(platform, (_, zip))| (platform, zip)).collect();
            self.vote_for(examined, &Signed { key: key.clone(), form: SignatureForm::Bundle, statement }, listed);
        }
    }

    /// Whether a statement is about the index, a manifest or an archive of this release.
    fn is_about_release(&self, statement: &Statement) -> bool {
        let listing = statement.files().map(|files| self.listing(&files));
        let listed = listing.as_ref().and_then(ListedRelease::listed);
        let is_offered = |(platform, zip): (&Platform, &PackageHash)| self.facts.archives.get(platform) == Some(zip);
        statement.subjects.iter().any(|subject| self.is_about_index(subject))
            || !self.leaves(statement).is_empty()
            || listed.is_some_and(|listed| listed.iter().any(is_offered))
    }

    /// The platforms whose manifests a statement is about: each manifest with the archive that it names, which the statement
    /// covers as a list does.
    fn leaves(&self, statement: &Statement) -> BTreeMap<Platform, (Digest, PackageHash)> {
        let Archives::Read { zips, leaves } = self.facts.archives else { return BTreeMap::new() };
        // A manifest that is offered for two platforms is wrong for one of them, and the statement does not say for which.
        let is_one = |leaf: &ReadLeaf| leaves.values().filter(|other| other.digest == leaf.digest).count() == 1;
        let is_right = |platform: &Platform, leaf: &ReadLeaf| is_one(leaf) && leaf.misplaced(platform).is_none();
        let named = leaves.iter().filter(|(platform, leaf)| is_right(platform, leaf) && statement.names(&leaf.digest));
        let with_zip = |(platform, leaf): (&Platform, &ReadLeaf)| {
            Some((platform.clone(), (leaf.digest.clone(), zips.get(platform)?.clone())))
        };
        named.filter_map(with_zip).collect()
    }

    /// The flaw of a statement about a manifest that names the archive of one platform and is offered for another one.
    fn misplaced(&self, statement: &Statement) -> Option<Flaw> {
        let Archives::Read { leaves, .. } = self.facts.archives else { return None };
        let mut named = leaves.iter().filter(|(_, leaf)| statement.names(&leaf.digest));
        named.find_map(|(platform, leaf)| {
            let file_name = leaf.misplaced(platform)?.to_owned();
            Some(Flaw::OtherPlatform { file_name, platform: platform.clone() })
        })
    }

    /// The flaw of a statement about archives of this release that no file name of it says to be that.
    fn other_file_names(&self, statement: &Statement) -> Option<Flaw> {
        let Archives::Read { zips, .. } = self.facts.archives else { return None };
        statement.subjects.iter().find_map(|subject| {
            let zip = PackageHash::zh(subject.digest.as_ref()?)?;
            let (platform, _) = zips.iter().find(|(_, offered)| **offered == zip)?;
            Some(Flaw::OtherFileNames { found: subject.name.clone(), wanted: self.file_name(platform) })
        })
    }

    /// What people should know of a built-in root that is older than a year: what its instance has added since is missing.
    fn remark_old_root(&mut self, key: &KeyId, root: Option<&RootName>) {
        let is_built_in = self.trusted.identity(key).is_some_and(|identity| identity.root.is_none());
        let or_file = match root.filter(|_| is_built_in) {
            Some(RootName::PublicGood) => {
                ", or write one with `tofu-oci trust root update` and name it as root of the identity"
            }
            // An identity can name no other.
            Some(RootName::GitHub) => "",
            Some(RootName::File(_)) | None => return,
        };
        if Moment::from(self.now).since(*ROOTS_TAKEN) > ROOTS_OLD {
            let text = format!(
                "the root that proves the signature is of {ROOTS_DATE}, more than a year old; install a newer \
                 tofu-oci{or_file}"
            );
            self.remark_once("old-root", &text);
        }
    }

    /// What a trusted identity has signed of archives, whose names say type, version and platform.
    fn lists(
        &mut self,
        examined: &mut Examined,
        statement: &Statement,
        listing: &ListedRelease,
        key: &KeyId,
        version: Option<String>,
    ) {
        let Some(listed) = listing.listed() else {
            examined.outcome = self.listed_outcome(listing, key, Said::of(statement));
            return;
        };
        examined.zips = listed.values().cloned().collect();
        if let Some(named) = version.filter(|named| self.version().is_some_and(|wanted| wanted.to_string() != *named)) {
            examined.outcome = self.other_version(named);
            return;
        }
        self.remember(listing, examined);
        examined.outcome = self.listed_outcome(listing, key, Said::of(statement));
        if !examined.outcome.counts() {
            return;
        }
        self.list_vote(examined, key, listed, SignatureForm::Bundle, Said::of(statement));
    }

    /// What a statement counts as: provenance by an identity of the rule says that it made the release, and so that it signs it;
    /// so does GitHub's word for an immutable release.
    fn counted_type(&self, found: String, is_release: bool) -> String {
        let found = self.read_type(found);
        let is_usual = self.rule.predicate_types == [SIGN_PREDICATE];
        if is_usual && (is_release || found == PROVENANCE_PREDICATE) { SIGN_PREDICATE.to_owned() } else { found }
    }
}
