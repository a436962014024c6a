//! Parameters as bytes.

use std::fs;
use std::path::Path;

use crate::shape::Layout;

/// For each tensor, as the crate reads it: the scales of its rows (f32, little-endian), then its numbers (i8).
pub fn quantise(parameters: &[f32], layout: &Layout) -> Vec<u8> {
    let mut bytes = vec![];
    for tensor in layout.tensors() {
        let rows = parameters[tensor.range.clone()].chunks_exact(tensor.columns);
        let scales: Vec<f32> =
            rows.clone().map(|row| row.iter().fold(0.0_f32, |most, x| most.max(x.abs())) / 127.0).collect();
        bytes.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
        for (row, scale) in rows.zip(&scales) {
            let unit = if *scale > 0.0 { *scale } else { 1.0 };
            bytes.extend(row.iter().map(|x| (x / unit).round() as i8 as u8));
        }
    }
    bytes
}

/// What [`quantise`] leaves of the parameters.
pub fn restore(mut bytes: &[u8], layout: &Layout) -> Vec<f32> {
    let mut parameters = vec![0.0; layout.len];
    for tensor in layout.tensors() {
        let (scales, rest) = bytes.split_at(tensor.rows * 4);
        let (numbers, rest) = rest.split_at(tensor.range.len());
        let scales = floats(scales);
        for (i, (x, &b)) in parameters[tensor.range.clone()].iter_mut().zip(numbers).enumerate() {
            *x = f32::from(b as i8) * scales[i / tensor.columns];
        }
        bytes = rest;
    }
    parameters
}

pub fn write_exact(path: &Path, parameters: &[f32]) -> Result<(), String> {
    let bytes: Vec<u8> = parameters.iter().flat_map(|x| x.to_le_bytes()).collect();
    fs::write(path, bytes).map_err(|why| format!("{}: {why}", path.display()))
}

pub fn read_exact(path: &Path, layout: &Layout) -> Result<Vec<f32>, String> {
    let bytes = fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    if bytes.len() != layout.len * 4 {
        return Err(format!("{} has {} bytes; the network has {}", path.display(), bytes.len(), layout.len * 4));
    }
    Ok(floats(&bytes))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}
