//! Where in a text does an expression match?
//!
//! Two machines of `regex-automata`: one that tries a way after the other and marks where it was, for
//! texts that its marks suffice for, and one that goes all ways at once. What `regex` puts above them,
//! to choose among machines that the sandbox has no room for, would take as much again.

use std::cell::RefCell;
use std::ops::Range;

use regex_automata::Input;
use regex_automata::nfa::thompson::{self, NFA, backtrack, pikevm};
use regex_automata::util::iter::Searcher;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;

/// How deep an expression may nest, and how many bytes it may become.
const DEPTH: u32 = 1_100;
const SIZE: usize = 16 << 20;

/// From this length on whether there is a match at all is told sooner by the machine that goes all ways.
const LONG: usize = 128;

/// So many marks are wiped in less time than it takes to find a match.
const FEW_MARKS: usize = 1 << 14;

/// A compiled expression.
pub(crate) struct Matcher {
    short: backtrack::BoundedBacktracker,
    long: pikevm::PikeVM,
    kept: RefCell<Kept>,
}

/// What the machines write on, made when it is needed.
#[derive(Default)]
struct Kept {
    short: Option<backtrack::Cache>,
    long: Option<pikevm::Cache>,
}

/// A match: where its groups are, the whole of it first.
pub(crate) struct Found<'t> {
    text: &'t str,
    groups: Vec<Option<NonMaxUsize>>,
}

impl<'t> Found<'t> {
    /// How many groups the expression has, with the whole.
    pub(crate) fn len(&self) -> usize {
        self.groups.len() / 2
    }

    /// Where a group is, if it is part of the match.
    pub(crate) fn range(&self, group: usize) -> Option<Range<usize>> {
        let place = |at: usize| Some(self.groups.get(at)?.as_ref()?.get());
        Some(place(group.checked_mul(2)?)?..place(group * 2 + 1)?)
    }

    /// The text of a group, if it is part of the match.
    pub(crate) fn get(&self, group: usize) -> Option<&'t str> {
        self.text.get(self.range(group)?)
    }
}

impl Matcher {
    /// None of what becomes too large.
    pub(crate) fn new(expression: &str) -> Option<Self> {
        let nfa = NFA::compiler()
            .syntax(syntax::Config::new().nest_limit(DEPTH))
            .configure(thompson::Config::new().nfa_size_limit(Some(SIZE)))
            .build(expression)
            .ok()?;
        let short = backtrack::Builder::new().build_from_nfa(nfa.clone()).ok()?;
        let long = pikevm::Builder::new().build_from_nfa(nfa).ok()?;
        Some(Self { short, long, kept: RefCell::default() })
    }

    /// Bytes of what it is compiled to.
    pub(crate) fn bytes(&self) -> usize {
        self.long.get_nfa().memory_usage()
    }

    /// Whether it matches anywhere.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.search(&Input::new(text).earliest(true), &mut [])
    }

    /// The first match.
    pub(crate) fn first<'t>(&self, text: &'t str) -> Option<Found<'t>> {
        self.all(text).next()
    }

    /// The matches that do not overlap, one after the other.
    pub(crate) fn all<'t>(&self, text: &'t str) -> impl Iterator<Item = Found<'t>> {
        let mut searcher = Searcher::new(Input::new(text));
        let room = self.long.get_nfa().group_info().slot_len();
        std::iter::from_fn(move || {
            let mut groups = vec![None; room];
            searcher.advance(|input| {
                let found = self.search(input, &mut groups);
                let range = found.then(|| Found { text, groups: groups.clone() }.range(0));
                Ok(range.flatten().map(|it| regex_automata::Match::must(0, it)))
            })?;
            Some(Found { text, groups })
        })
    }

    fn search(&self, input: &Input<'_>, groups: &mut [Option<NonMaxUsize>]) -> bool {
        let kept = &mut *self.kept.borrow_mut();
        let (span, whole) = (input.get_span(), input.haystack().len());
        let suffices = span.len() <= self.short.max_haystack_len();
        // There is a mark for each state and byte of what is left. They are wiped for each search: where there are
        // many matches, that is the square of the text.
        let marks = span.len().saturating_mul(self.short.get_nfa().states().len());
        let wipes = span.start > 0 && marks > FEW_MARKS;
        if suffices && !wipes && !(input.get_earliest() && whole > LONG) {
            let cache = kept.short.get_or_insert_with(|| self.short.create_cache());
            if let Ok(found) = self.short.try_search_slots(cache, input, groups) {
                return found.is_some();
            }
        }
        let cache = kept.long.get_or_insert_with(|| self.long.create_cache());
        self.long.search_slots(cache, input, groups).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Matcher;

    fn all(expression: &str, text: &str) -> Vec<Vec<Option<String>>> {
        let matcher = Matcher::new(expression).unwrap();
        let groups =
            |it: super::Found<'_>| (0..it.len()).map(|at| it.get(at).map(str::to_owned)).collect();
        let found: Vec<Vec<_>> = matcher.all(text).map(groups).collect();
        assert_eq!(matcher.is_match(text), !found.is_empty());
        assert_eq!(matcher.first(text).is_some(), !found.is_empty());
        found
    }

    #[test]
    fn matches_and_their_groups_are_found_in_short_texts_and_in_long_ones() {
        let one = |it: &str| Some(it.to_owned());
        let wanted = [vec![one("a1"), one("1"), None], vec![one("ab"), None, one("b")]];
        assert_eq!(all("a(?:([0-9])|(b))", "-a1ab-"), wanted);
        let long = format!("{}a1{}ab", "-".repeat(1 << 20), "ä".repeat(1 << 20));
        assert_eq!(all("a(?:([0-9])|(b))", &long), wanted);
        assert_eq!(all("x", &long), Vec::<Vec<_>>::new());
    }

    #[test]
    fn empty_matches_are_between_characters() {
        assert_eq!(all("", "äb").len(), 3);
        assert_eq!(all("b*", "äbb").concat(), ["", "bb"].map(|it| Some(it.to_owned())));
    }

    #[test]
    fn what_becomes_too_large_is_refused() {
        assert!(Matcher::new(r"(?:\pL{1000}){1000}").is_none());
    }
}
