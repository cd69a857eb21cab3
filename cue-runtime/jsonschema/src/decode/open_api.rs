//! Documents of OpenAPI: their schemas as definitions, and what they say of themselves.

use cue_syntax::scan::T;
use cue_syntax::tree::{Distance, NodeId};

use super::data::{Content, Data, Document, Id};
use super::made::Marker;
use super::output::Decoded;
use super::state::Info;
use super::version::Version;
use super::{Config, Decoder, Names, Problem, Root, comment};

/// A document of OpenAPI as CUE.
///
/// # Errors
/// All that is wrong with it.
pub fn decode_open_api(document: &Document<'_>, config: &Config) -> Result<Decoded, Vec<Problem>> {
    let data = Data::read(document);
    let refused = |text: String| Err(vec![Problem::nowhere(text)]);
    let Some(said) = data.field(Data::ROOT, "openapi") else {
        return refused("openapi field is required but not found".into());
    };
    let Some(version) = data.text(said) else {
        let it = Decoder::new(&data, config).shown(said);
        let kind = data.kind(said);
        let why = format!("openapi: cannot use value {it} (type {kind}) as string");
        return refused(format!("invalid openapi field (must be string): {why}"));
    };
    let language = match &**version {
        it if it.starts_with("3.0.") => Version::OpenApi,
        it if it.starts_with("3.1.") => Version::Draft2020,
        other => return refused(format!("unknown OpenAPI version {other:?}")),
    };
    let config = Config {
        version: language,
        strict_keywords: config.strict_keywords || language == Version::OpenApi,
        strict_features: config.strict_features,
        open_only_when_explicit: false,
        root: Root::Fields("#/components/schemas/".into()),
        names: Names::OpenApi,
    };
    let mut decoder = Decoder::new(&data, &config);
    if decoder.all().is_none() || !decoder.problems.is_empty() {
        return Err(decoder.problems);
    }
    let info = data.field(Data::ROOT, "info");
    let told = info.and_then(|it| decoder.information(it));
    let mut decoded = Decoded::of(decoder, &Info::default())?;
    decoded.comment = comment::of_text(&described(&data, info));
    decoded.apart = true;
    if let Some(told) = told {
        decoded.begin_with(told);
    }
    Ok(decoded)
}

/// Data that says nothing of a schema, as it is.
///
/// # Errors
/// None, since it imports nothing.
pub fn plain(document: &Document<'_>) -> Result<Decoded, Vec<Problem>> {
    let data = Data::read(document);
    let config = Config::default();
    let mut decoder = Decoder::new(&data, &config);
    let value = decoder.plain(Data::ROOT);
    decoder.builder.put(&Default::default(), value, Vec::new());
    Decoded::of(decoder, &Info::default())
}

/// Title and description of a document.
fn described(data: &Data, info: Option<Id>) -> String {
    let said = |name: &str| {
        let field = info.and_then(|it| data.field(it, name));
        field.and_then(|it| data.text(it)).map_or("", |it| &**it)
    };
    let (title, description) = (said("title"), said("description"));
    let gap = if description.is_empty() { "" } else { "\n\n" };
    format!("{title}{gap}{description}")
}

impl Decoder<'_> {
    /// `info`, of which the title and the version are what they are only by default.
    fn information(&mut self, info: Id) -> Option<NodeId> {
        let data: &Data = self.data;
        let Content::Struct(fields) = &data[info].content else { return None };
        let mut decls = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let mut said = self.plain(*value);
            if matches!(&**name, "title" | "version") {
                let given = self.made.unary(T::Mul, said);
                let string = self.made.name("string");
                said = self.made.joined(T::Or, &[given, string]).unwrap_or(given);
            }
            let label = self.made.text(name);
            decls.push(self.made.field(label, Marker::None, said));
        }
        let label = self.made.name("info");
        let value = self.made.braced(&decls);
        Some(self.made.field(label, Marker::None, value))
    }

    /// A value as it is, open to more.
    pub(super) fn plain(&mut self, of: Id) -> NodeId {
        let data: &Data = self.data;
        stacker::maybe_grow(super::LEVEL, super::LEVEL * 64, || match &data[of].content {
            Content::List(elements) => {
                let elements: Vec<NodeId> = elements.iter().map(|it| self.plain(*it)).collect();
                self.made.list(&elements)
            }
            Content::Struct(fields) => {
                let mut decls = Vec::with_capacity(fields.len());
                for (label, value) in fields {
                    let value = self.plain(*value);
                    let label = self.made.text(label);
                    decls.push(self.made.field(label, Marker::None, value));
                }
                self.made.braced(&decls)
            }
            _ => self.scalar(of),
        })
    }
}

impl Decoded {
    /// Puts a field before all others, which stand apart from it.
    fn begin_with(&mut self, field: NodeId) {
        if let Some(first) = self.decls.first().copied() {
            self.set_apart(first, Distance::Gap);
        }
        self.decls.insert(0, field);
    }
}
