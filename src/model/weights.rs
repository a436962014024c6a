//! What a model has learned: immutable once loaded.

use std::collections::HashMap;

use super::kernels::Packer;
use super::matrix::{Matrix, floats, reserved};
use super::memory;
use super::rope::Factors;
use super::{Config, layout};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Assemble, Header, TensorInfo, shown};

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
    pub(super) rope_factors: Factors,
}

impl Model {
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether every matrix of the layers has a kernel of ours.
    pub(super) fn is_packed(&self) -> bool {
        self.layers.iter().all(|layer| layer.matrices().all(Matrix::is_packed))
    }

    /// (vocab_size, width)
    pub(super) fn head(&self) -> &Matrix {
        self.head.as_ref().unwrap_or(&self.embedding)
    }
}

/// The weights of one layer. Not every family has those that are optional.
pub(super) struct Layer {
    /// (width)
    pub attention_norm: Vec<f32>,
    pub mixer: Mixer,
    /// (width)
    pub attention_post_norm: Option<Vec<f32>>,
    /// (width)
    pub ffn_norm: Vec<f32>,
    /// (ffn_width, width)
    pub gate: Matrix,
    /// (ffn_width, width)
    pub up: Matrix,
    /// (width, ffn_width)
    pub down: Matrix,
    /// (width)
    pub ffn_post_norm: Option<Vec<f32>>,
}

/// How a layer lets a token see those before it.
#[allow(clippy::large_enum_variant)] // one a layer, in a list that is made once
pub(super) enum Mixer {
    Attention { query: Projection, key: Projection, value: Projection, output: Projection },
    Convolution(ShortConvolution),
}

/// A convolution over the last few tokens, with a gate before it and one behind.
pub(super) struct ShortConvolution {
    /// (3 · width, width): the gate before, the gate behind, and what passes through both.
    pub input: Matrix,
    /// (length, width): the weights of the positions, the token's own last.
    pub kernel: Vec<f32>,
    /// (width, width)
    pub output: Matrix,
}

impl Layer {
    fn matrices(&self) -> impl Iterator<Item = &Matrix> {
        let Self { mixer, gate, up, down, .. } = self;
        let mixing = match mixer {
            Mixer::Attention { query, key, value, output } => {
                vec![&query.matrix, &key.matrix, &value.matrix, &output.matrix]
            }
            Mixer::Convolution(ShortConvolution { input, output, .. }) => vec![input, output],
        };
        mixing.into_iter().chain([gate, up, down])
    }
}

/// What makes one of attention's inputs, or its output.
pub(super) struct Projection {
    /// (query_width, width), (kv_width, width), or (width, query_width)
    pub matrix: Matrix,
    /// (rows of the matrix)
    pub bias: Option<Vec<f32>>,
    /// (head_dim): a norm over each head.
    pub norm: Option<Vec<f32>>,
}

/// Puts a [`Model`] together from a GGUF file's tensors as their bytes arrive.
///
/// Rows of a format with a kernel are packed as soon as eight of them are there, so that the weights are in memory once,
/// and never as a whole tensor of the file's bytes beside them.
pub struct Builder {
    config: Config,
    /// What the tensor under way is made into.
    incoming: Vec<Part>,
    /// By full name.
    vectors: HashMap<String, Vec<f32>>,
    /// By full name.
    matrices: HashMap<String, Matrix>,
}

/// A matrix or a vector that is arriving.
struct Part {
    name: String,
    /// `None` for a vector.
    rows: Option<usize>,
    columns: usize,
    /// Bytes still to come.
    missing: usize,
    sink: Sink,
}

enum Sink {
    Packer(Packer),
    Bytes(Vec<u8>),
}

impl Assemble for Builder {
    type Output = Model;

    /// # Errors
    /// Those of [`Config::from_header`], and `out-of-memory`, with both numbers, for a model that does not fit.
    fn begin(header: &mut Header) -> Result<Self> {
        let config = Config::from_header(header)?;
        memory::check(header.tensors.iter().map(|tensor| tensor.size as u64).sum())?;
        Ok(Self { config, incoming: Vec::new(), vectors: HashMap::new(), matrices: HashMap::new() })
    }

    fn tensor(&mut self, info: &TensorInfo, offset: usize, mut bytes: &[u8]) -> Result<()> {
        if offset == 0 {
            self.incoming = self.parts(info)?;
        }
        for part in &mut self.incoming {
            let now = bytes.split_off(..part.missing.min(bytes.len())).unwrap_or_default();
            part.missing -= now.len();
            match &mut part.sink {
                Sink::Packer(packer) => packer.push(now).map_err(|error| in_tensor(error, info))?,
                Sink::Bytes(waiting) => waiting.extend_from_slice(now),
            }
        }
        if self.incoming.last().is_some_and(|part| part.missing == 0) {
            for part in std::mem::take(&mut self.incoming) {
                self.keep(part, info).map_err(|error| in_tensor(error, info))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Model> {
        let layers = (0..self.config.n_layers).map(|layer| self.layer(layer)).collect::<Result<_>>()?;
        Ok(Model {
            embedding: self.matrix(layout::EMBEDDING)?,
            layers,
            output_norm: self.vector(layout::output_norm(&self.config))?,
            head: self.matrices.remove(layout::HEAD),
            rope_factors: Factors {
                all: self.vectors.remove(layout::ROPE_FACTORS),
                short: self.vectors.remove(layout::ROPE_FACTORS_SHORT),
                long: self.vectors.remove(layout::ROPE_FACTORS_LONG),
            },
            config: self.config,
        })
    }
}

impl Builder {
    /// What to make of a tensor: one matrix or vector, or several matrices that lie one below the other.
    fn parts(&self, info: &TensorInfo) -> Result<Vec<Part>> {
        let (&[rows, columns], false) = (info.dims.as_slice(), layout::is_kernel(&info.name)) else {
            let sink = Sink::Bytes(reserved(info.size)?);
            return Ok(vec![Part {
                name: info.name.clone(),
                rows: None,
                columns: info.dims.iter().product(),
                missing: info.size,
                sink,
            }]);
        };
        let parts = layout::parts(&self.config, &info.name).unwrap_or_else(|| vec![(info.name.clone(), rows)]);
        let part = |(name, rows_of_part): (String, usize)| {
            let missing = info.size / rows * rows_of_part;
            let sink = match Packer::new(info.dtype, rows_of_part, columns)? {
                Some(packer) => Sink::Packer(packer),
                None => Sink::Bytes(reserved(missing)?),
            };
            Ok(Part { name, rows: Some(rows_of_part), columns, missing, sink })
        };
        parts.into_iter().map(part).collect()
    }

    fn keep(&mut self, part: Part, info: &TensorInfo) -> Result<()> {
        let Part { name, rows, columns, sink, .. } = part;
        match (rows, sink) {
            (_, Sink::Packer(packer)) => {
                self.matrices.insert(name, Matrix::packed(packer.finish()?));
            }
            (Some(rows), Sink::Bytes(bytes)) => {
                self.matrices.insert(name, Matrix::from_ggml(info.dtype, &bytes, rows, columns)?);
            }
            (None, Sink::Bytes(bytes)) => {
                self.vectors.insert(name, floats(info.dtype, &bytes, columns)?);
            }
        }
        Ok(())
    }

    fn layer(&mut self, layer: usize) -> Result<Layer> {
        let name = |name| layout::in_layer(layer, name);
        Ok(Layer {
            mixer: self.mixer(layer)?,
            attention_norm: self.vector(&name(layout::ATTENTION_NORM))?,
            attention_post_norm: self.vectors.remove(&name(layout::ATTENTION_POST_NORM)),
            ffn_norm: self.vector(&name(layout::FFN_NORM))?,
            gate: self.matrix(&name(layout::GATE))?,
            up: self.matrix(&name(layout::UP))?,
            down: self.matrix(&name(layout::DOWN))?,
            ffn_post_norm: self.vectors.remove(&name(layout::FFN_POST_NORM)),
        })
    }

    fn mixer(&mut self, layer: usize) -> Result<Mixer> {
        let name = |name| layout::in_layer(layer, name);
        if let Some(length) = self.config.convolution_of(layer) {
            let of_channels = self.vector(&name(layout::CONVOLUTION_KERNEL))?; // (width, length)
            let kernel = (0..length).flat_map(|k| of_channels.iter().skip(k).step_by(length)).copied().collect();
            return Ok(Mixer::Convolution(ShortConvolution {
                input: self.matrix(&name(layout::CONVOLUTION_INPUT))?,
                kernel,
                output: self.matrix(&name(layout::CONVOLUTION_OUTPUT))?,
            }));
        }
        let mut projection = |matrix, bias, norm: Option<&str>| -> Result<Projection> {
            Ok(Projection {
                matrix: self.matrix(&name(matrix))?,
                bias: self.vectors.remove(&name(bias)),
                norm: norm.and_then(|norm| self.vectors.remove(&layout::in_layer(layer, norm))),
            })
        };
        Ok(Mixer::Attention {
            query: projection(layout::QUERY, layout::QUERY_BIAS, Some(layout::QUERY_NORM))?,
            key: projection(layout::KEY, layout::KEY_BIAS, Some(layout::KEY_NORM))?,
            value: projection(layout::VALUE, layout::VALUE_BIAS, None)?,
            output: projection(layout::ATTENTION_OUTPUT, layout::ATTENTION_OUTPUT_BIAS, None)?,
        })
    }

    fn matrix(&mut self, name: &str) -> Result<Matrix> {
        self.matrices.remove(name).ok_or_else(|| never_arrived(name))
    }

    fn vector(&mut self, name: &str) -> Result<Vec<f32>> {
        self.vectors.remove(name).ok_or_else(|| never_arrived(name))
    }
}

/// The same error, with the tensor that it is about.
fn in_tensor(error: Error, info: &TensorInfo) -> Error {
    let named = Error::new(error.kind(), format!("tensor `{}`: {}", shown(&info.name), error.message()));
    match error.detail() {
        Some(detail) => named.with_detail(detail.clone()),
        None => named,
    }
}

fn never_arrived(name: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("tensor `{name}` was expected and never arrived in the right shape"))
}
