//! Keywords about strings.

use cue_builtin::Pattern;
use cue_syntax::scan::T;

use super::Decoder;
use super::data::Id;
use super::keywords::Bound;
use super::kinds::Core;
use super::state::State;

impl Decoder<'_> {
    /// `minLength`, `maxLength`
    pub(super) fn length(&mut self, bound: Bound, of: Id, state: &mut State) {
        let name = match bound {
            Bound::Least => "MinRunes",
            Bound::Most => "MaxRunes",
        };
        self.count_in(of, Core::String, state, ("strings", name));
    }

    /// `pattern`
    pub(super) fn pattern(&mut self, of: Id, state: &mut State) {
        let Some(text) = self.text(of) else { return };
        if self.is_pattern(of, &text) {
            let text = self.scalar(of);
            let expr = self.made.unary(T::Mat, text);
            self.add(state, of, Core::String, expr);
        }
    }

    /// Whether a text is a regular expression that CUE has. What others have is no error, unless that is wanted.
    pub(super) fn is_pattern(&mut self, of: Id, text: &str) -> bool {
        let Err(why) = Pattern::new(text) else { return true };
        let unsupported = match why.strip_prefix("error parsing regexp: ") {
            // It is one, but too large to be kept as one here.
            Some(it) if it.starts_with("expression too large") => return true,
            Some(it) if it.starts_with("invalid or unsupported Perl syntax") => {
                Some("Perl regexp syntax")
            }
            Some(it) if it.starts_with("invalid character class range") => {
                Some("regexp character class")
            }
            _ => None,
        };
        match unsupported {
            Some(what) if self.config.strict_features => {
                self.problem(of, format!("unsupported {what} in {text:?}: {why}"));
            }
            Some(_) => {}
            None => self.problem(of, format!("invalid regexp {text:?}: {why}")),
        }
        false
    }
}
