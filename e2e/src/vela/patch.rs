//! Patches of one CUE value by another, steered by comments.

use std::path::Path;

use cue_session::{
    Base, Budget, NativeRuntime, PatchForm, PatchMode, Profile, Program, ProgramSpec, Runtime,
    Source,
};
use cue_syntax::{Style, format_tree, parse_tree};
use serde_json::{Value, json};

use super::cases::{Score, id, lines, same};

pub(super) fn score_patch(root: &Path, score: &mut Score<'_>) {
    let runtime = NativeRuntime::default();
    for case in lines(&root.join("patch/cases.jsonl")) {
        let cue = patched(&runtime, &case, PatchForm::Cue);
        let name = id(&case);
        let want = |key: &str| {
            let other = &case["expected_evalv3"][key];
            (&case["expected"][key], other)
        };
        let (primary, other) = want("error");
        if primary.is_string() {
            let got = json!(cue.err());
            score.count(name, if same(other, &got) { other } else { primary }, &got);
            continue;
        }
        let data = patched(&runtime, &case, PatchForm::Json)
            .map(|text| serde_json::from_str::<Value>(&text).unwrap_or_default());
        let data = data.unwrap_or_else(|error| json!({ "error": error }));
        let (primary, other) = want("json");
        // Not recorded where the result is not concrete.
        if !primary.is_null() {
            let wanted = if same(other, &data) { other } else { primary };
            score.count(&format!("{name} json"), wanted, &data);
        }
        let text = cue.map(|text| format_tree(&parse_tree(&text).0, Style::Plain));
        let text = json!(text.unwrap_or_else(|error| error));
        let (primary, other) = want("cue");
        let wanted = if same(other, &text) { other } else { primary };
        score.count(&format!("{name} cue"), wanted, &text);
    }
}

fn patched(runtime: &NativeRuntime, case: &Value, form: PatchForm) -> Result<String, String> {
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("patch.cue", text("patch"))],
        packages: Vec::new(),
        profile: Profile::KubeVela,
    });
    let mode = match text("strategy") {
        "jsonPatch" => PatchMode::JsonPatch,
        "jsonMergePatch" => PatchMode::JsonMergePatch,
        _ => PatchMode::Marked,
    };
    let mut session = runtime
        .start(&program, Vec::new(), Budget::DEFINITION)
        .map_err(|error| error.to_string())?;
    session
        .patch_text(text("patchPath"), Base::Cue(text("base").to_owned()), mode, form)
        .map(Option::unwrap_or_default)
        .map_err(|error| match error.diagnostics().first() {
            Some(first) => first.message.clone(),
            None => error.to_string(),
        })
}
