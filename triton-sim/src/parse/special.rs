//! The special registers (PTX ISA, "Special Registers").

/// Those of three extents, read by component: `%tid.x`.
pub(super) const VECTORS: [&str; 8] =
    ["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

/// Components of [`VECTORS`].
pub(super) const COMPONENTS: [&str; 3] = [".x", ".y", ".z"];

/// All others.
pub(super) const SCALARS: [&str; 27] = [
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "gridid",
    "is_explicit_cluster",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "clock64",
    "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "current_graph_exec",
];

/// Whether a name, without its percent sign and its component, is that of a special register.
pub(super) fn is_special(name: &str) -> bool {
    VECTORS.contains(&name) || SCALARS.contains(&name)
}

/// The names of all as they are written in instructions.
pub(super) fn all() -> impl Iterator<Item = String> {
    let vectors = VECTORS.iter().flat_map(|name| COMPONENTS.iter().map(move |part| format!("%{name}{part}")));
    vectors.chain(SCALARS.iter().map(|name| format!("%{name}")))
}
