//! A value at its place, and the rules that many kinds share, in the words of the API server.

use serde_json::{Value, json};

use crate::meta::{label_errors, label_value_errors, qualified_name_errors, subdomain_errors};
use crate::status::FieldError;

pub(super) type Found = Vec<FieldError>;

/// A value and where it is.
#[derive(Clone, Debug)]
pub(super) struct Field<'v> {
    pub(super) at: String,
    pub(super) value: &'v Value,
}

impl<'v> Field<'v> {
    pub(super) fn new(at: impl Into<String>, value: &'v Value) -> Field<'v> {
        Field { at: at.into(), value }
    }

    pub(super) fn get(&self, name: &str) -> Field<'v> {
        let at = if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) };
        Field { at, value: &self.value[name] }
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Field<'v>> + use<'v> {
        let at = self.at.clone();
        let all = self.value.as_array().into_iter().flatten().enumerate();
        all.map(move |(index, value)| Field { at: format!("{at}[{index}]"), value })
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&'v str, Field<'v>)> + use<'v> {
        let at = self.at.clone();
        let all = self.value.as_object().into_iter().flatten();
        all.map(move |(key, value)| (key.as_str(), Field { at: format!("{at}[{key}]"), value }))
    }

    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    pub(super) fn is_empty(&self) -> bool {
        super::empty(self.value)
    }

    pub(super) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn int(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.value.as_str() == Some(text)
    }

    // As texts are shown when they are not there.
    fn shown(&self) -> Value {
        if self.is_set() { self.value.clone() } else { json!("") }
    }

    pub(super) fn refuse(&self, why: &str, found: &mut Found) {
        found.push(FieldError::invalid(self.at.as_str(), &self.shown(), why));
    }

    /// Of a struct whose content is not shown.
    pub(super) fn refuse_unseen(&self, why: &str, found: &mut Found) {
        found.push(FieldError::invalid(self.at.as_str(), &json!(""), why));
    }

    pub(super) fn forbid(&self, why: &str, found: &mut Found) {
        found.push(FieldError::forbidden(self.at.as_str(), why));
    }

    pub(super) fn miss(&self, why: &str, found: &mut Found) {
        found.push(FieldError::required(self.at.as_str(), why));
    }

    pub(super) fn repeat(&self, found: &mut Found) {
        found.push(FieldError::duplicate(self.at.as_str(), self.value));
    }

    /// Whether there is something; says so if not.
    pub(super) fn require(&self, found: &mut Found) -> bool {
        if self.is_empty() {
            self.miss("", found);
        }
        !self.is_empty()
    }

    /// One of a few words; absent is fine.
    pub(super) fn one_of(&self, known: &[&str], found: &mut Found) {
        if self.value.as_str().is_some_and(|it| !known.contains(&it)) {
            let known: Vec<String> = known.iter().map(|it| format!("\"{it}\"")).collect();
            found.push(FieldError::unsupported(self.at.as_str(), self.value, &known));
        }
    }

    pub(super) fn not_negative(&self, found: &mut Found) {
        if self.int().is_some_and(|it| it < 0) {
            self.refuse("must be greater than or equal to 0", found);
        }
    }

    pub(super) fn between(&self, least: i64, most: i64, found: &mut Found) {
        if self.int().is_some_and(|it| !(least..=most).contains(&it)) {
            self.refuse(&format!("must be between {least} and {most}, inclusive"), found);
        }
    }

    pub(super) fn subdomain(&self, found: &mut Found) {
        for why in subdomain_errors(self.text()) {
            self.refuse(&why, found);
        }
    }

    pub(super) fn label(&self, found: &mut Found) {
        for why in label_errors(self.text()) {
            self.refuse(&why, found);
        }
    }

    pub(super) fn qualified(&self, found: &mut Found) {
        for why in qualified_name_errors(self.text()) {
            self.refuse(&why, found);
        }
    }

    /// A number or name of a port.
    pub(super) fn port(&self, found: &mut Found) {
        match self.value.as_str() {
            Some(name) => {
                for why in port_name_errors(name) {
                    self.refuse(why, found);
                }
            }
            None => self.between(1, 65535, found),
        }
    }

    /// Labels of a selection: keys and values.
    pub(super) fn labels(&self, found: &mut Found) {
        for (key, value) in self.entries() {
            for why in qualified_name_errors(key) {
                found.push(FieldError::invalid(self.at.as_str(), &json!(key), &why));
            }
            for why in label_value_errors(value.text()) {
                found.push(FieldError::invalid(self.at.as_str(), value.value, &why));
            }
        }
    }

    /// Keys alone, as annotations have them.
    pub(super) fn annotations(&self, found: &mut Found) {
        for (key, _) in self.entries() {
            for why in qualified_name_errors(&key.to_lowercase()) {
                found.push(FieldError::invalid(self.at.as_str(), &json!(key), &why));
            }
        }
    }

    pub(super) fn selector(&self, found: &mut Found) {
        self.get("matchLabels").labels(found);
        for one in self.get("matchExpressions").items() {
            let values = one.get("values");
            let operator = one.get("operator");
            match operator.text() {
                "In" | "NotIn" if values.is_empty() => {
                    values.miss("must be specified when `operator` is 'In' or 'NotIn'", found);
                }
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    values.forbid(why, found);
                }
                "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
                _ => operator.refuse("not a valid selector operator", found),
            }
            one.get("key").qualified(found);
            for value in values.items() {
                for why in label_value_errors(value.text()) {
                    value.refuse(&why, found);
                }
            }
        }
    }

    /// An amount, in billionths.
    pub(super) fn amount(&self) -> Option<i128> {
        match self.value {
            Value::String(text) => crate::quantity::nanos(text),
            Value::Number(number) => crate::quantity::nanos(&number.to_string()),
            _ => None,
        }
    }

    /// An address that others may be sent to.
    pub(super) fn address(&self, found: &mut Found) -> bool {
        let good = self.text().parse::<std::net::IpAddr>().is_ok();
        if !good {
            let why = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            self.refuse(why, found);
        }
        good
    }

    /// An address that is not of this machine alone.
    pub(super) fn outside(&self, found: &mut Found) {
        let Ok(address) = self.text().parse::<std::net::IpAddr>() else { return };
        if address.is_unspecified() {
            let why = format!("may not be unspecified ({})", self.text());
            self.refuse(&why, found);
        }
        if address.is_loopback() {
            self.refuse("may not be in the loopback range (127.0.0.0/8, ::1/128)", found);
        }
        let local = match address {
            std::net::IpAddr::V4(it) => it.is_link_local(),
            std::net::IpAddr::V6(it) => it.is_unicast_link_local(),
        };
        if local {
            let why = "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
            self.refuse(why, found);
        }
        if address.is_multicast() {
            let why = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
            self.refuse(why, found);
        }
    }

    /// `10.9.8.0/24`
    pub(super) fn network(&self, found: &mut Found) -> Option<Network> {
        let network = Network::parse(self.text());
        if network.is_none() {
            let why = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            self.refuse(why, found);
        }
        network
    }

    /// `25%`, or a number that is not negative.
    pub(super) fn number_or_percent(&self, found: &mut Found) {
        const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        let Some(text) = self.value.as_str() else { return self.not_negative(found) };
        let digits = text.strip_suffix('%').unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
            self.refuse(PERCENT, found);
        }
    }

    pub(super) fn at_most_all(&self, found: &mut Found) {
        let percent = || self.value.as_str()?.strip_suffix('%')?.parse::<i64>().ok();
        if percent().is_some_and(|it| it > 100) {
            self.refuse("must not be greater than 100%", found);
        }
    }

    /// A name as part of a path.
    pub(super) fn segment(&self, found: &mut Found) {
        let text = self.text();
        if text == "." || text == ".." {
            self.refuse(&format!("may not be '{text}'"), found);
            return;
        }
        for one in ['/', '%'].iter().filter(|one| text.contains(**one)) {
            self.refuse(&format!("may not contain '{one}'"), found);
        }
    }

    /// `acme.io/foo`
    pub(super) fn prefixed(&self, found: &mut Found) {
        let good = |rest: &str| {
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "!#$&'()*+,/:;=?@_.~-%".contains(c))
        };
        match self.text().split_once('/') {
            None => self.refuse("must be a domain-prefixed path (such as \"acme.io/foo\")", found),
            Some((domain, rest)) if domain.is_empty() || rest.is_empty() => {
                self.refuse("must be a domain-prefixed path (such as \"acme.io/foo\")", found);
            }
            Some((domain, rest)) => {
                for why in subdomain_errors(domain) {
                    found.push(FieldError::invalid(self.at.as_str(), &json!(domain), &why));
                }
                if !good(rest) {
                    let why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
                    found.push(FieldError::invalid(self.at.as_str(), &json!(rest), why));
                }
            }
        }
    }

    /// A path that stays inside.
    pub(super) fn stays_inside(&self, found: &mut Found) {
        if self.text().split('/').any(|part| part == "..") {
            self.refuse("must not contain '..'", found);
        }
    }
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    bits: u128,
    length: u32,
    wide: bool,
}

impl Network {
    pub(super) fn parse(text: &str) -> Option<Network> {
        let (address, length) = text.split_once('/')?;
        let length: u32 = length.parse().ok()?;
        let (bits, width) = match address.parse().ok()? {
            std::net::IpAddr::V4(it) => (u128::from(it.to_bits()), 32),
            std::net::IpAddr::V6(it) => (it.to_bits(), 128),
        };
        let rest = u32::checked_sub(width, length)?;
        let bits = bits.checked_shr(rest).unwrap_or(0);
        Some(Network { bits, length, wide: width == 128 })
    }

    /// Whether the other is a part of this one, and smaller.
    pub(super) fn holds(&self, other: &Network) -> bool {
        let more = other.length.saturating_sub(self.length);
        self.wide == other.wide
            && more > 0
            && other.bits.checked_shr(more).unwrap_or(0) == self.bits
    }
}

/// What is wrong with the name of a port by the rules of IANA's service names.
fn port_name_errors(name: &str) -> Vec<&'static str> {
    let mut wrong = Vec::new();
    if name.len() > 15 {
        wrong.push("must be no more than 15 characters");
    }
    if !name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-') {
        wrong.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.chars().any(|it| it.is_ascii_lowercase()) {
        wrong.push("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        wrong.push("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        wrong.push("must not begin or end with a hyphen");
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_within_networks() {
        let holds = |a: &str, b: &str| {
            let (a, b) = (Network::parse(a), Network::parse(b));
            a.zip(b).is_some_and(|(a, b)| a.holds(&b))
        };
        assert!(holds("10.0.0.0/8", "10.1.0.0/16"));
        assert!(holds("0.0.0.0/0", "10.1.0.0/16"));
        assert!(holds("::/0", "2001:db8::/64"));
        assert!(!holds("10.0.0.0/8", "11.0.0.0/16"));
        assert!(!holds("10.0.0.0/8", "10.0.0.0/8"));
        assert!(!holds("10.0.0.0/16", "10.0.0.0/8"));
        assert!(!holds("0.0.0.0/0", "2001:db8::/64"));
        for wrong in ["10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1", ""] {
            assert_eq!(Network::parse(wrong), None);
        }
    }
}
