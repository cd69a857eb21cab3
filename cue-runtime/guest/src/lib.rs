//! The CUE interpreter as a wasm module without imports: calls in, answers out.
//!
//! The host asks for room with [`input`], writes the call there (postcard), runs [`run`] and
//! reads [`output`]. After a trap [`panicked`] says why; the instance is dead then.
//!
//! Unsafe are only the promise that exported names are unique, and the allocator.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};

use cue_session::{Answer, Call, Diagnostic, Machine};

mod encoded; // answers as bytes
#[cfg(target_family = "wasm")]
mod memory;

#[cfg(target_family = "wasm")]
#[global_allocator]
static MEMORY: memory::Memory = memory::Memory::new();

thread_local! {
    static MACHINE: RefCell<Machine> = const { RefCell::new(Machine::new()) };
    /// A call is at its beginning: what was room once stays so, and is not filled anew.
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static LENGTH: Cell<usize> = const { Cell::new(0) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Buffers above this size are given back after use.
const KEEP: usize = 1 << 20;

/// Once per instance: keeps the text of a panic for the host.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with(|text| {
            if let Ok(mut text) = text.try_borrow_mut() {
                *text = panic.to_string();
            }
        });
    }));
}

/// Room for `len` bytes of a call; its address.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> usize {
    INPUT.with(|input| {
        let mut input = input.borrow_mut();
        if input.len() < len {
            input.resize(len, 0);
        }
        LENGTH.set(len);
        input.as_ptr() as usize
    })
}

/// Carries out the call in the input; the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let call = INPUT.with(|input| {
        let mut input = input.borrow_mut();
        let call = postcard::from_bytes::<Call>(input.get(..LENGTH.get()).unwrap_or_default());
        if input.capacity() > KEEP {
            *input = Vec::new();
        }
        call
    });
    let answer = match call {
        Ok(call) => MACHINE.with(|machine| machine.borrow_mut().call(&call)),
        Err(error) => unreadable(&error.to_string()),
    };
    OUTPUT.with(|output| {
        let mut output = output.borrow_mut();
        *output = encoded::encoded(&answer);
        output.len()
    })
}

/// Address of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> usize {
    OUTPUT.with(|output| output.borrow().as_ptr() as usize)
}

/// Length of the panic's text.
#[unsafe(no_mangle)]
pub extern "C" fn panicked() -> usize {
    PANIC.with(|text| text.borrow().len())
}

/// Address of the panic's text.
#[unsafe(no_mangle)]
pub extern "C" fn panic_text() -> usize {
    PANIC.with(|text| text.borrow().as_ptr() as usize)
}

fn unreadable(why: &str) -> Answer {
    Answer::Diagnostics(vec![Diagnostic {
        code: "cue/call".into(),
        message: format!("unreadable call: {why}"),
        path: String::new(),
        positions: Vec::new(),
        incomplete: false,
        hints: Vec::new(),
    }])
}
