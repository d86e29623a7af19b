//! `#[derive(Fault)]`: what an error says of itself beside its text, at its variant.
//!
//! ```text
//! /// the folder holds no packages                           what happened, in docs/errors.md
//! #[error("{} holds no packages", path.display())]           thiserror's own
//! #[fault("no-packages", end = Usage, todo = "read on")]     its code; how the program ends, else Fixable; what to do, in
//!                                                            docs/errors.md, else the first hint without values
//! #[hint("looked for {}", wanted.join("; "))]                advice, in their order
//! #[hint(if seen.is_empty() => "the folder is empty")]       advice under a condition, also `if let`
//! NoPackages { path: PathBuf, wanted: Vec<&'static str>, seen: Vec<String> },
//!
//! #[fault(of = _0)]                                          all of it is said by the error inside
//! Sign(Box<SignError>),
//! #[fault(code = _0.code())]                                 a code that a field knows, or whose row stands elsewhere
//! Store(StoreError),
//! ```
//!
//! Fields are in scope by their names, those of tuples as `_0`, `_1`. The traits are in `tofu-oci-types`.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitStr, Meta, Result, Token, Variant};

/// See the crate.
#[proc_macro_derive(Fault, attributes(fault, hint))]
pub fn derive_fault(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    fault(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// What stands at a variant.
#[derive(Default)]
struct Said {
    code: Option<LitStr>,
    /// An expression in place of the code.
    computed: Option<Expr>,
    /// The field that says everything.
    of: Option<Ident>,
    end: Option<Ident>,
    todo: Option<LitStr>,
}

fn fault(input: &DeriveInput) -> Result<Tokens> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "`Fault` is for enums"));
    };
    let (mut codes, mut ends, mut hints, mut rows) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        let pattern = pattern(variant);
        let said = said(variant)?;
        let advice = advice(&variant.attrs)?;
        if let Some(of) = &said.of {
            let says_more = said.code.is_some() || said.computed.is_some() || said.end.is_some() || said.todo.is_some();
            if says_more || !advice.is_empty() {
                return Err(Error::new_spanned(of, "what a field says is all that is said"));
            }
            codes.push(quote!(#pattern => #of.code(),));
            ends.push(quote!(#pattern => #of.end(),));
            hints.push(quote!(#pattern => all.extend(#of.hints()),));
            continue;
        }
        let code = match (&said.code, &said.computed) {
            (Some(code), None) => quote!(#code),
            (None, Some(computed)) => quote!(#computed),
            _ => return Err(Error::new_spanned(&variant.ident, "a code, an expression, or `of` a field is needed")),
        };
        codes.push(quote!(#pattern => #code,));
        if let Some(end) = &said.end {
            ends.push(quote!(#pattern => ::tofu_oci_types::FaultEnd::#end,));
        }
        let pushed = advice.iter().map(|(condition, text)| {
            let push = quote!(all.push(::std::format!(#text)););
            condition.as_ref().map_or_else(|| push.clone(), |condition| quote!(if #condition { #push }))
        });
        hints.push(quote!(#pattern => { #(#pushed)* }));
        if let Some(code) = &said.code {
            let what = what_happened(&variant.attrs);
            let todo = said.todo.as_ref().map(LitStr::value).or_else(|| literal(&advice)).unwrap_or_default();
            if what.is_empty() || todo.is_empty() {
                return Err(Error::new_spanned(
                    code,
                    "its row needs a documentation, and `todo` or a hint without values",
                ));
            }
            rows.push(quote!(::tofu_oci_types::FaultRow { code: #code, what: #what, todo: #todo },));
        }
    }
    let (name, doc) = (&input.ident, "The codes with what happened and what to do: rows of docs/errors.md.");
    Ok(quote! {
        #[allow(unused_variables)]
        impl #name {
            #[doc = #doc]
            pub const ROWS: &'static [::tofu_oci_types::FaultRow] = &[#(#rows)*];

            /// A stable kebab-case name of what went wrong.
            pub fn code(&self) -> &'static str {
                match self { #(#codes)* }
            }

            /// How the program ends because of it.
            pub fn end(&self) -> ::tofu_oci_types::FaultEnd {
                #[allow(unreachable_patterns)]
                match self { #(#ends)* _ => ::tofu_oci_types::FaultEnd::Fixable }
            }

            /// What to do about it, a sentence each.
            pub fn hints(&self) -> ::std::vec::Vec<::std::string::String> {
                #[allow(unused_mut)]
                let mut all = ::std::vec::Vec::new();
                match self { #(#hints)* }
                all
            }
        }

        impl ::tofu_oci_types::Fault for #name {
            fn code(&self) -> &'static str {
                self.code()
            }

            fn end(&self) -> ::tofu_oci_types::FaultEnd {
                self.end()
            }

            fn hints(&self) -> ::std::vec::Vec<::std::string::String> {
                self.hints()
            }
        }
    })
}

/// The variant with its fields in scope.
fn pattern(variant: &Variant) -> Tokens {
    let name = &variant.ident;
    match &variant.fields {
        Fields::Unit => quote!(Self::#name),
        Fields::Named(fields) => {
            let names = fields.named.iter().map(|field| &field.ident);
            quote!(Self::#name { #(#names),* })
        }
        Fields::Unnamed(fields) => {
            let names = (0..fields.unnamed.len()).map(|number| format_ident!("_{number}"));
            quote!(Self::#name(#(#names),*))
        }
    }
}

fn said(variant: &Variant) -> Result<Said> {
    let mut said = Said::default();
    for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("fault")) {
        attribute.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                if input.peek(LitStr) {
                    let twice = said.code.replace(input.parse()?);
                    if let Some(twice) = twice {
                        return Err(Error::new_spanned(twice, "a variant has one code"));
                    }
                } else {
                    let key: Ident = input.parse()?;
                    input.parse::<Token![=]>()?;
                    match key.to_string().as_str() {
                        "code" => said.computed = Some(input.parse()?),
                        "of" => said.of = Some(input.parse()?),
                        "end" => said.end = Some(input.parse()?),
                        "todo" => said.todo = Some(input.parse()?),
                        _ => return Err(Error::new_spanned(key, "`code`, `of`, `end` or `todo`")),
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

/// The advice at a variant: a condition, and what `format!` takes.
fn advice(attributes: &[Attribute]) -> Result<Vec<(Option<Tokens>, Tokens)>> {
    let of = |input: ParseStream<'_>| -> Result<(Option<Tokens>, Tokens)> {
        if !input.peek(Token![if]) {
            return Ok((None, input.parse()?));
        }
        input.parse::<Token![if]>()?;
        let mut condition = Tokens::new();
        while !input.peek(Token![=>]) {
            condition.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Token![=>]>()?;
        Ok((Some(condition), input.parse()?))
    };
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("hint"));
    lists.map(|attribute| of.parse2(attribute.meta.require_list()?.tokens.clone())).collect()
}

/// The first advice that holds no values.
fn literal(advice: &[(Option<Tokens>, Tokens)]) -> Option<String> {
    let texts = advice.iter().filter_map(|(_, text)| syn::parse2::<LitStr>(text.clone()).ok());
    texts.map(|text| text.value()).find(|text| !text.contains('{'))
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
