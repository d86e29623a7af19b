//! Releases that are not trusted, and what trust is read from.

use tofu_oci_fetch::PinFileError;
use tofu_oci_mapper::{Symbol, TemplateAddress};
use tofu_oci_trust::{Flaw, ManualAcceptance, TrustRefusal, TrustRule};
use tofu_oci_types::{Fault as _, Place, ProviderAddr, Version};

use super::Diagnostic;
use crate::invocation;

/// A release that is not trusted, and by what.
pub(crate) struct Refused<'a> {
    pub(crate) refusal: &'a TrustRefusal,
    /// The rule that holds for the provider.
    pub(crate) rule: &'a TrustRule,
    /// Whether `--accept` can help.
    pub(crate) by_hand: ManualAcceptance,
    pub(crate) address: &'a ProviderAddr,
    pub(crate) version: &'a Version,
    pub(crate) place: &'a Place,
}

impl Refused<'_> {
    /// The rule of the policy file that decides: where it stands and what satisfies it. None if no rule decides.
    pub(crate) fn rule(&self) -> Option<String> {
        // Any rule refuses a release that contradicts its name.
        let is_contradiction = self.refusal.flaw().is_some_and(Flaw::contradicts);
        let decides = self.by_hand == ManualAcceptance::DoesNot && !is_contradiction;
        let rule = self.rule.origin.in_words().filter(|_| decides)?;
        Some(format!("{rule}, demands {}", self.rule.demand()))
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
            (_, Some(word)) => {
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
        let diagnostic = own.hint("check the address and the repository").preceding(asked, said);
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
        let Refused { address, version, place, .. } = refused;
        let from = match place {
            _ if invocation::says("from") => String::new(),
            // `bundle load` names its place without --from.
            Place::Bundle(_) => format!(" --from {}", invocation::quoted(&place.to_string())),
            // `sources` of a mirror.toml may name it, which `verify` does not read.
            Place::Registry(_) | Place::Layout(_) if ["mirror", "bundle create"].contains(&invocation::verb()) => {
                format!(" --from {}", invocation::quoted(&place.to_string()))
            }
            Place::Folder(dir) if ["mirror", "bundle create"].contains(&invocation::verb()) => {
                format!(" --from {}", invocation::quoted(&format!("static:{}", dir.display())))
            }
            _ => String::new(),
        };
        let verify = invocation::command(&format!("verify {address}@{version}{from}"));
        // `attestations` of a mirror.toml names files that `verify` does not read.
        let which = if invocation::verb() == "mirror" { "every signature at its place" } else { "every signature" };
        self.not_trusted(refused).hint(format!("`{verify}` shows {which}, and why it does not count"))
    }

    /// The same with what to do about the signature that refuses a release; `sign` is how its publisher does it.
    pub(crate) fn flawed(self, flaw: &Flaw, sign: &str) -> Self {
        let own = match flaw {
            Flaw::Unnamed { .. } => Some(format!("its publisher signs it with both in the signature{sign}")),
            Flaw::NotTheIndex { .. } => Some(format!("its publisher signs the index{sign}")),
            // `--key` of `verify` stands for the policy.
            Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. } | Flaw::Keyless { .. }
                if invocation::verb() == "verify" && invocation::says("key") =>
            {
                return self.hint("name its publisher's key with --key: the one that was named did not sign it");
            }
            _ => None,
        };
        self.more_hints(own).more_hints(flaw.hints())
    }

    /// The same with what to do about a release that is not trusted.
    pub(crate) fn not_trusted(self, refused: &Refused<'_>) -> Self {
        let Refused { refusal, rule, address, version, place, .. } = refused;
        let accept = invocation::command(&format!("verify {address}@{version} --accept"));
        let accept = Some(accept).filter(|_| refused.by_hand == ManualAcceptance::Settles);
        let sign = invocation::sign(place, Some(version), rule);
        let diagnostic = self.code(refusal.code()).cause(format!("it came from {place}"));
        let diagnostic = diagnostic.more_causes(refused.rule()).more_causes(refusal.causes());
        match refusal {
            TrustRefusal::Withdrawn { .. } => diagnostic
                .hint(format!("take another version: {}", invocation::versions(address)))
                .more_hints(refusal.hints()),
            TrustRefusal::MovedTag { .. } => diagnostic.more_hints(refusal.hints()).hint(match accept {
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
            // A key would not do.
            TrustRefusal::Signature { flaw: Flaw::UnknownKey { .. } | Flaw::TravellingKey { .. }, .. }
                if rule.has_identities_alone() =>
            {
                diagnostic.hint(format!("the rule names identities alone: its publisher signs it{sign}"))
            }
            TrustRefusal::Signature { flaw, .. } => diagnostic.flawed(flaw, &sign),
            _ => diagnostic.more_hints(refusal.hints()),
        }
    }
}
