//! The blocks of the cases' CLI configurations: just enough HCL for what the cases write.

use serde_json::{Map, Value};

/// A block: its keys, and its arguments as JSON.
pub(super) struct Written {
    pub(super) keys: Vec<String>,
    pub(super) arguments: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// The blocks of a configuration; nothing where it is written in a way that only the real reader knows.
pub(super) fn read(config: &str) -> Option<Vec<Written>> {
    let mut tokens = tokens(config)?.into_iter().peekable();
    let mut blocks = Vec::new();
    while let Some(first) = tokens.next() {
        let Token::Word(name) = first else { return None };
        let mut keys = vec![name];
        loop {
            match tokens.next()? {
                Token::Text(label) => keys.push(label),
                Token::Sign('{') => break,
                _ => return None,
            }
        }
        let mut arguments = Map::new();
        loop {
            let name = match tokens.next()? {
                Token::Sign('}') => break,
                Token::Word(name) => name,
                _ => return None,
            };
            if tokens.next()? != Token::Sign('=') {
                return None;
            }
            let mut value = scalar(&tokens.next()?);
            if value.is_none() {
                let mut items = Vec::new();
                loop {
                    match tokens.next()? {
                        Token::Sign(']') => break,
                        Token::Sign(',') => {}
                        item => items.push(scalar(&item)?),
                    }
                }
                value = Some(Value::Array(items));
            }
            arguments.insert(name, value?);
        }
        blocks.push(Written { keys, arguments });
    }
    Some(blocks)
}

/// A number is a text to the arguments of these blocks.
fn scalar(token: &Token) -> Option<Value> {
    match token {
        Token::Text(text) => Some(Value::from(text.as_str())),
        Token::Word(word) if word == "true" || word == "false" => Some(Value::from(word == "true")),
        Token::Word(number) => Some(Value::from(number.as_str())),
        Token::Sign(_) => None,
    }
}

fn tokens(config: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = config;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            ' ' | '\n' | '\t' | '\r' => 1,
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                let end = rest.get(1..)?.find('"')? + 1;
                let text = rest.get(1..end)?;
                if text.contains('\\') {
                    return None;
                }
                tokens.push(Token::Text(text.to_owned()));
                end + 1
            }
            '{' | '}' | '[' | ']' | '=' | ',' => {
                tokens.push(Token::Sign(letter));
                1
            }
            _ => {
                let word = |letter: char| !(letter.is_alphanumeric() || "_-.".contains(letter));
                let end = rest.find(word).unwrap_or(rest.len());
                if end == 0 {
                    return None;
                }
                tokens.push(Token::Word(rest[..end].to_owned()));
                end
            }
        };
        rest = rest.get(length..)?;
    }
    Some(tokens)
}
