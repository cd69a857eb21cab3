//! What is refused of pods, and of the pods in templates.

use serde_json::{Value, json};

use super::check::{Field, Found};
use super::volume;
use crate::status::FieldError;

/// Where a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// It is an object of its own.
    Alone,
    /// It is in a template.
    InTemplate,
}

/// The spec of a pod; one that stands alone is held to a little more.
pub(super) fn spec(spec: &Field<'_>, stands: Stands, found: &mut Found) {
    volume::all(spec, found);
    containers(spec, stands, found);
    spec.get("restartPolicy").one_of(&["Always", "OnFailure", "Never"], found);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    spec.get("dnsPolicy").one_of(&policies, found);
    spec.get("nodeSelector").labels(found);
    networking(spec, found);
    security(&spec.get("securityContext"), found);
    affinity(&spec.get("affinity"), found);
    resolver(spec, found);
    for gate in spec.get("readinessGates").items() {
        gate.get("conditionType").qualified(found);
    }
    for gate in spec.get("schedulingGates").items() {
        for why in crate::meta::qualified_name_errors(gate.get("name").text()) {
            found.push(FieldError::invalid(gate.at.as_str(), gate.get("name").value, &why));
        }
    }
    spread(&spec.get("topologySpreadConstraints"), found);
    if !spec.get("serviceAccountName").is_empty() {
        spec.get("serviceAccountName").subdomain(found);
    }
    if !spec.get("nodeName").is_empty() {
        spec.get("nodeName").subdomain(found);
    }
    spec.get("activeDeadlineSeconds").between(1, i64::from(i32::MAX), found);
    for name in ["hostname", "subdomain"] {
        if !spec.get(name).is_empty() {
            spec.get(name).label(found);
        }
    }
    tolerations(&spec.get("tolerations"), found);
    for alias in spec.get("hostAliases").items() {
        alias.get("ip").address(found);
        for name in alias.get("hostnames").items() {
            name.subdomain(found);
        }
    }
    spec.get("os").get("name").value.as_str().into_iter().for_each(|name| {
        if !["linux", "windows"].contains(&name) {
            let known = ["\"linux\"".to_owned(), "\"windows\"".to_owned()];
            found.push(FieldError::unsupported(spec.get("os").at, &json!(name), &known));
        }
    });
}

fn containers(spec: &Field<'_>, stands: Stands, found: &mut Found) {
    let (all, before) = (spec.get("containers"), spec.get("initContainers"));
    if all.is_empty() {
        all.miss("", found);
    }
    let mut names: Vec<&str> = Vec::new();
    for one in all.items() {
        container(spec, &one, stands, found);
        let name = one.get("name");
        if !name.is_empty() && names.contains(&name.text()) {
            name.repeat(found);
        }
        names.push(name.text());
        for handler in ["postStart", "preStop"] {
            lifecycle(&one.get("lifecycle").get(handler), found);
        }
        probes(&one, found);
    }
    for one in before.items() {
        container(spec, &one, stands, found);
        let restart = one.get("restartPolicy");
        let name = one.get("name");
        if !name.is_empty() && names.contains(&name.text()) {
            name.repeat(found);
        }
        names.push(name.text());
        restart.one_of(&["Always", "Never", "OnFailure"], found);
        if restart.is("Always") {
            for handler in ["postStart", "preStop"] {
                lifecycle(&one.get("lifecycle").get(handler), found);
            }
            probes(&one, found);
            continue;
        }
        for part in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if one.get(part).is_set() {
                let why = "may not be set for init containers without restartPolicy=Always";
                one.get(part).forbid(why, found);
            }
        }
    }
}

fn container(spec: &Field<'_>, one: &Field<'_>, stands: Stands, found: &mut Found) {
    if one.get("name").require(found) {
        one.get("name").label(found);
    }
    let image = one.get("image");
    if image.require(found) && stands == Stands::Alone && image.text().trim() != image.text() {
        image.refuse("must not have leading or trailing whitespace", found);
    }
    one.get("terminationMessagePolicy").one_of(&["File", "FallbackToLogsOnError"], found);
    ports(spec, &one.get("ports"), found);
    environment(one, found);
    volume::mounts(spec, one, found);
    one.get("imagePullPolicy").one_of(&["Always", "IfNotPresent", "Never"], found);
    resources(&one.get("resources"), found);
    let context = one.get("securityContext");
    for who in ["runAsUser", "runAsGroup"] {
        context.get(who).between(0, i64::from(i32::MAX), found);
    }
    let flag = |name: &str| context.get(name).value.as_bool();
    if flag("allowPrivilegeEscalation") == Some(false) && flag("privileged") == Some(true) {
        let why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        found.push(FieldError::invalid(context.at.as_str(), &privileges(&context), why));
    }
}

// As the reference prints its struct.
fn privileges(context: &Field<'_>) -> Value {
    const FIELDS: [(&str, &str); 12] = [
        ("Capabilities", "capabilities"),
        ("Privileged", "privileged"),
        ("SELinuxOptions", "seLinuxOptions"),
        ("WindowsOptions", "windowsOptions"),
        ("RunAsUser", "runAsUser"),
        ("RunAsGroup", "runAsGroup"),
        ("RunAsNonRoot", "runAsNonRoot"),
        ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
        ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
        ("ProcMount", "procMount"),
        ("SeccompProfile", "seccompProfile"),
        ("AppArmorProfile", "appArmorProfile"),
    ];
    let shown = FIELDS.map(|(name, field)| (name.to_owned(), context.get(field).value.clone()));
    shown.into_iter().collect()
}

fn ports(spec: &Field<'_>, all: &Field<'_>, found: &mut Found) {
    let mut names: Vec<&str> = Vec::new();
    for port in all.items() {
        let name = port.get("name");
        if !name.is_empty() {
            let before = found.len();
            name.port(found);
            if found.len() == before && names.contains(&name.text()) {
                name.repeat(found);
            }
            names.push(name.text());
        }
        let (inner, outer) = (port.get("containerPort"), port.get("hostPort"));
        match inner.int() {
            None | Some(0) => inner.miss("", found),
            Some(_) => inner.between(1, 65535, found),
        }
        if outer.int().is_some_and(|it| it != 0) {
            outer.between(1, 65535, found);
            if spec.get("hostNetwork").value == &json!(true) && outer.int() != inner.int() {
                outer.refuse("must match `containerPort` when `hostNetwork` is true", found);
            }
        }
        port.get("protocol").one_of(&["SCTP", "TCP", "UDP"], found);
    }
}

const VARIABLE: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";

fn variable_ok(name: &str) -> bool {
    name.chars().all(|c| (' '..='~').contains(&c) && c != '=')
}

fn environment(one: &Field<'_>, found: &mut Found) {
    for variable in one.get("env").items() {
        let name = variable.get("name");
        if name.require(found) && !variable_ok(name.text()) {
            name.refuse(VARIABLE, found);
        }
        value_from(&variable, found);
    }
    for (index, source) in one.get("envFrom").items().enumerate() {
        let prefix = source.get("prefix");
        if !variable_ok(prefix.text()) {
            prefix.refuse(VARIABLE, found);
        }
        let kinds = ["configMapRef", "secretRef"].map(|kind| source.get(kind));
        let set: Vec<&Field<'_>> = kinds.iter().filter(|kind| kind.is_set()).collect();
        for kind in &set {
            if kind.get("name").require(found) {
                kind.get("name").subdomain(found);
            }
        }
        let at = source.at.trim_end_matches(&format!("[{index}]")).to_owned();
        let why = match set.len() {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        found.push(FieldError::invalid(at, &json!(""), why));
    }
}

fn value_from(variable: &Field<'_>, found: &mut Found) {
    let from = variable.get("valueFrom");
    if !from.is_set() {
        return;
    }
    let mut sources = 0;
    let field = from.get("fieldRef");
    if field.is_set() {
        sources += 1;
        known_field(&field, found);
    }
    if from.get("resourceFieldRef").is_set() {
        sources += 1;
        from.get("resourceFieldRef").get("resource").require(found);
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        let reference = from.get(kind);
        if reference.is_set() {
            sources += 1;
            reference.get("name").subdomain(found);
            if reference.get("key").require(found) {
                super::config::config_key(&reference.get("key"), found);
            }
        }
    }
    if from.get("fileKeyRef").is_set() {
        sources += 1;
    }
    if sources == 0 {
        from.refuse_unseen("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`", found);
    } else if !variable.get("value").is_empty() {
        from.refuse_unseen("may not be specified when `value` is not empty", found);
    } else if sources > 1 {
        from.refuse_unseen("may not have more than one field specified at a time", found);
    }
}

/// A field of the pod itself.
pub(super) fn known_field(field: &Field<'_>, found: &mut Found) {
    const KNOWN: [&str; 16] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    ];
    let path = field.get("fieldPath");
    if !path.require(found) {
        return;
    }
    let plain = path.text().split('[').next().unwrap_or_default();
    if !KNOWN.contains(&plain) {
        let why = format!("error converting fieldPath: field label not supported: {}", path.text());
        path.refuse(&why, found);
    }
}

/// What a container gets and may use.
pub(super) fn resources(resources: &Field<'_>, found: &mut Found) {
    let plain = |name: &str| {
        ["cpu", "memory", "ephemeral-storage"].contains(&name) || name.starts_with("hugepages-")
    };
    let amounts = |part: &str, found: &mut Found| {
        for (name, amount) in resources.get(part).entries() {
            let mut refuse =
                |why: &str| found.push(FieldError::invalid(amount.at.as_str(), &json!(name), why));
            for why in crate::meta::qualified_name_errors(name) {
                refuse(&why);
            }
            if !name.contains('/') && !plain(name) {
                refuse("must be a standard resource type or fully qualified");
                refuse("must be a standard resource for containers");
            }
            if amount.amount().is_some_and(|it| it < 0) {
                amount.refuse("must be greater than or equal to 0", found);
            }
        }
    };
    amounts("limits", found);
    amounts("requests", found);
    let (limits, requests) = (resources.get("limits"), resources.get("requests"));
    for (name, request) in requests.entries() {
        let limit = limits.get(name);
        match limit.amount().zip(request.amount()) {
            Some((most, wanted)) if wanted > most => {
                let shown = |field: &Field<'_>| match field.value.as_str() {
                    Some(text) => text.to_owned(),
                    None => field.value.to_string(),
                };
                let why =
                    format!("must be less than or equal to {name} limit of {}", shown(&limit));
                found.push(FieldError::invalid(
                    requests.at.as_str(),
                    &json!(shown(&request)),
                    &why,
                ));
            }
            None if name.contains('/') && !limit.is_set() => {
                let why = "Limit must be set for non overcommitable resources";
                limits.miss(why, found);
            }
            _ => {}
        }
    }
}

// What is done to look after a container: exactly one.
fn handler(one: &Field<'_>, found: &mut Found) {
    let mut first = true;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let way = one.get(kind);
        if !way.is_set() {
            continue;
        }
        if !std::mem::take(&mut first) {
            way.forbid("may not specify more than 1 handler type", found);
            continue;
        }
        match kind {
            "exec" => {
                way.get("command").require(found);
            }
            "httpGet" => {
                way.get("path").require(found);
                way.get("port").port(found);
                way.get("scheme").one_of(&["HTTP", "HTTPS"], found);
            }
            "tcpSocket" => way.get("port").port(found),
            "grpc" => way.get("port").between(1, 65535, found),
            _ => {}
        }
    }
    if first {
        one.miss("must specify a handler type", found);
    }
}

fn lifecycle(one: &Field<'_>, found: &mut Found) {
    if one.is_set() {
        handler(one, found);
    }
}

fn probes(one: &Field<'_>, found: &mut Found) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = one.get(name);
        if !probe.is_set() {
            continue;
        }
        handler(&probe, found);
        for number in [
            "initialDelaySeconds",
            "timeoutSeconds",
            "periodSeconds",
            "successThreshold",
            "failureThreshold",
        ] {
            probe.get(number).not_negative(found);
        }
        let grace = probe.get("terminationGracePeriodSeconds");
        if name == "readinessProbe" {
            if grace.is_set() {
                grace.refuse("must not be set for readinessProbes", found);
            }
            continue;
        }
        if grace.int().is_some_and(|it| it <= 0) {
            grace.refuse("must be greater than 0", found);
        }
        let threshold = probe.get("successThreshold");
        if threshold.int().is_some_and(|it| it != 1) {
            threshold.refuse("must be 1", found);
        }
    }
}

fn networking(spec: &Field<'_>, found: &mut Found) {
    for secret in spec.get("imagePullSecrets").items() {
        let name = secret.get("name");
        if !name.is_empty() {
            name.subdomain(found);
        }
    }
}

fn security(context: &Field<'_>, found: &mut Found) {
    context.get("fsGroup").between(0, i64::from(i32::MAX), found);
    for group in context.get("supplementalGroups").items() {
        group.between(0, i64::from(i32::MAX), found);
    }
    for who in ["runAsUser", "runAsGroup"] {
        context.get(who).between(0, i64::from(i32::MAX), found);
    }
    let part = |part: &str| {
        let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        part.chars().all(inside) && !part.starts_with(['-', '_']) && !part.ends_with(['-', '_'])
    };
    for sysctl in context.get("sysctls").items() {
        let name = sysctl.get("name");
        let good = name.text().len() <= 253
            && name.text().split(['.', '/']).all(|it| !it.is_empty() && part(it));
        if name.require(found) && !good {
            name.refuse("must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$", found);
        }
    }
}

fn resolver(spec: &Field<'_>, found: &mut Found) {
    let config = spec.get("dnsConfig");
    let servers = config.get("nameservers");
    if spec.get("dnsPolicy").is("None") {
        if !config.is_set() {
            config.miss("must provide `dnsConfig` when `dnsPolicy` is None", found);
        } else if servers.is_empty() {
            servers
                .miss("must provide at least one DNS nameserver when `dnsPolicy` is None", found);
        }
    }
    for server in servers.items() {
        server.address(found);
    }
}

fn tolerations(all: &Field<'_>, found: &mut Found) {
    for one in all.items() {
        let (key, value, operator) = (one.get("key"), one.get("value"), one.get("operator"));
        if !key.is_empty() {
            key.qualified(found);
        }
        let effect = one.get("effect");
        if key.is_empty() && !operator.is("Exists") {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            operator.refuse(why, found);
        }
        if one.get("tolerationSeconds").is_set() && !effect.is("NoExecute") {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            effect.refuse(why, found);
        }
        match operator.text() {
            "" | "Equal" => {
                for why in crate::meta::label_value_errors(value.text()) {
                    found.push(FieldError::invalid(operator.at.as_str(), value.value, &why));
                }
            }
            "Exists" if !value.is_empty() => {
                let why = "value must be empty when `operator` is 'Exists'";
                found.push(FieldError::invalid(operator.at.as_str(), value.value, why));
            }
            "Exists" => {}
            _ => operator.one_of(&["Equal", "Exists"], found),
        }
        if !effect.is_empty() {
            effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], found);
        }
    }
}

fn affinity(affinity: &Field<'_>, found: &mut Found) {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let node = affinity.get("nodeAffinity");
    if node.get(REQUIRED).is_set() {
        terms(&node.get(REQUIRED).get("nodeSelectorTerms"), found);
    }
    let weight = |one: &Field<'_>, found: &mut Found| {
        let weight = one.get("weight");
        if weight.int().is_none_or(|it| !(1..=100).contains(&it)) {
            weight.refuse("must be in the range 1-100", found);
        }
    };
    for one in node.get(PREFERRED).items() {
        weight(&one, found);
        expressions(&one.get("preference").get("matchExpressions"), found);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.get(kind);
        for one in pods.get(REQUIRED).items() {
            pod_term(&one, found);
        }
        for one in pods.get(PREFERRED).items() {
            weight(&one, found);
            pod_term(&one.get("podAffinityTerm"), found);
        }
    }
}

fn pod_term(term: &Field<'_>, found: &mut Found) {
    term.get("labelSelector").selector(found);
    term.get("namespaceSelector").selector(found);
    for name in term.get("namespaces").items() {
        name.label(found);
    }
    let key = term.get("topologyKey");
    if key.is_empty() {
        key.miss("can not be empty", found);
    }
    key.qualified(found);
}

/// Which nodes, in terms of which one must hold.
pub(super) fn terms(all: &Field<'_>, found: &mut Found) {
    if all.is_empty() {
        all.miss("must have at least one node selector term", found);
    }
    for term in all.items() {
        expressions(&term.get("matchExpressions"), found);
    }
}

fn expressions(all: &Field<'_>, found: &mut Found) {
    for one in all.items() {
        let (operator, values) = (one.get("operator"), one.get("values"));
        let many = values.value.as_array().map_or(0, Vec::len);
        match operator.text() {
            "In" | "NotIn" if many == 0 => {
                values.miss("must be specified when `operator` is 'In' or 'NotIn'", found);
            }
            "Exists" | "DoesNotExist" if many > 0 => {
                let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                values.forbid(why, found);
            }
            "Gt" | "Lt" if many != 1 => {
                let why = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                values.miss(why, found);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => operator.refuse("not a valid selector operator", found),
        }
        one.get("key").qualified(found);
    }
}

fn spread(all: &Field<'_>, found: &mut Found) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for one in all.items() {
        let skew = one.get("maxSkew");
        if skew.int().unwrap_or(0) <= 0 {
            skew.refuse("must be greater than zero", found);
        }
        let (key, otherwise) = (one.get("topologyKey"), one.get("whenUnsatisfiable"));
        if key.is_empty() {
            key.miss("can not be empty", found);
        } else {
            key.qualified(found);
        }
        otherwise.one_of(&["DoNotSchedule", "ScheduleAnyway"], found);
        let domains = one.get("minDomains");
        if domains.int().is_some_and(|it| it <= 0) {
            domains.refuse("must be greater than zero", found);
        }
        let pair = (key.text(), otherwise.text());
        // It is said of the first of the two.
        if let Some(first) = seen.iter().position(|it| *it == pair) {
            let at = format!("{}[{first}].{{topologyKey, whenUnsatisfiable}}", all.at);
            let shown = json!(format!("{{{}, {}}}", pair.0, pair.1));
            found.push(FieldError::duplicate(at, &shown));
        }
        seen.push(pair);
        one.get("labelSelector").selector(found);
    }
}
