//! What `-T` tells of the system: time, machine, user, folder, chance.

use std::io::Read;
use std::time::SystemTime;

use chrono::{DateTime, Utc};
use cue_syntax::unquote::quote;

use crate::Error;

/// The value of a variable, as CUE.
///
/// # Errors
/// There is none of that name, or the system does not say.
pub(crate) fn variable(name: &str) -> Result<String, Error> {
    let unsaid =
        |why: String| Error::Request(format!("error getting tag variable '{name}': {why}"));
    let text = match name {
        "now" => now(),
        "os" => match std::env::consts::OS {
            "macos" => "darwin".to_owned(),
            other => other.to_owned(),
        },
        "arch" => match std::env::consts::ARCH {
            "x86_64" => "amd64".to_owned(),
            "x86" => "386".to_owned(),
            "aarch64" => "arm64".to_owned(),
            other => other.to_owned(),
        },
        "cwd" => {
            let folder = std::env::current_dir().map_err(|it| unsaid(it.to_string()))?;
            folder.display().to_string()
        }
        "username" => username().ok_or_else(|| unsaid("nothing says who runs this".into()))?,
        "hostname" => hostname().ok_or_else(|| unsaid("the system does not say".into()))?,
        "rand" => return random().map_err(|it| unsaid(it.to_string())),
        _ => return Err(Error::Request(format!("tag variable '{name}' not found"))),
    };
    Ok(quote(&text))
}

/// The time as RFC 3339 has it, without zeros at the end of its fraction.
fn now() -> String {
    let now = DateTime::<Utc>::from(SystemTime::now());
    let text = now.format("%Y-%m-%dT%H:%M:%S%.9f").to_string();
    format!("{}Z", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The name of who runs this: by the number that owns the process, else by the environment.
fn username() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = status.lines().find_map(|it| it.strip_prefix("Uid:"));
    let number = number.and_then(|it| it.split_whitespace().next()).unwrap_or_default();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|it| {
        let mut parts = it.split(':');
        let name = parts.next()?;
        (parts.nth(1)? == number).then(|| name.to_owned())
    });
    let given = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|it| std::env::var(it).ok());
    named.or_else(given).filter(|it| !it.is_empty())
}

fn hostname() -> Option<String> {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = kernel.or_else(|| std::fs::read_to_string("/etc/hostname").ok());
    let given = || std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME")).ok();
    named.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).or_else(given)
}

/// 128 bits by chance, as a number.
fn random() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::from("0x"), |all, it| format!("{all}{it:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_is_there() {
        for name in ["now", "os", "arch", "cwd", "hostname", "rand"] {
            let text = variable(name).unwrap();
            assert!(cue_syntax::parse_expr(&text).is_ok(), "{name}: {text}");
        }
        let told = variable("nope").unwrap_err().to_string();
        assert_eq!(told, "tag variable 'nope' not found");
    }
}
