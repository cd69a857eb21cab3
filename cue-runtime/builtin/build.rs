//! Makes tables of Unicode's general categories and scripts for `src/unicode.rs`, out of those of `regex-syntax`:
//! a fifth of their size, which counts in the sandbox.
//!
//! A table is runs of characters from the first to the last: the length of each less one and, below that, the number
//! of its category or script, seven bits a byte, the lowest first; a byte is followed by more where its top bit is
//! set.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

const CATEGORIES: &str =
    "Cn Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs";

/// What came to Unicode later Go does not know yet.
const VERSION: &str = "age=15.0";

/// Those that Go knows.
const SCRIPTS: &str = "\
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo \
Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common \
Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs \
Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul \
Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi \
Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki \
Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean \
Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi \
Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong \
Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian \
Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi \
Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese \
Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan \
Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut text = String::new();
    table(&mut text, "CATEGORIES", CATEGORIES.split(' '));
    // Most characters are of no script that has a name.
    table(&mut text, "SCRIPTS", std::iter::once("").chain(SCRIPTS.split(' ')));
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("unicode_tables.rs"), text).expect("OUT_DIR can be written to");
}

/// Writes the names, and of which of them each character is; what is of none is of the first one.
fn table<'a>(text: &mut String, title: &str, names: impl Iterator<Item = &'a str>) {
    let names: Vec<&str> = names.collect();
    let mut known = vec![false; char::MAX as usize + 1];
    for (from, to) in characters(VERSION).into_iter().chain(characters("Cs")) {
        known[from as usize..=to as usize].fill(true);
    }
    let mut of = vec![0_usize; known.len()];
    for (number, name) in names.iter().enumerate().skip(1) {
        for (from, to) in characters(name) {
            of[from as usize..=to as usize].fill(number);
        }
    }
    for (of, _) in of.iter_mut().zip(known).filter(|it| !it.1) {
        *of = 0;
    }
    let bits = usize::BITS - (names.len() - 1).leading_zeros();
    let runs = of.chunk_by(PartialEq::eq).map(|run| (run.len() - 1) << bits | run[0]);
    let mut bytes = Vec::new();
    for run in runs {
        let mut rest = run;
        while rest > 0x7f {
            bytes.push(rest as u8 & 0x7f | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    let _ = writeln!(text, "static {title}: Table = Table {{");
    let _ = writeln!(text, "    names: &{names:?},\n    bits: {bits},\n    runs: &{bytes:?},\n}};");
}

/// The characters of a category, a script or a version, with those that no text has.
fn characters(name: &str) -> Vec<(u32, u32)> {
    if name == "Cs" {
        return vec![(0xd800, 0xdfff)];
    }
    let class = regex_syntax::parse(&format!("\\p{{{name}}}")).expect("it is a class");
    match class.kind() {
        HirKind::Class(Class::Unicode(it)) => {
            it.iter().map(|it| (it.start() as u32, it.end() as u32)).collect()
        }
        // One character alone.
        HirKind::Literal(it) => {
            let text = std::str::from_utf8(&it.0).expect("it is text");
            text.chars().map(|it| (it as u32, it as u32)).collect()
        }
        _ => panic!("{name} is no class"),
    }
}
