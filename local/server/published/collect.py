#!/usr/bin/env python3
"""Packs the OpenAPI v3 documents of a running Kubernetes API server into kubernetes.json.gz.

    collect.py --server http://127.0.0.1:8080     any server (a real cluster behind `kubectl proxy`)
    collect.py --from FOLDER                      documents saved before: index.json, *.json.gz

Documents share most of their schemas, so these are kept once: {"schemas": {name: schema},
"documents": {path: {"info", "paths", "schemas": [names], "securitySchemes"}}}.
Where two documents disagree on a schema, the later keeps its own under "own".
"""
import argparse, gzip, json, os, urllib.request


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server")
    parser.add_argument("--from", dest="folder")
    args = parser.parse_args()
    schemas, out = {}, {}
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
        out[path.removeprefix("/openapi/v3/")] = entry
    text = json.dumps({"schemas": schemas, "documents": out}, sort_keys=True, separators=(",", ":"))
    target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kubernetes.json.gz")
    with open(target, "wb") as file:
        file.write(gzip.compress(text.encode(), 9, mtime=0))
    print(len(schemas), "schemas,", len(out), "documents,", os.path.getsize(target), "bytes")


main()
