//! The attributes as rustc calls them, within this process: a file's items are expanded, hidden macros are answered, and
//! what comes out is messages with their spans, and kernels.
//!
//! It needs no rustc, so that a message costs microseconds and is the same under each version. What rustc has to judge
//! (names, types of host code, lints) has cases of its own in `messages/fail`.

use proc_macro2::{Delimiter, Group, LineColumn, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};
use triton_core::embed::Header;

/// What the attributes of a file give.
#[derive(Default)]
pub struct Expansion {
    /// Errors and warnings, in the order of the source, each once.
    pub messages: Vec<Message>,
    /// Each config of each instance of the kernels.
    pub kernels: Vec<Kernel>,
    /// Hidden macros that were called and do not exist.
    pub unresolved: Vec<String>,
}

/// A config of a kernel's instance, as it is embedded.
pub struct Kernel {
    /// The instance as the user writes it: `add::<f32, 1024>`.
    pub instance: String,
    /// The number of the config, from 0.
    pub config: usize,
    /// The tile IR at stage 0.
    pub ir: String,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The line it points at, from 1, and the column, from 0.
    pub start: (usize, usize),
    /// What is beyond the last token.
    pub end: (usize, usize),
    /// The text, with notes and helps as lines of their own.
    pub text: String,
}

/// Expands the attributes of a file.
///
/// # Errors
/// The file cannot be parsed.
pub fn expand(text: &str) -> Result<Expansion, String> {
    // Texts that were parsed earlier in this thread are kept for their spans, of which none is left.
    proc_macro2::extra::invalidate_current_thread_spans();
    let file =
        syn::parse_file(text).map_err(|e| format!("{}:{}: {e}", e.span().start().line, e.span().start().column))?;
    let mut items = Items::default();
    items.visit_file(&file);
    let mut expander = Expander { aliases: items.aliases, ..Expander::default() };
    expander.process(triton_syntax::built_ins());
    expander.pending = items.found.into_iter().map(Some).collect();
    for index in 0..expander.pending.len() {
        expander.expand(index);
    }
    let mut done = expander.done;
    done.messages.sort();
    done.messages.dedup();
    Ok(done)
}

/// An item with one of the attributes.
struct Attributed {
    attribute: String,
    args: TokenStream,
    name: String,
    item: TokenStream,
}

/// The attributed items of a file, and what its `use` declarations rename.
#[derive(Default)]
struct Items {
    found: Vec<Attributed>,
    aliases: BTreeMap<String, String>,
}

const ATTRIBUTES: [&str; 4] = ["kernel", "function", "constant", "params"];

impl<'a> Visit<'a> for Items {
    fn visit_item(&mut self, item: &'a Item) {
        let mut bare = item.clone();
        let removed = attributes(&mut bare).and_then(|attrs| {
            let at = attrs.iter().position(|attr| name_of(attr).is_some())?;
            Some(attrs.remove(at))
        });
        let Some(attr) = removed else { return visit::visit_item(self, item) };
        let args = attr.meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
        let attribute = name_of(&attr).unwrap_or_default();
        self.found.push(Attributed { attribute, args, name: name_of_item(item), item: bare.into_token_stream() });
    }

    fn visit_use_tree(&mut self, tree: &'a UseTree) {
        if let UseTree::Rename(rename) = tree {
            self.aliases.insert(rename.rename.to_string(), rename.ident.to_string());
        }
        visit::visit_use_tree(self, tree);
    }
}

fn name_of(attr: &Attribute) -> Option<String> {
    let last = attr.path().segments.last()?.ident.to_string();
    let ours = attr.path().segments.len() > 1 && ATTRIBUTES.contains(&last.as_str());
    ours.then_some(last)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        Item::Fn(item) => &mut item.attrs,
        Item::Const(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Static(item) => &mut item.attrs,
        Item::Trait(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        _ => return None,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn name_of_item(item: &Item) -> String {
    match item {
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        _ => String::new(),
    }
}

/// The state of an expansion.
#[derive(Default)]
struct Expander {
    pending: Vec<Option<Attributed>>,
    aliases: BTreeMap<String, String>,
    /// What the hidden macro of a name adds: its id, and its parts.
    macros: BTreeMap<String, (TokenTree, TokenStream)>,
    /// The tile IR of the configs whose instance has not been met: it stands after them.
    configs: Vec<String>,
    done: Expansion,
}

impl Expander {
    fn expand(&mut self, index: usize) {
        let Some(Attributed { attribute, args, item, .. }) = self.pending[index].take() else { return };
        let tokens = match attribute.as_str() {
            "kernel" => triton_syntax::kernel(args, item),
            "function" => triton_syntax::function(args, item),
            "constant" => triton_syntax::constant(args, item),
            _ => triton_syntax::params(args, item),
        };
        self.process(tokens);
    }

    /// Looks for what matters in an expansion.
    fn process(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let group =
                |offset: usize| if let Some(TokenTree::Group(g)) = trees.get(at + offset) { Some(g) } else { None };
            let word = |offset: usize| trees.get(at + offset).map(ToString::to_string).unwrap_or_default();
            match tree {
                TokenTree::Ident(name) if name == "compile_error" => {
                    let Some(text) = group(2) else { continue };
                    self.message(name.span(), text.span(), literal(&text.stream()));
                }
                TokenTree::Ident(name) if name == "macro_rules" => {
                    if let Some(rules) = group(3) {
                        self.declare(&word(2), rules, &trees[at..]);
                    }
                }
                // `static IR_0: &str = "..";`, or `static IR_0: &[u8] = b"..";` of what is deflated.
                TokenTree::Ident(name) if name == "static" && word(1).starts_with("IR_") => {
                    let text = trees.get(at + 6).cloned().map(TokenStream::from);
                    self.configs.extend(text.and_then(|text| embedded(&text)));
                }
                TokenTree::Ident(name) if name == "KernelMetadata" && word(3) == "new" => {
                    if let Some(arguments) = group(4) {
                        self.instance(arguments);
                    }
                }
                // The rules of a hidden macro have messages of their own.
                TokenTree::Group(_) if at >= 3 && trees[at - 3].to_string() == "macro_rules" => {}
                TokenTree::Group(group) => match (call(group), deprecated(group)) {
                    (Some(call), _) => self.answer(call),
                    // A warning is a use of a constant that is deprecated for this reason, as the last token.
                    (None, Some(text)) => {
                        let last = trees[at..].last().map_or_else(Span::call_site, TokenTree::span);
                        self.message(last, last, Some(format!("warning: {text}")));
                    }
                    (None, None) => self.process(group.stream()),
                },
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn message(&mut self, first: Span, last: Span, text: Option<String>) {
        let at = |LineColumn { line, column }| (line, column);
        if let Some(text) = text {
            self.done.messages.push(Message { start: at(first.start()), end: at(last.end()), text });
        }
    }

    /// `KernelMetadata::new(Cow::Borrowed(kernel), Cow::Borrowed(instance), ..)`, which its configs precede.
    fn instance(&mut self, arguments: &Group) {
        let names = groups(arguments.stream()).filter_map(|group| literal(&group.stream()));
        let instance = names.take(2).last().unwrap_or_default();
        let configs = std::mem::take(&mut self.configs).into_iter().enumerate();
        self.done.kernels.extend(configs.map(|(config, ir)| Kernel { instance: instance.clone(), config, ir }));
    }

    /// `macro_rules! hidden { (..) => { .. { $($parts)* (.. => "id") parts } }; .. } .. use hidden as name;`
    fn declare(&mut self, hidden: &str, rules: &Group, after: &[TokenTree]) {
        let Some(name) = after.windows(3).find_map(|w| {
            let names = w[0].to_string() == hidden && w[1].to_string() == "as";
            names.then(|| w[2].to_string())
        }) else {
            return;
        };
        let inner = |group: Group| groups(group.stream()).last();
        let added = groups(rules.stream()).nth(1).and_then(inner).and_then(inner);
        let Some(added) = added else { return };
        // `$ (..) * (meaning)`, then the parts.
        let mut added = added.stream().into_iter().skip(3);
        let Some(TokenTree::Group(meaning)) = added.next() else { return };
        if let Some(id) = meaning.stream().into_iter().last() {
            self.macros.insert(name, (id, added.collect()));
        }
    }

    /// Answers a call of hidden macros: each adds its part, and the last calls `link!`.
    fn answer(&mut self, call: Call) {
        let mut parts = TokenStream::new();
        for path in call.paths {
            let name = path.clone().into_iter().last().map(|last| last.to_string()).unwrap_or_default();
            let Some((id, more)) = self.macro_of(&name) else {
                self.done.unresolved.push(name);
                return;
            };
            parts.extend(quote!((#path => #id) #more));
        }
        let (word, head) = (format_ident!("v1"), call.head);
        self.process(triton_syntax::link(quote!(#word #head { #parts })));
    }

    fn macro_of(&mut self, name: &str) -> Option<(TokenTree, TokenStream)> {
        let declared = |pending: &[Option<Attributed>], name: &str| {
            pending
                .iter()
                .position(|item| item.as_ref().is_some_and(|item| item.name == name && item.attribute != "kernel"))
        };
        for name in [Some(name), self.aliases.get(name).cloned().as_deref()].into_iter().flatten() {
            if let Some(index) = declared(&self.pending, name) {
                self.expand(index);
            }
            if let Some(found) = self.macros.get(name) {
                return Some(found.clone());
            }
        }
        None
    }
}

/// A call of a hidden macro: `{ v1 [finish] [[second] ..] [first] {head} {parts} }`, or of `link!` without a path.
struct Call {
    paths: Vec<TokenStream>,
    head: TokenTree,
}

fn call(group: &Group) -> Option<Call> {
    let trees: Vec<TokenTree> = group.stream().into_iter().collect();
    let stream = |tree: &TokenTree| if let TokenTree::Group(g) = tree { g.stream() } else { TokenStream::new() };
    match &trees[..] {
        [TokenTree::Ident(word), head @ TokenTree::Group(inner), TokenTree::Group(_)]
            if *word == "v1" && inner.delimiter() == Delimiter::Brace =>
        {
            Some(Call { paths: Vec::new(), head: head.clone() })
        }
        [TokenTree::Ident(word), TokenTree::Group(_), rest, first, head @ TokenTree::Group(_), TokenTree::Group(_)]
            if *word == "v1" =>
        {
            let paths = std::iter::once(stream(first)).chain(stream(rest).into_iter().map(|tree| stream(&tree)));
            Some(Call { paths: paths.collect(), head: head.clone() })
        }
        _ => None,
    }
}

/// The reason of `[deprecated(note = "..")]`.
fn deprecated(group: &Group) -> Option<String> {
    let mut trees = group.stream().into_iter();
    let (Some(TokenTree::Ident(word)), Some(TokenTree::Group(reason))) = (trees.next(), trees.next()) else {
        return None;
    };
    let text = reason.stream().into_iter().last().filter(|_| word == "deprecated")?;
    literal(&text.into())
}

fn groups(tokens: TokenStream) -> impl Iterator<Item = Group> {
    tokens.into_iter().filter_map(|tree| if let TokenTree::Group(group) = tree { Some(group) } else { None })
}

/// The IR behind the header of a literal.
fn embedded(tokens: &TokenStream) -> Option<String> {
    let bytes = syn::parse2::<syn::LitByteStr>(tokens.clone()).ok().map(|bytes| bytes.value());
    let bytes = bytes.or_else(|| literal(tokens).map(String::into_bytes))?;
    let (header, stored) = Header::find(&bytes).next()?;
    match header.stored < header.len {
        true => String::from_utf8(miniz_oxide::inflate::decompress_to_vec(stored).ok()?).ok(),
        false => String::from_utf8(stored.to_vec()).ok(),
    }
}

fn literal(tokens: &TokenStream) -> Option<String> {
    syn::parse2::<syn::LitStr>(tokens.clone()).ok().map(|text| text.value())
}
