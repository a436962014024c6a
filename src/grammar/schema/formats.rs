//! Formats of JSON Schema (draft 2020-12, validation, 7.3), as regular expressions.

use crate::grammar::expr::Expr;
use crate::grammar::regex::{Beside, read};

/// The texts of a format; `None` of one that is not known here.
///
/// What is narrower than the documents say: no seconds of more than nine digits; leap seconds only at 23:59:60Z; no
/// quoted local parts and no address literals in `email`; no two hyphens in a row in names of hosts.
pub(super) fn format(name: &str) -> Option<Expr> {
    let pattern = match name {
        "date" => date(),
        "time" => time(),
        "date-time" => format!("{}[Tt]{}", date(), time()),
        "duration" => duration(),
        // RFC 9562, 4.
        "uuid" => "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}".to_owned(),
        // RFC 5321, 4.1.2: Dot-string "@" Domain.
        "email" => {
            let (atom, label) = ("[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]", label(31));
            // Together at most 64 characters.
            let local =
                format!("({atom}{{1,64}}|{atom}{{1,31}}\\.{atom}{{1,32}}|{atom}{{1,12}}(\\.{atom}{{1,12}}){{2,4}})");
            format!("{local}@{label}(\\.{label}){{1,2}}")
        }
        "hostname" => hostname(),
        "ipv4" => ipv4(),
        "ipv6" => ipv6(),
        "uri" => uri(),
        // RFC 6901, 3.
        "json-pointer" => "(/([^~/]|~[01])*)*".to_owned(),
        _ => return None,
    };
    Some(read(&pattern, Beside::Nothing).expect("the pattern of a format is sound"))
}

/// RFC 3339, 5.6: full-date, with the days that the month has.
fn date() -> String {
    let leap = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29";
    let long = "(01|03|05|07|08|10|12)-(0[1-9]|[12][0-9]|3[01])";
    let short = "(04|06|09|11)-(0[1-9]|[12][0-9]|30)";
    let february = "02-(0[1-9]|1[0-9]|2[0-8])";
    format!("([0-9]{{4}}-({long}|{short}|{february})|{leap})")
}

/// RFC 3339, 5.6: full-time.
fn time() -> String {
    let clock = "([01][0-9]|2[0-3]):[0-5][0-9]";
    let fraction = "(\\.[0-9]{1,9})?";
    format!("({clock}:[0-5][0-9]{fraction}([Zz]|[+-]{clock})|23:59:60{fraction}[Zz])")
}

/// RFC 3339, appendix A.
fn duration() -> String {
    let n = "[0-9]{1,9}";
    let time = format!("T({n}H({n}M({n}S)?)?|{n}M({n}S)?|{n}S)");
    format!("P(({n}Y({n}M({n}D)?)?|{n}M({n}D)?|{n}D)({time})?|{time}|{n}W)")
}

/// RFC 1123, 2.1: a label of at most `2 * more + 1` characters.
fn label(more: u32) -> String {
    format!("[A-Za-z0-9](-?[A-Za-z0-9]){{0,{more}}}")
}

/// RFC 1123, 2.1: labels of at most 63 characters, 253 together.
fn hostname() -> String {
    let (long, short) = (label(31), label(14));
    format!("({long}(\\.{long}){{0,2}}|{short}(\\.{short}){{0,7}})")
}

/// RFC 2673, 3.2: dotted-quad.
fn ipv4() -> String {
    let byte = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("{byte}(\\.{byte}){{3}}")
}

/// RFC 3986, 3.2.2: IPv6address.
fn ipv6() -> String {
    let group = "[0-9a-fA-F]{1,4}";
    let last = format!("({group}:{group}|{})", ipv4());
    // `::` stands for one group or more: the more stand before it, the fewer may follow.
    let before = |most: u32| match most {
        0 => String::new(),
        most => format!("({group}(:{group}){{0,{}}})?", most - 1),
    };
    let shortened: Vec<String> =
        (0..=5).map(|most| format!("{}::({group}:){{{}}}{last}", before(most), 5 - most)).collect();
    format!("(({group}:){{6}}{last}|{}|{}::{group}|{}::)", shortened.join("|"), before(6), before(7))
}

/// RFC 3986, appendix A.
fn uri() -> String {
    let escaped = "%[0-9A-Fa-f]{2}";
    let of = |more: &str| format!("([A-Za-z0-9._~!$&'()*+,;={more}-]|{escaped})");
    let (name, user, path, tail) = (of(""), of(":"), of(":@"), of(":@/?"));
    let authority = format!("//({user}*@)?(\\[{}\\]|{name}*)(:[0-9]*)?(/{path}*)*", ipv6());
    let hierarchy = format!("({authority}|/({path}+(/{path}*)*)?|{path}+(/{path}*)*|)");
    format!("[A-Za-z][A-Za-z0-9+.-]*:{hierarchy}(\\?{tail}*)?(#{tail}*)?")
}
