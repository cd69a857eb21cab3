//! The guest's memory: small blocks from pages of their size, everything else from talc.
//!
//! An evaluation is thousands of small values that come and go together. Taking one from a page of
//! its size and putting it back costs a few instructions each. A page whose blocks are all free is
//! given back, for blocks of another size: what a text is parsed to leaves room for what it is
//! evaluated to.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

/// Sizes are whole multiples of this, and blocks are aligned to it.
const STEP: usize = 16;

/// Lists kept: blocks of up to `STEP * LISTS` bytes.
const LISTS: usize = 32;

/// What is cut into blocks of one size at a time; it begins at a multiple of this.
const PAGE: usize = 16 << 10;

/// What a page takes of it: talc keeps a word behind each block.
const TAKEN: usize = PAGE - 2 * STEP;

/// A free block: the next one of its page.
struct Free {
    next: Option<NonNull<Free>>,
}

/// The head of a page; its blocks follow.
#[repr(C, align(16))]
struct Page {
    free: Option<NonNull<Free>>,
    /// Where the part begins that is not cut yet.
    uncut: usize,
    /// Blocks that are given out.
    used: usize,
    size: usize,
    /// Pages of the same size with free blocks; a full one is not among them.
    next: *mut Page,
    previous: *mut Page,
    full: bool,
}

/// Pages with free blocks by the size of these.
struct Small {
    pages: [*mut Page; LISTS],
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
        let small = Small { pages: [null_mut(); LISTS] };
        Self { small: UnsafeCell::new(small), large: new_wasm_dynamic_allocator() }
    }

    /// A page for blocks of this list, which has none with a free block.
    #[cold]
    fn page(&self, small: &mut Small, index: usize) -> *mut Page {
        // SAFETY: the layout has a size, and the alignment is a power of two.
        let page: *mut Page =
            unsafe { self.large.alloc(Layout::from_size_align_unchecked(TAKEN, PAGE)).cast() };
        if !page.is_null() {
            let head = Page {
                free: None,
                uncut: size_of::<Page>(),
                used: 0,
                size: (index + 1) * STEP,
                next: null_mut(),
                previous: null_mut(),
                full: false,
            };
            // SAFETY: it was just taken.
            unsafe { page.write(head) };
            small.pages[index] = page;
        }
        page
    }

    /// A block of a page that has one.
    #[inline]
    unsafe fn take(small: &mut Small, index: usize, at: *mut Page) -> *mut u8 {
        let page = unsafe { &mut *at };
        page.used += 1;
        let block: *mut u8 = match page.free {
            Some(block) => {
                page.free = unsafe { block.as_ref().next };
                block.as_ptr().cast()
            }
            None => {
                let block = unsafe { at.cast::<u8>().add(page.uncut) };
                page.uncut += page.size;
                block
            }
        };
        if page.free.is_none() && page.uncut + page.size > TAKEN {
            page.full = true;
            small.pages[index] = page.next;
            if let Some(next) = unsafe { page.next.as_mut() } {
                next.previous = null_mut();
            }
        }
        block
    }

    /// A page that was full has a free block, or all of one's blocks are free.
    #[cold]
    unsafe fn turned(&self, small: &mut Small, index: usize, at: *mut Page) {
        let page = unsafe { &mut *at };
        if page.full {
            page.full = false;
            page.previous = null_mut();
            page.next = small.pages[index];
            if let Some(next) = unsafe { page.next.as_mut() } {
                next.previous = at;
            }
            small.pages[index] = at;
        }
        if page.used > 0 || page.next.is_null() && page.previous.is_null() {
            return;
        }
        match unsafe { page.previous.as_mut() } {
            Some(previous) => previous.next = page.next,
            None => small.pages[index] = page.next,
        }
        if let Some(next) = unsafe { page.next.as_mut() } {
            next.previous = page.previous;
        }
        unsafe { self.large.dealloc(at.cast(), Layout::from_size_align_unchecked(TAKEN, PAGE)) };
    }
}

// SAFETY: a block is on the list of its page or given out, never both; pages hold blocks of one size,
// each aligned to `STEP`; no reference to `small` outlives a call, and no call is entered twice.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(index) = list(layout) else { return unsafe { self.large.alloc(layout) } };
        let small = unsafe { &mut *self.small.get() };
        let mut page = small.pages[index];
        if page.is_null() {
            page = self.page(small, index);
            if page.is_null() {
                return page.cast();
            }
        }
        unsafe { Self::take(small, index, page) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(index) = list(layout) else { return unsafe { self.large.dealloc(block, layout) } };
        let small = unsafe { &mut *self.small.get() };
        let at: *mut Page = ((block as usize) & !(PAGE - 1)) as *mut Page;
        let page = unsafe { &mut *at };
        let block: *mut Free = block.cast();
        unsafe { block.write(Free { next: page.free }) };
        page.free = NonNull::new(block);
        page.used -= 1;
        if page.full || page.used == 0 {
            unsafe { self.turned(small, index, at) };
        }
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
