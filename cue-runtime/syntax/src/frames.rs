//! Which node a comment belongs to: frames with slot counters (rules 4.1 and 4.2).

use crate::tree::{Group, NodeId, Tree};

#[derive(Default)]
struct Frame {
    slot: i32,
    groups: Vec<Group>,
    /// How often a list frame is open; 0 for the frame of a node.
    lists: u32,
    last: Option<NodeId>,
    last_slot: i32,
}

/// The stack of frames.
pub(crate) struct Frames {
    stack: Vec<Frame>,
    /// A group directly above the next token, not yet taken by a node.
    pub(crate) parked: Option<Group>,
}

/// Adds a group behind all of its slot and lower ones.
fn insert(tree: &mut Tree, id: NodeId, group: Group) {
    let groups = tree.comments.entry(id).or_default();
    let at = groups.iter().rposition(|it| it.slot <= group.slot).map_or(0, |it| it + 1);
    groups.insert(at, group);
}

impl Frames {
    /// With the frame of the file.
    pub(crate) fn new(slot: i32) -> Self {
        Frames { stack: vec![Frame { slot, ..Frame::default() }], parked: None }
    }

    fn top(&mut self) -> &mut Frame {
        if self.stack.is_empty() {
            self.stack.push(Frame::default());
        }
        let at = self.stack.len() - 1;
        &mut self.stack[at]
    }

    pub(crate) fn advance(&mut self) {
        if let Some(group) = self.parked.take() {
            self.store(group);
        }
    }

    pub(crate) fn count(&mut self) {
        self.top().slot += 1;
    }

    pub(crate) fn store(&mut self, mut group: Group) {
        let frame = self.top();
        group.slot = frame.slot;
        frame.groups.push(group);
    }

    pub(crate) fn set_slot(&mut self, depth: usize, slot: i32) {
        if let Some(frame) = self.stack.get_mut(depth) {
            frame.slot = slot;
        }
    }

    pub(crate) fn open_list(&mut self) {
        if self.top().lists > 0 {
            self.top().lists += 1;
        } else {
            self.stack.push(Frame { lists: 1, ..Frame::default() });
        }
    }

    pub(crate) fn close_list(&mut self, tree: &mut Tree) {
        let frame = self.top();
        // Comments are few.
        if let Some(last) = frame.last.filter(|_| !frame.groups.is_empty()) {
            let slot = frame.last_slot;
            for mut group in std::mem::take(&mut frame.groups) {
                group.slot = slot;
                insert(tree, last, group);
            }
        }
        let frame = self.top();
        frame.lists = frame.lists.saturating_sub(1);
        if frame.lists == 0 {
            let groups = self.stack.pop().map(|it| it.groups).unwrap_or_default();
            let parent = self.top();
            if !groups.is_empty() {
                parent.groups.extend(groups);
            }
            parent.slot += 1;
        }
    }

    /// What came in a list since its last node belongs to that one.
    pub(crate) fn settle(&mut self, tree: &mut Tree) {
        let frame = self.top();
        let Some(last) = frame.last.filter(|_| frame.lists > 0 && !frame.groups.is_empty()) else {
            return;
        };
        let slot = frame.last_slot;
        let own = tree.comments.entry(last).or_default();
        let (front, mut back): (Vec<Group>, Vec<Group>) =
            std::mem::take(&mut frame.groups).into_iter().partition(|it| it.slot == 0);
        back.iter_mut().for_each(|it| it.slot = slot);
        let middle = std::mem::take(own);
        own.extend(front.into_iter().chain(middle).chain(back));
    }

    /// The last node of the list is no more.
    pub(crate) fn forget(&mut self) {
        self.top().last = None;
    }

    /// Opens the frame of a node to come; gives its place for `set_slot`.
    pub(crate) fn open(&mut self, tree: &mut Tree) -> usize {
        self.settle(tree);
        let mut child = Frame::default();
        let frame = self.top();
        if frame.lists > 0 && !frame.groups.is_empty() {
            child.groups = std::mem::take(&mut frame.groups);
            child.groups.iter_mut().for_each(|it| it.slot = 0);
        }
        if let Some(mut group) = self.parked.take() {
            group.slot = 0;
            child.groups.push(group);
        }
        self.stack.push(child);
        self.stack.len() - 1
    }

    pub(crate) fn close(&mut self, tree: &mut Tree, id: NodeId) {
        let Some(frame) = self.stack.pop() else { return };
        let parent = self.top();
        parent.last = Some(id);
        parent.last_slot = frame.slot;
        parent.slot += 1;
        if !frame.groups.is_empty() {
            frame.groups.into_iter().for_each(|group| insert(tree, id, group));
        }
    }
}
