//! CUE under stress: performance cliffs, permuted declarations, hostile inputs.
//!
//! Cliffs and hostile inputs run the built `lateen cue` as a process, with limits of time and
//! memory. Permutations are evaluated in this process: none may take longer than its budget.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cue_session::{Budget, Error, NativeRuntime, Profile, ProgramSpec, Runtime, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical::canonical;
use crate::measure::{self, Limits, Measured};
use crate::process::lateen;
use crate::score::Scores;

/// Limits of a hostile input.
const ROBUST: Limits = Limits { wall: Duration::from_secs(10), memory: 1_000_000_000 };
/// Limits of a cliff.
const CLIFF: Limits = Limits { wall: Duration::from_secs(10), memory: 2_000_000_000 };
/// Longest error text.
const ERROR_BYTES: u64 = 1 << 20;
/// Below this CPU time growth cannot be told from noise.
const MEASURABLE: f64 = 0.08;
/// By how much growth may exceed its goal.
pub const SLACK: f64 = 0.3;

/// Writes the files of a generator and what is expected: arguments are the file of the generator,
/// the size and the folder.
const GENERATE: &str = "\
import importlib.util, json, os, sys
sys.setrecursionlimit(10**6)
spec = importlib.util.spec_from_file_location('g', sys.argv[1])
g = importlib.util.module_from_spec(spec)
spec.loader.exec_module(g)
n = int(sys.argv[2])
for name, text in g.gen(n).items():
    path = os.path.join(sys.argv[3], 'w', name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
try:
    expected = g.expect(n) if hasattr(g, 'expect') else None
except Exception:
    expected = None
with open(os.path.join(sys.argv[3], 'expect'), 'w', encoding='utf-8') as f:
    f.write('' if expected is None else json.dumps(expected))
";

/// The built binary, after a first run without limits: that one compiles the interpreter and
/// leaves it in the cache.
fn program(work: &Path) -> anyhow::Result<PathBuf> {
    let program = lateen()?;
    let place = Place::new(work)?;
    place.write("x.cue", b"a: 1")?;
    let arguments = ["cue", "export", "x.cue"].map(str::to_owned);
    let patient = Limits { wall: Duration::from_secs(300), ..CLIFF };
    let it = measure::run(&program, &arguments, &place.files, place.at(), patient)?;
    if it.exit != Some(0) {
        bail!("{} cue export: {}", program.display(), it.stderr);
    }
    Ok(program)
}

/// Scores a part (cliffs, confluence, robust) of the folder `cuex` of the cases; `only` names one
/// case of it.
///
/// # Errors
/// A folder or file cannot be read, or `lateen` was not built.
pub fn run(cases: &Path, work: &Path, part: &str, only: Option<&str>) -> anyhow::Result<Scores> {
    let mut scores = Scores::default();
    let parts: [(&str, Part); 3] =
        [("confluence", confluence), ("robust", robust), ("cliffs", cliffs)];
    for (name, play) in parts {
        if part == name {
            play(&cases.join(name), work, only.unwrap_or_default(), &mut scores)?;
        }
    }
    Ok(scores)
}

type Part = fn(&Path, &Path, &str, &mut Scores) -> anyhow::Result<()>;

fn lines(file: &Path, id: &str) -> anyhow::Result<Vec<Value>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let mut all = Vec::new();
    for line in text.lines() {
        let case: Value = serde_json::from_str(line)?;
        if id.is_empty() || case["id"] == id {
            all.push(case);
        }
    }
    Ok(all)
}

fn arguments(case: &Value) -> Vec<String> {
    let given = case["argv"].as_array().into_iter().flatten().filter_map(Value::as_str);
    std::iter::once("cue").chain(given).map(str::to_owned).collect()
}

fn hash(stdout: &[u8]) -> Option<String> {
    let text = canonical(std::str::from_utf8(stdout).ok()?)?;
    Some(Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What no run may do, whatever the answer.
fn fault(it: &Measured) -> Option<String> {
    if let Some(limit) = it.exceeded {
        return Some(format!("limit of {limit} ({} MB)", it.peak >> 20));
    }
    let Some(exit) = it.exit else { return Some("killed by a signal".into()) };
    if it.stderr_bytes > ERROR_BYTES {
        return Some(format!("{} bytes of error text", it.stderr_bytes));
    }
    let crashed = exit > 3 || it.stderr.contains("panicked at") || it.stderr.contains("wasm trap");
    (crashed || (exit != 0 && it.stderr.trim().is_empty()))
        .then(|| format!("exit {exit}: {}", first(&it.stderr)))
}

fn first(text: &str) -> String {
    text.lines().next().unwrap_or("no error text").chars().take(200).collect()
}

// Hostile inputs.

fn robust(folder: &Path, work: &Path, id: &str, scores: &mut Scores) -> anyhow::Result<()> {
    let program = program(work)?;
    for case in lines(&folder.join("cases.jsonl"), id)? {
        let id = case["id"].as_str().unwrap_or_default();
        let place = Place::new(work)?;
        for (name, parts) in case["files"].as_object().into_iter().flatten() {
            place.write(name, &content(parts)?)?;
        }
        let it = measure::run(&program, &arguments(&case), &place.files, place.at(), ROBUST)?;
        let wrong = fault(&it).or_else(|| {
            let ok = it.exit == Some(0);
            match case["expect"].as_str() {
                Some("ok") if !ok => Some(first(&it.stderr)),
                Some("ok") => {
                    let want = &case["official"]["sha256_canon"];
                    (want.is_string() && want.as_str() != hash(&it.stdout).as_deref())
                        .then(|| String::from_utf8_lossy(&it.stdout).chars().take(200).collect())
                }
                Some("error") if ok => Some("no error".into()),
                _ => None,
            }
        });
        scores.check("cuex.robust", id, wrong.is_none(), || wrong.clone().unwrap_or_default());
    }
    Ok(())
}

fn content(parts: &Value) -> anyhow::Result<Vec<u8>> {
    let mut all = Vec::new();
    for part in parts.as_array().into_iter().flatten() {
        let bytes = match (part["t"].as_str(), part["b64"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(text)) => STANDARD.decode(text)?,
            (None, None) => bail!("a part is text or bytes: {part}"),
        };
        let count = part["n"].as_u64().unwrap_or(1);
        all.extend(bytes.repeat(usize::try_from(count)?));
    }
    Ok(all)
}

/// A folder for one run, gone afterwards.
struct Place {
    folder: tempfile::TempDir,
    files: PathBuf,
}

impl Place {
    fn new(work: &Path) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("cuex").tempdir_in(work)?;
        let files = folder.path().canonicalize()?.join("w");
        fs::create_dir(&files)?;
        Ok(Self { folder, files })
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let file = self.files.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write(file, bytes)?)
    }
}

// Cliffs.

/// A generator of inputs that grow, and what is known of it.
pub struct Cliff {
    /// Its name.
    pub id: String,
    /// Every size, ascending.
    pub sizes: Vec<u64>,
    /// Those that are scored.
    pub scored: Vec<u64>,
    /// The exponent its growth may have; none where it is that of the output.
    pub goal: Option<f64>,
    case: Value,
    generator: PathBuf,
}

impl Cliff {
    /// Those of a folder.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let cases = lines(&folder.join("results.jsonl"), "")?;
        Ok(cases.into_iter().map(|case| Self::new(folder, case)).collect())
    }

    fn new(folder: &Path, case: Value) -> Self {
        let id = case["id"].as_str().unwrap_or_default().to_owned();
        let scored: Vec<u64> = ["small", "medium", "large"]
            .iter()
            .filter_map(|size| case["sizes"][size].as_u64())
            .collect();
        let mut sizes: Vec<u64> =
            case["all_sizes"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        sizes.extend(&scored);
        sizes.sort_unstable();
        sizes.dedup();
        let goal = goal(case["goal"]["class"].as_str().unwrap_or_default());
        let generator = folder.join("gen").join(format!("{id}.py"));
        Self { id, sizes, scored, goal, case, generator }
    }

    /// The expression whose value is asked for, if it is not the whole.
    pub fn expression(&self) -> Option<&str> {
        let mut arguments = self.case["argv"].as_array()?.iter().filter_map(Value::as_str);
        arguments.find(|it| *it == "-e")?;
        arguments.next()
    }

    /// The texts of a size, and the canonical JSON that is demanded of it, if any is.
    ///
    /// # Errors
    /// The generator fails.
    pub fn files(&self, n: u64) -> anyhow::Result<(Vec<(String, String)>, Option<String>)> {
        let place = Place::new(&std::env::temp_dir())?;
        let expected = generate(&self.generator, n, &place)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(&place.files)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(entry.path())?));
        }
        files.sort();
        Ok((files, expected))
    }
}

fn cliffs(folder: &Path, work: &Path, id: &str, scores: &mut Scores) -> anyhow::Result<()> {
    let program = program(work)?;
    for case in lines(&folder.join("results.jsonl"), id)? {
        let Cliff { id, sizes, scored, goal, case, generator } = Cliff::new(folder, case);
        let mut curve = Vec::new();
        let mut over = false;
        for n in sizes {
            if over && !scored.contains(&n) {
                continue;
            }
            let place = Place::new(work)?;
            let expected = generate(&generator, n, &place)?;
            let it = measure::run(&program, &arguments(&case), &place.files, place.at(), CLIFF)?;
            over |= it.exceeded.is_some();
            curve.push((n, it.cpu));
            let wrong = fault(&it).or_else(|| unexpected(&case, n, expected.as_deref(), &it));
            if scored.contains(&n) || wrong.is_some() && !over {
                let name = format!("{id} n={n}");
                scores.check("cuex.cliffs", &name, wrong.is_none(), || {
                    wrong.clone().unwrap_or_default()
                });
            }
        }
        if let Some(goal) = goal {
            let exponent = exponent(&curve);
            let wanted = exponent <= goal + SLACK;
            scores.check("cuex.cliffs", &format!("{id} growth"), wanted, || {
                format!("n^{exponent:.1}, wanted n^{goal}: {curve:?}")
            });
        }
    }
    Ok(())
}

/// Writes the input; the canonical JSON the generator demands, if it does.
fn generate(generator: &Path, n: u64, place: &Place) -> anyhow::Result<Option<String>> {
    let mut command = Command::new("python3");
    command.arg("-c").arg(GENERATE).arg(generator).arg(n.to_string()).arg(place.at());
    let output = command.output().context("python3 writes the inputs of cliffs")?;
    if !output.status.success() {
        bail!("{}: {}", generator.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(canonical(&fs::read_to_string(place.at().join("expect"))?))
}

fn unexpected(case: &Value, n: u64, expected: Option<&str>, it: &Measured) -> Option<String> {
    let point = case["points"].as_array()?.iter().find(|point| point["n"] == n);
    let ok = it.exit == Some(0);
    let bounded = ["by nature", "clear depth error", "structural-cycle error", "budget"]
        .iter()
        .any(|it| case["goal"]["note"].as_str().is_some_and(|note| note.contains(it)));
    if !ok && bounded {
        return None;
    }
    if let Some(expected) = expected {
        if !ok {
            return Some(first(&it.stderr));
        }
        let got = std::str::from_utf8(&it.stdout).ok().and_then(canonical);
        return (got.as_deref() != Some(expected)).then(|| "another value".into());
    }
    let point = point?;
    if point["exit"] == 0 {
        if !ok {
            return Some(first(&it.stderr));
        }
        let want = point["sha256_canon"].as_str()?;
        return (hash(&it.stdout).as_deref() != Some(want)).then(|| "another value".into());
    }
    let failed = point["exit"] == 1 && point["timeout"] == false && point["crash"].is_null();
    (failed && ok).then(|| "no error".into())
}

/// The exponent a goal allows; `None` where growth is that of the output.
fn goal(class: &str) -> Option<f64> {
    match class {
        "log n" => Some(0.0),
        _ if class.contains("n^2") => Some(2.0),
        "linear" | "n log n" => Some(1.0),
        _ => None,
    }
}

/// The slope of CPU time over size, both as logarithms, over the last measurable sizes.
pub fn exponent(curve: &[(u64, f64)]) -> f64 {
    let measurable: Vec<(f64, f64)> = curve
        .iter()
        .filter(|(_, cpu)| *cpu >= MEASURABLE)
        .map(|(n, cpu)| ((*n as f64).ln(), cpu.ln()))
        .collect();
    match measurable.as_slice() {
        [.., (x0, y0), _, (x1, y1)] | [(x0, y0), (x1, y1)] => (y1 - y0) / (x1 - x0),
        _ => 0.0,
    }
}

// Permutations.

fn confluence(folder: &Path, _: &Path, id: &str, scores: &mut Scores) -> anyhow::Result<()> {
    let runtime = NativeRuntime::default();
    for case in lines(&folder.join("cases.jsonl"), id)? {
        let id = case["id"].as_str().unwrap_or_default();
        let mut answers: Vec<Result<String, String>> = Vec::new();
        for variant in case["variants"].as_array().into_iter().flatten() {
            answers.push(export(&runtime, &variant["files"]));
        }
        let free = case["category"] == "iteration-order";
        let same = answers.windows(2).all(|pair| match (&pair[0], &pair[1]) {
            (Ok(left), Ok(right)) => free || left == right,
            (Err(_), Err(_)) => true,
            _ => false,
        });
        scores.check("cuex.confluence", &format!("{id} same"), same, || {
            let mut different = answers.clone();
            different.sort();
            different.dedup_by(|a, b| a == b || (a.is_err() && b.is_err()));
            format!("{different:?}").chars().take(400).collect()
        });
        if case["expected"] == "undecided" || (free && case["stability"] != "stable") {
            continue;
        }
        let wrong = answers.iter().find(|it| !satisfies(it, &case["expected"]));
        scores.check("cuex.confluence", &format!("{id} value"), wrong.is_none(), || {
            format!("{wrong:?} for {}", case["expected"]).chars().take(400).collect()
        });
    }
    Ok(())
}

fn satisfies(answer: &Result<String, String>, expected: &Value) -> bool {
    if let Some(any) = expected["accept"].as_array() {
        return any.iter().any(|it| satisfies(answer, it));
    }
    match answer {
        Ok(text) => {
            expected["status"] == "ok"
                && canonical(&expected["json"].to_string()).as_ref() == Some(text)
        }
        Err(_) => expected["status"] == "error",
    }
}

/// The whole as canonical JSON, or the first error.
fn export(runtime: &NativeRuntime, files: &Value) -> Result<String, String> {
    let mut sources: Vec<Source> = files
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, text)| Source::new(name.as_str(), text.as_str().unwrap_or_default()))
        .collect();
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    let spec = ProgramSpec { sources, packages: Vec::new(), profile: Profile::V017 };
    let answer = runtime
        .compile(spec)
        .and_then(|program| runtime.start(&program, Vec::new(), Budget::DEFINITION))
        .and_then(|mut session| session.json(""));
    match answer {
        Ok(text) => canonical(&text.unwrap_or_default()).ok_or_else(|| "no value".to_owned()),
        Err(Error::Diagnostics(all)) => Err(all.first().map_or("no text", |it| &it.message).into()),
        Err(error) => Err(format!("FAULT {error}")),
    }
}
