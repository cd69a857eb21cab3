//! Files that are schemas in another language: what they become, and what is told of data that is held against them, as
//! the official command v0.17.1 has it.

mod folder;
mod told;

use std::path::Path;

use cue_session::NativeRuntime;
use cue_tool::import::{Files, Options, import};
use cue_tool::place::{Context, Several};
use cue_tool::{Load, Request, Verb, crds, evaluate};

use crate::folder::folder;

const PERSON: &str = "{
  \"$schema\": \"http://json-schema.org/draft-07/schema#\",
  \"title\": \"A person\",
  \"type\": \"object\",
  \"properties\": {
    \"name\": {\"type\": \"string\", \"minLength\": 2},
    \"tag\": {\"$ref\": \"#/definitions/tag\"}
  },
  \"definitions\": {\"tag\": {\"type\": \"string\", \"pattern\": \"^[a-z]+$\"}}
}
";

/// Arguments: qualifiers as they are, files in the folder.
fn arguments(folder: &Path, words: &[&str]) -> Vec<String> {
    let argument = |it: &&str| match it.ends_with(':') {
        true => (*it).to_owned(),
        false => folder.join(it).display().to_string(),
    };
    words.iter().map(argument).collect()
}

fn imported(folder: &Path, words: &[&str], options: Options) -> Result<Vec<String>, String> {
    let options = Options { arguments: arguments(folder, words), ..options };
    match import(&NativeRuntime::default(), &options) {
        Ok(all) => Ok(all.into_iter().map(|it| it.text).collect()),
        Err(error) => Err(told::without(folder, &error.to_string())),
    }
}

/// What is printed, or what is wrong.
fn played(folder: &Path, words: &[&str], request: Request) -> Result<String, String> {
    let load = Load { arguments: arguments(folder, words), ..Load::default() };
    let told = |error: &dyn std::fmt::Display| told::without(folder, &error.to_string());
    match evaluate(&NativeRuntime::default(), &Request { load, ..request }) {
        Ok(outcome) => match outcome.errors.first() {
            None => Ok(String::from_utf8(outcome.output).expect("text")),
            Some(error) => Err(told(error)),
        },
        Err(error) => Err(told(&error)),
    }
}

#[test]
fn schemas_are_imported_where_they_are_put() {
    let folder = folder(&[
        ("s.json", PERSON),
        ("d.json", "{\"a\": 1}"),
        ("m.yaml", "$schema: http://json-schema.org/draft-07/schema#\ntype: string\n---\na: 1\n"),
    ]);
    let play = |words: &[&str], options| imported(folder.path(), words, options);
    let inner = "\t@jsonschema(schema=\"http://json-schema.org/draft-07/schema#\")\n\
        \tname?: strings.MinRunes( 2)\n\ttag?:  #tag\n\n\t#tag: =~\"^[a-z]+$\"\n\t...\n";
    let at = |label: &str| {
        let head = "// A person\n\nimport \"strings\"\n\n";
        Ok(vec![format!("{head}{label}: {{\n{inner}}}\n")])
    };
    let labels = vec!["#X:".to_owned()];
    assert_eq!(play(&["s.json"], Options { labels, ..Options::default() }), at("#X"));
    let (labels, context) = (vec!["data.title".to_owned()], Context::File);
    let with_context = Options { labels, context, ..Options::default() };
    assert_eq!(play(&["s.json"], with_context), at("\"A person\""));
    let as_data = play(&["json:", "s.json"], Options::default()).expect("data");
    assert!(as_data[0].starts_with("$schema: \"http"), "{as_data:?}");
    // Beside data nothing is held against a schema.
    assert_eq!(play(&["s.json", "d.json"], Options::default()), Ok(vec!["a: 1\n".into()]));
    let list = Options { several: Several::Listed, ..Options::default() };
    let head = "@jsonschema(schema=\"http://json-schema.org/draft-07/schema#\")";
    let text = format!("[{{\n\t{head}\n\n\tstring\n}}, {{\n\ta: 1\n}}]\n");
    assert_eq!(play(&["m.yaml"], list), Ok(vec![text]));
    let apart = Options { files: Files::Apart, ..Options::default() };
    let texts = vec![format!("{head}\n\nstring\n"), "a: 1\n".to_owned()];
    assert_eq!(play(&["m.yaml"], apart), Ok(texts));
    let told = "openapi field is required but not found";
    assert_eq!(play(&["openapi:", "d.json"], Options::default()), Err(told.into()));
}

#[test]
fn data_is_held_against_schemas() {
    let folder = folder(&[
        ("s.json", PERSON),
        ("d.yaml", "name: b\ntag: 3\n"),
        ("t.json", "\"A\""),
        ("own.cue", "package p\n"),
    ]);
    let play = |words: &[&str], request| played(folder.path(), words, request);
    let vet = || Request::new(Verb::Vet, Load::default());
    let told = "tag: conflicting values 3 and =~\"^[a-z]+$\" (mismatched types int and string):\n    \
        d.yaml:2:6\n    s.json:7:14\n    s.json:9:46\n\
        name: invalid value \"b\" (does not satisfy strings.MinRunes(2)):\n    s.json:6:33\n    \
        d.yaml:1:7\n    s.json:6:33";
    assert_eq!(play(&["s.json", "d.yaml"], vet()), Err(told.into()));
    assert_eq!(play(&["d.yaml", "s.json"], vet()), Err(told.into()), "whatever comes first");
    let tag = Request { schema: Some("#tag".into()), ..vet() };
    let told =
        "invalid value \"A\" (out of bound =~\"^[a-z]+$\"):\n    s.json:9:46\n    t.json:1:1";
    assert_eq!(play(&["s.json", "t.json"], tag), Err(told.into()));
    let told = "data files specified without a schema";
    assert_eq!(play(&["s.json"], vet()), Err(told.into()));
    let eval = Request::new(Verb::Eval, Load::default());
    assert_eq!(play(&["s.json"], eval).as_deref(), Ok("#tag: =~\"^[a-z]+$\"\n"));
}

#[test]
fn custom_resources_become_packages_of_their_versions() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: x.test\n  \
        scope: Cluster\n  names: {kind: Foo, plural: foos, singular: foo}\n  versions:\n  - name: v1\n    schema:\n      \
        openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {n: {type: integer}}}}}\n";
    let other = crd.replace("x.test", "y.test").replace("  group", "  # of another\n  group");
    let folder = folder(&[
        ("both.yaml", &format!("{crd}---\n{other}")),
        ("none.json", "[1, {\"kind\": \"ConfigMap\"}]"),
        (
            "less.yaml",
            "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: {}\n",
        ),
    ]);
    let play = |file: &str, group: Option<&str>| {
        let (written, error) = crds::packages(&arguments(folder.path(), &[file]), group);
        let written: Vec<_> = written.into_iter().map(|it| (it.file, it.text)).collect();
        (written, error.map(|it| it.to_string()))
    };
    let text = "package v1\n\n#Foo: {\n\t_embeddedResource\n\tspec?: n?: int\n\n\t_embeddedResource: {\n\t\t\
        apiVersion!: string\n\t\tkind!:       string\n\t\tmetadata?: {\n\t\t\t...\n\t\t}\n\t}\n\t\
        apiVersion: \"x.test/v1\"\n\tkind:       \"Foo\"\n\tmetadata!: {\n\t\tname!:      string\n\t\t\
        namespace?: string\n\t\tlabels?: [string]: string\n\t\tannotations?: [string]: string\n\t\t...\n\t}\n}\n";
    let one = vec![("v1/foo.cue".to_owned(), text.to_owned())];
    assert_eq!(play("both.yaml", Some("x.test")), (one.clone(), None));
    let told = "multiple CRD groups found: x.test y.test";
    assert_eq!(play("both.yaml", None), (one, Some(told.into())));
    assert_eq!(play("none.json", None), (Vec::new(), None));
    let told = "cannot decode CRD: specs.0.spec.group: cannot convert non-concrete value string \
        (and 2 more errors)";
    assert_eq!(play("less.yaml", None), (Vec::new(), Some(told.into())));
}
