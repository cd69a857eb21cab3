//! Request bodies in protobuf, for the few kinds that kubectl creates so; everything else is refused.

use serde_json::{Map, Value, json};

/// Fields of messages: number, name, type. `s` text, `i` integer, `b` boolean, `y` bytes, `-` ignored,
/// `ms` and `my` maps of texts and bytes, `T` message T, `*` in front: a list.
const MESSAGES: &[(&str, &str)] = &[
    (
        "Meta",
        "1 name s,2 generateName s,3 namespace s,4 - -,5 - -,6 - -,7 - -,8 - -,11 labels ms,12 annotations ms",
    ),
    ("ConfigMap", "1 metadata Meta,2 data ms,3 binaryData my,4 immutable b"),
    ("Secret", "1 metadata Meta,2 data my,3 type s,4 stringData ms,5 immutable b"),
    ("Namespace", "1 metadata Meta,2 - -,3 - -"),
    ("ServiceAccount", "1 metadata Meta,4 automountServiceAccountToken b"),
    ("Deployment", "1 metadata Meta,2 spec DeploymentSpec,3 - -"),
    (
        "DeploymentSpec",
        "1 replicas i,2 selector LabelSelector,3 template PodTemplate,4 strategy Strategy,5 minReadySeconds i,6 revisionHistoryLimit i,7 paused b,9 progressDeadlineSeconds i",
    ),
    ("Strategy", "1 type s"),
    ("LabelSelector", "1 matchLabels ms"),
    ("PodTemplate", "1 metadata Meta,2 spec PodSpec"),
    (
        "PodSpec",
        "2 containers *Container,3 restartPolicy s,4 terminationGracePeriodSeconds i,6 dnsPolicy s,7 nodeSelector ms,8 serviceAccountName s,9 serviceAccount s,10 nodeName s,11 hostNetwork b,12 hostPID b,13 hostIPC b,14 - -,16 hostname s,17 subdomain s,19 schedulerName s,24 priorityClassName s",
    ),
    (
        "Container",
        "1 name s,2 image s,3 command *s,4 args *s,5 workingDir s,6 ports *Port,8 - -,13 terminationMessagePath s,14 imagePullPolicy s,16 stdin b,17 stdinOnce b,18 tty b,20 terminationMessagePolicy s",
    ),
    ("Port", "1 name s,2 hostPort i,3 containerPort i,4 protocol s,5 hostIP s"),
    ("Job", "1 metadata Meta,2 spec JobSpec,3 - -"),
    (
        "JobSpec",
        "1 parallelism i,2 completions i,3 activeDeadlineSeconds i,4 selector LabelSelector,5 manualSelector b,6 template PodTemplate,7 backoffLimit i,8 ttlSecondsAfterFinished i",
    ),
    ("CronJob", "1 metadata Meta,2 spec CronJobSpec,3 - -"),
    (
        "CronJobSpec",
        "1 schedule s,2 startingDeadlineSeconds i,3 concurrencyPolicy s,4 suspend b,5 jobTemplate JobTemplate",
    ),
    ("JobTemplate", "1 metadata Meta,2 spec JobSpec"),
    ("Service", "1 metadata Meta,2 spec ServiceSpec,3 - -"),
    (
        "ServiceSpec",
        "1 ports *ServicePort,2 selector ms,3 clusterIP s,4 type s,7 sessionAffinity s,10 externalName s",
    ),
    ("ServicePort", "1 name s,2 protocol s,3 port i,4 targetPort either,5 - -"),
    ("Quantity", "1 text s"),
    ("Either", "1 kind i,2 number i,3 text s"),
    ("Role", "1 metadata Meta,2 rules *Rule"),
    ("ClusterRole", "1 metadata Meta,2 rules *Rule"),
    ("Rule", "1 verbs *s,2 apiGroups *s,3 resources *s,4 resourceNames *s,5 nonResourceURLs *s"),
    ("RoleBinding", "1 metadata Meta,2 subjects *Subject,3 roleRef RoleRef"),
    ("ClusterRoleBinding", "1 metadata Meta,2 subjects *Subject,3 roleRef RoleRef"),
    ("Subject", "1 kind s,2 apiGroup s,3 name s,4 namespace s"),
    ("RoleRef", "1 apiGroup s,2 kind s,3 name s"),
    ("SelfSubjectAccessReview", "1 - -,2 spec AccessSpec,3 - -"),
    ("AccessSpec", "1 resourceAttributes Attributes,2 nonResourceAttributes Paths"),
    (
        "Attributes",
        "1 namespace s,2 verb s,3 group s,4 version s,5 resource s,6 subresource s,7 name s",
    ),
    ("Paths", "1 path s,2 verb s"),
    ("SelfSubjectReview", "1 - -,2 - -"),
    ("HorizontalPodAutoscaler", "1 metadata Meta,2 spec AutoscalerSpec,3 - -"),
    (
        "AutoscalerSpec",
        "1 scaleTargetRef ScaleTarget,2 minReplicas i,3 maxReplicas i,4 metrics *Metric",
    ),
    ("ScaleTarget", "1 kind s,2 name s,3 apiVersion s"),
    ("Metric", "1 type s,4 resource ResourceMetric"),
    ("ResourceMetric", "1 name s,2 target MetricTarget"),
    ("MetricTarget", "1 type s,2 value q,3 averageValue q,4 averageUtilization i"),
    ("PodDisruptionBudget", "1 metadata Meta,2 spec BudgetSpec,3 - -"),
    ("BudgetSpec", "1 minAvailable either,2 selector LabelSelector,3 maxUnavailable either"),
    (
        "PriorityClass",
        "1 metadata Meta,2 value i,3 globalDefault b,4 description s,5 preemptionPolicy s",
    ),
    ("SelfSubjectRulesReview", "1 - -,2 spec RulesSpec,3 - -"),
    ("RulesSpec", "1 namespace s"),
    ("Envelope", "1 type TypeMeta,2 raw y,3 - -,4 - -"),
    ("TypeMeta", "1 apiVersion s,2 kind s"),
];

/// The object in a body; none if it is not protobuf or of a kind that is not known here.
#[must_use]
pub fn decode(body: &[u8]) -> Option<Value> {
    let mut rest = body.strip_prefix(b"k8s\0")?;
    let (mut api, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    while !rest.is_empty() {
        match field(&mut rest)? {
            (1, Content::Bytes(bytes)) => {
                let about = message("TypeMeta", bytes)?;
                api = about["apiVersion"].as_str()?.to_owned();
                kind = about["kind"].as_str()?.to_owned();
            }
            (2, Content::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let mut object = message(&kind, raw)?;
    object["apiVersion"] = json!(api);
    object["kind"] = json!(kind);
    Some(object)
}

enum Content<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn field<'b>(rest: &mut &'b [u8]) -> Option<(u64, Content<'b>)> {
    let key = varint(rest)?;
    let content = match key & 7 {
        0 => Content::Number(varint(rest)?),
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let bytes = rest.get(..length)?;
            *rest = rest.get(length..)?;
            Content::Bytes(bytes)
        }
        _ => return None,
    };
    Some((key >> 3, content))
}

// The table nests six deep at most, so does this.
fn message(name: &str, bytes: &[u8]) -> Option<Value> {
    let (_, fields) = MESSAGES.iter().find(|(one, _)| *one == name)?;
    let mut object = Map::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (number, content) = field(&mut rest)?;
        let spec = fields.split(',').find_map(|spec| {
            let mut words = spec.split(' ');
            (words.next()?.parse() == Ok(number)).then(|| (words.next(), words.next()))
        });
        let Some((Some(key), Some(kind))) = spec else {
            // Unset values are sent too; set ones that are not known here are refused.
            match content {
                Content::Number(0) | Content::Bytes([]) => continue,
                _ => return None,
            }
        };
        if kind == "-" {
            continue;
        }
        if let Some(kind) = kind.strip_prefix('*') {
            let item = single(kind, content)?;
            if let Value::Array(items) = object.entry(key).or_insert_with(|| json!([])) {
                items.push(item);
            }
            continue;
        }
        if kind == "ms" || kind == "my" {
            let Content::Bytes(pair) = content else { return None };
            let (mut pair, mut name, mut value) = (pair, String::new(), json!(""));
            while !pair.is_empty() {
                match field(&mut pair)? {
                    (1, content) => name = single("s", content)?.as_str()?.to_owned(),
                    (_, content) => value = single(if kind == "ms" { "s" } else { "y" }, content)?,
                }
            }
            if let Value::Object(map) = object.entry(key).or_insert_with(|| json!({})) {
                map.insert(name, value);
            }
            continue;
        }
        let value = single(kind, content)?;
        if value != json!("")
            && value != json!(false)
            && !(value == json!({}) && kind != "LabelSelector")
        {
            object.insert(key.to_owned(), value);
        }
    }
    Some(Value::Object(object))
}

fn single(kind: &str, content: Content<'_>) -> Option<Value> {
    use base64::Engine;
    Some(match (kind, content) {
        ("s", Content::Bytes(bytes)) => json!(std::str::from_utf8(bytes).ok()?),
        ("y", Content::Bytes(bytes)) => {
            json!(base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        ("i", Content::Number(number)) => json!(number.cast_signed()),
        ("b", Content::Number(number)) => json!(number != 0),
        ("q", Content::Bytes(bytes)) => message("Quantity", bytes)?["text"].clone(),
        ("either", Content::Bytes(bytes)) => {
            let parts = message("Either", bytes)?;
            if parts["kind"] == json!(1) { parts["text"].clone() } else { parts["number"].clone() }
        }
        (name, Content::Bytes(bytes)) => message(name, bytes)?,
        _ => return None,
    })
}
