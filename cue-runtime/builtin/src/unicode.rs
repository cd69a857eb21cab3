//! Classes of characters that Unicode names: general categories and scripts.

/// Of which category or script each character is.
struct Table {
    names: &'static [&'static str],
    /// How many bits of a run say which of these.
    bits: u32,
    /// Runs of characters, as `build.rs` says.
    runs: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/unicode_tables.rs"));

/// The long names of categories and of groups of them.
const LONG: &[(&str, &str)] = &[
    ("Cased_Letter", "LC"),
    ("Close_Punctuation", "Pe"),
    ("cntrl", "Cc"),
    ("Combining_Mark", "M"),
    ("Connector_Punctuation", "Pc"),
    ("Control", "Cc"),
    ("Currency_Symbol", "Sc"),
    ("Dash_Punctuation", "Pd"),
    ("Decimal_Number", "Nd"),
    ("digit", "Nd"),
    ("Enclosing_Mark", "Me"),
    ("Final_Punctuation", "Pf"),
    ("Format", "Cf"),
    ("Initial_Punctuation", "Pi"),
    ("Letter", "L"),
    ("Letter_Number", "Nl"),
    ("Line_Separator", "Zl"),
    ("Lowercase_Letter", "Ll"),
    ("Mark", "M"),
    ("Math_Symbol", "Sm"),
    ("Modifier_Letter", "Lm"),
    ("Modifier_Symbol", "Sk"),
    ("Nonspacing_Mark", "Mn"),
    ("Number", "N"),
    ("Open_Punctuation", "Ps"),
    ("Other", "C"),
    ("Other_Letter", "Lo"),
    ("Other_Number", "No"),
    ("Other_Punctuation", "Po"),
    ("Other_Symbol", "So"),
    ("Paragraph_Separator", "Zp"),
    ("Private_Use", "Co"),
    ("punct", "P"),
    ("Punctuation", "P"),
    ("Separator", "Z"),
    ("Space_Separator", "Zs"),
    ("Spacing_Mark", "Mc"),
    ("Surrogate", "Cs"),
    ("Symbol", "S"),
    ("Titlecase_Letter", "Lt"),
    ("Unassigned", "Cn"),
    ("Uppercase_Letter", "Lu"),
];

/// From the first to the last character, both of them in it.
type Range = (u32, u32);

impl Table {
    /// The ranges of what is `wanted`, in order and as few as can be.
    fn ranges(&self, wanted: impl Fn(&str) -> bool) -> Vec<Range> {
        let wanted: Vec<bool> = self.names.iter().map(|it| wanted(it)).collect();
        let mut ranges: Vec<Range> = Vec::new();
        let (mut from, mut run, mut shift) = (0, 0_u32, 0);
        for byte in self.runs {
            run |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if *byte > 0x7f {
                continue;
            }
            let last = from + (run >> self.bits);
            if wanted[(run & ((1 << self.bits) - 1)) as usize] {
                match ranges.last_mut().filter(|it| it.1 + 1 == from) {
                    Some(before) => before.1 = last,
                    None => ranges.push((from, last)),
                }
            }
            (from, run, shift) = (last + 1, 0, 0);
        }
        ranges
    }
}

/// The characters whose category begins with one of these letters, or is one of these.
pub(crate) fn categories(of: &[&str]) -> Vec<Range> {
    CATEGORIES.ranges(|name| of.iter().any(|it| name.starts_with(it)))
}

/// The characters that Go's regular expressions know by a name: a category, a group of them or a script, in capital or
/// small letters, with or without anything between its words. None if there is no such name.
pub(crate) fn class(name: &str) -> Option<Vec<Range>> {
    let long = LONG.iter().find(|it| same(it.0, name)).map(|it| it.1);
    let name = long.unwrap_or(name);
    if same(name, "Any") {
        return Some(vec![(0, char::MAX as u32)]);
    }
    if same(name, "Ascii") {
        return Some(vec![(0, 0x7f)]);
    }
    if same(name, "Assigned") {
        return Some(CATEGORIES.ranges(|it| it != "Cn"));
    }
    if same(name, "LC") {
        return Some(categories(&["Lu", "Ll", "Lt"]));
    }
    let of = |it: &str| same(it, name) || same(&it[..1], name);
    if CATEGORIES.names.iter().any(|it| of(it)) {
        return Some(CATEGORIES.ranges(of));
    }
    let script = |it: &str| !it.is_empty() && same(it, name);
    SCRIPTS.names.iter().any(|it| script(it)).then(|| SCRIPTS.ranges(script))
}

/// Whether two names are the same to Unicode (UAX #44, 5.9.3).
fn same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|it| {
        let letters = it.bytes().filter(|it| !matches!(it, b'_' | b'-' | b' '));
        letters.map(|it| it.to_ascii_lowercase())
    });
    one.eq(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_is_of_one_category() {
        assert_eq!(categories(&[""]), [(0, char::MAX as u32)]);
        let count = |it: Vec<Range>| it.iter().map(|it| it.1 - it.0 + 1).sum::<u32>();
        let of_each = CATEGORIES.names.iter().map(|it| count(categories(&[it]))).sum::<u32>();
        assert_eq!(of_each, char::MAX as u32 + 1);
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        assert_eq!(class("Greek").map(|it| it[0]), Some((0x370, 0x373)));
        assert_eq!(class("old-italic"), class("Old_Italic"));
        assert_eq!(class("Nd"), class("decimalnumber"));
        assert_eq!(class(" l"), class("Letter"));
        assert_eq!(class("Lc"), class("cased letter"));
        assert_eq!(class("Cs"), Some(vec![(0xd800, 0xdfff)]));
        for name in ["", "Grek", "Alphabetic", "Lx", "LLu", "ä", "Garay"] {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
