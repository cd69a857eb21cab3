//! Programs as people write them: definitions of fields with types, defaults, choices, maps, guards, loops and lets,
//! data for them of which now and then something is wrong, and what is computed from that.

use crate::programs::Dice;

const NAMES: &[&str] = &[
    "name", "kind", "port", "image", "size", "env", "tags", "mode", "spec", "meta", "host", "path",
    "count", "cpu", "ready", "labels", "ref", "key", "value", "opts",
];
const DEFINITIONS: &[&str] = &["#Port", "#Env", "#Meta", "#App"];
const WORDS: &[&str] = &["dev", "prod", "test", "Always", "Never", "TCP", "UDP"];
const TEXTS: &[&str] = &["\"web\"", "\"api\"", "\"db\""];
/// What suits few types, or is refused.
const WRONG: &[&str] =
    &["\"bad\"", "-5", "true", "{zz: 1}", "[1]", "null", "\"X Y\"", "200", "1 & 2"];

/// One value in so many is wrong.
const SELDOM: usize = 30;

/// What a field may be.
pub enum Type {
    Text { usual: Option<&'static str> },
    Matching,
    Number(&'static str),
    Range { usual: Option<usize>, least: usize, most: usize },
    Bool { usual: Option<bool> },
    Word { words: Vec<&'static str>, usual: bool },
    OrText(&'static str),
    Definition(usize),
    Either(usize, usize),
    List(Box<Type>),
    Elements { types: Vec<Type>, open: bool },
    Map(Box<Type>),
    Struct(Schema),
}

/// A field of a schema.
pub struct Field {
    pub name: &'static str,
    /// `?`, `!` or nothing.
    pub mark: &'static str,
    pub of: Type,
}

impl Field {
    /// Whether it need not be there.
    pub fn optional(&self) -> bool {
        self.mark == "?"
    }
}

/// What a struct consists of.
#[derive(Default)]
pub struct Schema {
    embedded: Option<usize>,
    pub fields: Vec<Field>,
    /// Declarations beside the fields, and the names that they bring.
    more: Vec<String>,
    brought: Vec<&'static str>,
    open: bool,
    patterned: bool,
}

/// The definitions of a program.
#[derive(Default)]
pub struct Known(pub Vec<Schema>);

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut known = Known::default();
    let mut lines = Vec::new();
    for name in DEFINITIONS.iter().take(1 + dice.roll(DEFINITIONS.len())) {
        let schema = known.definition(dice, 2);
        lines.push(format!("{name}: {}", known.body(dice, &schema)));
        known.0.push(schema);
    }
    let mut values = Vec::new();
    for value in ["x", "y", "z"].iter().take(1 + dice.roll(3)) {
        let of = dice.roll(known.0.len());
        let data = |dice: &mut Dice| known.data_of(dice, &known.0[of]);
        let name = DEFINITIONS[of];
        match dice.roll(20) {
            0..12 => lines.push(format!("{value}: {name} & {}", data(dice))),
            12..15 => {
                lines.push(format!("{value}: {name}"));
                lines.push(format!("{value}: {}", data(dice)));
            }
            15..17 => lines.push(format!("{value}: {{{name}, {}", &data(dice)[1..])),
            _ => {
                lines.push(format!("{value}: [ID=string]: {name}"));
                lines.push(format!("{value}: {{one: {}, two: {}}}", data(dice), data(dice)));
                continue;
            }
        }
        values.push((*value, of));
    }
    if !values.is_empty() {
        for name in ["o", "p", "q", "r"].iter().take(dice.roll(5)) {
            let (value, of) = values[dice.roll(values.len())];
            let fields = &known.0[of].fields;
            let field = &fields[dice.roll(fields.len())];
            lines.push(computed(dice, name, value, field));
        }
        if dice.roll(4) == 0 {
            let (value, of) = values[dice.roll(values.len())];
            let data = known.data_of(dice, &known.0[of]);
            lines.push(match dice.roll(4) {
                0 => format!("w: {value} & {data}"),
                1 => format!("w: {{{value}, {}", &data[1..]),
                2 => format!("w: [...] & [for i in [1, 2] {{{value}}}]"),
                _ => format!("w: ({{in: _, out: {{a: in, b: 1}}}} & {{in: {value}}}).out"),
            });
        }
    }
    if dice.roll(2) == 0 {
        dice.shuffle(&mut lines);
    }
    lines.join("\n") + "\n"
}

/// A field that is made of another one.
fn computed(dice: &mut Dice, name: &str, value: &str, field: &Field) -> String {
    let at = format!("{value}.{}", field.name);
    let forms: &[&str] = match &field.of {
        _ if field.optional() => &[
            "%: {if @ != _|_ {has: @}, always: 1}",
            "if @ != _|_ {%: set: @}",
            "%: [if @ != _|_ {\"y\"}, if @ == _|_ {\"n\"}][0]",
            "%: *@ | \"none\"",
        ],
        Type::List(_) | Type::Map(_) => &[
            "%: [for x in @ {n: x}]",
            "%: {for k, x in @ {\"p-\\(k)\": x}}",
            "%: [for x in @ if x != _|_ {x}]",
            "%: len(@)",
            "%: {for k, x in @ {\"\\(k)\": {name: \"\\(k)\", spec: x}}}",
        ],
        Type::Text { .. } | Type::Word { .. } | Type::Matching => &[
            "%: \"pre-\\(@)\"",
            "%: @ + \"!\"",
            "%: {kind: @, if @ == \"web\" {w: true}}",
            "%: {(@): 1}",
            "%: \"\\(@)\": $",
            "%: [if @ == \"web\" {1}, 2][0]",
            "%: @ | *\"d\"",
            "%: len(@)",
        ],
        Type::Number(_) | Type::Range { .. } => &[
            "%: @ + 1",
            "%: @ * 2",
            "%: @ & >3",
            "%: {if @ > 4 {big: @}, if @ <= 4 {small: @}}",
            "%: \"\\(@)m\"",
            "%: div(@, 2)",
        ],
        Type::Bool { .. } => {
            &["%: !@", "%: {if @ {on: 1}, if !@ {off: 1}}", "%: @ && true", "if @ {%: \"yes\"}"]
        }
        Type::Definition(_) | Type::Either(..) | Type::Struct(_) => &[
            "%: @ & {...}",
            "%: {@, more: 1}",
            "%: @",
            "%: @ & {unknown: 1}",
            "%: {for k, x in @ {(k): x}}",
        ],
        Type::OrText(_) | Type::Elements { .. } => &["%: @"],
    };
    dice.one(forms).replace('%', name).replace('$', value).replace('@', &at)
}

impl Type {
    /// Whether it says what it is where nothing is given.
    fn has_default(&self) -> bool {
        match self {
            Self::Text { usual } => usual.is_some(),
            Self::Range { usual, .. } => usual.is_some(),
            Self::Bool { usual } => usual.is_some(),
            Self::Word { usual, .. } => *usual,
            Self::List(_) | Self::Elements { .. } | Self::Map(_) => true,
            _ => false,
        }
    }

    fn scalar(dice: &mut Dice) -> Self {
        match dice.roll(50) {
            0..11 => Self::Text { usual: None },
            11..15 => {
                Self::Text { usual: Some(dice.one(&["\"a\"", "\"b-c\"", "\"main\"", "\"x1\""])) }
            }
            15..20 => Self::Number(dice.one(&["int", "int", "uint", "int32"])),
            20..25 => Self::Range { usual: None, least: dice.roll(4), most: 10 + dice.roll(81) },
            25..29 => Self::Range { usual: Some(1 + dice.roll(99)), least: 1, most: 99 },
            29..33 => Self::Bool { usual: None },
            33..37 => Self::Bool { usual: Some(dice.roll(2) == 0) },
            37..43 => {
                let mut words = WORDS.to_vec();
                dice.shuffle(&mut words);
                words.truncate(2 + dice.roll(3));
                Self::Word { words, usual: dice.roll(2) == 0 }
            }
            43..45 => Self::Matching,
            45..47 => Self::Number("number"),
            47..49 => Self::OrText("int"),
            _ => Self::OrText("null"),
        }
    }
}

impl Known {
    fn type_of(&self, dice: &mut Dice, depth: usize) -> Type {
        let definitions = self.0.len();
        match dice.roll(100) {
            _ if depth == 0 => Type::scalar(dice),
            0..50 => Type::scalar(dice),
            50..62 if definitions > 0 => Type::Definition(dice.roll(definitions)),
            62..72 => Type::List(Box::new(self.type_of(dice, depth - 1))),
            72..82 => Type::Map(Box::new(self.type_of(dice, depth - 1))),
            82..93 => Type::Struct(self.schema(dice, depth - 1, 4, None)),
            93..97 if definitions > 1 => {
                let one = dice.roll(definitions);
                Type::Either(one, (one + 1 + dice.roll(definitions - 1)) % definitions)
            }
            97.. => {
                let types = (0..=dice.roll(3)).map(|_| Type::scalar(dice)).collect();
                Type::Elements { types, open: dice.roll(2) == 0 }
            }
            _ => Type::scalar(dice),
        }
    }

    /// What a definition is, with structs that are at most `depth` deep; it may embed another one.
    pub fn definition(&self, dice: &mut Dice, depth: usize) -> Schema {
        let embeds = !self.0.is_empty() && dice.roll(10) < 3;
        let embedded = embeds.then(|| dice.roll(self.0.len()));
        self.schema(dice, depth, 6, embedded)
    }

    /// A schema of `most` fields or fewer.
    fn schema(
        &self,
        dice: &mut Dice,
        depth: usize,
        most: usize,
        embedded: Option<usize>,
    ) -> Schema {
        let mut schema = Schema { embedded, ..Schema::default() };
        let taken = embedded.map_or(Vec::new(), |it| self.names(&self.0[it]));
        let mut free: Vec<&str> = NAMES.to_vec();
        dice.shuffle(&mut free);
        for _ in 0..=dice.roll(most) {
            let mark = dice.one(&["?", "?", "?", "!", "", "", "", "", "", "", "", ""]);
            let name = free.pop().unwrap_or("more");
            schema.fields.push(Field { name, mark, of: self.type_of(dice, depth) });
        }
        free.retain(|it| !taken.contains(it));
        self.compute(dice, &mut schema, &mut free);
        schema
    }

    /// Declarations that read the fields.
    fn compute(&self, dice: &mut Dice, schema: &mut Schema, free: &mut Vec<&'static str>) {
        let mut bring = |more: &mut Vec<String>, form: String| {
            let Some(name) = free.pop() else { return };
            schema.brought.push(name);
            more.push(form.replace("NEW", name));
        };
        let mut more = Vec::new();
        let own: Vec<&Field> = schema.fields.iter().filter(|it| !it.optional()).collect();
        let any = &schema.fields[dice.roll(schema.fields.len())];
        if dice.roll(3) == 0
            && let Some(condition) = condition(dice, any)
        {
            let mark = dice.one(&["", "", "?"]);
            let of = self.scalar(dice);
            bring(&mut more, format!("if {condition} {{NEW{mark}: {of}}}"));
        }
        if !own.is_empty() {
            let field = own[dice.roll(own.len())];
            let name = field.name;
            let number = matches!(field.of, Type::Number(_) | Type::Range { .. });
            let text = matches!(field.of, Type::Text { .. } | Type::Word { .. } | Type::Matching);
            if (number || text) && dice.roll(4) == 0 {
                bring(&mut more, format!("NEW: \"{name}-\\({name})\""));
            }
            if number && dice.roll(8) == 0 {
                bring(&mut more, format!("NEW: {name}*2 + 1"));
            }
            if dice.roll(8) == 0 {
                bring(&mut more, format!("let L = {name}, NEW: L"));
            }
            let form = match field.of {
                Type::List(_) => dice.one(&[
                    "NEW: [for x in @ {v: x}]",
                    "NEW: {for i, x in @ {\"k\\(i)\": x}}",
                    "NEW: [for i, x in @ if i > 0 {x}]",
                    "NEW: len(@)",
                ]),
                Type::Map(_) => dice.one(&[
                    "NEW: [for k, x in @ {name: k, v: x}]",
                    "NEW: {for k, x in @ {\"\\(k)\": x}}",
                    "NEW: [for k, _ in @ {k}]",
                    "NEW: {for k, x in @ {(k): {x}}}",
                ]),
                _ => "",
            };
            if !form.is_empty() {
                bring(&mut more, form.replace('@', name));
            }
        }
        if dice.roll(10) == 0 {
            schema.patterned = true;
            more.push(format!("[=~\"^x-\"]: {}", dice.one(&["string", "int | string"])));
        }
        if dice.roll(9) == 0 {
            more.push(format!("_h: {}", self.scalar(dice)));
        }
        if dice.roll(12) == 0 {
            schema.open = true;
            more.push("...".to_owned());
        }
        schema.more = more;
    }

    fn names(&self, schema: &Schema) -> Vec<&'static str> {
        let mut all: Vec<&'static str> = schema.fields.iter().map(|it| it.name).collect();
        all.extend(&schema.brought);
        if let Some(of) = schema.embedded {
            all.extend(self.names(&self.0[of]));
        }
        all
    }

    /// The struct that a schema is.
    pub fn body(&self, dice: &mut Dice, schema: &Schema) -> String {
        let mut all: Vec<String> =
            schema.embedded.iter().map(|it| DEFINITIONS[*it].to_owned()).collect();
        for field in &schema.fields {
            all.push(format!("{}{}: {}", field.name, field.mark, self.text(dice, &field.of)));
        }
        all.extend(schema.more.iter().cloned());
        format!("{{{}}}", all.join(", "))
    }

    fn text(&self, dice: &mut Dice, of: &Type) -> String {
        match of {
            Type::Text { usual: None } => "string".to_owned(),
            Type::Text { usual: Some(usual) } => match dice.roll(2) {
                0 => format!("*{usual} | string"),
                _ => format!("string | *{usual}"),
            },
            Type::Matching => "=~\"^[a-z]+$\"".to_owned(),
            Type::Number(name) => (*name).to_owned(),
            Type::Range { usual, least, most } => {
                let usual = usual.map_or(String::new(), |it| format!("*{it} | "));
                format!("{usual}int & >={least} & <={most}")
            }
            Type::Bool { usual } => usual.map_or("bool".to_owned(), |it| format!("*{it} | bool")),
            Type::Word { words, usual } => {
                let words: Vec<String> = words.iter().map(|it| format!("\"{it}\"")).collect();
                format!("{}{}", if *usual { "*" } else { "" }, words.join(" | "))
            }
            Type::OrText(other) => format!("{other} | string"),
            Type::Definition(of) => DEFINITIONS[*of].to_owned(),
            Type::Either(one, other) => format!("{} | {}", DEFINITIONS[*one], DEFINITIONS[*other]),
            Type::List(of) => format!("[...{}]", self.text(dice, of)),
            Type::Map(of) => format!("{{[string]: {}}}", self.text(dice, of)),
            Type::Struct(schema) => self.body(dice, schema),
            Type::Elements { types, open } => {
                let all: Vec<String> = types.iter().map(|it| self.text(dice, it)).collect();
                format!("[{}{}]", all.join(", "), if *open { ", ..." } else { "" })
            }
        }
    }

    fn scalar(&self, dice: &mut Dice) -> String {
        let of = Type::scalar(dice);
        self.text(dice, &of)
    }

    fn data(&self, dice: &mut Dice, of: &Type) -> String {
        if dice.roll(SELDOM) == 0 {
            return dice.one(WRONG).to_owned();
        }
        match of {
            Type::Text { .. } | Type::Matching => dice.one(TEXTS).to_owned(),
            Type::Number(name) => match *name {
                "number" => dice.one(&["1", "2.5"]).to_owned(),
                _ => dice.roll(10).to_string(),
            },
            Type::Range { least, most, .. } => (least + dice.roll(most - least + 1)).to_string(),
            Type::Bool { .. } => dice.one(&["true", "false"]).to_owned(),
            Type::Word { words, .. } => format!("\"{}\"", dice.one(words)),
            Type::OrText(other) => dice
                .one(if *other == "int" { &["1", "\"s\""] } else { &["null", "\"s\""] })
                .to_owned(),
            Type::Definition(of) => self.data_of(dice, &self.0[*of]),
            Type::Either(one, other) => {
                let of = if dice.roll(2) == 0 { one } else { other };
                self.data_of(dice, &self.0[*of])
            }
            Type::List(of) => {
                let all: Vec<String> = (0..dice.roll(4)).map(|_| self.data(dice, of)).collect();
                format!("[{}]", all.join(", "))
            }
            Type::Elements { types, .. } => {
                let all: Vec<String> = types.iter().map(|it| self.data(dice, it)).collect();
                format!("[{}]", all.join(", "))
            }
            Type::Map(of) => {
                let names = ["a", "b", "c", "web"];
                let all = names.iter().take(dice.roll(4));
                let all: Vec<String> =
                    all.map(|it| format!("{it}: {}", self.data(dice, of))).collect();
                format!("{{{}}}", all.join(", "))
            }
            Type::Struct(schema) => self.data_of(dice, schema),
        }
    }

    /// A struct with values for a schema; now and then one is missing, wrong, or not known.
    pub fn data_of(&self, dice: &mut Dice, schema: &Schema) -> String {
        let mut all = Vec::new();
        self.give(dice, schema, &mut all);
        if dice.roll(SELDOM) == 0 {
            all.push("unknown: 1".to_owned());
        }
        if dice.roll(5) == 0 {
            dice.shuffle(&mut all);
        }
        format!("{{{}}}", all.join(", "))
    }

    fn give(&self, dice: &mut Dice, schema: &Schema, all: &mut Vec<String>) {
        if let Some(of) = schema.embedded {
            self.give(dice, &self.0[of], all);
        }
        for field in &schema.fields {
            let left = match field.mark {
                "?" => dice.roll(2) == 0,
                "" if field.of.has_default() => dice.roll(2) == 0,
                "" => dice.roll(16) == 0,
                _ => false,
            };
            if !left {
                all.push(format!("{}: {}", field.name, self.data(dice, &field.of)));
            }
        }
        if schema.patterned && dice.roll(2) == 0 {
            all.push(format!("\"x-a\": {}", dice.one(&["1", "\"s\""])));
        }
        if schema.open && dice.roll(2) == 0 {
            all.push("extra: 1".to_owned());
        }
    }
}

/// What a guard asks of a field.
fn condition(dice: &mut Dice, field: &Field) -> Option<String> {
    let name = field.name;
    Some(match &field.of {
        _ if field.optional() => format!("{name} != _|_"),
        Type::Word { words, .. } => {
            format!("{name} {} \"{}\"", dice.one(&["==", "!="]), dice.one(words))
        }
        Type::Bool { .. } => format!("{}{name}", dice.one(&["", "!"])),
        Type::Number(_) | Type::Range { .. } => format!("{name} > {}", dice.roll(50)),
        Type::List(_) | Type::Map(_) => format!("len({name}) > 0"),
        Type::Text { .. } => format!("{name} != \"\""),
        _ => return None,
    })
}
