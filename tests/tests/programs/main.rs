//! Programs that must build without a warning, under the lints that they name, and run.

macro_rules! programs {
    ($($name:ident),* $(,)?) => { $(
        #[allow(clippy::all, clippy::allow_attributes_without_reason, reason = "programs as users write them")]
        mod $name;

        #[test]
        fn $name() -> impl std::process::Termination {
            $name::main()
        }
    )* };
}

programs! {
    add,
    assertions,
    atomics,
    control_flow,
    extremes,
    forbid_unsafe,
    from_a_macro,
    names,
    raw_identifiers,
    reexport,
    shapes_and_reductions,
    small_language,
    strict_lints,
    views,
    without_prelude,
}

/// The kernels whose instructions are counted. Nothing launches them: they only have to build.
#[path = "../../corpus/counts/kernels.rs"]
#[allow(dead_code, reason = "kernels without a host program")]
mod counts;
