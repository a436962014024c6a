//! Units of measure and their symbols.

/// Units that take the prefixes of the SI, and their symbols.
const PREFIXED: [(&str, &str); 29] = [
    ("meter", "m"),
    ("metre", "m"),
    ("gram", "g"),
    ("gramme", "g"),
    ("liter", "l"),
    ("litre", "l"),
    ("watt hour", "Wh"),
    ("watt", "W"),
    ("hertz", "Hz"),
    ("volt", "V"),
    ("ampere", "A"),
    ("amp", "A"),
    ("byte", "B"),
    ("bit", "b"),
    ("pascal", "Pa"),
    ("joule", "J"),
    ("second", "s"),
    ("siemens", "S"),
    ("farad", "F"),
    ("coulomb", "C"),
    ("newton", "N"),
    ("calorie", "cal"),
    ("calory", "cal"),
    ("ohm", "Ω"),
    ("electron volt", "eV"),
    ("gray", "Gy"),
    ("sievert", "Sv"),
    ("becquerel", "Bq"),
    ("mole", "mol"),
];

const PREFIXES: [(&str, &str); 14] = [
    ("kilo", "k"),
    ("mega", "M"),
    ("giga", "G"),
    ("tera", "T"),
    ("peta", "P"),
    ("exa", "E"),
    ("hecto", "h"),
    ("deca", "da"),
    ("deci", "d"),
    ("centi", "c"),
    ("milli", "m"),
    ("micro", "μ"),
    ("nano", "n"),
    ("pico", "p"),
];

const OTHERS: [(&str, &str); 52] = [
    ("mile", "mi"),
    ("foot", "ft"),
    ("feet", "ft"),
    ("inch", "″"),
    ("inche", "″"),
    ("yard", "yd"),
    ("ounce", "oz"),
    ("fluid ounce", "fl oz"),
    ("gallon", "gal"),
    ("acre", "ac"),
    ("stone", "st"),
    ("hour", "h"),
    ("minute", "min"),
    ("hectare", "ha"),
    ("horsepower", "hp"),
    ("horse power", "hp"),
    ("c c", "cc"),
    ("knot", "kt"),
    ("decibel", "dB"),
    ("lumen", "lm"),
    ("candela", "cd"),
    ("lux", "lx"),
    ("kelvin", "K"),
    ("degree kelvin", "K"),
    ("celsius", "°C"),
    ("degree celsius", "°C"),
    ("degree centigrade", "°C"),
    ("fahrenheit", "°F"),
    ("degree fahrenheit", "°F"),
    ("degree", "°"),
    ("astronomical unit", "au"),
    ("atomic mass unit", "amu"),
    ("light year", "ly"),
    ("dalton", "Da"),
    ("atmosphere", "atm"),
    ("bar", "bar"),
    ("radian", "rad"),
    ("tesla", "T"),
    ("weber", "Wb"),
    ("henry", "H"),
    ("hundredweight", "cwt"),
    ("kilogram force", "kgf"),
    ("milligram force", "mgf"),
    ("gram force", "gf"),
    ("revolution", "r"),
    ("tonne", "t"),
    ("barrel", "bbl"),
    ("pixel", "px"),
    ("dot per inch", "dpi"),
    ("frame per second", "fps"),
    ("r p m", "rpm"),
    ("m p h", "mph"),
];

/// The most words in the name of a unit.
const MAX_WORDS: usize = 3;

/// The symbol of the unit at the head of `window`, a quotient of two included, and how many words it takes.
pub(super) fn unit(window: &[&str]) -> Option<(String, usize)> {
    if let ["per", "cent", ..] = window {
        return Some(("%".to_owned(), 2));
    }
    if window.first() == Some(&"percent") {
        return Some(("%".to_owned(), 1));
    }
    let (above, used) = match window.first() {
        Some(&"per") => (String::new(), 0),
        _ => power(window)?,
    };
    if window.get(used) != Some(&"per") {
        return Some((above, used));
    }
    let (below, words) = power(&window[used + 1..])?;
    let symbol = match (above.as_str(), below.as_str()) {
        ("mi", "h") => "mph".to_owned(),
        ("r", "min") => "rpm".to_owned(),
        (bits, "s") if bits.ends_with('b') && bits.len() <= 2 => format!("{bits}ps"),
        _ => format!("{above}/{below}"),
    };
    Some((symbol, used + 1 + words))
}

/// A unit, perhaps squared or cubed. Feet and miles are squared in words.
fn power(window: &[&str]) -> Option<(String, usize)> {
    let (power, word) = match *window.first()? {
        "square" => ("²", "sq"),
        "cubic" => ("³", "cu"),
        _ => return simple(window),
    };
    let (symbol, used) = simple(&window[1..])?;
    let imperial = matches!(symbol.as_str(), "mi" | "ft" | "yd" | "″");
    Some((if imperial { format!("{word} {symbol}") } else { format!("{symbol}{power}") }, used + 1))
}

fn simple(window: &[&str]) -> Option<(String, usize)> {
    (1..=MAX_WORDS.min(window.len())).rev().find_map(|used| {
        let name = window[..used].join(" ");
        Some((symbol(&name).or_else(|| symbol(&singular(&name)?))?, used))
    })
}

/// "kilo watt hours" → "kilo watt hour", "degrees celsius" → "degree celsius", "kilograms force" → "kilogram force".
fn singular(name: &str) -> Option<String> {
    let mut found = false;
    let words: Vec<&str> = name
        .split(' ')
        .map(|word| match word.strip_suffix('s') {
            Some(stem) if stem.len() > 2 && !matches!(word, "celsius" | "siemens" | "lux") => {
                found = true;
                stem
            }
            _ => word,
        })
        .collect();
    found.then(|| words.join(" "))
}

fn symbol(name: &str) -> Option<String> {
    let find = |table: &[(&str, &'static str)], name: &str| {
        table.iter().find(|(unit, _)| *unit == name).map(|(_, symbol)| *symbol)
    };
    if let Some(symbol) = find(&OTHERS, name).or_else(|| find(&PREFIXED, name)) {
        return Some(symbol.to_owned());
    }
    PREFIXES.iter().find_map(|(prefix, sign)| {
        let base = name.strip_prefix(prefix)?;
        Some(format!("{sign}{}", find(&PREFIXED, base.trim_start())?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols() {
        let table = [
            ("kilometers", "km"),
            ("square meter", "m²"),
            ("cubic deci meters", "dm³"),
            ("square feet", "sq ft"),
            ("per square kilometer", "/km²"),
            ("kilo watt hours", "kWh"),
            ("gigabits per second", "Gbps"),
            ("miles per hour", "mph"),
            ("kilograms force per square centimeter", "kgf/cm²"),
            ("degrees celsius", "°C"),
            ("mega siemens", "MS"),
            ("micrometers", "μm"),
            ("c c", "cc"),
        ];
        for (name, symbol) in table {
            let window: Vec<&str> = name.split(' ').collect();
            assert_eq!(unit(&window), Some((symbol.to_owned(), window.len())), "{name}");
        }
        assert_eq!(unit(&["people"]), None);
        assert_eq!(unit(&["meters", "away"]), Some(("m".to_owned(), 1)));
    }
}
