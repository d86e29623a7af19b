//! Errors of `module pull` and `module versions`.

use tofu_oci_fetch::ModuleFetchError;
use tofu_oci_source::{Failure, ModuleError, Withdrawal};
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_trust::{Flaw, NoticeReason, TrustRefusal, TrustRule};
use tofu_oci_types::{Constraints, Fault as _, NetworkFault, Place, Reference, Version, versions_in_words};

use super::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

impl From<ModuleError> for Diagnostic {
    fn from(error: ModuleError) -> Self {
        let plain = Self::fault(&error);
        match error {
            ModuleError::Store(error @ StoreError::DigestMismatch { place: Place::Host(_), .. }) => {
                let StoreError::DigestMismatch { place: Place::Host(host), expected, actual, .. } = &error else {
                    return plain;
                };
                Self::new(Exit::Fixable, format!("the archive from {host} is not the one that its checksum names"))
                    .code(error.code())
                    .cause(format!("the checksum is {expected}, and that of the archive is {actual}"))
                    .hint("the owner of the registry must correct the checksum or the archive; nothing was kept")
            }
            ModuleError::Store(error) => Self::from(error).code(plain.stable_name()),
            ModuleError::Failed { failure: Failure::Network { fault, .. }, .. } => plain.module_host_hint(fault),
            _ => plain,
        }
    }
}

impl Diagnostic {
    /// The same with the advice that fits a host of modules that could not be reached.
    fn module_host_hint(self, fault: NetworkFault) -> Self {
        match super::network::hint_of(fault) {
            _ if fault == NetworkFault::PrivateAddress => self,
            Some(hint) => self.hint(hint),
            None => {
                self.hint("check the host name and the network; --ca-file FILE trusts a private certificate authority")
            }
        }
    }

    /// A version that was withdrawn from a repository, with the versions that it has.
    pub(crate) fn withdrawn(
        place: &Place,
        version: &Version,
        reason: Option<NoticeReason>,
        offered: &[Version],
    ) -> Self {
        let (place, version, offered) = (place.clone(), version.clone(), offered.to_owned());
        Self::fault(&Withdrawal { place, version, reason, offered })
    }

    /// A tag or digest that a repository lacks, with the versions that it has.
    pub(crate) fn missing_module(error: StoreError, place: &Place, reference: &Reference, offered: &[Version]) -> Self {
        if !matches!(&error, StoreError::NotFound { what: StoreItem::Tag(_) | StoreItem::Manifest(_), .. }) {
            return Self::from(error);
        }
        let (kind, code) = match reference {
            Reference::Tag(_) => ("tag", "tag-not-found"),
            Reference::Digest(_) => ("manifest", "digest-not-found"),
        };
        let diagnostic = Self::new(Exit::Fixable, format!("{place} has no {kind} {reference}")).code(code);
        // A prerelease is an example only where there is nothing else.
        match Constraints::any().select(offered).or(offered.last()) {
            Some(newest) => diagnostic
                .hint(versions_in_words("it has the versions", offered))
                .hint(format!("name one in the source, such as ?tag={}", newest.to_string().replace('+', "_"))),
            None => diagnostic
                .hint("it has no tag that is a version; check the name, or publish one with `tofu-oci module push`"),
        }
    }
}

impl From<ModuleFetchError> for Diagnostic {
    fn from(error: ModuleFetchError) -> Self {
        let plain = Self::fault(&error);
        match error {
            ModuleFetchError::Module(error) => error.into(),
            ModuleFetchError::Fetch(error) => (*error).into(),
            ModuleFetchError::Untrusted { place, version, refusal, rule } => {
                let sign = invocation::sign(&place, version.as_ref(), &rule);
                plain.untrusted_module(&refusal, &rule, &sign)
            }
            _ => plain,
        }
    }
}

impl Diagnostic {
    /// The same with the rule that decides, and what to do about a module that is not trusted; `sign` is how its publisher
    /// does it.
    fn untrusted_module(self, refusal: &TrustRefusal, rule: &TrustRule, sign: &str) -> Self {
        let rule = rule.origin.in_words().map(|at| match refusal {
            TrustRefusal::Withdrawn { .. } => format!("{at}, says whose notices count"),
            _ if rule.keys.is_empty() => format!("{at}, refuses unsigned modules and names no keys"),
            _ => format!("{at}, demands {}", rule.demand()),
        });
        let diagnostic = self.more_causes(rule).more_causes(refusal.causes());
        match refusal {
            TrustRefusal::Withdrawn { .. } => diagnostic
                .hint("take another version; `tofu-oci module versions` lists them")
                .more_hints(refusal.hints()),
            TrustRefusal::Signature {
                flaw: flaw @ (Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. } | Flaw::Keyless { .. }),
                ..
            } => diagnostic.flawed(flaw, ""),
            TrustRefusal::Signature { flaw: Flaw::OtherVersion { .. }, .. } => diagnostic
                .hint("the tag has moved to another version; ask its publisher why, or name the digest you mean"),
            _ => diagnostic.hint(format!("its publisher signs it{sign}")),
        }
    }
}
