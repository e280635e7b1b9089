import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../lib/json.ts";
import type { MessageBody } from "../protocol/messages/messages.ts";

export type PermissionAnswer = MessageBody<"permission_response">["response"];

/** Optional fields of an answer to a permission request. */
export type PermissionOptions<Answer extends PermissionAnswer = PermissionAnswer> = Answer extends "reject"
  ? {
      /** Shown to the model. */
      readonly message?: string;
    }
  : {
      /** Replaces the call's arguments, if its tool allows that. */
      readonly editedInput?: JsonObject;
    };

/** @throws {TypeError} for an unknown option */
export function toPermissionResponse(
  permissionId: string,
  response: PermissionAnswer,
  options: PermissionOptions<"reject"> & PermissionOptions<"approve"> = {},
): MessageBody<"permission_response"> {
  refuseUnknownFields(options, ["message", "editedInput"], "respondToPermission's options");
  const { message, editedInput } = options;
  const edited = editedInput && { editedInputJson: JSON.stringify(editedInput) };
  return { permissionId, response, ...(message !== undefined && { message }), ...edited };
}
