//! All rules together.

use tofu_oci_types::ProviderAddr;

use crate::{MagicSuffix, MapError, Place, RepositoryTemplate};

/// The user's rules in their order of precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// The hostname suffix that needs no configuration. Counts only where `mirrors` is empty.
    pub magic_suffix: MagicSuffix,
    /// Templates that the user gave, looked in one after the other.
    pub mirrors: Vec<RepositoryTemplate>,
}

impl RuleSet {
    /// The places to look for `address` in, the first one first; never empty.
    ///
    /// # Errors
    /// When no rule speaks about the address, or one of them makes something else than a repository of it: that rule
    /// is not passed over, because a provider must not come from elsewhere than the user said.
    pub fn places(&self, address: &ProviderAddr) -> Result<Vec<Place>, MapError> {
        if !self.mirrors.is_empty() {
            return self.mirrors.iter().map(|template| Ok(Place::Oci(template.place(address)?))).collect();
        }
        match self.magic_suffix.place(address)? {
            Some(place) => Ok(vec![Place::Oci(place)]),
            None => Err(MapError::NoRule {
                address: Box::new(address.clone()),
                suffix: self.magic_suffix.as_str().to_owned(),
            }),
        }
    }

    /// Refuses rules that send two of `addresses` to one place, as a template without `${type}` does.
    ///
    /// # Errors
    /// The first two addresses that fall onto one place, or what [`RuleSet::places`] says of one of them.
    pub fn tell_apart(&self, addresses: &[ProviderAddr]) -> Result<(), MapError> {
        let mut seen: Vec<(Place, &ProviderAddr)> = Vec::new();
        for address in addresses {
            for place in self.places(address)? {
                match seen.iter().find(|(other, first)| other.repository() == place.repository() && *first != address) {
                    Some((_, first)) => {
                        return Err(MapError::SamePlace {
                            first: Box::new((*first).clone()),
                            second: Box::new(address.clone()),
                            place: place.to_string(),
                        });
                    }
                    None => seen.push((place, address)),
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn rules(templates: &[&str]) -> RuleSet {
        let mirrors = templates.iter().map(|text| text.parse().expect("a template")).collect();
        RuleSet { mirrors, ..RuleSet::default() }
    }

    fn address(text: &str) -> ProviderAddr {
        text.parse().expect("an address")
    }

    fn places(templates: &[&str], addr: &str) -> String {
        match rules(templates).places(&address(addr)) {
            Ok(places) => {
                let lines: Vec<String> = places
                    .iter()
                    .map(|place| {
                        let Place::Oci(oci) = place else { panic!("{place}") };
                        format!("{place} by {}", oci.rule)
                    })
                    .collect();
                lines.join("\n")
            }
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn templates_of_the_user_replace_the_magic_suffix() {
        let magic = "example.com.oci.opentofu.org/foo/bar";
        assert_snapshot!(places(&[], magic), @"oci example.com/foo/opentofu-provider-bar by the hostname suffix .oci.opentofu.org");
        assert_snapshot!(places(&["ghcr.io/${namespace}/${type}"], magic), @"oci ghcr.io/foo/bar by the repository template `ghcr.io/${namespace}/${type}`");
        assert_snapshot!(places(&["a.example/${type}", "b.example/${type}"], "foo/bar"), @"
        oci a.example/bar by the repository template `a.example/${type}`
        oci b.example/bar by the repository template `b.example/${type}`
        ");
    }

    #[test]
    fn an_address_that_no_rule_knows_is_an_error() {
        assert_snapshot!(places(&[], "foo/bar"), @"error: no rule says where registry.opentofu.org/foo/bar is: its hostname does not end in .oci.opentofu.org, and no repository was given");
        assert_snapshot!(places(&["ghcr.io/${type}"], "foo/ほげ"), @"error: requested provider address registry.opentofu.org/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/ほげ");
    }

    #[test]
    fn two_providers_never_share_a_place() {
        let addresses = ["a/x", "b/x", "a/x"].map(address);
        assert!(rules(&["ghcr.io/${namespace}/${type}"]).tell_apart(&addresses).is_ok());
        let error = rules(&["ghcr.io/mirror/${type}"]).tell_apart(&addresses).expect_err("must be refused");
        assert_snapshot!(error, @"registry.opentofu.org/a/x and registry.opentofu.org/b/x would both come from oci ghcr.io/mirror/x");
    }

    #[test]
    fn a_place_explains_itself_as_json() {
        let places = rules(&[]).places(&address("ghcr.io.oci.opentofu.org/foo/bar")).expect("a place");
        assert_snapshot!(serde_json::to_string(&places).expect("it is plain data"), @r#"[{"kind":"oci","repository":"ghcr.io/foo/opentofu-provider-bar","rule":{"kind":"magic_suffix","suffix":"oci.opentofu.org"}}]"#);
    }
}
