//! The guest's memory: small blocks from lists by size, everything else from talc.
//!
//! An evaluation is thousands of small values that come and go together. Taking one from the list of
//! its size and putting it back costs a few instructions each; the memory stays with the instance,
//! which is thrown away when it has grown too large.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

/// Sizes are whole multiples of this, and blocks are aligned to it.
const STEP: usize = 16;

/// Lists kept: blocks of up to `STEP * LISTS` bytes.
const LISTS: usize = 32;

/// What is cut into small blocks at a time.
const CHUNK: usize = 64 << 10;

/// A free block: the next one of its size.
struct Free {
    next: Option<NonNull<Free>>,
}

/// Free blocks by size, and the chunk new ones are cut from.
struct Small {
    free: [Option<NonNull<Free>>; LISTS],
    at: *mut u8,
    left: usize,
}

/// The allocator of a module with one thread.
pub struct Memory {
    small: UnsafeCell<Small>,
    large: WasmDynamicTalc,
}

// SAFETY: wasm32-unknown-unknown without atomics has one thread.
unsafe impl Sync for Memory {}

/// Which list serves `layout`; none if it is large or wants more than `STEP` of alignment.
fn list(layout: Layout) -> Option<usize> {
    let index = layout.size().wrapping_sub(1) / STEP;
    (index < LISTS && layout.align() <= STEP).then_some(index)
}

impl Memory {
    /// Nothing is taken yet.
    pub const fn new() -> Self {
        let small = Small { free: [None; LISTS], at: null_mut(), left: 0 };
        Self { small: UnsafeCell::new(small), large: new_wasm_dynamic_allocator() }
    }

    /// Cuts a block of `size` bytes from the chunk, or from a new one.
    #[cold]
    fn cut(&self, small: &mut Small, size: usize) -> *mut u8 {
        if small.left < size {
            // SAFETY: the layout has a size, and the alignment is a power of two.
            let chunk = unsafe { self.large.alloc(Layout::from_size_align_unchecked(CHUNK, STEP)) };
            if chunk.is_null() {
                return chunk;
            }
            small.at = chunk;
            small.left = CHUNK;
        }
        let block = small.at;
        // SAFETY: `left` bytes from `at` on belong to the chunk.
        small.at = unsafe { block.add(size) };
        small.left -= size;
        block
    }
}

// SAFETY: a block is on a list or given out, never both; lists hold blocks of one size, each aligned
// to `STEP`; no reference to `small` outlives a call, and no call is entered twice.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(index) = list(layout) else { return unsafe { self.large.alloc(layout) } };
        let small = unsafe { &mut *self.small.get() };
        match small.free[index] {
            Some(block) => {
                small.free[index] = unsafe { block.as_ref().next };
                block.as_ptr().cast()
            }
            None => self.cut(small, (index + 1) * STEP),
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(index) = list(layout) else { return unsafe { self.large.dealloc(block, layout) } };
        let small = unsafe { &mut *self.small.get() };
        let block: *mut Free = block.cast();
        unsafe { block.write(Free { next: small.free[index] }) };
        small.free[index] = NonNull::new(block);
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list(layout), list(new)) {
            (None, None) => return unsafe { self.large.realloc(block, layout, size) },
            (Some(before), Some(after)) if before == after => return block,
            _ => {}
        }
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            let kept = layout.size().min(size);
            unsafe {
                core::ptr::copy_nonoverlapping(block, moved, kept);
                self.dealloc(block, layout);
            }
        }
        moved
    }
}
