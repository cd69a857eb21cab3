//! Objects in Kubernetes' protobuf: bodies of requests, answers and events for clients that ask for it.
//!
//! An object is an envelope (`k8s\0`, then the message runtime.Unknown) that says apiVersion and kind and holds the
//! message of that kind. What the messages are is published; `messages` has them.

mod decode; // bytes to JSON
mod encode; // JSON to bytes
mod messages; // the published messages

pub use decode::{Refused, decode};
pub use encode::{encode, encode_event};
pub use messages::known;

/// The media type.
pub const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// The media type of a watch.
pub const STREAM: &str = "application/vnd.kubernetes.protobuf;stream=watch";

/// What an envelope begins with.
const MAGIC: &[u8] = b"k8s\0";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn back(object: &Value) -> Value {
        decode(&encode(object).unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let deployment = json!({
            "metadata": {
                "name": "web", "namespace": "default", "uid": "u", "generation": 3,
                "creationTimestamp": "2026-11-22T11:17:14Z",
                "labels": {"a": "", "b": "c"}, "finalizers": ["x/y", "z"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "p", "controller": false}],
                "managedFields": [{"manager": "m", "operation": "Apply", "apiVersion": "apps/v1",
                    "time": "2026-11-22T11:17:14Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {".": {}}}}],
            },
            "spec": {
                "replicas": 0,
                "selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
                "template": {"spec": {
                    "containers": [{
                        "name": "c", "image": "i",
                        "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}},
                        "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": -1},
                        "env": [{"name": "e", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}}],
                    }],
                    "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "x"}}],
                    "securityContext": {},
                    "automountServiceAccountToken": false,
                }},
            },
            "apiVersion": "apps/v1", "kind": "Deployment",
        });
        assert_eq!(back(&deployment), deployment);
        let secret = json!({"data": {"k": "AAEC/w=="}, "apiVersion": "v1", "kind": "Secret"});
        assert_eq!(back(&secret), secret);
        let lease = json!({
            "spec": {"renewTime": "2026-11-22T11:17:14.000250Z", "leaseTransitions": 2},
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        });
        assert_eq!(back(&lease), lease);
        let review = json!({
            "spec": {"user": "u", "extra": {"scopes": ["a", "b"]}},
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        });
        assert_eq!(back(&review), review);
        let revision = json!({
            "data": {"spec": [1, null]}, "revision": 7,
            "apiVersion": "apps/v1", "kind": "ControllerRevision",
        });
        assert_eq!(back(&revision), revision);
    }

    // As `curl -H 'Accept: application/vnd.kubernetes.protobuf'` got it from kube-apiserver 1.36.3.
    #[test]
    fn what_the_api_server_writes_is_read() {
        let sent = b"k8s\0\n\x0c\n\x02v1\x12\x06Status\x12Q\n\x06\n\0\x12\0\x1a\0\x12\x07Failure\x1a\x19configmaps \"zz\" not found\"\x08NotFound*\x16\n\x02zz\x12\0\x1a\nconfigmaps(\x002\x000\x94\x03\x1a\0\"\0";
        let status = decode(sent).unwrap();
        assert_eq!(status["message"], "configmaps \"zz\" not found");
        assert_eq!(status["details"]["kind"], "configmaps");
        assert_eq!((&status["code"], &status["kind"]), (&json!(404), &json!("Status")));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        assert_eq!(decode(b"{}"), Err(Refused::NoEnvelope));
        let object = json!({"metadata": {"name": "a"}, "apiVersion": "v1", "kind": "ConfigMap"});
        let whole = encode(&object).unwrap();
        // Within the magic, the kind and the object.
        for end in [3, 9, whole.len() - 8] {
            assert!(decode(&whole[..end]).is_err(), "{end} bytes of {}", whole.len());
        }
        let custom = json!({"apiVersion": "example.com/v1", "kind": "Gadget"});
        assert_eq!(encode(&custom), None);
    }

    // A list in a list in a list and so on would be as deep as the body is long.
    #[test]
    fn envelopes_nest_only_so_deep() {
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap"});
        let mut bytes = encode(&object).unwrap();
        for _ in 0..2000 {
            object = json!({"apiVersion": "v1", "kind": "List", "items": [{}]});
            let item = [vec![10], encode::length(bytes.len()), bytes].concat();
            let list = [vec![18], encode::length(item.len()), item].concat();
            bytes = encode::envelope("v1", "List", &list);
        }
        assert!(decode(&bytes).is_err(), "{object}");
    }
}
