//! Programs of templates, each made once: naming one hashes its text, and copies it.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use cue_session::{Package, Profile, Program, ProgramSpec, Source};
use cue_syntax::ast::{Decl, ExprKind, Label};
use rustc_hash::{FxHashMap, FxHasher};

use super::reads::Reads;

/// Programs kept; more are forgotten all at once.
const PROGRAMS: usize = 1024;

/// A source to be: the file's name, its text.
pub type File<'a> = (&'a str, &'a str);

/// What may be imported.
#[derive(Clone, Copy, Hash, PartialEq)]
enum Imports {
    Builtin,
    All,
}

/// What every template sees and only a cluster knows, open.
pub(crate) const CONTEXT: File<'static> = ("open.cue", "context: _\n");

/// The same with the parameters.
pub(crate) const OPEN: File<'static> = ("open.cue", "context: _\nparameter: _\n");

/// `parameters` is the design's name for `parameter` (W-22, W-29).
const ALIAS: File<'static> = ("parameters.cue", "parameter: parameters\nparameters: parameter\n");

/// Whether a template declares `parameters`, and no `parameter`.
fn says_parameters(text: &str) -> bool {
    if !text.contains("parameters") {
        return false;
    }
    let parsed = cue_syntax::parse_older(text);
    let declares = |name: &str| {
        parsed.file.decls.iter().any(|decl| match decl {
            Decl::Field(field) => field.label.name() == Some(name),
            Decl::Embed(_) | Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => false,
        })
    };
    declares("parameters") && !declares("parameter")
}

/// The names of the fields that the files of a program may declare at the top.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Top {
    These(BTreeSet<Box<str>>),
    /// One declares what its text does not tell: an embedded value, a label that is computed.
    Anything,
}

impl Top {
    fn of(files: &[File<'_>]) -> Self {
        let mut names = BTreeSet::new();
        let told = files.iter().all(|(_, text)| {
            let parsed = cue_syntax::parse_older(text);
            parsed.errors.is_empty() && names_of(&parsed.file.decls, &mut names)
        });
        if told { Top::These(names) } else { Top::Anything }
    }
}

/// Adds what these declare; false if that cannot be told.
fn names_of(decls: &[Decl], names: &mut BTreeSet<Box<str>>) -> bool {
    decls.iter().all(|decl| match decl {
        Decl::Field(field) => {
            let name = field.label.name();
            names.extend(name.map(Box::from));
            // A pattern makes none.
            name.is_some() || matches!(field.label, Label::Pattern(..))
        }
        Decl::Embed(value) => match &value.kind {
            ExprKind::Comprehension(_, body) => match &body.kind {
                ExprKind::Struct(decls) => names_of(decls, names),
                _ => false,
            },
            _ => false,
        },
        Decl::Let(..) | Decl::Ellipsis(..) | Decl::Attribute(_) => true,
    })
}

/// A template that can be started.
#[derive(Clone, Debug)]
pub struct Template {
    /// What is started.
    pub program: Program,
    /// Whether it may hold a `#do`: its own, or that of a package.
    pub acts: bool,
    top: Arc<Top>,
    /// What it reads of its context.
    pub(super) reads: Arc<Reads>,
}

impl Template {
    /// Whether it may have a field of this name at the top: whoever asks for others asks in vain.
    pub fn may_say(&self, name: &str) -> bool {
        match &*self.top {
            Top::These(names) => names.contains(name),
            Top::Anything => true,
        }
    }
}

/// The packages that templates may import, and the programs made with them.
#[derive(Debug, Default)]
pub struct Library {
    packages: Vec<Package>,
    known: Mutex<FxHashMap<u64, Vec<Template>>>,
}

/// Out of import paths and texts.
impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for Library {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(all: I) -> Self {
        let package = |(path, text): (P, T)| {
            let path = path.into();
            let sources = vec![Source::new(format!("{path}.cue"), text)];
            Package { path, sources }
        };
        Self::new(all.into_iter().map(package).collect())
    }
}

impl Library {
    /// Templates may import `packages`, besides those of CUE.
    pub fn new(packages: Vec<Package>) -> Self {
        Self { packages, known: Mutex::default() }
    }

    /// The program of these files. Packages are those imported, and perhaps a few only mentioned.
    pub fn template(&self, files: &[File<'_>]) -> Template {
        self.find(files, Imports::All)
    }

    /// The program of files that may only import packages of CUE.
    pub fn plain(&self, files: &[File<'_>]) -> Template {
        self.find(files, Imports::Builtin)
    }

    fn find(&self, files: &[File<'_>], imports: Imports) -> Template {
        let mut hasher = FxHasher::default();
        (files, imports).hash(&mut hasher);
        let key = hasher.finish();
        // What another thread left behind when it panicked is whole: entries are only pushed.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |it: &&Template| {
            let sources = &it.program.spec.sources;
            let added = usize::from(sources.last().is_some_and(|it| it.name == ALIAS.0));
            sources.len() == files.len() + added
                && sources.iter().zip(files).all(|(own, it)| (&*own.name, &*own.text) == *it)
        };
        if let Some(found) = known.get(&key).and_then(|all| all.iter().find(same)) {
            return found.clone();
        }
        let made = self.make(files, imports);
        if known.len() >= PROGRAMS {
            known.clear();
        }
        known.entry(key).or_default().push(made.clone());
        made
    }

    fn make(&self, files: &[File<'_>], imports: Imports) -> Template {
        let mentioned = |needle: &str| files.iter().any(|(_, text)| text.contains(needle));
        let any = imports == Imports::All && mentioned("import");
        let imported = |it: &&Package| any && mentioned(&it.path);
        let packages: Vec<Package> = self.packages.iter().filter(imported).cloned().collect();
        let acts = !packages.is_empty() || mentioned("#do");
        let alias = files.contains(&OPEN) && files.iter().any(|(_, text)| says_parameters(text));
        let top = Arc::new(Top::of(files));
        let own = files.iter().filter(|it| ![CONTEXT, OPEN].contains(it));
        let reads = Arc::new(Reads::of(own.map(|it| it.1)));
        let files = files.iter().chain(alias.then_some(&ALIAS));
        let sources = files.map(|(name, text)| Source::new(*name, *text)).collect();
        let program = Program::new(ProgramSpec { sources, packages, profile: Profile::KubeVela });
        Template { program, acts, top, reads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_may_say_is_told_by_its_text() {
        let says = |text: &str| {
            let template = library().template(&[("t.cue", text), OPEN]);
            ["output", "patch", "errs", "parameter"].map(|it| template.may_say(it))
        };
        let text =
            "output: patch: 1\nif parameter.a {\"errs\": []}\nlet x = {patch: 1}\n#d: patch: 1";
        assert_eq!(says(text), [true, false, true, true]);
        for anything in [
            "#base\n#base: {}",
            "\"\\(parameter.a)\": 1",
            "(parameter.a): 1",
            "for k, v in parameter {(k): v}",
            "if true {#base}\n#base: {}",
            "{patch: 1}",
            "broken: {",
        ] {
            assert_eq!(says(anything), [true; 4], "{anything}");
        }
    }

    fn library() -> Library {
        let text = "package p\n#Do: {#do: \"do\"}";
        Library::from_iter([("vela/p", text), ("vela/q", text)])
    }

    #[test]
    fn a_program_is_made_once_and_another_text_makes_another() {
        let library = library();
        let one = library.template(&[("a.cue", "a: 1")]).program;
        let same = library.template(&[("a.cue", "a: 1")]).program;
        let other = library.template(&[("a.cue", "a: 2")]).program;
        assert!(Arc::ptr_eq(&one.spec, &same.spec));
        assert_ne!(one.key, other.key);
    }

    #[test]
    fn only_imported_packages_come_along() {
        let library = library();
        let text = "import \"vela/p\"\np.#Do";
        let found = library.template(&[("a.cue", text)]);
        let paths: Vec<&str> = found.program.spec.packages.iter().map(|it| &*it.path).collect();
        assert_eq!(paths, ["vela/p"]);
        assert!(found.acts);
        assert!(library.plain(&[("a.cue", text)]).program.spec.packages.is_empty());
        assert!(!library.template(&[("a.cue", "a: \"vela/p\"")]).acts);
    }
}
