//! What packages get that are not in their files: `@embed`, and the packages below `tool`.

mod told;

use std::fs;

use cue_session::NativeRuntime;
use cue_tool::{Load, Request, Verb, evaluate};

const MODULE: (&str, &str) =
    ("cue.mod/module.cue", "module: \"cue.example\"\nlanguage: version: \"v0.17.0\"\n");

/// What a command says of a folder with these files, without the folder's name.
fn play(verb: Verb, files: &[(&str, &str)]) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    let arguments = vec![folder.path().display().to_string()];
    let request = Request::new(verb, Load { arguments, ..Load::default() });
    let cut = |it: String| told::without(folder.path(), &it);
    match evaluate(&NativeRuntime::default(), &request) {
        Ok(outcome) => match outcome.errors.first() {
            None => Ok(cut(String::from_utf8(outcome.output).expect("text"))),
            Some(error) => Err(cut(error.to_string())),
        },
        Err(error) => Err(cut(error.to_string())),
    }
}

#[test]
fn files_are_put_in_where_the_attributes_stand() {
    let text = "@extern(embed)\npackage p\n\
        a: _ @embed(file=\"a.json\")\n\
        b: {x: int} @embed(file=a.json)\n\
        c: _ @embed(glob=\"y/*\", type=text)\n\
        d: [{@embed(file=a.json)}, 1]\n\
        e: (string | int) @embed(file=y/t.txt)\n\
        f: n: {y?: int} @embed(file=a.json)\n\
        [=~\"^z\"]: _ @embed(file=a.json)\n\
        z: _\n\
        g: _ @embed(glob=\"none/*.json\", allowEmptyGlob)\n\
        @embed(file=top.yaml)\n";
    let files = [
        MODULE,
        ("x.cue", text),
        ("a.json", "{\"x\": 34}\n"),
        ("top.yaml", "t: [1, 2]\n"),
        ("y/t.txt", "hi"),
        ("y/.hidden", "no"),
    ];
    let wanted = "a: {\n    x: 34\n}\nb: {\n    x: 34\n}\nc: {\n    \"y/t.txt\": \"hi\"\n}\n\
        d: [{\n    x: 34\n}, 1]\ne: \"hi\"\nf: {\n    n: {\n        x: 34\n    }\n}\n\
        z: {\n    x: 34\n}\ng: {}\nt: [1, 2]\n";
    assert_eq!(play(Verb::Eval, &files), Ok(wanted.into()));
}

#[test]
fn what_is_wrong_with_embedded_data_is_told_where_it_stands() {
    let text = "@extern(embed)\npackage p\n\
        a: int @embed(file=a.json), b: {x: string} @embed(file=y/b.yaml), c: 1 & 2\n";
    let files = [MODULE, ("x.cue", text), ("a.json", "\n true"), ("y/b.yaml", "k: 1\nx: 2\n")];
    let wanted = "c: conflicting values 2 and 1:\n    x.cue:3:70\n    x.cue:3:74\n\
        a: conflicting values int and true (mismatched types int and bool):\n    a.json:2:2\n    x.cue:3:4\n\
        b.x: conflicting values string and 2 (mismatched types string and int):\n    x.cue:3:36\n    y/b.yaml:2:4";
    let told = play(Verb::Eval, &files).expect_err("it fails");
    for line in wanted.lines() {
        assert!(told.contains(line), "{line} in {told}");
    }
}

#[test]
fn comments_of_embedded_yaml_are_kept() {
    let text = "@extern(embed)\n\npackage p\n\n// above\nx: _ @embed(file=e.yaml)\ny: 1\n";
    let yaml = "# doc\na: 1 # b\n# c\nb:\n  # d\n  - 0o17\n";
    let files = [MODULE, ("x.cue", text), ("e.yaml", yaml)];
    let wanted = "package p\n\n// above\nx: {\n\t// doc\n\ta: 1\n\t// c\n\tb: [15]\n} \
                  @embed(file=e.yaml)\ny: 1\n";
    assert_eq!(play(Verb::Def, &files), Ok(wanted.into()));
}

/// As v0.17.1 has it: files that are named one by one are in no module.
#[test]
fn nothing_is_put_into_files_that_are_named_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "@extern(embed)\n\npackage p\n\nx: _ @embed(file=e.json)\nlet L = 1\n";
    for (name, text) in [MODULE, ("x.cue", text), ("e.json", "3")] {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    let file = folder.path().join("x.cue").display().to_string();
    let load = Load { arguments: vec![file], ..Load::default() };
    let told = evaluate(&NativeRuntime::default(), &Request::new(Verb::Eval, load));
    let told = told::without(folder.path(), &told.expect_err("it is refused").to_string());
    let unused = "unreferenced alias or let clause L:\n    x.cue:6:1";
    assert_eq!(told, format!("cannot embed files when not in a module\n{unused}"));
}

#[test]
fn what_cannot_be_embedded() {
    for (attribute, wanted) in [
        ("type=foo", "attribute must have file or glob field"),
        ("file=a.json, glob=\"*\"", "attribute cannot have both file and glob field"),
        ("file=\"../a.json\"", "cannot refer to parent directory"),
        ("file=/a.json", "only relative files are allowed"),
        ("file=./a.json", "path not normalized, use \"a.json\" instead"),
        ("file=n.json", "open n.json: no such file or directory"),
        ("glob=\"x[\"", "invalid glob pattern \"x[\": syntax error in pattern"),
        ("glob=x/*.*", "extension not fully specified; type argument required"),
        ("glob=*.json", "no matches for glob pattern \"*.json\""),
        ("file=p.cue", "encoding \"cue\" not (yet) supported"),
        ("file=s.yaml", "streaming not implemented: found more than one value in file"),
        ("file=m/x.json", "cannot embed file \"m/x.json\": in different module"),
        ("file=a.json, allowEmptyGlob", "allowEmptyGlob must be specified with a glob field"),
        ("file=a.unknown", "unknown file extension .unknown"),
    ] {
        let text = format!("@extern(embed)\npackage p\na: _ @embed({attribute})\n");
        let files = [
            MODULE,
            ("p.cue", text.as_str()),
            ("s.yaml", "1\n---\n2\n"),
            ("m/cue.mod/module.cue", ""),
            ("m/x.json", "1"),
        ];
        let wanted = format!("@embed: {wanted}:\n    p.cue:3:6");
        assert_eq!(play(Verb::Eval, &files), Err(wanted), "{attribute}");
    }
}

#[test]
fn what_asks_for_other_than_files() {
    for (text, wanted) in [
        ("@extern(foo)\npackage p\n", "no injection defined for \"foo\":\n    p.cue:1:1"),
        (
            "package p\n\na: 1\n@extern(embed)\n",
            "extern attribute must appear before package clause:\n    p.cue:4:1",
        ),
        ("@extern()\npackage p\n", "injection name must be non-empty:\n    p.cue:1:1"),
    ] {
        assert_eq!(play(Verb::Vet, &[MODULE, ("p.cue", text)]), Err(wanted.into()), "{text}");
    }
    let text = "@extern(embed)\npackage p\n";
    let wanted = "cannot embed files when not in a module";
    assert_eq!(play(Verb::Eval, &[("p.cue", text)]), Err(wanted.into()));
}

#[test]
fn tasks_are_data() {
    let text = "package p\n\nimport (\n\t\"tool/exec\"\n\t\"tool/file\"\n)\n\n\
        a: exec.Run & {cmd: \"ls\", stdout: string}\nb: file.MkdirAll & {path: \"x\"}\n";
    let wanted = "a: {\n    $id:         \"tool/exec.Run\"\n    cmd:         \"ls\"\n    env: {}\n    \
        stdout:      string\n    stderr:      null\n    stdin:       null\n    success:     bool\n    \
        mustSucceed: true\n}\nb: {\n    $id:           \"tool/file.Mkdir\"\n    path:          \"x\"\n    \
        createParents: true\n    permissions:   511\n}\n";
    let told = play(Verb::Eval, &[("p.cue", text)]).expect("it is right");
    assert_eq!(
        told.split_whitespace().collect::<Vec<_>>(),
        wanted.split_whitespace().collect::<Vec<_>>()
    );
    assert!(play(Verb::Def, &[("p.cue", text)]).expect("it is right").contains("exec.Run & {"));
    let text = "package p\n\nimport \"tool/cli\"\n\na: cli.Print & {text: 42}\n";
    let told = play(Verb::Export, &[("p.cue", text)]).expect_err("it fails");
    assert!(told.ends_with("    tool/cli:5:9"), "{told}");
}

#[test]
fn comments_of_yaml_are_imported() {
    use cue_tool::import::{Files, Options, Texts, import};
    use cue_tool::place::{Context, Several};
    let text = "# head\n\n# of a\na: 1 # one\n\n# of l\nl:\n  # main\n  - name: x # n\n  # other\n  \
        - name: \"# no\"\n# foot\n\nb: # of b\n  c: |\n    # text\n\n  d: [1, 2] # flow\n# end\n";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.yaml");
    fs::write(&file, text).expect("a file");
    let options = Options {
        arguments: vec![file.display().to_string()],
        endings: Vec::new(),
        name: None,
        package: None,
        labels: Vec::new(),
        several: Several::Unified,
        context: Context::Value,
        schema: None,
        files: Files::Together,
        texts: Texts::Kept,
        force: false,
    };
    let written = import(&NativeRuntime::default(), &options).expect("it is read");
    let wanted = "// head\n// of a\na: 1 // one\n\n// of l\n// foot\nl: [{\n\t// main\n\tname: \"x\" // n\n\
        }, {\n\t// other\n\tname: \"# no\"\n}]\n// end\nb: // of b\n{\n\tc: \"\"\"\n\t\t# text\n\n\t\t\"\"\"\n\t\
        d: [1, 2, // flow\n\t]\n}\n";
    assert_eq!(written[0].text, wanted);
}

#[test]
fn imports_are_of_a_version_and_told_by_who_leads_to_them() {
    let a = ("a/a.cue", "package a\nv: 1\n");
    let text = "package p\n\nimport \"cue.example/a@v0\"\n\nr: a.v\n";
    assert_eq!(play(Verb::Eval, &[MODULE, a, ("x.cue", text)]), Ok("r: 1\n".into()));
    assert_eq!(play(Verb::Def, &[MODULE, a, ("x.cue", text)]), Ok(text.into()));
    let nope = "package a\nimport \"cue.example/nope\"\nv: nope.x\n";
    let missing = "cannot find package \"cue.example/nope\": cannot find module providing package \
        cue.example/nope";
    let wanted = format!(
        "cue.example@v0.cue.example/a@v0: import failed: import failed: {missing}:\n    \
         x.cue:3:8\n    a/a.cue:2:8"
    );
    assert_eq!(play(Verb::Eval, &[MODULE, ("a/a.cue", nope), ("x.cue", text)]), Err(wanted));
    let wanted = "import failed: expected '}', found 'EOF':\n    x.cue:3:8\n    a/a.cue:2:6";
    let wrong = ("a/a.cue", "package a\nv: {\n");
    assert_eq!(play(Verb::Eval, &[MODULE, wrong, ("x.cue", text)]), Err(wanted.into()));
}

#[test]
fn files_without_a_package_see_their_own_fields() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [("a.cue", "x: 1\ny: z\n"), ("b.cue", "z: 2\n")].map(|(name, text)| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("a file");
        file.display().to_string()
    });
    let load = Load { arguments: arguments.to_vec(), ..Load::default() };
    let outcome = evaluate(&NativeRuntime::default(), &Request::new(Verb::Eval, load));
    let told = outcome.expect("they are read").errors.first().map(ToString::to_string);
    assert!(told.is_some_and(|it| it.starts_with("y: reference \"z\" not found:")));
}
