//! Which files are read on which system, and which folders hold plugins.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use tofu_oci_types::{ProviderAddr, TofuRelease};

use super::super::{Environment, Located, Os, locate, read};
use super::{MemoryFiles, environment};
use crate::MagicSuffix;

fn mac() -> Environment {
    Environment { os: Os::Mac, home: Some(PathBuf::from("/Users/u")), ..environment() }
}

fn windows() -> Environment {
    Environment {
        os: Os::Windows,
        home: Some(PathBuf::from("C:\\Users\\u")),
        app_data: Some(PathBuf::from("C:\\Users\\u\\AppData\\Roaming")),
        launch_dir: PathBuf::from("D:\\w"),
        working_dir: PathBuf::from("D:\\w"),
        ..environment()
    }
}

fn with(mut environment: Environment, vars: &[(&str, &str)]) -> Environment {
    environment.vars.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    environment
}

/// What is found where these files are there, all of them empty.
fn found(environment: &Environment, paths: &[&str]) -> String {
    let mut files = MemoryFiles::default();
    for path in paths {
        files.add(path, "");
    }
    let Located { main, directory, passed_over } = locate(environment, &files);
    let mut lines = vec![match main {
        Some(main) => format!("{} {:?}{}", main.path.display(), main.origin, if main.exists { "" } else { ", absent" }),
        None => "no main file".to_owned(),
    }];
    lines.extend(directory.iter().map(|path| format!("+ {}", path.display())));
    lines.extend(passed_over.iter().map(|over| format!("- {}: {}", over.path.display(), over.why)));
    lines.join("\n")
}

#[test]
fn the_new_name_stands_before_the_old_one() {
    let unix = environment();
    assert_snapshot!(found(&unix, &[]), @"/home/u/.tofurc Usual, absent");
    assert_snapshot!(found(&unix, &["/home/u/.tofurc"]), @"/home/u/.tofurc Usual");
    assert_snapshot!(found(&unix, &["/home/u/.terraformrc"]), @"/home/u/.terraformrc Legacy");
    assert_snapshot!(found(&unix, &["/home/u/.tofurc", "/home/u/.terraformrc"]), @"
    /home/u/.tofurc Usual
    - /home/u/.terraformrc: .tofurc stands before it
    ");
    assert_snapshot!(found(&mac(), &["/Users/u/.terraformrc"]), @"/Users/u/.terraformrc Legacy");
    assert_snapshot!(found(&Environment { home: None, ..environment() }, &["/home/u/.tofurc"]), @"no main file");
}

#[test]
fn xdg_counts_where_it_is_set_and_the_home_folder_has_no_file() {
    let xdg = with(environment(), &[("XDG_CONFIG_HOME", "/x")]);
    assert_snapshot!(found(&xdg, &[]), @"/x/opentofu/tofurc Xdg, absent");
    assert_snapshot!(found(&xdg, &["/x/opentofu/tofurc", "/x/opentofu/a.tfrc"]), @"
    /x/opentofu/tofurc Xdg
    + /x/opentofu/a.tfrc
    ");
    assert_snapshot!(found(&xdg, &["/x/opentofu/tofurc", "/x/opentofu/a.tfrc", "/home/u/.terraformrc", "/home/u/.terraform.d/b.tfrc"]), @"
    /home/u/.terraformrc Legacy
    + /home/u/.terraform.d/b.tfrc
    - /x/opentofu/tofurc: a file in the home folder stands before it
    - /x/opentofu/a.tfrc: ~/.terraform.d is there, and stands before this folder
    ");
    assert_snapshot!(found(&environment(), &["/home/u/.config/opentofu/tofurc", "/home/u/.config/opentofu/a.tfrc"]), @"
    /home/u/.tofurc Usual, absent
    - /home/u/.config/opentofu/a.tfrc: ~/.config is looked into only where XDG_CONFIG_HOME names it
    - /home/u/.config/opentofu/tofurc: ~/.config is looked into only where XDG_CONFIG_HOME names it
    ");
}

#[test]
fn the_directory_is_read_by_name_and_flat() {
    let paths = [
        "/home/u/.terraform.d/b.tfrc",
        "/home/u/.terraform.d/a.tfrc.json",
        "/home/u/.terraform.d/c.tofurc",
        "/home/u/.terraform.d/checkpoint_cache",
        "/home/u/.terraform.d/sub/d.tfrc",
        "/home/u/.terraform.d/plugins/x/y",
    ];
    assert_snapshot!(found(&environment(), &paths), @"
    /home/u/.tofurc Usual, absent
    + /home/u/.terraform.d/a.tfrc.json
    + /home/u/.terraform.d/b.tfrc
    - /home/u/.terraform.d/c.tofurc: only names that end in .tfrc or .tfrc.json are read there
    - /home/u/.terraform.d/sub/d.tfrc: folders in the configuration directory are not looked into
    ");
}

#[test]
fn a_variable_replaces_all_of_it() {
    let paths = ["/home/u/.tofurc", "/home/u/.terraform.d/a.tfrc", "/w/x.rc"];
    let named = with(environment(), &[("TF_CLI_CONFIG_FILE", "x.rc"), ("TERRAFORM_CONFIG", "/other")]);
    assert_snapshot!(found(&named, &paths), @r#"
    /w/x.rc Variable("TF_CLI_CONFIG_FILE")
    - /home/u/.tofurc: TF_CLI_CONFIG_FILE names another file
    - /home/u/.terraform.d/a.tfrc: TF_CLI_CONFIG_FILE names another file
    "#);
    let chdir = Environment { working_dir: PathBuf::from("/w/sub"), ..named };
    assert_snapshot!(found(&chdir, &["/w/x.rc"]), @r#"/w/x.rc Variable("TF_CLI_CONFIG_FILE")"#);
    let old = with(environment(), &[("TF_CLI_CONFIG_FILE", ""), ("TERRAFORM_CONFIG", "~/x.rc")]);
    assert_snapshot!(found(&old, &["/home/u/x.rc"]), @r#"/w/~/x.rc Variable("TERRAFORM_CONFIG"), absent"#);
}

#[test]
fn names_that_nobody_reads_are_passed_over() {
    let paths = ["/w/.tofurc", "/home/u/tofu.rc", "/home/u/terraform.rc", "/home/u/.tofurc.json"];
    assert_snapshot!(found(&environment(), &paths), @"
    /home/u/.tofurc Usual, absent
    - /home/u/tofu.rc: the file is called .tofurc here
    - /home/u/terraform.rc: the file is called .tofurc here
    - /home/u/.tofurc.json: the file is called .tofurc here
    - /w/.tofurc: the folder of a configuration is not looked into
    ");
    let at_home =
        Environment { launch_dir: PathBuf::from("/home/u"), working_dir: PathBuf::from("/home/u"), ..environment() };
    assert_snapshot!(found(&at_home, &["/home/u/.tofurc"]), @"/home/u/.tofurc Usual");
}

#[test]
fn windows_keeps_them_among_the_application_data() {
    let roaming = |name: &str| format!("C:\\Users\\u\\AppData\\Roaming\\{name}");
    let (new, old, listed) = (roaming("tofu.rc"), roaming("terraform.rc"), roaming("terraform.d\\a.tfrc"));
    assert_snapshot!(found(&windows(), &[]), @r"C:\Users\u\AppData\Roaming\tofu.rc Usual, absent");
    assert_snapshot!(found(&windows(), &[&old, &listed]), @r"
    C:\Users\u\AppData\Roaming\terraform.rc Legacy
    + C:\Users\u\AppData\Roaming\terraform.d\a.tfrc
    ");
    let xdg = with(windows(), &[("XDG_CONFIG_HOME", "C:\\x")]);
    assert_snapshot!(found(&xdg, &[&new, &old, &roaming(".tofurc"), "C:\\x\\opentofu\\tofurc"]), @r"
    C:\Users\u\AppData\Roaming\tofu.rc Usual
    - C:\Users\u\AppData\Roaming\terraform.rc: tofu.rc stands before it
    - C:\Users\u\AppData\Roaming\.tofurc: the file is called tofu.rc here
    ");
    let named = with(windows(), &[("TF_CLI_CONFIG_FILE", "my\\x.rc")]);
    assert_snapshot!(found(&named, &["D:\\w\\my\\x.rc"]), @r#"D:\w\my\x.rc Variable("TF_CLI_CONFIG_FILE")"#);
    let named = with(windows(), &[("TF_CLI_CONFIG_FILE", "E:/x.rc")]);
    assert_snapshot!(found(&named, &[]), @r#"E:/x.rc Variable("TF_CLI_CONFIG_FILE"), absent"#);
}

/// The implicit methods where these packages are there.
fn implicit(environment: &Environment, release: TofuRelease, folders: &[&str]) -> String {
    let mut files = MemoryFiles::default();
    for folder in folders {
        files.add(folder, "");
    }
    let methods = read(environment, &files, release).methods(environment, &files);
    assert!(!methods.explicit);
    let line = |method: &crate::Method| {
        let what = match &method.kind {
            crate::MethodKind::FilesystemMirror { path, .. } => path.display().to_string(),
            kind => kind.name().to_owned(),
        };
        let without =
            if method.exclude.is_empty() { String::new() } else { format!(" without {}", method.exclude.join(", ")) };
        format!("{what}{without}")
    };
    methods.list.iter().map(line).collect::<Vec<_>>().join("\n")
}

const PACKAGE: &str = "example.com/acme/widget/1.0.0/linux_amd64/p";

#[test]
fn folders_of_plugins_come_before_the_registries() {
    let below = |folder: &str| format!("{folder}/{PACKAGE}");
    let folders = [
        "/w/terraform.d/plugins",
        "/home/u/.terraform.d/plugins",
        "/home/u/.local/share/terraform/plugins",
        "/home/u/.local/share/opentofu/plugins",
        "/usr/share/terraform/plugins",
        "/x/opentofu/plugins",
        "/x/terraform/plugins",
        "/d/terraform/plugins",
    ]
    .map(below);
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let newest = TofuRelease::V1_13;
    assert_snapshot!(implicit(&environment(), newest, &[]), @"direct");
    assert_snapshot!(implicit(&environment(), newest, &folders), @"
    /w/terraform.d/plugins
    /home/u/.terraform.d/plugins
    /home/u/.local/share/terraform/plugins
    /usr/share/terraform/plugins
    direct without example.com/acme/widget
    ");
    let xdg = with(environment(), &[("XDG_DATA_HOME", "/x"), ("XDG_DATA_DIRS", "rel:/d:/none")]);
    assert_snapshot!(implicit(&xdg, newest, &folders), @"
    /w/terraform.d/plugins
    /home/u/.terraform.d/plugins
    /x/opentofu/plugins
    /x/terraform/plugins
    /d/terraform/plugins
    direct without example.com/acme/widget
    ");
    let chdir = Environment { working_dir: PathBuf::from("/w/sub"), ..environment() };
    assert_snapshot!(implicit(&chdir, newest, &[&below("/w/terraform.d/plugins")]), @"direct");
    assert_snapshot!(implicit(&chdir, TofuRelease::V1_10, &[&below("/w/terraform.d/plugins")]), @"
    /w/terraform.d/plugins
    direct without example.com/acme/widget
    ");
    let library = below("/Users/u/Library/Application Support/io.terraform/plugins");
    assert_snapshot!(implicit(&mac(), newest, &[&library, &below("/Users/u/.local/share/terraform/plugins")]), @"
    /Users/u/Library/Application Support/io.terraform/plugins
    direct without example.com/acme/widget
    ");
    let roaming = "C:\\Users\\u\\AppData\\Roaming\\HashiCorp\\Terraform\\plugins\\example.com\\acme\\widget\\1.0.0\\windows_amd64\\p";
    assert_snapshot!(implicit(&windows(), newest, &[roaming]), @r"
    C:\Users\u\AppData\Roaming\HashiCorp\Terraform\plugins
    direct without example.com/acme/widget
    ");
}

#[test]
fn what_is_no_package_cuts_nothing_off() {
    let flat = "/home/u/.terraform.d/plugins/linux_amd64/terraform-provider-widget_v1.0.0";
    assert_snapshot!(implicit(&environment(), TofuRelease::V1_13, &[flat]), @"
    /home/u/.terraform.d/plugins
    direct
    ");
}

#[test]
fn a_mirror_is_found_against_the_working_directory() {
    let text = "provider_installation {\n  filesystem_mirror {\n    path = \"./m/../n\"\n  }\n}\n";
    let chdir = Environment { working_dir: PathBuf::from("/w/sub"), ..environment() };
    let files = MemoryFiles::from([("/home/u/.tofurc", text)]);
    let methods = read(&chdir, &files, TofuRelease::V1_13).methods(&chdir, &files);
    let address: ProviderAddr = "example.com/acme/widget".parse().expect("an address");
    let suffix = MagicSuffix::default();
    let candidates = methods.candidates(&address, &suffix);
    let Some(Ok(crate::MappedPlace::Filesystem { path })) = &candidates[0].place else { panic!("{candidates:?}") };
    assert_eq!(path, Path::new("/w/sub/m/../n"));
    assert_eq!(candidates[0].method.label(), "filesystem_mirror at /home/u/.tofurc:2");
}
