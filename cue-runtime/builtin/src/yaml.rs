//! Package `encoding/yaml`.

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Kinds, Member, Package, Parameter, Special, function, special,
};
use super::datum::{Datum, NOTHING_SAID};
use crate::encode::yaml::{Document, decode, encode};

type Outcome = Result<Datum, CallError>;

const B: Parameter = Parameter::TEXT;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "encoding/yaml", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Marshal", &[Parameter::DATA], Kinds::STRING, |cx, a| {
        let text = encode(a.first().unwrap_or(&Datum::Null));
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function(
        "MarshalStream",
        &[Parameter::DATA.wants(Kinds::LIST, "")],
        Kinds::STRING,
        marshal_stream,
    ),
    function("Unmarshal", &[B], Kinds::ANY, unmarshal),
    function("UnmarshalStream", &[B], Kinds::LIST, |cx, a| {
        let documents = read(cx, a)?;
        if documents.is_empty() {
            return Ok(Datum::list(vec![Datum::Live(NOTHING_SAID)]));
        }
        let base = cx.base;
        Ok(arg::read_all(cx, "yaml", documents.into_iter().flat_map(|it| it.tree.build(base))))
    }),
    special("Validate", &[B, Parameter::SCHEMA], Kinds::BOOL, Special::ValidateYaml),
    special("ValidatePartial", &[B, Parameter::SCHEMA], Kinds::BOOL, Special::ValidateYamlPartial),
];

fn marshal_stream(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let Some(Datum::List(items)) = args.first() else {
        return Err(arg::not_a_list(args));
    };
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push_str("---\n");
        }
        let text = encode(item);
        cx.spend(text.len() + 4)?;
        out.push_str(&text);
    }
    Ok(Datum::text(out))
}

fn read(cx: &mut CallContext, args: &[Datum]) -> Result<Vec<Document>, CallError> {
    let text = arg::bytes(args, 0)?;
    cx.spend(text.len().saturating_mul(4))?;
    let documents = decode(text).map_err(|error| CallError::permanent(error.located("")))?;
    let entries: usize = documents.iter().map(|it| it.tree.entries.len()).sum();
    cx.spend(entries.saturating_mul(16))?;
    Ok(documents)
}

fn unmarshal(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::bytes(args, 0)?;
    if let Err(error) = decode(text)
        && error.documents > 0
    {
        let text = format!("expected a single YAML document: {}", error.located(""));
        return Err(CallError::permanent(text));
    }
    let mut documents = read(cx, args)?.into_iter();
    match (documents.next(), documents.next()) {
        (None, _) => Ok(arg::read(cx, "yaml", [(Datum::Live(NOTHING_SAID), 0)])),
        (Some(document), None) => Ok(arg::read(cx, "yaml", document.tree.build(cx.base))),
        (Some(_), Some(second)) => {
            let text =
                format!("{}:{}: expected a single YAML document", second.line, second.column);
            Err(CallError::permanent(text))
        }
    }
}
