//! Runs the compiler over every instance and gathers its diagnostics.

use crate::build_cache::Entry;
use crate::context::Context;
use crate::deflate::deflate;
use crate::emit::dump;
use crate::emit::kernel::{Kernel, spelling};
use crate::link::library;
use crate::link::parts::Parts;
use crate::read::instances::Instance;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use syn::Path;
use triton_core::diag::{Code, Diagnostic, Failure};
use triton_core::span::Span;
use triton_core::{Compiled, ast};

/// The result of compiling a kernel.
pub(crate) enum Outcome {
    /// The configs of each instance.
    Compiled(Vec<Vec<Compiled>>),
    /// External constants, by their numbers, whose values the compiler needs.
    Needed(Vec<usize>),
    /// Errors, which are reported.
    Wrong,
    /// The compiler leaves the verdict to rustc: the first such instance, and what to say if rustc finds nothing wrong.
    Deferred { instance: usize, text: String, span: Span },
}

/// Compiles every instance of a kernel. Of which external constants the types can be asked for, `has_type` says.
pub(crate) fn all(
    cx: &mut Context,
    kernel: &Kernel<'_>,
    body: Vec<ast::Stmt>,
    parts: Parts,
    has_type: impl Fn(&Path) -> bool,
) -> Outcome {
    let Kernel { function, signature, instances, warnings, .. } = *kernel;
    let name = cx.ident(&function.sig.ident);
    // The library stands first, as its numbers say.
    let functions = library::functions().iter().cloned().chain(parts.functions).collect();
    let structs = parts.structs;
    let params: Option<Vec<ast::Param>> = signature.params.iter().map(|p| p.ast.clone()).collect();
    // Whatever made a parameter unreadable has been reported.
    let Some(params) = params else { return Outcome::Wrong };
    let generics = signature.generics.clone();
    let outers = cx.names.outers.iter().map(crate::read::path::key).collect();
    let kernel = ast::Kernel { name, generics, params, body, functions, structs, outers, sources: cx.sources() };
    let entry = Entry::new(&kernel, warnings, instances.iter().map(|instance| (&*instance.args, &*instance.configs)));
    let named = |instance: &Instance| spelling(&kernel.name.name, &instance.args, signature.kinds());
    if let Some(compiled) = entry.as_ref().and_then(Entry::find) {
        dump::write(instances, &compiled, named);
        return Outcome::Compiled(compiled);
    }
    let (mut needed, mut untyped) = (Vec::new(), Vec::new());
    let mut findings = Findings::default();
    let (mut compiled, mut deferred) = (Vec::new(), None);
    let mut results = each(&kernel, instances).into_iter();
    for (index, instance) in instances.iter().enumerate() {
        let mut configs = Vec::new();
        for result in results.by_ref().take(instance.configs.len()) {
            match result {
                Ok(config) => configs.push(config),
                Err(failure) if !failure.needed.is_empty() => {
                    needed.extend(failure.needed);
                    if !failure.deferred.is_empty() {
                        deferred.get_or_insert((index, failure.deferred));
                    }
                }
                Err(failure) if !failure.diagnostics.is_empty() => {
                    untyped.extend(failure.untyped);
                    findings.add(index, failure.diagnostics);
                }
                Err(failure) => {
                    deferred.get_or_insert((index, failure.deferred));
                }
            }
        }
        compiled.push(configs);
    }
    if needed.is_empty() {
        needed.extend(untyped.into_iter().filter(|&index| cx.names.outers.get(index).is_some_and(&has_type)));
    }
    // What only rustc can judge comes first: it may find that a constant does not exist.
    if !needed.is_empty() && deferred.is_none() {
        needed.sort_unstable();
        needed.dedup();
        return Outcome::Needed(needed);
    }
    if !findings.list.is_empty() {
        let name = |index: usize| spelling(&kernel.name.name, &instances[index].args, signature.kinds());
        for diagnostic in findings.finish(instances.len(), name) {
            cx.report(diagnostic);
        }
        return Outcome::Wrong;
    }
    if warnings != Some(false) && deferred.is_none() {
        let mut advice = Findings::default();
        // Default warnings apply to all instances, or to none.
        let asked = warnings == Some(true);
        for (index, instance) in instances.iter().enumerate().take(if asked { instances.len() } else { 1 }) {
            let instance = ast::Instance { args: instance.args.clone(), options: instance.configs[0] };
            let found = triton_core::advise(&kernel, &instance).into_iter();
            advice.add(index, found.filter(|advice| asked || advice.code.is_default_warning()).collect());
        }
        let name = |index: usize| spelling(&kernel.name.name, &instances[index].args, signature.kinds());
        advice.finish(if asked { instances.len() } else { 1 }, name).into_iter().for_each(|advice| cx.warn(advice));
        // Whether tiles fit depends on their sizes, and was found out with the code.
        let mut spills = Findings::default();
        for (index, configs) in compiled.iter().enumerate() {
            spills.add(index, configs.iter().filter_map(|config| config.spills.clone()).collect());
        }
        spills.finish(instances.len(), name).into_iter().for_each(|spill| cx.warn(spill));
    }
    match deferred {
        None => {
            dump::write(instances, &compiled, named);
            // What is only checked has no code, and what is warned of is said again.
            if let Some(entry) = entry.filter(|_| !crate::environment::only_checks() && !cx.warned()) {
                entry.keep(&compiled);
            }
            Outcome::Compiled(compiled)
        }
        Some((instance, deferred)) => {
            let span = deferred.first().map_or(kernel.name.span, |d| d.span);
            let text: Vec<String> = deferred.iter().map(ToString::to_string).collect();
            Outcome::Deferred { instance, text: text.join("\n"), span }
        }
    }
}

/// Compiles the configs of all instances, in their order. A macro runs on one thread of rustc's, and a pool of instances is often the last
/// thing that a build waits for: so they are divided among threads.
fn each(kernel: &ast::Kernel, instances: &[Instance]) -> Vec<Result<Compiled, Failure>> {
    let all = |instance: &Instance| {
        let args = instance.args.clone();
        instance.configs.iter().map(move |options| ast::Instance { args: args.clone(), options: *options }).collect()
    };
    let all: Vec<ast::Instance> = instances.iter().flat_map::<Vec<_>, _>(all).collect();
    // It depends on the thread that expands the macro.
    let only_checks = crate::environment::only_checks();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(all.len());
    if workers < 2 {
        return all.iter().map(|instance| one(kernel, instance, only_checks)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((number, instance)) = Some(next.fetch_add(1, Relaxed)).and_then(|n| Some((n, all.get(n)?))) {
            done.push((number, one(kernel, instance, only_checks)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let others =
            (1..workers).filter_map(|_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let mut done = work();
        // A worker does not panic: the compiler's panics are caught for each instance.
        done.extend(others.into_iter().filter_map(|worker| worker.join().ok()).flatten());
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Bytes of stack of a thread that compiles: as many as rustc's own has.
const STACK: usize = 16 << 20;

/// Compiles one instance. A panic of the compiler, and a failure without a reason, become diagnostics too.
fn one(kernel: &ast::Kernel, instance: &ast::Instance, only_checks: bool) -> Result<Compiled, Failure> {
    let compile = || {
        if only_checks { triton_core::check(kernel, instance) } else { triton_core::compile(kernel, instance) }
    };
    let result = catch_unwind(AssertUnwindSafe(compile));
    let mistake = |reason: String| {
        let message = "an internal compiler error, not a mistake in the kernel: please report it";
        let diagnostic = Diagnostic::new(Code::T0199, kernel.name.span, message).note(reason);
        Failure { diagnostics: vec![diagnostic], ..Failure::default() }
    };
    match result {
        Ok(Ok(mut compiled)) => {
            deflate(&mut compiled);
            Ok(compiled)
        }
        Ok(Err(failure)) if failure.diagnostics.is_empty() && failure.deferred.is_empty() => {
            Err(mistake("it gave no reason".into()))
        }
        Ok(Err(failure)) => Err(failure),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(mistake(text.unwrap_or_else(|| "it gave no reason".into())))
        }
    }
}

/// A diagnostic, and the instances that have it.
struct Finding {
    diagnostic: Diagnostic,
    instances: Vec<usize>,
    /// Whether the others say it with other numbers.
    varies: bool,
}

/// Diagnostics, one for each mistake: a shape or an extent may differ between instances.
#[derive(Default)]
struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, instance: usize, diagnostics: Vec<Diagnostic>) {
        for diagnostic in diagnostics {
            let key = |d: &Diagnostic| (d.span, d.code, without_numbers(&d.message));
            let own = key(&diagnostic);
            let Some(found) = self.list.iter_mut().find(|found| key(&found.diagnostic) == own) else {
                self.list.push(Finding { diagnostic, instances: vec![instance], varies: false });
                continue;
            };
            found.varies |= found.diagnostic.message != diagnostic.message;
            if found.instances.last() != Some(&instance) {
                found.instances.push(instance);
            }
        }
    }

    /// In the order of the source; an error that not all instances have names one that has it.
    fn finish(mut self, count: usize, name: impl Fn(usize) -> String) -> Vec<Diagnostic> {
        self.list.sort_by_key(|found| found.diagnostic.span);
        let named = self.list.into_iter().map(|Finding { diagnostic, instances, varies }| match instances.as_slice() {
            // A constant assertion is about the instance.
            [first, rest @ ..] if instances.len() < count || varies || diagnostic.code == Code::T0122 => {
                let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
                diagnostic.note(format!("in the instance `{}`{more}", name(*first)))
            }
            _ => diagnostic,
        });
        named.collect()
    }
}

/// A message with a mark in place of each number.
fn without_numbers(message: &str) -> String {
    let mut text = String::new();
    for c in message.chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            c => text.push(c),
        }
    }
    text
}
