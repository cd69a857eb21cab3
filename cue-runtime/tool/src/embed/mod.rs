//! `@embed` below `@extern(embed)`: values of files, put in where the attributes stand.
//!
//! ~~~text
//! source -find-> attributes and their places -files-> data -splice-> source, where its pieces are from
//! ~~~

mod files; // what an attribute asks for -> data
mod find; // attributes that ask for files
mod splice; // data into the text, and positions back out of it

use cue_session::{Diagnostic, Position, Source};
use cue_syntax::LineIndex;
use cue_syntax::ast::{Attribute, Decl, File};

pub(crate) use files::arguments;
pub(crate) use splice::{Data, Piece, Spliced};

use crate::diagnostic;
use crate::module::Module;

/// The only thing that can be put in.
const EMBED: &str = "embed";

/// Puts in what `sources` ask for.
pub(crate) fn embed(
    sources: &mut [Source],
    module: Option<&Module>,
    spliced: &mut Vec<Spliced>,
    wrong: &mut Vec<Diagnostic>,
) {
    for source in sources.iter_mut().filter(|it| it.text.contains("@extern")) {
        let parsed = cue_syntax::parse_file(&source.text);
        // What does not parse is told of where it is compiled.
        if !parsed.errors.is_empty() {
            continue;
        }
        let before = wrong.len();
        let embeds = embeds(&parsed.file, source, wrong);
        if !embeds || wrong.len() > before {
            continue;
        }
        if module.is_none_or(|it| it.path.is_empty()) {
            let text = "cannot embed files when not in a module";
            if wrong.iter().all(|it| it.message != text) {
                wrong.push(diagnostic(text, None));
            }
            continue;
        }
        let found = find::attributes(&parsed.file, &source.text);
        if let Some(it) = put_in(source, &parsed.file, &found, wrong) {
            source.text = it.text.as_str().into();
            spliced.push(it);
        }
    }
}

/// Whether a file says that its attributes are to be looked at.
fn embeds(file: &File, source: &Source, wrong: &mut Vec<Diagnostic>) -> bool {
    let lines = LineIndex::new(&source.text);
    let mut tell = |it: &Attribute, text: String| {
        let (line, column) = lines.at(it.span.start);
        wrong.push(diagnostic(text, Some((&source.name, line, column))));
    };
    let clause = file.package.as_ref().map(|it| it.span.start);
    let asking = file.attributes.iter().filter(|it| it.name == "extern");
    let (above, below): (Vec<_>, Vec<_>) =
        asking.partition(|it| clause.is_none_or(|clause| it.span.start < clause));
    if above.is_empty() {
        let declared = file.decls.iter().filter_map(|it| match it {
            Decl::Attribute(it) if it.name == "extern" && clause.is_some() => Some(&**it),
            _ => None,
        });
        for it in below.into_iter().chain(declared) {
            tell(it, "extern attribute must appear before package clause".into());
        }
        return false;
    }
    let mut kinds: Vec<String> = Vec::new();
    for it in above {
        let kind = arguments(&it.body).into_iter().next().map(|it| it.1);
        let kind = kind.unwrap_or_default();
        let text = if clause.is_none() {
            "extern attribute without package clause".to_owned()
        } else if kind.is_empty() {
            "injection name must be non-empty".to_owned()
        } else if kinds.contains(&kind) {
            format!("duplicate @extern attribute for kind {kind:?}")
        } else if kind != EMBED {
            format!("no injection defined for {kind:?}")
        } else {
            kinds.push(kind);
            continue;
        };
        tell(it, text);
    }
    kinds.iter().any(|it| it == EMBED)
}

/// The source with the data in it.
fn put_in(
    source: &Source,
    file: &File,
    found: &[find::Found<'_>],
    wrong: &mut Vec<Diagnostic>,
) -> Option<Spliced> {
    let lines = LineIndex::new(&source.text);
    let folder = std::path::Path::new(&source.name).parent();
    let folder = folder.unwrap_or(std::path::Path::new(""));
    let asking = files::Asking { folder, file, text: &source.text };
    let mut pieces = Vec::new();
    let mut imports: Vec<String> = Vec::new();
    for it in found {
        let (line, column) = lines.at(it.attribute.span.start);
        let at = Position { file: source.name.clone(), line, column };
        match files::value(&asking, &it.attribute.body) {
            Ok(data) => {
                let more = data.imports.iter().filter(|it| !imports.contains(it));
                let more: Vec<String> = more.cloned().collect();
                imports.extend(more);
                pieces.extend(it.place.pieces(data));
            }
            Err(files::Wrong { message, inside }) => wrong.push(Diagnostic {
                message: format!("@embed: {message}"),
                positions: std::iter::once(at).chain(inside).collect(),
                ..diagnostic("", None)
            }),
        }
    }
    if let Some(clause) = file.package.as_ref().filter(|_| !imports.is_empty()) {
        imports.dedup();
        let start = clause.span.end as usize;
        let before = format!("\n{}\n", imports.join("\n"));
        pieces.push(Piece { start, removed: 0, before, data: Data::default() });
    }
    (!pieces.is_empty()).then(|| Spliced::new(source, pieces))
}
