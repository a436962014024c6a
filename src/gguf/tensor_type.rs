//! The numbers that GGUF gives to tensor formats.

use candle_core::quantized::GgmlDType;

use crate::error::{Error, ErrorKind, Result};

/// The format with GGUF's `number`, from `enum ggml_type` of
/// <https://github.com/ggml-org/ggml/blob/master/include/ggml.h>.
///
/// # Errors
/// `unsupported-quant`, with the format's name where it has one, for a format that candle-core cannot multiply. Q8_1 and
/// Q8_K are among them: they are the shape of an activation during a product, never of a stored weight.
pub(super) fn tensor_type(number: u32) -> Result<GgmlDType> {
    let name = match number {
        0 => return Ok(GgmlDType::F32),
        1 => return Ok(GgmlDType::F16),
        2 => return Ok(GgmlDType::Q4_0),
        3 => return Ok(GgmlDType::Q4_1),
        6 => return Ok(GgmlDType::Q5_0),
        7 => return Ok(GgmlDType::Q5_1),
        8 => return Ok(GgmlDType::Q8_0),
        10 => return Ok(GgmlDType::Q2K),
        11 => return Ok(GgmlDType::Q3K),
        12 => return Ok(GgmlDType::Q4K),
        13 => return Ok(GgmlDType::Q5K),
        14 => return Ok(GgmlDType::Q6K),
        30 => return Ok(GgmlDType::BF16),
        9 => "Q8_1",
        15 => "Q8_K",
        16 => "IQ2_XXS",
        17 => "IQ2_XS",
        18 => "IQ3_XXS",
        19 => "IQ1_S",
        20 => "IQ4_NL",
        21 => "IQ3_S",
        22 => "IQ2_S",
        23 => "IQ4_XS",
        24 => "I8",
        25 => "I16",
        26 => "I32",
        27 => "I64",
        28 => "F64",
        29 => "IQ1_M",
        34 => "TQ1_0",
        35 => "TQ2_0",
        39 => "MXFP4",
        _ => "unknown",
    };
    let message = format!("tensor format {name} (number {number} in GGUF) cannot be multiplied by this build");
    Err(Error::new(ErrorKind::UnsupportedQuant, message))
}
