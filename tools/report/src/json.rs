//! The pages of the program's JSON objects, from the types that write and read them: names, kinds and
//! the documentation of every key.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::{
    Expr, ExprLit, Fields, GenericArgument, Item, ItemStruct, Lit, Meta, PathArguments, Type,
};

use crate::Failure;

/// Names of the pages, and what stands around the tables; `{{Name}}` is the table of a type, and
/// nothing else on its line.
const PAGES: [(&str, &str); 2] =
    [("json.md", include_str!("../pages/json.md")), ("api.md", include_str!("../pages/api.md"))];

/// Every type whose name ends so has to be on a page.
const ENDING: &str = "Json";

/// Types whose names end so are read and not written: what may be null may be left out.
const READ: &str = "Request";

/// The objects by the names of their types.
type Types = BTreeMap<String, Vec<Key>>;

/// The pages by their names, from the sources in some folders.
pub fn markdown(sources: &[PathBuf]) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut types = Types::new();
    for folder in sources {
        collect(folder, &mut types)?;
    }
    let (mut pages, mut used) = (Vec::new(), Vec::new());
    for (name, template) in PAGES {
        let mut page = String::new();
        for line in template.lines() {
            match line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
                None => page += line,
                Some(name) => {
                    let found = types.get(name);
                    used.push(name);
                    let found = found.ok_or_else(|| format!("there is no type {name}"))?;
                    page += &table(found, &types)?;
                }
            }
            page.push('\n');
        }
        pages.push((name, page));
    }
    let keys = types.values().flatten();
    let inner: Vec<String> =
        keys.filter(|key| key.flattened).filter_map(|key| last(&key.ty)).collect();
    let missing: Vec<_> = types
        .keys()
        .filter(|name| name.ends_with(ENDING))
        .filter(|name| !used.contains(&name.as_str()) && !inner.contains(name))
        .collect();
    if missing.is_empty() { Ok(pages) } else { Err(format!("not on a page: {missing:?}").into()) }
}

/// A key of an object, or an object whose keys stand in this one.
struct Key {
    name: String,
    ty: Type,
    optional: bool,
    flattened: bool,
    /// Written by a function of its own: a name.
    named: bool,
    doc: String,
}

fn collect(folder: &Path, types: &mut Types) -> Result<(), Failure> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, types)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = syn::parse_file(&fs::read_to_string(&path)?)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            for item in file.items {
                if let Item::Struct(item) = item
                    && is_serialized(&item)
                {
                    let name = item.ident.to_string();
                    if types.insert(name.clone(), keys(&item)?).is_some() && name.ends_with(ENDING)
                    {
                        return Err(format!("{name} is the name of two types").into());
                    }
                }
            }
        }
    }
    Ok(())
}

/// What the types of JSON objects derive: those that are read do not derive the first.
const NAMES: [&str; 2] = ["Serialize", "Deserialize"];

fn is_serialized(item: &ItemStruct) -> bool {
    let mut derives = item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
    derives.any(|derive| {
        let parser = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
        derive
            .parse_args_with(parser)
            .is_ok_and(|names| names.iter().any(|name| NAMES.iter().any(|one| name.is_ident(one))))
    })
}

fn keys(item: &ItemStruct) -> Result<Vec<Key>, Failure> {
    let Fields::Named(fields) = &item.fields else { return Ok(Vec::new()) };
    let mut keys = Vec::new();
    for field in &fields.named {
        let ident = field.ident.as_ref().expect("a named field").to_string();
        let (mut name, mut doc) = (ident, String::new());
        let (mut optional, mut flattened, mut named) = (false, false, false);
        for attribute in &field.attrs {
            if let Meta::NameValue(value) = &attribute.meta
                && value.path.is_ident("doc")
                && let Some(text) = literal(&value.value)
            {
                doc += &text;
            }
            if attribute.path().is_ident("serde") {
                let parser = Punctuated::<Meta, syn::Token![,]>::parse_terminated;
                for meta in attribute.parse_args_with(parser)? {
                    match meta {
                        Meta::Path(path) => flattened |= path.is_ident("flatten"),
                        Meta::NameValue(value) if value.path.is_ident("rename") => {
                            name = literal(&value.value).ok_or("rename to something")?;
                        }
                        Meta::NameValue(value) => {
                            optional |= value.path.is_ident("skip_serializing_if");
                            named |= value.path.is_ident("with");
                        }
                        Meta::List(_) => {}
                    }
                }
            }
        }
        let read = item.ident.to_string().ends_with(READ);
        optional |= read && last(&field.ty).is_some_and(|ty| ty == "Option");
        let doc = doc.trim().to_owned();
        keys.push(Key { name, ty: field.ty.clone(), optional, flattened, named, doc });
    }
    Ok(keys)
}

fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The last name of a path.
fn last(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// What a value is, in words.
fn kind(ty: &Type, optional: bool, types: &Types) -> String {
    let Type::Path(path) = ty else { return "value".to_owned() };
    let segment = path.path.segments.last().expect("a path has segments");
    let inner = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|one| match one {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    };
    let name = segment.ident.to_string();
    match (name.as_str(), inner) {
        ("Option", Some(inner)) if optional => kind(inner, false, types),
        ("Option", Some(inner)) => format!("{} or null", kind(inner, false, types)),
        ("Vec", Some(inner)) => format!("list: {}", kind(inner, false, types)),
        ("Box", Some(inner)) => kind(inner, false, types),
        // `Number` is a proof number.
        (
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i32" | "i64" | "f64"
            | "Number",
            _,
        ) => "number".to_owned(),
        ("bool", _) => "true or false".to_owned(),
        (name, _) if types.contains_key(name) => format!("[{name}](#{})", name.to_lowercase()),
        // Texts, and names such as those of outcomes.
        _ => "text".to_owned(),
    }
}

fn table(keys: &[Key], types: &Types) -> Result<String, Failure> {
    let mut text = "| key | value | meaning |\n|---|---|---|".to_owned();
    rows(keys, types, &mut text)?;
    Ok(text)
}

fn rows(keys: &[Key], types: &Types, text: &mut String) -> Result<(), Failure> {
    for Key { name, ty, optional, flattened, named, doc } in keys {
        if *flattened {
            let inner = last(ty).and_then(|inner| types.get(&inner));
            rows(inner.ok_or_else(|| format!("{name} is of no type here"))?, types, text)?;
            continue;
        }
        let kind = if *named { "text".to_owned() } else { kind(ty, *optional, types) };
        let absent = if *optional { ", or absent" } else { "" };
        let doc = doc.replace('|', "\\|");
        let _ = write!(text, "\n| `{name}` | {kind}{absent} | {doc} |");
    }
    Ok(())
}
