//! What bounds a call: rounds, which the interpreter itself counts down.
//!
//! Before it is compiled, each loop of the module, each cycle of calls and each call through a table gets a check: the
//! global [`ROUNDS`] goes down by one, and at zero the module traps. Whatever has no end passes such a place again and
//! again, and passes it alike on every machine: no clock, no thread that wakes, and a quarter of what wasmtime's epochs
//! cost, which are looked at in every function.

use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ExportKind, ExportSection, Function, GlobalSection,
    GlobalType, Instruction, Module, ValType,
};
use wasmparser::{
    ExportSectionReader, FunctionBody, GlobalSectionReader, Operator, Parser, Payload, TypeRef,
};

/// The name of the exported global: how many rounds are left, an `i64`.
pub(crate) const ROUNDS: &str = "rounds left";

/// The module with its rounds counted; none are left at first.
///
/// # Errors
/// With wasm-encoder's words, when `module` is none.
pub(crate) fn metered(module: &[u8]) -> Result<Vec<u8>, String> {
    let calls = Calls::of(module).map_err(|error| error.to_string())?;
    let mut meter = Meter { counted: calls.closing(), global: 0, next: 0 };
    let mut out = Module::new();
    meter.parse_core_module(&mut out, Parser::new(0), module).map_err(|error| error.to_string())?;
    Ok(out.finish())
}

/// Which functions call which by name, by the numbers of those that the module defines.
struct Calls {
    callees: Vec<Vec<usize>>,
}

impl Calls {
    fn of(module: &[u8]) -> wasmparser::Result<Self> {
        let (mut callees, mut imported) = (Vec::new(), 0);
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let (mut own, mut last) = (Vec::new(), None);
                    for operator in body.get_operators_reader()? {
                        let operator = operator?;
                        // From what never returns nothing goes on: panics do not close a cycle.
                        if !matches!(operator, Operator::Unreachable) {
                            own.extend(last);
                        }
                        last = match operator {
                            Operator::Call { function_index }
                            | Operator::ReturnCall { function_index } => {
                                function_index.checked_sub(imported).map(|it| it as usize)
                            }
                            _ => None,
                        };
                    }
                    callees.push(own);
                }
                _ => {}
            }
        }
        Ok(Self { callees })
    }

    /// Functions of which each cycle of calls has one: those called by what they have led to.
    fn closing(&self) -> Vec<bool> {
        #[derive(Clone, Copy)]
        enum Seen {
            No,
            Within,
            Done,
        }
        let mut closing = vec![false; self.callees.len()];
        let mut seen = vec![Seen::No; self.callees.len()];
        for root in 0..self.callees.len() {
            if !matches!(seen[root], Seen::No) {
                continue;
            }
            let mut way = vec![(root, 0)];
            while let Some((function, next)) = way.last_mut() {
                seen[*function] = Seen::Within;
                let Some(&callee) = self.callees[*function].get(*next) else {
                    seen[*function] = Seen::Done;
                    way.pop();
                    continue;
                };
                *next += 1;
                match seen[callee] {
                    Seen::No => way.push((callee, 0)),
                    Seen::Within => closing[callee] = true,
                    Seen::Done => {}
                }
            }
        }
        closing
    }
}

/// Copies a module and puts the checks in.
struct Meter {
    /// Of each function whether its calls count.
    counted: Vec<bool>,
    /// The number of the global.
    global: u32,
    /// The number of the next function.
    next: usize,
}

impl Meter {
    fn check(&self, function: &mut Function) {
        let mut code = function.instructions();
        code.global_get(self.global).i64_eqz().if_(BlockType::Empty).unreachable().end();
        code.global_get(self.global).i64_const(1).i64_sub().global_set(self.global);
    }
}

impl Reencode for Meter {
    type Error = std::convert::Infallible;

    fn parse_global_section(
        &mut self,
        globals: &mut GlobalSection,
        section: GlobalSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        self.global = section.count();
        utils::parse_global_section(self, globals, section)?;
        let kind = GlobalType { val_type: ValType::I64, mutable: true, shared: false };
        globals.global(kind, &ConstExpr::i64_const(0));
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        utils::parse_export_section(self, exports, section)?;
        exports.export(ROUNDS, ExportKind::Global, self.global);
        Ok(())
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let mut function = self.new_function_with_parsed_locals(&body)?;
        if self.counted.get(self.next) == Some(&true) {
            self.check(&mut function);
        }
        self.next += 1;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let instruction = self.parse_instruction(&mut operators)?;
            if matches!(
                instruction,
                Instruction::CallIndirect { .. } | Instruction::ReturnCallIndirect { .. }
            ) {
                self.check(&mut function);
            }
            function.instruction(&instruction);
            if matches!(instruction, Instruction::Loop(_)) {
                self.check(&mut function);
            }
        }
        code.function(&function);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        ConstExpr, ElementSection, Elements, FunctionSection, InstructionSink, RefType,
        TableSection, TableType, TypeSection,
    };
    use wasmtime::{Engine, Instance, Store, Val};

    use super::*;

    /// A module with one function, `run`, of one number, which is in a table, too.
    fn module(body: impl FnOnce(&mut InstructionSink<'_>)) -> Vec<u8> {
        let mut out = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([ValType::I64], []);
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 1,
            maximum: None,
            shared: false,
        });
        let mut exports = ExportSection::new();
        exports.export("run", ExportKind::Func, 0);
        let mut elements = ElementSection::new();
        elements.active(None, &ConstExpr::i32_const(0), Elements::Functions([0].as_slice().into()));
        let mut code = CodeSection::new();
        let mut function = Function::new([]);
        body(&mut function.instructions());
        function.instructions().end();
        code.function(&function);
        out.section(&types).section(&functions).section(&tables).section(&GlobalSection::new());
        out.section(&exports).section(&elements).section(&code);
        out.finish()
    }

    /// How many rounds of a thousand are left after `run(of)`; `None` when it trapped.
    fn left(module: &[u8], of: i64) -> (Option<()>, i64) {
        let engine = Engine::default();
        let module =
            wasmtime::Module::new(&engine, metered(module).expect("it is one")).expect("it is one");
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).expect("it takes nothing");
        let rounds = instance.get_global(&mut store, ROUNDS).expect("it counts");
        rounds.set(&mut store, Val::I64(1000)).expect("it may be set");
        let run = instance.get_typed_func::<i64, ()>(&mut store, "run").expect("it is there");
        let done = run.call(&mut store, of).ok();
        (done, rounds.get(&mut store).unwrap_i64())
    }

    /// Goes round as often as it is told, or without end when told 0.
    fn looping(code: &mut InstructionSink<'_>) {
        code.loop_(BlockType::Empty).local_get(0).i64_const(1).i64_sub().local_tee(0);
        code.i64_eqz().i32_eqz().br_if(0).end();
    }

    /// Calls itself twice with one less, until there is none.
    fn doubling(code: &mut InstructionSink<'_>, call: impl Fn(&mut InstructionSink<'_>)) {
        code.local_get(0).i64_eqz().if_(BlockType::Empty).return_().end();
        for _ in 0..2 {
            code.local_get(0).i64_const(1).i64_sub();
            call(code);
        }
    }

    #[test]
    fn loops_count_their_rounds() {
        let module = module(looping);
        assert_eq!(left(&module, 1), (Some(()), 999));
        assert_eq!(left(&module, 1000), (Some(()), 0));
        assert_eq!(left(&module, 1001), (None, 0));
        assert_eq!(left(&module, 0), (None, 0));
    }

    #[test]
    fn calls_that_lead_back_count() {
        let module = module(|code| {
            doubling(code, |code| {
                code.call(0);
            });
        });
        assert_eq!(left(&module, 0), (Some(()), 999));
        assert_eq!(left(&module, 3), (Some(()), 985));
        assert_eq!(left(&module, 40), (None, 0));
    }

    #[test]
    fn calls_through_a_table_count() {
        let module = module(|code| {
            doubling(code, |code| {
                code.i32_const(0).call_indirect(0, 0);
            });
        });
        assert_eq!(left(&module, 3), (Some(()), 986));
        assert_eq!(left(&module, 40), (None, 0));
    }

    #[test]
    fn what_only_panics_does_not_count() {
        let module = module(|code| {
            code.local_get(0).i64_eqz().if_(BlockType::Empty).return_().end();
            code.i64_const(0).call(0).unreachable();
        });
        assert_eq!(left(&module, 1), (None, 1000));
    }
}
