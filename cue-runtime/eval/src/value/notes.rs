//! Comments and attributes of the declarations that make a field.

use crate::evaluation::Evaluation;
use crate::heap::VertexId;

impl Evaluation {
    fn notes(&self, id: VertexId) -> Vec<u32> {
        let vertex = self.evaluator.heap.get(id);
        let (Some(parent), Some(label)) = (vertex.parent, vertex.label) else { return Vec::new() };
        let parent = self.evaluator.follow(parent);
        let arc = self.evaluator.heap.arc(parent, label);
        arc.map_or_else(Vec::new, |it| it.notes().collect())
    }

    /// The comments above a field, one text for each declaration that has one.
    pub fn docs(&self, id: VertexId) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for notes in self.notes(id) {
            let lines = self.evaluator.program.notes[notes as usize].lines();
            let text: String = lines.map(|line| format!("{line}\n")).collect();
            if !text.is_empty() && !all.contains(&text) {
                all.push(text);
            }
        }
        all
    }

    /// The lines of the comments above the field at a path, none if there is no such field.
    pub fn comments(&mut self, path: &str) -> Vec<String> {
        let Ok(Some((above, label))) = self.site(path) else { return Vec::new() };
        let arc = self.evaluator.heap.arc(above, label);
        let notes = arc.into_iter().flat_map(|it| it.notes());
        let all = notes.flat_map(|it| self.evaluator.program.notes[it as usize].lines());
        all.map(str::to_owned).collect()
    }

    /// The attributes of a field, name and body.
    pub fn attributes(&self, id: VertexId) -> Vec<(String, String)> {
        self.evaluator.program.attributes(self.notes(id)).into_iter().cloned().collect()
    }
}
