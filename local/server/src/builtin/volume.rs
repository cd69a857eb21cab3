//! What is refused of the volumes of pods and of who mounts them.

use serde_json::json;

use super::check::{Field, Found};
use super::pod::known_field;
use crate::status::FieldError;

/// The order in which the reference looks at sources.
const SOURCES: [&str; 8] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "secret",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
];

/// The volumes of a pod.
pub(super) fn all(spec: &Field<'_>, found: &mut Found) {
    let mut names: Vec<&str> = Vec::new();
    for volume in spec.get("volumes").items() {
        let name = volume.get("name");
        if name.require(found) {
            name.label(found);
            if names.contains(&name.text()) {
                name.repeat(found);
            }
        }
        names.push(name.text());
        let fields = volume.value.as_object().into_iter().flatten();
        let mut sources: Vec<&str> = fields
            .filter(|(key, value)| *key != "name" && !value.is_null())
            .map(|(key, _)| key.as_str())
            .collect();
        sources.sort_by_key(|source| SOURCES.iter().position(|one| one == source));
        for (index, source) in sources.iter().enumerate() {
            if index > 0 {
                volume.get(source).forbid("may not specify more than 1 volume type", found);
            } else {
                content(spec, source, &volume.get(source), found);
            }
        }
    }
}

fn content(spec: &Field<'_>, kind: &str, source: &Field<'_>, found: &mut Found) {
    match kind {
        "emptyDir" if source.get("sizeLimit").amount().is_some_and(|it| it < 0) => {
            let why = "SizeLimit field must be a valid resource quantity";
            source.get("sizeLimit").forbid(why, found);
        }
        "hostPath" => {
            if source.get("path").require(found) {
                source.get("path").stays_inside(found);
            }
            let known = [
                "",
                "BlockDevice",
                "CharDevice",
                "Directory",
                "DirectoryOrCreate",
                "File",
                "FileOrCreate",
                "Socket",
            ];
            source.get("type").one_of(&known, found);
        }
        "secret" => {
            source.get("secretName").require(found);
            mode(&source.get("defaultMode"), found);
            keys(source, found);
        }
        "configMap" => {
            source.get("name").require(found);
            mode(&source.get("defaultMode"), found);
            keys(source, found);
        }
        "persistentVolumeClaim" => {
            source.get("claimName").require(found);
        }
        "downwardAPI" => {
            mode(&source.get("defaultMode"), found);
            downward(source, found);
        }
        "nfs" => {
            source.get("server").require(found);
            let path = source.get("path");
            path.require(found);
            if !path.text().starts_with('/') {
                path.refuse("must be an absolute path", found);
            }
        }
        "csi" => {
            source.get("driver").require(found);
        }
        "projected" => projected(spec, source, found),
        _ => {}
    }
}

fn mode(mode: &Field<'_>, found: &mut Found) {
    if mode.int().is_some_and(|it| !(0..=0o777).contains(&it)) {
        mode.refuse("must be a number between 0 and 0777 (octal), both inclusive", found);
    }
}

// A path inside the volume.
fn inside(path: &Field<'_>, found: &mut Found) {
    if path.text().starts_with('/') {
        path.refuse("must be a relative path", found);
    }
    path.stays_inside(found);
}

fn keys(source: &Field<'_>, found: &mut Found) {
    for item in source.get("items").items() {
        item.get("key").require(found);
        if item.get("path").require(found) {
            inside(&item.get("path"), found);
            if item.get("path").text().starts_with("..")
                && !item.get("path").text().split('/').any(|part| part == "..")
            {
                item.get("path").refuse("must not start with '..'", found);
            }
        }
        mode(&item.get("mode"), found);
    }
}

fn downward(source: &Field<'_>, found: &mut Found) {
    for item in source.get("items").items() {
        let path = item.get("path");
        if path.require(found) {
            inside(&path, found);
        }
        let (field, resource) = (item.get("fieldRef"), item.get("resourceFieldRef"));
        if field.is_set() {
            known_field(&field, found);
            if resource.is_set() {
                let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
                found.push(FieldError::invalid(source.at.as_str(), &json!("resource"), why));
            }
        } else if resource.is_set() {
            resource.get("containerName").require(found);
            resource.get("resource").require(found);
        } else {
            source.miss("one of fieldRef and resourceFieldRef is required", found);
        }
        mode(&item.get("mode"), found);
    }
}

fn projected(spec: &Field<'_>, source: &Field<'_>, found: &mut Found) {
    mode(&source.get("defaultMode"), found);
    for one in source.get("sources").items() {
        for kind in ["secret", "configMap"] {
            let part = one.get(kind);
            if part.is_set() {
                part.get("name").require(found);
                keys(&part, found);
            }
        }
        if one.get("downwardAPI").is_set() {
            downward(&one.get("downwardAPI"), found);
        }
        let token = one.get("serviceAccountToken");
        if token.is_set() {
            if spec.get("serviceAccountName").is_empty() {
                token.forbid("must not be specified when serviceAccountName is not set", found);
            }
            token.get("path").require(found);
            inside(&token.get("path"), found);
        }
    }
}

/// What a container mounts.
pub(super) fn mounts(spec: &Field<'_>, container: &Field<'_>, found: &mut Found) {
    let volumes: Vec<Field<'_>> = spec.get("volumes").items().collect();
    let known = |name: &str| volumes.iter().any(|volume| volume.get("name").is(name));
    let mut paths: Vec<&str> = Vec::new();
    for mount in container.get("volumeMounts").items() {
        let (name, path) = (mount.get("name"), mount.get("mountPath"));
        if name.require(found) && !known(name.text()) {
            found.push(FieldError::not_found(name.at.as_str(), name.value));
        }
        if path.require(found) && paths.contains(&path.text()) {
            path.refuse("must be unique", found);
        }
        paths.push(path.text());
        for part in ["subPath", "subPathExpr"] {
            // The reference does not say which mount it is.
            let path = mount.get(part);
            let at = format!("{}.volumeMounts.{part}", container.at);
            if !path.is_empty() {
                inside(&Field::new(at, path.value), found);
            }
        }
        if !mount.get("subPath").is_empty() && !mount.get("subPathExpr").is_empty() {
            let why = "subPathExpr and subPath are mutually exclusive";
            let at = format!("{}.volumeMounts.subPathExpr", container.at);
            Field::new(at, mount.get("subPathExpr").value).refuse(why, found);
        }
    }
    for device in container.get("volumeDevices").items() {
        let name = device.get("name");
        if name.require(found) && !known(name.text()) {
            found.push(FieldError::not_found(name.at.as_str(), name.value));
        }
        if device.get("devicePath").require(found) {
            device.get("devicePath").stays_inside(found);
        }
    }
}
