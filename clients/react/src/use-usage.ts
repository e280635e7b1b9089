import { useCallback, useEffect, useState } from "react";
import { useParley, useParleyContext } from "./parley-provider.tsx";

/** The response of `GET /session/{id}/usage` (docs/spending.md). */
export interface Usage {
  readonly models: readonly ModelUsage[];
  readonly budgets: readonly BudgetUsage[];
}

interface ModelUsage {
  readonly model: string;
  readonly purpose: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly money: number;
}

interface BudgetUsage {
  readonly budget: "session" | "identityPerDay";
  readonly used: { readonly tokens: number; readonly money: number };
  readonly limit?: { readonly tokens?: number; readonly money?: number };
  /** The fraction of the limit that was used. Above 1 if the limit was exceeded. */
  readonly share?: number;
}

interface UsageNow {
  readonly usage: Usage | undefined;
  readonly refresh: () => Promise<void>;
}

/** How long to wait after a turn's end before its usage is requested. By then, the worker has stored it. */
const STORED_AFTER_MS = 500;

/** Returns the session's usage, updated after each turn. Needs the provider's `http`. */
export function useUsage(): UsageNow {
  const parley = useParley();
  const { http } = useParleyContext();
  const [usage, setUsage] = useState<Usage>();
  const { url, token } = http ?? {};
  const refresh = useCallback(async () => {
    if (url === undefined || token === undefined) return;
    const headers = { authorization: `Bearer ${token}` };
    const session = await fetch(`${url}/session`, { headers });
    // 204: the room has no session yet.
    if (session.status !== 200) return;
    const { id } = (await session.json()) as { id: string };
    const response = await fetch(`${url}/session/${encodeURIComponent(id)}/usage`, { headers });
    if (response.ok) setUsage((await response.json()) as Usage);
  }, [url, token]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const off = parley?.on("message", ({ type, body }) => {
      if (type !== "block_event" || body.event !== "turn_complete") return;
      clearTimeout(timer);
      timer = setTimeout(() => void refresh().catch(() => {}), STORED_AFTER_MS);
    });
    return () => {
      off?.();
      clearTimeout(timer);
    };
  }, [parley, refresh]);
  return { usage, refresh };
}
