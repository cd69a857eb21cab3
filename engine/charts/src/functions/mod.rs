//! What templates may call: Go's own functions, those of sprig and those of helm, as charts know them.

mod dates; // times and durations
mod dicts; // dicts, and values as such
mod encoding; // JSON, YAML, base64, digests
mod lists; // lists
mod numbers; // numbers
mod printf; // Go's verbs
mod text; // texts
pub mod versions; // semantic versions

pub(crate) use self::encoding::clean;
use crate::template::Run;
use crate::value::Value;

/// The result of a call.
type Result = std::result::Result<Value, String>;

/// Functions that charts know and that are not here, and why.
const ABSENT: &[(&str, &str)] = &[
    ("genCA", "certificates are not made here"),
    ("genCAWithKey", "certificates are not made here"),
    ("genPrivateKey", "keys are not made here"),
    ("genSelfSignedCert", "certificates are not made here"),
    ("genSelfSignedCertWithKey", "certificates are not made here"),
    ("genSignedCert", "certificates are not made here"),
    ("genSignedCertWithKey", "certificates are not made here"),
    ("buildCustomCert", "certificates are not made here"),
    ("derivePassword", "passwords are not derived here"),
    ("bcrypt", "passwords are not hashed here"),
    ("htpasswd", "passwords are not hashed here"),
    ("encryptAES", "nothing is encrypted here"),
    ("decryptAES", "nothing is decrypted here"),
    ("sha1sum", "SHA-1 is not made here"),
    ("env", "charts see no environment"),
    ("expandenv", "charts see no environment"),
    ("toToml", "TOML is not written here"),
];

/// Calls a function.
pub(crate) fn call(name: &str, a: &[Value], run: &mut Run<'_>) -> Result {
    if let Some(result) = inside(name, a, run) {
        return result;
    }
    let found = dicts::call(name, a)
        .or_else(|| text::call(name, a, run.setting))
        .or_else(|| lists::call(name, a, run.setting))
        .or_else(|| numbers::call(name, a))
        .or_else(|| encoding::call(name, a))
        .or_else(|| dates::call(name, a, run.setting.now))
        .or_else(|| versions::call(name, a));
    match found {
        Some(result) => result,
        None => Err(match ABSENT.iter().find(|it| it.0 == name) {
            Some((_, why)) => why.to_string(),
            None => format!("function {name:?} not defined"),
        }),
    }
}

/// Functions that need the template itself.
fn inside(name: &str, a: &[Value], run: &mut Run<'_>) -> Option<Result> {
    let made = match name {
        "include" => match texts(a, 0) {
            Ok(template) => run.include(&template, &a.get(1).cloned().unwrap_or_default()),
            Err(error) => Err(error),
        },
        "tpl" => match texts(a, 0) {
            Ok(text) => run.tpl(&text, &a.get(1).cloned().unwrap_or_default()),
            Err(error) => Err(error),
        },
        _ => return None,
    };
    Some(made.map(Value::text))
}

/// A method of something that is no dict; `None` if it has none of this name.
pub(crate) fn method(of: &Value, name: &str, a: &[Value]) -> Option<Result> {
    let path = || texts(a, 0);
    Some(match (of, name) {
        (Value::Files(files), "Get") => {
            path().map(|it| Value::text(files.text(&it).unwrap_or_default()))
        }
        (Value::Files(files), "GetBytes") => {
            path().map(|it| Value::text(files.text(&it).unwrap_or_default()))
        }
        (Value::Files(files), "Glob") => {
            path().map(|it| Value::Files(std::rc::Rc::new(files.glob(&it))))
        }
        (Value::Files(files), "Lines") => path().map(|it| {
            let text = files.text(&it).unwrap_or_default();
            Value::list(text.lines().map(Value::text).collect())
        }),
        (Value::Files(files), "AsConfig") => Ok(Value::text(files.as_config())),
        (Value::Files(files), "AsSecrets") => Ok(Value::text(files.as_secrets())),
        (Value::Versions(known), "Has") => path().map(|it| Value::Bool(known.contains(&it))),
        (Value::Time(at), "Unix") => Ok(Value::Int(at.timestamp())),
        (Value::Time(at), "Format") => path().map(|it| Value::text(dates::layout(*at, &it))),
        // `.Values.a.b` calls nothing: a dict with arguments is an error of the caller's.
        _ => return None,
    })
}

/// An argument that must be there.
fn at(a: &[Value], index: usize) -> std::result::Result<&Value, String> {
    a.get(index)
        .ok_or_else(|| format!("wrong number of args: want at least {} got {}", index + 1, a.len()))
}

/// An argument as text, whatever it is.
fn texts(a: &[Value], index: usize) -> std::result::Result<String, String> {
    at(a, index).map(Value::shown)
}

/// An argument that must be text.
fn text_only(a: &[Value], index: usize) -> std::result::Result<String, String> {
    match at(a, index)? {
        Value::Text(it) => Ok(it.to_string()),
        Value::Nil => Err("invalid value; expected string".into()),
        other => Err(format!("wrong type for value; expected string; got {}", other.type_name())),
    }
}

/// A count or a place among the arguments.
fn count(a: &[Value], index: usize) -> std::result::Result<usize, String> {
    let number = at(a, index)?.int();
    usize::try_from(number).map_err(|_| format!("{number} is negative"))
}
