//! Whatever an Application was before, what is delivered is what its last version asks for, and no more: through
//! processes that die on the way, servers that fail now and then, and changes that come before the last one was done.

use std::collections::{BTreeMap, HashSet};

use lateen_engine::reconcile::reconcile;
use serde_json::{Value, json};

use crate::plane::Plane;
use crate::{APPLICATION, Shop, settle};

const NAMES: [&str; 3] = ["hull", "mast", "sail"];

/// Numbers drawn by chance, the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// Some of three components, with objects beside them that come and go.
    fn application(&mut self) -> Value {
        let mut components = Vec::new();
        for name in NAMES {
            if self.below(3) == 0 {
                continue;
            }
            let properties = json!({"size": self.below(4), "lid": self.below(2) == 0});
            let late = json!([{"type": "late"}]);
            let traits = if self.below(3) == 0 { late } else { json!([]) };
            components.push(
                json!({"name": name, "type": "box", "properties": properties, "traits": traits}),
            );
        }
        if components.is_empty() {
            components.push(json!({"name": "hull", "type": "box", "traits": []}));
        }
        json!({
            "apiVersion": APPLICATION, "kind": "Application",
            "metadata": {"namespace": "shop", "name": "boat"}, "spec": {"components": components},
        })
    }
}

fn plane(shop: &Shop) -> Plane {
    let plane = Plane::default();
    shop.definitions.iter().for_each(|it| plane.put(it, ""));
    plane
}

/// What users see of it: the phase, and the objects by name with what is in them.
fn delivered(plane: &Plane) -> BTreeMap<String, Value> {
    let all = plane.snapshot();
    let mut seen = BTreeMap::new();
    for (key, object) in all.as_object().into_iter().flatten() {
        let name = key.rsplit('|').next().unwrap_or_default();
        let ours = NAMES.iter().any(|it| name == *it || name.starts_with(&format!("{it}-")));
        if key.contains("|ConfigMap|shop|") && ours {
            seen.insert(name.to_owned(), object["data"].clone());
        }
    }
    seen.insert("phase".into(), all["|Application|shop|boat"]["status"]["status"].clone());
    seen
}

/// As if nothing had been there before.
fn anew(shop: &Shop, application: &Value) -> BTreeMap<String, Value> {
    let plane = plane(shop);
    plane.put(application, "");
    settle(shop, &plane, &["boat".to_owned()], &mut HashSet::new());
    let seen = delivered(&plane);
    let components = application["spec"]["components"].as_array().map_or(0, Vec::len);
    assert!(seen["phase"] == "running" && seen.len() > components, "{seen:#?}");
    seen
}

#[test]
fn the_last_of_many_versions_is_what_is_delivered_and_so_is_the_first_again() {
    let shop = Shop::open();
    let names = ["boat".to_owned()];
    for seed in 1..=60 {
        let mut draw = Draw(seed * 0x9E37_79B9_7F4A_7C15);
        let plane = plane(&shop);
        let mut sure = HashSet::new();
        let versions: Vec<Value> = (0..2 + draw.below(4)).map(|_| draw.application()).collect();
        for version in &versions {
            plane.put(version, "");
            match draw.below(4) {
                0 => settle(&shop, &plane, &names, &mut sure),
                1 => {
                    let _ = plane.run(reconcile(&shop.engine(&plane), "shop", "boat"));
                }
                2 => {
                    plane.die_within(1 + draw.below(30) as usize);
                    let _ = plane.run(reconcile(&shop.engine(&plane), "shop", "boat"));
                }
                _ => {
                    plane.falter(5 + draw.below(9) as usize);
                    for _ in 0..1 + draw.below(3) {
                        let _ = plane.run(reconcile(&shop.engine(&plane), "shop", "boat"));
                    }
                    plane.heal();
                }
            }
        }
        for wanted in [versions.last(), versions.first()].into_iter().flatten() {
            plane.put(wanted, "");
            sure.clear();
            settle(&shop, &plane, &names, &mut sure);
            assert_eq!(delivered(&plane), anew(&shop, wanted), "seed {seed}: {versions:#?}");
        }
    }
}
