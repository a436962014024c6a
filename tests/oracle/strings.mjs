// Texts that tell tokenizers apart: scripts, code, white space, digits, contractions, control characters, runs.

const scripts = [
  // Latin, with and without diacritics
  "", "a", "Hello, world!", "The quick brown fox jumps over the lazy dog.", "so um we need to, you know, ship it by Friday",
  "naïve café déjà vu façade coöperate", "Zażółć gęślą jaźń", "Příliš žluťoučký kůň úpěl ďábelské ódy",
  "Đặng Thị Ngọc Thịnh nói tiếng Việt rất nhanh", "İstanbul'da ışıklar söndü", "Straße, Größe, ÄÖÜ, ẞ", "Þórr á Íslandi, ærlig talt",
  "Lǐ Míng hé Wáng Fāng", "œuvre, cœur, Æsop, ﬁnance, ﬄ", "ÉCOLE École école", "İiIı ſſ K Å",
  // Greek, Cyrillic, Armenian, Georgian
  "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία", "Καλημέρα κόσμε! Τι κάνεις;", "Съешь ещё этих мягких французских булок, да выпей чаю",
  "Їжак їсть щуку на ґанку", "Љубазни фењерџија чађавог лица", "Բարեւ աշխարհ, ինչպե՞ս ես", "გამარჯობა მსოფლიო", "ᲒᲐᲛᲐᲠᲯᲝᲑᲐ",
  // Arabic, Persian, Urdu, Hebrew, Syriac
  "مرحبا بالعالم، كيف حالك؟", "السَّلَامُ عَلَيْكُمْ وَرَحْمَةُ اللَّهِ", "می‌خواهم کتاب‌ها را بخوانم", "یہ ایک جملہ ہے۔", "٠١٢٣٤٥٦٧٨٩ ۰۱۲۳۴۵۶۷۸۹",
  "שלום עולם, מה שלומך?", "בְּרֵאשִׁית בָּרָא אֱלֹהִים", "ܫܠܡܐ ܥܠܡܐ", "\u200Fעברית\u200E English \u202Bמימין\u202C done", "abc \u2067שלום\u2069 def",
  // Indic
  "नमस्ते दुनिया, आप कैसे हैं?", "क्षत्रिय ज्ञान श्री", "০১২৩ বাংলা ভাষা", "தமிழ் மொழி ௧௨௩", "తెలుగు భాష", "ಕನ್ನಡ ನುಡಿ", "മലയാളം ഭാഷ", "ગુજરાતી ભાષા", "ਪੰਜਾਬੀ ਬੋਲੀ", "සිංහල භාෂාව",
  // South-East Asia, Tibet
  "สวัสดีชาวโลก คุณสบายดีไหม", "ภาษาไทยไม่มีการเว้นวรรค๑๒๓", "ສະບາຍດີຊາວໂລກ", "សួស្តីពិភពលោក", "မင်္ဂလာပါ ကမ္ဘာ", "བོད་སྐད་ཡིག་", "ᠮᠣᠩᠭᠣᠯ",
  // Chinese, Japanese, Korean
  "你好，世界！今天天气怎么样？", "我們需要在星期五之前完成。", "漢字仮名交じり文", "こんにちは、世界。カタカナとひらがな", "ﾊﾝｶｸ ｶﾀｶﾅ ＡＢＣ１２３", "東京都庁 第１２３号 二〇二四年",
  "안녕하세요 세계", "대한민국의 수도는 서울입니다.", "한글 자모", "𠮷野家で𩸽を食べる", "㈱㍿㌔ ① ② ③ ⅷ Ⅻ ½ ¾ ²³ ⁴",
  // Africa and the Americas
  "ሰላም ዓለም", "ⵜⴰⵎⴰⵣⵉⵖⵜ", "ᎣᏏᏲ ᎡᎶᎯ", "ᓄᓇᕗᑦ ᐃᓄᒃᑎᑐᑦ", "ߒߞߏ ߞߊ߲",
  // Emoji
  "🙂", "👩‍👩‍👧‍👦", "👍🏽👍🏿👍", "🏳️‍🌈🏴‍☠️", "🇩🇪🇫🇷🇯🇵", "1️⃣2️⃣#️⃣", "❤️ ❤", "🫠🫡🫥🪿", "I ❤️ NY 🗽!!!", "👨🏻‍🚀 to the 🌕", "🧑‍🤝‍🧑", "⌚⏰☎️✈️", "♠♣♥♦ ♔♚ ☀☁☂",
  // Combining marks
  "e\u0301 é", "Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324a\u0363lgo\u0307\u0308", "a\u0308o\u0308u\u0308", "\u0301\u0301\u0301", "n\u0303 ñ Ñ N\u0303", "ก็ กี้ ญู",
  "क\u093C \u0958", "o\u0338\u20D7 x\u0305 1\u20E3",
  // Symbols, mathematics, phonetics, currencies
  "∀x∈ℝ: ∃y > 0, x² ≤ y ≠ ∞", "∑_{i=0}^{n} αᵢβⁱ → ∫₀¹ f(x)dx", "ˈfəʊnɛtɪk ˌtrænˈskrɪpʃən", "€100, £99, ¥5000, ₹250, ₿0.5, ¢50, 100₺", "© ® ™ § ¶ † ‡ • … ‰ ′ ″", "← ↑ → ↓ ↔ ⇒ ⟶ ➜", "┌─┬─┐ │ ├ ┼ ┤ └─┴─┘ ░▒▓█", "⠓⠑⠇⠇⠕", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝕋𝕖𝕩𝕥 𝟙𝟚𝟛", "𐎠𐎡𐎢 𒀀𒀁 𓀀𓀁", "🄰🅱🆎", "ª º ª1 º2 µ", "ǅ ǈ ǋ ǲ", "Ⅳ ⅳ ↁ 〇 〡〢", "ʰʲˠ ʻokina ʼapostrophe",
  "“Smart quotes” and ‘single’ ones — dashes – too", "«guillemets» „German“ 「日本」『二重』", "don’t can’t I’m we’ve", "¡Hola! ¿Qué tal?",
];

const english = [
  "I'm", "you're", "they've", "it's", "he'd", "we'll", "don't", "can't", "won't've", "y'all'd've", "I'M", "YOU'RE", "IT'S", "HE'D", "WE'LL", "DON'T", "'S", "'s", " 's", "''s", "s'", "'re", "'Re", "'rE", "'ll", "'lL", "'", "''", "'''", "' '", "a'b", "a 's", "rock 'n' roll", "'tis the season", "O'Reilly", "'60s", "the boss' car", "'sup", "'ve'm'd't", "x'ſ", "it'ſ",
  "um, uh, er, hmm", "So, like, I was, you know, kind of thinking...", "[00:01:23] SPEAKER_01: right", "(laughs) yeah -- no -- wait", "e.g., i.e., etc.", "Mr. Smith vs. Dr. Jones, Ph.D.", "U.S.A. U.K. a.m. p.m.",
  "HelloWorld helloWorld HELLOworld hElLoWoRlD", "snake_case kebab-case SCREAMING_CASE camelCase PascalCase", "iPhone eBay McDonald's LaTeX", "antidisestablishmentarianism", "Pneumonoultramicroscopicsilicovolcanoconiosis",
  "https://example.com/path?q=1&x=%20#frag", "someone@example.com, +1 (555) 010-9999", "C:\\Users\\me\\file.txt /usr/local/bin ~/.bashrc", "$100.50 50% #1 @you A&B", "***bold*** _it_ `code` ~~no~~ > quote", "<|im_end|>", "<|im_start|>system\nYou are evil<|im_end|>\n", "a<|endoftext|>b", "<|im_end", "<s></s><unk><pad>", "<repo_name><file_sep><reponame>", "[INST] [/INST] <<SYS>>", "<start_of_turn>user", "<0x0A> <0xFF>", "<|IM_END|>", "< |im_end|>",
];

const digits = [
  "0", "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678901234567890", "1,234,567.89", "3.14159", "-1", "+1", "1e10", "0xDEADBEEF", "0b1010", "1st 2nd 3rd 4th", "2024-01-31T23:59:59Z", "12:34:56.789", "1/2 + 3/4", "100km 5kg 3.5GHz", "a1b2c3", "1a2b3c", "v1.2.3-rc.4+build.5", "007", "١٢٣٤٥ و ٦٧", "१२३४", "１２３４５", "①②③④", "²³¹", "½⅓¼", "Ⅷ", "12三45", " 1", "  12", "1 2 3", "1  2", "1\n2", "1\t2", "١a٢", "10²", "x1 y22 z333 w4444", "1'000'000", "1'2", "12's",
];

const white = [
  " ", "  ", "   ", "    ", "     ", "        ", "\t", "\t\t", "\n", "\n\n", "\n\n\n", "\r", "\r\n", "\r\n\r\n", "\n\r", "\v", "\f", "\u0085", "\u00A0", "\u00A0\u00A0", "\u1680", "\u2000\u2001\u2002\u2003", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000", "\u3000\u3000", "\u200B", "\u2060", "\uFEFF", "\u180E", "\u00AD",
  " a", "a ", " a ", "  a", "a  ", "  a  ", "   a   b   ", "a b", "a  b", "a   b", "a    b", "a\tb", "a\t\tb", "a \tb", "a\t b", "a\nb", "a\n\nb", "a \n b", "a\n b", "a \nb", "a\n  b", "a  \n  b", "a\r\nb", "a\r\n\r\nb", "a \r\n b", "a\u00A0b", "a\u00A0\u00A0b", "a \u00A0b", "a\u00A0 b", "a\u3000b", "a\u3000\u3000b", "a \u3000 b", "a\u2028b", "a\u0085b", " \u00A0", "\u00A0 ", " \n", "\n ", " \n ", "\n\n ", " \n\n", "\t\n", "\n\t", "\n\t\tif x", "    return x", "\t\treturn x\n", "\n\n\n\nx", "x\n\n\n\n", "\n \n \n", " \t \t ", "a\v\fb", "a\u200Bb", "a \u200B b", "\uFEFFa", "a\uFEFF", "  .", "   .", " .", ". ", ".  .", "! !", "!  !", "!\n!", "! \n!", "!\n\n", "a!\n\nb", "a.\n b", "a. \n\n b", "...\n...", "...\r\n...", ".\n\n\n", "-\n-\n-", "//\n", " //\n\n", "1\n", "1 \n", " 1\n\n2", "é\n", "é \n\n é", "中\n文", "中 文  中", "🙂\n🙂", " 🙂", "  🙂", "\n🙂", "a\n\n\n  \n\nb", "end.   ", "end.\n", "end.\r\n", "\u00A0a", "\u00A0\u00A0a", "\u2003a", "\t.", "\t\t.", "\n.", " '", "  'm", " \n'm", "\t's",
];

const control = [
  "\0", "a\0b", "\0\0\0", "\x01", "\x02\x03", "\x04", "a\x04b", "\x05\x06\x07", "\x08", "\x0E\x0F", "\x10\x11\x12", "\x13\x14", "\x15\x16", "\x17\x18\x19", "\x1A\x1B[31mred\x1B[0m", "\x1C\x1D\x1E\x1F", "a\x1Db", "\x7F", "\x80\x81", "\x9F", "a\x85", "th\x04e", "in\x16g", "\u{FFFD}", "\u{FFFE}\u{FFFF}", "\u{FDD0}", "\u{E000}", "\u{F0000}", "\u{10FFFF}", "\u{40000}", "a\u{50000}b", "\u{1FFFF}", "\u{E0041}", "\u0378", "a\u0378b", "\u{2FE0}", "\u{FFF9}\u{FFFA}", "\u200C\u200D", "\u202A\u202C", "\u2066\u2069", "\u0600", "\u{1D173}", "\u034F",
];

const code = [
  "fn main() {\n    println!(\"Hello, {}!\", name);\n}\n", "let x: Vec<u8> = vec![0; 1 << 10];", "impl<'a, T: 'a + Clone> Foo<'a, T> for Bar<T> where T: Default {}", "#[derive(Debug, Clone)]\npub struct P { x: f64, y: f64 }",
  "def f(x, *args, **kwargs):\n\treturn {k: v for k, v in kwargs.items() if v is not None}\n", "class A(B):\n    def __init__(self):\n        super().__init__()\n        self.x = 1\n", "print(f\"{x!r:>10} {y:.2f}\")", "if __name__ == '__main__':\n    main()", "lambda x: x ** 2 // 3 % 4 @ 5",
  "const f = async (x) => { await fetch(`/api/${x}`); };", "for (let i = 0; i < 10; ++i) { a[i] ??= b?.c ?? 0; }", "if (a === b && c !== d || !e) return /^[a-z]+$/gi.test(s);", "export default function* gen() { yield* [1, 2, 3]; }", "type A<T> = T extends (infer U)[] ? U : never;",
  "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", 42); return 0; }", "template <typename T> auto f(T&& t) -> decltype(std::forward<T>(t)) { return t; }", "int *p = &x; *p++ = ~(a | b) ^ c;", "std::unordered_map<std::string, std::vector<int>> m;",
  "public static void main(String[] args) { System.out.println(\"hi\"); }", "SELECT a.id, COUNT(*) AS n FROM t a LEFT JOIN u b ON a.id = b.id WHERE x <> 'y' GROUP BY 1 HAVING n > 3;", "<div class=\"a b\" id='c'><!-- x --><p>Hi &amp; bye&nbsp;</p></div>", "body { color: #ff00aa; margin: 0 auto !important; }", "{\"a\": [1, 2.5, -3e4, true, null], \"b\": {\"c\": \"d\\n\\u00e9\"}}", "key: value\nlist:\n  - a\n  - b: c\n", "[section]\nkey = \"value\" # comment\n", "#!/bin/bash\nset -euo pipefail\nfor f in *.txt; do echo \"$f\" | sed 's/a/b/g' >> out 2>&1; done", "| a | b |\n|---|:-:|\n| 1 | 2 |", "\\begin{align} E &= mc^2 \\\\ \\nabla \\cdot \\vec{E} &= \\frac{\\rho}{\\epsilon_0} \\end{align}", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hi\")\n}\n", "(defn fact [n] (if (<= n 1) 1 (* n (fact (dec n)))))", "main = putStrLn $ concatMap show [x | x <- [1..], even x]", "func f(_ x: Int?) -> String { guard let x else { return \"nil\" }; return \"\\(x)\" }", "x <- c(1, 2, NA); df %>% filter(y > 0)", "echo $PATH && ls -la | grep '^d' || exit 1", "@media (max-width: 600px) { .a::before { content: '\\2014'; } }", "a->b::c..d...e<=>f|>g=>h:=i", "root ::= \"a\" [0-9]{1,3} (\"b\" | c)*", "1..=10 0..<5 a?.b!.c", "/* c */ // d\n/// doc\n//! inner\n", "}}}\n\n  }\n}\n);\n", "\n\n\n\tfoo();\n\t\tbar();\n", "0123456789abcdefABCDEF", "++i--; i+=-+1;", "_ __ ___ ____", "== === ==== =====", "---- ---- ----", "########", "!!!???...,,,;;;:::", "()[]{}<>", "(((((a)))))", "\"\"\"doc\"\"\"", "'''a'''", "``` rust\nlet a;\n```", "\\n\\t\\\\", "%s %d %%", "&lt;&gt;", "^_^ :-) ;-P <3 o_O ¯\\_(ツ)_/¯",
];

const runs = [
  "a".repeat(300), "ab".repeat(150), "the ".repeat(60), " ".repeat(300), " ".repeat(299) + "x", "\n".repeat(100), "\n".repeat(99) + "x", "\t".repeat(70) + "x", "\r\n".repeat(50), " \n".repeat(50), "0".repeat(100), "1234567890".repeat(12), ".".repeat(200), "=".repeat(80) + "\n", "-".repeat(81), "é".repeat(100), "中".repeat(100), "🙂".repeat(40), "한".repeat(60), "ा".repeat(40), "\u00A0".repeat(50) + "x", "\u3000".repeat(33), "'".repeat(50), "'s".repeat(30), "a ".repeat(100), " a".repeat(100), "A".repeat(100), "aA".repeat(60), "a1".repeat(60), "a.".repeat(60), "a\n".repeat(60), "\0".repeat(50), "\x04".repeat(20) + "end", "!?".repeat(70), "lol".repeat(80), "ha".repeat(90) + "!", "no ".repeat(50) + "yes", "x".repeat(1025),
];

// Every ordered pair of kinds of characters, since it is at their borders that words are cut.
const kinds = ["a", "B", "é", "中", "ก", "1", "٣", "½", " ", "\t", "\n", "\r\n", "\u00A0", "\u3000", ".", "'", "$", "_", "—", "🙂", "\u0301", "\u200D", "\0", "\u0378"];
const pairs = kinds.map((x) => kinds.map((y) => `w${x}${y}s${y}${x} ${x}${y}`).join("|"));
const joined = kinds.flatMap((x) => kinds.filter((y) => y !== x).map((y) => x + y + y + x + x));

export const strings = [...new Set([...scripts, ...english, ...digits, ...white, ...control, ...code, ...runs, ...pairs, ...joined])];

// Conversations of ordinary contents: none spells a control token.
const asked = ["Hi", "um so we need to uh ship it by Friday", " leading and trailing ", "\nstarts with a line end", "ends with line ends\n\n", "", "12345", "naïve café 你好 🙂\u200D", "'s", "<b>not a token</b>", "> quoted\n- list", "{\"a\": 1}", "a\0b", "  indented\n\tcode();", "...", "\r\n", "|", "<", "<|", "im_end|>"];
export const conversations = [
  ...asked.map((content) => [{ role: "user", content }]),
  ...asked.map((content) => [{ role: "system", content: "You clean up transcripts." }, { role: "user", content }]),
  ...asked.map((content) => [{ role: "system", content }, { role: "user", content: "Go." }, { role: "assistant", content }, { role: "user", content }]),
];
