//! Integration tests of the rules: documents that are printed from code.

mod lifecycle;
