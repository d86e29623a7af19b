//! The CLI configuration of a case: a reader for these blocks alone, and what each mistake does.

use serde_json::Value;
use tofu_oci_types::{RepositoryPrefix, Secret, parse_prefix};

use super::Case;
use super::files::Searched;
use crate::opentofu::{ConfigFault, FaultEffect};
use crate::{Block, BlockStyle, CredentialPolicy, DefaultHelper, FilePlace, HelperName, SearchScope};

/// A block as written.
struct WrittenBlock {
    kind: String,
    labels: Vec<String>,
    assigned: bool,
    line: usize,
    arguments: Vec<(String, Value)>,
}

impl WrittenBlock {
    fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().find(|(written, _)| written == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.argument(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    fn place(&self) -> FilePlace {
        FilePlace { file: "tofu.rc".to_owned(), line: Some(self.line) }
    }

    fn fault(&self, code: &str, effect: FaultEffect) -> ConfigFault {
        ConfigFault { code: code.to_owned(), place: self.place(), effect }
    }
}

impl Case {
    /// The policy of the sound blocks, and the mistakes in the others.
    pub(super) fn policy(&self) -> (CredentialPolicy, Vec<ConfigFault>) {
        let written = match self.get("cli_json") {
            Value::Null => blocks(self.text("cli_config")),
            json => json_blocks(json),
        };
        let mut blocks: Vec<Block> = Vec::new();
        let mut faults = Vec::new();
        let mut default = None;
        let mut searched: Searched = (SearchScope::Ambient, self.ambient());
        let mut defaults = 0;
        for it in &written {
            match it.kind.as_str() {
                _ if it.assigned => faults.push(it.fault("config-syntax", FaultEffect::ConfigDropped)),
                "oci_credentials" => match block(it) {
                    Ok(block) if blocks.iter().any(|other| other.label == block.label) => {
                        faults.push(it.fault("duplicate-block", FaultEffect::FirstKept));
                    }
                    Ok(block) => blocks.push(block),
                    Err(code) => faults.push(it.fault(code, FaultEffect::BlockDropped)),
                },
                "oci_default_credentials" => {
                    defaults += 1;
                    if defaults == 2 {
                        faults.push(it.fault("two-default-blocks", FaultEffect::Crash));
                    }
                    match self.default_block(it, &mut faults) {
                        Ok((helper, files)) => (default, searched) = (helper, files.unwrap_or(searched)),
                        Err(code) => faults.push(it.fault(code, FaultEffect::DefaultsInstead)),
                    }
                }
                _ => {}
            }
        }
        (CredentialPolicy::new(blocks, default, searched.0, searched.1), faults)
    }

    fn default_block(
        &self,
        it: &WrittenBlock,
        faults: &mut Vec<ConfigFault>,
    ) -> Result<(Option<DefaultHelper>, Option<Searched>), &'static str> {
        if !it.labels.is_empty() {
            return Err("default-label");
        }
        let discover = match it.argument("discover_ambient_credentials") {
            None => true,
            Some(Value::Bool(discover)) => *discover,
            Some(_) => return Err("block-argument-type"),
        };
        let files = match it.argument("docker_style_config_files") {
            None => None,
            Some(Value::Array(names)) => Some((SearchScope::Listed, self.listed(names))),
            Some(_) => return Err("block-argument-type"),
        };
        let helper = it.text("docker_credentials_helper").and_then(|name| {
            if unfit(&name) {
                faults.push(it.fault("invalid-helper-name", FaultEffect::DefaultHelperKept { name }));
                return None;
            }
            Some(DefaultHelper { helper: HelperName::parse(&name).expect("a name"), place: it.place() })
        });
        if !discover && files.is_some() {
            faults.push(it.fault("default-inconsistent", FaultEffect::DiscoveryOff));
        }
        Ok((helper, if discover { files } else { Some((SearchScope::Off, Vec::new())) }))
    }
}

fn block(it: &WrittenBlock) -> Result<Block, &'static str> {
    let [label] = it.labels.as_slice() else { return Err("block-label-count") };
    let prefix = parse_prefix(label).map_err(|_| "block-invalid-label")?;
    let basic = (it.text("username"), it.text("password"));
    let oauth = (it.text("access_token"), it.text("refresh_token"));
    let style = match (basic, oauth, it.text("docker_credentials_helper")) {
        ((None, None), (None, None), None) => return Err("block-no-style"),
        ((Some(username), Some(_)), (None, None), None) if username.is_empty() => {
            BlockStyle::Undecided { argument: "username" }
        }
        ((Some(username), Some(password)), (None, None), None) => {
            BlockStyle::Basic { username, password: Secret::new(password) }
        }
        ((_, _), (None, None), None) => return Err("block-basic-needs-both"),
        ((None, None), (Some(access), Some(_)), None) if access.is_empty() => {
            BlockStyle::Undecided { argument: "access_token" }
        }
        ((None, None), (Some(access), Some(_)), None) => BlockStyle::Token { access: Secret::new(access) },
        ((None, None), (_, _), None) => return Err("block-oauth-needs-both"),
        ((None, None), (None, None), Some(_)) if matches!(prefix, RepositoryPrefix::Repository(_)) => {
            return Err("helper-with-path");
        }
        ((None, None), (None, None), Some(name)) if unfit(&name) => return Err("invalid-helper-name"),
        ((None, None), (None, None), Some(name)) => BlockStyle::Helper(HelperName::parse(&name).expect("a name")),
        _ => return Err("block-two-styles"),
    };
    Ok(Block { label: label.clone(), place: it.place(), style })
}

/// What `OpenTofu` takes for no helper's name.
fn unfit(name: &str) -> bool {
    name.is_empty() || name.contains('/')
}

/// Reads blocks of arguments: names, texts, numbers, `true`, `false` and lists of texts.
fn blocks(text: &str) -> Vec<WrittenBlock> {
    let mut tokens = tokens(text).into_iter().peekable();
    let mut blocks = Vec::new();
    while let Some((line, Token::Word(kind))) = tokens.next() {
        let mut written = WrittenBlock { kind, labels: Vec::new(), assigned: false, line, arguments: Vec::new() };
        loop {
            match tokens.next().expect("a block").1 {
                Token::Text(label) => written.labels.push(label),
                Token::Sign('=') => written.assigned = true,
                Token::Sign('{') => break,
                other => panic!("{other:?}"),
            }
        }
        while let Some((_, Token::Word(name))) = tokens.next() {
            assert_eq!(tokens.next().map(|(_, token)| token), Some(Token::Sign('=')));
            let value = match tokens.next().expect("a value").1 {
                Token::Sign('[') => {
                    let mut items = Vec::new();
                    loop {
                        match tokens.next().expect("an item").1 {
                            Token::Text(item) => items.push(Value::String(item)),
                            Token::Sign(',') => {}
                            Token::Sign(']') => break Value::Array(items),
                            other => panic!("{other:?}"),
                        }
                    }
                }
                Token::Text(text) => Value::String(text),
                Token::Word(word) => serde_json::from_str(&word).expect("a number, true or false"),
                other @ Token::Sign(_) => panic!("{other:?}"),
            };
            written.arguments.push((name, value));
        }
        blocks.push(written);
    }
    blocks
}

#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Tokens with their lines.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let token = match letter {
            '\n' => {
                line += 1;
                continue;
            }
            letter if letter.is_whitespace() => continue,
            '"' => {
                let mut text = String::new();
                loop {
                    match letters.next().expect("a closing quote") {
                        '"' => break Token::Text(text),
                        '\\' => text.extend(letters.next()),
                        letter => text.push(letter),
                    }
                }
            }
            '{' | '}' | '[' | ']' | '=' | ',' => Token::Sign(letter),
            letter => {
                let mut word = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| letter.is_alphanumeric() || "_-.".contains(*letter)) {
                    word.push(letter);
                }
                Token::Word(word)
            }
        };
        tokens.push((line, token));
    }
    tokens
}

/// The blocks of a configuration in JSON.
fn json_blocks(json: &Value) -> Vec<WrittenBlock> {
    let members = |value: &Value| value.as_object().expect("an object").clone().into_iter();
    let written = |kind: &str, labels: Vec<String>, body: &Value| WrittenBlock {
        kind: kind.to_owned(),
        labels,
        assigned: false,
        line: 1,
        arguments: members(body).collect(),
    };
    let blocks = members(json).flat_map(|(kind, body)| match kind.as_str() {
        "oci_credentials" => members(&body).map(|(label, body)| written(&kind, vec![label], &body)).collect(),
        _ => vec![written(&kind, Vec::new(), &body)],
    });
    blocks.collect()
}
