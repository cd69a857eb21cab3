//! What stands above the declarations of a package: comments of its files, its clause, attributes of
//! files (O-82, O-83).

use cue_syntax::tree::{Distance, Group, Kind, Mark, NodeId, Tree};

/// Comments and clauses of the files that make a package.
#[derive(Default)]
pub(crate) struct Heading {
    /// Comments of the files, and of their clauses if no clause is printed.
    file: Vec<String>,
    /// Directly above the clause; those of several files are one.
    docs: String,
    package: Option<String>,
    /// Behind the clause.
    line: String,
    /// Below it; of what has no clause, below everything.
    below: Vec<String>,
    /// Nothing stands between the comments and what follows them.
    pub(crate) is_attached: bool,
    /// Attributes behind the clause and the imports, with their comments.
    pub(crate) attributes: String,
}

impl Heading {
    pub(crate) fn of<'a>(sources: impl Iterator<Item = &'a str>) -> Self {
        let mut heading = Self::default();
        let mut met = Vec::new();
        for source in sources {
            let (tree, _) = cue_syntax::parse_tree(source);
            let Some(root) = tree.root else { continue };
            let Kind::File(decls) = &tree[root].kind else { continue };
            let clause = decls.iter().find_map(|it| match tree[*it].kind {
                Kind::Package(name) => Some((*it, name)),
                _ => None,
            });
            let name = clause.and_then(|(_, name)| match &tree[name].kind {
                Kind::Ident(name) if &**name != "_" => Some(name.to_string()),
                _ => None,
            });
            heading.package = name.or(heading.package.take());
            let mut groups = comments(&tree, root);
            match (clause, groups) {
                (Some((clause, _)), _) => heading.add_clause(comments(&tree, clause)),
                // The first comment of a file without a clause is that of its declarations.
                (None, [first, rest @ ..]) => {
                    heading.add_docs(first);
                    groups = rest;
                }
                (None, []) => {}
            }
            heading.file.extend(groups.iter().map(text));
            heading.add_attributes(&tree, decls, &mut met);
        }
        if heading.package.is_none() {
            let docs = std::mem::take(&mut heading.docs);
            heading.is_attached = heading.file.is_empty() && !docs.is_empty();
            heading.file.splice(0..0, Some(docs).filter(|it| !it.is_empty()));
            if heading.is_attached {
                heading.attributes = heading.attributes.trim_start().to_owned();
            }
            if !heading.line.is_empty() {
                heading.below.insert(0, std::mem::take(&mut heading.line));
            }
        }
        heading
    }

    fn add_clause(&mut self, groups: &[Group]) {
        for group in groups {
            match (group.doc, group.line && self.line.is_empty()) {
                (true, _) => self.add_docs(group),
                (false, true) => self.line = text(group),
                (false, false) => self.below.push(text(group)),
            }
        }
    }

    fn add_docs(&mut self, group: &Group) {
        if !self.docs.is_empty() {
            self.docs.push_str("//\n");
        }
        self.docs.push_str(&text(group));
    }

    fn add_attributes(&mut self, tree: &Tree, decls: &[NodeId], met: &mut Vec<Box<str>>) {
        // What stands before imports says something of the file only.
        let clauses =
            |it: &NodeId| matches!(tree[*it].kind, Kind::Package(_) | Kind::Import { .. });
        let start = decls.iter().rposition(clauses).map_or(0, |it| it + 1);
        for id in decls.iter().skip(start) {
            let Kind::Attribute(it) = &tree[*id].kind else { return };
            if met.contains(it) {
                continue;
            }
            met.push(it.clone());
            let (above, below): (Vec<_>, Vec<_>) =
                comments(tree, *id).iter().partition(|group| group.slot == 0);
            let mark: Mark = tree[*id].mark;
            let first = above.first().map_or(mark.distance, |it| it.distance);
            // What a file begins with has no line of its own to begin on.
            if decls.first() == Some(id) && above.is_empty() && self.attributes.ends_with(")\n") {
                self.attributes.pop();
                self.attributes.push_str(", ");
            } else if first == Distance::Gap
                || !(above.is_empty() && below.is_empty() || self.attributes.is_empty())
            {
                self.attributes.push('\n');
            }
            for group in above {
                self.attributes.push_str(&text(group));
            }
            self.attributes.push_str(it);
            for group in below {
                self.attributes.push_str(match (group.line, group.distance) {
                    (true, _) => " ",
                    (false, Distance::Gap) => "\n\n",
                    (false, _) => "\n",
                });
                self.attributes.push_str(text(group).trim_end());
            }
            self.attributes.push('\n');
        }
    }

    /// Whether the last of what stands above is a comment below the package clause, or behind it.
    pub(crate) fn ends_in_comment(&self) -> bool {
        self.package.is_some() && !(self.below.is_empty() && self.line.is_empty())
    }

    /// Comments, the clause, the imports.
    pub(crate) fn above(&self, imports: &str) -> String {
        let mut all = self.file.join("\n");
        let attached = match &self.package {
            None => all.is_empty() || self.is_attached,
            Some(package) => {
                if !all.is_empty() {
                    all.push('\n');
                }
                let line = self.line.trim_end();
                all.push_str(&format!("{}package {package} {line}\n", self.docs));
                for group in &self.below {
                    all.push('\n');
                    all.push_str(group);
                }
                false
            }
        };
        // Attributes bring the distance they have, a comment behind the clause none.
        let own = self.package.is_some() && self.below.is_empty() && self.line.is_empty();
        let apart = match imports.is_empty() {
            true => own && self.attributes.is_empty(),
            false => !attached,
        };
        if apart {
            all.push('\n');
        }
        all + imports
    }

    /// What ends the whole.
    pub(crate) fn end(&self) -> String {
        match self.package {
            Some(_) => String::new(),
            None => self.below.iter().map(|it| format!("\n{it}")).collect(),
        }
    }

    /// The comments of the files.
    pub(crate) fn of_file(&self) -> String {
        match self.package {
            Some(_) => self.below.join("\n"),
            None => self.file.join("\n"),
        }
    }
}

fn comments(tree: &Tree, id: NodeId) -> &[Group] {
    tree.comments.get(&id).map(Vec::as_slice).unwrap_or_default()
}

/// The lines of a comment.
fn text(group: &Group) -> String {
    group.lines.iter().map(|it| format!("{}\n", it.1)).collect()
}
