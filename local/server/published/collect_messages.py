#!/usr/bin/env python3
"""Packs the protobuf messages of the Kubernetes API, as its published generated.proto files have them.

    collect_messages.py FOLDER...      sources of k8s.io/api, k8s.io/apimachinery, k8s.io/kube-aggregator

messages.txt.gz: `= PACKAGE` before the messages of a package, named as in the published schemas; then a line for each message:
its name and its fields, `NUMBER NAME TYPE` with a comma between. NAME is the one in JSON, `-` for a message whose fields are
written among those around it. TYPE is

    s text, i integer, b boolean, y bytes (base64 in JSON)
    q quantity, x integer or text, t time, u time with microseconds, r any JSON
    a message of the package, or PACKAGE/MESSAGE;  L a message that holds a list of texts
    with * in front: a list of it, with % in front: a map of texts to it
"""
import gzip, json, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
META = "io.k8s.apimachinery.pkg.apis.meta.v1"
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource/Quantity": "q",
    "io.k8s.apimachinery.pkg.util.intstr/IntOrString": "x",
    META + "/Time": "t",
    META + "/MicroTime": "u",
    META + "/FieldsV1": "r",
    "io.k8s.apimachinery.pkg.runtime/RawExtension": "r",
}
SCALARS = {"string": "s", "bool": "b", "bytes": "y", "int32": "i", "int64": "i", "uint32": "i", "uint64": "i"}


def package_name(text):
    return "io.k8s." + text.removeprefix("k8s.io.").replace("kube_aggregator", "kube-aggregator")


def read(file):
    text = open(file).read()
    package = package_name(re.search(r"^package (\S+);", text, re.M).group(1))
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", text, re.M | re.S):
        fields = re.findall(r"^  (optional|repeated|map)\s*(<\w+, [\w.]+>|[\w.]+) (\w+) = (\d+)", body, re.M)
        yield package, name, [(int(number), label, kind, field) for label, kind, field, number in fields]


def full(kind, package):
    if kind in SCALARS:
        return SCALARS[kind]
    *path, name = kind.lstrip(".").split(".")
    return f"{package_name('.'.join(path)) if path else package}/{name}"


def main():
    files = [os.path.join(at, "generated.proto") for top in sys.argv[1:] for at, _, names in os.walk(top) if "generated.proto" in names]
    messages = {}
    for file in sorted(files):
        for package, name, fields in read(file):
            messages[f"{package}/{name}"] = fields
    with gzip.open(os.path.join(HERE, "schemas.json.gz")) as file:
        schemas = json.load(file)
    served = {name.rpartition(".")[0] for name in schemas}
    lists = {name for name, fields in messages.items() if [field[1:] for field in fields] == [("repeated", "string", "items")]}
    lines, said = [], None
    for name, fields in messages.items():
        package, short = name.split("/")
        if name in SPECIAL or name in lists or package not in served:
            continue
        if package != said:
            lines.append(f"= {package}")
            said = package
        known = schemas.get(f"{package}.{short}", {}).get("properties")
        out = []
        for number, label, kind, field in fields:
            mark = {"optional": "", "repeated": "*", "map": "%"}[label]
            if label == "map":
                kind = kind.strip("<>").split(", ")[1]
            type_ = full(kind, package)
            type_ = "L" if type_ in lists else SPECIAL.get(type_, type_)
            assert len(type_) == 1 or type_ in messages and type_.split("/")[0] in served, type_
            # Some begin with a capital letter there.
            field = next((one for one in known or () if one.lower() == field.lower()), field)
            if known is not None and field not in known:
                assert len(type_) > 1 and not mark, (name, field, type_)
                print("among those around it:", name, field)
                field = "-"
            out.append(f"{number} {field} {mark}{type_.removeprefix(package + '/')}")
        lines.append(f"{short} {','.join(out)}")
    target = os.path.join(HERE, "messages.txt.gz")
    with open(target, "wb") as file:
        file.write(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(len(lines), "messages,", os.path.getsize(target), "bytes")


main()
