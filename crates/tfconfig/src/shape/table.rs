//! What each kind of block may hold, as every release of `OpenTofu` from 1.10 on has it, taken together: what one of them
//! reads is no fault.

/// What a kind of block may hold.
pub(super) struct BlockShape {
    pub(super) labels: &'static [&'static str],
    /// What the labels must be.
    pub(super) names: LabelRule,
    /// The arguments that it knows, and what their values are.
    pub(super) arguments: &'static [(&'static str, ArgumentValue)],
    /// Those that a block must have, if it is not in an override file.
    pub(super) required: &'static [&'static str],
    /// Arguments whose names are kept for later.
    pub(super) reserved: &'static [&'static str],
    /// The blocks that it knows.
    pub(super) children: &'static [ChildBlock],
    pub(super) others: OtherItems,
}

/// A block inside of a block.
pub(super) struct ChildBlock {
    pub(super) kind: &'static str,
    pub(super) shape: &'static BlockShape,
    pub(super) occurs: BlockOccurs,
}

/// How often a block can stand in another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockOccurs {
    Often,
    Once,
    /// The name is kept for later, or the block is for others.
    Never,
    /// As often as one likes, and not in an override file.
    NotInOverride,
}

/// What a body may hold besides the known names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OtherItems {
    Refused,
    /// Arguments of any name, and no block.
    Arguments,
    /// A provider, a module or a later release says what may be there.
    Free,
}

/// What the labels of a block must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelRule {
    Free,
    Identifiers,
    /// Identifiers that mean nothing else in a `module` block.
    Variable,
}

/// What the value of an argument must be.
#[derive(Clone, Copy)]
pub(super) enum ArgumentValue {
    Any,
    /// A text that needs no evaluation.
    Text,
    /// `true` or `false`, without evaluation.
    Truth,
    Constant,
    Type,
    /// The name of a provider configuration.
    Alias,
    /// A list of references.
    References,
    List,
    /// A list, or the word `all`.
    ListOrAll,
    /// An expression that refers to something.
    Condition,
    /// A reference to a resource or module.
    Address,
    /// The same without keys of instances.
    WholeAddress,
    /// One of these words.
    Word(&'static [&'static str]),
}

use ArgumentValue::{
    Address, Alias, Any, Condition, Constant, List, ListOrAll, References, Text, Truth, Type, WholeAddress, Word,
};
use BlockOccurs::{Never, NotInOverride, Often, Once};

/// The names of arguments and blocks in a `module` block.
pub(super) const MODULE_NAMES: [&str; 10] =
    ["source", "version", "count", "for_each", "depends_on", "providers", "_", "lifecycle", "locals", "provider"];

const NOTHING: BlockShape = BlockShape {
    labels: &[],
    names: LabelRule::Free,
    arguments: &[],
    required: &[],
    reserved: &[],
    children: &[],
    others: OtherItems::Refused,
};

const fn child(kind: &'static str, shape: &'static BlockShape, occurs: BlockOccurs) -> ChildBlock {
    ChildBlock { kind, shape, occurs }
}

static FREE: BlockShape = BlockShape { others: OtherItems::Free, ..NOTHING };
static FREE_WITH_TYPE: BlockShape = BlockShape { labels: &["type"], others: OtherItems::Free, ..NOTHING };
static ARGUMENTS: BlockShape = BlockShape { others: OtherItems::Arguments, ..NOTHING };

/// A whole file.
pub(super) static FILE: BlockShape = BlockShape {
    children: &[
        child("terraform", &TERRAFORM, Often),
        // `reader` refuses it.
        child("required_providers", &FREE, Often),
        child("language", &LANGUAGE, Often),
        child("provider", &PROVIDER, Often),
        child("variable", &VARIABLE, Often),
        child("locals", &ARGUMENTS, Often),
        child("output", &OUTPUT, Often),
        child("module", &MODULE, Often),
        child("resource", &RESOURCE, Often),
        child("data", &DATA, Often),
        child("ephemeral", &EPHEMERAL, Often),
        // Terraform alone has it.
        child("action", &ACTION, Often),
        child("moved", &MOVED, NotInOverride),
        // `module` refuses it in an override file.
        child("import", &IMPORT, Often),
        child("removed", &REMOVED, Often),
        child("check", &CHECK, NotInOverride),
    ],
    ..NOTHING
};

static TERRAFORM: BlockShape = BlockShape {
    arguments: &[("required_version", Any), ("experiments", Any), ("language", Any)],
    children: &[
        child("backend", &FREE_WITH_TYPE, Often),
        child("cloud", &FREE, Often),
        child("required_providers", &ARGUMENTS, Often),
        child("provider_meta", &PROVIDER_META, Often),
        child("encryption", &FREE, Often),
    ],
    ..NOTHING
};

static LANGUAGE: BlockShape = BlockShape {
    arguments: &[("edition", Any), ("experiments", Any)],
    children: &[child("compatible_with", &FREE, Often)],
    ..NOTHING
};

static PROVIDER_META: BlockShape = BlockShape { labels: &["provider"], others: OtherItems::Arguments, ..NOTHING };

static PROVIDER: BlockShape = BlockShape {
    labels: &["name"],
    arguments: &[("alias", Alias), ("version", Any), ("for_each", Any)],
    reserved: &["count", "depends_on", "source"],
    children: &[child("_", &FREE, Once), child("lifecycle", &FREE, Never), child("locals", &FREE, Never)],
    others: OtherItems::Free,
    ..NOTHING
};

static VARIABLE: BlockShape = BlockShape {
    labels: &["name"],
    names: LabelRule::Variable,
    arguments: &[
        ("description", Text),
        ("type", Type),
        ("default", Constant),
        ("sensitive", Truth),
        ("ephemeral", Truth),
        ("nullable", Truth),
        ("const", Truth),
        ("deprecated", Text),
    ],
    children: &[child("validation", &RULE, NotInOverride)],
    ..NOTHING
};

static OUTPUT: BlockShape = BlockShape {
    labels: &["name"],
    names: LabelRule::Identifiers,
    arguments: &[
        ("description", Text),
        ("value", Any),
        ("depends_on", References),
        ("sensitive", Truth),
        ("ephemeral", Truth),
        ("deprecated", Text),
    ],
    required: &["value"],
    children: &[child("precondition", &RULE, NotInOverride), child("postcondition", &FREE, Never)],
    ..NOTHING
};

static MODULE: BlockShape = BlockShape {
    labels: &["name"],
    names: LabelRule::Identifiers,
    arguments: &[
        ("source", Any),
        ("version", Any),
        ("count", Any),
        ("for_each", Any),
        ("depends_on", References),
        ("providers", Any),
    ],
    required: &["source"],
    children: &[
        child("_", &FREE, Once),
        child("lifecycle", &ENABLED, Once),
        child("locals", &FREE, Never),
        child("provider", &FREE_WITH_TYPE, Never),
    ],
    others: OtherItems::Free,
    ..NOTHING
};

static ENABLED: BlockShape = BlockShape { arguments: &[("enabled", Any)], ..NOTHING };

const META: [(&str, ArgumentValue); 4] =
    [("count", Any), ("for_each", Any), ("provider", Any), ("depends_on", References)];

static RESOURCE: BlockShape = BlockShape {
    labels: &["type", "name"],
    names: LabelRule::Identifiers,
    arguments: &META,
    children: &[
        child("lifecycle", &RESOURCE_LIFECYCLE, Once),
        child("connection", &FREE, Once),
        child("provisioner", &PROVISIONER, Often),
        child("_", &FREE, Once),
        child("locals", &FREE, Never),
    ],
    others: OtherItems::Free,
    ..NOTHING
};

static RESOURCE_LIFECYCLE: BlockShape = BlockShape {
    arguments: &[
        ("create_before_destroy", Truth),
        ("prevent_destroy", Any),
        ("destroy", Any),
        ("ignore_changes", ListOrAll),
        ("replace_triggered_by", List),
        ("enabled", Any),
    ],
    children: &[
        child("precondition", &RULE, NotInOverride),
        child("postcondition", &RULE, NotInOverride),
        // Terraform alone has it.
        child("action_trigger", &FREE, Often),
    ],
    ..NOTHING
};

static DATA: BlockShape = BlockShape {
    labels: &["type", "name"],
    names: LabelRule::Identifiers,
    arguments: &META,
    children: &[child("lifecycle", &LIFECYCLE, Once), child("_", &FREE, Once), child("locals", &FREE, Never)],
    others: OtherItems::Free,
    ..NOTHING
};

/// Of what `OpenTofu` does not create.
static LIFECYCLE: BlockShape = BlockShape {
    arguments: &[("enabled", Any)],
    children: &[child("precondition", &RULE, NotInOverride), child("postcondition", &RULE, NotInOverride)],
    ..NOTHING
};

static EPHEMERAL: BlockShape = BlockShape {
    labels: &["type", "name"],
    names: LabelRule::Identifiers,
    arguments: &META,
    children: &[
        child("lifecycle", &LIFECYCLE, Once),
        // Terraform reads them.
        child("connection", &FREE, Often),
        child("provisioner", &FREE_WITH_TYPE, Often),
        child("_", &FREE, Once),
        child("locals", &FREE, Never),
    ],
    others: OtherItems::Free,
    ..NOTHING
};

static ACTION: BlockShape = BlockShape { labels: &["type", "name"], others: OtherItems::Free, ..NOTHING };

static PROVISIONER: BlockShape = BlockShape {
    labels: &["type"],
    arguments: &[("when", Word(&["create", "destroy"])), ("on_failure", Word(&["continue", "fail"]))],
    children: &[child("connection", &FREE, Once), child("_", &FREE, Once), child("lifecycle", &FREE, Never)],
    others: OtherItems::Free,
    ..NOTHING
};

/// A condition and what is said if it does not hold.
static RULE: BlockShape = BlockShape {
    arguments: &[("condition", Condition), ("error_message", Any)],
    required: &["condition", "error_message"],
    ..NOTHING
};

static CHECK: BlockShape = BlockShape {
    labels: &["name"],
    names: LabelRule::Identifiers,
    required: &["assert"],
    children: &[child("data", &CHECK_DATA, Once), child("assert", &RULE, Often)],
    ..NOTHING
};

static CHECK_DATA: BlockShape = BlockShape {
    labels: &["type", "name"],
    names: LabelRule::Identifiers,
    arguments: &[("provider", Any), ("depends_on", References)],
    reserved: &["count", "for_each"],
    children: &[child("lifecycle", &FREE, Never), child("_", &FREE, Once), child("locals", &FREE, Never)],
    others: OtherItems::Free,
    ..NOTHING
};

static MOVED: BlockShape =
    BlockShape { arguments: &[("from", Address), ("to", Address)], required: &["from", "to"], ..NOTHING };

static REMOVED: BlockShape = BlockShape {
    arguments: &[("from", WholeAddress)],
    required: &["from"],
    children: &[child("lifecycle", &REMOVED_LIFECYCLE, Once), child("provisioner", &PROVISIONER, Often)],
    ..NOTHING
};

static REMOVED_LIFECYCLE: BlockShape = BlockShape { arguments: &[("destroy", Truth)], ..NOTHING };

static IMPORT: BlockShape = BlockShape {
    arguments: &[("to", Address), ("id", Any), ("identity", Any), ("for_each", Any), ("provider", Any)],
    required: &["to"],
    ..NOTHING
};
