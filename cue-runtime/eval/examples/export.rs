//! Exports the cases of recorded folders and counts equal answers.
use cue_eval::{Budget, Concreteness, Evaluation, Profile, Source, compile};
use serde_json::Value;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_default();
    let only = arguments.next();
    let run = move || {
        let mut files: Vec<_> =
            std::fs::read_dir(&folder).expect("a folder").flatten().map(|it| it.path()).collect();
        files.sort();
        let (mut good, mut all) = (0, 0);
        for file in files.iter().filter(|it| it.extension().is_some_and(|it| it == "jsonl")) {
            let (mut file_good, mut file_all) = (0, 0);
            for line in std::fs::read_to_string(file).expect("a text").lines() {
                let case: Value = serde_json::from_str(line).expect("JSON");
                let id = case["id"].as_str().unwrap_or_default();
                if only.as_ref().is_some_and(|it| !id.contains(it.as_str())) {
                    continue;
                }
                let args: Vec<&str> = case["entry"]["args"]
                    .as_array()
                    .expect("it is there")
                    .iter()
                    .filter_map(Value::as_str)
                    .collect();
                let sources: Vec<Source> = args
                    .iter()
                    .filter_map(|name| Some(Source::new(*name, case["files"][*name].as_str()?)))
                    .collect();
                let want = &case["export"];
                if want["ok"].is_null() {
                    continue;
                }
                file_all += 1;
                let got = match compile(&sources, &[], Profile::V017) {
                    Err(errors) => Err(errors[0].message.clone()),
                    Ok(program) => {
                        let mut evaluation = Evaluation::start(
                            std::sync::Arc::new(program),
                            &[],
                            Budget { ticks: 2_000_000, depth: 400, bytes: 2 << 30 },
                        );
                        let root = evaluation.find("").expect("it evaluates").expect("it is there");
                        let wrong = evaluation.validate(root, Concreteness::Required);
                        if let Some(first) = wrong.first() {
                            Err(format!("{}: {}", first.path, first.message))
                        } else {
                            match evaluation.datum(root) {
                                Ok(datum) => Ok(cue_eval::evaluation::print_json(&datum)),
                                Err(all) => Err(format!("{}: {}", all[0].path, all[0].message)),
                            }
                        }
                    }
                };
                let ok = match (&got, want["ok"].as_bool().expect("a bool")) {
                    (Ok(text), true) => {
                        let got: Value = serde_json::from_str(text).unwrap_or_default();
                        let want: Value =
                            serde_json::from_str(want["text"].as_str().unwrap_or_default())
                                .unwrap_or_default();
                        got == want
                    }
                    (Err(_), false) => true,
                    _ => false,
                };
                if ok {
                    file_good += 1
                } else {
                    println!(
                        "{id}: want {} got {:?}",
                        want.to_string().chars().take(200).collect::<String>(),
                        got.map(|it| it.chars().take(200).collect::<String>())
                    );
                }
            }
            println!(
                "{} {file_good}/{file_all}",
                file.file_name().expect("a name").to_string_lossy()
            );
            good += file_good;
            all += file_all;
        }
        println!("total {good}/{all}");
    };
    std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(run)
        .expect("a thread")
        .join()
        .expect("it ends");
}
