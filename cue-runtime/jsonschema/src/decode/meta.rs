//! Keywords about the schema itself: its version, its URL, definitions and references.

use super::data::{Content, Data, Id};
use super::state::State;
use super::url::Url;
use super::version::{Version, Versions};
use super::{Base, Decoder, Outer, ROOT_HOST};

impl Decoder<'_> {
    /// A text; something else is told.
    pub(super) fn text(&mut self, value: Id) -> Option<std::sync::Arc<str>> {
        let text = self.data.text(value).cloned();
        if text.is_none() {
            self.problem(value, "invalid string");
        }
        text
    }

    /// The same, empty where it is none.
    pub(super) fn text_or_none(&mut self, value: Id) -> String {
        self.text(value).map_or_else(String::new, |it| it.to_string())
    }

    /// A boolean; something else is told and counts as false.
    pub(super) fn truth(&mut self, value: Id) -> bool {
        match self.data[value].content {
            Content::Bool(it) => it,
            _ => {
                self.problem(value, "invalid bool");
                false
            }
        }
    }

    /// `$schema`
    pub(super) fn version(&mut self, of: Id, state: &mut State) {
        if !state.is_root && !state.is(Versions::from(Version::Draft2019)) {
            let version = state.info.version.text();
            let text = "$schema can only appear at the root in JSON Schema version";
            self.problem(of, format!("{text} {version}"));
            return;
        }
        let Some(url) = self.text(of) else { return };
        match Version::of_url(&url) {
            Some(version) => (state.info.version, state.info.says_version) = (version, true),
            None => {
                let text = "$schema URI not recognized";
                self.problem(of, format!("invalid $schema URL {url:?}: {text}"));
            }
        }
    }

    /// `$id`
    pub(super) fn identity(&mut self, of: Id, state: &mut State) {
        let Some(url) = self.resolved(of) else { return };
        if !url.fragment.is_empty() {
            if self.config.strict_features {
                self.problem(of, "$id URI may not contain a fragment");
            }
            return;
        }
        if state.has_url {
            self.bases.pop();
        }
        let Some(value) = self.data.parent(of) else { return };
        self.bases.push(Base { url, value, root: state.is_root });
        state.has_url = true;
    }

    /// A URL in the schema, as it is from the document around it.
    pub(super) fn resolved(&mut self, of: Id) -> Option<Url> {
        let text = self.text(of)?;
        let url = match Url::parse(&text) {
            Ok(url) => url,
            Err(why) => {
                self.problem(of, format!("invalid JSON reference: {why}"));
                return None;
            }
        };
        if !url.is_absolute() {
            return Some(self.innermost().url.resolve(&url));
        }
        if url.host == ROOT_HOST {
            let text = format!("invalid use of default root ID host ({ROOT_HOST}) in URI");
            self.problem(of, text);
            return None;
        }
        Some(url)
    }

    /// The innermost schema around that says its URL.
    pub(super) fn innermost(&self) -> Base {
        self.bases.last().cloned().unwrap_or_else(|| self.base())
    }

    /// `$defs`, and the schemas of OpenAPI.
    pub(super) fn definitions(&mut self, key: &str, of: Id, outer: &Outer) {
        if !matches!(self.data[of].content, Content::Struct(_)) {
            let kind = self.data.kind(of);
            self.problem(of, format!("{key:?} expected an object, found {kind}"));
        }
        let data: &Data = self.data;
        for (_, value) in data.fields_of(of) {
            self.refer_to(*value);
            let _ = self.schema(*value, outer);
        }
    }

    /// `$ref`
    pub(super) fn reference(&mut self, of: Id, state: &mut State) {
        let Some(url) = self.resolved(of) else { return };
        let base = self.innermost();
        if url.fragment.is_empty() && base.root && url.is_same_document(&base.url) {
            let whole = self.builder.reference(&mut self.made, &Default::default());
            if let Some(whole) = whole {
                self.add_to_all(state, of, whole);
            }
            return;
        }
        match self.located(&url, &base) {
            Err(text) => self.problem(of, text),
            Ok(definition) => {
                if let Some(expr) = self.refer(of, &definition) {
                    self.add_to_all(state, of, expr);
                }
            }
        }
    }
}
