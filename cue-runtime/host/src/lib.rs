//! cue-host
