//! Workflow, its steps, and the status of a run.

use serde_json::Value;

use super::object::{Condition, ObjectMeta, ObjectReference};
use super::wire::wire;

/// Stage of a step that runs before the Application is rendered.
pub const PRE_RENDER: &str = "pre-render";

/// Stage of a step that runs after: every step, unless it says otherwise.
pub const POST_RENDER: &str = "post-render";

wire! {
    /// `spec.workflow` of an Application.
    WorkflowSpec {
        /// Name of a Workflow object to use.
        r#ref: String,
        /// How steps follow each other.
        mode: Option<ExecuteMode>,
        /// Steps.
        steps: Vec<WorkflowStep>,
    }
}

wire! {
    /// How steps follow each other: `StepByStep` or `DAG`.
    ExecuteMode {
        /// Of the steps.
        steps: String,
        /// Of the steps in a group.
        sub_steps: String,
    }
}

wire! {
    /// A step; also a step in a group, which has neither `mode` nor `sub_steps`.
    WorkflowStep {
        /// Other names.
        meta: Option<StepMeta>,
        /// CUE condition, or `always`.
        r#if: String,
        /// Go duration.
        timeout: String,
        /// Steps that come first.
        depends_on: Vec<String>,
        /// Values taken.
        inputs: Vec<InputItem>,
        /// Values given.
        outputs: Vec<OutputItem>,
        /// Parameters.
        properties: Option<Value>,
        /// When it runs: `pre-render`, or `post-render` (W-14).
        stage: String,
        /// Mode of the group.
        mode: String,
        /// Steps of the group.
        sub_steps: Vec<WorkflowStep>,
        /// Name; the webhook names those without.
        name: String,
        @always {
            /// Step definition.
            r#type: String,
        }
    }
}

wire! {
    /// Other names of a step.
    StepMeta {
        /// Shown instead of the name.
        alias: String,
    }
}

wire! {
    /// A value taken.
    InputItem {
        /// Path in the parameters it is put at.
        parameter_key: String,
        @always {
            /// Name of the output.
            from: String,
        }
    }
}

wire! {
    /// A value given.
    OutputItem {
        @always {
            /// CUE expression over the evaluated step or component.
            value_from: String,
            /// Name others take it by.
            name: String,
        }
    }
}

wire! {
    /// `status.workflow`.
    WorkflowStatus {
        app_revision: String,
        /// Run phase.
        #[serde(rename = "status")]
        phase: String,
        message: String,
        suspend_state: String,
        context_backend: Option<ObjectReference>,
        steps: Vec<StepStatus>,
        start_time: Option<String>,
        end_time: Option<String>,
        /// Step that runs, counted from one.
        step_index: i64,
        @always {
            mode: String,
            suspend: bool,
            terminated: bool,
            finished: bool,
        }
    }
}

wire! {
    /// Status of a step, or of a step in a group.
    StepStatus {
        name: String,
        r#type: String,
        phase: String,
        message: String,
        reason: String,
        first_execute_time: Option<String>,
        last_execute_time: Option<String>,
        sub_steps: Vec<StepStatus>,
        @always {
            id: String,
        }
    }
}

wire! {
    /// A Workflow object; it has no spec.
    Workflow {
        mode: Option<ExecuteMode>,
        steps: Vec<WorkflowStep>,
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
        }
    }
}

impl WorkflowStep {
    /// The step, then the steps of its group.
    pub fn with_sub_steps(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.sub_steps)
    }

    /// The component an `apply-component` step is about: the design calls the field `name` (W-109), and
    /// without either it is the step's own name.
    pub fn component(&self) -> Option<&str> {
        if !matches!(self.r#type.as_str(), "apply-component" | "builtin-apply-component") {
            return None;
        }
        let named = |key: &str| self.properties.as_ref()?.get(key)?.as_str();
        named("component").or_else(|| named("name")).or(Some(&self.name))
    }

    /// Whether it runs before the Application is rendered (W-14).
    pub fn is_early(&self) -> bool {
        self.stage == PRE_RENDER
    }

    /// Whether the engine itself knows what it does, without a definition.
    pub fn is_built_in(&self) -> bool {
        let all = ["suspend", "step-group", "apply-component", "builtin-apply-component"];
        all.contains(&self.r#type.as_str())
    }
}

wire! {
    /// A run of a workflow by itself.
    WorkflowRun {
        status: RunStatus,
        @always {
            api_version: String,
            kind: String,
            metadata: ObjectMeta,
            spec: RunSpec,
        }
    }
}

wire! {
    /// What is run.
    RunSpec {
        mode: Option<ExecuteMode>,
        /// Steps, given here.
        workflow_spec: Option<RunWorkflow>,
        /// Name of a Workflow object.
        workflow_ref: String,
        /// What templates see in `context` besides name and namespace.
        context: Option<Value>,
    }
}

wire! {
    /// Steps of a run.
    RunWorkflow {
        mode: Option<ExecuteMode>,
        steps: Vec<WorkflowStep>,
    }
}

wire! {
    /// How far a run is.
    RunStatus {
        conditions: Vec<Condition>,
        mode: Option<ExecuteMode>,
        /// Run phase.
        #[serde(rename = "status")]
        phase: String,
        message: String,
        suspend_state: String,
        context_backend: Option<ObjectReference>,
        steps: Vec<StepStatus>,
        start_time: Option<String>,
        end_time: Option<String>,
        @always {
            suspend: bool,
            terminated: bool,
            finished: bool,
        }
    }
}
