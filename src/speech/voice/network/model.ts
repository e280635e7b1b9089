import type { OrtLike, OrtTensor } from "../../ort-like.ts";

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
  async run(inputs: Readonly<Record<string, Input>>): Promise<Readonly<Record<string, OrtTensor>>> {
    const tensors = Object.entries(inputs).map(([name, value]) => [name, this.#toTensor(value)]);
    return await this.#session.run(Object.fromEntries(tensors) as Record<string, OrtTensor>);
  }

  #toTensor(value: Input): OrtTensor {
    const { Tensor } = this.#ort;
    if (typeof value === "number") return new Tensor("float32", Float32Array.of(value), [1]);
    if (isIds(value)) return new Tensor("int64", BigInt64Array.from(value, BigInt), [1, value.length]);
    if (!("channels" in value)) return value;
    const { data, channels } = value;
    return new Tensor("float32", data, [1, channels, data.length / channels]);
  }
}

/** Values of several channels over time: all of the first channel, then all of the second, and so on. */
export interface Channels {
  readonly data: Float32Array<ArrayBuffer>;
  readonly channels: number;
}

type Input = readonly number[] | number | Channels | OrtTensor;

const isIds = (input: readonly number[] | Channels | OrtTensor): input is readonly number[] => Array.isArray(input);

/** Returns one of the network's outputs. */
export function tensor(outputs: Readonly<Record<string, OrtTensor>>, name: string): OrtTensor {
  const output = outputs[name];
  if (output) return output;
  throw new Error(`the voice's network has no output "${name}": the file is not a hibari voice`);
}

/** Returns one of the network's outputs as floats. */
export function floats(outputs: Readonly<Record<string, OrtTensor>>, name: string): Float32Array {
  const { data } = tensor(outputs, name);
  if (data instanceof Float32Array) return data;
  throw new Error(`the output "${name}" of the voice's network is not 32-bit floats: the file is not a hibari voice`);
}

export function ids(outputs: Readonly<Record<string, OrtTensor>>, name: string): number[] {
  const data = outputs[name]?.data;
  if (data instanceof BigInt64Array) return Array.from(data, Number);
  throw new Error(`the network for unknown words has no 64-bit integer output "${name}": the file is not from hibari`);
}
