use std::collections::BTreeMap;

use tofu_oci_layout::{ModuleManifest, annotation};
use tofu_oci_store::{DirStore, MemoryStore, ReadStore, Store, fetch_bytes};
use tofu_oci_trust::{Evidence, open_bundle};
use tofu_oci_types::{Digest, Place, Reference, Version};

use super::*;
use crate::testing::{EventLog, Folder, Push, Watching, key, tags};
use crate::{AttachmentState, Forms, PackError, PushReport, ReplaceTag, Signer, Signing, TagState};

fn version() -> Version {
    "1.4.0+b.1".parse().unwrap()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .file("main.tf", "module \"sub\" {\n  source = \"./sub\"\n}\n")
        .file("sub/main.tf", "")
        .file("README.md", "# x");
    folder
}

fn request<'a>(folder: &'a std::path::Path, version: &'a Version) -> ModulePushRequest<'a> {
    ModulePushRequest {
        dir: folder,
        version,
        annotations: BTreeMap::new(),
        replace: ReplaceTag::Refuse,
        checks: ModuleChecks::Run,
        files: PackedFiles::Chosen,
        signer: None,
        work_dir: std::env::temp_dir(),
    }
}

async fn push_folder(folder: &Folder, store: &dyn Store) -> Result<PushReport<ModuleParts>, PackError> {
    let (dir, version) = (folder.path(), version());
    push_module(&request(&dir, &version), store, &EventLog::default()).await
}

#[tokio::test]
async fn the_password_of_a_source_was_published() {
    let (folder, store, heard) = (folder(), Watching::new(), EventLog::default());
    let (dir, version) = (folder.path(), version());
    let mut request = request(&dir, &version);
    let login = "https://gitlab-ci-token:glpat-1@gitlab.example.com/a/b.git";
    request.annotations.insert(annotation::SOURCE.to_owned(), login.to_owned());
    request.annotations.insert("a".to_owned(), format!("see {login}"));
    request.annotations.insert("b".to_owned(), "Jane <jane@example.com>".to_owned());
    let report = push_module(&request, &store, &heard).await.unwrap();
    let (_, bytes) = store.manifest(&Reference::Tag(report.tag.clone())).await.unwrap();
    let manifest = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(!manifest.contains("glpat"), "{manifest}");
    let said = |key: &str| report.what.contents.annotations.get(key).map(String::as_str);
    assert_eq!(said(annotation::SOURCE), Some("https://gitlab.example.com/a/b.git"));
    assert_eq!(said("a"), Some("see https://gitlab.example.com/a/b.git"));
    assert_eq!(said("b"), Some("Jane <jane@example.com>"));
    assert_eq!(heard.codes(), ["annotation-login", "annotation-login"]);
}

/// What a push of the folder to an empty store says.
async fn refused(folder: &Folder) -> String {
    let error = push_folder(folder, &Watching::new()).await.unwrap_err();
    format!("{}: {}", error.code(), folder.told(&error))
}

#[tokio::test]
async fn a_module_is_published_under_one_tag_and_a_second_push_sends_nothing() {
    let (folder, store) = (folder(), Watching::new());
    let report = push_folder(&folder, &store).await.unwrap();
    assert!(!report.unchanged);
    assert_eq!((report.transfers.uploaded, report.transfers.present), (3, 0));
    assert_eq!(tags(&store).await.into_iter().collect::<Vec<_>>(), ["1.4.0_b.1"]);
    let (descriptor, bytes) = store.manifest(&Reference::Tag(report.tag.clone())).await.unwrap();
    let manifest = ModuleManifest::parse(&descriptor, &bytes).unwrap();
    assert_eq!(manifest.package().digest, report.what.contents.zip);
    let said = |key: &str| manifest.annotations().get(key).map(String::as_str);
    assert_eq!(said(annotation::MODULE_VERSION), Some("1.4.0+b.1"));
    assert_eq!(said(annotation::MODULE_README), Some(Digest::sha256(b"# x").as_str()));
    assert_eq!(said(annotation::MODULE_H1), Some(report.what.contents.h1.as_str()));
    let zip = fetch_bytes(&store, manifest.package(), 1 << 20).await.unwrap();
    assert_eq!(Digest::sha256(&zip), report.what.contents.zip);
    store.take();
    let again = push_folder(&folder, &store).await.unwrap();
    assert!(again.unchanged);
    assert_eq!((again.what.manifest, again.transfers.uploaded), (report.what.manifest, 0));
    assert_eq!(store.take(), Vec::<String>::new());
}

#[tokio::test]
async fn a_truncated_blob_of_a_module_in_a_layout_was_there_already_for_ever() {
    let (folder, layout) = (folder(), tempfile::tempdir().unwrap());
    let store = DirStore::create(layout.path()).unwrap();
    let first = push_folder(&folder, &store).await.unwrap();
    let blobs: Vec<_> = std::fs::read_dir(layout.path().join("blobs/sha256")).unwrap().map(Result::unwrap).collect();
    assert_eq!(blobs.len(), 3);
    for blob in blobs.iter().map(std::fs::DirEntry::path) {
        let bytes = std::fs::read(&blob).unwrap();
        std::fs::write(&blob, &bytes[..bytes.len() / 2]).unwrap();
        let again = push_folder(&folder, &store).await.unwrap();
        assert_eq!((again.unchanged, again.transfers.uploaded, &again.what.manifest), (false, 1, &first.what.manifest));
        assert_eq!(std::fs::read(&blob).unwrap(), bytes);
    }
    assert!(push_folder(&folder, &store).await.unwrap().unchanged);
}

#[tokio::test]
async fn two_pushes_of_different_modules_under_one_new_version_both_said_that_they_had_published_it() {
    let (other, store) = (folder(), Watching::new());
    other.file("main.tf", "variable \"other\" {}\n");
    let rival = push_folder(&other, &store).await.unwrap();
    let manifest = store.resolve(&Reference::Digest(rival.what.manifest)).await.unwrap();
    store.inner.untag(&rival.tag, &manifest.digest).await.unwrap();
    *store.meanwhile.lock().unwrap() = Some((manifest, rival.tag));
    let error = push_folder(&folder(), &store).await.expect_err("the other one came last");
    assert_eq!(error.code(), "tag-taken");
}

#[tokio::test]
async fn the_same_files_give_the_same_bytes_wherever_they_lie() {
    let (one, other) = (folder(), folder());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(other.path().join("main.tf"), mode).unwrap();
    }
    other.file(".git/config", "x").file("terraform.tfstate", "{}");
    let (here, there) = (Watching::new(), MemoryStore::new(Place::Layout("elsewhere".into())));
    let (one, other) = (push_folder(&one, &here).await.unwrap(), push_folder(&other, &there).await.unwrap());
    assert_eq!(one.what.manifest, other.what.manifest);
    let left_out: Vec<_> = other.what.contents.left_out.iter().map(|out| (out.name.as_str(), out.reason)).collect();
    assert_eq!(left_out, [(".git/", "version-control"), ("terraform.tfstate", "state")]);
}

#[tokio::test]
async fn a_package_of_another_publisher_keeps_all_its_files() {
    let (folder, store, version) = (folder(), Watching::new(), version());
    folder.file(".tofuignore", "sub/\n").file("terraform.tfvars", "a = 1\n");
    let dir = folder.path();
    let request = ModulePushRequest { files: PackedFiles::All, ..request(&dir, &version) };
    let report = push_module(&request, &store, &EventLog::default()).await.unwrap();
    assert_eq!((report.what.contents.files, report.what.contents.left_out), (5, Vec::new()));
}

#[tokio::test]
async fn a_push_that_breaks_off_leaves_no_tag_and_can_be_run_again() {
    let (folder, mut store) = (folder(), Watching::new());
    for at in 0..4 {
        store.take();
        store.fail_at = Some(at);
        push_folder(&folder, &store).await.unwrap_err();
        assert!(tags(&store).await.is_empty(), "{at}");
    }
    store.fail_at = None;
    store.take();
    let report = push_folder(&folder, &store).await.unwrap();
    assert_eq!((report.transfers.present, report.unchanged), (3, false));
    assert_eq!(tags(&store).await.len(), 1);
}

#[tokio::test]
async fn other_files_under_the_same_version_are_refused_and_nothing_is_sent() {
    let (folder, store) = (folder(), Watching::new());
    let before = push_folder(&folder, &store).await.unwrap();
    folder.file("new.tf", "");
    store.take();
    let error = push_folder(&folder, &store).await.unwrap_err();
    assert_eq!(error.code(), "tag-taken");
    assert!(error.to_string().ends_with("it points at a module with other files"), "{error}");
    assert_eq!(store.take(), Vec::<String>::new());
    let (dir, version) = (folder.path(), version());
    let mut request = request(&dir, &version);
    request.replace = ReplaceTag::Replace;
    let report = push_module(&request, &store, &EventLog::default()).await.unwrap();
    let replaced = report.replaced.unwrap();
    assert_eq!((replaced.index, replaced.notice.is_some()), (before.what.manifest, true));
    request.replace = ReplaceTag::Refuse;
    request.annotations.insert("a".to_owned(), "b".to_owned());
    let error = push_module(&request, &store, &EventLog::default()).await.unwrap_err();
    assert!(error.to_string().ends_with("the same files and other annotations"), "{error}");
}

#[tokio::test]
async fn what_opentofu_could_not_read_is_found_before_anything_is_sent() {
    let folder = folder();
    folder.file("sub/bad.tf", "resource {");
    insta::assert_snapshot!(refused(&folder).await, @"module-unreadable: OpenTofu could not read this module: sub/bad.tf:1:11: the file does not parse: invalid block body; expected `}`, newline or identifier");
    folder.file("sub/bad.tf", "module \"up\" {\n  source = \"../../other\"\n}\n");
    insta::assert_snapshot!(refused(&folder).await, @"module-unreadable: OpenTofu could not read this module: sub/bad.tf:2:12: the call of `../../other` leads out of the package");
    folder.file("sub/bad.tf", "");
    folder.file("examples/a/main.tf", "module \"up\" {\n  source = \"../../\"\n}\n");
    assert!(push_folder(&folder, &Watching::new()).await.is_ok());
    // What is left out is not there for others either.
    folder.file(".tofuignore", "sub/\n");
    insta::assert_snapshot!(refused(&folder).await, @"module-unreadable: OpenTofu could not read this module: main.tf:2:12: the package has no folder `sub`");
    let (dir, version) = (folder.path(), version());
    let unchecked = ModulePushRequest { checks: ModuleChecks::Skip, ..request(&dir, &version) };
    assert!(push_module(&unchecked, &Watching::new(), &EventLog::default()).await.is_ok());
}

#[tokio::test]
async fn folders_that_the_module_does_not_call_stopped_the_push() {
    let folder = folder();
    folder.file("examples/a/main.tf", "module \"up\" {\n  source = \"../../../x\"\n}\n");
    folder.file("templates/main.tf", "module \"{{ name }}\" {\n  {% if x %}\n}\n");
    let (dir, version, heard) = (folder.path(), version(), EventLog::default());
    push_module(&request(&dir, &version), &Watching::new(), &heard).await.unwrap();
    assert_eq!(heard.codes(), ["module-folder-unreadable", "module-folder-unreadable"]);
    // Without a module in the root each folder may be the one that is called.
    let folder = Folder::new();
    folder.file("a/main.tf", "").file("b/main.tf", "resource {");
    insta::assert_snapshot!(refused(&folder).await, @"module-unreadable: OpenTofu could not read this module: b/main.tf:1:11: the file does not parse: invalid block body; expected `}`, newline or identifier");
}

#[cfg(unix)]
#[tokio::test]
async fn names_that_windows_alone_refuses_stopped_the_push() {
    let folder = folder();
    folder
        .file("docs/a:b.md", "")
        .file("examples/naming /main.tf", "")
        .file("docs/what?.md", "")
        .file("docs\\a.md", "");
    let (dir, version, heard) = (folder.path(), version(), EventLog::default());
    push_module(&request(&dir, &version), &Watching::new(), &heard).await.unwrap();
    assert_eq!(heard.codes(), ["name-not-for-windows"; 4]);
}

#[tokio::test]
async fn a_folder_without_a_configuration_causes_a_warning() {
    let folder = Folder::new();
    folder.file("sub/main.tf", "");
    let (dir, version, heard) = (folder.path(), version(), EventLog::default());
    push_module(&request(&dir, &version), &Watching::new(), &heard).await.unwrap();
    assert_eq!(heard.codes(), ["module-empty"]);
}

#[tokio::test]
async fn a_repository_with_a_provider_takes_no_module() {
    let store = Watching::new();
    let dist = Folder::new();
    dist.package("1.0.0", "linux_amd64");
    Push::new(&dist, "1.0.0").run(&store).await.unwrap();
    store.take();
    let folder = folder();
    let error = push_folder(&folder, &store).await.unwrap_err();
    insta::assert_snapshot!(format!("{}: {error}", error.code()), @"kept-for-provider: memory is kept for the provider example.com/acme/zap: it has its version 1.0.0");
    assert_eq!(store.take(), Vec::<String>::new());
}

#[tokio::test]
async fn a_repository_that_opentofu_takes_for_an_archive_is_refused() {
    let folder = folder();
    for (name, want) in [("network.zip", false), ("network.tar.gz", false), ("network.tgz", false), ("zip", true)] {
        let place: Place = format!("registry.example.com/acme/{name}").parse().unwrap();
        let got = push_folder(&folder, &MemoryStore::new(place)).await;
        assert_eq!(got.as_ref().err().map(PackError::code), (!want).then_some("module-repository-name"), "{name}");
    }
}

#[tokio::test]
async fn an_annotation_of_the_push_itself_cannot_be_given() {
    let (folder, version) = (folder(), version());
    let dir = folder.path();
    let mut request = request(&dir, &version);
    request.annotations.insert(annotation::MODULE_VERSION.to_owned(), "2.0.0".to_owned());
    let error = push_module(&request, &Watching::new(), &EventLog::default()).await.unwrap_err();
    assert_eq!(error.code(), "own-annotation");
}

#[tokio::test]
async fn a_signature_is_of_the_manifest_and_names_nothing_else() {
    let (folder, store, key, version) = (folder(), Watching::new(), key(1), version());
    let dir = folder.path();
    let signer = Some(Signer::Key(Signing { key: &key, forms: Forms::Both }));
    let request = ModulePushRequest { signer, ..request(&dir, &version) };
    let plan = plan_module_push(&request, &store, &EventLog::default()).await.unwrap();
    assert_eq!((plan.tag_state, plan.attachments.len()), (TagState::Free, 2));
    let states = |report: &PushReport<ModuleParts>| report.attachments.iter().map(|one| one.state).collect::<Vec<_>>();
    // An unsigned module that is there gets the signatures.
    push_folder(&folder, &store).await.unwrap();
    let report = push_module(&request, &store, &EventLog::default()).await.unwrap();
    assert_eq!((report.unchanged, states(&report)), (true, vec![AttachmentState::Attached; 2]));
    let (manifest, _) = store.manifest(&Reference::Tag(report.tag.clone())).await.unwrap();
    let found = tofu_oci_source::evidence(&store, &manifest, tofu_oci_source::Search::Everywhere).await.unwrap();
    let bundle = found.iter().find_map(|piece| match piece {
        Evidence::Bundle { bytes, .. } => Some(open_bundle(bytes, &[key.public().clone()]).unwrap()),
        _ => None,
    });
    let subject = &bundle.expect("a bundle").statement.subjects[0];
    assert_eq!(subject.digest.as_ref(), Some(&report.what.manifest));
    assert_eq!(subject.address, tofu_oci_trust::Name::Absent);
    let again = push_module(&request, &store, &EventLog::default()).await.unwrap();
    assert_eq!((again.transfers.uploaded, states(&again)), (0, vec![AttachmentState::Present; 2]));
    let plan = plan_module_push(&request, &store, &EventLog::default()).await.unwrap();
    assert_eq!((plan.tag_state, plan.bytes_to_send), (TagState::Equal, 0));
}

#[tokio::test]
async fn a_path_that_is_no_folder_is_refused() {
    let folder = Folder::new();
    insta::assert_snapshot!(refused(&folder).await, @"
    bad-zip: DIST cannot be published
      cause: the package has no files
    ");
    folder.file("a.tf", "");
    let (dir, version) = (folder.path().join("a.tf"), version());
    let error = push_module(&request(&dir, &version), &Watching::new(), &EventLog::default()).await.unwrap_err();
    assert_eq!(error.code(), "not-a-folder");
    let dir = folder.path().join("gone");
    let error = push_module(&request(&dir, &version), &Watching::new(), &EventLog::default()).await.unwrap_err();
    assert_eq!(error.code(), "no-folder");
}
