import { AppError } from "../errors/app-error.ts";
import { databasePlace } from "../worker/settings/database-url.ts";
import { TalkError } from "./talk/talk-error.ts";

/** Turns an `AppError` of the database into a `TalkError` for people. Any other error is returned as it is. */
export function toDatabaseError(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof AppError)) return error;
  const place = error.code === "unavailable" ? `: ${databasePlace(databaseUrl)}` : "";
  return new TalkError(`${error.message}${place}`, { cause: error });
}
