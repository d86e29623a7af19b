use super::*;

/// Why a file of this path stays out, as the walk finds it.
fn reason(path: &str) -> Option<&'static str> {
    let never = never_packed(path, false);
    let above = path.match_indices('/').map(|(slash, _)| (&path[..slash], true));
    let usual = || above.chain([(path, false)]).find_map(|(name, is_folder)| UsualName::of(name).reason(is_folder));
    never.or_else(usual).as_ref().map(LeftOutReason::code)
}

/// Names of files and folders that hold secrets, or what is no part of a module.
#[rustfmt::skip]
const SECRET: &[&str] = &[
    "cosign.key", "server.key", "tls.key", "ca-key.key", "apiclient.p12", "site.pfx", "AuthKey_ABC.p8", "truststore.jks",
    "release.keystore", "passwords.kdbx", "putty.ppk", "client.ovpn", "wg0.conf", "id_rsa", "id_rsa.bak", "id_dsa", "id_ecdsa",
    "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_ed25519.old", "id_rsa_prod", "keys/id_rsa", "deploy_rsa", "ssh_host_rsa_key",
    ".ssh/config", ".ssh/known_hosts", ".gnupg/pubring.kbx", ".gnupg/private-keys-v1.d/a.key", "secring.gpg",
    ".password-store/a.gpg", ".config/sops/age/keys.txt", ".vagrant/machines/default/x",
    ".env", ".env.local", ".env.production", ".env.bak", ".envrc", "prod.env", ".env~", ".env.sh", ".netrc", "_netrc", ".authinfo",
    ".htpasswd", "htpasswd", ".git-credentials", ".config/gh/hosts.yml", ".config/git/credentials",
    ".npmrc", ".pypirc", ".dockercfg", ".docker/config.json", ".config/containers/auth.json", "auth.json", ".cargo/credentials.toml",
    ".gem/credentials", ".m2/settings.xml",
    ".aws/credentials", ".aws/config", ".azure/accessTokens.json", ".config/gcloud/credentials.db",
    "application_default_credentials.json", "service-account.json", "client_secret_1.json", "rootkey.csv",
    "me_accessKeys.csv", ".boto", ".s3cfg", ".oci/config", ".kube/config", "kubeconfig", "kubeconfig.yaml", "prod.kubeconfig",
    ".databrickscfg", ".terraform.d/credentials.tfrc.json", "rclone.conf", ".pulumi/credentials.json",
    ".pgpass", ".my.cnf", ".vault-token", ".vault_pass", "vault_pass.txt", "credentials", "credentials.json", "credentials.yml",
    "passwords.txt", "secrets.txt", ".secrets/a", ".bash_history", ".psql_history",
    ".tofurc", ".terraformrc", "tofu.rc", "terraform.rc", "credentials.tfrc.json", "ci.tofurc", "ci.tfrc", ".terraformrc.bak",
    "terraform.tfvars", "terraform.tfvars~", "terraform.tfvars.json", "prod.tfvars", "prod.tfvars.json", "prod.auto.tfvars",
    "db-password.tfvars", "eu.tfvars", ".terraform.tfvars.swp", "#prod.tfvars#", "terraform.tfvars.bak", "tests/terraform.tfvars",
    "examples/a/x.auto.tfvars", "tests/secrets.tfvars",
    "terraform.tfstate", "terraform.tfstate.backup", "terraform.tfstate.d/prod/terraform.tfstate", ".terraform.tfstate.lock.info",
    "tfplan", "tfplan.out", "plan.out", "prod.tfplan", "tfplan.json", "crash.log", "crash.20260301.log",
    ".terraform/modules/x", ".terragrunt-cache/a/main.tf", "a/.terragrunt-cache/x",
    ".env.swp", ".vault-token.swp", ".kubeconfig.swp", ".netrc.swo", ".terraform.rc.swp", ".tofu.rc.swp", ".credentials.tfrc.json.swp", ".crash.log.swp", "prod.tfvars.1", "server.key.bak2", "id_rsa_old", ".npmrc-backup",
    "kubeconfig copy", "creds.json", "deploy_key", ".yarnrc.yml", "kube_config_prod.yml", "vault-init.json", ".zhistory", "wg1.conf",
    "http.keytab", "client-secret.json", "acme-firebase-adminsdk-x1y2z.json", ".consul-token", ".nomad-token", ".gitlab-token",
    ".github-token", "vault.token", "netrc", "users.htpasswd", "pip.conf", ".config/pip/pip.conf", ".gradle/gradle.properties",
    "prod.s3.tfbackend", "wireguard.conf", "terraform.tfstate.1772323200.backup", ".terraform.tfstate.swp", "errored.tfstate",
    "terraform.tfstate.json", "prod.tfstate.gz", "prod.tfstate-2026-03-01", "a/tfplan", "terraform.tfstate.d/prod/x",
    ".git/config", ".git", ".hg/hgrc", ".svn/wc.db", ".jj/repo", "_darcs/prefs/defaults",
];

/// Names that modules have.
#[rustfmt::skip]
const INNOCENT: &[&str] = &[
    "main.tf", "variables.tf", "outputs.tf", "versions.tf", "providers.tf", "key.tf", "secrets.tf", "credentials.tf", "kubeconfig.tf",
    "service-account.tf", "tfplan.tf", "tfstate.tf", "main.tofu", "override.tf.json", "x.tftest.hcl", "kubeconfig.yaml.tftpl",
    "kubeconfig.tpl", "templates/kubeconfig.yml.tmpl", "templates/env.tpl", "id_rsa.pub", "keys/id_ed25519.pub", "cosign.pub",
    "public.key", "ca.pem", "ca.crt", "bundle.asc", "README.md", "CHANGELOG.md", "LICENSE", "docs/credentials.md", "credentials.md",
    ".terraform.lock.hcl", ".terraform-version", ".terraform-docs.yml", ".tflint.hcl", ".tofuignore", ".terraformignore",
    ".opentofu-version", ".tool-versions", ".pre-commit-config.yaml", ".gitignore", ".gitattributes", ".gitmodules", ".gitkeep",
    ".github/workflows/ci.yml", ".gitlab-ci.yml", ".editorconfig", ".sops.yaml", ".env.example", ".env.sample", ".env.template",
    ".env.dist", ".envrc.example", "terraform.tfvars.example", "terraform.example.tfvars", "example.tfvars", "sample.auto.tfvars",
    "service-account.example.json", ".npmrc.template", "examples/complete/main.tf", "examples/complete/fixtures.us-east-2.tfvars",
    "tests/fixtures/main.tf", "tests/fixtures/input.json", "tests/eu.tfvars", "test/fixtures/a.tfvars.json", "policy/tfplan.rego",
    "scripts/kubeconfig.sh", "scripts/id_rsa_gen.sh", "files/user-data.sh", "files/policy.json", "files/config.json", "token.tf",
    "modules/credentials/main.tf", "modules/kubeconfig/main.tf", "modules/auth/main.tf", "modules/key/main.tf", "modules/aws/main.tf",
    "helm/templates/secret.yaml", "helm/values.yaml", "docker/config.json", "kube/config.yaml", "lambda/index.py", "package.json",
    "monkey.txt", "keys.json", "hotkey", "env", "environment.yml", "history", "password.tf", "crash.tf", "plan.tf", "git/main.tf",
    "modules/remote.tfstate/main.tf", "modules/tfplan/main.tf", "modules/tofu.rc/main.tf", "modules/x.tfplan/main.tf",
    "modules/crash.log/main.tf", "terraform.tfstate.md", "terraform.tfstate.tf", "docs/terraform.tfstate.example",
    "service-account-policy.json", "serviceaccounts.json", "gradle.properties", "netrc.tf", "modules/netrc/main.tf", "env.prod",
    "my.plan", "modules/pip.conf.d/main.tf", "wireguard.conf.tftpl", "keytab", "policies/client-secrets-policy.json",
    "files/wget.conf", ".git.bak", "manifest.1", "keys_old", ".main.tf.swp",
];

#[test]
fn most_usual_names_of_secrets_were_packed() {
    let packed: Vec<_> = SECRET.iter().filter(|path| reason(path).is_none()).collect();
    assert!(packed.is_empty(), "{packed:?}");
    assert!(SECRET.len() >= 105, "{}", SECRET.len());
}

#[test]
fn names_of_secrets_in_capitals_were_packed() {
    let packed: Vec<_> = SECRET.iter().map(|path| path.to_uppercase()).filter(|path| reason(path).is_none()).collect();
    assert!(packed.is_empty(), "{packed:?}");
    for path in [
        ".GIT/config",
        ".Terraform/x",
        "ID_RSA",
        "Terraform.TfVars",
        "Server.Key",
        ".Env",
        ".NetRC",
        "KubeConfig",
        ".AWS/x",
    ] {
        assert!(reason(path).is_some(), "{path}");
    }
}

#[test]
fn what_modules_have_is_packed() {
    let out: Vec<_> = INNOCENT.iter().filter_map(|path| Some((path, reason(path)?))).collect();
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn a_star_is_any_text_in_one_part() {
    for (pattern, path, want) in [
        ("*.key", "a/server.key", true),
        ("*.key", ".key", true),
        ("*.key", "server.key.tf", false),
        ("a*b", "ab", true),
        ("a*b", "a", false),
        ("aa*a", "aa", false),
        ("*.tfplan.*", "x.tfplan.y", true),
        ("*.tfplan.*", "x.tfplan", false),
        ("*a*b*", "xbxaxbx", true),
        ("*a*b*", "xbxax", false),
        (".docker/config.json", "x/.docker/config.json", true),
        (".docker/config.json", "config.json", false),
        (".docker/config.json", "x.docker/config.json", false),
    ] {
        assert_eq!(matches_end(pattern, path), want, "{pattern} {path}");
    }
}

#[test]
fn every_pattern_is_in_lower_case_since_names_are_compared_so() {
    for pattern in TABLE.iter().flat_map(|(_, patterns)| *patterns) {
        assert_eq!(*pattern, pattern.to_lowercase(), "{pattern}");
    }
}
