//! What is refused of Ingresses, NetworkPolicies, Services and what they lead to.

use serde_json::json;

use super::check::{Field, Found};
use crate::status::FieldError;

/// Ingresses.
pub(super) fn ingress(spec: &Field<'_>, found: &mut Found) {
    for tls in spec.get("tls").items() {
        for host in tls.get("hosts").items() {
            name_or_wildcard(&host, found);
        }
        if !tls.get("secretName").is_empty() {
            tls.get("secretName").subdomain(found);
        }
    }
    let (rules, otherwise) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.is_empty() && !otherwise.is_set() {
        let why = "either `defaultBackend` or `rules` must be specified";
        found.push(FieldError::invalid("spec", &json!(null), why));
    }
    if otherwise.is_set() {
        backend(&otherwise, found);
    }
    for rule in rules.items() {
        let host = rule.get("host");
        if !host.is_empty() {
            if host.text().parse::<std::net::IpAddr>().is_ok() {
                host.refuse("must be a DNS name, not an IP address", found);
            } else {
                name_or_wildcard(&host, found);
            }
        }
        let http = rule.get("http");
        if !http.is_set() {
            continue;
        }
        http.get("paths").require(found);
        for one in http.get("paths").items() {
            path(&one, found);
        }
    }
    if !spec.get("ingressClassName").is_empty() {
        spec.get("ingressClassName").subdomain(found);
    }
}

fn name_or_wildcard(host: &Field<'_>, found: &mut Found) {
    const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    if !host.text().contains('*') {
        return host.subdomain(found);
    }
    let rest = host.text().strip_prefix("*.");
    if rest.is_none_or(|rest| !crate::meta::subdomain_errors(rest).is_empty()) {
        host.refuse(WILDCARD, found);
    }
}

fn path(one: &Field<'_>, found: &mut Found) {
    let (kind, path) = (one.get("pathType"), one.get("path"));
    match kind.value.as_str() {
        None => return kind.miss("pathType must be specified", found),
        Some("Exact" | "Prefix") => {
            let text = path.text();
            if !text.starts_with('/') {
                path.refuse("must be an absolute path", found);
            }
            if !text.is_empty() {
                for part in ["//", "/./", "/../", "%2f", "%2F"] {
                    if text.contains(part) {
                        path.refuse(&format!("must not contain '{part}'"), found);
                    }
                }
                for end in ["/..", "/."] {
                    if text.ends_with(end) {
                        path.refuse(&format!("cannot end with '{end}'"), found);
                    }
                }
            }
        }
        Some("ImplementationSpecific") => {
            if !path.is_empty() && !path.text().starts_with('/') {
                path.refuse("must be an absolute path", found);
            }
        }
        Some(_) => kind.one_of(&["Exact", "ImplementationSpecific", "Prefix"], found),
    }
    backend(&one.get("backend"), found);
}

fn backend(backend: &Field<'_>, found: &mut Found) {
    let (resource, service) = (backend.get("resource"), backend.get("service"));
    if resource.is_set() && service.is_set() {
        return backend.refuse_unseen("cannot set both resource and service backends", found);
    }
    if resource.is_set() {
        return reference(&resource, found);
    }
    if !service.is_set() {
        return backend.refuse_unseen("resource or service backend is required", found);
    }
    let (name, port) = (service.get("name"), service.get("port"));
    if name.require(found) {
        name.label(found);
    }
    let (number, named) = (port.get("number"), port.get("name"));
    let numbered = number.int().is_some_and(|it| it != 0);
    if !named.is_empty() && numbered {
        backend.refuse_unseen("cannot set both port name & port number", found);
    } else if !named.is_empty() {
        named.port(found);
    } else if numbered {
        number.port(found);
    } else {
        backend.miss("port name or number is required", found);
    }
}

// Another object, by kind and name.
fn reference(reference: &Field<'_>, found: &mut Found) {
    let group = reference.get("apiGroup");
    if !group.is_empty() {
        group.subdomain(found);
    }
    for part in ["kind", "name"] {
        if reference.get(part).require(found) {
            reference.get(part).segment(found);
        }
    }
}

/// IngressClasses.
pub(super) fn ingress_class(spec: &Field<'_>, found: &mut Found) {
    let controller = spec.get("controller");
    if controller.require(found) {
        if controller.text().len() > 250 {
            found.push(FieldError::too_long(controller.at.as_str(), 250));
        }
        controller.prefixed(found);
    }
    let parameters = spec.get("parameters");
    if !parameters.is_set() {
        return;
    }
    reference(&parameters, found);
    let (scope, space) = (parameters.get("scope"), parameters.get("namespace"));
    scope.one_of(&["Cluster", "Namespace"], found);
    match scope.text() {
        "Namespace" if space.is_empty() => {
            space.miss("`parameters.scope` is set to 'Namespace'", found);
        }
        "Namespace" => space.label(found),
        "Cluster" if space.is_set() => {
            space.forbid("`parameters.scope` is set to 'Cluster'", found);
        }
        _ => {}
    }
}

/// NetworkPolicies.
pub(super) fn policy(spec: &Field<'_>, found: &mut Found) {
    spec.get("podSelector").selector(found);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.get(direction).items() {
            for port in rule.get("ports").items() {
                policy_port(&port, found);
            }
            for one in rule.get(peers).items() {
                peer(&one, found);
            }
        }
    }
    let types = spec.get("policyTypes");
    if types.value.as_array().is_some_and(|all| all.len() > 2) {
        return types.refuse("may not specify more than two policyTypes", found);
    }
    for one in types.items() {
        one.one_of(&["Ingress", "Egress"], found);
    }
}

fn policy_port(one: &Field<'_>, found: &mut Found) {
    one.get("protocol").one_of(&["TCP", "UDP", "SCTP"], found);
    let (port, end) = (one.get("port"), one.get("endPort"));
    port.port(found);
    if !end.is_set() {
        return;
    }
    match (port.is_set(), port.int()) {
        (false, _) => end.refuse("may not be specified when `port` is not specified", found),
        (true, None) => end.refuse("may not be specified when `port` is non-numeric", found),
        (true, Some(first)) => {
            // The value shown is the port's.
            if end.int().is_some_and(|it| it < first) {
                let why = "must be greater than or equal to `port`";
                found.push(FieldError::invalid(end.at.as_str(), port.value, why));
            }
            end.port(found);
        }
    }
}

fn peer(one: &Field<'_>, found: &mut Found) {
    let block = one.get("ipBlock");
    let mut peers = 0;
    for kind in ["podSelector", "namespaceSelector"] {
        if one.get(kind).is_set() {
            peers += 1;
            one.get(kind).selector(found);
        }
    }
    if block.is_set() {
        peers += 1;
        addresses(&block, found);
    }
    if peers == 0 {
        one.miss("must specify a peer", found);
    } else if peers > 1 && block.is_set() {
        one.forbid("may not specify both ipBlock and another peer", found);
    }
}

fn addresses(block: &Field<'_>, found: &mut Found) {
    if !block.get("cidr").require(found) {
        return;
    }
    let Some(all) = block.get("cidr").network(found) else { return };
    for except in block.get("except").items() {
        if except.network(found).is_some_and(|one| !all.holds(&one)) {
            except.refuse("must be a strict subset of `cidr`", found);
        }
    }
}

/// Services, beside their addresses.
pub(super) fn service(spec: &Field<'_>, found: &mut Found) {
    let kind = spec.get("type").text();
    let balanced = kind == "LoadBalancer";
    if balanced && spec.get("clusterIP").is("None") {
        let why = "may not be set to 'None' for LoadBalancer services";
        found.push(FieldError::invalid("spec.clusterIPs[0]", &json!("None"), why));
    }
    let outer = spec.get("externalName");
    if kind == "ExternalName" && !outer.is_empty() {
        let name = outer.text().strip_suffix('.').unwrap_or(outer.text());
        for why in crate::meta::subdomain_errors(name) {
            outer.refuse(&why, found);
        }
    }
    for port in spec.get("ports").items() {
        service_port(kind, &port, found);
    }
    spec.get("selector").labels(found);
    if spec.get("sessionAffinity").is("ClientIP") {
        let timeout = spec.get("sessionAffinityConfig").get("clientIP").get("timeoutSeconds");
        if timeout.int().is_some_and(|it| it <= 0 || it > 86400) {
            timeout.refuse("must be greater than 0 and less than 86400", found);
        }
    }
    for address in spec.get("externalIPs").items() {
        if address.address(found) {
            address.outside(found);
        }
    }
    let ranges = spec.get("loadBalancerSourceRanges");
    if ranges.is_set() {
        // Named so by the reference.
        let ranges = Field::new("spec.LoadBalancerSourceRanges", ranges.value);
        if !balanced {
            ranges.forbid("may only be used when `type` is 'LoadBalancer'", found);
        }
        for range in ranges.items() {
            range.network(found);
        }
    }
    traffic(spec, kind, found);
}

fn service_port(kind: &str, port: &Field<'_>, found: &mut Found) {
    let (name, node) = (port.get("name"), port.get("nodePort"));
    if !name.is_empty() {
        name.label(found);
    }
    if !port.get("appProtocol").is_empty() {
        port.get("appProtocol").qualified(found);
    }
    if kind == "ClusterIP" && node.int().is_some_and(|it| it != 0) {
        node.forbid("may not be used when `type` is 'ClusterIP'", found);
    }
}

fn traffic(spec: &Field<'_>, kind: &str, found: &mut Found) {
    let outer = spec.get("externalTrafficPolicy");
    let reachable = ["NodePort", "LoadBalancer"].contains(&kind)
        || (kind == "ClusterIP" && !spec.get("externalIPs").is_empty());
    if !outer.is_empty() && !reachable {
        outer.refuse("may only be set for externally-accessible services", found);
    } else {
        outer.one_of(&["Cluster", "Local"], found);
    }
    let health = spec.get("healthCheckNodePort");
    if health.int().is_some_and(|it| it != 0) && !(kind == "LoadBalancer" && outer.is("Local")) {
        let why =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        health.refuse(why, found);
    }
    spec.get("internalTrafficPolicy").one_of(&["Cluster", "Local"], found);
    let families = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    spec.get("ipFamilyPolicy").one_of(&families, found);
    for family in spec.get("ipFamilies").items() {
        family.one_of(&["IPv4", "IPv6"], found);
        if family.is("IPv6") && kind != "ExternalName" && !spec.get("clusterIP").is("None") {
            family.refuse("not configured on this cluster", found);
        }
    }
    let class = spec.get("loadBalancerClass");
    if class.is_set() && kind != "LoadBalancer" {
        class.forbid("may only be used when `type` is 'LoadBalancer'", found);
    } else if class.is_set() {
        class.qualified(found);
    }
    let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
    spec.get("trafficDistribution").one_of(&known, found);
}

/// Endpoints.
pub(super) fn endpoints(object: &Field<'_>, found: &mut Found) {
    for subset in object.get("subsets").items() {
        let (ready, others) = (subset.get("addresses"), subset.get("notReadyAddresses"));
        if ready.is_empty() && others.is_empty() {
            subset.miss("must specify `addresses` or `notReadyAddresses`", found);
        }
        for address in ready.items().chain(others.items()) {
            let at = address.get("ip");
            if !at.address(found) {
                at.refuse("must be a valid IP address", found);
            }
            if !address.get("hostname").is_empty() {
                address.get("hostname").label(found);
            }
        }
        let ports: Vec<Field<'_>> = subset.get("ports").items().collect();
        for port in &ports {
            let name = port.get("name");
            if name.is_empty() && ports.len() > 1 {
                name.miss("", found);
            } else if !name.is_empty() {
                name.label(found);
            }
            match port.get("port").is_set() {
                true => port.get("port").port(found),
                false => Field::new(port.get("port").at, &json!(0)).port(found),
            }
            port.get("protocol").one_of(&["SCTP", "TCP", "UDP"], found);
        }
    }
}

/// EndpointSlices.
pub(super) fn slice(object: &Field<'_>, found: &mut Found) {
    let kind = object.get("addressType");
    if kind.require(found) {
        kind.one_of(&["FQDN", "IPv4", "IPv6"], found);
    }
    for endpoint in object.get("endpoints").items() {
        let addresses = endpoint.get("addresses");
        if addresses.is_empty() {
            addresses.miss("must contain at least 1 address", found);
        }
        for address in addresses.items() {
            match kind.text() {
                "IPv4" | "IPv6" => {
                    // This machine is a fine place: webhooks run there.
                    address.address(found);
                }
                "FQDN" => address.subdomain(found),
                _ => {}
            }
        }
    }
    let mut names: Vec<&str> = Vec::new();
    for port in object.get("ports").items() {
        let name = port.get("name");
        if !name.is_empty() {
            name.label(found);
        }
        if names.contains(&name.text()) {
            found.push(FieldError::duplicate(name.at.as_str(), &json!(name.text())));
        }
        names.push(name.text());
        port.get("protocol").one_of(&["SCTP", "TCP", "UDP"], found);
    }
}
