//! Bounds and validators as keys of a schema.

use cue_syntax::ast::Compare;

use crate::bounds::extent;
use crate::builtin::{Datum, Kinds};
use crate::heap::{Test, VertexId};
use crate::number::Number;
use crate::openapi::said::Said;
use crate::openapi::{Document, Version};

/// A limit, and whether the limit itself is left out.
type Limit = (Number, bool);

/// Which end of the numbers a limit is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Most,
}

/// The tightest limits so far.
#[derive(Default)]
struct Limits {
    least: Option<Limit>,
    most: Option<Limit>,
}

impl Limits {
    /// Keeps the tighter of two.
    fn tighten(&mut self, end: End, limit: Limit) {
        let held = match end {
            End::Least => &mut self.least,
            End::Most => &mut self.most,
        };
        let wins = held.as_ref().is_none_or(|held| {
            let order = limit.0.compare(&held.0);
            let order = if end == End::Least { order.reverse() } else { order };
            order.is_lt() || order.is_eq() && limit.1
        });
        if wins {
            *held = Some(limit);
        }
    }

    /// Whether a number is beyond one of them.
    fn exclude(&self, number: &Number) -> bool {
        self.least.as_ref().is_some_and(|it| number.compare(&it.0).is_lt())
            || self.most.as_ref().is_some_and(|it| number.compare(&it.0).is_gt())
    }
}

/// Layouts of package time that are formats.
const LAYOUTS: [(&str, &str); 2] =
    [("2006-01-02", "date"), ("2006-01-02T15:04:05.999999999Z07:00", "date-time")];

impl Document<'_> {
    /// Bounds and validators.
    pub(super) fn tests(&mut self, id: VertexId, said: &mut Said) {
        let formats = !self.alternatives;
        let tests = self.it.heap.get(id).tests.clone();
        let mut limits = Limits::default();
        let bounded = |it: &Test| match it {
            Test::Bound(operator, Datum::Number(_)) => *operator != Compare::NotEqual,
            _ => false,
        };
        let bounded = tests.iter().any(|it| bounded(&it.0));
        for (test, _) in tests.iter() {
            match test {
                Test::Range(name) => match *name {
                    "int32" | "int64" if formats && !bounded => {
                        said.once("format", Datum::text(*name))
                    }
                    "float32" if formats && !bounded => said.once("format", Datum::text("float")),
                    "float64" if formats && !bounded => said.once("format", Datum::text("double")),
                    name => {
                        if let Some((from, to)) = extent(name) {
                            limits.tighten(End::Least, (from, false));
                            if let Some(to) = to {
                                limits.tighten(End::Most, (to, false));
                            }
                        }
                    }
                },
                Test::Bound(operator, Datum::Number(limit)) => match operator {
                    Compare::Greater => limits.tighten(End::Least, (limit.clone(), true)),
                    Compare::GreaterEqual => limits.tighten(End::Least, (limit.clone(), false)),
                    Compare::Less => limits.tighten(End::Most, (limit.clone(), true)),
                    Compare::LessEqual => limits.tighten(End::Most, (limit.clone(), false)),
                    _ => {}
                },
                Test::Bound(Compare::Match, pattern) => said.also("pattern", pattern.clone()),
                _ => {}
            }
        }
        let named = [
            (&limits.least, "minimum", "exclusiveMinimum"),
            (&limits.most, "maximum", "exclusiveMaximum"),
        ];
        for (limit, key, without) in named {
            let Some((limit, exclusive)) = limit.clone() else { continue };
            match (exclusive, self.version) {
                (true, Version::Three) => {
                    said.also(without, Datum::Bool(true));
                    said.also(key, Datum::Number(limit));
                }
                (true, Version::ThreeOne) => said.also(without, Datum::Number(limit)),
                (false, _) => said.also(key, Datum::Number(limit)),
            }
        }
        for (test, _) in tests.iter() {
            let one = |key: &str, it: &Datum| Datum::fields(vec![(key.into(), it.clone())]);
            match test {
                Test::Bound(Compare::NotMatch, pattern) => {
                    said.also("not", one("pattern", pattern));
                }
                Test::Bound(Compare::NotEqual, limit @ Datum::Number(number)) => {
                    if limits.exclude(number) {
                        continue;
                    }
                    let both = vec![one("minimum", limit), one("maximum", limit)];
                    said.also("not", one("allOf", &Datum::list(both)));
                }
                Test::Call(package, function, arguments, _) => {
                    self.validator(package, function.name, arguments.first(), said);
                }
                _ => {}
            }
        }
        if self.it.kinds_of(id) == Kinds::BYTES {
            said.once("format", Datum::text(if formats { "binary" } else { "byte" }));
        }
    }

    /// Builtin functions that have a key, or a format.
    fn validator(&mut self, package: &str, name: &str, limit: Option<&Datum>, said: &mut Said) {
        let key = match (package, name) {
            ("strings", "MinRunes") => "minLength",
            ("strings", "MaxRunes") => "maxLength",
            ("list", "MinItems") => "minItems",
            ("list", "MaxItems") => "maxItems",
            ("struct", "MinFields") => "minProperties",
            ("struct", "MaxFields") => "maxProperties",
            ("math", "MultipleOf") => "multipleOf",
            ("list", "UniqueItems") => {
                said.also("uniqueItems", Datum::Bool(true));
                return;
            }
            ("time", "Time") => {
                said.once("format", Datum::text("date-time"));
                return;
            }
            ("time", "Format") => {
                let Some(Datum::String(layout)) = limit else { return };
                let known = LAYOUTS.iter().find(|it| it.0 == &**layout);
                known.into_iter().for_each(|it| said.once("format", Datum::text(it.1)));
                return;
            }
            _ => return,
        };
        if let Some(limit) = limit {
            said.also(key, limit.clone());
        }
    }
}
