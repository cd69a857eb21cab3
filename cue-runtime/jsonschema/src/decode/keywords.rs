//! Which keywords there are, in which versions, and which are looked at before which.

use super::Decoder;
use super::data::Id;
use super::kinds::Core;
use super::state::State;
use super::version::{Version, Versions};

/// A keyword.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyword {
    /// Keywords of lower phases are looked at first.
    pub(super) phase: u8,
    pub(super) versions: Versions,
    pub(super) rule: Rule,
}

/// The last phase.
pub(super) const LAST_PHASE: u8 = 4;

/// What a keyword says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    AdditionalItems,
    AdditionalProperties,
    AllOf,
    AnyOf,
    Const,
    Contains,
    Definitions,
    Dependencies,
    Deprecated,
    Description,
    Else,
    EmbeddedResource,
    Enum,
    Examples,
    Exclusive(Bound),
    Format,
    GroupVersionKind,
    Identity,
    If,
    /// Nothing that is looked at.
    Ignored,
    IntOrString,
    Items,
    Contained(Bound),
    ItemCount(Bound),
    Length(Bound),
    PropertyCount(Bound),
    Limit(Bound),
    MultipleOf,
    Not,
    Nullable,
    OneOf,
    Pattern,
    PatternProperties,
    PrefixItems,
    PreserveUnknown,
    Properties,
    PropertyNames,
    Reference,
    Required,
    Schema,
    Then,
    Title,
    Type,
    UniqueItems,
    /// Something that CUE has no counterpart for.
    Unsupported,
}

/// A lower or an upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Least,
    Most,
}

/// A keyword by its name.
pub(super) fn named(name: &str) -> Option<Keyword> {
    use Bound::{Least, Most};
    use Rule as R;
    let drafts = Versions::DRAFTS;
    let (draft6, draft7) = (Versions::from(Version::Draft6), Versions::from(Version::Draft7));
    let (draft2019, draft2020) =
        (Versions::from(Version::Draft2019), Versions::from(Version::Draft2020));
    let (open_api, like_open_api) = (Versions::OPEN_API, Versions::LIKE_OPEN_API);
    let (everywhere, kubernetes) = (Versions::EVERYWHERE, Versions::KUBERNETES);
    let (phase, rule, versions) = match name {
        "$anchor" | "$vocabulary" => (1, R::Unsupported, draft2019),
        "$comment" => (2, R::Ignored, draft7),
        "$defs" | "definitions" => (2, R::Definitions, drafts),
        "$dynamicAnchor" | "$dynamicRef" => (1, R::Unsupported, draft2020),
        "$id" => (1, R::Identity, draft6),
        "$recursiveAnchor" | "$recursiveRef" => (1, R::Unsupported, draft2019),
        "$ref" => (2, R::Reference, drafts.or(open_api).or(Versions::KUBERNETES_API)),
        "$schema" => (0, R::Schema, drafts),
        "additionalItems" => (4, R::AdditionalItems, Versions::up_to(Version::Draft2019)),
        "additionalProperties" => (4, R::AdditionalProperties, everywhere),
        "allOf" => (3, R::AllOf, everywhere),
        "anyOf" => (3, R::AnyOf, everywhere),
        "const" => (2, R::Const, draft6),
        "contains" => (2, R::Contains, draft6),
        "contentEncoding" | "contentMediaType" => (2, R::Ignored, draft7),
        "contentSchema" => (1, R::Unsupported, draft2019),
        "default" => (2, R::Ignored, everywhere),
        "dependencies" => (2, R::Dependencies, drafts),
        "dependentRequired" | "dependentSchemas" => (1, R::Dependencies, draft2019),
        "deprecated" => (2, R::Deprecated, draft2019.or(open_api)),
        "description" => (2, R::Description, everywhere),
        "discriminator" | "xml" => (1, R::Unsupported, open_api),
        "else" => (1, R::Else, draft7),
        "enum" => (2, R::Enum, everywhere),
        "example" | "externalDocs" => (1, R::Unsupported, like_open_api),
        "examples" => (2, R::Examples, draft6),
        "exclusiveMaximum" => (2, R::Exclusive(Most), everywhere),
        "exclusiveMinimum" => (2, R::Exclusive(Least), everywhere),
        "format" => (1, R::Format, everywhere),
        "id" => (1, R::Identity, Versions::up_to(Version::Draft4)),
        "if" => (1, R::If, draft7),
        "items" => (2, R::Items, everywhere),
        "maxContains" => (1, R::Contained(Most), draft2019),
        "maxItems" => (2, R::ItemCount(Most), everywhere),
        "maxLength" => (2, R::Length(Most), everywhere),
        "maxProperties" => (2, R::PropertyCount(Most), everywhere),
        "maximum" => (3, R::Limit(Most), everywhere),
        "minContains" => (1, R::Contained(Least), draft2019),
        "minItems" => (2, R::ItemCount(Least), everywhere),
        "minLength" => (2, R::Length(Least), everywhere),
        "minProperties" => (1, R::PropertyCount(Least), everywhere),
        "minimum" => (3, R::Limit(Least), everywhere),
        "multipleOf" => (2, R::MultipleOf, everywhere),
        "not" => (3, R::Not, everywhere),
        "nullable" => (2, R::Nullable, like_open_api),
        "oneOf" => (3, R::OneOf, everywhere),
        "pattern" => (2, R::Pattern, everywhere),
        "patternProperties" => (3, R::PatternProperties, drafts),
        "prefixItems" => (1, R::PrefixItems, draft2020),
        "properties" => (2, R::Properties, everywhere),
        "propertyNames" => (2, R::PropertyNames, draft6),
        "readOnly" | "writeOnly" => (1, R::Unsupported, draft7.or(open_api)),
        "required" => (3, R::Required, everywhere),
        "then" => (1, R::Then, draft7),
        "title" => (2, R::Title, everywhere),
        "type" => (2, R::Type, everywhere),
        "unevaluatedItems" | "unevaluatedProperties" => (1, R::Unsupported, draft2019),
        "uniqueItems" => (2, R::UniqueItems, everywhere),
        "x-kubernetes-embedded-resource" => (1, R::EmbeddedResource, kubernetes),
        "x-kubernetes-group-version-kind" => (1, R::GroupVersionKind, Versions::KUBERNETES_API),
        "x-kubernetes-int-or-string" => (2, R::IntOrString, kubernetes),
        "x-kubernetes-list-map-keys"
        | "x-kubernetes-list-type"
        | "x-kubernetes-map-type"
        | "x-kubernetes-patch-merge-key"
        | "x-kubernetes-patch-strategy" => (1, R::Ignored, kubernetes),
        "x-kubernetes-preserve-unknown-fields" => (2, R::PreserveUnknown, kubernetes),
        "x-kubernetes-validations" => (1, R::Unsupported, kubernetes),
        _ => return None,
    };
    Some(Keyword { phase, versions, rule })
}

impl Decoder<'_> {
    /// Adds what a keyword says.
    pub(super) fn apply(&mut self, rule: Rule, key: &str, of: Id, state: &mut State) {
        match rule {
            Rule::AdditionalItems => self.additional_items(of, state),
            Rule::AdditionalProperties => self.additional_properties(of, state),
            Rule::AllOf => self.all_of(of, state),
            Rule::AnyOf => self.any_of(of, state),
            Rule::Const => self.constant(of, state),
            Rule::Contains => self.contains(of, state),
            Rule::Definitions => self.definitions(key, of, &state.outer()),
            Rule::Dependencies => self.dependencies(key, of, state),
            Rule::Deprecated => state.info.deprecated |= self.truth(of),
            Rule::Description => state.info.description = self.text_or_none(of),
            Rule::Title => state.info.title = self.text_or_none(of),
            Rule::Else => state.otherwise = Some(of),
            Rule::If => state.when = Some(of),
            Rule::Then => state.then = Some(of),
            Rule::EmbeddedResource => self.embedded_resource(of, state),
            Rule::Enum => self.enumeration(of, state),
            Rule::Examples => self.examples(of),
            Rule::Exclusive(bound) => self.exclusive(bound, of, state),
            Rule::Format => self.format(of, state),
            Rule::GroupVersionKind => self.group_version_kind(key, of, state),
            Rule::Identity => self.identity(of, state),
            Rule::Ignored => {}
            Rule::IntOrString => self.int_or_string(of, state),
            Rule::Items => self.items(key, of, state),
            Rule::Contained(bound) => self.contained(bound, key, of, state),
            Rule::ItemCount(bound) => self.item_count(bound, of, state),
            Rule::Length(bound) => self.length(bound, of, state),
            Rule::PropertyCount(bound) => self.property_count(bound, of, state),
            Rule::Limit(bound) => self.limit(bound, of, state),
            Rule::MultipleOf => self.multiple_of(of, state),
            Rule::Not => self.not(of, state),
            Rule::Nullable => self.nullable(of, state),
            Rule::OneOf => self.one_of(of, state),
            Rule::Pattern => self.pattern(of, state),
            Rule::PatternProperties => self.pattern_properties(of, state),
            Rule::PrefixItems => self.prefix_items(key, of, state),
            Rule::PreserveUnknown => self.preserve_unknown(of, state),
            Rule::Properties => self.properties(of, state),
            Rule::PropertyNames => self.property_names(of, state),
            Rule::Reference => self.reference(of, state),
            Rule::Required => self.required(of, state),
            Rule::Schema => self.version(of, state),
            Rule::Type => self.types(of, state),
            Rule::UniqueItems => self.unique_items(of, state),
            Rule::Unsupported if self.config.strict_features => {
                self.problem(of, format!("keyword {key:?} not yet implemented"));
            }
            Rule::Unsupported => {}
        }
    }

    /// What a keyword that counts says: how many.
    pub(super) fn count_in(&mut self, of: Id, core: Core, state: &mut State, call: (&str, &str)) {
        let count = self.count(of);
        let count = self.made.count(count);
        let data = self.data;
        self.made.stands_for(count, &data[of]);
        let expr = self.made.call_in(call.0, call.1, &[count]);
        self.add(state, of, core, expr);
    }
}
