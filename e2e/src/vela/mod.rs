//! KubeVela's rendering side: names, hashes, policies, templates, health, admission, definitions.

mod cases; // reading, comparing, counting
mod names; // generated names, revision hashes
mod policies; // overrides, generated steps
mod patch; // patches steered by comments
mod templates; // one template; status texts
mod render; // whole Applications
mod dry_run; // the text of a dry run, and its files
mod definitions; // definitions, schemas, CRDs
mod admission; // what is refused

use std::path::Path;

use self::cases::Score;
use crate::score::Scores;

type Runner = fn(&Path, &mut Score<'_>);

/// Names, and what runs each.
const CATEGORIES: &[(&str, Runner)] = &[
    ("vela.names", names::score_names),
    ("vela.override", policies::score_override),
    ("vela.generator", policies::score_generator),
    ("vela.crds", definitions::score_crds),
    ("vela.patch", patch::score_patch),
    ("vela.template", templates::score_template),
    ("vela.health", templates::score_health),
    ("vela.validation", admission::score_validation),
    ("vela.render.objects", render::score_objects),
    ("vela.render.errors", render::score_errors),
    ("vela.own.objects", render::score_own),
    ("vela.cli_text", dry_run::score_cli_text),
    ("vela.dryrun_files", dry_run::score_files),
    ("vela.defs_cue", definitions::score_defs),
    ("vela.schema", definitions::score_schema),
    ("vela.definitions", definitions::score_definitions),
    ("vela.upgrade", definitions::score_upgrade),
];

/// Scores every category below `root`.
pub fn run(root: &Path) -> anyhow::Result<Scores> {
    anyhow::ensure!(root.join("render").is_dir(), "no cases in {}", root.display());
    let mut scores = Scores::default();
    for (name, run) in CATEGORIES {
        run(root, &mut Score { name, scores: &mut scores });
    }
    Ok(scores)
}
