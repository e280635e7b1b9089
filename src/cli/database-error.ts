import { AppError } from "../errors/app-error.ts";
import { databasePlace } from "../worker/settings/database-url.ts";
import { TalkError } from "./talk/talk-error.ts";

/** Converts an `AppError` from the database into a `TalkError`. Returns any other error unchanged. */
export function toDatabaseError(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof AppError)) return error;
  const place = error.code === "unavailable" ? `: ${databasePlace(databaseUrl)}` : "";
  return new TalkError(`${error.message}${place}`, { cause: error });
}
