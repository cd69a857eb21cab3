//! Evaluation speed, beside the official implementation in the same run.
//!
//! `CUE_ORACLE` names a program that answers a list of cases on its standard input, as
//! `{"files": {…}, "ops": ["export"]}`, with `micros` and the JSON of the value each; without it
//! only our own times are printed. Both sides parse, evaluate and export; the best of several
//! rounds counts. Cases of `steps` fill in what each action returns, one after the other, and ask for
//! the next one in between. Output is a table in Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use cue_session::{Budget, Filling, NativeRuntime, Profile, ProgramSpec, Runtime, Source};
use serde_json::{Value, json};

const ROUNDS: usize = 5;
const BUDGET: Budget = Budget { ticks: 1_000_000_000, depth: 100_000, bytes: 4 << 30 };

/// Name, text, how many steps it has.
type Case = (String, String, usize);

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for index in 0..count {
        let _ = writeln!(text, "{}", line(index));
    }
    text
}

fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    let mut add =
        |name: &str, size: usize, text: String| all.push((format!("{name}/{size}"), text, 0));
    add("wide struct", 10_000, lines(10_000, |n| format!("f{n}: {n}")));
    let chain = |n: usize| match n {
        0 => "a0: 1".to_owned(),
        n => format!("a{n}: a{} + 1", n - 1),
    };
    add("chain of sums", 1_000, lines(1_000, chain));
    let deployment = "#Deployment: {\n\tkind: \"Deployment\"\n\tmetadata: {name: string, labels: [string]: string}\n\
        \tspec: {replicas: *1 | int & >0, template: spec: containers: [...#Container]}\n}\n\
        #Container: {name: string, image: string, ports: [...{port: int, protocol: *\"TCP\" | \"UDP\"}]}\n";
    let object = |n: usize| {
        format!(
            "o{n}: #Deployment & {{metadata: {{name: \"n{n}\", labels: app: \"a\"}}\n\
             spec: template: spec: containers: [{{name: \"c\", image: \"i:{n}\", ports: [{{port: 80}}]}}]}}"
        )
    };
    add("objects of a definition", 500, deployment.to_owned() + &lines(500, object));
    let tagged = |n: usize| format!("v{n}: #T & {{t: \"k{}\", x: {n}}}", n % 5);
    let kinds = (0..5).map(|n| format!("{{t: \"k{n}\", x: int, y{n}: {n}}}"));
    let kinds = format!("#T: {}\n", kinds.collect::<Vec<_>>().join(" | "));
    add("tagged choices", 1_000, kinds + &lines(1_000, tagged));
    let list = |n: usize| {
        format!(
            "src: [for i in [{}] {{id: i, even: mod(i, 2) == 0}}]\n\
             out: {{for s in src if s.even {{\"k\\(s.id)\": s.id * 2}}}}\n",
            (0..n).map(|it| it.to_string()).collect::<Vec<_>>().join(", ")
        )
    };
    add("comprehensions", 3_000, list(3_000));
    let patterns = "m: [string]: {a: int, b: *a | int}\nm: [=~\"9$\"]: c: \"nine\"\n".to_owned();
    add("patterns", 3_000, patterns + &lines(3_000, |n| format!("m: k{n}: a: {n}")));
    let texts = "import \"strings\"\nname: \"x\"\n".to_owned();
    let text = |n: usize| {
        format!("t{n}: strings.ToUpper(\"\\(name)-\\({n})\") + strings.Join([\"a\", \"b\"], \",\")")
    };
    add("texts and functions", 3_000, texts + &lines(3_000, text));
    let guard = |n: usize| format!("if parameter.p{n} != _|_ {{o{n}: parameter.p{n}}}");
    let parameter = lines(500, |n| format!("parameter: p{n}?: int")) + "parameter: p7: 3\n";
    add("guards on parameters", 500, parameter + &lines(500, guard));
    for count in [10, 100, 300] {
        let apply = "#Apply: {#do: \"apply\", #provider: \"kube\", $params: value: {...}, $returns?: {...}}\n";
        let step = |n: usize| match n {
            0 => "s0: #Apply & {$params: value: n: 0}".to_owned(),
            n => format!("s{n}: #Apply & {{$params: value: n: s{}.$returns.n + 1}}", n - 1),
        };
        all.push((format!("steps/{count}"), apply.to_owned() + &lines(count, step), count));
    }
    all
}

/// What the action of a step returns.
fn returned(step: usize) -> Value {
    json!({"n": step, "status": {"phase": "Running"}})
}

/// Best time in milliseconds, and the value.
fn ours(text: &str, steps: usize) -> Result<(f64, Value), String> {
    let mut best = f64::INFINITY;
    let mut value = Value::Null;
    for _ in 0..ROUNDS {
        let spec = ProgramSpec {
            sources: vec![Source::new("a.cue", text)],
            packages: Vec::new(),
            profile: Profile::V017,
        };
        let started = Instant::now();
        let runtime = NativeRuntime::default();
        let program = runtime.compile(spec).map_err(|it| it.to_string())?;
        let mut session =
            runtime.start(&program, Vec::new(), BUDGET).map_err(|it| it.to_string())?;
        let mut done = Vec::new();
        for step in 0..steps {
            let action = session.next_action("", &done).map_err(|it| it.to_string())?;
            let path = action.ok_or("no step is left")?.path;
            let value = Filling::Json(returned(step).to_string());
            session.fill(&format!("{path}.$returns"), value).map_err(|it| it.to_string())?;
            done.push(path);
        }
        let json = session.json("").map_err(|it| it.to_string())?.unwrap_or_default();
        best = best.min(started.elapsed().as_secs_f64() * 1e3);
        value = serde_json::from_str(&json).map_err(|it| it.to_string())?;
    }
    Ok((best, value))
}

/// The same of the official implementation, by name.
fn official(program: &str, cases: &[Case]) -> Result<BTreeMap<String, (f64, Value)>, String> {
    let mut all: BTreeMap<String, (f64, Value)> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let asked: Vec<Value> = cases
            .iter()
            .map(|(name, text, steps)| {
                let filled = (0..*steps).flat_map(|step| {
                    let path = format!("s{step}");
                    let fill = json!({
                        "op": "fill", "path": format!("{path}.$returns"), "value": returned(step),
                    });
                    [json!({"op": "lookup", "path": path}), fill]
                });
                let ops: Vec<Value> = filled.chain([json!("export")]).collect();
                json!({"id": name, "files": {"a.cue": text}, "ops": ops, "timeout_ms": 60_000})
            })
            .collect();
        // One after another: two at once would share the processor's caches.
        let mut words = program.split_whitespace();
        let mut child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .args(["-j", "1", "-memory", "4096"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|it| format!("{program}: {it}"))?;
        let input = Value::Array(asked).to_string();
        let mut stdin = child.stdin.take().ok_or("no standard input")?;
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let output = child.wait_with_output().map_err(|it| it.to_string())?;
        let _ = writer.join();
        let answers: Vec<Value> =
            serde_json::from_slice(&output.stdout).map_err(|it| format!("{program}: {it}"))?;
        for answer in answers {
            let name = answer["id"].as_str().unwrap_or_default().to_owned();
            let time = answer["micros"].as_f64().unwrap_or(f64::NAN) / 1e3;
            let results = answer["results"].as_array().and_then(|it| it.last());
            let value = results.map_or(Value::Null, |it| it["json"].clone());
            let held = all.entry(name).or_insert((f64::INFINITY, Value::Null));
            *held = (held.0.min(time), value);
        }
    }
    Ok(all)
}

fn main() -> ExitCode {
    // `cargo test --benches` only asks whether it starts.
    if std::env::args().any(|it| it == "--test") {
        return ExitCode::SUCCESS;
    }
    let cases = cases();
    let theirs = match std::env::var("CUE_ORACLE").map(|program| official(&program, &cases)) {
        Ok(Ok(all)) => all,
        Ok(Err(error)) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        Err(_) => BTreeMap::new(),
    };
    println!("| case | Lateen, ms | official, ms | times as fast | value |");
    println!("|---|---|---|---|---|");
    let mut failed = false;
    for (name, text, steps) in &cases {
        let (time, value) = match ours(text, *steps) {
            Ok(it) => it,
            Err(error) => {
                println!("| {name} | {error} | | | |");
                failed = true;
                continue;
            }
        };
        let (other, ratio, same) = match theirs.get(name) {
            Some((other, theirs)) => {
                let same = *theirs == value;
                failed |= !same;
                let same = if same { "same" } else { "differs" };
                (format!("{other:.1}"), format!("{:.1}", other / time), same)
            }
            None => (String::new(), String::new(), ""),
        };
        println!("| {name} | {time:.1} | {other} | {ratio} | {same} |");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
