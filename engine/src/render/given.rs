//! Where an Application says what a template was given.

use crate::api::Application;

use super::Part;

/// The JSON pointer in the Application of what stands at `path`, `parameter.port` say, in the template of a part; none
/// for what is not of the parameters.
pub fn given(app: &Application, part: &Part, path: &str) -> Option<String> {
    let labels = labels(path.strip_prefix("parameter")?);
    let mut pointer = match part {
        Part::Workload(name) => {
            let index = app.spec.components.iter().position(|it| it.name == *name)?;
            format!("/spec/components/{index}/properties")
        }
        Part::Trait(r#type) => {
            let first = labels.first();
            let mut traits = app.spec.components.iter().enumerate().flat_map(|(at, component)| {
                component.traits.iter().enumerate().map(move |(index, it)| (at, index, it))
            });
            let (component, index, _) = traits.find(|(_, _, it)| {
                let given = it.properties.as_ref();
                let has = |label: &String| given.is_some_and(|it| it.get(label).is_some());
                it.r#type == *r#type && first.is_none_or(has)
            })?;
            format!("/spec/components/{component}/traits/{index}/properties")
        }
    };
    for label in labels {
        pointer.push('/');
        pointer.push_str(&label.replace('~', "~0").replace('/', "~1"));
    }
    Some(pointer)
}

/// The labels of `.a."b.c".0`.
fn labels(path: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = path;
    while let Some(label) = rest.strip_prefix('.') {
        let end = match label.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(label.len(), |it| it + 2),
            None => label.find('.').unwrap_or(label.len()),
        };
        all.push(label[..end].trim_matches('"').to_owned());
        rest = &label[end..];
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_found_in_the_application() {
        let app: Application = serde_json::from_value(json!({
            "metadata": {"name": "a"},
            "spec": {"components": [
                {"name": "one", "type": "t", "traits": [{"type": "scaler", "properties": {"n": 1}}]},
                {"name": "two", "type": "t", "traits": [{"type": "scaler", "properties": {"a/b": 1}}]},
            ]},
        }))
        .expect("an Application");
        let workload = Part::Workload("two".into());
        let of = |part: &Part, path: &str| given(&app, part, path);
        let scaler = Part::Trait("scaler".into());
        assert_eq!(
            of(&workload, "parameter.ports.0.\"x.y\"").as_deref(),
            Some("/spec/components/1/properties/ports/0/x.y")
        );
        assert_eq!(
            of(&scaler, "parameter.\"a/b\"").as_deref(),
            Some("/spec/components/1/traits/0/properties/a~1b")
        );
        assert_eq!(of(&workload, "output.spec"), None);
        assert_eq!(of(&Part::Workload("three".into()), "parameter"), None);
    }
}
