//! Releases that are not trusted, and what trust is read from.

use tofu_oci_fetch::PinFileError;
use tofu_oci_mapper::{Symbol, TemplateAddress};
use tofu_oci_trust::{Flaw, ManualAcceptance, RuleOrigin, TrustRefusal, TrustRule};
use tofu_oci_types::{Place, ProviderAddr, Version};

use super::Diagnostic;
use crate::invocation;

#[derive(Clone, Copy)]
pub(crate) struct RefusedRelease<'a> {
    pub(crate) address: &'a ProviderAddr,
    pub(crate) version: &'a Version,
    pub(crate) place: &'a Place,
}

/// A release that is not trusted, and by what.
pub(crate) struct Refused<'a> {
    pub(crate) refusal: &'a TrustRefusal,
    /// The rule that holds for the provider.
    pub(crate) rule: &'a TrustRule,
    /// Whether `--accept` can help.
    pub(crate) by_hand: ManualAcceptance,
    pub(crate) release: RefusedRelease<'a>,
}

impl Refused<'_> {
    /// Whether the release contradicts what it is offered as, so that no rule has to be asked.
    fn is_contradiction(&self) -> bool {
        self.refusal.flaw().is_some_and(Flaw::contradicts)
    }

    /// The rule of the policy file that decides: where it stands and what satisfies it. None if no rule decides.
    pub(crate) fn rule(&self) -> Option<String> {
        let RuleOrigin::File { path, line, providers } = &self.rule.origin else { return None };
        if self.by_hand == ManualAcceptance::Settles || self.is_contradiction() {
            return None;
        }
        let (path, providers) = (path.strip_prefix(".").unwrap_or(path), providers.join(", "));
        Some(format!("{}:{line}, the rule for {providers}, demands {}", path.display(), self.rule.demand()))
    }
}

impl From<PinFileError> for Diagnostic {
    fn from(error: PinFileError) -> Self {
        let plain = Self::fault(&error);
        match error {
            PinFileError::Conflict(conflict) => {
                let pin = &conflict.ours;
                plain.code("moved-tag").hint(format!(
                    "the version moved between two commands: `{}` shows what is there now",
                    invocation::command(&format!("verify {}@{}", pin.address, pin.version))
                ))
            }
            _ => plain,
        }
    }
}

/// How the file that this run reads names a provider.
fn in_its_file(address: &impl std::fmt::Display) -> String {
    match invocation::value_of("rules") {
        _ if invocation::says("from-config") => format!("write source = \"{address}\" in required_providers"),
        rules => format!("write address = \"{address}\" in {}", rules.unwrap_or("mirror.toml")),
    }
}

impl Diagnostic {
    /// The same with a hint for a release that says another address than the one that was asked for.
    pub(crate) fn renaming<A: TemplateAddress>(self, asked: &A, said: &A) -> Self {
        let asked_for = asked.to_string();
        let word = invocation::word_where(|word| {
            let name = word.split('@').next().unwrap_or_default();
            asked_for.strip_suffix(name).is_some_and(|host| host.is_empty() || host.ends_with('/'))
        });
        let own = match (invocation::verb(), word) {
            ("install" | "lock" | "mirror" | "bundle create", Some(word)) => {
                let constraint = word.find('@').map_or("", |at| &word[at..]);
                Some(invocation::with_word(word, &invocation::quoted(&format!("{said}{constraint}"))))
            }
            // Rules or a configuration name the provider.
            ("mirror", None) if invocation::first_word().is_none() => Some(in_its_file(said)),
            ("bundle create", None) if invocation::second_word().is_none() => Some(in_its_file(said)),
            (verb @ ("install" | "lock" | "mirror"), None) => {
                Some(invocation::with_all_options(&format!("{verb} {said}")))
            }
            _ => None,
        };
        let own = own.into_iter().fold(self, |diagnostic, own| diagnostic.hint(format!("by its own address: {own}")));
        let diagnostic = own.hint("check the address, --from and the repository").preceding(asked, said);
        diagnostic.hint("if it is meant to be renamed, add --rename")
    }

    /// The same with a hint for two addresses that differ by their hosts alone.
    pub(crate) fn preceding<A: TemplateAddress>(self, asked: &A, said: &A) -> Self {
        let mut symbols = A::OF.symbols().iter();
        if !symbols.all(|part| *part == Symbol::Hostname || asked.part(*part) == said.part(*part)) {
            return self;
        }
        let [asked, said] = [asked, said].map(|address| address.hostname().display());
        self.hint(format!("if one host is the predecessor of the other: --predecessor {asked}={said}"))
    }

    /// The same with what to do about a release that is not trusted, for verbs that do not tell of its signatures.
    pub(crate) fn untrusted(self, refused: &Refused<'_>) -> Self {
        let RefusedRelease { address, version, place } = refused.release;
        // `bundle load` names its place without --from.
        let from = match place {
            Place::Bundle(_) if !invocation::says("from") => {
                format!(" --from {}", invocation::quoted(&place.to_string()))
            }
            _ => String::new(),
        };
        let verify = invocation::command(&format!("verify {address}@{version}{from}"));
        self.not_trusted(refused).hint(format!("`{verify}` shows every signature, and why it does not count"))
    }

    /// The same with what to do about the signature that refuses a release; `sign` is how its publisher does it.
    pub(crate) fn flawed(self, flaw: &Flaw, sign: &str) -> Self {
        match flaw {
            flaw if flaw.contradicts() => {
                self.hint("this is not what it is offered as: check the address, --from and the repository")
            }
            Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. } | Flaw::Keyless => self.hint(publishers_key()),
            Flaw::Unnamed { .. } => self
                .hint(format!("its publisher signs it with both in the signature{sign}"))
                .hint("with cosign: -a org.opentofu.provider.address=ADDR -a org.opentofu.provider.version=VERSION")
                .hint("to accept such signatures, write unnamed = \"warn\" into the rule of trust.toml"),
            Flaw::ExpiredKey { .. } => {
                self.hint("if its owner has prolonged the key, put the new public key into the file of trust.toml")
            }
            Flaw::RevokedKey { .. } | Flaw::WeakDigest { .. } => {
                self.hint("its publisher must sign the release anew, with a good key")
            }
            _ => self.hint("its publisher must sign the release anew"),
        }
    }

    /// The same with what to do about a release that is not trusted.
    pub(crate) fn not_trusted(self, refused: &Refused<'_>) -> Self {
        let RefusedRelease { address, version, place } = refused.release;
        let accept = invocation::command(&format!("verify {address}@{version} --accept"));
        let accept = Some(accept).filter(|_| refused.by_hand == ManualAcceptance::Settles);
        let sign = invocation::sign(place, Some(version));
        let mut diagnostic = self.code(refused.refusal.code()).cause(format!("it came from {place}"));
        if let Some(rule) = refused.rule() {
            diagnostic = diagnostic.cause(rule);
        }
        match refused.refusal {
            TrustRefusal::Withdrawn { replaced_by, .. } => {
                let diagnostic =
                    diagnostic.more_causes(replaced_by.as_ref().map(|index| format!("{index} took its place")));
                diagnostic
                    .hint(format!("take another version: {}", invocation::versions(address)))
                    .hint("no option overrides it; if it was withdrawn by mistake, its publisher takes that back")
            }
            TrustRefusal::MovedTag { .. } => diagnostic
                .hint("somebody has pushed another release under the same version; ask its publisher why")
                .hint(match accept {
                    Some(accept) => format!("if it was moved on purpose: {accept}"),
                    None => format!("if it was moved on purpose, its publisher signs it{sign}"),
                }),
            TrustRefusal::Unsigned | TrustRefusal::WasSigned { .. } => {
                let diagnostic = diagnostic.hint(format!("its publisher signs it{sign}"));
                diagnostic.more_hints(accept.map(|accept| format!("to take this one release as it is: {accept}")))
            }
            TrustRefusal::Threshold { .. } => {
                diagnostic.hint(format!("the owners of the other keys sign it too{sign}"))
            }
            TrustRefusal::PredicateType { .. } => {
                diagnostic.hint("what must be signed is `predicate_types` in the rule of trust.toml")
            }
            TrustRefusal::Signature { flaw, .. } => diagnostic.flawed(flaw, &sign),
            _ => diagnostic.hint("its publisher must sign the release anew"),
        }
    }
}

/// How the key of a publisher comes to count: `--key` of `verify` stands for the policy.
pub(super) fn publishers_key() -> &'static str {
    if invocation::verb() == "verify" && invocation::says("key") {
        return "name its publisher's key with --key: the one that was named did not sign it";
    }
    "if the key is its publisher's, add a [[key]] to trust.toml and name it in the rule"
}
