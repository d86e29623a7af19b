//! The tree in the words of `tofu providers` and `terraform providers`.

use std::collections::BTreeMap;

use tofu_oci_types::{Constraints, ProviderAddr, printable};

use crate::model::{ModuleNode, ProviderTree, StateLook};

impl ProviderTree {
    /// What `tofu providers` prints on standard output, with the lines below each module sorted: providers by
    /// address, then tests by path and modules by name. The program itself prints them in an order that changes from
    /// call to call.
    ///
    /// Spec: `OpenTofu` 1.12, `views.ProvidersHuman`.
    pub fn terraform_text(&self) -> String {
        let mut text = "\nProviders required by configuration:\n.\n".to_owned();
        branch(&self.root, "", &mut text);
        text.push('\n');
        if let StateLook::Read { providers, .. } = &self.state
            && !providers.is_empty()
        {
            text.push_str("Providers required by state:\n\n");
            for provider in providers {
                text.push_str(&format!("    provider[{}]\n\n", provider.address));
            }
        }
        text
    }
}

impl ModuleNode {
    /// What this module requires, each provider once, sorted by address.
    pub fn by_address(&self) -> BTreeMap<&ProviderAddr, Constraints> {
        let mut found: BTreeMap<&ProviderAddr, Constraints> = BTreeMap::new();
        for required in &self.requires {
            let constraints = found.entry(&required.address).or_default();
            *constraints = constraints.and(&required.constraints);
        }
        found
    }
}

fn branch(node: &ModuleNode, indent: &str, text: &mut String) {
    let providers = node.by_address();
    let mut left = providers.len() + node.children.len();
    let mut edge = |text: &mut String| {
        left -= 1;
        text.push_str(indent);
        text.push_str(if left == 0 { "└── " } else { "├── " });
        left == 0
    };
    for (address, constraints) in providers {
        edge(text);
        let blank = if constraints.is_any() { "" } else { " " };
        text.push_str(&format!("provider[{address}]{blank}{constraints}\n"));
    }
    for child in &node.children {
        let last = edge(text);
        let below = child.path.strip_prefix(&node.path).unwrap_or(&child.path).trim_start_matches('.');
        text.push_str(&format!("{}\n", printable(below)));
        branch(child, &format!("{indent}{}", if last { "    " } else { "│   " }), text);
    }
}
