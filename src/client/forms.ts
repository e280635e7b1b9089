// `@parley/client/forms`, for clients that show forms. It is a separate entry, so other clients do not bundle it.

export { checkField, type FieldValue, type FormAnswer, type FormField, parseField } from "../protocol/forms/form.ts";
export { askUserTool, type Form } from "./tools/ask-user.ts";
