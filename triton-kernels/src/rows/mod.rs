//! Operations over rows: what is along the last axis of a view is reduced, normalised or exchanged together.
