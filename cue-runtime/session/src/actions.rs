//! Finding the next `#do`.
