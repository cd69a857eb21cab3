//! Templates as KubeVela's definitions have them: a parameter with its values, a context, and outputs and patches that
//! are computed from both.

use crate::programs::Dice;
use crate::schemas::{Field, Known, Type};

const CONTEXT: &str = "context: {name: \"app\", namespace: \"ns\", appName: \"a\", \
    output: {kind: \"Deployment\", spec: replicas: 1}}";

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut known = Known::default();
    let mut definitions = Vec::new();
    for name in ["#Port", "#Env"].iter().take(dice.roll(3)) {
        let schema = known.definition(dice, 1);
        definitions.push(format!("{name}: {}", known.body(dice, &schema)));
        known.0.push(schema);
    }
    let schema = known.definition(dice, 2);
    let fields = &schema.fields;
    let mut lines = vec![format!("parameter: {}", known.body(dice, &schema))];
    if dice.roll(7) > 0 {
        lines.push(format!("parameter: {}", known.data_of(dice, &schema)));
    }
    lines.push(CONTEXT.to_owned());
    let any = |dice: &mut Dice| &fields[dice.roll(fields.len())];
    let mut some: Vec<&Field> = fields.iter().collect();
    dice.shuffle(&mut some);
    some.truncate(1 + dice.roll(6));
    let mut spec: Vec<String> = some.iter().map(|it| used(dice, it)).collect();
    if dice.roll(3) == 0 {
        let field = any(dice);
        spec.push(format!("template: spec: containers: [{}]", container(dice, field)));
    }
    let spec = spec.join(", ");
    lines.push(format!(
        "output: {{kind: \"Deployment\", metadata: labels: \"app.oam.dev/component\": context.name, spec: {{{spec}}}}}"
    ));
    if dice.roll(2) == 0 {
        let field = any(dice);
        let at = format!("parameter.{}", field.name);
        lines.push(match &field.of {
            _ if field.optional() => {
                format!("outputs: {{if {at} != _|_ {{svc: {{kind: \"Service\", v: {at}}}}}}}")
            }
            Type::List(_) | Type::Map(_) => {
                format!("outputs: {{for i, v in {at} {{\"o-\\(i)\": {{kind: \"C\", data: v}}}}}}")
            }
            _ => format!("outputs: svc: {{kind: \"S\", spec: {{{}}}}}", used(dice, field)),
        });
    }
    if dice.roll(4) == 0 {
        lines.push(format!("let cfg = parameter.{}", any(dice).name));
        lines.push("outputs: cm: data: cfg".to_owned());
    }
    if dice.roll(3) == 0 {
        let field = any(dice);
        lines.push(format!("patch: spec: {{containers: [{}]}}", container(dice, field)));
    }
    if dice.roll(5) < 2 {
        dice.shuffle(&mut lines);
    }
    lines.extend(definitions);
    crate::programs::with_imports(&lines)
}

fn container(dice: &mut Dice, field: &Field) -> String {
    format!("{{name: context.name, {}}}", used(dice, field))
}

/// A declaration that reads a field of the parameter.
fn used(dice: &mut Dice, field: &Field) -> String {
    let forms: &[&str] = match &field.of {
        _ if field.optional() => &[
            "%: @",
            "if @ != _|_ {%: @}",
            "if parameter[\"%\"] != _|_ {%: @}",
            "if @ == _|_ {%: \"none\"}",
            "if @ != _|_ {if @ != \"\" {%: @}}",
        ],
        Type::Text { .. } | Type::Word { .. } | Type::Matching => &[
            "%: @",
            "%: \"{}-\\(@)\"",
            "%: context.name + \"-\" + @",
            "if @ == \"dev\" {%: 1}",
            "%: [if @ == \"dev\" {\"a\"}, \"b\"][0]",
            "%: strings.ToUpper(@)",
            "%: strings.Join([context.name, @], \"-\")",
            "labels: (@): \"x\"",
            "labels: \"\\(@)\": \"x\"",
        ],
        Type::Number(_) | Type::Range { .. } => &[
            "\"%\": @",
            "%: @ * 2",
            "if @ > 5 {%: @}",
            "%: \"\\(@)Mi\"",
            "ports: [{containerPort: @}]",
        ],
        Type::Bool { .. } => &["if @ {%: \"on\"}", "if !@ {%: \"off\"}", "%: !@"],
        Type::List(_) => &[
            "%: [for v in @ {item: v}]",
            "%: [for i, v in @ {{name: \"p-\\(i)\", value: v}}]",
            "%: list.Concat([@, [\"x\"]])",
            "if len(@) > 0 {%: @}",
            "%: {for i, v in @ {\"k-\\(i)\": v}}",
            "%: list.FlattenN([@, [1]], 1)",
        ],
        Type::Map(_) => &[
            "%: [for k, v in @ {name: k, value: v}]",
            "%: {for k, v in @ {\"\\(k)\": v}}",
            "%: {for k, v in @ {(k): v}, extra: 1}",
            "for k, v in @ {\"x-\\(k)\": v}",
            "%: len(@)",
        ],
        Type::Definition(_) | Type::Struct(_) => {
            &["%: {@, more: 1}", "%: {for k, v in @ {(k): v}}", "if @ != _|_ {%: @}"]
        }
        Type::Either(..) | Type::OrText(_) | Type::Elements { .. } => &["%: @"],
    };
    let at = format!("parameter.{}", field.name);
    dice.one(forms).replace('@', &at).replace('%', field.name)
}
