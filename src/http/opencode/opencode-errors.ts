import { type Refusal } from "../access/room-access.ts";

/** What opencode's clients read a missing permission from. */
export function toNotFoundError(requestID: string, { error }: Refusal): object {
  return { _tag: "PermissionNotFoundError", requestID, message: error };
}

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
