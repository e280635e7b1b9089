/**
 * The part of an ONNX runtime that embedded speech uses. Satisfied by both `onnxruntime-node` and `onnxruntime-web`.
 */
export interface OrtLike {
  readonly InferenceSession: {
    create(model: Uint8Array, options: OrtOptions): Promise<OrtSession>;
  };
  readonly Tensor: {
    new (type: "int64", data: BigInt64Array<ArrayBuffer>, dims: readonly number[]): OrtTensor;
    new (type: "float32", data: Float32Array<ArrayBuffer>, dims: readonly number[]): OrtTensor;
    new (type: "bool", data: readonly boolean[], dims: readonly number[]): OrtTensor;
  };
}

export interface OrtTensor {
  readonly data: unknown;
}

interface OrtOptions {
  readonly intraOpNumThreads: number;
  readonly interOpNumThreads: number;
  readonly logSeverityLevel: 3;
}

export interface OrtSession {
  run(inputs: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>>;
}
