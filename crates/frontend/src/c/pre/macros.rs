//! Macros: definition, expansion, `#` and `##`.

use super::Preprocessor;
use super::directives::spelled;
use crate::Diagnostic;
use crate::c::lexer::{Hidden, Kind, Token, Trail, hidden_names, tokens};
use crate::c::limits;
use program::Span;
use std::rc::Rc;

/// A macro.
#[derive(Debug)]
pub(super) struct CMacro {
    /// Its parameters, if it takes any; `__VA_ARGS__` is the last of a variadic one.
    parameters: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Vec<Token>,
}

/// The arguments of a call and its closing parenthesis.
type Called = (Vec<Vec<Token>>, Token);

/// Macros that change from place to place.
const CHANGING: &[&str] = &["__FILE__", "__LINE__", "__COUNTER__", "__BASE_FILE__", "__INCLUDE_LEVEL__"];

impl Preprocessor<'_> {
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name) || CHANGING.contains(&name)
    }

    pub(super) fn define(&mut self, word: &Token, rest: &[Token]) -> Result<(), Diagnostic> {
        let name = self.name_of(rest.first(), word)?;
        if name.is_name("defined") || name.is_name("__VA_ARGS__") {
            return Err(self.files.error(name, format!("`{}` cannot be a macro", name.text)));
        }
        let mut at = 1;
        let (mut parameters, mut variadic) = (None, false);
        if rest.get(1).is_some_and(|token| token.is("(") && !token.blank) {
            let mut list: Vec<Rc<str>> = Vec::new();
            at = 2;
            loop {
                match rest.get(at) {
                    Some(token) if token.is(")") => break,
                    Some(token) if token.is("...") => {
                        variadic = true;
                        // `args...` names the rest, a bare `...` is called __VA_ARGS__.
                        if at == 2 || rest[at - 1].is(",") {
                            list.push("__VA_ARGS__".into());
                        }
                    }
                    Some(token) if token.kind == Kind::Name && !variadic => list.push(Rc::clone(&token.text)),
                    Some(token) if token.is(",") && !variadic => {}
                    token => {
                        let token = token.unwrap_or(word);
                        return Err(self.files.error(token, "this is no list of macro parameters"));
                    }
                }
                at += 1;
            }
            at += 1;
            parameters = Some(list);
        }
        let mut body = rest[at..].to_vec();
        if let Some(first) = body.first_mut() {
            first.blank = false;
        }
        if let (Some(first), Some(last)) = (body.first(), body.last())
            && (first.is("##") || last.is("##"))
        {
            return Err(self.files.error(first, "`##` needs something on both sides"));
        }
        self.macros.insert(Rc::clone(&name.text), Rc::new(CMacro { parameters, variadic, body }));
        Ok(())
    }

    /// The token itself, or nothing if it was a macro: then what that makes comes next.
    pub(super) fn expand(&mut self, token: Token) -> Result<Option<Token>, Diagnostic> {
        if token.kind != Kind::Name || token.hides(&token.text) {
            return Ok(Some(token));
        }
        if CHANGING.contains(&&*token.text) && !self.macros.contains_key(&token.text) {
            return Ok(Some(self.changing(&token)));
        }
        if token.is_name("_Pragma") {
            return Ok(self.arguments(&token, 1, false)?.is_none().then_some(token));
        }
        let Some(found) = self.macros.get(&token.text).cloned() else { return Ok(Some(token)) };
        let trail = Rc::new(Trail {
            name: Rc::clone(&token.text),
            called: token.written,
            outer: token.trail.clone(),
        });
        let (mut arguments, mut common, mut span) = (Vec::new(), token.hidden.clone(), token.span);
        if let Some(parameters) = &found.parameters {
            let Some(called) = self.arguments(&token, parameters.len(), found.variadic)? else {
                return Ok(Some(token));
            };
            let close = called.1;
            (arguments, common) = (called.0, intersection(&token.hidden, &close));
            span = if token.trail.is_none() { span.to(close.span) } else { span };
        }
        let hidden = hide(&token.text, common);
        let made = self.substitute(&found, &arguments, (&token, span), &trail, &hidden)?;
        self.pending.extend(made.into_iter().rev());
        Ok(None)
    }

    fn changing(&mut self, token: &Token) -> Token {
        let mut made = token.clone();
        made.kind = Kind::Number;
        // Inside a macro, the place is the outermost call's.
        let written = token.trails().last().map_or(token.written, |trail| trail.called);
        let text = match &*token.text {
            "__LINE__" => self.files.position(written).1.to_string(),
            "__COUNTER__" => {
                self.counter += 1;
                (self.counter - 1).to_string()
            }
            "__INCLUDE_LEVEL__" => self.reading.len().saturating_sub(1).to_string(),
            _ => {
                let file = if &*token.text == "__BASE_FILE__" { 0 } else { written.file as usize };
                let name = self.files.list.get(file).map_or("", |source| source.name());
                made.kind = Kind::Text;
                format!("{name:?}")
            }
        };
        made.text = text.into();
        made
    }

    /// The arguments of a call and its closing parenthesis; nothing if no `(` follows.
    fn arguments(
        &mut self,
        name: &Token,
        wanted: usize,
        variadic: bool,
    ) -> Result<Option<Called>, Diagnostic> {
        match self.next_raw()? {
            Some(token) if token.is("(") => {}
            Some(token) => {
                self.pending.push(token);
                return Ok(None);
            }
            None => return Ok(None),
        }
        let mut arguments = vec![Vec::new()];
        let mut open = 0usize;
        loop {
            let Some(token) = self.next_raw()? else {
                return Err(self
                    .files
                    .error(name, format!("the call of the macro `{}` does not end", name.text)));
            };
            let last = arguments.len();
            match &*token.text {
                ")" if token.kind == Kind::Sign && open == 0 => {
                    return self.counted(name, arguments, wanted, variadic).map(|found| Some((found, token)));
                }
                "," if token.kind == Kind::Sign && open == 0 && !(variadic && last >= wanted) => {
                    arguments.push(Vec::new());
                    continue;
                }
                "(" if token.kind == Kind::Sign => open += 1,
                ")" if token.kind == Kind::Sign => open -= 1,
                _ => {}
            }
            arguments[last - 1].push(token);
        }
    }

    fn counted(
        &self,
        name: &Token,
        mut arguments: Vec<Vec<Token>>,
        wanted: usize,
        variadic: bool,
    ) -> Result<Vec<Vec<Token>>, Diagnostic> {
        if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if variadic && arguments.len() + 1 == wanted {
            arguments.push(Vec::new());
        }
        if arguments.len() == wanted {
            return Ok(arguments);
        }
        let message = format!("the macro `{}` takes {wanted} arguments, not {}", name.text, arguments.len());
        Err(self.files.error(name, message))
    }

    /// All macros of a list of tokens expanded, with nothing behind it.
    pub(super) fn expand_all(&mut self, list: Vec<Token>) -> Result<Vec<Token>, Diagnostic> {
        self.depth += 1;
        if let Some(first) = list.first().filter(|_| self.depth > limits::ARGUMENTS) {
            let message = format!("macro calls are more than {} deep inside each other", limits::ARGUMENTS);
            return Err(self.files.error(first, message));
        }
        let pending = std::mem::replace(&mut self.pending, list.into_iter().rev().collect());
        let reading = std::mem::take(&mut self.reading);
        let done = self.all();
        self.reading = reading;
        self.pending = pending;
        self.depth -= 1;
        done
    }

    /// What a call makes: the body with arguments in place of parameters.
    fn substitute(
        &mut self,
        found: &CMacro,
        arguments: &[Vec<Token>],
        (call, span): (&Token, Span),
        trail: &Rc<Trail>,
        hidden: &Option<Rc<Hidden>>,
    ) -> Result<Vec<Token>, Diagnostic> {
        let mut out: Vec<Token> = Vec::new();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let names = found.parameters.as_deref().unwrap_or_default();
        let parameter = |token: Option<&Token>| {
            let token = token.filter(|token| token.kind == Kind::Name)?;
            names.iter().position(|name| *name == token.text)
        };
        let body = &found.body;
        let mut at = 0;
        while let Some(token) = body.get(at) {
            self.spend(call)?;
            let pasted = body.get(at + 1).is_some_and(|next| next.is("##"));
            if token.is("#") && found.parameters.is_some() {
                let Some(index) = parameter(body.get(at + 1)) else {
                    return Err(self.files.error(call, "`#` in a macro needs a parameter behind it"));
                };
                let mut made = token.clone();
                (made.kind, made.text) = (Kind::Text, quoted(&arguments[index]).into());
                out.push(made);
                at += 2;
                continue;
            }
            if token.is("##") && at > 0 {
                at += 1;
                let right = match (parameter(body.get(at)), body.get(at)) {
                    (Some(index), _) => arguments[index].clone(),
                    (None, Some(token)) => vec![token.clone()],
                    (None, None) => Vec::new(),
                };
                // `, ## __VA_ARGS__` drops the comma where nothing follows.
                let rest = parameter(body.get(at)) == names.len().checked_sub(1) && found.variadic;
                if rest && out.last().is_some_and(|last| last.is(",")) {
                    match right.is_empty() {
                        true => drop(out.pop()),
                        false => out.extend(right),
                    }
                } else {
                    self.paste(&mut out, right, call)?;
                }
                at += 1;
                continue;
            }
            let Some(index) = parameter(Some(token)) else {
                out.push(token.clone());
                at += 1;
                continue;
            };
            let mut made = match (pasted, &expanded[index]) {
                (true, _) => arguments[index].clone(),
                (false, Some(known)) => known.clone(),
                (false, None) => {
                    let made = self.expand_all(arguments[index].clone())?;
                    expanded[index] = Some(made.clone());
                    made
                }
            };
            // `##` finds a token beside it where an argument is empty.
            if made.is_empty() && pasted {
                made.push(Token { kind: Kind::Other, text: "".into(), ..token.clone() });
            }
            made.first_mut().into_iter().for_each(|first| first.blank = token.blank);
            out.extend(made);
            at += 1;
        }
        Ok(self.finished(out, (call, span), trail, hidden))
    }

    /// What was made, with what every token of it must know.
    fn finished(
        &self,
        mut made: Vec<Token>,
        (call, span): (&Token, Span),
        trail: &Rc<Trail>,
        hidden: &Option<Rc<Hidden>>,
    ) -> Vec<Token> {
        made.retain(|token| !token.text.is_empty());
        for (at, token) in made.iter_mut().enumerate() {
            token.first = false;
            if at == 0 {
                token.blank = call.blank;
            }
            token.hidden = union(&token.hidden, hidden);
            // Arguments stand for themselves if they are written in the main text.
            let inside = token.written.file == 0
                && token.trail.is_none()
                && span.start <= token.written.span.start
                && token.written.span.end <= span.end
                && call.trail.is_none();
            let argument =
                inside && token.span == token.written.span && token.written.span != call.written.span;
            if !argument {
                token.span = span;
            }
            token.trail = Some(Rc::clone(trail));
        }
        made
    }

    /// Makes one token of the last so far and the first of `right`.
    fn paste(&mut self, out: &mut Vec<Token>, right: Vec<Token>, call: &Token) -> Result<(), Diagnostic> {
        let mut right = right.into_iter();
        let Some(first) = right.next() else { return Ok(()) };
        let Some(left) = out.pop() else {
            out.push(first);
            out.extend(right);
            return Ok(());
        };
        let text = format!("{}{}", left.text, first.text);
        let list = tokens(&text, left.written.file, Some(left.span)).unwrap_or_default();
        let mut made = match list.as_slice() {
            [one] => one.clone(),
            [] => left.clone(),
            _ => {
                let message = format!("`{}` and `{}` do not make one token", left.text, first.text);
                return Err(self.files.error(call, message));
            }
        };
        made.written = left.written;
        made.blank = left.blank;
        made.first = false;
        made.hidden = intersection(&left.hidden, &first);
        out.push(made);
        out.extend(right);
        Ok(())
    }
}

fn hide(name: &Rc<str>, more: Option<Rc<Hidden>>) -> Option<Rc<Hidden>> {
    Some(Rc::new(Hidden { name: Rc::clone(name), more }))
}

fn intersection(hidden: &Option<Rc<Hidden>>, other: &Token) -> Option<Rc<Hidden>> {
    let both = hidden_names(hidden).filter(|name| other.hides(name));
    both.fold(None, |rest, name| hide(name, rest))
}

fn union(a: &Option<Rc<Hidden>>, b: &Option<Rc<Hidden>>) -> Option<Rc<Hidden>> {
    if a.is_none() {
        return b.clone();
    }
    let more = hidden_names(a).filter(|name| hidden_names(b).all(|known| known != *name));
    more.fold(b.clone(), |rest, name| hide(name, rest))
}

/// Tokens as a string.
fn quoted(argument: &[Token]) -> String {
    let mut out = String::from("\"");
    for (at, token) in argument.iter().enumerate() {
        if at > 0 && (token.blank || token.first) {
            out.push(' ');
        }
        let escape = matches!(token.kind, Kind::Text | Kind::Char);
        for c in spelled(std::slice::from_ref(token)).chars() {
            if escape && (c == '"' || c == '\\') {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out.push('"');
    out
}
