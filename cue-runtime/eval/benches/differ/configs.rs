//! Configurations as people write them for services: a definition in layers with defaults, a map or a list of them by
//! a template, tables to look things up in, and what is computed from all that with texts, lists, loops and functions.

use crate::programs::{self, Dice};

/// One value in so many does not suit.
const SELDOM: usize = 40;

const MAP: &[&str] = &["web", "db", "job"];

/// Forms of each field of a service: of the first kind of line that is chosen the rest depends.
const FIELDS: &[(&str, &[&str])] = &[
    (
        "name",
        &["name: string", "name!: string", "name: =~\"^[a-z]+$\"", "name: strings.MinRunes(1)"],
    ),
    (
        "port",
        &[
            "port: int",
            "port: *8080 | int",
            "port: int & >0 & <65536",
            "port: uint16 | *80",
            "port: *(8000 + replicas) | int",
            "port: [if tier == \"web\" {80}, 5432][0]",
            "port: {web: 80, db: 5432, job: 0}[tier]",
        ],
    ),
    (
        "replicas",
        &[
            "replicas: *1 | int",
            "replicas: *2 | uint8",
            "replicas: int & >=1",
            "replicas: *_replicas | int",
        ],
    ),
    ("repo", &["image: repo: *\"r.io/app\" | string", "image: {repo: string | *\"r.io/app\"}"]),
    (
        "tag",
        &[
            "image: tag: *\"latest\" | string",
            "image: tag: string",
            "image: tag: *_tag | string",
            "image: tag: =~#\"^v?\\d\"# | *\"latest\"",
        ],
    ),
    (
        "tier",
        &[
            "tier: \"web\" | \"db\" | *\"job\"",
            "tier: *\"web\" | \"db\" | \"job\"",
            "tier: or([for k, _ in _sizes {k}])",
        ],
    ),
    ("enabled", &["enabled: *true | bool", "enabled: bool | *false"]),
];

/// What a service may have besides, of those fields.
const MORE: &[&str] = &[
    "labels: [string]: string",
    "labels: {app: name, [string]: string}",
    "labels: {...}",
    "labels: {\"app.io/name\": name, tier: *\"x\" | string}",
    "env: [string]: string | int",
    "env: [N=string]: {name: N, value: string | *\"\"}",
    "args: [...string]",
    "args: *[\"-v\"] | [...string]",
    "args: [...string] & list.MaxItems(3)",
    "probe?: {path: string, seconds: *10 | int}",
    "probe: *null | {path: string}",
    "url: \"http://\\(name):\\(port)\"",
    "ref: \"\\(image.repo):\\(image.tag)\"",
    "if tier == \"web\" {public: *true | bool}",
    "if probe != _|_ {check: probe.path}",
    "if enabled && replicas > 1 {spread: true}",
    "let P = port, ports: [P, P + 1]",
    "_key: \"\\(name)-\\(tier)\", key: _key",
    "#full: \"\\(name).local\"",
    "resources: _sizes[tier]",
    "resources: {cpu: *_sizes[tier].cpu | int, memory: string | *\"\\(cpu)Gi\"}",
    "resources: cpu: <=8",
    "strategy: {type: \"rolling\", step: *1 | int} | *{type: \"recreate\"}",
    "volumes: [...{name: string, {path: string} | {secret: string}}]",
    "volumes: [...#Volume]",
    "mounts: [for v in volumes {name: v.name}]",
    "...",
    "note?: string",
    "_check: true & (replicas < 50)",
    "if replicas > 20 {_bad: error(\"too many\")}",
    "X=meta: {app: name, id: \"\\(X.app)-1\"}",
];

/// Data of a service.
const GIVEN: &[&str] = &[
    "port: 9000",
    "replicas: 3",
    "replicas: >1",
    "image: tag: \"v1.2\"",
    "image: {repo: \"r.io/\\(name)\"}",
    "tier: \"db\"",
    "tier: \"web\"",
    "enabled: false",
    "enabled: _debug",
    "labels: team: \"a\"",
    "labels: {team: \"a\", \"b/c\": \"d\"}",
    "env: MODE: \"x\"",
    "env: DB: value: _services.db.name",
    "args: [\"-x\", \"--port=\\(port)\"]",
    "args: [\"-x\", for k in [\"a\", \"b\"] {\"--\\(k)\"}]",
    "probe: path: \"/\"",
    "probe: {path: \"/healthz\", seconds: 5}",
    "resources: cpu: 2",
    "strategy: step: 2",
    "strategy: type: \"rolling\"",
    "volumes: [{name: \"data\", path: \"/d\"}]",
    "volumes: [{name: \"k\", secret: \"s\"}, {name: \"data\", path: \"/d\"}]",
    "note: \"x\"",
    "public: false",
];

const WRONG: &[&str] = &[
    "port: \"80\"",
    "replicas: 0",
    "replicas: 30",
    "image: tag: 1",
    "tier: \"cache\"",
    "enabled: \"yes\"",
    "labels: team: 1",
    "args: \"-x\"",
    "args: [1]",
    "probe: {}",
    "prot: 80",
    "resources: cpu: 9",
    "strategy: kind: \"x\"",
    "volumes: [{name: \"k\"}]",
    "name: \"X\"",
    "image: \"x\"",
    "image: tagg: \"x\"",
];

/// What is made of it all. `@V` is a service, `@I` an integer, `@T` a text, `@B` a condition, `@N` a list of texts, `@J`
/// one of integers, `@M` the services.
const OUTPUTS: &[&str] = &[
    "{for n, s in @M {\"\\(n)\": s.port}}",
    "{for n, s in @M if s.enabled {(n): s.replicas}}",
    "{for n, s in @M if s.tier == \"web\" for a in s.args {\"\\(n)-\\(a)\": true}}",
    "{for n, s in @M {\"\\(n)-svc\": {kind: \"Service\", metadata: name: n, spec: ports: [{port: s.port}]}}}",
    "{for n, s in @M {\"\\(n)\": {kind: \"D\", spec: {replicas: s.replicas, template: {labels: s.labels, if s.probe != _|_ {probe: s.probe}}}}}}",
    "[for n, s in @M {name: n, port: s.port}]",
    "[for n, s in @M if s.replicas > 1 {n}]",
    "[for i, n in @N {index: i, value: strings.ToUpper(n)}]",
    "[for n, s in @M let k = \"\\(n)-\\(s.tier)\" {k}]",
    "[for i, n in @N if i > 0 {n}]",
    "[for x in @J if x > 1 {x * 2}]",
    "[for x in @J for y in @N {\"\\(x)\\(y)\"}]",
    "[@I, @I, ...]",
    "[...int] & @J",
    "@T",
    "@I",
    "@N",
    "@J",
    "@B",
    "@V",
    "@M",
    "@V & {note: \"n\"}",
    "{@V, more: @I}",
    "{@V} & {replicas: _}",
    "@V.probe",
    "@V.strategy",
    "@V.labels & {z: \"1\"}",
    "[if @B {@T}, @T][0]",
    "{if @B {a: @T}, if !@B {b: @I}}",
    "(#Name & {in: @T}).out",
    "{#Name, in: @T}.out",
    "*@I | 7",
    "@I | *5",
    "@T | \"x\"",
    "_sizes[@T].cpu",
    "_sizes[@V.tier]",
    "json.Marshal(@V)",
    "json.Marshal({a: @I, b: @N})",
    "json.Unmarshal(json.Marshal(@V.labels))",
    "yaml.Marshal(@V.image)",
    "yaml.Marshal([for n, s in @M {name: n, r: s.replicas}])",
    "list.Sort([for n, s in @M {n: n, p: s.port}], {x: {}, y: {}, less: x.p < y.p})",
    "list.Sort([for n, _ in @M {n}], list.Descending)",
    "len(@M) & >1",
    "close({a: @I}) & {a: int}",
    "{[string]: int, a: @I}",
    "{[=~\"^a\"]: >0, a: @I, b: @T}",
    "{let T = @T, a: T, b: \"\\(T)!\"}",
    "{a: @I, b: a + 1, c: \"\\(b)\"}",
    "{_h: @T, v: _h}",
    "{#d: @I, v: #d}",
    "{x: @V.port, y: x & <9001}",
    "matchN(1, [>5, string]) & @I",
    "{for k in @N {(k): {name: k}}, [N=string]: {id: \"\\(N)-1\"}}",
    "and([for x in @J {>=x}]) & 99",
    "or([for n in @N {n}])",
    "@V.volumes",
    "{for v in @V.volumes {(v.name): v}}",
    "[for v in @V.volumes if v.secret != _|_ {v.secret}]",
    "{for n, s in @M {(s.tier): (n): s.port}}",
    "{for t in [\"web\", \"db\"] {(t): [for n, s in @M if s.tier == t {n}]}}",
    "list.Sum([for _, s in @M {s.replicas}])",
    "strings.Join([for n, s in @M {\"\\(n):\\(s.port)\"}], \",\")",
    "\"a \\(@T)\\nb \\(@I)\\n\"",
    "template.Execute(\"{{.a}}-{{range .l}}{{.}},{{end}}\", {a: @T, l: @N})",
    "{for k, v in @V.labels {\"\\(k)\": v}}",
    "{for k, v in @V.env {\"E_\\(strings.ToUpper(k))\": v}}",
    "[for k, v in @V.env {name: k, v: v}]",
    "{for k, v in @V if (v & string) != _|_ {(k): v}}",
];

const INTS: &[&str] = &[
    "1",
    "2",
    "5",
    "@V.port",
    "@V.port",
    "@V.replicas",
    "@V.resources.cpu",
    "len(@N)",
    "len(@M)",
    "len(@T)",
    "@I + 1",
    "@I * @I",
    "@I - 1",
    "div(@I, 2)",
    "mod(@I, 3)",
    "list.Sum(@J)",
    "list.Max(@J)",
    "@J[0]",
    "@V.probe.seconds",
    "math.Floor(@I / 2)",
    "strconv.Atoi(\"\\(@I)\")",
    "_replicas",
    "strings.Index(@T, \"e\")",
    "@V.ports[1]",
    "{a: @I}.a",
    "[for x in @J {x}][1]",
];
const TEXTS: &[&str] = &[
    "\"x\"",
    "\"web\"",
    "@V.name",
    "@V.name",
    "@V.tier",
    "@V.image.tag",
    "@V.image.repo",
    "@V.ref",
    "@V.url",
    "@V.#full",
    "@V.labels.app",
    "@V.meta.id",
    "_tag",
    "\"\\(@T)-\\(@I)\"",
    "@T + \"-x\"",
    "strings.ToUpper(@T)",
    "strings.Replace(@T, \"e\", \"3\", -1)",
    "strings.Join(@N, \"-\")",
    "strings.TrimSuffix(@T, \"b\")",
    "strings.Split(@T, \"-\")[0]",
    "@N[0]",
    "path.Join([@T, @T], \"unix\")",
    "base64.Encode(null, @T)",
    "hex.Encode(@T)",
    "\"\\(@V.args[0])\"",
    "@T & !=\"z\"",
    "strings.SliceRunes(@T, 0, 2)",
    "regexp.ReplaceAll(\"[aeiou]\", @T, \"_\")",
    "strconv.FormatInt(@I, 16)",
    "@V.probe.path",
    "@V.key",
    "@V.resources.memory",
    "@V.strategy.type",
];
const CONDITIONS: &[&str] = &[
    "true",
    "@V.enabled",
    "!@V.enabled",
    "_debug",
    "@I > 2",
    "@I == @I",
    "@T == \"web\"",
    "@T =~ \"^w\"",
    "@V.probe != _|_",
    "@V.note == _|_",
    "len(@N) > 1",
    "(@B && @B)",
    "(@B || @B)",
    "list.Contains(@N, @T)",
    "strings.HasPrefix(@T, \"w\")",
    "strings.Contains(@T, \"e\")",
    "(@V.tier == \"db\" || @V.replicas > 2)",
];
const NAMES: &[&str] = &[
    "[\"a\", \"b\"]",
    "_names",
    "@V.args",
    "[for n, _ in @M {n}]",
    "[for n, s in @M if s.enabled {n}]",
    "list.Concat([@N, [\"z\"]])",
    "list.Sort(@N, list.Ascending)",
    "strings.Split(@T, \"-\")",
    "[for n in @N {\"\\(n)!\"}]",
    "list.Slice(@N, 0, 1)",
    "[@T, @T]",
    "list.FlattenN([@N, [@T]], 1)",
    "[@T, if @B {@T}]",
    "list.Reverse(@N)",
    "strings.Fields(\"\\(@T) b\")",
    "@N + []",
];
const NUMBERS: &[&str] = &[
    "[1, 2, 3]",
    "list.Range(0, @I & <20, 2)",
    "[for _, s in @M {s.port}]",
    "[@I, @I]",
    "@V.ports",
    "[for x in @J if x > 1 {x}]",
    "list.Sort(@J, list.Ascending)",
    "[for n in @N {len(n)}]",
    "list.Repeat([@I], 2)",
    "[if @B {@I}, 2]",
];

/// One program.
pub fn program(dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    let service = service(dice);
    lines.push(format!("#Service: {service}"));
    let layers = layers(dice, &service, &mut lines);
    lines.push("#Volume: {name: string, path: string} | {name: string, secret: string}".to_owned());
    lines.push(
        dice.one(&[
            "_sizes: {web: {cpu: 1}, db: {cpu: 4}, job: {cpu: 2}}",
            "_sizes: [string]: cpu: *1 | int, _sizes: {web: {}, db: cpu: 4, job: {}}",
            "#Size: {cpu: *1 | int}, _sizes: {web: #Size, db: #Size & {cpu: 4}, job: {#Size}}",
        ])
        .to_owned(),
    );
    lines.push(dice.one(&["_tag: \"v1\"", "_tag: *\"v2\" | string", "_tag: string"]).to_owned());
    lines.push(
        dice.one(&["_debug: false", "_debug: bool | *true", "_debug: _tag == \"v1\""]).to_owned(),
    );
    lines.push(
        dice.one(&["_replicas: 2", "_replicas: *1 | int", "_replicas: len(_names)"]).to_owned(),
    );
    lines.push(
        dice.one(&[
            "_names: [\"b\", \"a\"]",
            "_names: [for k, _ in _sizes {k}]",
            "_names: [...string], _names: [\"x\"]",
        ])
        .to_owned(),
    );
    lines.push(
        "#Name: {in: string, let up = strings.ToTitle(in), out: \"\\(up)-\\(len(in))\"}".to_owned(),
    );
    data(dice, &layers, &service, &mut lines);
    for at in 0..1 + dice.roll(6) {
        let form = one_of(dice, OUTPUTS, |it| suits(&service, it));
        let value = filled(dice, &service, form, 2);
        let label = match dice.roll(12) {
            0 => format!("out: o{at}"),
            1 => format!("\"o-\\(_tag)-{at}\""),
            2 => format!("_o{at}"),
            3 => format!("out: {{a: int, ...}} & {{a: {at}}}, o{at}"),
            _ => format!("o{at}"),
        };
        lines.push(format!("{label}: {value}"));
    }
    if dice.roll(3) == 0 {
        dice.shuffle(&mut lines);
    }
    programs::with_imports(&lines)
}

fn service(dice: &mut Dice) -> String {
    let mut all: Vec<&str> = FIELDS.iter().map(|it| dice.one(it.1)).collect();
    for _ in 0..2 + dice.roll(7) {
        let more = dice.one(MORE);
        if !all.contains(&more) {
            all.push(more);
        }
    }
    if dice.roll(3) == 0 {
        dice.shuffle(&mut all);
    }
    format!("{{{}}}", all.join(", "))
}

/// Definitions that say more of a service, and their names.
fn layers(dice: &mut Dice, service: &str, lines: &mut Vec<String>) -> Vec<&'static str> {
    let mut all = vec!["#Service"];
    if dice.roll(2) == 0 {
        let form = dice.one(&[
            "#Web: #Service & {tier: \"web\", ^}",
            "#Web: {#Service, tier: \"web\", ^}",
            "#Web: #Service & {tier: \"web\", replicas: *3 | int, ^}",
            "#Web: {#Service, extra: *1 | int, ^}",
            "#Web: #Service & {if tier == \"web\" {^}}",
        ]);
        let given = one_of(dice, GIVEN, |it| has(service, it));
        lines.push(form.replace('^', given));
        all.push("#Web");
    }
    if dice.roll(3) == 0 {
        let form = dice.one(&[
            "#Any: #Service | {kind: \"external\", host: string}",
            "#Any: *#Service | {kind: \"external\", name: string, host: string}",
            "#Any: {#Service, kind: \"x\"} | {kind: \"y\", name: string}",
        ]);
        lines.push(form.to_owned());
        all.push("#Any");
    }
    all
}

/// Data for fields that a service has.
fn given(dice: &mut Dice, service: &str) -> String {
    let mut all: Vec<String> = Vec::new();
    for _ in 0..dice.roll(5) {
        let of = match dice.roll(SELDOM) {
            0 => dice.one(WRONG),
            _ => one_of(dice, GIVEN, |it| has(service, it)),
        };
        let name = of.split(':').next().unwrap_or_default();
        if !all.iter().any(|it| it.split(':').next() == Some(name)) {
            all.push(of.to_owned());
        }
    }
    all.join(", ")
}

/// One that suits, if one does soon.
fn one_of<'a>(dice: &mut Dice, of: &[&'a str], suits: impl Fn(&str) -> bool) -> &'a str {
    let mut one = dice.one(of);
    for _ in 0..20 {
        if suits(one) {
            break;
        }
        one = dice.one(of);
    }
    one
}

/// Whether a service has the field that a declaration or a path begins with.
fn has(service: &str, of: &str) -> bool {
    let end = of.find(|it: char| !it.is_alphanumeric() && it != '#').unwrap_or(of.len());
    let name = &of[..end];
    let inner = of[end..].strip_prefix(['.', ':']).map(str::trim_start).unwrap_or_default();
    let word = |name: &str| {
        [": ", "?: ", "!: "].iter().any(|mark| service.contains(&format!("{name}{mark}")))
    };
    let deep = match name {
        "resources" if inner.starts_with("memory") => word("memory"),
        _ => true,
    };
    word(name) && deep
}

/// Whether all that a form reads of a service is there.
fn suits(service: &str, form: &str) -> bool {
    ["@V.", "s."].iter().all(|before| {
        form.match_indices(before).all(|(at, _)| {
            let alone = form[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric());
            !alone || has(service, &form[at + before.len()..])
        })
    })
}

/// The services: a map with a template, or each on its own.
fn data(dice: &mut Dice, layers: &[&'static str], service: &str, lines: &mut Vec<String>) {
    let of = dice.one(layers);
    let template = dice.one(&[
        "_services: [N=string]: # & {name: N}",
        "_services: [string]: #",
        "_services: [N=_]: {#, name: N}",
        "_services: {[N=string]: # & {name: *N | string}}",
        "_services: [N=string]: # & {name: N, labels: app: N}",
        "_services: [N=string]: # & {name: N, if N == \"db\" {replicas: 1}}",
        "_services: [Name=~\"^[a-z]+$\"]: # & {name: Name}",
    ]);
    lines.push(template.replace('#', of));
    let named = !template.contains("[string]: #");
    for name in MAP {
        let mut given = given(dice, service);
        if !named {
            given = format!("name: \"{name}\", {given}");
        }
        match dice.roll(6) {
            0 => {
                lines.push(format!("_services: {name}: {{{given}}}"));
                lines.push(format!("_services: {name}: {{{}}}", self::given(dice, service)));
            }
            1 => lines.push(format!("_services: {name}: {} & {{{given}}}", dice.one(layers))),
            2 => lines.push(format!("_services: (\"{name}\"): {{{given}}}")),
            3 => lines.push(format!("_services: {{if !_debug {{{name}: {{{given}}}}}, if _debug {{{name}: {{{given}}}}}}}")),
            _ => lines.push(format!("_services: {name}: {{{given}}}")),
        }
    }
    if dice.roll(3) == 0 {
        lines.push(format!(
            "_services: {{for k in {} {{(k): {{{}}}}}}}",
            dice.one(&["[\"a\", \"b\"]", "_names", "[\"web\"]"]),
            given(dice, service)
        ));
    }
    if dice.roll(2) == 0 {
        lines.push("services: _services".to_owned());
    }
}

/// A form with its holes filled.
fn filled(dice: &mut Dice, service: &str, form: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        let (hole, after) = after.split_at(1);
        rest = after;
        let all = match hole {
            "I" => INTS,
            "T" => TEXTS,
            "B" => CONDITIONS,
            "N" => NAMES,
            "J" => NUMBERS,
            "V" => &["_services.web", "_services.db", "_services[\"job\"]"],
            _ => &["_services"],
        };
        let all = if depth == 0 { &all[..all.len().min(3)] } else { all };
        let form = one_of(dice, all, |it| suits(service, it));
        out.push_str(&filled(dice, service, form, depth.saturating_sub(1)));
    }
    out.push_str(rest);
    out
}
