//! Rules about repositories of modules.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &MODULE_SOURCE,
    &MODULE_ARCHIVE_NAME,
    &MODULE_TAG,
    &MODULE_MANIFEST_TYPE,
    &MODULE_MANIFEST,
    &MODULE_ARTIFACT_TYPE,
    &MODULE_LAYERS,
    &MODULE_BLOB,
    &MODULE_ZIP,
    &MODULE_FOLDER,
    &MODULE_CALL,
    &MODULE_CONFIGURATION,
    &MODULE_UNREADABLE,
    &MODULE_REFUSED,
    &MODULE_ARGUMENT_DROPPED,
    &MODULE_REPOSITORY,
    &MODULE_LINK,
    &MODULE_WINDOWS_NAME,
    &MODULE_ABSOLUTE_ENTRY,
    &MODULE_DUPLICATE_ENTRY,
    &MODULE_EMPTY,
    &MODULE_LATEST,
    &MODULE_CALLS_ELSEWHERE,
    &MODULES_NOT_READ,
];

/// Those that read the bytes of packages.
pub(super) static READ: &[&CheckRule] = &[
    &MODULE_ZIP,
    &MODULE_FOLDER,
    &MODULE_CALL,
    &MODULE_CONFIGURATION,
    &MODULE_LINK,
    &MODULE_WINDOWS_NAME,
    &MODULE_ABSOLUTE_ENTRY,
    &MODULE_DUPLICATE_ENTRY,
    &MODULE_EMPTY,
    &MODULE_CALLS_ELSEWHERE,
];

pub(crate) static MODULE_SOURCE: CheckRule = CheckRule {
    id: "module-source",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a source that OpenTofu refuses before it asks a registry",
    why: "OpenTofu reads folder, arguments and repository of a source first, and stops at the first that is wrong.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go",
    fix: "write oci://HOST/REPOSITORY[//FOLDER][?tag=TAG], or ?digest=DIGEST",
};

pub(crate) static MODULE_ARCHIVE_NAME: CheckRule = CheckRule {
    id: "module-archive-name",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a repository whose name reads as that of an archive",
    why: "OpenTofu takes `.zip`, `.tgz`, `.tar.gz` and the like at the end for a file to unpack, and refuses; only `archive=false` in each source helps.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go, `GetFile`",
    fix: "publish the module in a repository of another name",
};

pub(crate) static MODULE_TAG: CheckRule = CheckRule {
    id: "module-missing",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a tag or digest that the repository does not have",
    why: "OpenTofu asks for exactly this one; without an argument for the tag `latest`.",
    spec: "OCI distribution-spec 1.1.1, Pulling manifests",
    fix: "name a tag that is there, or publish this one if it was not withdrawn",
};

pub(crate) static MODULE_MANIFEST_TYPE: CheckRule = CheckRule {
    id: "module-manifest-type",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module's tag that names an index or anything else than an OCI image manifest",
    why: "A module is one manifest; OpenTofu looks into no index.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go, `resolveManifestDescriptor`",
    fix: "push the module's manifest itself under the tag",
};

pub(crate) static MODULE_MANIFEST: CheckRule = CheckRule {
    id: "module-manifest",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a manifest of a module that OpenTofu cannot read, or in a way that is not predicted",
    why: "Size, digest, JSON and the manifest's own `mediaType` are checked before anything else in it.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go, `fetchOCIImageManifest`",
    fix: "push the module again",
};

pub(crate) static MODULE_ARTIFACT_TYPE: CheckRule = CheckRule {
    id: "module-artifact-type",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a manifest that does not say that it is a module",
    why: "OpenTofu demands artifactType application/vnd.opentofu.modulepkg in the manifest itself; a config's type does not count.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go, `fetchOCIImageManifest`",
    fix: "push it with that artifact type; `oras push --artifact-type` sets it",
};

pub(crate) static MODULE_LAYERS: CheckRule = CheckRule {
    id: "module-layers",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module without exactly one layer of type archive/zip",
    why: "OpenTofu unpacks this layer alone, and cannot choose between two.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go, `selectOCILayerBlob`",
    fix: "push one zip as a layer of type archive/zip, without parameters",
};

pub(crate) static MODULE_BLOB: CheckRule = CheckRule {
    id: "module-blob",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module's package that is missing, or has other bytes than its descriptor says",
    why: "Size and digest are checked before anything is unpacked.",
    spec: "OCI image-spec 1.1.1, descriptor.md",
    fix: "push the module again",
};

pub(crate) static MODULE_ZIP: CheckRule = CheckRule {
    id: "module-zip",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module's package that OpenTofu cannot unpack",
    why: "It is not a zip, has no entries, is damaged or encrypted, or a name in it leads out of it. The files before such an entry stay on disk.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go",
    fix: "pack it again, without `..` in names, and push it",
};

pub(crate) static MODULE_FOLDER: CheckRule = CheckRule {
    id: "module-folder",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a folder after // that is not one folder of the package",
    why: "OpenTofu unpacks the package and then looks for the folder; wildcards must match exactly one.",
    spec: "OpenTofu 1.12, internal/getmodules/subdir.go",
    fix: "name a folder of the package after the //",
};

pub(crate) static MODULE_CALL: CheckRule = CheckRule {
    id: "module-call",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a call of a folder that is not in the package",
    why: "A path that begins with ./ or ../ must stay in the package of the module that calls it, and lead to a folder there.",
    spec: "OpenTofu 1.12, internal/initwd/module_install.go",
    fix: "put the called module into the package, or call it by its own source",
};

pub(crate) static MODULE_CONFIGURATION: CheckRule = CheckRule {
    id: "module-configuration",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module whose configuration is not valid",
    why: "OpenTofu reads every module that it installs, and stops at the first error.",
    spec: "OpenTofu 1.12, internal/configs",
    fix: "`tofu init` in the module's folder shows the error",
};

pub(crate) static MODULE_UNREADABLE: CheckRule = CheckRule {
    id: "module-unreadable",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module of which not everything could be read",
    why: "It may install or not: what was not read was not judged.",
    spec: "`tofu-oci help checking`",
    fix: "look at the other findings, or check it on a machine with more room",
};

pub(crate) static MODULE_REFUSED: CheckRule = CheckRule {
    id: "module-refused",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a module that OpenTofu refuses for a reason that no other rule has found",
    why: "The prediction walks through the same steps as OpenTofu does, and one of them fails.",
    spec: "OpenTofu 1.12, internal/getmodules",
    fix: "`tofu-oci help error CODE` explains the code in the finding",
};

pub(crate) static MODULE_ARGUMENT_DROPPED: CheckRule = CheckRule {
    id: "module-argument-dropped",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "an argument of a source that OpenTofu drops without a word",
    why: "Go does not decode an argument with `;` or a wrong `%`: OpenTofu then installs what the other arguments say, or the tag `latest`.",
    spec: "Go 1.24, net/url, parseQuery",
    fix: "write the argument without `;`, and a `%` only before two hexadecimal digits",
};

pub(crate) static MODULE_REPOSITORY: CheckRule = CheckRule {
    id: "module-embedded-repository",
    group: Group::Modules,
    level: FindingLevel::Error,
    finds: "a repository of version control in a module's package: `.git`, `.hg`, `.svn` and the like, or a bare one of git",
    why: "OpenTofu unpacks it, and a prompt or an editor that asks git about the folder runs the commands of its settings (`core.fsmonitor`); `module pull` and `serve` refuse it.",
    spec: "git-config(1), `core.fsmonitor` and `safe.bareRepository`; OpenTofu 1.12 (measured)",
    fix: "publish the module anew without it, and withdraw this version",
};

pub(crate) static MODULE_LINK: CheckRule = CheckRule {
    id: "module-link",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "a symbolic link in a module's package",
    why: "OpenTofu writes a regular file with the link's target as its text.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go (measured)",
    fix: "pack the file itself",
};

pub(crate) static MODULE_WINDOWS_NAME: CheckRule = CheckRule {
    id: "module-windows-name",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "a name in a module's package that Windows cannot hold",
    why: "OpenTofu and tofu-oci install the module on Linux and macOS; on Windows tofu-oci refuses it, and OpenTofu writes another name or fails.",
    spec: "Microsoft, Naming Files, Paths, and Namespaces; OpenTofu 1.12 on Linux (measured)",
    fix: "publish the module anew with the file renamed or left out",
};

pub(crate) static MODULE_ABSOLUTE_ENTRY: CheckRule = CheckRule {
    id: "module-absolute-entry",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "an entry of a module's package with an absolute name",
    why: "OpenTofu unpacks it inside of the package; other programs refuse it, or write elsewhere.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go (measured); CWE-22",
    fix: "pack it again with names relative to the module",
};

pub(crate) static MODULE_DUPLICATE_ENTRY: CheckRule = CheckRule {
    id: "module-duplicate-entry",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "a name that a module's package has twice",
    why: "OpenTofu keeps the last one; other programs keep the first, or refuse.",
    spec: "APPNOTE.TXT 6.3.10; OpenTofu 1.12 (measured)",
    fix: "pack it again with each name once",
};

pub(crate) static MODULE_EMPTY: CheckRule = CheckRule {
    id: "module-empty",
    group: Group::Modules,
    level: FindingLevel::Warning,
    finds: "a module without a configuration file",
    why: "OpenTofu installs it silently as an empty module: all files may lie in a folder of the package.",
    spec: "OpenTofu 1.12 (measured)",
    fix: "pack the module's files into the root of the zip, or name their folder after // in the source",
};

pub(crate) static MODULE_LATEST: CheckRule = CheckRule {
    id: "module-no-latest",
    group: Group::Modules,
    level: FindingLevel::Note,
    finds: "a repository of modules without the tag `latest`",
    why: "A source that names neither tag nor digest means `latest`, and fails here. Sources that name one are safer anyway.",
    spec: "OpenTofu 1.12, internal/getmodules/oci_getter.go",
    fix: "nothing: name ?tag= or ?digest= in sources",
};

pub(crate) static MODULE_CALLS_ELSEWHERE: CheckRule = CheckRule {
    id: "module-calls-elsewhere",
    group: Group::Modules,
    level: FindingLevel::Note,
    finds: "a module that calls modules of other places",
    why: "Installing it needs those places too; they were not looked at.",
    spec: "OpenTofu 1.12, internal/initwd",
    fix: "nothing; check those modules as well",
};

pub(crate) static MODULES_NOT_READ: CheckRule = CheckRule {
    id: "modules-not-read",
    group: Group::Modules,
    level: FindingLevel::Note,
    finds: "modules whose packages were not read",
    why: "Whether blobs are there was asked, and the names in their directories were read; what the files hold was not.",
    spec: "`tofu-oci help checking`",
    fix: "add --deep",
};
