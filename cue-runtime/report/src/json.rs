//! Reports as JSON, for programs.

use serde_json::{Value, json};

use crate::report::{Place, Report};

/// Longest line that is put in.
const LONGEST: usize = 1_000;

/// `{"errors": […]}` with all that is told, on one line; of each error `code`, `path`, `message`, `places`, and
/// `alternatives` and `hints` where there are some. A place has `file`, `line`, `column`, both from 1 and the column
/// in bytes, and, where the text is at hand, `end`, the column behind what is meant, and `text`, the line.
pub fn json(reports: &[Report]) -> String {
    json!({ "errors": reports.iter().map(of_report).collect::<Vec<_>>() }).to_string()
}

fn of_report(it: &Report) -> Value {
    let mut value = json!({
        "code": it.code,
        "path": it.path,
        "message": it.message,
        "places": it.places.iter().map(of_place).collect::<Vec<_>>(),
    });
    if !it.alternatives.is_empty() {
        let all = it.alternatives.iter().map(|it| {
            let errors: Vec<Value> = it.errors.iter().map(of_report).collect();
            json!({ "text": it.text, "errors": errors })
        });
        value["alternatives"] = all.collect();
    }
    if !it.hints.is_empty() {
        value["hints"] = json!(it.hints);
    }
    value
}

fn of_place(it: &Place) -> Value {
    let mut value = json!({ "file": it.file, "line": it.line, "column": it.column });
    if let Some(around) = &it.around {
        value["end"] = json!(it.column as usize + around.marked().len());
        let line = around.line();
        if line.len() <= LONGEST {
            value["text"] = json!(line);
        }
    }
    value
}
