//! GGUF files, sound and lying, whole and in pieces.

mod gguf_support;

use std::cell::Cell;

use fairhand::gguf::{Assemble, Header, LoadProgress, Loader, Scan, TensorInfo, limits, scan};
use fairhand::{ErrorKind, Result};
use gguf_support::{Collect, Collected, File, load_in_pieces};
use proptest::prelude::*;

const F32: u32 = 0;
const Q8_0: u32 = 8;

/// Two tensors after some pairs of every type.
fn sound() -> File {
    let mut file = File::new(2, 14).key("general.architecture", 8).string("none").alignment(32);
    for (key, value_type, bytes) in [
        ("u8", 0, 1),
        ("i8", 1, 1),
        ("u16", 2, 2),
        ("i16", 3, 2),
        ("i32", 5, 4),
        ("f32", 6, 4),
        ("u64", 10, 8),
        ("i64", 11, 8),
        ("f64", 12, 8),
    ] {
        file = file.key(key, value_type).data(bytes);
    }
    file.key("bool", 7)
        .u8(1)
        .key("strings", 9)
        .u32(8)
        .u64(2)
        .string("first")
        .string("")
        .key("nested", 9)
        .u32(9)
        .u64(2)
        .u32(6)
        .u64(3)
        .data(12)
        .u32(7)
        .u64(2)
        .u8(0)
        .u8(1)
        .tensor("a", &[4, 3], F32, 0)
        .tensor("b", &[64, 2], Q8_0, 64)
        .pad(32)
        .data(48)
        .pad(32)
        .data(136)
        .pad(32)
}

#[track_caller]
fn header(file: &File) -> Header {
    match scan(&file.0, Some(file.0.len() as u64)) {
        Ok(Scan::Header(header)) => header,
        other => panic!("no header: {other:?}"),
    }
}

fn collect(file: &File) -> Result<Vec<Collected>> {
    Loader::<Collect>::read(&file.0).map(|(_, tensors)| tensors)
}

#[test]
fn a_sound_file_is_read_as_it_was_written() {
    let header = header(&sound());
    assert_eq!(header.metadata.str("general.architecture").unwrap(), "none");
    assert_eq!(header.metadata.opt_strings("strings").unwrap().unwrap(), ["first", ""]);
    assert_eq!(header.metadata.opt_bool("bool").unwrap(), Some(true));
    let shapes: Vec<_> = header.tensors.iter().map(|tensor| (&*tensor.name, &*tensor.dims, tensor.size)).collect();
    assert_eq!(shapes, [("a", &[3, 4][..], 48), ("b", &[2, 64][..], 136)]);

    let tensors = collect(&sound()).unwrap();
    assert_eq!(tensors[0].3, File(Vec::new()).data(48).0);
    assert_eq!(tensors[1].3, File(Vec::new()).data(136).0);
}

#[test]
fn sound_files_of_unusual_form_are_read() {
    let empty = File::new(0, 0);
    let bytes_after_the_last_tensor = sound().data(100);
    let no_padding_at_the_end = File(sound().0[..sound().0.len() - 24].to_vec());
    let version_2 = File(b"GGUF".to_vec()).u32(2).u64(0).u64(0);
    for (what, file, tensors) in [
        ("empty", empty, 0),
        ("bytes after the last tensor", bytes_after_the_last_tensor, 2),
        ("no padding at the end", no_padding_at_the_end, 2),
        ("version 2", version_2, 0),
        ("an empty array of an empty type", File::new(0, 1).key("k", 9).u32(8).u64(0), 0),
        ("an alignment of 1", File::new(1, 1).alignment(1).tensor("a", &[3], F32, 0).data(12), 1),
        ("an alignment of 256", File::new(1, 1).alignment(256).tensor("a", &[3], F32, 0).pad(256).data(12), 1),
        ("four dimensions", File::new(1, 0).tensor("a", &[2, 1, 3, 1], F32, 0).pad(32).data(24), 1),
    ] {
        assert_eq!(collect(&file).map(|tensors| tensors.len()), Ok(tensors), "{what}");
    }
}

#[test]
fn tensors_come_in_the_order_of_their_bytes() {
    let described_backwards = File::new(2, 0)
        .tensor("second", &[2], F32, 96) // with a gap in front
        .tensor("first", &[3], F32, 0)
        .pad(32)
        .data(12)
        .pad(32)
        .data(64)
        .data(8);
    let tensors = collect(&described_backwards).unwrap();
    assert_eq!((&*tensors[0].0, &*tensors[1].0), ("first", "second"));
    assert_eq!(tensors[1].3, File(Vec::new()).data(8).0);
}

fn nested(depth: usize) -> File {
    let mut file = File::new(0, 1).key("k", 9);
    for _ in 1..depth {
        file = file.u32(9).u64(1);
    }
    file.u32(0).u64(1).u8(0)
}

#[test]
fn lies_are_found_and_named() {
    use ErrorKind::{CorruptModel, UnsupportedModel, UnsupportedQuant};
    let tensor = |dims: &[u64], type_number, offset| File::new(1, 0).tensor("t", dims, type_number, offset).pad(32);
    let huge = u64::MAX;
    let cases = [
        // The first bytes
        ("no bytes", File(vec![]), CorruptModel, "needs 4 bytes, and the file has 0"),
        ("another format", File(b"PK\x03\x04, and so on for a while".to_vec()), CorruptModel, "not a GGUF file"),
        ("version 1", File(b"GGUF".to_vec()).u32(1).u64(0), UnsupportedModel, "version 1"),
        ("version 4", File(b"GGUF".to_vec()).u32(4).u64(0).u64(0), UnsupportedModel, "version 4"),
        ("big-endian", File(b"GGUF".to_vec()).u32(3 << 24).u64(0).u64(0), UnsupportedModel, "big-endian"),
        // Counts and lengths
        ("too many tensors", File::new(huge, 0), CorruptModel, "tensors, and the limit is"),
        ("too many pairs", File::new(0, huge), CorruptModel, "key-value pairs, and the limit is"),
        ("pairs that are not there", File::new(0, 1), CorruptModel, "the file has 24"),
        ("tensors that are not there", File::new(1, 0), CorruptModel, "the file has 24"),
        ("a key of endless length", File::new(0, 1).u64(huge), CorruptModel, "bytes in one name"),
        ("a string of endless length", File::new(0, 1).key("k", 8).u64(huge), CorruptModel, "bytes in one string"),
        ("a string longer than the file", File::new(0, 1).key("k", 8).u64(1000), CorruptModel, "needs 1045 bytes"),
        ("an endless array", File::new(0, 1).key("k", 9).u32(0).u64(huge), CorruptModel, "array elements"),
        ("an array longer than the file", File::new(0, 1).key("k", 9).u32(12).u64(9000), CorruptModel, "needs 72049"),
        (
            "arrays too long together",
            File::new(0, 2).key("a", 9).u32(0).u64(3 << 20).data(3 << 20).key("b", 9).u32(0).u64(3 << 20),
            CorruptModel,
            "declares 6291456 array elements",
        ),
        // Pairs
        ("an unknown type", File::new(0, 1).key("k", 13).u64(0), CorruptModel, "unknown type 13"),
        ("an array of an unknown type", File::new(0, 1).key("k", 9).u32(99).u64(1), CorruptModel, "unknown type 99"),
        ("arrays too deep", nested(5), CorruptModel, "deeper than 4"),
        ("a third truth", File::new(0, 1).key("k", 7).u8(2), CorruptModel, "boolean of value 2"),
        ("a third truth in an array", File::new(0, 1).key("k", 9).u32(7).u64(1).u8(7), CorruptModel, "of value 7"),
        ("a key twice", File::new(0, 2).key("k", 0).u8(0).key("k", 0).u8(1), CorruptModel, "`k` twice"),
        ("an empty key", File::new(0, 1).key("", 0).u8(0), CorruptModel, "empty, not UTF-8"),
        ("a key with a zero", File::new(0, 1).key("k\0", 0).u8(0), CorruptModel, "zero byte"),
        ("a key that is not UTF-8", File::new(0, 1).u64(1).u8(0xff).u32(0).u8(0), CorruptModel, "not UTF-8"),
        ("an alignment of zero", File::new(0, 1).alignment(0), CorruptModel, "`general.alignment` is 0"),
        ("an alignment of 24", File::new(0, 1).alignment(24), CorruptModel, "not a power of two"),
        ("an alignment of 2 GiB", File::new(0, 1).alignment(1 << 31), CorruptModel, "not a power of two up to"),
        ("a long alignment", File::new(0, 1).key("general.alignment", 10).u64(32), CorruptModel, "32-bit"),
        // Tensors
        ("no dimensions", tensor(&[], F32, 0).data(4), CorruptModel, "0 dimensions"),
        ("five dimensions", tensor(&[1; 5], F32, 0).data(4), CorruptModel, "5 dimensions"),
        ("a dimension of zero", tensor(&[4, 0], F32, 0).data(4), CorruptModel, "dimension of zero"),
        ("more elements than numbers", tensor(&[1 << 40, 1 << 40], F32, 0), CorruptModel, "64 bits"),
        ("more bytes than numbers", tensor(&[1 << 62], F32, 0), CorruptModel, "64 bits"),
        ("half a block", tensor(&[48], Q8_0, 0).data(51), CorruptModel, "rows of 48 elements"),
        ("rows of half a block", tensor(&[16, 2], Q8_0, 0).data(34), CorruptModel, "rows of 16 elements"),
        ("an offset off the alignment", tensor(&[1], F32, 8).data(64), CorruptModel, "offset 8"),
        ("an offset beyond numbers", tensor(&[1], F32, huge - 31), CorruptModel, "beyond what 64 bits"),
        ("an offset beyond the file", tensor(&[1], F32, 1 << 40), CorruptModel, "and the file has"),
        ("a tensor longer than the file", tensor(&[100], F32, 0).data(399), CorruptModel, "`t` ends at byte 464"),
        ("a format without a kernel", tensor(&[256], 16, 0).data(66), UnsupportedQuant, "IQ2_XXS"),
        ("a format for activations only", tensor(&[32], 9, 0).data(36), UnsupportedQuant, "Q8_1"),
        ("a format of the future", tensor(&[32], 1000, 0).data(36), UnsupportedQuant, "number 1000"),
        (
            "two tensors in one place",
            File::new(2, 0).tensor("a", &[9], F32, 0).tensor("b", &[9], F32, 32).pad(32).data(100),
            CorruptModel,
            "`a` and `b` overlap",
        ),
        (
            "two tensors of one name",
            File::new(2, 0).tensor("a", &[1], F32, 0).tensor("a", &[1], F32, 32).pad(32).data(64),
            CorruptModel,
            "two tensors named `a`",
        ),
        (
            "a name that would upset a terminal",
            File::new(2, 0).tensor("\x1b[2J", &[1], F32, 0).tensor("\x1b[2J", &[1], F32, 32).pad(32).data(64),
            CorruptModel,
            "`\\u{1b}[2J`",
        ),
    ];
    for (what, file, kind, part) in cases {
        let Err(error) = collect(&file) else { panic!("{what}: accepted") };
        assert_eq!(error.kind(), kind, "{what}: {error}");
        assert!(error.message().contains(part), "{what}: {error}");
    }
}

#[test]
fn arrays_may_nest_to_the_limit() {
    assert_eq!(collect(&nested(4)).map(|tensors| tensors.len()), Ok(0));
}

#[test]
fn a_header_that_goes_on_for_ever_is_refused_before_it_is_held() {
    // Legal pairs of 1 MiB strings without an end.
    let mut loader = Loader::<Collect>::new(None);
    let pairs = limits::PAIRS;
    let mut outcome = loader.push(&File::new(0, pairs).0);
    for i in 0..pairs {
        outcome = loader.push(&File(vec![]).key(&i.to_string(), 8).u64(1 << 20).data(1 << 20).0);
        if outcome.is_err() {
            break;
        }
    }
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptModel);
    assert!(error.message().contains("header bytes"), "{error}");
}

#[test]
fn every_cut_is_told_with_its_numbers() {
    let file = sound().0;
    let needed = file.len() - 24; // the padding at the end may be missing
    for end in 0..needed {
        for announced in [None, Some(needed as u64)] {
            let error = load_in_pieces::<Collect>(&file[..end], announced, &[50]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::CorruptModel);
            assert!(error.message().contains(&format!("{end} bytes have arrived")), "{error}");
            assert!(error.detail().is_some());
        }
        // Or the announced length itself shows it.
        let error = Loader::<Collect>::read(&file[..end]).err().unwrap();
        assert!(error.message().contains(&format!("the file has {end}")), "{error}");
    }
    assert!(load_in_pieces::<Collect>(&file[..needed], None, &[50]).is_ok());
}

#[test]
fn more_bytes_than_announced_are_refused() {
    let mut loader = Loader::<Collect>::new(Some(sound().0.len() as u64));
    loader.push(&sound().0).unwrap();
    assert_eq!(loader.push(b"!").unwrap_err().kind(), ErrorKind::CorruptModel);
    assert_eq!(loader.push(b"").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(loader.finish().is_err());
}

thread_local! {
    static DELIVERED: Cell<usize> = const { Cell::new(0) };
}

/// Counts the bytes that have come so far.
struct Count;

impl Assemble for Count {
    type Output = ();

    fn begin(_: &mut Header) -> Result<Self> {
        Ok(Self)
    }

    fn tensor(&mut self, _: &TensorInfo, _: usize, bytes: &[u8]) -> Result<()> {
        DELIVERED.set(DELIVERED.get() + bytes.len());
        Ok(())
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}

#[test]
fn every_byte_of_a_tensor_is_delivered_as_it_comes() {
    let mut file = File::new(10, 0);
    for i in 0..10 {
        file = file.tensor(&i.to_string(), &[200], F32, i * 1024); // with padding between
    }
    let file = file.pad(32).data(10 * 1024);
    let tensors = header(&file).tensors;
    let mut loader = Loader::<Count>::new(None);
    for byte in &file.0 {
        let LoadProgress { received, .. } = loader.push(std::slice::from_ref(byte)).unwrap();
        let came = |tensor: &TensorInfo| received.saturating_sub(tensor.start).min(tensor.size as u64);
        // Until the header is known to be complete, its bytes and what follows them wait.
        let expected = if loader.header().is_some() { tensors.iter().map(came).sum() } else { 0 };
        assert_eq!(DELIVERED.get() as u64, expected, "after {received} bytes");
    }
    loader.finish().unwrap();
    assert_eq!(DELIVERED.get(), 10 * 800);
}

#[test]
fn progress_knows_the_total_from_the_header() {
    let file = sound().0;
    let mut loader = Loader::<Collect>::new(None);
    assert_eq!(loader.push(&file[..20]).unwrap(), LoadProgress { received: 20, total: None });
    assert!(loader.header().is_none());
    let total = Some(file.len() as u64 - 24);
    assert_eq!(loader.push(&file[20..]).unwrap(), LoadProgress { received: file.len() as u64, total });
    assert!(loader.header().is_some());
}

/// A change to some bytes.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    // Mostly values that make interesting numbers.
    let byte = prop_oneof![Just(0), Just(1), Just(9), Just(0x7f), Just(0x80), Just(0xff), any::<u8>()];
    prop::collection::vec((any::<prop::sample::Index>(), byte), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// How a download happens to be cut changes neither the tensors nor the error, for sound, damaged and cut files.
    #[test]
    fn any_pieces_give_what_the_whole_gives(
        sizes in prop::collection::vec(1usize..200, 1..20),
        damage in damage(),
        end: prop::sample::Index,
        cut: bool,
        announce: bool,
    ) {
        let mut file = sound().0;
        for (at, byte) in damage {
            *at.get_mut(&mut file) = byte;
        }
        if cut {
            file.truncate(end.index(file.len()));
        }
        let announced = announce.then_some(file.len() as u64);
        let outcome = |sizes: &[usize]| {
            let (header, tensors) = load_in_pieces::<Collect>(&file, announced, sizes)?;
            Ok::<_, fairhand::Error>((header.tensors, tensors))
        };
        prop_assert_eq!(outcome(&sizes), outcome(&[usize::MAX]));
    }

    #[test]
    fn no_bytes_upset_the_scan(bytes in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
        let file = if magic { [&File::new(1, 1).0[..], &bytes].concat() } else { bytes };
        let _ = scan(&file, None);
        let outcome = Loader::<Collect>::read(&file);
        prop_assert!(outcome.is_err(), "random bytes were read as a file with a tensor");
    }
}
