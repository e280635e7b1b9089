import { type Refusal } from "../access/room-access.ts";
import { toNotFoundError } from "../permissions/permission-body.ts";

/** A refusal in the shape of opencode's own errors; it has none for 403 and 409. */
export function toOpencodeError(requestID: string, refusal: Refusal): object {
  const { status, error } = refusal;
  switch (status) {
    case 400:
      return { _tag: "InvalidRequestError", message: error, field: error.slice(0, error.indexOf(":")) };
    case 401:
      return { _tag: "UnauthorizedError", message: error };
    case 404:
      return toNotFoundError(requestID, refusal);
    case 403:
    case 409:
    case 429:
    case 503:
      return { error, message: error };
  }
}
