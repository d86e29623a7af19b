use super::*;

/// Text that no one has used: letters in an order that repeats late. Secrets are put together here, so that none stands in
/// this file as a whole.
fn random(length: usize, alphabet: &str) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    (0..length).map(|at| letters[(at * 7 + at / 3 * 5 + 3) % letters.len()]).collect()
}

const ANY: &str = "Q7wE2rT9yU4iO1pAs8Df3Gh6Jk5Lz0XcVbNmqWeRtYuIoPaSdFgHjKlZxCvBnM";

fn letters(length: usize) -> String {
    random(length, ANY)
}

#[track_caller]
fn check(text: &str, want: Option<(usize, &str)>) {
    assert_eq!(find_secret(text.as_bytes()), want, "{text}");
}

fn pem(label: &str) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", letters(64))
}

#[test]
fn private_keys_of_every_kind_are_found() {
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
        "ENCRYPTED SIGSTORE PRIVATE KEY",
        "ENCRYPTED COSIGN PRIVATE KEY",
    ] {
        check(&format!("a\nb\n{}", pem(label)), Some((3, KEY)));
        // Indented in a heredoc, in one line of JSON, with Windows' line ends, with headers.
        check(&pem(label).replace('\n', "\n    "), Some((1, KEY)));
        check(&format!("{{\"private_key\": \"{}\"}}", pem(label).replace('\n', "\\n")), Some((1, KEY)));
        check(&pem(label).replace('\n', "\r\n"), Some((1, KEY)));
        check(&pem(label).replacen('\n', "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1), Some((1, KEY)));
    }
    check(&format!("AGE-SECRET-KEY-1{}", random(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")), Some((1, KEY)));
    check("PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 2\nx\nPrivate-Lines: 1\nx\n", Some((1, KEY)));
    check("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nx\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n", Some((1, KEY)));
    let in_base64 = format!("client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp{}", letters(64));
    check(&in_base64, Some((1, KEY)));
    // A key in the lines that `base64` writes, and one in short lines.
    check("k: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Fo\nx", Some((1, KEY)));
    check(&pem("PRIVATE KEY").replace(&letters(64), &format!("{}\n{}", letters(32), letters(32))), Some((1, KEY)));
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(pem("PRIVATE KEY").bytes().flat_map(|byte| [byte, 0])).collect();
    assert_eq!(find_secret(&wide), Some((1, KEY)));
}

#[test]
fn a_key_that_is_public_or_only_mentioned_is_none() {
    check(&pem("PUBLIC KEY"), None);
    check(&pem("CERTIFICATE"), None);
    check(&pem("PGP PUBLIC KEY BLOCK"), None);
    check("the file begins with -----BEGIN PRIVATE KEY-----", None);
    check("-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----", None);
    check("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----", None);
    check(&format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "x".repeat(64)), None);
    check(&format!("-----BEGIN PRIVATE KEY-----\n{}\n...\n-----END PRIVATE KEY-----", letters(64)), None);
    check(&format!("contains(x, \"-----BEGIN PRIVATE KEY-----\")\n-----END\n{}", letters(64)), None);
    check("PuTTY-User-Key-File-2: is what such a file begins with", None);
}

#[test]
fn tokens_are_found_if_they_are_whole() {
    let hex = |length| random(length, "0a9b8c7d6e5f4321");
    for (start, rest, kind) in [
        ("ghp_", letters(36), "a token of GitHub"),
        ("gho_", letters(36), "a token of GitHub"),
        ("ghs_", letters(36), "a token of GitHub"),
        ("github_pat_", format!("{}_{}", letters(22), letters(59)), "a token of GitHub"),
        ("glpat-", letters(20), "a token of GitLab"),
        ("hvs.", letters(24), "a token of Vault"),
        ("AIza", letters(35), "an API key of Google"),
        ("dop_v1_", hex(64), "a token of DigitalOcean"),
        ("dckr_pat_", letters(27), "a token of Docker Hub"),
        ("npm_", letters(36), "a token of npm"),
        ("pypi-AgEIcHlwaS5vcmc", letters(50), "a token of PyPI"),
        (
            "xoxb-",
            format!("{}-{}-{}", random(12, "2849103765"), random(12, "2849103765"), letters(14)),
            "a token of Slack",
        ),
        ("sk_live_", letters(24), "a key of Stripe"),
        ("glcbt-", letters(20), "a token of GitLab"),
        ("xapp-", letters(40), "a token of Slack"),
        ("AccountKey=", letters(86), "an account key of Azure"),
        ("sk-proj-", letters(60), "a key of OpenAI"),
        ("sk-svcacct-", letters(60), "a key of OpenAI"),
        ("SG.", format!("{}.{}", letters(22), letters(43)), "a key of SendGrid"),
        ("glsa_", format!("{}_{}", letters(32), hex(8)), "a token of Grafana"),
        ("glc_", letters(32), "a token of Grafana"),
        ("dapi", hex(32), "a token of Databricks"),
        ("ATATT3", letters(100), "a token of Atlassian"),
        ("dp.pt.", letters(40), "a token of Doppler"),
        ("pul-", hex(40), "a token of Pulumi"),
        ("hf_", letters(34), "a token of Hugging Face"),
        (&format!("{}.atlasv1.", letters(14)), letters(60), "a token of HCP Terraform"),
    ] {
        check(&format!("x\ntoken = \"{start}{rest}\"\n"), Some((2, kind)));
        check(&format!("{start}{}", &rest[..rest.len() - 1]), None);
        // After the escape of a line end, of a blank, and in a query.
        for before in ["\\n", "\\u0020", "token%3D"] {
            check(&format!("{{\"a\": \"{before}{start}{rest}\"}}"), Some((1, kind)));
        }
        check(&format!("token = \"{start}{}\"", "x".repeat(rest.len())), None);
        check(&format!("token = \"{start}EXAMPLE{}\"", &rest[..rest.len() - 7]), None);
        check(&format!("tokens that begin with {start} are"), None);
    }
    check(&format!("my_ghp_{}", letters(36)), None);
    check(&format!("base64: {}AIza{}", letters(30), letters(40)), None);
}

#[test]
fn an_access_key_is_found_with_its_secret_alone() {
    let (name, secret) = (random(16, "Z2Y3X4W5V6U7T"), letters(40));
    let found = Some((2, "an access key of AWS"));
    check(&format!("\naws_access_key_id = AKIA{name}\naws_secret_access_key = {secret}\n"), found);
    check(&format!("{{ \"secret\": \"{secret}\",\n \"id\": \"ASIA{name}\" }}"), found);
    check(&format!("the user AKIA{name} is gone, see commit {}", random(40, "0a9b8c7d6e5f4321")), None);
    check("AKIAIOSFODNN7EXAMPLE\nwJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None);
}

#[test]
fn a_secret_key_of_openpgp_is_found_without_armor() {
    // Version 4, made in 2020, Ed25519.
    let body: Vec<u8> = [4, 0x5e, 0x0b, 0xe1, 0, 22].into_iter().chain(std::iter::repeat_n(7, 100)).collect();
    let packet = |head: &[u8], after: &[u8]| [head, &body, after].concat();
    let user = [0xb4, 1, b'x'];
    assert_eq!(find_secret(&packet(&[0x94, 106], &user)), Some((1, KEY)));
    assert_eq!(find_secret(&packet(&[0x95, 0, 106], &user)), Some((1, KEY)));
    assert_eq!(find_secret(&packet(&[0xc5, 106], &user)), Some((1, KEY)));
    assert_eq!(find_secret(&packet(&[0xc5, 106], &[])), Some((1, KEY)));
    // A public key, a length beyond the end, something else after it.
    assert_eq!(find_secret(&packet(&[0x98, 106], &user)), None);
    assert_eq!(find_secret(&packet(&[0x95, 9, 106], &user)), None);
    assert_eq!(find_secret(&packet(&[0xc5, 106], b"text")), None);
    assert_eq!(find_secret(&[0xc5]), None);
    assert_eq!(find_secret(&[0x95, 0]), None);
    assert_eq!(find_secret(b""), None);
}

#[test]
fn a_secret_key_after_public_ones_or_other_lines_was_packed() {
    check(&format!("text\n{}{}", pem("PGP PUBLIC KEY BLOCK"), pem("PGP PRIVATE KEY BLOCK")), Some((5, KEY)));
    check(&format!("{}{}", pem("CERTIFICATE").trim_end(), pem("PRIVATE KEY")), Some((3, KEY)));
    let body: Vec<u8> = [4, 0x5e, 0x0b, 0xe1, 0, 22].into_iter().chain(std::iter::repeat_n(7, 100)).collect();
    let packet = |tag: u8| [&[tag, 106], &body[..]].concat();
    let (public, secret, subkey) = (packet(0xc6), packet(0xc5), packet(0xc7));
    let user = [0xb4, 1, b'x', 0xc2, 1, 4];
    for keys in [
        [&public[..], &user, &secret, &user].concat(),
        [&public[..], &user, &packet(0xce), &user, &secret].concat(),
        [&public[..], &user, &subkey].concat(),
    ] {
        assert_eq!(find_secret(&keys), Some((1, KEY)));
    }
    // A public key, a signature, an encrypted message.
    for others in
        [[&public[..], &user].concat(), [&[0xc2, 1, 4], &secret[..]].concat(), [&[0xc1, 1, 4], &secret[..]].concat()]
    {
        assert_eq!(find_secret(&others), None);
    }
}

#[test]
fn a_private_key_in_der_was_packed() {
    let value = |tag: u8, body: &[u8]| match u8::try_from(body.len()).unwrap() {
        length @ 0..128 => [&[tag, length], body].concat(),
        length => [&[tag, 0x81, length], body].concat(),
    };
    let (zero, one, secret) = ([2, 1, 0], [2, 1, 1], value(4, &[7; 32]));
    let number = value(2, &[7; 33]);
    let curve = value(0x30, &[6, 3, 0x2b, 0x65, 0x70]);
    let sequence = |parts: &[&[u8]]| value(0x30, &parts.concat());
    let keys = [
        sequence(&[&zero, &curve, &secret]),
        sequence(&[&one, &curve, &secret, &value(0x81, &[7; 33])]),
        sequence(&[&one, &secret, &value(0xa0, &[6, 1, 1]), &value(0xa1, &[7; 60])]),
        sequence(&[&zero, &number, &one, &number, &one, &one, &one, &one, &one]),
        sequence(&[&zero, &number, &one, &one, &one, &one]),
    ];
    for key in &keys {
        assert_eq!(find_secret(key), Some((1, KEY)), "{key:?}");
        assert_eq!(find_secret(&key[..key.len() - 1]), None);
        assert_eq!(find_secret(&[&key[..], b"x"].concat()), None);
    }
    for other in [
        // Public keys, a certificate's beginning, other sequences.
        sequence(&[&curve, &value(3, &[7; 33])]),
        sequence(&[&number, &one]),
        sequence(&[&sequence(&[&one, &curve]), &curve, &value(3, &[7; 33])]),
        sequence(&[&zero, &secret]),
        sequence(&[&one, &value(4, b"short")]),
        sequence(&[&one, &one, &one, &one, &one, &one]),
        Vec::new(),
        vec![0x30],
        vec![0x30, 0],
        vec![0x30, 0x82, 1],
    ] {
        assert_eq!(find_secret(&other), None, "{other:?}");
    }
}

#[test]
fn a_key_of_wireguard_was_packed() {
    let key = format!("{}=", letters(43));
    check(&format!("[Interface]\nPrivateKey = {key}\n"), Some((2, KEY)));
    check(&format!("PrivateKey={key}"), Some((1, KEY)));
    check(&format!("PublicKey = {key}"), None);
    check(&format!("PrivateKey = {}", letters(44)), None);
    check("PrivateKey = ${wireguard_asymmetric_key.this.private_key}", None);
    check("PrivateKey = <base64 of the private key of this machine>", None);
    check(&format!("PrivateKey = {}=", "x".repeat(43)), None);
}

#[test]
fn a_login_of_docker_was_packed() {
    let found = |line| Some((line, "a login of Docker"));
    check("{\n \"auths\": {\"ghcr.io\": {\n \"auth\" : \"Ym90OmdoNTNrOXg3\"}}}", found(2));
    check(r#"config = "{\"auths\":{\"r\":{\"auth\":\"Ym90OmdoNTNrOXg3\"}}}""#, found(1));
    for harmless in [
        r#"{"auths": {}}"#,
        r#"{"auths": {"ghcr.io": {}}, "credsStore": "desktop"}"#,
        r#"{"auths": {"ghcr.io": {"auth": ""}}}"#,
        r#"{"auths": {"ghcr.io": {"auth": "<base64>"}}}"#,
        r#"{"auths": {"ghcr.io": {"auth": "c3R...zE2"}}}"#,
        r#"{"auths": {"ghcr.io": {"auth": "${base64encode("a:b")}"}}}"#,
        r#"jsonencode({ auths = { "ghcr.io" = { auth = base64encode("${var.user}:${var.token}") } } })"#,
        r#"the field "auths" of such a file has "auth" with the login"#,
    ] {
        check(harmless, None);
    }
}

#[test]
fn a_password_of_a_netrc_was_packed() {
    let found = |line| Some((line, "a password of a netrc"));
    check("#\nmachine git.corp login ci password S3CRETpw\n", found(2));
    check("machine git.corp\n  login ci\n  password hunter2\n", found(1));
    check("machine git.corp password Kq8-zzT1", found(1));
    for harmless in [
        "machine example.com login USER password PASSWORD",
        "machine example.com login user password mypassword",
        "machine git.corp login ci password <token>",
        "machine git.corp login ci password ${token}",
        "machine git.corp login ci password $GIT_TOKEN",
        "machine git.corp login ci password ghp_xxxx1234",
        "machine git.corp login ci",
        "f'machine {hostname}{path} login {self.username} password {self.password}'",
        "\"machine id password [path/]filename\"",
        "machine z login u password a\u{e9}\u{1}12345",
        "the machine needs a login and a password that",
        "machine_type = \"n1\" password Kq8-zzT1",
        "machine learning has the password Kq8zzT1xx",
    ] {
        check(harmless, None);
    }
}
