//! What a model has learned: immutable once loaded.

use std::borrow::Cow;
use std::collections::HashMap;

use candle_core::CpuStorage;
use candle_core::quantized::{GgmlDType, QuantizedType};

use super::kernels::{self, Activations, Packed};
use super::{Config, layout};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Assemble, Header, TensorInfo};

/// A model: its shape and its weights. Immutable and, behind an `Arc`, shared by everything that runs it.
pub struct Model {
    pub(super) config: Config,
    /// (vocab_size, width): the vector of each token.
    pub(super) embedding: Matrix,
    pub(super) layers: Vec<Layer>,
    /// (width)
    pub(super) output_norm: Vec<f32>,
    /// (vocab_size, width); absent where the embedding serves as the head too.
    pub(super) head: Option<Matrix>,
    /// (rope_dims / 2); what RoPE's frequencies are divided by.
    pub(super) rope_factors: Option<Vec<f32>>,
}

impl Model {
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether every matrix of the layers has a kernel of ours.
    pub(super) fn is_packed(&self) -> bool {
        let packed = |matrix: &Matrix| matches!(matrix, Matrix::Packed(_));
        self.layers.iter().all(|layer| layer.matrices().into_iter().all(packed))
    }
}

/// The weights of one layer. A matrix of shape (rows, columns) takes a vector of `columns` values to one of `rows`.
pub(super) struct Layer {
    /// (width)
    pub attention_norm: Vec<f32>,
    /// (query_width, width)
    pub query: Matrix,
    /// (kv_width, width)
    pub key: Matrix,
    /// (kv_width, width)
    pub value: Matrix,
    /// (width, query_width)
    pub attention_output: Matrix,
    /// (width)
    pub ffn_norm: Vec<f32>,
    /// (ffn_width, width)
    pub gate: Matrix,
    /// (ffn_width, width)
    pub up: Matrix,
    /// (width, ffn_width)
    pub down: Matrix,
}

impl Layer {
    fn matrices(&self) -> [&Matrix; 7] {
        let Self { query, key, value, attention_output, gate, up, down, .. } = self;
        [query, key, value, attention_output, gate, up, down]
    }
}

/// A matrix (rows, columns) in one of ggml's block formats, multiplied as it is.
pub(super) enum Matrix {
    /// In a format that has a kernel of ours.
    Packed(Packed),
    /// In any other, through candle-core.
    Blocks { blocks: Box<dyn QuantizedType>, rows: usize, columns: usize },
}

impl Matrix {
    fn from_ggml(dtype: GgmlDType, bytes: &[u8], rows: usize, columns: usize) -> Result<Self> {
        if let Some(packed) = Packed::from_ggml(dtype, bytes, rows, columns)? {
            return Ok(Self::Packed(packed));
        }
        let blocks = match dtype {
            // candle-core would round activations to half precision too, and overflow at 65,504.
            GgmlDType::F16 | GgmlDType::BF16 => Box::new(dequantize(dtype, bytes, rows * columns)?),
            _ => blocks(dtype, bytes)?,
        };
        Ok(Self::Blocks { blocks, rows, columns })
    }

    /// `input` (n, columns) → `out` (n, rows).
    pub(super) fn matmul(&self, input: &mut Input, out: &mut [f32]) -> Result<()> {
        match self {
            Self::Packed(packed) => {
                kernels::matmul_range(packed, input.activations(), 0..packed.rows(), out);
                Ok(())
            }
            Self::Blocks { blocks, rows, columns } => {
                blocks.matmul_t((input.n, *columns, *rows), input.x, out).map_err(internal)
            }
        }
    }

    /// One row, dequantised, into `out` (columns). The row must exist.
    pub(super) fn row(&self, row: u32, out: &mut [f32]) -> Result<()> {
        match self {
            Self::Packed(packed) => packed.row(row as usize, out),
            Self::Blocks { blocks, rows, columns } => {
                let values = blocks.embedding(&[row], *rows, *columns).map_err(internal)?;
                out.copy_from_slice(&floats(values)?);
            }
        }
        Ok(())
    }
}

/// What goes into one or more products: `x` of shape (n, columns).
pub(super) struct Input<'a> {
    x: &'a [f32],
    n: usize,
    activations: &'a mut Activations,
    quantised: bool,
}

impl<'a> Input<'a> {
    /// `activations` lends its memory.
    pub(super) fn new(x: &'a [f32], n: usize, activations: &'a mut Activations) -> Self {
        Self { x, n, activations, quantised: false }
    }

    /// The input in the kernels' form, made on first use.
    fn activations(&mut self) -> &Activations {
        if !self.quantised {
            self.activations.quantise(self.x, self.n, self.x.len() / self.n);
            self.quantised = true;
        }
        self.activations
    }
}

/// Puts a [`Model`] together from a GGUF file's tensors as they arrive.
pub struct Builder {
    config: Config,
    /// By full name.
    vectors: HashMap<String, Vec<f32>>,
    /// By full name.
    matrices: HashMap<String, Matrix>,
}

impl Assemble for Builder {
    type Output = Model;

    fn begin(header: &Header) -> Result<Self> {
        Ok(Self { config: Config::from_header(header)?, vectors: HashMap::new(), matrices: HashMap::new() })
    }

    fn tensor(&mut self, info: &TensorInfo, bytes: &[u8]) -> Result<()> {
        match *info.dims {
            [rows, columns] => {
                let matrix = Matrix::from_ggml(info.dtype, bytes, rows, columns)?;
                self.matrices.insert(info.name.clone(), matrix);
            }
            _ => {
                let vector = dequantize(info.dtype, bytes, info.dims.iter().product())?;
                self.vectors.insert(info.name.clone(), vector);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Model> {
        let layers = (0..self.config.n_layers).map(|layer| self.layer(layer)).collect::<Result<_>>()?;
        Ok(Model {
            embedding: self.matrix(layout::EMBEDDING)?,
            layers,
            output_norm: self.vector(layout::OUTPUT_NORM)?,
            head: self.matrices.remove(layout::HEAD),
            rope_factors: self.vectors.remove(layout::ROPE_FACTORS),
            config: self.config,
        })
    }
}

impl Builder {
    fn layer(&mut self, layer: usize) -> Result<Layer> {
        let name = |name| layout::in_layer(layer, name);
        Ok(Layer {
            attention_norm: self.vector(&name(layout::ATTENTION_NORM))?,
            query: self.matrix(&name(layout::QUERY))?,
            key: self.matrix(&name(layout::KEY))?,
            value: self.matrix(&name(layout::VALUE))?,
            attention_output: self.matrix(&name(layout::ATTENTION_OUTPUT))?,
            ffn_norm: self.vector(&name(layout::FFN_NORM))?,
            gate: self.matrix(&name(layout::GATE))?,
            up: self.matrix(&name(layout::UP))?,
            down: self.matrix(&name(layout::DOWN))?,
        })
    }

    fn matrix(&mut self, name: &str) -> Result<Matrix> {
        self.matrices.remove(name).ok_or_else(|| never_arrived(name))
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f32>> {
        self.vectors.remove(name).ok_or_else(|| never_arrived(name))
    }
}

/// A tensor's bytes as candle-core's blocks.
///
/// # Errors
/// `out-of-memory`, found by asking for the memory first: candle-core would end the program.
fn blocks(dtype: GgmlDType, bytes: &[u8]) -> Result<Box<dyn QuantizedType>> {
    probe_memory(bytes.len())?;
    // candle-core reads the bytes as a slice of blocks, which must be aligned as their widest field, at most 8 bytes.
    const ALIGNMENT: usize = 8;
    if bytes.as_ptr().align_offset(ALIGNMENT) == 0 {
        return Ok(dtype.from_data(Cow::Borrowed(bytes)));
    }
    let mut copy = vec![0; bytes.len() + ALIGNMENT];
    let start = copy.as_ptr().align_offset(ALIGNMENT);
    let aligned = &mut copy[start..start + bytes.len()];
    aligned.copy_from_slice(bytes);
    Ok(dtype.from_data(Cow::Borrowed(aligned)))
}

fn dequantize(dtype: GgmlDType, bytes: &[u8], elements: usize) -> Result<Vec<f32>> {
    let blocks = blocks(dtype, bytes)?;
    probe_memory(elements.saturating_mul(size_of::<f32>()))?;
    floats(blocks.dequantize(elements).map_err(internal)?)
}

fn floats(storage: CpuStorage) -> Result<Vec<f32>> {
    match storage {
        CpuStorage::F32(values) => Ok(values),
        _ => Err(Error::new(ErrorKind::Internal, "candle-core dequantised to something other than f32")),
    }
}

fn probe_memory(bytes: usize) -> Result<()> {
    let out_of_memory = |_| Error::new(ErrorKind::OutOfMemory, format!("no memory for {bytes} bytes of weights"));
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(out_of_memory)
}

fn internal(error: candle_core::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("candle-core: {error}"))
}

fn never_arrived(name: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("tensor `{name}` was expected and never arrived in the right shape"))
}
