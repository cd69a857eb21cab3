//! What `-T` tells of the system: time, machine, user, folder, chance.

use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

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
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = format!(".{:09}", since.subsec_nanos());
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{year:04}-{month:02}-{day:02}T{clock}{fraction}Z")
}

/// Year, month and day of a day since 1970-01-01, by the years of 400 that repeat.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // since 0000-03-01
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153; // from March
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
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
    fn days_are_dates() {
        for (days, wanted) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_780, (2026, 11, 23)),
        ] {
            assert_eq!(date(days), wanted, "{days}");
        }
    }

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
