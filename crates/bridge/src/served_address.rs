//! What clients ask for.

use std::fmt;

use tofu_oci_types::{Hostname, ModuleAddr, Predecessors, ProviderAddr};

/// A provider or a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ServedAddress {
    Provider(ProviderAddr),
    /// A module of a registry.
    Module(ModuleAddr),
}

impl ServedAddress {
    /// The host.
    pub(crate) fn hostname(&self) -> &Hostname {
        match self {
            Self::Provider(address) => address.hostname(),
            Self::Module(address) => address.hostname(),
        }
    }

    /// What it is called under each of the hosts that count as one with its own, first as it is.
    pub(crate) fn names(&self, predecessors: &Predecessors) -> Vec<Self> {
        match self {
            Self::Provider(address) => predecessors.names(address).into_iter().map(Self::Provider).collect(),
            Self::Module(address) => predecessors.module_names(address).into_iter().map(Self::Module).collect(),
        }
    }

    /// The setting of a client that has to name it.
    pub(crate) fn setting(&self) -> &'static str {
        match self {
            Self::Provider(_) => "providers",
            Self::Module(_) => "modules",
        }
    }
}

impl fmt::Display for ServedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(address) => address.fmt(f),
            Self::Module(address) => address.fmt(f),
        }
    }
}

impl From<ProviderAddr> for ServedAddress {
    fn from(address: ProviderAddr) -> Self {
        Self::Provider(address)
    }
}

impl From<&ProviderAddr> for ServedAddress {
    fn from(address: &ProviderAddr) -> Self {
        Self::Provider(address.clone())
    }
}

impl From<ModuleAddr> for ServedAddress {
    fn from(address: ModuleAddr) -> Self {
        Self::Module(address)
    }
}

impl From<&ModuleAddr> for ServedAddress {
    fn from(address: &ModuleAddr) -> Self {
        Self::Module(address.clone())
    }
}
