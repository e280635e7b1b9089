import { z } from "zod";

/** The settings that apply to each model, whether it is the only one or one of a list. */
const fields = {
  /** A model id of the Messages API. */
  name: z.string().min(1),
  maxTokens: z.number().int().positive(),
  /** If absent, the request does not enable thinking. */
  thinking: z.union([z.literal("adaptive"), z.strictObject({ budgetTokens: z.number().int().min(1024) })], {
    error: 'expected "adaptive" or {budgetTokens: 1024 or more}',
  }),
  /** Anthropic's server tools in the API's format: `{type: "web_search_20260318", name: "web_search"}`. */
  serverTools: z.array(z.looseObject({ type: z.string().min(1), name: z.string().min(1) })),
  effort: z.enum(["low", "medium", "high", "xhigh", "max"]),
  /**
   * The address of another server with the Messages API.
   *
   * @defaultValue that of ANTHROPIC_BASE_URL, otherwise Anthropic's API
   */
  baseUrl: z
    .string()
    .refine(isAddress, "expected an http:// or https:// address without a user name, a password or a query")
    .transform(withoutApiPath),
  /**
   * The name of the environment variable that contains the key.
   *
   * @defaultValue ANTHROPIC_API_KEY, or no key if `baseUrl` is set
   */
  key: z.string().regex(/^[A-Z_][A-Z0-9_]*$/, "expected the name of an environment variable, such as GATEWAY_KEY"),
};

/** Removes the API's path, which is often copied with the address. It is added again for each request. */
export function withoutApiPath(url: string): string {
  return url.replace(/\/(?:v1(?:\/messages)?\/?)?$/u, "");
}

function isAddress(value: string): boolean {
  const { protocol, username, password, search, hash } = URL.parse(value) ?? {};
  return (protocol === "http:" || protocol === "https:") && `${username}${password}${search}${hash}` === "";
}

const completeSchema = z.strictObject({
  name: fields.name.default("claude-sonnet-5-5"),
  maxTokens: fields.maxTokens.default(4096),
  thinking: fields.thinking.optional(),
  serverTools: fields.serverTools.default([]),
  effort: fields.effort.optional(),
  baseUrl: fields.baseUrl.optional(),
  key: fields.key.optional(),
});

const overridesSchema = z.strictObject({
  name: fields.name.exactOptional(),
  maxTokens: fields.maxTokens.exactOptional(),
  thinking: fields.thinking.exactOptional(),
  serverTools: fields.serverTools.exactOptional(),
  effort: fields.effort.exactOptional(),
  baseUrl: fields.baseUrl.exactOptional(),
  key: fields.key.exactOptional(),
});

/** The settings of one model. */
export type ModelSettings = z.output<typeof completeSchema>;

type Complete = z.input<typeof completeSchema>;

/**
 * Returns the schema of a model or a list of models. The result is the first model with the others as `fallbacks`,
 * which is absent without a list. It is not a union, because a union's error would not say which field is wrong.
 */
function oneOrMore<First extends typeof completeSchema | typeof overridesSchema>(firstSchema: First) {
  type Input = z.input<First> | readonly [z.input<First>, ...Complete[]];
  type Output = z.output<First> & { readonly fallbacks?: readonly ModelSettings[] };
  return z.custom<Input>().transform((value: unknown, context): Output => {
    const isList = Array.isArray(value);
    const entries: readonly unknown[] = isList ? value : [value];
    if (entries.length === 0) context.addIssue({ code: "custom", message: "expected at least one model" });
    const parsed = entries.map((entry, index) => {
      const schema = index === 0 ? firstSchema : completeSchema;
      const { success, data, error } = schema.safeParse(entry);
      if (success) return data;
      for (const { path, ...issue } of error.issues) {
        const known = Object.keys(schema.shape);
        const place = isList ? [index, ...path] : [...path];
        context.issues.push({ ...issue, known, path: place, input: entry } as z.core.$ZodRawIssue);
      }
      return z.NEVER;
    });
    const [first, ...fallbacks] = parsed;
    return { ...first, ...(isList && { fallbacks }) } as Output;
  });
}

/** `model` in parley.config.ts. */
export const modelSchema = oneOrMore(completeSchema);

/** `model` of an agent in the folder `agents/`: its first model overrides fields of the first one in parley.config.ts. */
export const agentModelSchema = oneOrMore(overridesSchema);
