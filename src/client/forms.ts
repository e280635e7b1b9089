// `@parley/client/forms`, for clients that show forms. A separate entry point, so that other clients do not bundle this
// code.

export { checkField, type FieldValue, type FormAnswer, type FormField, parseField } from "../protocol/forms/form.ts";
export { askUserTool, type Form } from "./tools/ask-user.ts";
