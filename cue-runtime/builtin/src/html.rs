//! Package `html`.

use super::arguments as arg;
use super::call::{CallContext, CallError, Kinds, Member, Package, Parameter, function};
use super::datum::Datum;

type Outcome = Result<Datum, CallError>;

/// The package.
pub(super) const PACKAGE: Package = Package { path: "html", members: MEMBERS, text: "" };

const MEMBERS: &[Member] = &[
    function("Escape", &[Parameter::STRING], Kinds::STRING, |cx, a| {
        let text = escape(arg::text(a, 0)?);
        cx.spend(text.len())?;
        Ok(Datum::text(text))
    }),
    function("Unescape", &[Parameter::STRING], Kinds::STRING, unescape),
];

/// `<`, `>`, `&` and both quotes as entities.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            _ => out.push(c),
        }
    }
    out
}

/// Entities of Latin-1 in the order of their characters from U+00A0; these may lack the semicolon.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// The other entities of HTML 4.
const SYMBOLS: &[(&str, u32)] = &[
    ("apos", 39),
    ("fnof", 402),
    ("Alpha", 913),
    ("Beta", 914),
    ("Gamma", 915),
    ("Delta", 916),
    ("Epsilon", 917),
    ("Zeta", 918),
    ("Eta", 919),
    ("Theta", 920),
    ("Iota", 921),
    ("Kappa", 922),
    ("Lambda", 923),
    ("Mu", 924),
    ("Nu", 925),
    ("Xi", 926),
    ("Omicron", 927),
    ("Pi", 928),
    ("Rho", 929),
    ("Sigma", 931),
    ("Tau", 932),
    ("Upsilon", 933),
    ("Phi", 934),
    ("Chi", 935),
    ("Psi", 936),
    ("Omega", 937),
    ("alpha", 945),
    ("beta", 946),
    ("gamma", 947),
    ("delta", 948),
    ("epsilon", 949),
    ("zeta", 950),
    ("eta", 951),
    ("theta", 952),
    ("iota", 953),
    ("kappa", 954),
    ("lambda", 955),
    ("mu", 956),
    ("nu", 957),
    ("xi", 958),
    ("omicron", 959),
    ("pi", 960),
    ("rho", 961),
    ("sigmaf", 962),
    ("sigma", 963),
    ("tau", 964),
    ("upsilon", 965),
    ("phi", 966),
    ("chi", 967),
    ("psi", 968),
    ("omega", 969),
    ("thetasym", 977),
    ("upsih", 978),
    ("piv", 982),
    ("bull", 8226),
    ("hellip", 8230),
    ("prime", 8242),
    ("Prime", 8243),
    ("oline", 8254),
    ("frasl", 8260),
    ("weierp", 8472),
    ("image", 8465),
    ("real", 8476),
    ("trade", 8482),
    ("alefsym", 8501),
    ("larr", 8592),
    ("uarr", 8593),
    ("rarr", 8594),
    ("darr", 8595),
    ("harr", 8596),
    ("crarr", 8629),
    ("lArr", 8656),
    ("uArr", 8657),
    ("rArr", 8658),
    ("dArr", 8659),
    ("hArr", 8660),
    ("forall", 8704),
    ("part", 8706),
    ("exist", 8707),
    ("empty", 8709),
    ("nabla", 8711),
    ("isin", 8712),
    ("notin", 8713),
    ("ni", 8715),
    ("prod", 8719),
    ("sum", 8721),
    ("minus", 8722),
    ("lowast", 8727),
    ("radic", 8730),
    ("prop", 8733),
    ("infin", 8734),
    ("ang", 8736),
    ("and", 8743),
    ("or", 8744),
    ("cap", 8745),
    ("cup", 8746),
    ("int", 8747),
    ("there4", 8756),
    ("sim", 8764),
    ("cong", 8773),
    ("asymp", 8776),
    ("ne", 8800),
    ("equiv", 8801),
    ("le", 8804),
    ("ge", 8805),
    ("sub", 8834),
    ("sup", 8835),
    ("nsub", 8836),
    ("sube", 8838),
    ("supe", 8839),
    ("oplus", 8853),
    ("otimes", 8855),
    ("perp", 8869),
    ("sdot", 8901),
    ("lceil", 8968),
    ("rceil", 8969),
    ("lfloor", 8970),
    ("rfloor", 8971),
    ("lang", 10216),
    ("rang", 10217),
    ("loz", 9674),
    ("spades", 9824),
    ("clubs", 9827),
    ("hearts", 9829),
    ("diams", 9830),
    ("OElig", 338),
    ("oelig", 339),
    ("Scaron", 352),
    ("scaron", 353),
    ("Yuml", 376),
    ("circ", 710),
    ("tilde", 732),
    ("ensp", 8194),
    ("emsp", 8195),
    ("thinsp", 8201),
    ("zwnj", 8204),
    ("zwj", 8205),
    ("lrm", 8206),
    ("rlm", 8207),
    ("ndash", 8211),
    ("mdash", 8212),
    ("lsquo", 8216),
    ("rsquo", 8217),
    ("sbquo", 8218),
    ("ldquo", 8220),
    ("rdquo", 8221),
    ("bdquo", 8222),
    ("dagger", 8224),
    ("Dagger", 8225),
    ("permil", 8240),
    ("lsaquo", 8249),
    ("rsaquo", 8250),
    ("euro", 8364),
];

/// What Windows-1252 has at 0x80 to 0x9F.
const WINDOWS: [u32; 32] = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039,
    0x152, 0x8d, 0x17d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc,
    0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
];

/// An entity that may stand without semicolon.
fn legacy(name: &str) -> Option<char> {
    match name {
        "lt" | "LT" => Some('<'),
        "gt" | "GT" => Some('>'),
        "amp" | "AMP" => Some('&'),
        "quot" | "QUOT" => Some('"'),
        "COPY" => Some('©'),
        "REG" => Some('®'),
        _ => {
            let at = LATIN.split(' ').position(|known| known == name)?;
            char::from_u32(0xa0 + at as u32)
        }
    }
}

fn unescape(cx: &mut CallContext, args: &[Datum]) -> Outcome {
    let text = arg::text(args, 0)?;
    cx.spend(text.len())?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match entity(rest) {
            Some((c, length)) => {
                out.push(c);
                rest = &rest[length..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Ok(Datum::text(out))
}

/// The character at the start of `text` and how long its entity is.
fn entity(text: &str) -> Option<(char, usize)> {
    if let Some(body) = text.strip_prefix("&#") {
        let hex = body.starts_with(['x', 'X']);
        let digits = if hex { &body[1..] } else { body };
        let radix = if hex { 16 } else { 10 };
        let count = digits.chars().take_while(|c| c.is_digit(radix)).count();
        // Quirk: `&#x;` counts as a character.
        if count == 0 && !(hex && digits.starts_with(';')) {
            return None;
        }
        let digits = if count == 0 { "0;" } else { digits };
        let shift = usize::from(count == 0);
        let count = count.max(1);
        let code = u32::from_str_radix(&digits[..count], radix).unwrap_or(u32::MAX);
        let mut length = 2 + usize::from(hex) + count - shift;
        length += usize::from(digits[count..].starts_with(';'));
        let code = match code {
            0x80..=0x9f => WINDOWS[code as usize - 0x80],
            0 => 0xfffd,
            other => other,
        };
        return Some((char::from_u32(code).unwrap_or('\u{fffd}'), length));
    }
    let count = text[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = &text[1..1 + count];
    if text[1 + count..].starts_with(';') {
        let found = legacy(name).or_else(|| {
            let found = SYMBOLS.iter().find(|it| it.0 == name)?;
            char::from_u32(found.1)
        });
        if let Some(c) = found {
            return Some((c, count + 2));
        }
    }
    (2..=count.min(6)).rev().find_map(|length| Some((legacy(&name[..length])?, length + 1)))
}
