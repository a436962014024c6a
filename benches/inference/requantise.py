"""Writes a GGUF file again with its matrices in another format: requantise.py IN.gguf OUT.gguf Q8_0|Q4_0."""

import sys

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, dequantize, quantize

source, target, name = sys.argv[1:]
wanted = GGMLQuantizationType[name]
reader = GGUFReader(source)
writer = GGUFWriter(target, reader.fields["general.architecture"].contents())

for field in reader.fields.values():
    if field.name.startswith("GGUF.") or field.name == "general.architecture":
        continue
    kind = field.types[0]
    item = field.types[-1] if kind == GGUFValueType.ARRAY else None
    writer.add_key_value(field.name, field.contents(), kind, sub_type=item)

for tensor in reader.tensors:
    if len(tensor.shape) == 1:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        continue
    values = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    # The tied head decides between tokens: like the tools that make such files, keep it at 8 bits.
    to = GGMLQuantizationType.Q8_0 if tensor.name == "token_embd.weight" else wanted
    writer.add_tensor(tensor.name, quantize(values, to), raw_dtype=to)

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
