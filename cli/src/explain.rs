//! Why an Application cannot be rendered: the lines that is about, of its definitions and of its file.

use std::collections::BTreeMap;

use cue_report::Severity;
use cue_session::{Profile, ProgramSpec, Source};
use lateen_controller::rest::{self, ActAs};
use lateen_engine::api::{Application, Definition, DefinitionKind, SYSTEM_NAMESPACE};
use lateen_engine::render::dry_run::Bundle;
use lateen_engine::render::{Context, Definitions, Library, NoActor, Templates};
use serde_json::Value;

use crate::Cli;
use crate::manifest::Document;
use crate::target::{Cluster, cue_runtime};

/// What a cluster says of an Application names no lines. It is rendered once more, with the definitions the cluster has,
/// and shown if that fails as the cluster told: `problems` are what it said, `documents` what was read for it, if any.
///
/// Nothing, too, where the definitions may not be read: what the cluster said has been told already.
pub async fn explain(
    app: &Value,
    problems: &[String],
    documents: &[Document],
    cluster: &Cluster,
    cli: &Cli,
) -> Option<String> {
    if problems.is_empty() {
        return None;
    }
    let bundle = Bundle::read(std::iter::once(("", app))).ok()?;
    let definitions = definitions_of(cluster).await.ok()?;
    let library: Library =
        lateen_definitions::render_packages().map(|it| (it.path, it.source)).collect();
    let runtime = cue_runtime().ok()?;
    let templates = Templates::new(&runtime, &library);
    let context = Context { dry_run: true, ..Context::of(&bundle.app, "") };
    let error = bundle.show(&definitions, context, templates, &mut NoActor).err()?;
    let told = |message: &str| problems.iter().any(|it| it.contains(message));
    if !error.diagnostics().iter().any(|it| told(&it.message)) {
        return None;
    }
    lines(&error, &bundle.app, &definitions, documents, cli)
}

/// The lines that an error is about: of the templates, and of what they were given in the files.
pub fn lines(
    error: &lateen_engine::render::Error,
    app: &Application,
    definitions: &Definitions,
    documents: &[Document],
    cli: &Cli,
) -> Option<String> {
    let mut wrong = error.diagnostics().to_vec();
    let names = wrong.iter().flat_map(|it| &it.positions).map(|it| it.file.as_str());
    let texts: BTreeMap<&str, &str> =
        names.filter_map(|it| Some((it, definitions.template(it)?))).collect();
    let sources = texts.iter().map(|(name, text)| Source::new(*name, *text)).collect();
    let mut spec = ProgramSpec { sources, packages: Vec::new(), profile: Profile::KubeVela };
    cue_session::suggest(&spec, || None, &mut wrong);
    let given = documents.iter().find(|it| it.object["kind"] == "Application");
    if let (Some(document), Some(part)) = (given, error.part()) {
        if let Ok(text) = std::fs::read_to_string(&document.file) {
            cue_report::locate(&mut wrong, &document.file, &text, |it| {
                let pointer = lateen_engine::render::given(app, part, &it.path)?;
                Some((document.number - 1, pointer))
            });
            spec.sources.push(Source::new(&document.file, text));
        }
    }
    (!wrong.is_empty()).then(|| cli.out.excerpts(&wrong, Severity::Error, &spec))
}

/// The definitions that hold in a cluster's namespace.
pub async fn definitions_of(cluster: &Cluster) -> anyhow::Result<Definitions> {
    let mut definitions = Definitions::default();
    for kind in DefinitionKind::CURRENT {
        for namespace in [SYSTEM_NAMESPACE, &cluster.namespace] {
            let path =
                format!("/apis/core.oam.dev/v1beta1/namespaces/{namespace}/{}", kind.plural());
            let list =
                rest::send(&cluster.client, http::Method::GET, &path, None, &ActAs::default())
                    .await?;
            for item in list["items"].as_array().into_iter().flatten() {
                let mut item = item.clone();
                item["kind"] = kind.kind().into();
                item["apiVersion"] = "core.oam.dev/v1beta1".into();
                definitions.insert(serde_json::from_value::<Definition>(item)?);
            }
        }
    }
    Ok(definitions)
}
