//! The layouts of a function, each once, and the conversions between them that were planned or estimated: for layout assignment, the
//! exchanges and the code the same question has one answer. They depend on nothing else, so that the images of an instance share them.

use super::LayoutId;
use crate::entity::Interner;
use crate::hash::WordMap;
use crate::layout::convert::{self, Plan};
use crate::layout::{Layout, estimate};
use std::ops::Index;
use std::sync::Arc;

/// A conversion: the layouts before and after, the bits of an element, and whether the target has `stmatrix`.
type Conversion = (LayoutId, LayoutId, u32, bool);

/// The layouts of a function, each once, and what is known of conversions between them.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    all: Interner<LayoutId, Layout>,
    plans: WordMap<Conversion, Option<Arc<Plan>>>,
    estimates: WordMap<Conversion, f64>,
}

impl Layouts {
    /// The id of a layout.
    pub fn intern(&mut self, layout: Layout) -> LayoutId {
        self.all.intern(layout)
    }

    /// [`convert::plan`] between two layouts.
    pub fn plan(&mut self, src: LayoutId, dst: LayoutId, bits: u32, stmatrix: bool) -> Option<Arc<Plan>> {
        let plan = self.planned(src, dst, bits, stmatrix);
        self.plans.entry((src, dst, bits, stmatrix)).or_insert(plan).clone()
    }

    /// The same, without remembering it.
    pub fn planned(&self, src: LayoutId, dst: LayoutId, bits: u32, stmatrix: bool) -> Option<Arc<Plan>> {
        match self.plans.get(&(src, dst, bits, stmatrix)) {
            Some(plan) => plan.clone(),
            None => convert::plan(&self[src], &self[dst], bits, stmatrix).map(Arc::new),
        }
    }

    /// [`estimate::cycles`] between two layouts.
    pub fn estimate(&mut self, src: LayoutId, dst: LayoutId, bits: u32, stmatrix: bool) -> f64 {
        if src == dst {
            return 0.0;
        }
        let (from, to) = (&self.all[src], &self.all[dst]);
        let estimate = || estimate::cycles(from, to, bits, stmatrix);
        *self.estimates.entry((src, dst, bits, stmatrix)).or_insert_with(estimate)
    }
}

impl Index<LayoutId> for Layouts {
    type Output = Layout;
    fn index(&self, id: LayoutId) -> &Layout {
        &self.all[id]
    }
}
