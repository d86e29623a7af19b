//! The pages of modules, out of a package that `push_module` wrote.

use tofu_oci_fetch::RenamedReleases;
use tofu_oci_packer::{
    ModuleChecks, ModulePushRequest, NoticeRequest, PackedFiles, ReplaceTag, push_module, put_notice,
};
use tofu_oci_trust::{NoticeWriter, ReleaseState, VersionOf};

use super::*;

pub(super) const NETWORK: &str = "registry.acme.example/acme/network/aws";

/// A bridge with one module, of these files and versions, beside its providers. Its cache is in the folder. What is not a version
/// becomes another tag of the first one.
pub(super) async fn serving(files: &[(&str, &str)], versions: &[&str]) -> (Arc<Bridge>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("module");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let store = Arc::new(MemoryStore::new("ghcr.io/acme/network-aws".parse().unwrap()));
    for tag in versions {
        let Ok(version) = tag.parse() else {
            let first = store.resolve(&Reference::Tag(versions[0].parse().unwrap())).await.unwrap();
            store.tag(&first, &tag.parse().unwrap()).await.unwrap();
            if *tag == "deprecated-1.0.0" {
                deprecate(&store, &first).await;
            }
            continue;
        };
        let request = ModulePushRequest {
            dir: &folder,
            version: &version,
            annotations: BTreeMap::from([("org.opencontainers.image.source".to_owned(), "https://<b>x".to_owned())]),
            replace: ReplaceTag::Refuse,
            checks: ModuleChecks::Skip,
            files: PackedFiles::Chosen,
            signer: None,
            work_dir: dir.path().to_owned(),
        };
        push_module(&request, &*store, &NoReporter).await.unwrap();
    }
    let open: OpenModules = Arc::new(move |_| Ok(Arc::clone(&store) as Arc<dyn tofu_oci_store::ReadStore>));
    let place = ServedModulePlace {
        include: vec!["registry.acme.example/*/*/*".parse().unwrap()],
        exclude: Vec::new(),
        open,
        pull: None,
        locations: ModuleLocations::Archives,
        renamed: RenamedReleases::Refuse,
    };
    let plain = Arc::into_inner(open_bridge().await).expect("nothing else holds it");
    let packages = Packages::new(PackageOptions {
        cache: dir.path().join("cache"),
        cache_bytes: 0,
        limits: Limits::default(),
        delivery: ZipDelivery::PassedOn,
        visibility: Visibility::Public,
    });
    (Arc::new(Bridge { catalog: plain.catalog.with_modules(vec![place]), packages, ..plain }), dir)
}

/// Says of version 1.0.0 that it is deprecated.
async fn deprecate(store: &MemoryStore, manifest: &Descriptor) {
    let version = "1.0.0".parse().unwrap();
    let request = NoticeRequest {
        index: manifest,
        subject: VersionOf::Module.content(&manifest.digest, &version),
        state: ReleaseState::Deprecated,
        ends: ReleaseState::Deprecated,
        reason: "old".parse().unwrap(),
        writer: NoticeWriter::Publisher,
        replaced_by: None,
        key: None,
        signed: None,
    };
    put_notice(store, &request).await.unwrap();
}

const MAIN: &str = r#"
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}
variable "cidr" {
  description = "The <range>."
  type = object({
    a = string
  })
}
variable "password" {
  default   = "x"
  sensitive = true
}
output "id" {
  value       = 1
  description = "The id."
}
module "sub" {
  source = "example.com/acme/sub/aws"
}
"#;

#[tokio::test]
async fn the_page_of_a_module_says_how_to_use_it() {
    let (bridge, _dir) = serving(&[("main.tf", MAIN)], &["1.0.0", "1.10.0", "2.0.0-beta.1"]).await;
    let seen = get(&bridge, &format!("/module/{NETWORK}")).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.html);
    insta::assert_snapshot!(text(&seen), @r"
    Modules
    acme/
    network
    aws
    registry.acme.example/acme/network/aws
    Use it
    In the configuration, for Terraform and OpenTofu alike:
    module &quot;network&quot; {
      source  = &quot;registry.acme.example/acme/network/aws&quot;
      version = &quot;~&gt; 1.10&quot;
    }
    In the CLI configuration:
    ~/.terraformrc
     for Terraform,
    ~/.tofurc
     for OpenTofu:
    host &quot;registry.acme.example&quot; {
      services = {
        &quot;modules.v1&quot; = &quot;https://p.example/modules/registry.acme.example/&quot;
      }
    }
    A
    host
     block replaces all services of the host: providers of it then need a method of
    provider_installation
    .
    terraform init
     or
    tofu init
    Versions
    2.0.0-beta.1
    prerelease
    1.10.0
    1.0.0
    ");
    assert!(seen.html.contains(&format!("href=\"/module/{NETWORK}/1.10.0\"")), "{}", seen.html);
    let start = text(&get(&bridge, "/?q=network").await);
    insta::assert_snapshot!(start, @r"
    Providers and modules
    1 provider or module for
    network
    .
    Show all
    .
    registry.acme.example
    acme/
    network/aws
    module
    1.10.0, 3 versions
    ");
}

#[tokio::test]
async fn the_page_of_a_version_has_what_the_module_takes_and_gives() {
    let readme =
        "# Network\n\n<script>alert(1)</script>\n\nSee [the guide](https://guide.example/) and [this](javascript:x).\n";
    let (bridge, dir) = serving(&[("main.tf", MAIN), ("README.md", readme)], &["1.0.0"]).await;
    let seen = get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.html);
    let shown: String = text(&seen)
        .split_inclusive('\n')
        .filter(|line| !line.contains(" zip, ") && !line.starts_with("sha256:"))
        .collect();
    insta::assert_snapshot!(shown, @r"
    Modules
     /
    acme/network/aws
    network 1.0.0
    aws
    registry.acme.example/acme/network/aws
    Source
    https://&lt;b&gt;x
    Package
    Download
    Manifest
    Use it
    In the configuration, for Terraform and OpenTofu alike:
    module &quot;network&quot; {
      source  = &quot;registry.acme.example/acme/network/aws&quot;
      version = &quot;~&gt; 1.0.0&quot;
    }
    In the CLI configuration:
    ~/.terraformrc
     for Terraform,
    ~/.tofurc
     for OpenTofu:
    host &quot;registry.acme.example&quot; {
      services = {
        &quot;modules.v1&quot; = &quot;https://p.example/modules/registry.acme.example/&quot;
      }
    }
    A
    host
     block replaces all services of the host: providers of it then need a method of
    provider_installation
    .
    terraform init
     or
    tofu init
    Inputs
    Name
    Type
    Description
    Default
    cidr
    object({ a = string })
    The &lt;range&gt;.
    required
    password
    sensitive
    &quot;x&quot;
    Outputs
    Name
    Description
    id
    The id.
    Providers
    Name
    Provider
    Versions
    aws
    registry.opentofu.org/hashicorp/aws
    ~&gt; 5.0
    Modules that it calls
    example.com/acme/sub/aws
    README
    Network
    See
    the guide
     and this.
    ");
    for bad in ["<script", "javascript:", "<b>x", "<range>"] {
        assert!(!seen.html.contains(bad), "{bad}: {}", seen.html);
    }
    let left: Vec<_> = std::fs::read_dir(dir.path().join("cache")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let archive = get_bytes(&bridge, &format!("/modules/{NETWORK}/1.0.0/network-aws_1.0.0.zip")).await;
    assert_eq!(archive.0, StatusCode::OK);
    assert!(archive.1.starts_with(b"PK"));
}

/// An answer that is no page.
async fn get_bytes(bridge: &Arc<Bridge>, path: &str) -> (StatusCode, Vec<u8>) {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let answer = router(Arc::clone(bridge)).oneshot(request).await.unwrap();
    let status = answer.status();
    let pieces: Vec<Bytes> = answer.into_body().into_data_stream().try_collect().await.unwrap();
    (status, pieces.concat())
}

#[tokio::test]
async fn a_module_that_cannot_be_read_has_a_page_all_the_same() {
    let (bridge, _dir) = serving(&[("main.tf", "variable {"), ("README.md", "# x")], &["1.0.0"]).await;
    let seen = text(&get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await);
    assert!(seen.contains("The configuration cannot be read") && seen.contains("main.tf:1"), "{seen}");
    assert!(!seen.contains("/tmp"), "{seen}");
    let (bridge, _dir) = serving(&[("notes.txt", "x")], &["1.0.0"]).await;
    let seen = text(&get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await);
    assert!(seen.contains("The root of the package has no configuration."), "{seen}");
    let seen = get(&bridge, &format!("/module/{NETWORK}/3.0.0")).await;
    assert_eq!(seen.status, StatusCode::NOT_FOUND, "{}", seen.html);
    for path in ["/module/registry.acme.example/acme", "/module/x/y/z/w", "/module/registry.terraform.io/a/b/c"] {
        assert_eq!(get(&bridge, path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
