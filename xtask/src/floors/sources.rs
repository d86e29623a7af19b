//! The code of a crate without its tests, as tokens.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The tokens without what stands under `#[cfg(test)]`, at any depth.
pub(super) fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut attributes = 0; // where the attributes begin that stand last in `kept`
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let is_sign = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '#');
        let attribute = rest.next_if(|next| is_sign && matches!(next, TokenTree::Group(_)));
        match (token, attribute) {
            (sign, Some(TokenTree::Group(group))) => {
                if is_for_tests(&group) {
                    kept.truncate(attributes);
                    skip_item(&mut rest);
                } else {
                    kept.extend([sign, TokenTree::Group(group)]);
                    continue;
                }
            }
            (TokenTree::Group(group), _) => {
                let mut cleared = Group::new(group.delimiter(), without_tests(group.stream()));
                cleared.set_span(group.span());
                kept.push(TokenTree::Group(cleared));
            }
            (other, _) => kept.push(other),
        }
        attributes = kept.len();
    }
    kept.into_iter().collect()
}

/// Whether an attribute is a `cfg` that holds in tests only. An `any(test, …)` counts, a `not(test)` does not.
fn is_for_tests(attribute: &Group) -> bool {
    fn names_test(tokens: TokenStream) -> bool {
        let mut negated = false;
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => {
                negated = word == "not";
                word == "test"
            }
            TokenTree::Group(group) => !negated && names_test(group.stream()),
            _ => false,
        })
    }
    let mut tokens = attribute.stream().into_iter();
    let is_cfg = matches!(tokens.next(), Some(TokenTree::Ident(word)) if word == "cfg");
    is_cfg && names_test(tokens.collect())
}

/// Drops the rest of an attribute and the item after it: all up to a `;`, or up to its braces.
fn skip_item(rest: &mut impl Iterator<Item = TokenTree>) {
    let mut in_value = false;
    let mut after_colon = false;
    for token in rest {
        match &token {
            TokenTree::Punct(sign) if sign.as_char() == ';' => return,
            TokenTree::Punct(sign) if sign.as_char() == '=' => in_value = true,
            // `use a::{b};` and `const A: B = B {};` go on after their braces.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !in_value && !after_colon => return,
            _ => {}
        }
        after_colon = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == ':');
    }
}

/// The words and signs of the code, each with its line from 1. Brackets of every kind are left out.
pub(super) fn words(tokens: TokenStream) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for token in tokens {
        let line = token.span().start().line;
        match token {
            TokenTree::Group(group) => found.extend(words(group.stream())),
            TokenTree::Ident(word) => found.push((word.to_string(), line)),
            TokenTree::Punct(sign) => found.push((sign.as_char().to_string(), line)),
            TokenTree::Literal(_) => found.push((String::new(), line)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let kept = words(without_tests(text.parse().unwrap()));
        assert_eq!(kept.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" "), want);
    }

    #[test]
    fn comments_and_literals_are_not_words() {
        check("a // b\nc /* d */ \"e\"", "a c ");
    }

    #[test]
    fn test_items_fall_away_whole() {
        check("#[cfg(test)] mod tests { fn f() {} } fn g() {}", "fn g");
        check("#[cfg(test)] pub(crate) mod tests; fn g() {}", "fn g");
        check("#[cfg(test)] use a::{b, c}; fn g() {}", "fn g");
        check("/// Doc.\n#[allow(x)] #[cfg(test)] mod a {} mod b;", "mod b ;");
        check("#[cfg(test)] #[path = \"x\"] mod a; mod b;", "mod b ;");
        check("#[cfg(test)] const A: B = B { c: 1 }; fn g() {}", "fn g");
        check("impl A { #[cfg(any(test, fuzzing))] fn f<T>(t: T) -> B { t } fn g() {} }", "impl A fn g");
    }

    #[test]
    fn what_is_not_for_tests_alone_stays() {
        check("#[cfg(not(test))] fn f() {}", "# cfg not test fn f");
        check("#[test] fn f() {}", "# test fn f");
    }
}
