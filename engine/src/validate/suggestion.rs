//! The known name that is nearest to one nobody knows, as messages end with it.

/// `; did you mean X?`, or nothing.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    cue_session::nearest(wanted, known)
        .map_or_else(String::new, |it| format!("; did you mean {it}?"))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_offered() {
        let known = ["webservice", "worker"];
        assert_eq!(nearest("webservce", known.into_iter()), "; did you mean webservice?");
        assert_eq!(nearest("zzz", known.into_iter()), "");
    }
}
