//! A text that is evaluated and looked through for errors, as it is before it is printed.

use std::sync::Arc;

use cue_eval::evaluation::compile_text;
use cue_eval::heap::VertexId;
use cue_eval::{Budget, Concreteness, Evaluation};

/// Its evaluation and its root.
#[track_caller]
pub fn validated(text: &str) -> (Evaluation, VertexId) {
    let budget = Budget { ticks: 100_000, depth: 100, bytes: 50 << 20 };
    let program = compile_text(text).expect("it compiles");
    let mut it = Evaluation::start(Arc::new(program), &[], budget);
    let root = it.find("").expect("it evaluates").expect("it is there");
    it.validate(root, Concreteness::Optional);
    (it, root)
}
