//! Errors as they are told: without what was put around the texts that were given, where things stand
//! in the files they are from.

use cue_session::{Diagnostic, Position, Runtime};

use crate::evaluate::{Asked, EXPRESSION};
use crate::plan::{DATA, OfData, Unit};
use crate::tags::INJECTED;
use crate::{Error, failed, scope};

impl Asked<'_> {
    /// An error without what was put around the texts that were given.
    pub(crate) fn renamed(&self, runtime: &dyn Runtime, error: Error) -> Error {
        let Error::Diagnostics(mut all) = error else { return error };
        if self.request.suggest {
            self.suggest(runtime, &mut all);
        }
        let schema = self.request.schema.as_ref();
        // A schema that is a path is looked up, but for names of types.
        let looked_up = schema.is_some_and(|it| {
            let first = it.split('.').next().unwrap_or_default();
            let named = first.starts_with(['#', '_']) || scope::declares(&self.unit.sources, first);
            named && cue_syntax::parse_path(it).is_ok()
        });
        match schema {
            Some(schema) if looked_up => self.beside_schema(runtime, schema, &mut all),
            None if self.has_data() => self.beside_schema(runtime, "", &mut all),
            _ => {}
        }
        let Unit { name, import_path, sources, packages, .. } = self.unit;
        failed::named(&mut all, import_path, sources, packages);
        // A package of a module is known by its path.
        let hidden = self.unit.package.as_ref().filter(|_| !import_path.is_empty());
        let hidden = hidden.map(|it| format!("(:{it})"));
        let of_expression =
            |it: &Diagnostic| it.positions.iter().any(|at| at.file == "--expression");
        let above = if all.iter().any(of_expression) { self.lines_above() } else { 0 };
        for wrong in &mut all {
            if let Some(known) = hidden.as_ref().filter(|it| wrong.message.contains(&**it)) {
                wrong.message = wrong.message.replace(known, &format!("({name})"));
            }
            let own = ["undefined field", "invalid operand"];
            let compiled =
                wrong.code != "cue/load" && !own.iter().any(|it| wrong.message.starts_with(it));
            wrong.positions.retain(|it| !(looked_up && compiled && it.file == "--schema"));
            if let Some(rest) = wrong.path.strip_prefix(EXPRESSION) {
                wrong.path = rest.trim_start_matches('.').to_owned();
            } else if let Some(rest) = wrong.path.strip_prefix(DATA) {
                wrong.path = rest.trim_start_matches('.').to_owned();
            }
            // The value as a whole is no place beside one in it.
            let all = wrong.positions.clone();
            let inside = |it: &&Position| !self.is_whole(it);
            let beside = |it: &Position| all.iter().any(|at| at.file == it.file && inside(&at));
            wrong.positions.retain(|it| inside(&it) || !beside(it));
            self.keep_first(wrong);
            // Pieces that a schema is made of may stand for the same one in it.
            let mut seen: Vec<(Position, bool)> = Vec::new();
            wrong.positions.retain_mut(|it| {
                let spaced = self.is_spaced(it);
                let known = self.relocated(it, above) == Place::Known;
                let place = (it.clone(), spaced);
                let new = known && !seen.contains(&place);
                seen.push(place);
                new
            });
        }
        Error::Diagnostics(all)
    }

    /// Says what may have been meant by names nobody knows.
    fn suggest(&self, runtime: &dyn Runtime, all: &mut [Diagnostic]) {
        let expression = Some(self.expression).filter(|it| !it.is_empty());
        let start = || self.start(runtime, expression).ok();
        cue_session::suggest(&self.spec(expression), start, all);
    }

    /// Whether a position is that of a value of a data file as a whole.
    fn is_whole(&self, at: &Position) -> bool {
        let data = self.unit.data.iter().find(|it| it.name == at.file);
        data.is_some_and(|it| it.lines.offset(at.line, at.column) == Some(it.whole))
    }

    /// Of several structs that are each all of a file, the first is the one that something else conflicts with.
    fn keep_first(&self, wrong: &mut Diagnostic) {
        let structs = self.unit.data.iter().filter(|it| it.is_struct());
        let told =
            |it: &OfData| wrong.positions.iter().any(|at| at.file == it.name && self.is_whole(at));
        let later: Vec<&str> =
            structs.filter(|it| told(it)).skip(1).map(|it| it.name.as_str()).collect();
        if wrong.path.is_empty() && wrong.message.starts_with("conflicting values") {
            wrong.positions.retain(|at| !later.contains(&at.file.as_str()));
        }
    }

    /// Whether a position in a schema is another one than that of its place.
    fn is_spaced(&self, at: &Position) -> bool {
        let mut all = self.unit.data.iter().chain(&self.unit.schemas);
        let of = all.find(|it| it.name == at.file).filter(|it| !it.line.spaced.is_empty());
        let offset = of.and_then(|it| it.lines.offset(at.line, at.column));
        offset.zip(of).is_some_and(|(offset, of)| of.line.spaced.contains(&offset))
    }

    /// How many lines stand above the expression that was asked for: the package clause, the imports and what it sees.
    fn lines_above(&self) -> usize {
        let sources = self.sources(Some(self.expression));
        let source = sources.iter().find(|it| it.name == "--expression");
        let lines = source.and_then(|it| it.text.lines().position(|it| it.starts_with(EXPRESSION)));
        lines.unwrap_or_default()
    }

    /// Where the piece stands in what was given; `above` are the lines before the expression.
    fn relocated(&self, at: &mut Position, above: usize) -> Place {
        let before = match at.file.as_str() {
            "--expression" => EXPRESSION.len() + 2,
            "--schema" => DATA.len() + 2,
            _ => {
                // What was put in last is looked at first: it stands in what was there.
                if self.unit.spliced.iter().rev().filter(|it| it.relocate(at)).count() > 0 {
                    return if at.file == INJECTED { Place::Unknown } else { Place::Known };
                }
                let mut all = self.unit.data.iter().chain(&self.unit.schemas);
                let Some(data) = all.find(|it| it.name == at.file) else {
                    return Place::Known;
                };
                at.file.clone_from(&data.file);
                let offset = data.lines.offset(at.line, at.column);
                let Some(place) = offset.and_then(|it| data.line.at(it)) else {
                    return Place::Unknown;
                };
                (at.line, at.column) = place;
                return Place::Known;
            }
        };
        if at.file == "--expression" && at.line as usize <= above {
            return Place::Unknown;
        }
        at.line = 1;
        at.column = at.column.saturating_sub(u32::try_from(before).unwrap_or_default());
        Place::Known
    }
}

/// Whether a position can be told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Known,
    /// The decoder does not say where things stand.
    Unknown,
}
