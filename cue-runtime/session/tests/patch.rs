//! Patches as CUE text.

use cue_session::{
    Base, Budget, NativeRuntime, PatchForm, PatchMode, Profile, Program, ProgramSpec, Runtime,
    Source,
};

#[track_caller]
fn check(base: &str, patch: &str, expected: &str) {
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("patch.cue", patch)],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let mut session = NativeRuntime::default()
        .start(&program, Vec::new(), Budget::DEFINITION)
        .expect("it starts");
    let base = Base::Cue(base.into());
    let text = session.patch_text("", base, PatchMode::Marked, PatchForm::Cue);
    let text = text.expect("it is patched").expect("it is there");
    assert_eq!(text, expected, "{patch}");
}

/// A comment that the first line of the file is not stands apart, as one below an empty line does.
#[test]
fn comments_stand_apart_where_they_did() {
    let set = "b: 1\n// +patchKey=name\nl: []\n";
    check("b: 1", "// +patchKey=name\nl: []", set);
    let apart = "b: 1\n\n// +patchKey=name\nl: []\n";
    check("b: 1", "\n// +patchKey=name\nl: []", apart);
    check("b: 1", "c: 2\n\n// +patchKey=name\nl: []", "b: 1\nc: 2\n\n// +patchKey=name\nl: []\n");
    check("b: {}", "\n// +patchKey=name\nb: l: []", "b: {\n\t// +patchKey=name\n\tl: []\n}\n");
}
