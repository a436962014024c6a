//! Amounts: signed, with decimals, with a magnitude; of money or of a unit.

use super::phrase::{elided_hundred, in_words_and_digits};
use super::reader::{cardinal, digit_of, digits, scale_of, small};
use super::units::unit;

/// A number as it is written.
#[derive(Debug, PartialEq)]
pub(super) struct Amount {
    pub text: String,
    pub used: usize,
    /// It has a point or keeps a magnitude as a word.
    pub is_decimal: bool,
    pub is_one: bool,
}

/// The amount at the head of `window`: "minus sixty point two", "two million", "point zero two".
pub(super) fn amount(window: &[&str]) -> Option<Amount> {
    let sign = matches!(window.first(), Some(&("minus" | "negative")));
    let rest = &window[usize::from(sign)..];
    let (whole, used) = match cardinal(rest) {
        Some((value, used)) => (Some((value, in_words_and_digits(value, &rest[..used]))), used),
        None => (None, 0),
    };
    let mut amount = Amount {
        text: String::new(),
        used,
        is_decimal: false,
        is_one: !sign && whole.as_ref().is_some_and(|(value, _)| *value == 1),
    };
    if let Some((fraction, words)) = fraction(&rest[used..]) {
        let whole = whole.map(|(value, _)| value.to_string()).unwrap_or_default();
        amount.text = format!("{whole}.{fraction}");
        amount.used += words;
        (amount.is_decimal, amount.is_one) = (true, false);
        // "five point two million"
        if let Some(scale) = rest.get(amount.used).filter(|key| scale_of(key).is_some()) {
            amount.text.push_str(&format!(" {scale}"));
            amount.used += 1;
        }
    } else {
        let (value, text) = whole?;
        amount.is_decimal = text.contains(' ');
        // "ten thousand million": not a number that anybody writes so.
        let goes_on = rest.get(used).is_some_and(|key| small(key).is_some() || scale_of(key).is_some());
        if goes_on {
            return None;
        }
        amount.text = if amount.is_decimal { text } else { value.to_string() };
    }
    if sign {
        amount.text.insert(0, '-');
        amount.used += 1;
    }
    Some(amount)
}

/// The digits after "point", and how many words they take with it.
fn fraction(window: &[&str]) -> Option<(String, usize)> {
    if window.first() != Some(&"point") {
        return None;
    }
    let spelled: String = window[1..].iter().map_while(|key| digit_of(key)).collect();
    let (text, used) = match spelled.len() {
        0 => cardinal(&window[1..]).filter(|(value, _)| *value < 100).map(|(value, used)| (value.to_string(), used))?,
        used => (spelled, used),
    };
    Some((text, used + 1))
}

/// A currency: what stands before the number, and the names that go with it.
struct Currency {
    sign: &'static str,
    /// Blank-separated where one word names it.
    names: &'static [&'static str],
}

const CURRENCIES: [Currency; 24] = [
    Currency { sign: "$", names: &["dollar", "dollars"] },
    Currency { sign: "US$", names: &["us dollar", "us dollars", "u s dollar", "u s dollars"] },
    Currency { sign: "CA$", names: &["canadian dollar", "canadian dollars"] },
    Currency { sign: "A$", names: &["australian dollar", "australian dollars"] },
    Currency { sign: "NZ$", names: &["new zealand dollar", "new zealand dollars"] },
    Currency { sign: "HK$", names: &["hong kong dollar", "hong kong dollars"] },
    Currency { sign: "€", names: &["euro", "euros"] },
    Currency { sign: "£", names: &["pound", "pounds", "pound sterling", "pounds sterling", "british pounds"] },
    Currency { sign: "¥", names: &["yen", "japanese yen"] },
    Currency { sign: "₩", names: &["won", "korean won"] },
    Currency { sign: "₹", names: &["rupee", "rupees", "indian rupees"] },
    Currency { sign: "₪", names: &["shekel", "shekels"] },
    Currency { sign: "₽", names: &["ruble", "rubles", "rouble", "roubles"] },
    Currency { sign: "₺", names: &["turkish lira"] },
    Currency { sign: "฿", names: &["baht"] },
    Currency { sign: "₿", names: &["bitcoin", "bitcoins"] },
    Currency { sign: "CHF ", names: &["swiss franc", "swiss francs"] },
    Currency { sign: "DKK ", names: &["danish krone", "danish kroner"] },
    Currency { sign: "NOK ", names: &["norwegian krone", "norwegian kroner"] },
    Currency { sign: "SEK ", names: &["swedish krona", "swedish kronor"] },
    Currency { sign: "CZK ", names: &["czech koruna", "czech korunas"] },
    Currency { sign: "AED ", names: &["emirati dirham", "emirati dirhams"] },
    Currency { sign: "SAR ", names: &["saudi riyal", "saudi riyals"] },
    Currency { sign: "PHP ", names: &["philippine peso", "philippine pesos"] },
];

/// The sign of the currency that `window` begins with, how many words name it, and whether it is named as one.
pub(super) fn currency(window: &[&str]) -> Option<(&'static str, usize, bool)> {
    (1..=window.len().min(3)).rev().find_map(|used| {
        let name = window[..used].join(" ");
        let found = CURRENCIES.iter().find(|currency| currency.names.contains(&name.as_str()))?;
        let singular = !name.ends_with('s') && matches!(found.sign, "$" | "€" | "£");
        Some((found.sign, used, singular))
    })
}

/// All of `window` as an amount of money.
pub(super) fn money(window: &[&str]) -> Option<String> {
    // "fifty cents", "one cent".
    if let Some((value, used)) = cardinal(window) {
        let sign = match window[used..] {
            ["cent"] if value == 1 => Some("$"),
            ["cents"] if value != 1 => Some("$"),
            ["penny"] if value == 1 => Some("£"),
            ["pence"] if value != 1 => Some("£"),
            _ => None,
        };
        if let Some(sign) = sign {
            return Some(format!("{sign}{}.{:02}", value / 100, value % 100));
        }
    }
    // "one fifty five dollars" is 155 of them.
    let elided = |window: &[&str]| {
        let (text, used) = elided_hundred(window)?;
        Some(Amount { text, used, is_decimal: false, is_one: false })
    };
    let Amount { text, used, is_decimal, is_one } = elided(window).or_else(|| amount(window))?;
    let (sign, words, singular) = currency(&window[used..])?;
    // "one dollars" is a slip of some other kind.
    if is_one && !singular && matches!(sign, "$" | "€" | "£") {
        return None;
    }
    let minus = if text.starts_with('-') { "-" } else { "" };
    let number = text.trim_start_matches('-');
    let rest = &window[used + words..];
    if rest.is_empty() {
        return Some(format!("{minus}{sign}{number}"));
    }
    let cents = rest.strip_prefix(&["and"]).unwrap_or(rest);
    let (value, n) = cardinal(cents).filter(|(value, _)| *value < 100 && !is_decimal)?;
    let named = matches!(cents[n..], ["cents" | "cent" | "pence" | "penny"]);
    let unnamed = cents[n..].is_empty() && value >= 10 && cents.len() == rest.len();
    (named || unnamed).then(|| format!("{minus}{sign}{number}.{value:02}"))
}

/// All of `window` as a number with a unit.
pub(super) fn measure(window: &[&str]) -> Option<String> {
    let Amount { text, used, .. } = amount(window).or_else(|| {
        let (text, used) = digits(window).filter(|(_, used)| *used > 1)?;
        Some(Amount { text, used, is_decimal: false, is_one: false })
    })?;
    let (symbol, words) = unit(&window[used..])?;
    // "forty second" counts what came before, not time.
    if window[used..] == ["second"] && text != "1" {
        return None;
    }
    let space = if matches!(symbol.as_str(), "°" | "″") { "" } else { " " };
    (used + words == window.len()).then(|| format!("{text}{space}{symbol}"))
}

/// All of `window` as a number with a point or a magnitude.
pub(super) fn decimal(window: &[&str]) -> Option<String> {
    let Amount { text, used, is_decimal, .. } = amount(window)?;
    let rest = &window[used..];
    // A currency without a sign of its own stays a word.
    let noun = match rest {
        [] => String::new(),
        [noun @ ("yuan" | "renminbi" | "pesos" | "francs" | "kroner" | "kronor" | "rand" | "zloty" | "dirhams")] => {
            format!(" {noun}")
        }
        _ => return None,
    };
    is_decimal.then(|| format!("{text}{noun}"))
}
