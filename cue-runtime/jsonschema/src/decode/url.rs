//! URLs that name schemas: their parts, what a relative one means within another, and their text (RFC 3986, with the
//! characters that Go leaves as they are).

use std::fmt::Write as _;

/// A URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// What stands behind the scheme where no slash does.
    pub(crate) opaque: String,
    /// With user and port, as it is written.
    pub(crate) host: String,
    /// No slashes stand where a host would.
    hostless: bool,
    /// Without escapes.
    pub(crate) path: String,
    query: Option<String>,
    /// Without escapes.
    pub(crate) fragment: String,
    /// The same as they are written, where that is not how they would be.
    written_path: Option<String>,
    written_fragment: Option<String>,
}

/// A part with rules of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Fragment,
}

impl Url {
    /// `https://host`
    pub(crate) fn of_host(host: &str) -> Self {
        Self { scheme: "https".into(), host: host.into(), ..Self::default() }
    }

    /// Reads a URL, which may be relative.
    ///
    /// # Errors
    /// In Go's words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        cue_builtin::check_url(text)?;
        let mut url = Self::default();
        let rest = match text.split_once('#') {
            Some((rest, fragment)) => {
                url.set_fragment(fragment);
                rest
            }
            None => text,
        };
        let (scheme, rest) = scheme_of(rest);
        url.scheme = scheme.to_lowercase();
        let rest = match rest.split_once('?') {
            Some((rest, query)) => {
                url.query = Some(query.to_owned());
                rest
            }
            None => rest,
        };
        if !rest.starts_with('/') && !url.scheme.is_empty() {
            url.opaque = rest.to_owned();
            return Ok(url);
        }
        let authority = rest.strip_prefix("//");
        let authority = authority.filter(|it| !url.scheme.is_empty() || !it.starts_with('/'));
        let path = match authority {
            Some(rest) => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                url.host = host.to_owned();
                path
            }
            None => {
                url.hostless = url.is_absolute();
                rest
            }
        };
        url.set_path(path);
        Ok(url)
    }

    pub(crate) fn is_absolute(&self) -> bool {
        !self.scheme.is_empty()
    }

    /// Whether both name the same document.
    pub(crate) fn is_same_document(&self, other: &Self) -> bool {
        (&self.host, &self.path, &self.opaque) == (&other.host, &other.path, &other.opaque)
    }

    /// The same with that fragment.
    pub(crate) fn with_fragment(&self, fragment: String) -> Self {
        Self { fragment, ..self.clone() }
    }

    /// What a URL means that stands in the document of this one.
    pub(crate) fn resolve(&self, other: &Self) -> Self {
        let mut url = other.clone();
        if other.is_absolute() || !other.host.is_empty() {
            url.set_path(&without_dots(&other.escaped_path()));
        } else if other.path.is_empty() && !self.opaque.is_empty() {
            url.opaque.clone_from(&self.opaque);
        } else {
            url.host.clone_from(&self.host);
            let (base, given) = (self.escaped_path(), other.escaped_path());
            let path = match given.as_str() {
                "" => base,
                it if it.starts_with('/') => given,
                _ => format!("{}{given}", &base[..base.rfind('/').map_or(0, |it| it + 1)]),
            };
            url.set_path(&without_dots(&path));
        }
        if !other.is_absolute() {
            url.scheme.clone_from(&self.scheme);
            url.hostless = self.hostless && other.host.is_empty();
        }
        let bare = other.host.is_empty() && other.path.is_empty() && other.query.is_none();
        if bare && other.opaque.is_empty() && !other.is_absolute() {
            url.query.clone_from(&self.query);
            if other.fragment.is_empty() {
                url.fragment.clone_from(&self.fragment);
                url.written_fragment.clone_from(&self.written_fragment);
            }
        }
        url
    }

    fn set_path(&mut self, text: &str) {
        self.path = unescaped(text);
        self.written_path =
            Some(text.to_owned()).filter(|it| *it != escaped(&self.path, Part::Path));
    }

    fn set_fragment(&mut self, text: &str) {
        self.fragment = unescaped(text);
        let usual = escaped(&self.fragment, Part::Fragment);
        self.written_fragment = Some(text.to_owned()).filter(|it| *it != usual);
    }

    fn escaped_path(&self) -> String {
        written(self.written_path.as_ref(), &self.path, Part::Path)
    }

    /// As it is written.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        if self.is_absolute() {
            let _ = write!(out, "{}:", self.scheme);
        }
        if !self.opaque.is_empty() {
            out.push_str(&self.opaque);
        } else {
            let path = self.escaped_path();
            let named = !self.host.is_empty();
            if named || self.is_absolute() && !self.hostless && !path.is_empty() {
                let _ = write!(out, "//{}", self.host);
            }
            out.push_str(if named && !path.is_empty() && !path.starts_with('/') {
                "/"
            } else {
                ""
            });
            out.push_str(&path);
        }
        if let Some(query) = &self.query {
            let _ = write!(out, "?{query}");
        }
        if !self.fragment.is_empty() {
            let text = written(self.written_fragment.as_ref(), &self.fragment, Part::Fragment);
            let _ = write!(out, "#{text}");
        }
        out
    }
}

fn scheme_of(text: &str) -> (&str, &str) {
    match text.split_once(':') {
        Some((scheme, rest))
            if scheme.starts_with(|it: char| it.is_ascii_alphabetic())
                && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it)) =>
        {
            (scheme, rest)
        }
        _ => ("", text),
    }
}

/// A path without `.` and `..` in it.
fn without_dots(path: &str) -> String {
    if path.is_empty() {
        return String::new();
    }
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        match *part {
            "." | ".." => {
                if *part == ".." {
                    kept.pop();
                }
                if at + 1 == parts.len() {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

/// How a part is written: as it was, where that may be.
fn written(own: Option<&String>, value: &str, part: Part) -> String {
    let may = |it: &u8| b"!$&'()*+,;=:@[]%".contains(it) || !needs_escape(*it, part);
    let fits = |it: &&String| it.bytes().all(|it| may(&it)) && unescaped(it) == value;
    own.filter(fits).cloned().unwrap_or_else(|| escaped(value, part))
}

fn needs_escape(byte: u8, part: Part) -> bool {
    match byte {
        _ if byte.is_ascii_alphanumeric() => false,
        b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'='
        | b'@' => false,
        b'?' | b'!' | b'(' | b')' | b'*' => part == Part::Path,
        _ => true,
    }
}

fn escaped(text: &str, part: Part) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match needs_escape(byte, part) {
            true => {
                let _ = write!(out, "%{byte:02X}");
            }
            false => out.push(char::from(byte)),
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|it| char::from(*it).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::Url;

    fn resolved(base: &str, other: &str) -> String {
        let [base, other] = [base, other].map(|it| Url::parse(it).expect("a URL"));
        base.resolve(&other).text()
    }

    #[test]
    fn relative_ones_are_told_as_absolute_ones() {
        for (base, other, wanted) in [
            ("https://a.b", "#/x y", "https://a.b#/x%20y"),
            ("https://a.b/c/d.json", "e.json#f", "https://a.b/c/e.json#f"),
            ("https://a.b/c/d", "../x/./y", "https://a.b/x/y"),
            ("https://a.b/c/d", "/z?q", "https://a.b/z?q"),
            ("https://a.b/c?d", "", "https://a.b/c?d"),
            ("urn:a:b", "#/x", "urn:a:b#/x"),
            ("https://a.b", "urn:c", "urn:c"),
            ("https://a.b/c", "//d/e", "https://d/e"),
            ("https://a.b", "c.json", "https://a.b/c.json"),
            ("https://a.b/c", "x/..", "https://a.b/"),
        ] {
            assert_eq!(resolved(base, other), wanted, "{base} {other}");
        }
        assert_eq!(Url::parse("a%zz").unwrap_err(), r#"parse "a%zz": invalid URL escape "%zz""#);
    }
}
