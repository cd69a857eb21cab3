//! What Kubernetes says of its types beside the keywords of OpenAPI.

use super::Decoder;
use super::builder::{Label, Path};
use super::data::{Data, Id};
use super::kinds::Kinds;
use super::made::Marker;
use super::state::State;

impl Decoder<'_> {
    /// `x-kubernetes-preserve-unknown-fields`
    pub(super) fn preserve_unknown(&mut self, of: Id, state: &mut State) {
        match self.truth(of) {
            true => state.preserve = true,
            false => {
                let text = "x-kubernetes-preserve-unknown-fields value may not be false";
                self.problem(of, text);
            }
        }
    }

    /// `x-kubernetes-group-version-kind`: of one that is several nothing is known.
    pub(super) fn group_version_kind(&mut self, key: &str, of: Id, state: &mut State) {
        let all = self.some_elements(key, of);
        let [only] = all.as_slice() else { return };
        let data: &Data = self.data;
        let (mut group, mut version) = (String::new(), String::new());
        for (name, value) in data.fields_of(*only) {
            match &**name {
                it if it.starts_with("x-") => {}
                "group" => group = self.text_or_none(*value),
                "kind" => state.resource.0 = self.text_or_none(*value),
                "version" => version = self.text_or_none(*value),
                _ => {
                    let text = "in x-kubernetes-group-version-kind item";
                    self.problem(*value, format!("unknown field {name:?} {text}"));
                }
            }
        }
        if state.resource.0.is_empty() || version.is_empty() {
            let text = "x-kubernetes-group-version-kind needs both kind and version fields";
            self.problem(of, text);
        }
        state.resource.1 = match group.as_str() {
            "" => version,
            group => format!("{group}/{version}"),
        };
    }

    /// `x-kubernetes-embedded-resource`: what all of these have in common is defined once.
    pub(super) fn embedded_resource(&mut self, of: Id, state: &mut State) {
        let object = self.object(state, of);
        let path = Path(vec![Label::named("_embeddedResource")]);
        let string = self.made.name("string");
        let label = self.made.text("apiVersion");
        let version = self.made.field(label, Marker::Required, string);
        let string = self.made.name("string");
        let label = self.made.text("kind");
        let kind = self.made.field(label, Marker::Required, string);
        let ellipsis = self.made.ellipsis(None);
        let open = self.made.braced(&[ellipsis]);
        let label = self.made.text("metadata");
        let metadata = self.made.field(label, Marker::Optional, open);
        let resource = self.made.braced(&[version, kind, metadata]);
        self.builder.put(&path, resource, Vec::new());
        if let Some(reference) = self.builder.reference(&mut self.made, &path) {
            let embedded = self.made.embed(reference);
            self.made.push(object, embedded);
        }
        state.info.allowed &= Kinds::STRUCT;
    }
}
