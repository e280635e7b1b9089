import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

// Field numbers of onnx.proto.
const GRAPH = 7;
const NODE = 1;
const CONSTANT = 5;
const INPUT = 11;
const OUTPUT = 12;
const VALUE_NAME = 1;
const CONSTANT_NAME = 8;
const NODE_INPUT = 1;
const NODE_OUTPUT = 2;

interface Field {
  readonly no: number;
  readonly type: WireType;
  /** Of a length-delimited field, the value without its length. */
  readonly value: Uint8Array;
}

interface Node {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Its operation and attributes. */
  readonly rest: readonly Field[];
}

interface Named {
  readonly name: string;
  readonly value: Uint8Array;
}

interface Content {
  readonly nodes: readonly Node[];
  readonly constants: readonly Named[];
  readonly inputs: readonly Named[];
}

/** The graph of an ONNX model, which can be cut into parts and made to run piece by piece. */
export class OnnxGraph {
  readonly #model: readonly Field[];
  readonly #content: Content;

  private constructor(model: readonly Field[], content: Content) {
    this.#model = model;
    this.#content = content;
  }

  /** @throws if the bytes are not an ONNX model */
  static parse(bytes: Uint8Array): OnnxGraph {
    try {
      const model = fieldsOf(bytes);
      const graph = model.find(({ no }) => no === GRAPH);
      if (!graph) throw new Error("it has no graph");
      const valuesOf = (wanted: number) =>
        fieldsOf(graph.value)
          .filter(({ no }) => no === wanted)
          .map(({ value }) => value);
      const named = (message: Uint8Array, no: number) => ({
        name: textsOf(fieldsOf(message), no).join(""),
        value: message,
      });
      return new OnnxGraph(model, {
        nodes: valuesOf(NODE).map(toNode),
        constants: valuesOf(CONSTANT).map((value) => named(value, CONSTANT_NAME)),
        inputs: valuesOf(INPUT).map((value) => named(value, VALUE_NAME)),
      });
    } catch (error) {
      throw new Error("the voice's file is not an ONNX model: fetch it again", { cause: error });
    }
  }

  /**
   * Returns a graph whose convolutions continue where the previous run ended. The n-th convolution gets the inputs
   * `past.n` and `after.n`, which are put before and after its own input, and the output `next.n`: the frames to pass
   * as `past.n` to the next run. In the first run `past.n` is `pad` zeros, as `after.n` is in the last run; in the other
   * runs, `after.n` is empty.
   *
   * @param convolutions the names of their outputs
   * @param pad how many zeros each convolution adds on both sides of its input
   */
  streaming(convolutions: readonly string[], pad: number): OnnxGraph {
    const { nodes, constants, inputs } = this.#content;
    const delayed = new Map(
      nodes
        .filter(({ outputs: [output = ""] }) => convolutions.includes(output))
        .map(({ inputs: [input = ""] }) => [input, `${input}:delayed`]),
    );
    const changed = nodes.flatMap((node) => {
      const index = convolutions.indexOf(node.outputs[0] ?? "");
      // The value is also added to what becomes of the convolution's output.
      if (index === -1) return [{ ...node, inputs: node.inputs.map((name) => delayed.get(name) ?? name) }];
      const [input = "", ...weights] = node.inputs;
      const [output = ""] = node.outputs;
      const [joined, padded] = [`${output}:joined`, `${output}:padded`];
      return [
        concat([`past.${index}`, input, `after.${index}`], joined),
        slice(joined, "last", `next.${index}`),
        slice(joined, "inner", `${input}:delayed`),
        { ...node, inputs: [joined, ...weights], outputs: [padded] },
        slice(padded, "inner", output),
      ];
    });
    const added = [
      integerConstant("inner:from", pad),
      integerConstant("inner:to", -pad),
      integerConstant("last:from", -2 * pad),
      integerConstant("last:to", Number.MAX_SAFE_INTEGER),
      integerConstant("frames", FRAME_AXIS),
    ];
    return new OnnxGraph(this.#model, { nodes: changed, constants: [...constants, ...added], inputs });
  }

  /** Returns a model that computes values of this graph from others. Inputs that this graph does not have are floats. */
  part(inputs: readonly string[], outputs: readonly string[]): Uint8Array {
    const makers = new Map(this.#content.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
    const needed = new Set<Node>();
    const add = (name: string): void => {
      const node = makers.get(name);
      if (!node || inputs.includes(name) || needed.has(node)) return;
      needed.add(node);
      node.inputs.forEach(add);
    };
    outputs.forEach(add);
    const nodes = this.#content.nodes.filter((node) => needed.has(node));
    const read = new Set(nodes.flatMap((node) => node.inputs));
    const known = new Map(this.#content.inputs.map(({ name, value }) => [name, value]));
    const graph = writeFields([
      ...nodes.map((node) => field(NODE, fromNode(node))),
      ...this.#content.constants.filter(({ name }) => read.has(name)).map(({ value }) => field(CONSTANT, value)),
      ...inputs.map((name) => field(INPUT, known.get(name) ?? floatValue(name))),
      ...outputs.map((name) => field(OUTPUT, floatValue(name))),
    ]);
    return writeFields(this.#model.map((each) => (each.no === GRAPH ? { ...each, value: graph } : each)));
  }
}

/** Values have the axes batch, channel and frame. */
const FRAME_AXIS = 2;

function concat(inputs: readonly string[], output: string): Node {
  const INTEGER = 2;
  const axis = writeFields([text(1, "axis"), integer(3, FRAME_AXIS), integer(20, INTEGER)]);
  return { inputs, outputs: [output], rest: [text(4, "Concat"), field(5, axis)] };
}

/** Cuts frames off both ends. The range is the name of two constants. */
function slice(input: string, range: string, output: string): Node {
  return { inputs: [input, `${range}:from`, `${range}:to`, "frames"], outputs: [output], rest: [text(4, "Slice")] };
}

/** A list of one 64-bit integer. */
function integerConstant(name: string, value: number): Named {
  const INT64 = 7;
  const tensor = [integer(1, 1), integer(2, INT64), integer(7, value), text(CONSTANT_NAME, name)];
  return { name, value: writeFields(tensor) };
}

/** The declaration of a value of 32-bit floats, of any shape. */
function floatValue(name: string): Uint8Array {
  const FLOAT = 1;
  const tensor = writeFields([field(1, writeFields([integer(1, FLOAT)]))]);
  return writeFields([text(VALUE_NAME, name), field(2, tensor)]);
}

function toNode(message: Uint8Array): Node {
  const fields = fieldsOf(message);
  return {
    inputs: textsOf(fields, NODE_INPUT),
    outputs: textsOf(fields, NODE_OUTPUT),
    rest: fields.filter(({ no }) => no !== NODE_INPUT && no !== NODE_OUTPUT),
  };
}

function fromNode({ inputs, outputs, rest }: Node): Uint8Array {
  const names = [...inputs.map((name) => text(NODE_INPUT, name)), ...outputs.map((name) => text(NODE_OUTPUT, name))];
  return writeFields([...names, ...rest]);
}

const field = (no: number, value: Uint8Array): Field => ({ no, type: WireType.LengthDelimited, value });
const text = (no: number, value: string): Field => field(no, new TextEncoder().encode(value));
const integer = (no: number, value: number): Field => ({
  no,
  type: WireType.Varint,
  value: new BinaryWriter().int64(value).finish(),
});

const textsOf = (fields: readonly Field[], wanted: number): string[] =>
  fields.filter(({ no }) => no === wanted).map(({ value }) => new TextDecoder().decode(value));

function fieldsOf(message: Uint8Array): Field[] {
  const reader = new BinaryReader(message);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [no, type] = reader.tag();
    fields.push({ no, type, value: type === WireType.LengthDelimited ? reader.bytes() : reader.skip(type) });
  }
  return fields;
}

function writeFields(fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { no, type, value } of fields) {
    writer.tag(no, type);
    if (type === WireType.LengthDelimited) writer.bytes(value);
    else writer.raw(value);
  }
  return writer.finish();
}
