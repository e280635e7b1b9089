import { z } from "zod";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { isRecord } from "../../lib/json.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";

const common = {
  /** The time limit for each call, and for the server to start and list its tools. */
  timeoutMs: z.number().int().positive().max(TOOL_TIMES.maxTimeoutMs).default(TOOL_TIMES.defaultTimeoutMs),
  /** Which of the server's tools to use, by their own names; `*` matches any text. @defaultValue all */
  tools: z.array(z.string().min(1)).min(1).default(["*"]),
};

const stdioSchema = z.strictObject({
  /** The program of the server, which is started without a shell. */
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /**
   * Variables for the process, in addition to HOME, LOGNAME, PATH, SHELL, TERM and USER. The process receives nothing
   * else from our environment.
   */
  env: z.record(z.string(), z.string()).default({}),
  /** The working directory of the process, relative to the worker's. */
  cwd: z.string().min(1).optional(),
  ...common,
});

const MAX_HEADERS = 100;

const httpSchema = z.strictObject({
  /** The address of the server. It may be private, because the operator chooses it. */
  url: z
    .url({ protocol: /^https?$/, error: "expected an http or https URL" })
    .refine((url) => !hasCredentials(url), { error: "expected a URL without a user name; use headers" }),
  headers: z
    .record(z.string(), z.string())
    .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, {
      error: `expected at most ${MAX_HEADERS} headers`,
      abort: true,
    })
    .refine(areHeaders, { error: "expected valid HTTP header names and values" })
    .default({}),
  ...common,
});

type StdioInput = z.input<typeof stdioSchema>;
type HttpInput = z.input<typeof httpSchema>;
export type StdioServerConfig = z.output<typeof stdioSchema>;
export type HttpServerConfig = z.output<typeof httpSchema>;
export type McpServerConfig = StdioServerConfig | HttpServerConfig;

/**
 * The schema of one server's configuration. It is not a union of `stdioSchema` and `httpSchema`, because a union's
 * error would not say which field is wrong.
 */
const serverSchema = z.custom<StdioInput | HttpInput>().transform((value, context): McpServerConfig => {
  const isHttp = isRecord(value) && Object.hasOwn(value, "url");
  if (!isHttp && !(isRecord(value) && Object.hasOwn(value, "command"))) {
    const meant = isRecord(value) ? Object.keys(value).map((key) => didYouMean(key, ["command", "url"])) : [];
    const hint = meant.find((each) => each !== "")?.trim() ?? "";
    context.addIssue({ code: "custom", message: `expected an object with command or url${hint && ` (${hint})`}` });
    return z.NEVER;
  }
  const schema = isHttp ? httpSchema : stdioSchema;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { path, ...issue } of parsed.error.issues) {
    const known = Object.keys(schema.shape);
    context.issues.push({ ...issue, known, path: [...path], input: value } as z.core.$ZodRawIssue);
  }
  return z.NEVER;
});

const SERVER_NAME = /^[a-zA-Z0-9_-]{1,32}$/;

/** `mcpServers` in parley.config.ts, keyed by server name, which is the prefix of the server's tool names. */
export const mcpServersSchema = z.record(z.string(), serverSchema).superRefine((servers, context) => {
  for (const name of Object.keys(servers).filter((each) => !SERVER_NAME.test(each))) {
    const message = "expected a name of 1 to 32 letters, digits, _ and -";
    context.addIssue({ code: "custom", path: [name], message });
  }
});

function hasCredentials(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.username !== "" || parsed.password !== "");
}

function areHeaders(headers: Record<string, string>): boolean {
  try {
    return new Headers(headers) instanceof Headers;
  } catch {
    return false;
  }
}
