// `@parley/client/forms`: for clients that show forms. An entry of its own, so that no other client carries it.

export { checkField, type FieldValue, type FormAnswer, type FormField, parseField } from "../protocol/forms/form.ts";
export { askUserTool, type Form } from "./tools/ask-user.ts";
