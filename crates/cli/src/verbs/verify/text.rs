//! The report of `verify`, for people.

use std::collections::BTreeSet;

use tofu_oci_trust::{Examined, Pin, RuleOrigin, SignatureForm, Standing, Unsigned, Verdict};
use tofu_oci_types::{Digest, Level};

use super::model::VerifyReport;
use crate::page::Page;
use crate::verbs::context::tagged;
use crate::verbs::install::shown;
use crate::verbs::printed::built;
use crate::verbs::sign::manifest_word;

impl VerifyReport<'_> {
    /// Everything, for people.
    pub(super) fn page(&self, verdict: &Verdict) -> Page {
        let mut page = Page::of(self.found.to_string());
        let mut say = |name: &str, text: &str| page.row("  ", name, text);
        let place = &self.found.place;
        say("place", &self.found.about.tag.as_ref().map_or_else(|| place.to_string(), |tag| tagged(place, tag)));
        say(manifest_word(&self.found.of), self.found.identity.index().map_or("none", Digest::as_str));
        say("rule", &self.rule_text());
        if let Some(pin) = self.pin {
            say("pinned", &pin_text(pin));
        }
        if verdict.examined.is_empty() {
            say("found", "no signature");
        }
        for examined in &verdict.examined {
            let built = built_by(verdict, examined);
            say("found", &found(examined, &examined.outcome, built.as_deref()));
            if let Some(built) = built {
                say("built by", &built);
            }
        }
        if self.rule.threshold > 1
            && let Some(still) = &verdict.still_to_sign
        {
            let parties: Vec<String> = still.parties.iter().map(|names| names.join(" or ")).collect();
            say("missing", &format!("{} more of {}", still.count, parties.join(", ")));
        }
        if let Some(covered) = self.coverage(verdict) {
            say("covered", &covered);
        }
        for remark in &verdict.remarks {
            let level = match remark.level {
                Level::Note => "note",
                Level::Warning => "warning",
            };
            say(level, &remark.text);
        }
        if let Some(path) = self.accepted {
            say("accepted", &format!("remembered in {}", shown(path)));
        }
        say("result", &self.result(verdict));
        page
    }

    fn rule_text(&self) -> String {
        let rule = self.rule;
        let file = || self.file.map_or_else(|| "trust.toml".to_owned(), |file| shown(file).to_string());
        let origin = match &rule.origin {
            RuleOrigin::Default if self.file.is_some() => format!("none of {}, so the default", file()),
            RuleOrigin::Default => "the default, as there is no trust.toml".to_owned(),
            RuleOrigin::File { line, .. } => format!("{}:{line}", file()),
            RuleOrigin::CommandLine => "the keys of the command line".to_owned(),
        };
        let names: Vec<&str> = rule.keys.iter().map(|key| key.name.as_str()).collect();
        let keys = match names.as_slice() {
            [] => "no keys but those that are pinned".to_owned(),
            names if rule.threshold == 1 => format!("one of {}", names.join(", ")),
            names => format!("{} of {}", rule.threshold, names.join(", ")),
        };
        let (Unsigned::Said(action) | Unsigned::ByDefault(action)) = rule.unsigned;
        let action = format!("{action:?}").to_lowercase();
        format!("{origin}: {keys}; unsigned = {action}; must say {}", rule.says())
    }

    /// The platforms whose packages the signatures cover; `None` if they cover all or none.
    fn coverage(&self, verdict: &Verdict) -> Option<String> {
        if verdict.covered.index || verdict.covered.zips.is_empty() {
            return None;
        }
        let list = |wanted: bool| {
            let of = self.covered(verdict).into_iter().filter(|(_, covered)| *covered == wanted);
            of.map(|(platform, _)| platform.to_string()).collect::<Vec<_>>().join(" ")
        };
        match (list(true), list(false)) {
            (signed, none) if none.is_empty() => Some(format!("the archives of {signed}, {}", covering(verdict))),
            (signed, not) => Some(format!("the archives of {signed}, {}; not those of {not}", covering(verdict))),
        }
    }

    fn result(&self, verdict: &Verdict) -> String {
        let text = result(verdict);
        if verdict.refusal.is_some() || verdict.standing == Standing::Unsigned {
            return text;
        }
        match self.found.uncovered_platforms(verdict).map(ToString::to_string).collect::<Vec<_>>().as_slice() {
            [] => text,
            uncovered => format!("{text}; not for {}", uncovered.join(" ")),
        }
    }
}

/// What vouches for archives one by one.
fn covering(verdict: &Verdict) -> String {
    if verdict.standing == Standing::Pinned {
        return "as pinned".to_owned();
    }
    let by = verdict.signers.iter().flat_map(|signer| {
        signer.forms.iter().map(|form| match form {
            SignatureForm::Sums => "SHA256SUMS".to_owned(),
            _ => format!("the statement of {}", signer.name),
        })
    });
    format!("by {}", by.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" and "))
}

/// A signature and what became of it. What a line beside it says of who built it, it does not repeat.
pub(in crate::verbs) fn found(examined: &Examined, outcome: &dyn std::fmt::Display, built: Option<&str>) -> String {
    let form = match examined.form {
        Some(SignatureForm::Bundle) => "bundle",
        Some(SignatureForm::CosignTag) => "cosign-tag",
        Some(SignatureForm::Sums) => "sha256sums",
        Some(SignatureForm::Notice) => "notice",
        Some(SignatureForm::File) => "file",
        None => "something that",
    };
    let by = match (&examined.key_name, &examined.key, &examined.claimed_key) {
        (Some(name), Some(key), _) => format!(" by {name} ({key})"),
        (None, Some(key), _) => format!(" by {key}"),
        (_, None, Some(claimed)) => format!(" by {claimed} (as it says)"),
        _ => String::new(),
    };
    let mut text = format!("{form}{by} {outcome}");
    let named: Vec<&str> = [&examined.address, &examined.version].into_iter().flatten().map(String::as_str).collect();
    if !named.is_empty() {
        text.push_str(&format!("; it names {}", named.join(" ")));
    }
    if let Some(note) = &examined.note {
        text.push_str(&format!("; it notes {note:?}"));
    }
    if let Some(says) = &examined.predicate_type {
        text.push_str(&format!("; it says {says}"));
    }
    if let Some(identity) = examined.identity.as_deref().filter(|_| built.is_none()) {
        if examined.key.is_some() {
            text.push_str(&format!("; its certificate is for {identity}"));
        }
        let claims = [("ref", &identity.reference), ("commit", &identity.commit), ("run", &identity.run)];
        let claims = claims.into_iter().filter_map(|(name, claim)| Some(format!("{name} {}", claim.as_ref()?)));
        text.extend(claims.map(|claim| format!("; {claim}")));
    }
    if !examined.zips.is_empty() {
        text.push_str(&format!("; it lists {} of this release's archives", examined.zips.len()));
    }
    text.push_str(&format!("; in {}", examined.origin));
    text
}

/// What was built where, by a signature that counts; `None` if the release is refused.
pub(in crate::verbs) fn built_by(verdict: &Verdict, examined: &Examined) -> Option<String> {
    built(verdict.builder(examined)?)
}

fn result(verdict: &Verdict) -> String {
    if let Some(refusal) = &verdict.refusal {
        return format!("refused ({}): {refusal}", refusal.code());
    }
    let names: Vec<&str> = verdict.signers.iter().map(|signer| signer.name.as_str()).collect();
    match verdict.standing {
        Standing::Signed => format!("signed by {}", names.join(", ")),
        Standing::Pinned => "trusted as before: this very index was signed when it was pinned".to_owned(),
        Standing::Unsigned => {
            let found = verdict.best_flaw().map_or_else(|| "not signed".to_owned(), |flaw| flaw.to_string());
            format!("{found}; the policy demands no signature")
        }
    }
}

/// What a pin says beside what is offered.
fn pin_text(pin: &Pin) -> String {
    let names: Vec<&str> = pin.signers.iter().map(|signer| signer.name.as_str()).collect();
    match names.as_slice() {
        [] => format!("{}, unsigned", pin.index),
        names => format!("{}, signed by {}", pin.index, names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tofu_oci_fetch::{ReleaseWithEvidence, RenamedReleases, Trust};
    use tofu_oci_source::ReleaseDescription;
    use tofu_oci_trust::{Archives, Evidence, Pins, VersionOf};
    use tofu_oci_types::{Identity, Place};

    use super::*;

    #[test]
    fn what_a_stranger_has_written_moves_no_cursor() {
        let digest = Digest::sha256(b"index");
        let problem = "gone\x1b[2J\n  result    signed by acme\u{202e}".to_owned();
        let evidence = vec![Evidence::Unreadable { origin: digest, problem }];
        let place: Place = "ghcr.io/acme/widget".parse().expect("a place");
        let mut found = ReleaseWithEvidence {
            of: VersionOf::from(&"example.com/acme/widget".parse().expect("an address")),
            wanted: Some("1.4.0".parse().expect("a version")),
            claimed: None,
            said: None,
            pinned_as: place.clone(),
            place,
            identity: Identity::of_index(b"index"),
            about: ReleaseDescription { tag: Some("1.4.0".parse().expect("a tag")), ..ReleaseDescription::default() },
            archives: Archives::Unknown,
            evidence,
        };
        let trust = Trust {
            policy: Arc::default(),
            pins: Pins::default(),
            pins_path: "pins".into(),
            now: std::time::UNIX_EPOCH,
            renamed: RenamedReleases::Refuse,
        };
        let verdict = found.judge(&trust);
        let report = VerifyReport { found: &found, rule: found.rule(&trust), file: None, pin: None, accepted: None };
        insta::assert_snapshot!(report.page(&verdict), @r"
        example.com/acme/widget 1.4.0
          place     ghcr.io/acme/widget:1.4.0
          index     sha256:1bc04b5291c26a46d918139138b992d2de976d6851d0893b0476b85bfbdfc6e6
          rule      the default, as there is no trust.toml: no keys but those that are pinned; unsigned =
                    allow; must say https://sigstore.dev/cosign/sign/v1
          found     something that cannot be read: gone\u{1b}[2J\n  result    signed by acme\u{202e}; in
                    sha256:1bc04b5291c26a46d918139138b992d2de976d6851d0893b0476b85bfbdfc6e6
          result    what may be its signature cannot be read: gone\u{1b}[2J\n  result    signed by
                    acme\u{202e}; the policy demands no signature
        ");
    }
}
