//! Bottom literals with the comment that the printer puts behind them. It ends the line, so what
//! follows goes to the next one, with the indentation that the official printer has there.

use cue_syntax::Style;
use cue_syntax::tree::{Distance, Group, Kind, NodeId, Tree};

use crate::out::{BOTTOM, NO_SHARING};

const REMARK: &str = "// explicit error (_|_ literal) in source";
/// Behind what keeps a value from being shared, which is printed as bottom, too.
const UNSHARED: &str = "// no sharing";

/// Whether what is printed is simplified: `-s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simplified {
    /// It is not.
    #[default]
    No,
    /// It is. No text with remarks is read again for that: they end lines within what they stand in.
    Yes,
}

/// The text as the formatter aligns it, bottom literals with their remarks.
#[inline(never)]
pub fn laid_out(text: &str, style: Style, simplified: Simplified) -> String {
    let again: &[Style] = match simplified {
        Simplified::No => &[],
        // What is left has no braces too many, and is aligned like that.
        Simplified::Yes => &[Style::Value, Style::Plain],
    };
    let literal = || text.replace(NO_SHARING, "_|_").replace(BOTTOM, "_|_");
    formatted(text, style, again).unwrap_or_else(literal)
}

/// The text as the formatter has it; experiments that it needs need not be asked for.
fn formatted(text: &str, style: Style, again: &[Style]) -> Option<String> {
    const ASKED: &str = "@experiment(try,explicitopen,aliasv2)\n\n";
    let (tree, errors) = cue_syntax::parse_tree(text);
    let asked = if errors.is_empty() { "" } else { ASKED };
    let (tree, errors) = match asked {
        "" => (tree, errors),
        _ => cue_syntax::parse_tree(&format!("{asked}{text}")),
    };
    if !errors.is_empty() {
        return None;
    }
    let text = match again {
        [] => cue_syntax::format_tree(&remarked(tree), style),
        [next, rest @ ..] => formatted(&cue_syntax::format_tree(&tree, style), *next, rest)?,
    };
    text.strip_prefix(asked).map(str::to_owned)
}

/// The tree with bottom literals that have their remarks behind them.
fn remarked(mut tree: Tree) -> Tree {
    let mut places = Vec::new();
    for at in 0..tree.nodes.len() {
        let node = &mut tree.nodes[at];
        let Kind::Ident(name) = &node.kind else { continue };
        let remark = match &**name {
            BOTTOM => REMARK,
            NO_SHARING => UNSHARED,
            _ => continue,
        };
        places.push(node.mark.at);
        node.kind = Kind::Bottom;
        let group = Group {
            slot: 2,
            doc: false,
            line: true,
            distance: Distance::Absent,
            at: node.end,
            lines: vec![(Distance::Absent, remark.into())],
        };
        tree.comments.entry(NodeId(at as u32)).or_default().push(group);
    }
    // What is said of an error stands behind its literal, not behind the field that has it.
    let failed = tree.nodes.iter().enumerate().filter_map(|(at, it)| match it.kind {
        Kind::Field { value, .. } if matches!(tree[value].kind, Kind::Bottom) => {
            Some((NodeId(at as u32), value))
        }
        _ => None,
    });
    for (field, value) in failed.collect::<Vec<_>>() {
        let end = tree[value].end;
        let Some(said) = tree.comments.get_mut(&field) else { continue };
        let behind = said.extract_if(.., |it| it.at >= end);
        let behind = behind.map(|it| Group { slot: 2, line: true, ..it });
        let behind: Vec<Group> = behind.collect();
        tree.comments.entry(value).or_default().extend(behind);
    }
    for node in &mut tree.nodes {
        // A comma stands behind a lone element, too, if that ends with a remark.
        if let Kind::List { close, .. } = &mut node.kind {
            let within = node.mark.at..node.end;
            if places.iter().any(|it| within.contains(it)) {
                close.distance = Distance::Absent;
            }
        }
    }
    embedded_texts(&mut tree);
    tree
}

/// A text of several lines that a struct begins with has no place: it is indented as what is around the struct, before
/// its line begins.
fn embedded_texts(tree: &mut Tree) {
    let firsts = tree.nodes.iter().filter_map(|it| match &it.kind {
        Kind::Struct { decls, .. } => match tree[*decls.first()?].kind {
            Kind::Embed(it) if matches!(tree[it].kind, Kind::Literal(..)) => Some(it),
            _ => None,
        },
        _ => None,
    });
    for it in firsts.collect::<Vec<_>>() {
        tree[it].mark.distance = Distance::Absent;
    }
}
