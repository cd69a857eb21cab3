//! `get crd`: custom resource definitions of Kubernetes as packages, a folder for each version.

use std::collections::BTreeSet;

use cue_jsonschema::decode::{self, Crd, Problem};
use cue_session::Diagnostic;

use crate::error::in_order;
use crate::import::Written;
use crate::interpreted::with_document;
use crate::located::Lines;
use crate::named::{self, Opened};
use crate::{Encoding, Error, data, diagnostic, filetype};

/// The files that definitions become: those of one group. What is wrong comes behind the files that are written
/// nonetheless.
pub fn packages(arguments: &[String], group: Option<&str>) -> (Vec<Written>, Option<Error>) {
    let mut found = Found { group: group.map(str::to_owned), ..Found::default() };
    found.any = group.is_none();
    let error = found.read(arguments).err();
    (found.written, error)
}

/// What was found up to here.
#[derive(Default)]
struct Found {
    /// The group that is wanted; that of the first one where none was named.
    group: Option<String>,
    /// No group was named.
    any: bool,
    groups: BTreeSet<String>,
    written: Vec<Written>,
}

impl Found {
    fn read(&mut self, arguments: &[String]) -> Result<(), Error> {
        let refused = |text: &str| Err(Error::Request(text.to_owned()));
        if arguments.is_empty() {
            return refused("must specify at least one file");
        }
        let arguments = filetype::arguments(arguments)?;
        match (arguments.packages.len(), arguments.files.is_empty()) {
            (0, _) => {}
            (1, true) => return refused("input must be individual files not packages"),
            _ => return refused("cannot specify multiple packages to cue get crd"),
        }
        for opened in named::opened(arguments.files)? {
            self.file(&opened)?;
        }
        if self.any && self.groups.len() > 1 {
            let groups: Vec<&str> = self.groups.iter().map(String::as_str).collect();
            let text = format!("multiple CRD groups found: {}", groups.join(" "));
            return Err(Error::Request(text));
        }
        Ok(())
    }

    fn file(&mut self, opened: &Opened) -> Result<(), Error> {
        let Opened { named, bytes } = opened;
        let encoding = named.kind.encoding;
        let read = data::read(encoding, &opened.shown(), bytes).map_err(Error::Diagnostics)?;
        read.all().map_err(Error::Diagnostics)?;
        for tree in data::trees(encoding, bytes) {
            let all = with_document(&tree, encoding, bytes, decode::custom_resources);
            for it in all.map_err(|all| told(all, opened))? {
                self.definition(it)?;
            }
        }
        Ok(())
    }

    fn definition(&mut self, crd: Crd) -> Result<(), Error> {
        let wanted = self.group.get_or_insert_with(|| crd.group.clone());
        let is_wanted = *wanted == crd.group;
        if self.any {
            self.groups.insert(crd.group.clone());
        }
        if !is_wanted {
            return Ok(());
        }
        let mut versions = crd.versions;
        versions.sort_by(|one, other| one.0.cmp(&other.0));
        for (version, decoded) in &versions {
            // They are to be names of a folder and a file in that.
            if [version, &crd.singular]
                .iter()
                .any(|it| it.contains(['/', '\\']) || it.starts_with('.'))
            {
                let text =
                    format!("version {version:?} of {:?} is no name of a file", crd.singular);
                return Err(Error::Request(text));
            }
            let labels = [format!("#{}", crd.kind)];
            let placed = decode::Placed { labels: &labels, listed: false, schemas: vec![decoded] };
            let text = decode::text(&[placed], Some(version));
            let file = format!("{version}/{}.cue", crd.singular);
            self.written.push(Written { file, text });
        }
        Ok(())
    }
}

/// What is wrong with a definition, with its places.
fn told(all: Vec<Problem>, opened: &Opened) -> Error {
    let lines = match opened.named.kind.encoding {
        Encoding::Yaml => Lines::of_characters(&opened.bytes),
        _ => Lines::new(&opened.bytes),
    };
    let shown = opened.shown();
    let wrong = |Problem { message, at }: Problem| match at.map(|it| lines.at(it)) {
        Some((line, column)) => diagnostic(message, Some((&shown, line, column))),
        None => diagnostic(message, None),
    };
    let all: Vec<Diagnostic> = all.into_iter().map(wrong).collect();
    Error::Diagnostics(in_order(all))
}
