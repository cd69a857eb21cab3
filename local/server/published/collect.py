#!/usr/bin/env python3
"""Packs the OpenAPI v3 documents of a running Kubernetes API server.

    collect.py --server http://127.0.0.1:8080     any server (a real cluster behind `kubectl proxy`)
    collect.py --from FOLDER                      documents saved before: index.json, *.json.gz

Documents share most of their schemas, so these are kept once:
schemas.json.gz      {name: schema} without descriptions: all that reading objects needs, small enough to be read at start
described.json.gz    {name: schema} as published
documents.txt.gz     a line for each document: path, digest and JSON ({"openapi", "info", "paths", "schemas": [names],
                     "securitySchemes"}), parted by tabs. Where two documents disagree on a schema, the later keeps
                     its own under "own".
"""
import argparse, gzip, hashlib, json, os, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


def documents(args):
    if args.server:
        def get(path):
            with urllib.request.urlopen(args.server + path) as answer:
                return json.load(answer)
        for path, entry in sorted(get("/openapi/v3")["paths"].items()):
            yield "/openapi/v3/" + path, get(entry["serverRelativeURL"])
    else:
        with open(os.path.join(args.folder, "index.json")) as index:
            for entry in json.load(index)["documents"]:
                with gzip.open(os.path.join(args.folder, entry["file"])) as file:
                    yield entry["path"], json.load(file)


def bare(schema):
    if isinstance(schema, dict):
        return {k: bare(v) for k, v in schema.items() if not (k == "description" and isinstance(v, str))}
    return [bare(one) for one in schema] if isinstance(schema, list) else schema


def text(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def pack(name, content):
    target = os.path.join(HERE, name)
    with open(target, "wb") as file:
        file.write(gzip.compress(content.encode(), 9, mtime=0))
    print(name, os.path.getsize(target), "bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--from", dest="folder")
    args = parser.parse_args()
    schemas, lines = {}, {}
    for path, document in documents(args):
        components = document.get("components", {})
        own = {}
        for name, schema in components.get("schemas", {}).items():
            if schemas.setdefault(name, schema) != schema:
                own[name] = schema
        entry = {k: v for k, v in document.items() if k != "components"}
        entry["schemas"] = sorted(components.get("schemas", {}))
        entry["securitySchemes"] = components.get("securitySchemes", {})
        if own:
            entry["own"] = own
        digest = hashlib.sha256(text(document).encode()).hexdigest().upper()
        path = path.removeprefix("/openapi/v3/")
        lines[path] = f"{path}\t{digest}\t{text(entry)}\n"
    pack("schemas.json.gz", text(bare(schemas)))
    pack("described.json.gz", text(schemas))
    pack("documents.txt.gz", "".join(lines[path] for path in sorted(lines)))
    print(len(schemas), "schemas,", len(lines), "documents")


main()
