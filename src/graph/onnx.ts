/**
 * ONNX messages through the generated protobuf schema: typed constructors for nodes, tensors and models, and the encoder. Weights are
 * referenced by file, offset and length (external data), so a model file stays small however large its checkpoint is.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type AttributeProto,
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
  StringStringEntryProtoSchema,
  type TensorProto,
  TensorProto_DataLocation,
  TensorProto_DataType,
  TensorProtoSchema,
  TensorShapeProto_DimensionSchema,
  TensorShapeProtoSchema,
  TypeProto_TensorSchema,
  TypeProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from "onnx-buf";
import type { ConstantData, DType, Shape } from "./value.ts";

/** RMSNormalization and RotaryEmbedding appeared in 23; ONNX Runtime 1.30 knows 26. */
const OPSET = 23n;
/** IR version that belongs to opset 23 (ONNX 1.18). */
const IR_VERSION = 11n;

export const MICROSOFT = "com.microsoft";

const dataTypes: { readonly [T in DType]: TensorProto_DataType } = {
  float32: TensorProto_DataType.FLOAT,
  float16: TensorProto_DataType.FLOAT16,
  bfloat16: TensorProto_DataType.BFLOAT16,
  int64: TensorProto_DataType.INT64,
  int32: TensorProto_DataType.INT32,
  int8: TensorProto_DataType.INT8,
  uint8: TensorProto_DataType.UINT8,
  bool: TensorProto_DataType.BOOL,
};

export function onnxType(dtype: DType): number {
  return dataTypes[dtype];
}

/** A weight's place in a file beside the model. */
export interface ExternalWeight {
  readonly location: string;
  readonly offset: number;
  readonly byteLength: number;
  readonly dtype: DType;
}

/** An attribute: integers as bigint, floats as number, integer lists as bigint[]. */
export type AttributeValue = bigint | number | string | readonly bigint[];

function attribute(name: string, value: AttributeValue): AttributeProto {
  if (typeof value === "bigint") return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INT, i: value });
  if (typeof value === "number") return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.FLOAT, f: value });
  if (typeof value === "string") {
    return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.STRING, s: new TextEncoder().encode(value) });
  }
  return create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INTS, ints: [...value] });
}

export interface NodeDescription {
  readonly opType: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
  readonly domain?: string;
}

export function node({ opType, inputs, outputs, attributes = {}, domain = "" }: NodeDescription): NodeProto {
  return create(NodeProtoSchema, {
    opType,
    domain,
    name: outputs[0],
    input: [...inputs],
    output: [...outputs],
    attribute: Object.entries(attributes).map(([name, value]) => attribute(name, value)),
  });
}

export function inlineTensor(name: string, dtype: DType, shape: readonly number[], data: ConstantData | Uint8Array): TensorProto {
  const rawData = new Uint8Array(data.byteLength);
  rawData.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return create(TensorProtoSchema, { name, dataType: onnxType(dtype), dims: shape.map(BigInt), rawData });
}

export function externalTensor(name: string, shape: readonly number[], weight: ExternalWeight): TensorProto {
  const entries = { location: weight.location, offset: String(weight.offset), length: String(weight.byteLength) };
  return create(TensorProtoSchema, {
    name,
    dataType: onnxType(weight.dtype),
    dims: shape.map(BigInt),
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: Object.entries(entries).map(([key, value]) => create(StringStringEntryProtoSchema, { key, value })),
  });
}

export function valueInfo(name: string, dtype: DType, shape: Shape): ValueInfoProto {
  const dim = shape.map((d) =>
    create(TensorShapeProto_DimensionSchema, {
      value: typeof d === "number" ? { case: "dimValue", value: BigInt(d) } : { case: "dimParam", value: d },
    }),
  );
  const tensor = create(TypeProto_TensorSchema, { elemType: onnxType(dtype), shape: create(TensorShapeProtoSchema, { dim }) });
  return create(ValueInfoProtoSchema, { name, type: create(TypeProtoSchema, { value: { case: "tensorType", value: tensor } }) });
}

export interface GraphParts {
  readonly name: string;
  readonly nodes: readonly NodeProto[];
  readonly initializers: readonly TensorProto[];
  readonly inputs: readonly ValueInfoProto[];
  readonly outputs: readonly ValueInfoProto[];
}

/** The bytes of a model file. */
export function encodeModel(parts: GraphParts): Uint8Array {
  const model = create(ModelProtoSchema, {
    irVersion: IR_VERSION,
    producerName: "mineru-diffusion",
    opsetImport: [
      create(OperatorSetIdProtoSchema, { domain: "", version: OPSET }),
      create(OperatorSetIdProtoSchema, { domain: MICROSOFT, version: 1n }),
    ],
    graph: create(GraphProtoSchema, {
      name: parts.name,
      node: [...parts.nodes],
      initializer: [...parts.initializers],
      input: [...parts.inputs],
      output: [...parts.outputs],
    }),
  });
  return toBinary(ModelProtoSchema, model);
}
