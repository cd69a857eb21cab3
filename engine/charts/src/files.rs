//! Files of a tree: by path, out of an archive.

use std::collections::BTreeMap;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Error;
use crate::yaml;

/// Bytes that an archive may unfold to.
const UNFOLDED: u64 = 64 << 20;

/// Bytes of one file.
const FILE: u64 = 16 << 20;

/// Files at most.
const COUNT: usize = 10_000;

/// Files by their paths, which are relative, with `/`, and lead nowhere else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// Adds a file; one whose path leads out of the tree is refused.
    ///
    /// # Errors
    /// The path is no path inside, or there are too many files.
    pub fn add(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        if path.starts_with('/') || parts.is_empty() || parts.contains(&"..") || path.contains('\0')
        {
            return Err(Error(format!("{path:?} is no path inside the tree")));
        }
        if self.0.len() >= COUNT {
            return Err(Error(format!("there are more than {COUNT} files")));
        }
        self.0.insert(parts.join("/"), bytes);
        Ok(())
    }

    /// Reads a `.tar.gz`; links and devices in it are left out.
    ///
    /// # Errors
    /// It is no archive, or too large.
    pub fn from_archive(bytes: &[u8]) -> Result<Self, Error> {
        let mut tar = Vec::new();
        let mut reader = flate2::read::MultiGzDecoder::new(bytes).take(UNFOLDED + 1);
        reader.read_to_end(&mut tar).map_err(|error| Error(format!("no archive: {error}")))?;
        if u64::try_from(tar.len()).unwrap_or(u64::MAX) > UNFOLDED {
            return Err(Error(format!("the archive unfolds to more than {UNFOLDED} bytes")));
        }
        Self::from_tar(&tar)
    }

    /// Reads a `.tar`; links and devices in it are left out.
    ///
    /// # Errors
    /// It is no archive, or a path leads out of it.
    pub fn from_tar(tar: &[u8]) -> Result<Self, Error> {
        let mut files = Self::default();
        let mut at = 0;
        let mut long = None;
        while let Some(header) = tar.get(at..at + 512).filter(|it| it.iter().any(|it| *it != 0)) {
            let size = octal(&header[124..136]).filter(|it| *it <= FILE);
            let size = size.ok_or_else(|| Error("no archive: a size is wrong".into()))?;
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            let start = at + 512;
            let Some(content) = tar.get(start..start.saturating_add(size)) else {
                return Err(Error("the archive ends too early".into()));
            };
            at = start + size.div_ceil(512) * 512;
            match header[156] {
                // A name that is too long for its header comes before it.
                b'L' => long = Some(text(content)),
                b'x' => long = pax_path(content).or(long),
                b'g' => {}
                kind => {
                    let name = long.take().unwrap_or_else(|| {
                        let (prefix, name) = (text(&header[345..500]), text(&header[..100]));
                        let posix = &header[257..262] == b"ustar";
                        if posix && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
                    });
                    if matches!(kind, b'0' | 0) && !name.ends_with('/') {
                        files.add(&name, content.to_vec())?;
                    }
                }
            }
        }
        Ok(files)
    }

    /// The files as a `.tar.gz`: the same for the same files.
    pub fn to_archive(&self) -> Vec<u8> {
        use std::io::Write as _;
        let mut tar = Vec::new();
        for (path, bytes) in &self.0 {
            let mut header = [0u8; 512];
            let name = path.as_bytes().get(..100).unwrap_or(path.as_bytes());
            header[..name.len()].copy_from_slice(name);
            header[100..108].copy_from_slice(b"0000644\0");
            let size = format!("{:011o}\0", bytes.len());
            header[124..136].copy_from_slice(&size.as_bytes()[..12]);
            header[136..148].copy_from_slice(b"00000000000\0");
            header[156] = b'0';
            header[257..263].copy_from_slice(b"ustar\0");
            header[148..156].fill(b' ');
            let sum: u32 = header.iter().map(|it| u32::from(*it)).sum();
            header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            tar.extend_from_slice(&header);
            tar.extend_from_slice(bytes);
            tar.resize(tar.len().div_ceil(512) * 512, 0);
        }
        tar.resize(tar.len() + 1024, 0);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        // A vector takes everything.
        let _ = packed.write_all(&tar);
        packed.finish().unwrap_or_default()
    }

    /// What lies below a folder, by the path from there.
    pub fn below(&self, folder: &str) -> Self {
        let folder = folder.trim_matches('/');
        if matches!(folder, "" | ".") {
            return self.clone();
        }
        let inside = self.0.iter().filter_map(|(path, bytes)| {
            let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
            Some((rest.to_owned(), bytes.clone()))
        });
        Self(inside.collect())
    }

    /// Those whose paths are kept.
    pub fn kept(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = self.0.iter().filter(|it| keep(it.0));
        Self(kept.map(|(path, bytes)| (path.clone(), bytes.clone())).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// One file as text.
    pub fn text(&self, path: &str) -> Option<String> {
        self.bytes(path).map(|it| String::from_utf8_lossy(it).into_owned())
    }

    /// Paths and contents, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Paths and texts, in order.
    pub fn all(&self) -> impl Iterator<Item = (&str, String)> {
        self.iter().map(|(path, bytes)| (path, String::from_utf8_lossy(bytes).into_owned()))
    }

    /// Those a pattern fits: `*` within a name, `**` through folders, `?`, `{a,b}`.
    pub fn glob(&self, pattern: &str) -> Self {
        let mut text = String::from("^");
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '*' if chars.next_if_eq(&'*').is_some() => {
                    // `a/**/b` is `a/b` too.
                    text.push_str(if chars.next_if_eq(&'/').is_some() { "(.*/)?" } else { ".*" });
                }
                '*' => text.push_str("[^/]*"),
                '?' => text.push_str("[^/]"),
                '{' => text.push_str("(?:"),
                '}' => text.push(')'),
                ',' => text.push('|'),
                c => text.push_str(&regex::escape(&c.to_string())),
            }
        }
        text.push('$');
        match regex::RegexBuilder::new(&text).size_limit(1 << 20).build() {
            Ok(pattern) => self.kept(|path| pattern.is_match(path)),
            Err(_) => Self::default(),
        }
    }

    /// As the data of a ConfigMap, by file name.
    pub fn as_config(&self) -> String {
        self.named(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// As the data of a Secret.
    pub fn as_secrets(&self) -> String {
        self.named(|bytes| STANDARD.encode(bytes))
    }

    fn named(&self, content: impl Fn(&[u8]) -> String) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let pairs = self.0.iter().map(|(path, bytes)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            (name.to_owned(), content(bytes).into())
        });
        yaml::text(&serde_json::Value::Object(pairs.collect())).trim_end().to_owned()
    }
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn octal(bytes: &[u8]) -> Option<u64> {
    let text = text(bytes);
    let digits = text.trim();
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

/// `27 path=…` in the records of a header that extends the next one.
fn pax_path(content: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(content).into_owned();
    let found = text.lines().find_map(|it| it.split_once(' ')?.1.strip_prefix("path="));
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Files {
        let mut files = Files::default();
        for path in paths {
            files.add(path, path.as_bytes().to_vec()).unwrap();
        }
        files
    }

    #[test]
    fn an_archive_comes_back() {
        let files = files(&["chart/Chart.yaml", "chart/templates/a.yaml"]);
        assert_eq!(Files::from_archive(&files.to_archive()), Ok(files));
        assert!(Files::from_archive(b"nothing").is_err());
        let mut short = files_archive();
        short.truncate(short.len() / 2);
        assert!(Files::from_archive(&short).is_err());
    }

    fn files_archive() -> Vec<u8> {
        files(&["a"]).to_archive()
    }

    #[test]
    fn no_path_leads_out() {
        let mut files = Files::default();
        for path in ["../x", "/etc/passwd", "a/../../b", "", "a\0b"] {
            assert!(files.add(path, Vec::new()).is_err(), "{path:?}");
        }
        files.add("./a//b", Vec::new()).unwrap();
        assert!(files.bytes("a/b").is_some());
    }

    #[test]
    fn patterns_find_files() {
        let files = files(&["conf/a.yaml", "conf/b.txt", "conf/deep/c.yaml", "x.yaml"]);
        let found = |pattern: &str| {
            files.glob(pattern).iter().map(|it| it.0.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("conf/*.yaml"), ["conf/a.yaml"]);
        assert_eq!(found("conf/**.yaml"), ["conf/a.yaml", "conf/deep/c.yaml"]);
        assert_eq!(found("**/c.yaml"), ["conf/deep/c.yaml"]);
        assert_eq!(found("conf/{a,b}.*"), ["conf/a.yaml", "conf/b.txt"]);
    }
}
