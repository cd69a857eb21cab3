//! JSON pointers: `/a/b~1c`.

use super::data::{Content, Data, Id, Step};

/// The names in a pointer.
pub(crate) fn names(pointer: &str) -> Vec<String> {
    let unescaped = |it: &str| it.replace("~1", "/").replace("~0", "~");
    match pointer {
        "" => Vec::new(),
        _ => pointer.strip_prefix('/').unwrap_or(pointer).split('/').map(unescaped).collect(),
    }
}

/// The pointer that has these names.
pub(crate) fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let escaped = |it: &str| format!("/{}", it.replace('~', "~0").replace('/', "~1"));
    names.into_iter().map(escaped).collect()
}

/// The names of steps.
pub(crate) fn names_of(steps: &[Step]) -> Vec<String> {
    let name = |it: &Step| match it {
        Step::Field(label) => label.to_string(),
        Step::Element(index) => index.to_string(),
    };
    steps.iter().map(name).collect()
}

/// What a pointer leads to from a value.
pub(crate) fn find(data: &Data, from: Id, pointer: &str) -> Option<Id> {
    let mut at = from;
    for name in names(pointer) {
        at = match &data[at].content {
            Content::Struct(_) => data.field(at, &name)?,
            Content::List(elements) => {
                let plain = name.len() <= 1 || !name.starts_with('0');
                let index: usize = name.parse().ok().filter(|_| plain)?;
                *elements.get(index)?
            }
            // What has no parts is what the rest of a pointer leads to, too.
            _ => at,
        };
    }
    Some(at)
}
