//! Bottom literals with the comment that the printer puts behind them. It ends the line, so what
//! follows goes to the next one, with the indentation that the official printer has there.

use cue_syntax::tree::{Distance, Group, Kind, NodeId, Tree};

use crate::out::{BOTTOM, NO_SHARING};

const REMARK: &str = "// explicit error (_|_ literal) in source";
/// Behind what keeps a value from being shared, which is printed as bottom, too.
const UNSHARED: &str = "// no sharing";

/// The text as the formatter aligns it, bottom literals with their remarks.
#[inline(never)]
pub fn laid_out(text: &str, style: cue_syntax::Style) -> String {
    formatted(text, style).unwrap_or_else(|| text.replace(NO_SHARING, "_|_").replace(BOTTOM, "_|_"))
}

/// The text as the formatter has it; experiments that it needs need not be asked for.
fn formatted(text: &str, style: cue_syntax::Style) -> Option<String> {
    const ASKED: &str = "@experiment(try,explicitopen,aliasv2)\n\n";
    let (tree, errors) = cue_syntax::parse_tree(text);
    if errors.is_empty() {
        return Some(cue_syntax::format_tree(&remarked(tree), style));
    }
    let (tree, errors) = cue_syntax::parse_tree(&format!("{ASKED}{text}"));
    if !errors.is_empty() {
        return None;
    }
    let text = cue_syntax::format_tree(&remarked(tree), style);
    text.strip_prefix(ASKED).map(str::to_owned)
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
    for node in &mut tree.nodes {
        // A comma stands behind a lone element, too, if that ends with a remark.
        if let Kind::List { close, .. } = &mut node.kind {
            let within = node.mark.at..node.end;
            if places.iter().any(|it| within.contains(it)) {
                close.distance = Distance::Absent;
            }
        }
    }
    tree
}
