//! One view of both syntaxes: the arguments and blocks of a body, with their labels.

use hcl_edit::Span as _;
use hcl_edit::structure;

use crate::json::{TfJsonKind, TfJsonMember, TfJsonValue};
use crate::syntax::{TfAttribute, TfBlock, TfBody, TfValue};

/// One thing in a body, in the order of the text.
pub(super) enum ShapeItem<'a> {
    Argument(TfAttribute<'a>),
    Block(&'a str, TfBlock<'a>),
    /// JSON of another shape than a block has: its place, the kind of the block and what is wrong.
    Wrong(usize, &'a str, &'static str),
}

/// What stands in a body. `labels` says how many labels a kind of block has, `None` if it is no block: JSON writes both alike.
pub(super) fn of<'a>(body: &TfBody<'a>, labels: impl Fn(&str) -> Option<usize>) -> Vec<ShapeItem<'a>> {
    let mut found = Vec::new();
    match body {
        TfBody::Native(body) => found.extend(body.iter().map(native)),
        TfBody::Json(objects) => {
            for member in objects.iter().flat_map(|members| members.iter()).filter(|member| member.name != "//") {
                match labels(&member.name) {
                    None => found.push(ShapeItem::Argument(argument(member))),
                    Some(count) => json(member, count, &mut found),
                }
            }
        }
    }
    found
}

fn native(item: &structure::Structure) -> ShapeItem<'_> {
    match item {
        structure::Structure::Attribute(attribute) => ShapeItem::Argument(TfAttribute {
            name: attribute.key.as_str(),
            offset: attribute.key.span().map_or(0, |span| span.start),
            value: TfValue::Native(&attribute.value),
        }),
        structure::Structure::Block(block) => ShapeItem::Block(
            block.ident.as_str(),
            TfBlock {
                labels: block.labels.iter().map(structure::BlockLabel::as_str).collect(),
                offset: block.span().map_or(0, |span| span.start),
                body: TfBody::Native(&block.body),
            },
        ),
    }
}

fn argument(member: &TfJsonMember) -> TfAttribute<'_> {
    TfAttribute { name: &member.name, offset: member.offset, value: TfValue::Json(&member.value) }
}

fn json<'a>(member: &'a TfJsonMember, labels: usize, found: &mut Vec<ShapeItem<'a>>) {
    let mut unpacking = LabelLevels { kind: &member.name, labels: Vec::new(), found };
    unpacking.level(&member.value, member.offset, labels);
}

struct LabelLevels<'a, 'f> {
    kind: &'a str,
    /// The labels of the levels above.
    labels: Vec<&'a str>,
    found: &'f mut Vec<ShapeItem<'a>>,
}

impl<'a> LabelLevels<'a, '_> {
    /// Spec: HCL 2, JSON `body.unpackBlock`.
    fn level(&mut self, value: &'a TfJsonValue, offset: usize, labels: usize) {
        if labels == 0 {
            return self.blocks(value, offset);
        }
        let objects = match &value.kind {
            TfJsonKind::Object(members) => vec![members],
            TfJsonKind::Array(list) => {
                let objects: Vec<_> = list.iter().filter_map(|item| object(item)).collect();
                if objects.len() < list.len() {
                    return self.wrong(value.offset, "is an object for each of its labels");
                }
                objects
            }
            _ => return self.wrong(value.offset, "is an object for each of its labels"),
        };
        if objects.iter().all(|members| members.is_empty()) {
            return self.wrong(value.offset, "needs a label");
        }
        for member in objects.into_iter().flatten() {
            self.labels.push(&member.name);
            self.level(&member.value, member.offset, labels - 1);
            self.labels.pop();
        }
    }

    fn blocks(&mut self, value: &'a TfJsonValue, offset: usize) {
        match &value.kind {
            TfJsonKind::Null => {}
            TfJsonKind::Object(_) => self.block(value, offset),
            TfJsonKind::Array(list) => list.iter().for_each(|item| self.block(item, offset)),
            _ => self.wrong(value.offset, "is an object"),
        }
    }

    fn block(&mut self, value: &'a TfJsonValue, offset: usize) {
        if matches!(value.kind, TfJsonKind::Object(_) | TfJsonKind::Array(_) | TfJsonKind::Null) {
            let body = TfBody::Json(value.objects());
            self.found.push(ShapeItem::Block(self.kind, TfBlock { labels: self.labels.clone(), offset, body }));
        } else {
            self.wrong(value.offset, "is an object");
        }
    }

    fn wrong(&mut self, offset: usize, why: &'static str) {
        self.found.push(ShapeItem::Wrong(offset, self.kind, why));
    }
}

fn object(value: &TfJsonValue) -> Option<&Vec<TfJsonMember>> {
    if let TfJsonKind::Object(members) = &value.kind { Some(members) } else { None }
}
