//! `resolve`.

use serde::Serialize;
use tofu_oci_mapper::{MagicSuffix, Place, RuleSet};
use tofu_oci_types::ProviderAddr;

use super::Context;
use crate::args::{Lookup, ResolveArgs};
use crate::complaint::Complaint;
use crate::connect::{End, From};
use crate::exit::Exit;
use crate::printer;
use crate::report::json_line;

/// Says where an address is looked for, and by which rule.
pub(crate) fn resolve(context: &Context, args: &ResolveArgs) -> Result<(), Complaint> {
    let found = lookup(&args.lookup, &args.address)?;
    if context.json {
        #[derive(Serialize)]
        struct Line<'a> {
            event: &'static str,
            address: &'a ProviderAddr,
            place: String,
            rule: &'a str,
        }
        json_line(&Line { event: "resolved", address: &args.address, place: found.end.to_string(), rule: &found.rule });
    } else {
        printer::stdout(&format!("{}\n", found.end));
        if !context.quiet {
            printer::stderr(&format!("{} by {}\n", args.address, found.rule));
        }
    }
    Ok(())
}

/// Where an address is, and why there.
pub(crate) struct Found {
    pub(crate) end: End,
    pub(crate) rule: String,
}

/// `--from` where it is given, then the magic suffix.
pub(crate) fn lookup(args: &Lookup, address: &ProviderAddr) -> Result<Found, Complaint> {
    if let Some(text) = &args.from {
        let from = From::parse(text).map_err(|complaint| complaint.version_said(""))?;
        let rule = match &from {
            From::One(_) => "--from".to_owned(),
            From::Repositories(_) | From::Layouts(_) => format!("the repository template `{text}`"),
        };
        return Ok(Found { end: from.end(address)?, rule });
    }
    let rules = RuleSet { magic_suffix: suffix(args)?, mirrors: Vec::new() };
    let places = rules.places(address).map_err(|error| {
        Complaint::of(Exit::Fixable, &error)
            .hint("say where it is with --from REPOSITORY, or --from 'REGISTRY/${namespace}/${type}'")
    })?;
    match places.into_iter().next() {
        Some(Place::Oci(place)) => Ok(Found { end: End::Registry(place.repository), rule: place.rule.to_string() }),
        _ => Err(Complaint::new(Exit::Fixable, format!("no rule says where {address} is"))),
    }
}

/// The magic suffix of these arguments.
pub(crate) fn suffix(args: &Lookup) -> Result<MagicSuffix, Complaint> {
    args.magic_suffix.parse().map_err(|error| Complaint::of(Exit::Usage, &error))
}
