//! Package `path`: file names of unix, windows and plan 9, by their text alone.

use super::arguments as arg;
use super::call::{
    CallContext, CallError, Constant, Kinds, Member, Package, Parameter, constant, function,
};
use super::datum::Datum;

type Outcome = Result<Datum, CallError>;

const SYSTEMS: &[&str] = &[
    "unix",
    "windows",
    "plan9",
    "aix",
    "android",
    "darwin",
    "dragonfly",
    "freebsd",
    "hurd",
    "illumos",
    "ios",
    "js",
    "linux",
    "nacl",
    "netbsd",
    "openbsd",
    "solaris",
    "zos",
];
const S: Parameter = Parameter::STRING;
/// The system, unix unless given.
const OS: Parameter = Parameter::STRING.one_of(SYSTEMS, Some("unix"));
/// The system, to be given.
const GIVEN: Parameter = Parameter::STRING.one_of(SYSTEMS, None);
const WINDOWS: Parameter = Parameter::STRING.one_of(SYSTEMS, Some("windows"));

/// The package.
pub(super) const PACKAGE: Package = Package { path: "path", members: MEMBERS, text: TEXT };

const TEXT: &str = "{\n\tUnix:     \"unix\"\n\tWindows:  \"windows\"\n\tPlan9:    \"plan9\"\n}";

const MEMBERS: &[Member] = &[
    function("Split", &[S, OS], Kinds::LIST, |_, a| {
        let (os, path) = (system(a, 1), arg::text(a, 0)?);
        let (dir, file) = os.split(path);
        Ok(Datum::list(vec![Datum::text(dir), Datum::text(file)]))
    }),
    function("SplitList", &[S, GIVEN], Kinds::LIST, split_list),
    function("Join", &[Parameter::STRINGS, OS], Kinds::STRING, |cx, a| {
        let parts = arg::strings(a, 0)?;
        made(cx, system(a, 1).join(&parts))
    }),
    function("Match", &[S, S, OS], Kinds::BOOL, |_, a| {
        let (pattern, name) = (arg::text(a, 0)?, arg::text(a, 1)?);
        matches(system(a, 2), pattern, name).map(Datum::Bool).map_err(CallError::permanent)
    }),
    function("Clean", &[S, OS], Kinds::STRING, |cx, a| {
        made(cx, system(a, 1).clean(arg::text(a, 0)?))
    }),
    function("ToSlash", &[S, GIVEN], Kinds::STRING, |cx, a| {
        let path = arg::text(a, 0)?;
        made(
            cx,
            if system(a, 1) == Os::Windows { path.replace('\\', "/") } else { path.to_owned() },
        )
    }),
    function("FromSlash", &[S, GIVEN], Kinds::STRING, |cx, a| {
        let path = arg::text(a, 0)?;
        made(
            cx,
            if system(a, 1) == Os::Windows { path.replace('/', "\\") } else { path.to_owned() },
        )
    }),
    function("Ext", &[S, OS], Kinds::STRING, |cx, a| {
        let (os, path) = (system(a, 1), arg::text(a, 0)?);
        let base = path.rfind(|c| os.separates(c)).map_or(path, |at| &path[at + 1..]);
        made(cx, base.rfind('.').map_or("", |at| &base[at..]).to_owned())
    }),
    function("Resolve", &[S, S, OS], Kinds::STRING, |cx, a| {
        let (os, dir, sub) = (system(a, 2), arg::text(a, 0)?, arg::text(a, 1)?);
        if os.is_absolute(sub) {
            return made(cx, os.clean(sub));
        }
        let joined = os.join(&[dir, sub]);
        made(cx, if joined.is_empty() { ".".to_owned() } else { joined })
    }),
    function("Rel", &[S, S, OS], Kinds::STRING, |cx, a| {
        let (os, base, target) = (system(a, 2), arg::text(a, 0)?, arg::text(a, 1)?);
        match relative(os, base, target) {
            Some(path) => made(cx, path),
            None => {
                Err(CallError::permanent(format!("Rel: can't make {target} relative to {base}")))
            }
        }
    }),
    function("Base", &[S, OS], Kinds::STRING, |cx, a| {
        made(cx, system(a, 1).base(arg::text(a, 0)?))
    }),
    function("Dir", &[S, OS], Kinds::STRING, |cx, a| made(cx, system(a, 1).dir(arg::text(a, 0)?))),
    function("IsAbs", &[S, OS], Kinds::BOOL, |_, a| {
        Ok(Datum::Bool(system(a, 1).is_absolute(arg::text(a, 0)?)))
    }),
    function("VolumeName", &[S, WINDOWS], Kinds::STRING, |cx, a| {
        let path = arg::text(a, 0)?;
        let os = if a.len() > 1 { system(a, 1) } else { Os::Windows };
        made(cx, path[..os.volume(path)].to_owned())
    }),
    constant("Unix", Constant::Cue),
    constant("Windows", Constant::Cue),
    constant("Plan9", Constant::Cue),
];

fn made(cx: &mut CallContext, text: String) -> Outcome {
    cx.spend(text.len())?;
    Ok(Datum::text(text))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Os {
    Unix,
    Windows,
    Plan9,
}

fn system(args: &[Datum], at: usize) -> Os {
    match args.get(at) {
        Some(Datum::String(name)) if &**name == "windows" => Os::Windows,
        Some(Datum::String(name)) if &**name == "plan9" => Os::Plan9,
        _ => Os::Unix,
    }
}

impl Os {
    fn separates(self, c: char) -> bool {
        c == '/' || (c == '\\' && self == Os::Windows)
    }

    fn separates_at(self, path: &str, at: usize) -> bool {
        path.as_bytes().get(at).is_some_and(|byte| self.separates(char::from(*byte)))
    }

    fn separator(self) -> char {
        if self == Os::Windows { '\\' } else { '/' }
    }

    /// Length of `c:` or `\\host\share`.
    fn volume(self, path: &str) -> usize {
        let bytes = path.as_bytes();
        if self != Os::Windows || bytes.len() < 2 {
            return 0;
        }
        if bytes[1] == b':' && bytes[0].is_ascii_alphabetic() {
            return 2;
        }
        let slash = |at: usize| self.separates_at(path, at);
        if bytes.len() < 5 || !slash(0) || !slash(1) || slash(2) || bytes[2] == b'.' {
            return 0;
        }
        let mut at = 3;
        while at + 1 < bytes.len() {
            if slash(at) {
                at += 1;
                if slash(at) || bytes[at] == b'.' {
                    return 0;
                }
                while at < bytes.len() && !slash(at) {
                    at += 1;
                }
                return at;
            }
            at += 1;
        }
        0
    }

    fn is_absolute(self, path: &str) -> bool {
        match self {
            Os::Unix => path.starts_with('/'),
            Os::Plan9 => path.starts_with(['/', '#']),
            Os::Windows => {
                let upper = path.to_ascii_uppercase();
                let numbered = |prefix| {
                    upper.strip_prefix(prefix).is_some_and(|rest: &str| {
                        rest.len() == 1 && matches!(rest.as_bytes()[0], b'1'..=b'9')
                    })
                };
                if matches!(upper.as_str(), "CON" | "PRN" | "AUX" | "NUL")
                    || numbered("COM")
                    || numbered("LPT")
                {
                    return true;
                }
                let volume = self.volume(path);
                volume > 0 && self.separates_at(path, volume)
            }
        }
    }

    fn split(self, path: &str) -> (&str, &str) {
        let volume = self.volume(path);
        let at = path[volume..].rfind(|c| self.separates(c)).map_or(volume, |at| volume + at + 1);
        path.split_at(at)
    }

    fn clean(self, path: &str) -> String {
        let volume = self.volume(path);
        let (head, rest) = path.split_at(volume);
        let native = |text: &str| {
            if self == Os::Windows { text.replace('/', "\\") } else { text.to_owned() }
        };
        if rest.is_empty() {
            if volume > 1 && !head.contains(':') {
                return native(path);
            }
            return native(head) + ".";
        }
        let rooted = self.separates_at(rest, 0);
        let mut parts: Vec<&str> = Vec::new();
        for part in rest.split(|c| self.separates(c)) {
            match part {
                "" | "." => {}
                ".." => match parts.last() {
                    Some(last) if *last != ".." => {
                        parts.pop();
                    }
                    _ if rooted => {}
                    _ => parts.push(".."),
                },
                _ => parts.push(part),
            }
        }
        let separator = self.separator();
        let mut out = native(head);
        if rooted {
            out.push(separator);
        }
        out.push_str(&parts.join(separator.encode_utf8(&mut [0; 4])));
        if out.len() == volume {
            out.push('.');
        }
        out
    }

    fn join(self, parts: &[&str]) -> String {
        let mut parts = parts.iter().skip_while(|part| part.is_empty()).copied();
        let Some(first) = parts.next() else { return String::new() };
        let rest: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let separator = self.separator().to_string();
        if self != Os::Windows {
            let mut all = vec![first];
            all.extend(rest);
            return self.clean(&all.join("/"));
        }
        if first.len() == 2 && first.ends_with(':') {
            // A drive without root: the path stays relative to it.
            return self.clean(&(first.to_owned() + &rest.join(&separator)));
        }
        let mut all = vec![first];
        all.extend(rest.iter());
        let joined = self.clean(&all.join(&separator));
        let unc = |path: &str| self.volume(path) > 2;
        if !unc(&joined) || unc(&self.clean(first)) {
            return joined;
        }
        let head = self.clean(first);
        let tail = self.clean(&rest.join(&separator));
        if head.ends_with('\\') {
            head + tail.trim_start_matches('\\')
        } else {
            head + "\\" + tail.trim_start_matches('\\')
        }
    }

    fn base(self, path: &str) -> String {
        if path.is_empty() {
            return ".".to_owned();
        }
        let trimmed = path.trim_end_matches(|c| self.separates(c));
        let rest = trimmed.get(self.volume(path)..).unwrap_or("");
        let last = rest.rfind(|c| self.separates(c)).map_or(rest, |at| &rest[at + 1..]);
        if last.is_empty() { self.separator().to_string() } else { last.to_owned() }
    }

    fn dir(self, path: &str) -> String {
        let volume = self.volume(path);
        let end = path[volume..].rfind(|c| self.separates(c)).map_or(volume, |at| volume + at + 1);
        let dir = self.clean(&path[volume..end]);
        if dir == "." && volume > 2 {
            return path[..volume].to_owned();
        }
        path[..volume].to_owned() + &dir
    }
}

fn split_list(_: &mut CallContext, args: &[Datum]) -> Outcome {
    let path = arg::text(args, 0)?;
    if path.is_empty() {
        return Ok(Datum::list(Vec::new()));
    }
    let os = system(args, 1);
    let parts: Vec<String> = match os {
        Os::Unix => path.split(':').map(str::to_owned).collect(),
        Os::Plan9 => path.split('\0').map(str::to_owned).collect(),
        Os::Windows => {
            let mut parts = vec![String::new()];
            let mut quoted = false;
            for c in path.chars() {
                match c {
                    '"' => quoted = !quoted,
                    ';' if !quoted => parts.push(String::new()),
                    _ => {
                        if let Some(last) = parts.last_mut() {
                            last.push(c);
                        }
                    }
                }
            }
            parts
        }
    };
    Ok(Datum::list(parts.into_iter().map(Datum::text).collect()))
}

fn relative(os: Os, base: &str, target: &str) -> Option<String> {
    let (base, target) = (os.clean(base), os.clean(target));
    let same = |a: &str, b: &str| {
        if os == Os::Windows { a.to_lowercase() == b.to_lowercase() } else { a == b }
    };
    if same(&base, &target) {
        return Some(".".to_owned());
    }
    let (base_volume, target_volume) = (os.volume(&base), os.volume(&target));
    let mut from = &base[base_volume..];
    let to = &target[target_volume..];
    if from == "." {
        from = "";
    } else if from.is_empty() && base_volume > 2 {
        from = "\\";
    }
    if os.separates_at(from, 0) != os.separates_at(to, 0)
        || !same(&base[..base_volume], &target[..target_volume])
    {
        return None;
    }
    let split = |path: &str| -> Vec<String> {
        path.split(|c| os.separates(c)).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let (from, to) = (split(from), split(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| same(a, b)).count();
    if from[common..].iter().any(|word| word == "..") {
        return None;
    }
    let mut parts: Vec<String> = vec!["..".to_owned(); from.len() - common];
    parts.extend_from_slice(&to[common..]);
    Some(parts.join(&os.separator().to_string()))
}

const BAD: &str = "syntax error in pattern";

/// Shell patterns over one path element at a time.
fn matches(os: Os, pattern: &str, name: &str) -> Result<bool, String> {
    let mut pattern = pattern;
    let mut name = name;
    'chunks: while !pattern.is_empty() {
        let star = pattern.starts_with('*');
        if star {
            pattern = &pattern[1..];
            if pattern.starts_with('*') {
                return Err("'**' is not supported in patterns as of yet".to_owned());
            }
        }
        let length = chunk_length(os, pattern);
        let (chunk, rest) = pattern.split_at(length);
        if star && chunk.is_empty() {
            return Ok(!name.contains(|c| os.separates(c) && c == os.separator()));
        }
        if let Some(after) = match_chunk(os, chunk, name)? {
            if after.is_empty() || !rest.is_empty() {
                pattern = rest;
                name = after;
                continue;
            }
        }
        if star {
            for (at, c) in name.char_indices() {
                if c == os.separator() {
                    break;
                }
                if let Some(after) = match_chunk(os, chunk, &name[at + c.len_utf8()..])? {
                    if rest.is_empty() && !after.is_empty() {
                        continue;
                    }
                    pattern = rest;
                    name = after;
                    continue 'chunks;
                }
            }
        }
        // The rest of the pattern must still be well formed.
        let mut rest = rest;
        while !rest.is_empty() {
            let plain = rest.trim_start_matches('*');
            if rest.len() - plain.len() > 1 {
                return Err("'**' is not supported in patterns as of yet".to_owned());
            }
            let length = chunk_length(os, plain);
            match_chunk(os, &plain[..length], "")?;
            rest = &plain[length..];
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

fn chunk_length(os: Os, pattern: &str) -> usize {
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' if os != Os::Windows => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '*' if !in_class => return at,
            _ => {}
        }
    }
    pattern.len()
}

/// What is left of `name` behind the chunk; a chunk that does not match is still checked.
fn match_chunk<'n>(os: Os, chunk: &str, name: &'n str) -> Result<Option<&'n str>, String> {
    let mut failed = false;
    let mut name = name;
    let mut rest = chunk;
    while let Some(c) = rest.chars().next() {
        if !failed && name.is_empty() {
            failed = true;
        }
        let given = name.chars().next();
        rest = &rest[c.len_utf8()..];
        match c {
            '[' => {
                if !failed && let Some(given) = given {
                    name = &name[given.len_utf8()..];
                }
                let negated = rest.starts_with('^');
                if negated {
                    rest = &rest[1..];
                }
                let mut found = false;
                let mut ranges = 0;
                loop {
                    if rest.starts_with(']') && ranges > 0 {
                        rest = &rest[1..];
                        break;
                    }
                    let low = class_character(os, &mut rest)?;
                    let mut high = low;
                    if rest.starts_with('-') {
                        rest = &rest[1..];
                        high = class_character(os, &mut rest)?;
                    }
                    found |= given.is_some_and(|given| low <= given && given <= high);
                    ranges += 1;
                }
                failed |= found == negated;
            }
            '?' => match given {
                Some(given) if !failed && given != os.separator() => {
                    name = &name[given.len_utf8()..];
                }
                _ => failed = true,
            },
            _ => {
                let mut wanted = c;
                if c == '\\' && os != Os::Windows {
                    wanted = rest.chars().next().ok_or(BAD)?;
                    rest = &rest[wanted.len_utf8()..];
                }
                match given {
                    Some(given) if !failed && given == wanted => {
                        name = &name[given.len_utf8()..];
                    }
                    _ => failed = true,
                }
            }
        }
    }
    Ok((!failed).then_some(name))
}

fn class_character(os: Os, rest: &mut &str) -> Result<char, String> {
    let mut c = rest.chars().next().ok_or(BAD)?;
    if c == '-' || c == ']' {
        return Err(BAD.to_owned());
    }
    *rest = &rest[c.len_utf8()..];
    if c == '\\' && os != Os::Windows {
        c = rest.chars().next().ok_or(BAD)?;
        *rest = &rest[c.len_utf8()..];
    }
    if rest.is_empty() { Err(BAD.to_owned()) } else { Ok(c) }
}
