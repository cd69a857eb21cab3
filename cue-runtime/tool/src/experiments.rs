//! `CUE_EXPERIMENT`: which experiments of the whole command may be asked for.

use crate::Error;
use crate::truth::truth;

/// Those that are settled: all of them are there, and cannot be turned off.
const SETTLED: [&str; 8] = [
    "cmdreferencepkg",
    "decodeint64",
    "embed",
    "evalv3",
    "keepvalidators",
    "modules",
    "toposort",
    "yamlv3decoder",
];

/// Looks at what the environment asks for.
///
/// # Errors
/// What nobody knows, or what came later; a value that is neither true nor false.
pub(crate) fn check() -> Result<(), Error> {
    of(&std::env::var("CUE_EXPERIMENT").unwrap_or_default())
}

fn of(asked: &str) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for asked in asked.split(',').filter(|it| !it.is_empty()) {
        let (name, value) = asked.split_once('=').unwrap_or((asked, ""));
        let said = if value.is_empty() { Some(true) } else { truth(value) };
        let Some(on) = said else {
            let text = format!("invalid value {value:?} for experiment {name:?}");
            return Err(Error::Request(format!("cannot parse CUE_EXPERIMENT: {text}")));
        };
        match name {
            "formatv2" if on => {
                wrong.push("cannot set experiment \"formatv2\" before version v0.18.0".to_owned());
            }
            "formatv2" => {}
            _ if !SETTLED.contains(&name) => wrong.push(format!("unknown experiment {name:?}")),
            _ if !on => wrong.push(format!("cannot disable stable experiment {name:?}")),
            _ => {}
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.sort_by_key(|it| it.starts_with("unknown"));
    Err(Error::Request(format!("error in CUE_EXPERIMENT: {}", wrong.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_asked_for() {
        let told = |asked| of(asked).err().map(|it| it.to_string());
        assert_eq!(told("evalv3,,embed=1,formatv2=0"), None);
        let text = "error in CUE_EXPERIMENT: cannot disable stable experiment \"evalv3\"\n\
            unknown experiment \"x\"";
        assert_eq!(told("x,evalv3=0").as_deref(), Some(text));
        let text = "cannot parse CUE_EXPERIMENT: invalid value \"x\" for experiment \"embed\"";
        assert_eq!(told("embed=x").as_deref(), Some(text));
    }
}
