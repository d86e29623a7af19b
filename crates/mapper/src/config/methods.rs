//! The methods that count, and what each of them says of an address.

use tofu_oci_types::ProviderAddr;

use super::Method;
use crate::{MagicSuffix, MapError, Place, Selection};

/// The methods that `OpenTofu` would install by, in their order.
#[derive(Clone, Debug)]
pub struct Methods {
    /// Whether the file says so; otherwise they are those that count without any `provider_installation`.
    pub explicit: bool,
    /// The methods, without those that were dropped.
    pub list: Vec<Method>,
}

/// What a method says of an address.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The method.
    pub method: &'a Method,
    /// Whether its patterns match.
    pub selection: Selection,
    /// Where it would look; nothing where it is not selected.
    pub place: Option<Result<Place, MapError>>,
}

impl Methods {
    /// What every method says of `address`, in order; nothing at all for a provider that is part of `OpenTofu`.
    #[expect(clippy::unimplemented, reason = "the body comes with the next commit")]
    pub fn candidates(&self, _address: &ProviderAddr, _suffix: &MagicSuffix) -> Vec<Candidate<'_>> {
        unimplemented!()
    }
}
