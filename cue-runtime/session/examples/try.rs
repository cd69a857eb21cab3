//! Scratch.
use cue_session::*;
fn main() {
    let mut a = std::env::args().skip(1);
    let file = a.next().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let inputs: Vec<Input> = a
        .map(|it| {
            let (p, j) = it.split_once('=').unwrap();
            Input::new(p, j)
        })
        .collect();
    let rt = NativeRuntime::default();
    let program = Program::new(ProgramSpec {
        sources: vec![Source::new("t.cue", text)],
        packages: vec![],
        profile: Profile::KubeVela,
    });
    let mut s = match rt.start(&program, inputs, Budget::DEFINITION) {
        Ok(s) => s,
        Err(e) => {
            println!("START {e}");
            return;
        }
    };
    println!("{}", s.syntax("", SyntaxStyle::Eval).unwrap().unwrap_or_default());
    for how in [Concreteness::Optional, Concreteness::Required] {
        for d in s.validate("", how).unwrap() {
            println!("{how:?} {} | {} | {:?}", d.path, d.message, d.code);
        }
    }
    println!("{:?}", s.json_lenient(""));
}
