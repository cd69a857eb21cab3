//! The layout machine: wishes for white space, settled when text comes (rule 6.2).

use crate::columns::{Item, Output};
use crate::scan::T;
use crate::tree::{Distance, Group};

pub(crate) const SPACE: u32 = 1;
pub(crate) const STOP: u32 = 1 << 1;
pub(crate) const TIGHT: u32 = 1 << 2;
pub(crate) const FREEZE: u32 = 1 << 3;
pub(crate) const LINE: u32 = 1 << 4;
pub(crate) const CUT: u32 = 1 << 5;
pub(crate) const GAP: u32 = 1 << 6;
pub(crate) const SEP: u32 = 1 << 7;
pub(crate) const COMMA: u32 = 1 << 8;
pub(crate) const NOTRAIL: u32 = 1 << 9;
pub(crate) const IN: u32 = 1 << 10;
pub(crate) const OUT: u32 = 1 << 11;
const BREAKS: u32 = LINE | CUT | GAP;

/// Comments of the node that is printed, and how far printing is.
pub(crate) struct Frame {
    pub(crate) comments: Vec<Group>,
    pub(crate) slot: i32,
    pub(crate) sep: u32,
    pub(crate) outer: u32,
}

pub(crate) struct Machine {
    pub(crate) out: Output,
    pub(crate) wishes: u32,
    /// Of indentation; below nothing for as long as a mark of a label is left over.
    pub(crate) level: i32,
    marks: Vec<bool>,
    pub(crate) breaks: u32,
    started: bool,
    column: bool,
    white: bool,
    last: Option<T>,
    pub(crate) closed: bool,
    pub(crate) after_brace: bool,
    after_comment: bool,
    pub(crate) frames: Vec<Frame>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let file = Frame { comments: Vec::new(), slot: 0, sep: LINE, outer: LINE };
        Machine {
            out: Output::default(),
            wishes: FREEZE,
            level: 0,
            marks: Vec::new(),
            breaks: 0,
            started: false,
            column: false,
            white: false,
            last: None,
            closed: false,
            after_brace: false,
            after_comment: false,
            frames: vec![file],
        }
    }

    pub(crate) fn wish(&mut self, wishes: u32) {
        self.wishes |= wishes;
    }

    fn settle(&mut self, wishes: u32) {
        if wishes & COMMA != 0 && (wishes & BREAKS != 0 || wishes & NOTRAIL == 0) {
            self.out.text(",");
            self.white = false;
        }
        if wishes & IN != 0 {
            self.marks.push(false);
        }
        if wishes & OUT != 0 {
            self.pop_mark();
        }
        if wishes & BREAKS != 0 {
            if wishes & OUT == 0 {
                if let Some(used) = self.marks.last_mut().filter(|it| !**it) {
                    *used = true;
                    self.level += 1;
                }
            }
            let (item, count) = match wishes {
                it if it & GAP != 0 => (Item::Cut, 2),
                it if it & CUT != 0 => (Item::Cut, 1),
                _ => (Item::Break, 1),
            };
            for _ in 0..count {
                self.out.push(item);
                self.breaks += 1;
            }
            (0..self.tabs()).for_each(|_| self.out.push(Item::Hard));
            self.after_brace = false;
            self.column = false;
            self.white = true;
        } else if wishes & SEP != 0 {
            self.out.text(", ");
            self.white = true;
        } else if wishes & TIGHT != 0 {
        } else if wishes & STOP != 0 {
            self.out.push(Item::Soft);
            self.white = true;
        } else if wishes & SPACE != 0 {
            self.out.text(" ");
            self.white = true;
        }
    }

    /// Tabs at the beginning of a line.
    pub(crate) fn tabs(&self) -> usize {
        usize::try_from(self.level).unwrap_or_default()
    }

    /// Pops an indent mark at once.
    pub(crate) fn pop_mark(&mut self) {
        if self.marks.pop() == Some(true) {
            self.level -= 1;
        }
    }

    pub(crate) fn distance(&mut self, distance: Distance) {
        if distance == Distance::Absent || self.wishes & FREEZE != 0 {
            return;
        }
        let mut wishes = self.wishes;
        match distance {
            Distance::Absent => {}
            Distance::None => wishes &= !BREAKS,
            Distance::Space => wishes = wishes & !BREAKS | SPACE,
            Distance::Line => wishes |= LINE,
            Distance::Gap => wishes |= GAP,
        }
        if self.after_comment {
            wishes |= LINE;
        }
        self.settle(wishes);
        self.wishes = 0;
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.settle(self.wishes);
        self.wishes = 0;
        self.after_comment = false;
        if text.is_empty() {
            return;
        }
        self.out.text(text);
        self.started = true;
        self.column = true;
        self.white = false;
        self.last = None;
        self.closed = false;
    }

    pub(crate) fn word(&mut self, text: &str) {
        self.text(text);
        self.count();
    }

    pub(crate) fn count(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.slot += 1;
        }
    }

    pub(crate) fn op(&mut self, op: T) {
        let letters = op.is_keyword();
        let merges = matches!(
            (self.last, op),
            (Some(T::Add), T::Add)
                | (Some(T::Sub), T::Sub)
                | (Some(T::Quo), T::Mul)
                | (Some(T::Not | T::Lss | T::Gtr), T::Mat | T::Eql)
                | (Some(T::Lss), T::Sub)
        );
        if self.started && !self.white && (letters || merges) {
            self.wish(SPACE);
        }
        self.word(op.text());
        self.last = Some(op);
        self.closed = matches!(op, T::RBrace | T::RBrack);
        if letters {
            self.wish(SPACE);
        }
    }

    pub(crate) fn sep(&self) -> u32 {
        self.frames.last().map_or(LINE, |it| it.sep)
    }

    pub(crate) fn outer(&self) -> u32 {
        self.frames.last().map_or(LINE, |it| it.outer)
    }

    pub(crate) fn hard_break(&mut self) {
        let wish = if self.sep() == SPACE { SPACE } else { CUT };
        self.wish(wish);
    }

    pub(crate) fn push(&mut self, comments: Vec<Group>, sep: Option<u32>) {
        let inherited = self.sep();
        let sep = sep.unwrap_or(inherited);
        self.frames.push(Frame { comments, slot: 0, sep, outer: inherited });
        self.due(0);
    }

    pub(crate) fn pop(&mut self) {
        self.due(i32::MAX);
        if self.frames.len() > 1 {
            self.frames.pop();
        }
        self.count();
        self.due_now();
    }

    pub(crate) fn due_now(&mut self) {
        let slot = self.frames.last().map_or(0, |it| it.slot);
        self.due(slot);
    }

    fn due(&mut self, until: i32) {
        let mut printed = false;
        loop {
            let Some(frame) = self.frames.last_mut() else { return };
            if frame.comments.first().is_none_or(|it| it.slot > until) {
                return;
            }
            let group = frame.comments.remove(0);
            if printed {
                self.wish(GAP);
            }
            printed = true;
            self.comment(&group);
        }
    }

    fn comment(&mut self, group: &Group) {
        let distance = if group.line { Distance::Space } else { group.distance };
        if distance == Distance::Space {
            self.wish(SPACE);
        }
        if matches!(distance, Distance::Space | Distance::None) {
            self.wishes &= !(BREAKS | SEP);
        }
        if group.doc && self.started {
            self.wish(LINE);
        }
        for (distance, line) in &group.lines {
            if self.column {
                self.wish(STOP);
            }
            self.distance(*distance);
            self.text(line);
            self.after_comment = true;
            self.wish(LINE);
            if group.doc {
                self.wish(FREEZE);
            }
        }
    }
}
