import type { OrtLike, OrtTensor } from "../ort-like.ts";

type Session = Awaited<ReturnType<OrtLike["InferenceSession"]["create"]>>;

/** A network that is run by an ONNX runtime. */
export class Model {
  readonly #ort: OrtLike;
  readonly #session: Session;

  private constructor(ort: OrtLike, session: Session) {
    this.#ort = ort;
    this.#session = session;
  }

  static async load(ort: OrtLike, model: Uint8Array): Promise<Model> {
    // More threads gain little for networks this small. `logSeverityLevel: 3` logs errors only.
    const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 } as const;
    return new Model(ort, await ort.InferenceSession.create(model, options));
  }

  /** Runs the network. A list of ids is passed as a batch of one, and a number as a list of one. */
  async run(
    inputs: Readonly<Record<string, readonly number[] | number>>,
  ): Promise<Readonly<Record<string, OrtTensor>>> {
    const { Tensor } = this.#ort;
    const tensors = Object.entries(inputs).map(([name, value]) => [
      name,
      typeof value === "number"
        ? new Tensor("float32", Float32Array.of(value), [1])
        : new Tensor("int64", BigInt64Array.from(value, BigInt), [1, value.length]),
    ]);
    return await this.#session.run(Object.fromEntries(tensors));
  }
}

/** Returns one of the network's outputs as floats. */
export function floats(outputs: Readonly<Record<string, OrtTensor>>, name: string): Float32Array {
  const data = outputs[name]?.data;
  if (data instanceof Float32Array) return data;
  throw new Error(`the voice's network has no 32-bit float output "${name}": the file is not a hibari voice`);
}

export function ids(outputs: Readonly<Record<string, OrtTensor>>, name: string): number[] {
  const data = outputs[name]?.data;
  if (data instanceof BigInt64Array) return Array.from(data, Number);
  throw new Error(`the network for unknown words has no 64-bit integer output "${name}": the file is not from hibari`);
}
