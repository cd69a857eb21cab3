//! What admission refuses, and why.
