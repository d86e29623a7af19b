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
                match seen.iter().find(|(other, first)| *other.target() == *place.target() && *first != address) {
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
