//! Rules about the bytes of packages.

use crate::model::{CheckRule, FindingLevel, Group};

pub(super) static ALL: &[&CheckRule] = &[
    &BLOB_MISSING,
    &BLOB_SIZE,
    &BLOB_DIGEST,
    &NOT_A_ZIP,
    &ZIP_STRUCTURE,
    &ZIP_EMPTY,
    &UNSAFE_ENTRY,
    &SYMLINK,
    &NO_EXECUTABLE,
    &SEVERAL_EXECUTABLES,
    &EXECUTABLE_MODE,
    &EXECUTABLE_PLATFORM,
    &EXECUTABLE_VERSION,
    &EXECUTABLE_NO_VERSION,
    &DIRECTORY_ENTRIES,
    &DUPLICATE_NAME,
    &CASE_COLLISION,
    &LAYER_ARCHIVE,
    &PACKAGES_DIFFER,
    &SMALL_LAYER_UNREADABLE,
    &SMALL_LAYER_DIFFERS,
    &NOT_READ,
];

/// Those that read the bytes.
pub(super) static READ: &[&CheckRule] = &[
    &NOT_A_ZIP,
    &ZIP_STRUCTURE,
    &ZIP_EMPTY,
    &UNSAFE_ENTRY,
    &SYMLINK,
    &NO_EXECUTABLE,
    &SEVERAL_EXECUTABLES,
    &EXECUTABLE_MODE,
    &EXECUTABLE_PLATFORM,
    &EXECUTABLE_VERSION,
    &EXECUTABLE_NO_VERSION,
    &DIRECTORY_ENTRIES,
    &DUPLICATE_NAME,
    &CASE_COLLISION,
    &LAYER_ARCHIVE,
    &PACKAGES_DIFFER,
    &SMALL_LAYER_UNREADABLE,
    &SMALL_LAYER_DIFFERS,
];

pub(crate) static BLOB_MISSING: CheckRule = CheckRule {
    id: "blob-missing",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a blob that the repository does not have",
    why: "Copies of the release fail. Without its package the platform is offered and cannot be installed; without the small \
           layer beside it tofu-oci takes the zip.",
    spec: "OCI distribution-spec 1.1.1, Pulling blobs",
    fix: "push the release again",
};

pub(crate) static BLOB_SIZE: CheckRule = CheckRule {
    id: "blob-size",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a blob whose size is not that of its descriptor",
    why: "Every client stops: size and digest are checked before anything is unpacked.",
    spec: "OCI image-spec 1.1.1, descriptor.md, `size`",
    fix: "push the release again",
};

pub(crate) static BLOB_DIGEST: CheckRule = CheckRule {
    id: "blob-digest",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a blob whose bytes do not have the digest that names it",
    why: "Every client refuses it: it was damaged, or exchanged.",
    spec: "OCI image-spec 1.1.1, descriptor.md, Digests",
    fix: "push the release again",
};

pub(crate) static NOT_A_ZIP: CheckRule = CheckRule {
    id: "not-a-zip",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a package that is not a zip archive",
    why: "It cannot be unpacked.",
    spec: "OpenTofu 1.12, internal/getproviders/package_location_local_archive.go",
    fix: "push the release's zip itself",
};

pub(crate) static ZIP_STRUCTURE: CheckRule = CheckRule {
    id: "zip-structure",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a zip that tofu-oci refuses although others may unpack it",
    why: "What different programs unpack from it may differ: damaged structure, overlapping entries, names twice, \
           unsafe names.",
    spec: "PKWARE APPNOTE 6.3; `tofu-oci help differences`",
    fix: "pack it again with an ordinary zip program, or let `tofu-oci push` pack a folder of OS_ARCH folders",
};

pub(crate) static ZIP_EMPTY: CheckRule = CheckRule {
    id: "zip-empty",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a zip without entries",
    why: "OpenTofu refuses an empty archive.",
    spec: "OpenTofu 1.12, internal/getproviders/package_location_local_archive.go",
    fix: "push the right zip",
};

pub(crate) static UNSAFE_ENTRY: CheckRule = CheckRule {
    id: "unsafe-entry",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "an entry of a package that leads out of it",
    why: "It would write outside the package's folder; every client refuses the package.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go; CWE-22",
    fix: "pack it again without `..` in names",
};

pub(crate) static SYMLINK: CheckRule = CheckRule {
    id: "symlink-entry",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a symbolic link in a package",
    why: "OpenTofu writes the link's text into a plain file, tofu-oci refuses the package; neither makes a link.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go",
    fix: "put the file itself in its place",
};

pub(crate) static NO_EXECUTABLE: CheckRule = CheckRule {
    id: "no-executable",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a package without the provider's executable in its root",
    why: "OpenTofu looks for a file named terraform-provider-TYPE, perhaps followed by `_` or `.`, in the root \
           alone, and finds none.",
    spec: "OpenTofu 1.12, internal/providercache/cached_provider.go, ExecutableFile",
    fix: "name the executable terraform-provider-TYPE_vVERSION and put it in the root",
};

pub(crate) static SEVERAL_EXECUTABLES: CheckRule = CheckRule {
    id: "several-executables",
    group: Group::Package,
    level: FindingLevel::Warning,
    finds: "a package with more than one file that could be the provider's executable",
    why: "OpenTofu runs the first in the order of names, which may not be the one that was meant.",
    spec: "OpenTofu 1.12, internal/providercache/cached_provider.go, ExecutableFile",
    fix: "leave one",
};

pub(crate) static EXECUTABLE_MODE: CheckRule = CheckRule {
    id: "executable-mode",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "an executable without permission to run",
    why: "OpenTofu unpacks it with the mode that the archive gives; it installs, and every plan fails with \
           `permission denied`.",
    spec: "OpenTofu 1.12, go-getter decompress_zip.go",
    fix: "pack it on Unix with mode 0755",
};

pub(crate) static EXECUTABLE_PLATFORM: CheckRule = CheckRule {
    id: "executable-other-platform",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "an executable for another platform than its entry in the index, by its header",
    why: "OpenTofu installs the package, and then cannot start the provider: \"exec format error\".",
    spec: "System V ABI, ELF header; Apple, mach-o/loader.h and mach-o/fat.h; Microsoft, PE Format",
    fix: "build the package for its platform and push it as a new version",
};

pub(crate) static EXECUTABLE_VERSION: CheckRule = CheckRule {
    id: "executable-other-version",
    group: Group::Package,
    level: FindingLevel::Warning,
    finds: "an executable whose name has another version than the release",
    why: "OpenTofu does not look at it; most often the wrong build was packed.",
    spec: "OpenTofu 1.12, internal/providercache/cached_provider.go",
    fix: "pack the build of this version",
};

pub(crate) static EXECUTABLE_NO_VERSION: CheckRule = CheckRule {
    id: "executable-without-version",
    group: Group::Package,
    level: FindingLevel::Note,
    finds: "an executable without the version in its name",
    why: "It is allowed, and unusual.",
    spec: "OpenTofu 1.12, internal/providercache/cached_provider.go",
    fix: "name it terraform-provider-TYPE_vVERSION",
};

pub(crate) static DIRECTORY_ENTRIES: CheckRule = CheckRule {
    id: "directory-entries",
    group: Group::Package,
    level: FindingLevel::Warning,
    finds: "a zip with entries for directories, or with names such as `./a`, `a//b` or `a/./b`",
    why: "The `h1:` of such a zip differs from the `h1:` of the folder that it unpacks to, so a lock file made \
           from one does not accept the other.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go, PackageHashV1",
    fix: "pack with `zip -D` and names without empty and `.` parts, or let `tofu-oci push` pack a folder of OS_ARCH folders",
};

pub(crate) static DUPLICATE_NAME: CheckRule = CheckRule {
    id: "duplicate-entry",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "a package in which a name occurs twice",
    why: "Which content wins differs between programs; tofu-oci refuses it, and the `h1:` of the zip is not that \
           of the folder.",
    spec: "OpenTofu 1.12, internal/getproviders/hash.go, PackageHashV1",
    fix: "pack each file once",
};

pub(crate) static CASE_COLLISION: CheckRule = CheckRule {
    id: "case-collision",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "names in a package that differ only by case",
    why: "On Windows and macOS one overwrites the other; tofu-oci refuses the package.",
    spec: "`tofu-oci help layouts`",
    fix: "rename one of them",
};

pub(crate) static LAYER_ARCHIVE: CheckRule = CheckRule {
    id: "image-layer",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "an image layer that cannot be read",
    why: "The union of the layers is the package; with a damaged layer there is none.",
    spec: "OCI image-spec 1.1.1, layer.md",
    fix: "build the image again",
};

pub(crate) static PACKAGES_DIFFER: CheckRule = CheckRule {
    id: "packages-differ",
    group: Group::Package,
    level: FindingLevel::Error,
    finds: "an image and a zip of one platform with different content",
    why: "Clients that take the image and clients that take the zip get two providers under one name, and one lock \
           file cannot accept both.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `--layout both`, which makes both from one package",
};

pub(crate) static SMALL_LAYER_UNREADABLE: CheckRule = CheckRule {
    id: "small-layer-unreadable",
    group: Group::Package,
    level: FindingLevel::Warning,
    finds: "a small layer that tofu-oci does not unpack",
    why: "tofu-oci fetches it in vain, warns and takes the zip; OpenTofu always takes the zip.",
    spec: "`tofu-oci help layouts`; OCI image-spec 1.1.1, layer.md",
    fix: "push the release again with `--small`",
};

pub(crate) static SMALL_LAYER_DIFFERS: CheckRule = CheckRule {
    id: "small-layer-differs",
    group: Group::Package,
    level: FindingLevel::Warning,
    finds: "a small layer with other content or other modes than the zip beside it",
    why: "Other files are not what the lock file names, so tofu-oci fetches the layer in vain, warns and takes the zip. Modes \
           are in no checksum: if only they differ, the package is installed with those of the layer. Whoever unpacks it \
           with other tools gets another provider.",
    spec: "`tofu-oci help layouts`",
    fix: "push the release again with `--small`, which makes the layer from the zip",
};

pub(crate) static NOT_READ: CheckRule = CheckRule {
    id: "packages-not-read",
    group: Group::Package,
    level: FindingLevel::Note,
    finds: "packages whose bytes were not read",
    why: "Whether blobs are there was asked; what is in them was not read.",
    spec: "`tofu-oci help checking`",
    fix: "add --deep",
};
