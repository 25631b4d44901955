//! Which variables a piece of a body assigns to: what a loop carries, and what branches yield.
//!
//! `break`, `continue` and `return` set a flag, which is a variable, too: one for each loop that is left or continued, and one for the
//! kernel. So what an exit skips is an ordinary `if`, and a loop that it ends carries its flag.

use crate::ast::{Exit, Expr, ExprKind, Pattern, Stmt};

/// The flag of an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// The loop inside this many others ends.
    Break(usize),
    /// Its iteration ends.
    Continue(usize),
    /// The program ends.
    Return,
}

impl Flag {
    /// That of an exit inside this many loops.
    pub fn of(exit: Exit, loops: usize) -> Flag {
        match exit {
            Exit::Break(levels) => Flag::Break(loops.saturating_sub(levels + 1)),
            Exit::Continue(levels) => Flag::Continue(loops.saturating_sub(levels + 1)),
            Exit::Return => Flag::Return,
        }
    }

    /// Whether it belongs to one of the outermost loops, this many, or to the kernel.
    fn is_outside(self, loops: usize) -> bool {
        match self {
            Flag::Break(of) | Flag::Continue(of) => of < loops,
            Flag::Return => true,
        }
    }

    /// Its name; no variable of the user's has a space in it.
    pub fn name(self) -> String {
        match self {
            Flag::Break(of) => format!("break {of}"),
            Flag::Continue(of) => format!("continue {of}"),
            Flag::Return => "return 0".to_owned(),
        }
    }

    /// Whether a variable is a flag.
    pub fn is(name: &str) -> bool {
        name.contains(' ')
    }
}

/// Looks for the variables that blocks assign to and that are declared outside them. An exit assigns to its flag.
#[derive(Default)]
pub(super) struct Assigned {
    /// What was found, each once, in order.
    pub names: Vec<String>,
    /// Names that the blocks around have declared so far.
    declared: Vec<String>,
    /// Loops around the current statement.
    loops: usize,
    /// Those of them that are not looked through.
    outside: usize,
}

impl Assigned {
    /// Nothing found yet, inside this many loops.
    pub fn inside(loops: usize) -> Assigned {
        Assigned { loops, outside: loops, ..Assigned::default() }
    }

    /// Statements, which are a scope.
    pub fn block(&mut self, stmts: &[Stmt], tail: Option<&Expr>) {
        let outside = self.declared.len();
        stmts.iter().for_each(|stmt| self.stmt(stmt));
        tail.into_iter().for_each(|tail| self.expr(tail));
        self.declared.truncate(outside);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { target, value, .. } => {
                if !self.declared.contains(&target.name) {
                    self.found(target.name.clone());
                }
                self.expr(value);
            }
            Stmt::Exit(exit, _) => {
                let flag = Flag::of(*exit, self.loops);
                if flag.is_outside(self.outside) {
                    self.found(flag.name());
                }
            }
            Stmt::Let { pattern, init, .. } => {
                self.expr(init);
                self.declare(pattern);
            }
            Stmt::Expr(expr) => self.expr(expr),
            Stmt::For { start, end, step, body, .. } => {
                [start, end].into_iter().chain(step).for_each(|e| self.expr(e));
                self.body(body);
            }
            Stmt::While { cond, body, .. } => {
                self.expr(cond);
                self.body(body);
            }
            Stmt::Assert { cond, .. } => self.expr(cond),
            Stmt::Print { args, .. } => args.iter().for_each(|e| self.expr(e)),
            Stmt::Const { .. } | Stmt::ConstAssert { .. } => {}
        }
    }

    fn found(&mut self, name: String) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// The body of a loop.
    fn body(&mut self, stmts: &[Stmt]) {
        self.loops += 1;
        self.block(stmts, None);
        self.loops -= 1;
    }

    fn declare(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name { name, .. } => self.declared.push(name.name.clone()),
            Pattern::Wild => {}
            Pattern::Tuple(parts, _) => parts.iter().for_each(|part| self.declare(part)),
        }
    }

    /// Only blocks and branches hold statements.
    pub fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Block(stmts, tail) => self.block(stmts, tail.as_deref()),
            ExprKind::If(cond, then, otherwise) => {
                [cond, then].into_iter().chain(otherwise).for_each(|e| self.expr(e));
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a, _) | ExprKind::Field(a, _) => self.expr(a),
            ExprKind::Binary(_, _, a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            ExprKind::Call(_, args) | ExprKind::Tuple(args) | ExprKind::Array(args) => {
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Method { receiver, args, .. } => {
                self.expr(receiver);
                args.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Bool(_) | ExprKind::Path(_) | ExprKind::Closure(..) => {
            }
        }
    }
}
