//! Definitions, parameters and context become objects, or a message that says what is wrong and where.
//!
//! ~~~text
//! component ─ process: template, traits in order ─▶ Product ─ stamp: names, labels ─▶ Rendered
//! ~~~
//! Pure but for `Actor`, which carries out the `#do` of a template; nothing here knows a cluster.

mod application; // a whole Application: targets of its deploy steps
mod component; // one component or custom policy, stamped
mod context; // what templates see as `context`
pub mod dry_run; // files in, text out
mod definitions; // which definition a type names
mod error; // what is wrong, in KubeVela's words
mod given; // where an Application says what a template was given
pub mod health; // isHealth, message, details
pub mod names; // generated names
pub(crate) mod place; // which field a position belongs to
mod making; // objects while templates make them
mod library; // programs of templates, each made once
mod reads; // what of the context a template reads
mod told; // what of it templates are told
mod process; // one component's template and its traits'
mod terraform; // components of Terraform definitions
mod stamp; // labels, annotations, namespaces

pub use self::application::{Request, Target, check, render};
pub(crate) use self::component::definition;
pub use self::component::{Auxiliary, Rendered, render_component, render_policy};
pub use self::context::{ClusterVersion, Context, Scope, Shown};
pub use self::definitions::{Definitions, Lookup, Versions, candidates, label_type, split_version};
pub use self::error::{Error, Part};
pub use self::given::given;
pub(crate) use self::library::{CONTEXT, OPEN};
pub use self::library::{File, Library, Template};
pub(crate) use self::process::missing_package;
pub use self::process::{Actor, NoActor, Output, Process, Product, Templates, object_error};
pub use self::stamp::Placed;
