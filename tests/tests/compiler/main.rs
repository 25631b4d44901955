//! The compiler's analyses, layouts and passes, against laws, golden vectors and slower computations of the same.

mod axis;
mod copies;
mod defs;
mod hints;
mod inlined;
mod layout;
mod layout_convert;
mod layout_copies;
mod layout_estimate;
mod layout_golden;
mod layout_laws;
mod nesting;
mod orders;
mod pbqp;
mod place;
mod print;
mod ptx_convert;
mod random_layouts;
mod storage;
mod stride;
