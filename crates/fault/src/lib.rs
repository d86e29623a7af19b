//! `#[derive(Fault)]`: what an error says of itself beside its text, at its variant.
//!
//! ```text
//! /// the folder holds no packages                           what happened, in docs/reference/errors.md; else `what = "…"`
//! #[error("{} holds no packages", path.display())]           thiserror's own
//! #[fault("no-packages", end = Usage, todo = "read on")]     its code; how the program ends, else Fixable; what to do, in
//!                                                            docs/reference/errors.md, else the first hint without values
//! #[cause("it came from {place}")]                           causes beside those of `source`
//! #[hint("looked for {}", wanted.join("; "))]                advice, in their order
//! #[hint(if seen.is_empty() => "the folder is empty")]       advice under a condition, also `if let`
//! #[hint(each = newest(seen))]                               all texts of an expression: an `Option`, a list
//! NoPackages { path: PathBuf, wanted: Vec<&'static str>, seen: Vec<String> },
//!
//! #[fault(of = _0)]                                          the error inside says what does not stand here
//! Sign(Box<SignError>),
//! #[fault(code = _0.code())]                                 a code that a field knows, or whose row stands elsewhere; beside
//!                                                            a code as text, which gives the row, it is the one that counts
//! Store(StoreError),
//! ```
//!
//! Above an enum, `fault` says the code and the end of the variants that have none; `#[fault(named)]` says that their names in
//! kebab-case are their codes. Fields are in scope by their names, those
//! of tuples as `_0`, `_1`; so are `Fault` and `FaultEnd` of `tofu-oci-types`.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitStr, Meta, Result, Token};

/// See the crate.
#[proc_macro_derive(Fault, attributes(fault, cause, hint))]
pub fn derive_fault(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    fault(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// What stands at a variant.
#[derive(Clone, Default)]
struct Said {
    code: Option<LitStr>,
    /// An expression in place of the code.
    computed: Option<Expr>,
    /// The field that says the rest.
    of: Option<Expr>,
    /// The names of variants are codes.
    named: bool,
    end: Option<Expr>,
    what: Option<LitStr>,
    todo: Option<LitStr>,
}

fn fault(input: &DeriveInput) -> Result<Tokens> {
    let mut common = Said::default();
    let (mut codes, mut ends, mut causes, mut hints, mut rows) = (vec![], vec![], vec![], vec![], vec![]);
    let variants: Vec<_> = match &input.data {
        Data::Enum(data) => {
            common = said(&input.attrs)?;
            let pattern = |name, fields| pattern(quote!(Self::#name), fields);
            data.variants.iter().map(|one| (&one.ident, &one.attrs, pattern(&one.ident, &one.fields))).collect()
        }
        Data::Struct(data) => vec![(&input.ident, &input.attrs, pattern(quote!(Self), &data.fields))],
        Data::Union(_) => return Err(Error::new_spanned(&input.ident, "`Fault` is for enums and structs")),
    };
    for (name, attributes, pattern) in variants {
        let said = said(attributes)?;
        let (reasons, advice) = (texts(attributes, "cause")?, texts(attributes, "hint")?);
        let of = said.of.as_ref();
        let own = [(&said.code, &said.computed), (&common.code, &common.computed)];
        let own = if of.is_some() { &own[..1] } else { &own[..] };
        let code = own.iter().find_map(|(code, computed)| match (code, computed) {
            (_, Some(computed)) => Some(quote!(#computed)),
            (Some(code), None) => Some(quote!(#code)),
            (None, None) => None,
        });
        let code = code.or_else(|| of.map(|of| quote!(#of.code())));
        let code = code.or_else(|| common.named.then(|| kebab_case(name)).map(|code| quote!(#code)));
        let code = code.ok_or_else(|| Error::new_spanned(name, "a code, an expression, or `of` a field is needed"))?;
        codes.push(quote!(#pattern => #code,));
        let end = said.end.as_ref().or(common.end.as_ref().filter(|_| of.is_none()));
        let end = match (end, of) {
            (Some(Expr::Path(end)), _) => quote!(FaultEnd::#end),
            (Some(end), _) => quote!(#end),
            (None, Some(of)) => quote!(#of.end()),
            (None, None) => quote!(FaultEnd::Fixable),
        };
        ends.push(quote!(#pattern => #end,));
        for (all, texts, inner) in [(&mut causes, &reasons, quote!(causes)), (&mut hints, &advice, quote!(hints))] {
            let inner = of.map(|of| quote!(all.extend(#of.#inner());));
            let pushed = texts.iter().map(Text::pushed);
            all.push(quote!(#pattern => { #inner #(#pushed)* }));
        }
        rows.extend(row(&said, attributes, &advice)?);
    }
    let (name, doc) = (&input.ident, "The codes with what happened and what to do: rows of docs/reference/errors.md.");
    Ok(quote! {
        #[allow(unused_variables, unused_mut, unused_imports, dead_code, unreachable_pub)]
        const _: () = {
            use ::tofu_oci_types::{Fault, FaultEnd, FaultRow};

            impl #name {
                #[doc = #doc]
                pub const ROWS: &'static [FaultRow] = &[#(#rows)*];

                /// A stable kebab-case name of what went wrong.
                pub fn code(&self) -> &'static str {
                    match self { #(#codes)* }
                }
            }

            impl Fault for #name {
                fn code(&self) -> &'static str {
                    self.code()
                }

                fn end(&self) -> FaultEnd {
                    match self { #(#ends)* }
                }

                fn causes(&self) -> ::std::vec::Vec<::std::string::String> {
                    let mut all = ::std::vec::Vec::new();
                    match self { #(#causes)* }
                    all
                }

                fn hints(&self) -> ::std::vec::Vec<::std::string::String> {
                    let mut all = ::std::vec::Vec::new();
                    match self { #(#hints)* }
                    all
                }
            }
        };
    })
}

/// The row of a code that stands here.
fn row(said: &Said, attributes: &[Attribute], advice: &[Text]) -> Result<Option<Tokens>> {
    let Some(code) = &said.code else { return Ok(None) };
    let what = said.what.as_ref().map_or_else(|| what_happened(attributes), LitStr::value);
    let todo = said.todo.as_ref().map(LitStr::value).or_else(|| advice.iter().find_map(Text::literal));
    let todo = todo.unwrap_or_default();
    if what.is_empty() || todo.is_empty() {
        return Err(Error::new_spanned(code, "its row needs a documentation, and `todo` or a hint without values"));
    }
    Ok(Some(quote!(FaultRow { code: #code, what: #what, todo: #todo },)))
}

/// The variant with its fields in scope.
fn pattern(name: Tokens, fields: &Fields) -> Tokens {
    match fields {
        Fields::Unit => name,
        Fields::Named(fields) => {
            let names = fields.named.iter().map(|field| &field.ident);
            quote!(#name { #(#names),* })
        }
        Fields::Unnamed(fields) => {
            let names = (0..fields.unnamed.len()).map(|number| format_ident!("_{number}"));
            quote!(#name(#(#names),*))
        }
    }
}

fn said(attributes: &[Attribute]) -> Result<Said> {
    let mut said = Said::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("fault")) {
        attribute.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                if input.peek(LitStr) {
                    let twice = said.code.replace(input.parse()?);
                    if let Some(twice) = twice {
                        return Err(Error::new_spanned(twice, "a variant has one code"));
                    }
                } else {
                    let key: Ident = input.parse()?;
                    if key == "named" {
                        said.named = true;
                        continue;
                    }
                    input.parse::<Token![=]>()?;
                    match key.to_string().as_str() {
                        "code" => said.computed = Some(input.parse()?),
                        "of" => said.of = Some(input.parse()?),
                        "end" => said.end = Some(input.parse()?),
                        "what" => said.what = Some(input.parse()?),
                        "todo" => said.todo = Some(input.parse()?),
                        _ => return Err(Error::new_spanned(key, "`code`, `of`, `end`, `what` or `todo`")),
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        })?;
    }
    Ok(said)
}

/// `no-packages` of `NoPackages`.
fn kebab_case(name: &Ident) -> String {
    let words = name.to_string();
    let dash =
        |(at, one): (usize, char)| (at > 0 && one.is_uppercase()).then_some('-').into_iter().chain(one.to_lowercase());
    words.char_indices().flat_map(dash).collect()
}

/// A cause or an advice at a variant.
enum Text {
    /// What `format!` takes, under a condition if there is one.
    One(Option<Tokens>, Tokens),
    /// An expression with all texts.
    Each(Expr),
}

impl Text {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Ident) && input.peek2(Token![=]) {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            return if key == "each" {
                input.parse().map(Self::Each)
            } else {
                Err(Error::new_spanned(key, "a text, `if`, or `each =`"))
            };
        }
        if !input.peek(Token![if]) {
            return Ok(Self::One(None, input.parse()?));
        }
        input.parse::<Token![if]>()?;
        let mut condition = Tokens::new();
        while !input.peek(Token![=>]) {
            condition.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Token![=>]>()?;
        Ok(Self::One(Some(condition), input.parse()?))
    }

    /// The statement that adds it to `all`.
    fn pushed(&self) -> Tokens {
        match self {
            Self::One(None, text) => quote!(all.push(::std::format!(#text));),
            Self::One(Some(condition), text) => quote!(if #condition { all.push(::std::format!(#text)); }),
            Self::Each(texts) => {
                quote!(all.extend(::std::iter::IntoIterator::into_iter(#texts).map(::std::string::String::from));)
            }
        }
    }

    /// The text if it holds no values.
    fn literal(&self) -> Option<String> {
        let Self::One(_, text) = self else { return None };
        syn::parse2::<LitStr>(text.clone()).ok().map(|text| text.value()).filter(|text| !text.contains('{'))
    }
}

fn texts(attributes: &[Attribute], name: &str) -> Result<Vec<Text>> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    lists.map(|attribute| Text::parse.parse2(attribute.meta.require_list()?.tokens.clone())).collect()
}

/// The first paragraph of the documentation, on one line.
fn what_happened(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let text = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    text.replace("`OpenTofu`", "OpenTofu")
}
